/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_OUTBOX_H
#define PP_OUTBOX_H

#include "os.h"
#include "pairperf/message.h"

/* What the supervisor has to say: bytes on their way to the harness, and every record until it is
 * acknowledged as written. */

#define PP_OUTBOX_MAX (64U << 20)

typedef struct pp_outbox_record {
    uint64_t seq;
    pp_message_type type;
    char *line; /* with its line end */
    size_t size;
} pp_outbox_record;

typedef struct pp_outbox {
    pp_buffer wire;            /* encoded, not sent */
    size_t sent;               /* of `wire` */
    pp_outbox_record *records; /* not acknowledged, in order */
    size_t count, capacity;
    size_t record_bytes;
    uint64_t next_seq;
} pp_outbox;

void pp__outbox_done(pp_outbox *box);
uint64_t pp__outbox_seq(pp_outbox *box);
/* Is there so much unsent or unacknowledged that sampling has to pause? */
bool pp__outbox_full(const pp_outbox *box);

/* Queues a record: `head` (may be NULL) in front of the line on the wire, the line kept.
 * PP_E_NOMEM: it could not be kept. */
pp_status pp__outbox_record(pp_outbox *box, pp_message_type type, uint64_t seq,
                            const pp_buffer *head, const char *line, size_t size);
/* Forgets records up to seq. */
void pp__outbox_ack(pp_outbox *box, uint64_t seq);
/* Sends what the channel takes. PP_E_CLOSED: the harness is gone. */
pp_status pp__outbox_flush(pp_outbox *box, pp_os *os, pp_error *reterr);
/* The harness is gone: saves the unacknowledged records into the run directory, of each file in
 * order up to the first that fails. What was saved leaves the box; the first failure is told. */
pp_status pp__outbox_save(pp_outbox *box, pp_os *os, pp_error *reterr);

#endif
