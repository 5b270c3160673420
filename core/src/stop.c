/* SPDX-License-Identifier: Apache-2.0 */

/* The invariant: the leader stays pinned until the group was seen empty by a whole, confirmed
 * member list, or until the time for that ran out. Uncertainty counts as a live member. A signal
 * that succeeded proves nothing; only a later list does. Escapees share the group's grace.
 */
#include "pairperf/stop.h"

static bool group_is_empty(const pp_stop_view *view) {
    return view->group == PP_OK && view->members == 0 && view->uncertain == 0;
}

static bool escapees_are_gone(const pp_stop_view *view) {
    return view->escapees == 0 && view->escapees_uncertain == 0;
}

/* Only the exited leader may be left, or nobody. */
static bool group_is_over(const pp_stop_view *view) {
    return view->leader != PP_LEADER_ALIVE && group_is_empty(view);
}

/* A time beyond the clock's end never comes. */
static int64_t later(int64_t t_ns, int64_t by_ns) {
    return by_ns > INT64_MAX - t_ns ? INT64_MAX : t_ns + by_ns;
}

void pp_stop_init(pp_stop *stop, const pp_stop_plan *plan, int64_t now_ns) {
    *stop =
        (pp_stop){ .plan = *plan, .term_ns = now_ns, .deadline_ns = later(now_ns, plan->grace_ns) };
}

void pp_stop_again(pp_stop *stop, const pp_stop_plan *plan, int64_t now_ns) {
    const pp_stop before = *stop;

    pp_stop_init(stop, plan, now_ns);
    stop->signal_failed = before.signal_failed;
    stop->signal_status = before.signal_status;
}

/* Looks may take long: whoever is asked to end has the whole grace from then on. */
void pp_stop_signalled(pp_stop *stop, pp_status status, int64_t now_ns) {
    if (stop->step == PP_STEP_GRACE && !stop->asked) {
        stop->asked = true;
        stop->term_ns = now_ns;
        stop->deadline_ns = later(now_ns, stop->plan.grace_ns);
    }
    if (status == PP_OK || status == PP_E_VANISHED)
        return;
    stop->signal_failed = true;
    stop->signal_status = status;
}

/* Whatever was seen, nothing is verified without the pinned leader or after giving up. */
static pp_stop_action finish(pp_stop *stop, pp_verdict verdict) {
    stop->verdict = stop->leader_lost || stop->gave_up ? PP_VERDICT_UNVERIFIED : verdict;
    stop->step = PP_STEP_DONE;
    return PP_STOP_FINISHED;
}

static pp_stop_action begin(pp_stop *stop, const pp_stop_view *view) {
    stop->step = PP_STEP_GRACE;
    if (view->leader == PP_LEADER_LOST || group_is_over(view))
        return PP_STOP_WAIT; /* nobody that may be signalled; the next step decides */
    if (stop->plan.group_first)
        return PP_STOP_TERM_GROUP;
    return view->leader == PP_LEADER_ALIVE ? PP_STOP_TERM_LEADER : PP_STOP_WAIT;
}

/* Somebody may have come back since the group was seen empty: what is left of its time goes on. */
static pp_stop_action not_over(pp_stop *stop) {
    stop->step = stop->forced ? PP_STEP_VERIFY : PP_STEP_GRACE;
    stop->reap_deadline_ns = 0;
    return PP_STOP_WAIT;
}

/* Reaping may fail for a while (a debugger has the leader): it is tried again within a bound, each
 * time on a group that is over at this look. */
static pp_stop_action reap(pp_stop *stop, const pp_stop_view *view) {
    bool first = stop->reap_deadline_ns == 0;

    if (first)
        stop->reap_deadline_ns = later(view->now_ns, stop->plan.verify_ns);
    if (view->leader == PP_LEADER_EXITED) {
        if (!stop->gave_up && !group_is_over(view))
            return not_over(stop);
        if (first || view->now_ns < stop->reap_deadline_ns)
            return PP_STOP_REAP_LEADER;
        stop->gave_up = true;
    }
    stop->step = PP_STEP_ESCAPEES;
    /* A deadline that a kill moved is over; escapees have what is left of the grace. */
    int64_t grace_end_ns = later(stop->term_ns, stop->plan.grace_ns);
    if (stop->deadline_ns > grace_end_ns)
        stop->deadline_ns = grace_end_ns;
    return PP_STOP_WAIT;
}

