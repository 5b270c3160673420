/* SPDX-License-Identifier: Apache-2.0 */

/* The invariant: a record leaves only by acknowledgement or by being saved, once. What the harness
 * may have written without telling us is saved once more; readers drop the double by its seq.
 */
#include "outbox.h"

#include <stdlib.h>
#include <string.h>

#include "resize.h"

void pp__outbox_done(pp_outbox *box) {
    for (size_t i = 0; i < box->count; i++)
        free(box->records[i].line);
    free(box->records);
    pp_buffer_done(&box->wire);
    *box = (pp_outbox){ 0 };
}

uint64_t pp__outbox_seq(pp_outbox *box) {
    return ++box->next_seq;
}

bool pp__outbox_full(const pp_outbox *box) {
    return box->record_bytes + (box->wire.size - box->sent) > PP_OUTBOX_MAX;
}

static pp_outbox_record *add(pp_outbox *box) {
    if (box->count == box->capacity) {
        size_t wanted = box->capacity ? box->capacity * 2 : 64;
        void *bigger = pp_resize(box->records, wanted, sizeof *box->records);
        if (!bigger)
            return NULL;
        box->records = bigger;
        box->capacity = wanted;
    }
    return &box->records[box->count];
}

pp_status pp__outbox_record(pp_outbox *box, pp_message_type type, uint64_t seq,
                            const pp_buffer *head, const char *line, size_t size) {
    pp_outbox_record *record = add(box);
    char *kept = record ? malloc(size + 1) : NULL;

    if (!kept)
        return PP_E_NOMEM;
    memcpy(kept, line, size);
    kept[size] = '\n';
    *record = (pp_outbox_record){ .seq = seq, .type = type, .line = kept, .size = size + 1 };
    box->count++;
    box->record_bytes += size + 1;

    size_t start = pp_message_begin(&box->wire, type, seq);
    if (head)
        pp_buffer_add(&box->wire, head->bytes, head->size);
    pp_put_bytes(&box->wire, kept, size + 1);
    pp_message_end(&box->wire, start);
    return box->wire.failed ? PP_E_NOMEM : PP_OK;
}

void pp__outbox_ack(pp_outbox *box, uint64_t seq) {
    size_t gone = 0;

    while (gone < box->count && box->records[gone].seq <= seq) {
        box->record_bytes -= box->records[gone].size;
        free(box->records[gone].line);
        gone++;
    }
    if (gone == 0)
        return;
    memmove(box->records, box->records + gone, (box->count - gone) * sizeof *box->records);
    box->count -= gone;
}

/* Gives the room of what was sent back, not for every few bytes. */
static void compact(pp_outbox *box) {
    if (box->sent < box->wire.size / 2)
        return;
    pp_buffer_consume(&box->wire, box->sent);
    box->sent = 0;
}

pp_status pp__outbox_flush(pp_outbox *box, pp_os *os, pp_error *reterr) {
    while (box->sent < box->wire.size) {
        size_t sent = 0;
        pp_error error = { 0 };
        pp_status status = os->channel_send(os->ctx, box->wire.bytes + box->sent,
                                            box->wire.size - box->sent, &sent, &error);
        if (status == PP_E_AGAIN) {
            compact(box);
            return PP_OK;
        }
        if (status != PP_OK)
            return pp_fail(reterr, status, error.sys_errno, error.op, "%s", error.detail);
        box->sent += sent;
    }
    box->wire.size = 0;
    box->sent = 0;
    return PP_OK;
}

pp_status pp__outbox_save(pp_outbox *box, pp_os *os, pp_error *reterr) {
    pp_status files[] = { PP_OK, PP_OK }; /* of events, of frames */
    pp_error first = { 0 };
    size_t left = 0;

    for (size_t i = 0; i < box->count; i++) {
        pp_outbox_record record = box->records[i];
        bool frame = record.type == PP_MSG_FRAME;
        const char *name = frame ? "samples.supervisor.jsonl" : "events.supervisor.jsonl";
        pp_error error = { 0 };
        if (files[frame] == PP_OK) {
            files[frame] = os->save(os->ctx, name, record.line, record.size, &error);
            if (files[frame] == PP_OK) {
                box->record_bytes -= record.size;
                free(record.line);
                continue;
            }
            if (first.status == PP_OK)
                first = error;
        }
        box->records[left++] = record;
    }
    box->count = left;
    return left == 0 ? PP_OK
                     : pp_fail(reterr, first.status, first.sys_errno, first.op, "%s", first.detail);
}
