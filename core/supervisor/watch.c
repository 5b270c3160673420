/* SPDX-License-Identifier: Apache-2.0 */

/* Exits and frames. The invariant: the leader is observed, never reaped, here; adopted children
 * are reaped one by one, by identity or by a number that they hold, so nothing is swallowed unseen,
 * and no turn is about them alone; deadlines are absolute and
 * skipped ones are counted, not replayed.
 */
#include "loop_private.h"

#define FIRST_TRACK_NS 50000000LL /* in the first second */
#define LEAST_MEMORY_NS 250000000LL
#define OBSERVE_NS 1000000000LL
#define PORTION_NS 5000000LL /* of a turn, for children that ended; or PP_TREE_PORTION_MIN */

static void leader_exited(pp_loop *loop) {
    loop->exited = true;
    loop->leader_state = PP_LEADER_EXITED;
    pp_proc_info info = { .id = loop->leader, .pgid = loop->leader.pid };
    pp__loop_event(
        loop, (pp_event){ .kind = "leader_exited", .info = &info, .exit = &loop->leader_exit });
    pp__loop_drain(loop);
    pp__loop_tell_output(loop);
    size_t start = pp_message_begin(&loop->out.wire, PP_MSG_EXITED, 0);
    pp__put_exit(&loop->out.wire, &loop->leader_exit);
    pp_message_end(&loop->out.wire, start);
}

void pp__loop_lose_leader(pp_loop *loop, const pp_error *error) {
    loop->leader_state = PP_LEADER_LOST;
    loop->tree.leader_gone = true; /* its number means nothing any more */
    pp__loop_event(loop, (pp_event){ .kind = "leader_reaped_elsewhere", .error = error });
}

static void observe_leader(pp_loop *loop) {
    pp_os *os = loop->os;
    pp_error error = { 0 };

    if (loop->leader_state != PP_LEADER_ALIVE)
        return;
    pp_status status = os->observe_exit(os->ctx, loop->leader, &loop->leader_exit, &error);
    if (status == PP_OK) {
        leader_exited(loop);
    } else if (status == PP_E_VANISHED) {
        pp__loop_lose_leader(loop, &error);
    }
}

/* As many as there is time for in one turn; the next one goes on where this one stopped. */
void pp__loop_reap_adopted(pp_loop *loop) {
    pp_os *os = loop->os;
    pp_pid_list *own = &loop->adopted;

    if (!os->adopts)
        return;
    if (loop->adopted_next >= own->count) {
        pp_pid_list_done(own);
        loop->adopted_next = 0;
        loop->child_changed = false;
        if (os->list_own_children(os->ctx, own, NULL) != PP_OK)
            return;
    }
    pp_tree_reap_adopted(&loop->tree, own, &loop->adopted_next, pp__loop_now(loop) + PORTION_NS);
}

/* The kernel tells when a child of ours ends, an adopted one as well, but not when somebody else
 * reaps it. */
bool pp__loop_has_to_observe(const pp_loop *loop, int64_t now_ns) {
    return loop->child_changed || loop->stopping || loop->adopted_next < loop->adopted.count ||
           now_ns >= loop->observed_ns + OBSERVE_NS;
}

void pp__loop_observe(pp_loop *loop) {
    loop->observed_ns = pp__loop_now(loop);
    observe_leader(loop);
    pp__loop_reap_adopted(loop);
}

/* What a person wants to see while it runs, in front of the record. */
static void put_live(pp_buffer *head, const pp_loop *loop) {
    const pp_frame *frame = &loop->frame;
    pp_sum rss = { 0 };

    for (size_t i = 0; i < frame->proc_count; i++)
        if (frame->procs[i].info.phase != PP_PHASE_ZOMBIE && !frame->procs[i].usage.shares_memory)
            pp_sum_add(&rss, frame->procs[i].usage.rss_bytes);
    pp_put_i64(head, frame->t_ns);
    pp_put_u32(head, (uint32_t)frame->proc_count);
    pp__put_reading(head, pp_sum_total(&rss));
    pp__put_reading(head, frame->conservation.cpu_ns);
    pp_put_u64(head, loop->tree.escapes);
}

static bool queue_frame(pp_loop *loop) {
    pp_buffer head = { 0 };

    put_live(&head, loop);
    pp_json_again(&loop->record);
    pp__record_frame(&loop->record, &loop->frame, &loop->worded);
    pp_status status = pp__loop_queue(loop, PP_MSG_FRAME, loop->frame.seq, &head, &loop->record);
    if (status == PP_OK)
        loop->frames++;
    else
        loop->frames_dropped++;
    pp_buffer_done(&head);
    return status == PP_OK;
}

static bool take_any_frame(pp_loop *loop, pp_frame_kind kind, int64_t scheduled_ns, uint64_t missed,
                           int64_t memory_budget_ns) {
    pp_frame *frame = &loop->frame;

    pp_frame_reset(frame);
    pp_tree_sample(&loop->tree, memory_budget_ns, frame);
    frame->seq = pp__outbox_seq(&loop->out);
    frame->window = kind == PP_FRAME_TRACK ? 0 : loop->window.id;
    frame->kind = kind;
    frame->scheduled_ns = scheduled_ns;
    frame->missed = missed;
    frame->used_ns = pp__loop_now(loop);
    return queue_frame(loop);
}