static pp_stop_action grace(pp_stop *stop, const pp_stop_view *view) {
    if (group_is_over(view)) {
        stop->step = PP_STEP_REAP;
        return PP_STOP_WAIT;
    }
    if (view->now_ns < stop->deadline_ns)
        return PP_STOP_WAIT;
    stop->forced = true;
    stop->step = PP_STEP_VERIFY;
    stop->deadline_ns = later(view->now_ns, stop->plan.verify_ns);
    stop->recorded_killed = view->leader == PP_LEADER_LOST;
    return stop->recorded_killed ? PP_STOP_KILL_RECORDED : PP_STOP_KILL_GROUP;
}

static pp_stop_action verify(pp_stop *stop, const pp_stop_view *view) {
    if (group_is_over(view)) {
        stop->step = PP_STEP_REAP;
        return PP_STOP_WAIT;
    }
    if (view->leader == PP_LEADER_LOST && !stop->recorded_killed) { /* before the group's signal */
        stop->recorded_killed = true;
        return PP_STOP_KILL_RECORDED;
    }
    if (view->now_ns < stop->deadline_ns)
        return PP_STOP_WAIT;
    stop->gave_up = true;
    stop->step = PP_STEP_REAP;
    return PP_STOP_WAIT;
}

/* An empty leaf proves nothing by itself, but one that somebody lives in forbids every proof.
 * After a kill the escapees get the verification time; before it, what is left of the grace. */
static pp_stop_action escapees(pp_stop *stop, const pp_stop_view *view) {
    if (!view->leaf_populated && (view->childless || escapees_are_gone(view)))
        return finish(stop, view->childless ? PP_VERDICT_ECHILD : PP_VERDICT_GROUP_EMPTY);
    if (stop->plan.reap_escapees) {
        if (!stop->escapees_killed) {
            stop->escapees_killed = true;
            stop->deadline_ns = later(view->now_ns, stop->plan.verify_ns);
        }
        if (view->now_ns < stop->deadline_ns)
            return PP_STOP_KILL_ESCAPEES; /* again and again: a chain may have hopped on */
    } else if (view->now_ns >= stop->deadline_ns && view->escapees_expected > 0 &&
               !stop->escapees_killed) {
        stop->escapees_killed = true;
        stop->deadline_ns = later(view->now_ns, stop->plan.verify_ns);
        return PP_STOP_KILL_EXPECTED;
    }
    if (view->now_ns < stop->deadline_ns)
        return PP_STOP_WAIT;
    return finish(stop, view->escapees > 0 ? PP_VERDICT_LEFT_RUNNING : PP_VERDICT_UNVERIFIED);
}

pp_stop_action pp_stop_next(pp_stop *stop, const pp_stop_view *view, int64_t *ret_deadline_ns) {
    pp_stop_action action = PP_STOP_WAIT;

    if (view->leader == PP_LEADER_LOST)
        stop->leader_lost = true;
    if (stop->step == PP_STEP_BEGIN)
        action = begin(stop, view);
    if (action == PP_STOP_WAIT && stop->step == PP_STEP_GRACE)
        action = grace(stop, view);
    else if (action == PP_STOP_WAIT && stop->step == PP_STEP_VERIFY)
        action = verify(stop, view);
    if (action == PP_STOP_WAIT && stop->step == PP_STEP_REAP)
        action = reap(stop, view);
    if (action == PP_STOP_WAIT && stop->step == PP_STEP_ESCAPEES)
        action = escapees(stop, view);
    if (stop->step == PP_STEP_DONE)
        action = PP_STOP_FINISHED;
    *ret_deadline_ns = stop->step == PP_STEP_REAP ? stop->reap_deadline_ns : stop->deadline_ns;
    return action;
}

const char *pp_verdict_name(pp_verdict verdict) {
    switch (verdict) {
    case PP_VERDICT_ECHILD:
        return "echild";
    case PP_VERDICT_GROUP_EMPTY:
        return "group_empty_and_recorded_gone";
    case PP_VERDICT_LEFT_RUNNING:
        return "left_running";
    case PP_VERDICT_UNVERIFIED:
        return "unverified";
    case PP_VERDICT_NONE:
        break;
    }
    return "none";
}
