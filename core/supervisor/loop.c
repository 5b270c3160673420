/* SPDX-License-Identifier: Apache-2.0 */

/* The supervisor's one loop. The invariant: only pp_os.wait() blocks, or a short pause once that
 * is broken; whatever happens to the harness, a started tree is ended, looked for, and told of
 * before this returns.
 */
#include <poll.h>

#include "loop_private.h"

#define FOREVER INT64_MAX
/* Without a wait(): more turns than the plan for a dead harness takes. */
#define BLIND_PAUSE_MS 10
#define BLIND_TURNS 2000

/* TERM to the group, 1 s, KILL; where orphans are ours, they go too. */
static const pp_stop_plan death_plan = { .group_first = true,
                                         .grace_ns = PP_SECOND_NS,
                                         .verify_ns = 5 * PP_SECOND_NS };

static void end_because(pp_loop *loop, const char *cause) {
    pp_stop_plan plan = death_plan;

    plan.reap_escapees = loop->os->adopts;
    pp__loop_begin_stop(loop, &plan, cause);
}

static void harness_is_gone(pp_loop *loop) {
    loop->harness_gone = true;
    if (loop->spawned && !loop->finished)
        end_because(loop, "harness_gone");
}

/* False: that is how we learned that the harness is gone. */
static bool flush(pp_loop *loop) {
    pp_error error = { 0 };

    if (loop->harness_gone)
        return true;
    pp_status status = pp__outbox_flush(&loop->out, loop->os, &error);
    if (status == PP_OK && loop->out.wire.size == 0) { /* never two of the same on their way */
        pp__loop_tell_output(loop);
        status = pp__outbox_flush(&loop->out, loop->os, &error);
    }
    if (status != PP_OK)
        harness_is_gone(loop);
    return status == PP_OK;
}

static bool is_over(const pp_loop *loop) {
    if (loop->harness_gone)
        return !loop->spawned || loop->finished;
    return loop->finished && loop->out.count == 0;
}

/* One turn of everything that may be due; returns when the next thing is. */
static int64_t turn(pp_loop *loop) {
    int64_t deadline = FOREVER;
    int64_t latest_end_ns = loop->request.options.latest_end_ns;

    if (!loop->spawned || loop->finished)
        return deadline;
    int64_t now_ns = pp__loop_now(loop);
    if (pp__loop_has_to_observe(loop, now_ns)) {
        pp__loop_observe(loop);
        now_ns = pp__loop_now(loop);
    }
    if (latest_end_ns > 0 && !loop->stopping) {
        if (now_ns >= latest_end_ns)
            end_because(loop, "latest_end");
        deadline = latest_end_ns;
    }
    deadline = pp__earlier(deadline, pp__loop_sample(loop, now_ns));
    if (loop->stopping)
        deadline = pp__earlier(deadline, pp__loop_stop(loop, pp__loop_now(loop)));
    if (loop->adopted_next < loop->adopted.count) /* see what else there is, and go on */
        deadline = pp__earlier(deadline, now_ns);
    return deadline;
}

/* Whatever still comes from a harness that is given up would wake us for ever. */
static void discard(pp_loop *loop) {
    unsigned char chunk[4096];
    size_t received;

    while (loop->os->channel_recv(loop->os->ctx, chunk, sizeof chunk, &received, NULL) == PP_OK)
        ;
}

static pp_status receive(pp_loop *loop, pp_error *reterr) {
    if (loop->harness_gone) {
        discard(loop);
        return PP_OK;
    }
    pp_status status = pp__loop_serve(loop, reterr);

    if (status == PP_E_CLOSED) {
        harness_is_gone(loop);
        return PP_OK;
    }
    return status;
}

static pp_status run(pp_loop *loop, pp_error *reterr) {
    pp_os *os = loop->os;

    while (!is_over(loop)) {
        pp_events events = { 0 };
        int64_t deadline = turn(loop);
        if (!flush(loop))
            continue; /* the end of the tree has to begin now */
        if (is_over(loop))
            break;
        bool unsent = !loop->harness_gone && loop->out.wire.size > 0;
        pp_status status = os->wait(os->ctx, deadline, unsent, &events, reterr);
        if (status != PP_OK) {
            loop->blind = true;
            return status;
        }
        loop->child_changed |= events.child;
        if (events.output_readable)
            pp__loop_drain(loop);
        if (events.channel_readable) {
            status = receive(loop, reterr);
            if (status != PP_OK)
                return status;
        }
    }
    if (loop->harness_gone && loop->out.count > 0)
        return pp__loop_save(loop, reterr);
    return PP_OK;
}

/* Nothing wakes us any more, and nobody is talked to: the tree is ended by looking again and again.
 */
static void end_blindly(pp_loop *loop) {
    loop->harness_gone = true;
    end_because(loop, "wait_failed");
    for (int turns = 0; turns < BLIND_TURNS && !loop->finished; turns++) {
        (void)turn(loop);
        (void)poll(NULL, 0, BLIND_PAUSE_MS);
    }
    (void)pp__loop_save(loop, NULL);
}

void pp__loop_done(pp_loop *loop) {
    pp_tree_done(&loop->tree);
    pp_frame_done(&loop->frame);
    pp_frame_done(&loop->scratch);
    pp_json_done(&loop->record);
    pp__record_memo_done(&loop->worded);
    pp_pid_list_done(&loop->adopted);
    pp__request_done(&loop->request);
    pp__outbox_done(&loop->out);
    pp_buffer_done(&loop->in);
}

pp_status pp_loop_run(pp_os *os, const char *build_id, pp_error *reterr) {
    pp_loop loop = { .os = os, .build_id = build_id, .cause = "requested", .child_changed = true };
    pp_error ignored;
    pp_status status = run(&loop, reterr);

    if (status != PP_OK && !loop.spawned) /* what was said last, to another build too */
        (void)pp__outbox_flush(&loop.out, os, &ignored);
    if (status != PP_OK && loop.spawned) { /* neither tree nor verdict may get lost with us */
        if (!loop.blind) {
            harness_is_gone(&loop);
            (void)run(&loop, &ignored);
        }
        if (loop.blind && !loop.finished)
            end_blindly(&loop);
    }
    pp__loop_done(&loop);
    return status;
}