/* False: there was no room, so there is no such frame. */
static bool take_frame(pp_loop *loop, pp_frame_kind kind, int64_t scheduled_ns, uint64_t missed,
                       int64_t memory_budget_ns) {
    if (!pp__outbox_full(&loop->out))
        return take_any_frame(loop, kind, scheduled_ns, missed, memory_budget_ns);
    loop->frames_dropped++;
    return false;
}

static void close_window(pp_loop *loop) {
    pp_window_plan *window = &loop->window;

    window->open = false;
    pp__loop_event(loop, (pp_event){ .kind = "window_done",
                                     .window = window->id,
                                     .frames = window->frames,
                                     .missed = window->missed });
    size_t start = pp_message_begin(&loop->out.wire, PP_MSG_WINDOW, 0);
    pp_put_u32(&loop->out.wire, window->id);
    pp_put_u64(&loop->out.wire, window->frames);
    pp_put_u64(&loop->out.wire, window->missed);
    pp_message_end(&loop->out.wire, start);
}

static int64_t due_ns(const pp_window_plan *window) {
    int64_t due = window->start_ns + (int64_t)window->next * window->interval_ns;

    return due < window->end_ns ? due : window->end_ns;
}

/* A busy machine needs time to answer. The next frame may be late for it, but never so late that
 * the gap, above two intervals, voids the window. */
static int64_t memory_budget_ns(const pp_window_plan *window) {
    int64_t interval_ns = window->interval_ns;
    int64_t wanted_ns = interval_ns > LEAST_MEMORY_NS ? interval_ns : LEAST_MEMORY_NS;

    return pp__earlier(pp__earlier(wanted_ns, PP_SECOND_NS), interval_ns + interval_ns / 2);
}

static void take_window_frame(pp_loop *loop, int64_t now_ns) {
    pp_window_plan *window = &loop->window;
    uint64_t reached = (uint64_t)((now_ns - window->start_ns) / window->interval_ns);
    uint64_t missed = 0;

    if (reached > window->next &&
        now_ns < window->end_ns) { /* a stall: one frame, the rest count */
        missed = reached - window->next;
        window->next = reached;
    } else if (now_ns >= window->end_ns) {
        while (due_ns(window) < window->end_ns) {
            missed++;
            window->next++;
        }
    }
    int64_t scheduled_ns = due_ns(window);
    bool closing = scheduled_ns == window->end_ns;
    bool boundary = window->next == 0;
    bool memory = boundary || closing || window->next >= window->memory_due;
    pp_frame_kind kind = closing ? PP_FRAME_CLOSING : boundary ? PP_FRAME_BOUNDARY : PP_FRAME_TICK;
    bool taken = take_frame(loop, kind, scheduled_ns, window->untold + missed,
                            memory ? memory_budget_ns(window) : 0);
    if (memory && taken)
        window->memory_due = (window->next / window->memory_every + 1) * window->memory_every;
    window->frames += taken;
    window->missed += missed + !taken;
    window->untold = taken ? 0 : window->untold + missed + 1;
    window->next++;
    if (closing)
        close_window(loop);
}

static int64_t track_interval_ns(const pp_loop *loop, int64_t now_ns) {
    int64_t interval_ns = loop->request.options.interval_ns;

    if (now_ns - loop->spawned_ns < PP_SECOND_NS)
        return FIRST_TRACK_NS;
    return interval_ns > 0 && interval_ns < PP_SECOND_NS ? interval_ns : PP_SECOND_NS;
}

/* When to look again after a frame that was begun at now_ns. One that took long is followed by a
 * rest as long, up to the second that is the most between two looks: others want to be heard. */
static int64_t next_track_ns(pp_loop *loop, int64_t now_ns) {
    int64_t end_ns = pp__loop_now(loop);
    int64_t wanted_ns = now_ns + track_interval_ns(loop, now_ns);
    int64_t rested_ns = end_ns + (end_ns - now_ns);

    return rested_ns > wanted_ns ? pp__earlier(rested_ns, end_ns + PP_SECOND_NS) : wanted_ns;
}

int64_t pp__loop_sample(pp_loop *loop, int64_t now_ns) {
    if (!loop->request.options.track)
        return INT64_MAX;
    if (loop->window.open && now_ns >= due_ns(&loop->window)) {
        take_window_frame(loop, now_ns);
        loop->next_track_ns = next_track_ns(loop, now_ns);
    } else if (now_ns >= loop->next_track_ns) {
        (void)take_frame(loop, PP_FRAME_TRACK, loop->next_track_ns, 0, 0);
        loop->next_track_ns = next_track_ns(loop, now_ns);
    }
    if (loop->window.open && due_ns(&loop->window) < loop->next_track_ns)
        return due_ns(&loop->window);
    return loop->next_track_ns;
}

/* There is always room for it: it tells how those ended whose frames were dropped. */
void pp__loop_last_frame(pp_loop *loop) {
    if (loop->request.options.track)
        (void)take_any_frame(loop, PP_FRAME_TRACK, pp__loop_now(loop), 0, 0);
}
