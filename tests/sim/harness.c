/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of the channel: asks, reads with delays, writes records and acknowledges them, and
 * dies, hangs or talks nonsense when the plan says so. What it wrote stays written.
 */
#include <stdlib.h>
#include <string.h>

#include "request.h"
#include "sim.h"

#define HANG_MOST_NS (20 * SIM_SECOND)

const char *sim_build_id(void) {
    return "simulated";
}

static void append(unsigned char **bytes, size_t *size, size_t *capacity, const void *from,
                   size_t count) {
    if (*size + count > *capacity) {
        *capacity = (*size + count) * 2;
        *bytes = realloc(*bytes, *capacity);
        if (!*bytes)
            abort();
    }
    memcpy(*bytes + *size, from, count);
    *size += count;
}

static void say(sim_world *w, const pp_buffer *message) {
    sim_harness *h = &w->harness;

    append(&h->inbox, &h->inbox_size, &h->inbox_capacity, message->bytes, message->size);
}

static void ask(sim_world *w, pp_message_type type, void (*put)(sim_world *w, pp_buffer *body)) {
    pp_buffer message = { 0 };
    size_t start =
        pp_message_begin(&message, type, type == PP_MSG_ACK ? w->harness.written_seq : 0);

    if (put)
        put(w, &message);
    pp_message_end(&message, start);
    say(w, &message);
    pp_buffer_done(&message);
}

static void put_hello(sim_world *w, pp_buffer *body) {
    (void)w;
    pp_put_text(body, sim_build_id());
}

static void put_spawn(sim_world *w, pp_buffer *body) {
    static char app[] = "/app";
    static char *argv[] = { app, NULL };
    static char *envp[] = { NULL };
    static const char *const helpers[] = { "/help*", NULL };
    const sim_plan *plan = &w->plan;
    pp_spawn_options options = { .path = app,
                                 .argv = argv,
                                 .envp = envp,
                                 .cwd = "/",
                                 .track = plan->track,
                                 .interval_ns = plan->interval_ns,
                                 .expected = plan->expect_helpers ? helpers : NULL,
                                 .reap_escapees = plan->reap_escapees };

    if (plan->latest_end_ns > 0)
        options.latest_end_ns = w->now_ns + plan->latest_end_ns;
    if (plan->latest_end_ns > 0 && w->latest_ns == SIM_NEVER) /* a second command is refused */
        w->latest_ns = options.latest_end_ns;
    pp__request_put_spawn(body, &options);
}

static void put_sample(sim_world *w, pp_buffer *body) {
    pp_put_u32(body, ++w->harness.window);
    pp_put_i64(body, sim_delay(&w->harness.rng, SIM_MS, 400 * SIM_MS));
    pp_put_i64(body, sim_delay(&w->harness.rng, SIM_MS, w->plan.crowd ? SIM_MS : 200 * SIM_MS));
}

static void put_stop(sim_world *w, pp_buffer *body) {
    pp_put_u8(body, w->plan.group_first);
    pp_put_i64(body, w->plan.grace_ns);
    pp_put_i64(body, w->plan.verify_ns);
}

static int64_t latency(sim_world *w) {
    return sim_delay(&w->harness.rng, 1000, w->plan.latency_most_ns);
}

static void die(sim_world *w) {
    sim_harness *h = &w->harness;

    if (h->dead)
        return;
    h->dead = true;
    h->died_ns = w->now_ns;
    h->outbox_size = 0;
    if (w->plan.losing)
        h->inbox_size = 0;
    if (w->leader)
        sim_oracle_death(w);
    sim_trace(w, "the harness is dead");
}

/* Hello, spawn, windows, stop, and perhaps stop again. */
static void command(sim_world *w) {
    sim_harness *h = &w->harness;
    unsigned step = h->command, windows = w->plan.windows;

    h->command_ns = SIM_NEVER;
    if (step == 0) {
        ask(w, PP_MSG_HELLO, put_hello);
    } else if (step == 1) {
        ask(w, PP_MSG_SPAWN, put_spawn);
    } else if (!h->spawned) {
        return; /* goes on when the answer comes */
    } else if (step < 2 + windows) {
        if (!h->window_open)
            ask(w, PP_MSG_SAMPLE, put_sample);
        h->window_open = true;
    } else if (step < 4 + windows) {
        if (w->plan.stop_after_ns == SIM_NEVER)
            return;
        ask(w, PP_MSG_STOP, put_stop);
        sim_oracle_stop(w, w->plan.grace_ns, w->plan.verify_ns);
    }
    sim_trace(w, "the harness does step %u", step);
    h->command++;
    if (h->command < 2 + windows || (h->command == 3 + windows && w->plan.stop_twice))
        h->command_ns = w->now_ns + latency(w);
    else if (h->command == 2 + windows && w->plan.stop_after_ns != SIM_NEVER)
        h->command_ns = w->now_ns + w->plan.stop_after_ns;
}

