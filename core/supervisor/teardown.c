/* SPDX-License-Identifier: Apache-2.0 */

/* Eyes and hands of the stop machine. The invariant: the machine decides, this only looks and
 * signals; a listed member that a second read does not confirm counts as uncertain, and the leader
 * is reaped at the machine's word alone.
 */
#include <signal.h>

#include "loop_private.h"

/* Between looks: at the group, at first and when it takes long; at what hops away. */
#define STOP_POLL_NS 10000000LL
#define STOP_POLL_LONG_NS 100000000LL
#define SWEEP_POLL_NS 1000000LL
/* Rounds that find nothing to reap: a killed one needs a moment to end. */
#define SWEEP_ROUNDS 4
/* Looks in a row while children end between our look for zombies and the kernel's answer. */
#define LOOKS_MAX 8
/* Nothing of that is done for longer at a time: other things are due, too. */
#define HASTE_NS 50000000LL

void pp__loop_begin_stop(pp_loop *loop, const pp_stop_plan *plan, const char *cause) {
    int64_t now_ns = pp__loop_now(loop);

    if (loop->stopping && loop->stop.step >= PP_STEP_VERIFY) {
        loop->stop.plan.reap_escapees |= plan->reap_escapees;
        loop->cause = cause;
        return;
    }
    if (loop->stopping) {
        pp_stop_again(&loop->stop, plan, now_ns);
    } else {
        loop->stop_requested_ns = now_ns;
        pp_stop_init(&loop->stop, plan, now_ns);
    }
    if (loop->window.open) {
        loop->window.open = false;
        pp__loop_event(loop, (pp_event){ .kind = "window_aborted",
                                         .window = loop->window.id,
                                         .frames = loop->window.frames,
                                         .missed = loop->window.missed });
    }
    loop->stopping = true;
    loop->cause = cause;
    pp__loop_event(loop, (pp_event){ .kind = "stop_requested", .target = cause });
}

/* Does a second, independent read confirm that this number is a member of the group? */
static void confirm(pp_loop *loop, int32_t pid, pp_stop_view *view) {
    pp_os *os = loop->os;
    pp_proc_info info = { 0 };
    pp_error error = { 0 };

    if (pid == loop->leader.pid && loop->leader_state == PP_LEADER_EXITED)
        return;
    if (os->identify(os->ctx, pid, &info, &error) != PP_OK)
        view->uncertain++;
    else if (info.pgid == loop->leader.pid)
        view->members++;
    if (info.id.pid > 0 && !pp_tree_has(&loop->tree, info.id)) /* nobody may ask about it again */
        os->forget(os->ctx, info.id);
}

static void look_at_group(pp_loop *loop, pp_stop_view *view) {
    pp_os *os = loop->os;
    pp_pid_list listed = { 0 };
    pp_error error = { 0 };

    if (loop->leader_state == PP_LEADER_REAPED)
        return; /* verified before the reap; the number may be a stranger's now */
    view->group = os->list_group(os->ctx, loop->leader.pid, &listed, &error);
    for (size_t i = 0; i < listed.count; i++)
        confirm(loop, listed.pids[i], view);
    pp_pid_list_done(&listed);
    loop->group_empty = view->group == PP_OK && view->members == 0 && view->uncertain == 0;
}

/* After the reap: what does the kernel say about children of ours? Returns whether it knows one
 * that the tree does not show: a zombie that came since we looked for them, or one not found. */
static bool ask_for_children(pp_loop *loop, pp_stop_view *view) {
    pp_status status = loop->os->no_children_left(loop->os->ctx, NULL);

    view->childless = loop->childless = status == PP_OK;
    if (view->childless || status == PP_E_UNSUPPORTED ||
        view->escapees + view->escapees_uncertain > 0)
        return false;
    view->escapees_uncertain = 1;
    return status == PP_E_AGAIN;
}

static bool look_once(pp_loop *loop, pp_stop_view *view) {
    pp_tree_outside outside;

    pp__loop_observe(loop);
    *view = (pp_stop_view){ .now_ns = pp__loop_now(loop), .leader = loop->leader_state };
    look_at_group(loop, view);
    pp_frame_reset(&loop->scratch);
    pp_status discovery = pp_tree_discover(&loop->tree, &loop->scratch);
    pp_tree_outside_count(&loop->tree, &outside);
    view->escapees = outside.alive;
    view->escapees_expected = outside.expected;
    view->escapees_uncertain = outside.uncertain + (discovery == PP_OK ? 0 : 1);
    loop->leaf_empty = loop->os->leaf_empty(loop->os->ctx, NULL);
    view->leaf_populated = loop->leaf_empty == PP_E_AGAIN;
    return loop->leader_state == PP_LEADER_REAPED && ask_for_children(loop, view);
}

static void look(pp_loop *loop, pp_stop_view *view) {
    int64_t end_ns = pp__loop_now(loop) + HASTE_NS;
    int left = LOOKS_MAX;

    while (look_once(loop, view) && --left > 0 && view->now_ns < end_ns)
        ;
}