static void check_order(sim_world *w, uint64_t *last, uint64_t seq) {
    if (*last >= seq)
        sim_fail(w, "record %llu came after %llu", (unsigned long long)seq,
                 (unsigned long long)*last);
    *last = seq;
}

static void keep(sim_world *w, const pp_message *message, const void *line, size_t size,
                 pp_reading live_rss) {
    sim_harness *h = &w->harness;

    if (h->record_count == h->record_capacity) {
        h->record_capacity = h->record_capacity ? h->record_capacity * 2 : 256;
        h->records = realloc(h->records, h->record_capacity * sizeof *h->records);
        if (!h->records)
            abort();
    }
    char *copy = malloc(size + 1);
    if (!copy)
        abort();
    memcpy(copy, line, size);
    copy[size] = '\0';
    h->records[h->record_count++] = (sim_record){ .seq = message->seq,
                                                  .type = (uint16_t)message->type,
                                                  .written = true,
                                                  .live_rss = live_rss,
                                                  .line = copy,
                                                  .size = size };
}

static void acknowledge(sim_world *w, bool now) {
    sim_harness *h = &w->harness;

    if (w->plan.ack_mode == 0 || now)
        ask(w, PP_MSG_ACK, NULL);
    else if (w->plan.ack_mode == 1 && h->ack_ns == SIM_NEVER)
        h->ack_ns = w->now_ns + sim_delay(&h->rng, SIM_MS, SIM_SECOND);
}

static void on_record(sim_world *w, const pp_message *message) {
    pp_cursor cursor = pp_cursor_of(message);
    pp_reading live_rss = { 0 };
    size_t size = 0;

    if (message->type == PP_MSG_FRAME) {
        (void)pp_get_i64(&cursor);
        (void)pp_get_u32(&cursor);
        live_rss = pp__get_reading(&cursor);
        (void)pp__get_reading(&cursor);
        (void)pp_get_u64(&cursor);
    } else if (message->type == PP_MSG_VERDICT) {
        (void)pp_get_u8(&cursor);
        (void)pp_get_u8(&cursor);
        w->harness.verdict = true;
    }
    const unsigned char *line = pp_get_bytes(&cursor, &size);
    if (pp_cursor_end(&cursor, NULL) != PP_OK || size < 2 || line[size - 1] != '\n') {
        sim_fail(w, "a record of type %d does not parse", message->type);
        return;
    }
    sim_trace(w, "the harness has record %llu", (unsigned long long)message->seq);
    check_order(w, &w->harness.written_seq, message->seq);
    keep(w, message, line, size, live_rss);
    acknowledge(w, w->harness.verdict);
}

static void on_message(sim_world *w, const pp_message *message) {
    sim_harness *h = &w->harness;

    switch (message->type) {
    case PP_MSG_SPAWNED:
        h->spawned = true;
        h->command_ns = w->now_ns + latency(w);
        break;
    case PP_MSG_SPAWN_FAILED:
        die(w);
        break;
    case PP_MSG_WINDOW:
        h->window_open = false;
        break;
    case PP_MSG_FRAME:
    case PP_MSG_EVENT:
    case PP_MSG_VERDICT:
        on_record(w, message);
        break;
    default:
        break;
    }
}

static void read_all(sim_world *w) {
    sim_harness *h = &w->harness;
    size_t done = 0, used = 0;
    pp_message message;
    pp_error error = { 0 };
    pp_status status = PP_E_AGAIN;

    h->read_ns = SIM_NEVER;
    while (!h->dead && (status = pp_message_next(h->outbox + done, h->outbox_size - done, &message,
                                                 &used, &error)) == PP_OK) {
        on_message(w, &message);
        done += used;
    }
    if (h->dead)
        return;
    if (status != PP_E_AGAIN)
        sim_fail(w, "the channel does not parse: %s", error.detail);
    memmove(h->outbox, h->outbox + done, h->outbox_size - done);
    h->outbox_size -= done;
    /* A message longer than the socket's room is taken out in pieces. */
    if (h->outbox_size >= w->plan.capacity)
        w->plan.capacity = h->outbox_size + 4096;
}