static void tell_signal(pp_loop *loop, const char *target, int signal_number,
                        const pp_proc_info *info, const pp_error *error) {
    pp__loop_event(loop, (pp_event){ .kind = "signal",
                                     .target = target,
                                     .signal = pp_signal_name(signal_number),
                                     .info = info,
                                     .error = error });
}

static void signal_group(pp_loop *loop, int signal_number) {
    pp_error error = { 0 };
    pp_status status = loop->os->signal_group(loop->os->ctx, loop->leader, signal_number, &error);

    pp_stop_signalled(&loop->stop, status, pp__loop_now(loop));
    tell_signal(loop, "group", signal_number, NULL, status == PP_OK ? NULL : &error);
    if (status == PP_E_REFUSED) /* nobody holds its number any more */
        pp__loop_lose_leader(loop, &error);
}

/* Who is there when the grace is over, for words about a run that needed SIGKILL. */
static void note_outlasted(pp_loop *loop) {
    pp_outlasted *list = &loop->outlasted;

    for (size_t i = 0; i < loop->tree.count; i++) {
        const pp_tree_member *member = &loop->tree.members[i];
        if (!member->seen || member->info.phase == PP_PHASE_ZOMBIE ||
            member->info.pgid != loop->leader.pid)
            continue;
        if (list->total < PP_OUTLASTED_MAX)
            list->infos[list->total] = member->info;
        list->total++;
    }
}

static void signal_leader(pp_loop *loop, int signal_number) {
    pp_error error = { 0 };
    pp_status status = loop->os->signal(loop->os->ctx, loop->leader, signal_number, &error);

    pp_stop_signalled(&loop->stop, status, pp__loop_now(loop));
    tell_signal(loop, "leader", signal_number, NULL, status == PP_OK ? NULL : &error);
}

/* Members one by one, each re-validated by the host. */
static void kill_members(pp_loop *loop, bool outside, bool only_expected) {
    pp_tree *tree = &loop->tree;

    for (size_t i = 0; i < tree->count; i++) {
        pp_tree_member *member = &tree->members[i];
        bool is_outside = member->escaped || member->info.pgid != loop->leader.pid ||
                          loop->leader_state == PP_LEADER_REAPED;
        pp_error error = { 0 };
        if (member->info.phase == PP_PHASE_ZOMBIE || member->killed || is_outside != outside ||
            (only_expected && !member->expected) ||
            (!outside && (member->after_leader || !member->seen))) /* it may have left */
            continue;
        pp_status status = loop->os->signal(loop->os->ctx, member->info.id, SIGKILL, &error);
        pp_stop_signalled(&loop->stop, status, pp__loop_now(loop));
        if (!member->kill_told) /* one that was refused is tried again and again */
            tell_signal(loop, outside ? "escapee" : "recorded_member", SIGKILL, &member->info,
                        status == PP_OK ? NULL : &error);
        member->killed = status == PP_OK;
        member->kill_told = true;
    }
}

/* A chain that hops from child to child is faster than a look at each: all that are ours by now go
 * at once, again and again. Not before the leader is reaped, whose number somebody may have taken.
 */
static void kill_children(pp_loop *loop) {
    pp_os *os = loop->os;
    int64_t end_ns = pp__loop_now(loop) + HASTE_NS;
    size_t count = 1;
    int idle = 0;

    while (count > 0 && idle < SWEEP_ROUNDS && loop->leader_state == PP_LEADER_REAPED &&
           pp__loop_now(loop) < end_ns) {
        uint64_t reaped = loop->tree.reaped;
        pp_error error = { 0 };
        pp_status status = os->kill_children(os->ctx, &count, &error);
        if (status == PP_E_UNSUPPORTED || status == PP_E_ENUMERATION)
            return;
        pp_stop_signalled(&loop->stop, status, pp__loop_now(loop));
        if (count > 0 && !loop->children_killed)
            tell_signal(loop, "children", SIGKILL, NULL, status == PP_OK ? NULL : &error);
        loop->children_killed = loop->children_killed || count > 0;
        pp__loop_reap_adopted(loop);
        idle = loop->tree.reaped > reaped ? 0 : idle + 1;
    }
}

/* All in the leaf at once, however fast they fork; a sweep follows for whoever moved out. */
static bool kill_leaf(pp_loop *loop) {
    pp_error error = { 0 };
    pp_status status = loop->os->leaf_kill(loop->os->ctx, &error);

    loop->leaf_killed = true;
    if (status == PP_E_UNSUPPORTED)
        return false;
    tell_signal(loop, "cgroup", SIGKILL, NULL, status == PP_OK ? NULL : &error);
    return status == PP_OK;
}

/* Whatever wakes us, a sweep follows the one before after a pause, which gets longer while nobody
 * ends: who hops is reaped hop by hop, and who hangs in the kernel is not hurried. */