/* The plan's bad moment: death, silence, or nonsense followed by death. */
static void turn_bad(sim_world *w) {
    sim_harness *h = &w->harness;

    w->plan.death_ns = SIM_NEVER;
    if (w->plan.hung) {
        h->deaf = true;
        h->read_ns = h->command_ns = h->ack_ns = SIM_NEVER;
        w->plan.hung = false;
        w->plan.death_ns = w->now_ns + sim_delay(&h->rng, 10 * SIM_MS, HANG_MOST_NS) - w->born_ns;
        sim_trace(w, "the harness hangs");
        return;
    }
    if (w->plan.babbles) {
        static const unsigned char nonsense[] = { 10, 0, 0, 0, 250, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        if (sim_chance(&h->rng, 500))
            ask(w, PP_MSG_SPAWN, put_spawn);
        append(&h->inbox, &h->inbox_size, &h->inbox_capacity, nonsense, sizeof nonsense);
        w->plan.losing = false;
    }
    die(w);
}

void sim_harness_schedule(sim_world *w) {
    sim_harness *h = &w->harness;
    int64_t death_ns = w->plan.death_ns == SIM_NEVER ? SIM_NEVER : w->born_ns + w->plan.death_ns;

    h->next_ns = SIM_NEVER;
    if (h->dead)
        return;
    const int64_t times[] = { h->read_ns, h->command_ns, h->ack_ns, death_ns };
    for (size_t i = 0; i < 4; i++)
        if (times[i] < h->next_ns)
            h->next_ns = times[i];
}

void sim_harness_run(sim_world *w) {
    sim_harness *h = &w->harness;

    if (w->plan.death_ns != SIM_NEVER && w->born_ns + w->plan.death_ns <= w->now_ns) {
        turn_bad(w);
    } else if (h->read_ns <= w->now_ns) {
        read_all(w);
    } else if (h->ack_ns <= w->now_ns) {
        h->ack_ns = SIM_NEVER;
        ask(w, PP_MSG_ACK, NULL);
    } else if (h->command_ns <= w->now_ns) {
        command(w);
    }
    sim_harness_schedule(w);
}

void sim_harness_receive(sim_world *w, const void *bytes, size_t size) {
    sim_harness *h = &w->harness;

    append(&h->outbox, &h->outbox_size, &h->outbox_capacity, bytes, size);
    if (h->read_ns == SIM_NEVER && !h->deaf) {
        h->read_ns = w->now_ns + latency(w);
        sim_harness_schedule(w);
    }
}

static sim_record *find_record(sim_harness *h, uint64_t seq) {
    for (size_t i = 0; i < h->record_count; i++)
        if (h->records[i].seq == seq)
            return &h->records[i];
    return NULL;
}

/* What nobody acknowledged is saved; what was written as well, without word of it, is the same. */
void sim_harness_saved(sim_world *w, const void *line, size_t size, bool frame) {
    sim_harness *h = &w->harness;
    const char *text = line;
    const char *at = memmem(text, size, "\"seq\":", 6);
    uint64_t seq = at ? strtoull(at + 6, NULL, 10) : 0;
    pp_message message = { .seq = seq, .type = frame ? PP_MSG_FRAME : PP_MSG_EVENT };

    if (size < 2 || text[size - 1] != '\n' || seq == 0) {
        sim_fail(w, "a saved record is no whole line");
        return;
    }
    check_order(w, &h->saved_seq[frame], seq); /* each file has an order of its own */
    sim_record *record = find_record(h, seq);
    if (record && record->saved)
        sim_fail(w, "record %llu was saved twice", (unsigned long long)seq);
    if (record && (record->size != size || memcmp(record->line, text, size) != 0))
        sim_fail(w, "record %llu was saved otherwise than sent", (unsigned long long)seq);
    if (record) {
        record->saved = true;
        return;
    }
    keep(w, &message, text, size, (pp_reading){ 0 });
    h->records[h->record_count - 1].written = false;
    h->records[h->record_count - 1].saved = true;
}

void sim_harness_init(sim_world *w) {
    sim_harness *h = &w->harness;

    h->rng.state = sim_hash(w->plan.seed, 17);
    h->read_ns = h->ack_ns = SIM_NEVER;
    h->command_ns = w->now_ns + 1000;
    sim_harness_schedule(w);
}

void sim_harness_done(sim_harness *h) {
    for (size_t i = 0; i < h->record_count; i++)
        free(h->records[i].line);
    free(h->records);
    free(h->inbox);
    free(h->outbox);
    *h = (sim_harness){ 0 };
}