static void sweep(pp_loop *loop) {
    if (pp__loop_now(loop) < loop->next_sweep_ns)
        return;
    bool first = loop->sweep_pause_ns == 0;
    if (first || loop->tree.reaped > loop->swept_reaped)
        loop->sweep_pause_ns = SWEEP_POLL_NS;
    else
        loop->sweep_pause_ns = pp__earlier(2 * loop->sweep_pause_ns, STOP_POLL_LONG_NS);
    loop->swept_reaped = loop->tree.reaped;
    if (loop->leaf_killed || !kill_leaf(loop)) {
        kill_members(loop, true, false);
        kill_children(loop);
    }
    loop->next_sweep_ns = pp__loop_now(loop) + loop->sweep_pause_ns;
}

static void reap_leader(pp_loop *loop) {
    pp_exit exit = { 0 };
    pp_error error = { 0 };
    pp_proc_info info = { .id = loop->leader, .pgid = loop->leader.pid };

    pp__loop_drain(loop);
    pp__loop_tell_output(loop);
    pp_status status = pp_tree_reap(&loop->tree, loop->leader, &exit, &error);
    if (status == PP_E_VANISHED)
        pp__loop_lose_leader(loop, &error);
    if (status != PP_OK)
        return;
    loop->leader_state = PP_LEADER_REAPED;
    pp__loop_event(loop, (pp_event){ .kind = "reaped", .info = &info, .exit = &exit });
}

static void finish(pp_loop *loop) {
    pp_os *os = loop->os;
    pp_json json = { 0 };
    pp_buffer head = { 0 };
    pp_verdict_record record = { .stop = &loop->stop,
                                 .cause = loop->cause,
                                 .adopts = os->adopts,
                                 .exited = loop->exited,
                                 .exit = loop->leader_exit,
                                 .group_empty = loop->group_empty,
                                 .leaf_empty = loop->leaf_empty,
                                 .childless = loop->childless,
                                 .tree = &loop->tree,
                                 .outlasted = &loop->outlasted,
                                 .tree_events = loop->tree_events };

    pp__loop_last_frame(loop);
    record.frames = loop->frames;
    record.frames_dropped = loop->frames_dropped;
    record.seq = loop->verdict_seq = pp__outbox_seq(&loop->out);
    (void)os->now(os->ctx, &record.now, NULL);
    record.verified_ns = record.now.t_ns - loop->stop_requested_ns;
    (void)os->own_cost(os->ctx, &record.own_cpu_ns, &record.own_rss_bytes, NULL);
    pp__record_verdict(&json, &record);
    pp_put_u8(&head, (uint8_t)loop->stop.verdict);
    pp_put_u8(&head, loop->stop.forced);
    (void)pp__loop_queue(loop, PP_MSG_VERDICT, record.seq, &head, &json);
    pp_json_done(&json);
    pp_buffer_done(&head);
    loop->finished = true;
}

/* Returns whether the machine may be asked again at once: not after a request to end, for which
 * whoever was asked needs the processor. */
static bool act(pp_loop *loop, pp_stop_action action) {
    switch (action) {
    case PP_STOP_TERM_LEADER:
        signal_leader(loop, SIGTERM);
        return false;
    case PP_STOP_TERM_GROUP:
        signal_group(loop, SIGTERM);
        return false;
    case PP_STOP_KILL_GROUP:
        note_outlasted(loop);
        signal_group(loop, SIGKILL);
        return true;
    case PP_STOP_KILL_RECORDED:
        kill_members(loop, false, false);
        return true;
    case PP_STOP_KILL_EXPECTED:
        kill_members(loop, true, true);
        return true;
    case PP_STOP_KILL_ESCAPEES:
        sweep(loop);
        return false;
    case PP_STOP_REAP_LEADER:
        reap_leader(loop);
        return loop->leader_state != PP_LEADER_EXITED;
    case PP_STOP_FINISHED:
        finish(loop);
        return false;
    case PP_STOP_WAIT:
        break;
    }
    return false;
}

/* In a crowd that wakes us all the time, not all of the time is for looks. */
static int64_t rest_ns(int64_t took_ns) {
    return took_ns > STOP_POLL_NS ? took_ns : 0;
}

int64_t pp__loop_stop(pp_loop *loop, int64_t now_ns) {
    pp_stop_view view;
    pp_stop_action action;
    int64_t deadline_ns = 0;

    if (now_ns < loop->next_look_ns)
        return loop->next_look_ns;
    do {
        look(loop, &view);
        action = pp_stop_next(&loop->stop, &view, &deadline_ns);
    } while (act(loop, action));
    if (loop->finished)
        return INT64_MAX;
    int64_t end_ns = pp__loop_now(loop);
    loop->next_look_ns = pp__earlier(end_ns + rest_ns(end_ns - now_ns), deadline_ns);
    if (action == PP_STOP_KILL_ESCAPEES)
        return pp__earlier(loop->next_sweep_ns, deadline_ns);
    int64_t poll_ns = STOP_POLL_NS;
    if (action == PP_STOP_WAIT && now_ns - loop->stop.term_ns > PP_SECOND_NS)
        poll_ns = STOP_POLL_LONG_NS;
    return pp__earlier(now_ns + poll_ns, deadline_ns);
}
