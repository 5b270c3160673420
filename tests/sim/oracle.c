/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold at every signal, every reap and at the verdict. The oracle knows the truth and
 * what the supervisor was told, and asks of it only what can be asked of one who was told that.
 *
 * proves: GRP-1, GRP-3, GRP-4, GRP-5, GRP-6, GRP-7, GRP-11, GRP-12, CAN-3, CAN-4, CAN-5
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DEATH_GRACE_NS SIM_SECOND
#define DEATH_VERIFY_NS (5 * SIM_SECOND)
#define SLACK_NS (400 * SIM_MS)

/* A stop was asked for, or the harness died. */
void sim_oracle_stop(sim_world *w, int64_t grace_ns, int64_t verify_ns) {
    if (w->at_end)
        return;
    if (!w->asked_to_stop) {
        w->asked_to_stop = true;
        w->lost_ns = 0;
    }
    /* The group, its escapees, and where troubles are planned a leader that is hard to reap. */
    int64_t end_ns =
        w->now_ns + grace_ns + (sim_plan_is_clean(&w->plan) ? 2 : 3) * verify_ns + SLACK_NS;
    if (w->bound_ns < end_ns)
        w->bound_ns = end_ns;
    if (w->kill_earliest_ns > w->now_ns + grace_ns)
        w->kill_earliest_ns = w->now_ns + grace_ns;
}

void sim_oracle_death(sim_world *w) {
    sim_oracle_stop(w, DEATH_GRACE_NS, DEATH_VERIFY_NS);
}

static bool latest_end_came(const sim_world *w) {
    return w->now_ns >= w->latest_ns;
}

static bool may_stop(const sim_world *w) {
    return w->asked_to_stop || latest_end_came(w);
}

static int64_t kill_earliest_ns(const sim_world *w) {
    int64_t latest_ns = w->latest_ns == SIM_NEVER ? SIM_NEVER : w->latest_ns + DEATH_GRACE_NS;

    return latest_ns < w->kill_earliest_ns ? latest_ns : w->kill_earliest_ns;
}

static bool may_end_escapees(const sim_world *w) {
    return w->plan.reap_escapees ||
           (w->plan.linux_rules && (w->harness.dead || latest_end_came(w)));
}

/* Outside the group, and was so already at the last look. */
static bool is_outside(const sim_world *w, const sim_proc *p) {
    return p->pgid != w->procs[w->leader].pid && p->joined_ns < w->list_ns;
}

/* The last list whole, every number in it looked at, and nobody found but the exited leader. */
static bool list_verifies(const sim_world *w) {
    return w->list_whole && !w->list_dirty && w->listed_count == 0;
}

void sim_oracle_signal(sim_world *w, pp_proc_id id, const sim_proc *target, int number) {
    const sim_proc *leader = &w->procs[w->leader];

    if (id.pid <= 1)
        sim_fail(w, "a signal to pid %d", id.pid);
    if (!w->leader || !may_stop(w))
        sim_fail(w, "a signal before anybody asked");
    if (!target)
        return; /* the host refuses: gone or another process */
    if (!target->identified)
        sim_fail(w, "a signal to %d, which was never looked at", id.pid);
    if (!target->ours)
        sim_fail(w, "a signal to the stranger %d", id.pid);
    if (target == leader) {
        if (number == SIGTERM && w->told_exited)
            sim_fail(w, "SIGTERM to the leader, which had exited");
        return;
    }
    if (number != SIGKILL)
        sim_fail(w, "signal %d to %d, which is not the leader", number, id.pid);
    if (!may_end_escapees(w) && !target->helper && is_outside(w, target))
        sim_fail(w, "SIGKILL to %d, which is outside the group", id.pid);
    if (w->told_lost && target->identified_ns > w->lost_leader_ns && !may_end_escapees(w) &&
        !target->helper)
        sim_fail(w, "SIGKILL to %d, recorded only after the leader was lost", id.pid);
    if (!w->told_lost && !w->leader_reaped && !w->killed_group && !list_verifies(w))
        sim_fail(w, "SIGKILL to %d while the leader was pinned", id.pid);
    if (w->now_ns < kill_earliest_ns(w) && !may_end_escapees(w))
        sim_fail(w, "SIGKILL to %d %lld ns before the grace was over", id.pid,
                 (long long)(kill_earliest_ns(w) - w->now_ns));
}

/* By number, right after the children were listed: it must still be that child, and unreaped. */
void sim_oracle_kill_child(sim_world *w, const sim_proc *target) {
    if (!w->leader || !may_stop(w))
        sim_fail(w, "children were killed before anybody asked");
    if (!may_end_escapees(w))
        sim_fail(w, "children were killed although escapees are to be left alone");
    if (target->state == SIM_GONE || target->parent != SIM_SUPERVISOR)
        sim_fail(w, "SIGKILL to %d, which is no unreaped child", target->pid);
    if (!target->ours)
        sim_fail(w, "SIGKILL to the stranger %d", target->pid);
    if (!w->leader_reaped)
        sim_fail(w, "children were killed with the leader not reaped");
}

/* Ends processes outside the group, too: only where that was asked for, or nobody can be asked. */
void sim_oracle_leaf_kill(sim_world *w) {
    if (!w->leader || !may_stop(w))
        sim_fail(w, "the leaf was killed before anybody asked");
    if (!may_end_escapees(w))
        sim_fail(w, "the leaf was killed although escapees are to be left alone");
    if (!w->leader_reaped && !w->told_lost && !w->killed_group && !list_verifies(w))
        sim_fail(w, "the leaf was killed while the leader was pinned");
}

void sim_oracle_signal_group(sim_world *w, pp_proc_id id, int number) {
    const sim_proc *leader = &w->procs[w->leader];

    if (id.pid <= 1)
        sim_fail(w, "a signal to group %d", id.pid);
    if (!w->leader || id.pid != leader->pid || !pp_proc_id_equal(id, leader->id))
        sim_fail(w, "a signal to group %d, which is not the leader's", id.pid);
    if (w->leader_reaped)
        sim_fail(w, "a signal to the group after its leader was reaped");
    if (w->told_lost)
        sim_fail(w, "a signal to the group of a lost leader");
    if (w->list_alone && w->list_alone_before)
        sim_fail(w, "a signal to a group of which only the exited leader is left");
    if (number == SIGTERM && !w->plan.group_first && !w->harness.dead && !latest_end_came(w))
        sim_fail(w, "SIGTERM to the group of an application");
    if (number == SIGKILL && w->now_ns < kill_earliest_ns(w))
        sim_fail(w, "SIGKILL to the group %lld ns before the grace was over",
                 (long long)(kill_earliest_ns(w) - w->now_ns));
}

void sim_oracle_list(sim_world *w, pp_status status, const pp_pid_list *list) {
    w->verified_before = list_verifies(w);
    if (status != PP_OK) { /* says nothing */
        w->list_alone = false;
        return;
    }
    w->list_whole = true;
    w->list_dirty = false;
    w->list_alone_before = w->list_alone;
    w->list_alone = w->told_exited;
    w->listed_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (w->leader && list->pids[i] == w->procs[w->leader].pid && w->told_exited)
            continue;
        w->listed[w->listed_count++] = list->pids[i];
        w->list_alone = false;
    }
}

void sim_oracle_identified(sim_world *w, int32_t pid, pp_status status, const pp_proc_info *info) {
    for (size_t i = 0; i < w->listed_count; i++) {
        if (w->listed[i] != pid)
            continue;
        w->listed[i] = w->listed[--w->listed_count];
        w->list_dirty |= status != PP_OK || info->pgid == w->procs[w->leader].pid;
        return;
    }
}

void sim_oracle_reap(sim_world *w, const sim_proc *p) {
    if (!p->is_leader)
        return;
    if (!may_stop(w))
        sim_fail(w, "the leader was reaped before anybody asked for the end");
    /* Where orphans do not come to the supervisor a second list follows, to discover by. */
    bool verified = w->plan.linux_rules ? list_verifies(w) : w->verified_before;
    if (!verified && w->now_ns < kill_earliest_ns(w))
        sim_fail(w, "the leader was reaped before its group was verified");
    if (!verified && !w->killed_group)
        sim_fail(w, "the leader was reaped with its group neither verified nor killed");
}

/* The supervisor asks for its own cost exactly when it has made up its mind. */
void sim_oracle_verdict(sim_world *w) {
    if (w->at_end)
        sim_fail(w, "a second verdict");
    w->at_end = true;
    w->end_ns = w->now_ns;
    w->cpu_at_end = sim_true_cpu(w, w->now_ns);
    w->write_at_end = sim_true_written(w, w->now_ns);
    for (int i = 0; i < w->live_count; i++) {
        const sim_proc *p = &w->procs[w->live[i]];
        if (!p->ours)
            continue;
        w->alive_at_end++;
        if (p->state != SIM_ALIVE)
            continue;
        w->in_leaf_at_end += p->in_leaf;
        w->recorded_at_end += p->recorded;
        w->members_at_end += p->pgid == w->procs[w->leader].pid && p->joined_ns < w->list_ns;
    }
    w->swept_at_end = w->plan.reap_escapees || (w->plan.linux_rules && w->harness.closed_seen);
    int64_t bound_ns = w->bound_ns;
    int64_t latest_ns =
        latest_end_came(w) ? w->latest_ns + DEATH_GRACE_NS + 3 * DEATH_VERIFY_NS + SLACK_NS : 0;
    if (bound_ns < latest_ns)
        bound_ns = latest_ns;
    if (!may_stop(w))
        sim_fail(w, "a verdict that nobody asked for");
    else if (w->end_ns > bound_ns + w->lost_ns)
        sim_fail(w, "the verdict came %lld ms after the plan's bound",
                 (long long)((w->end_ns - bound_ns - w->lost_ns) / SIM_MS));
}

/* Nothing in the plan keeps the tree from ending and the proof from being reached. */
static bool must_be_proven(const sim_world *w) {
    if (!sim_plan_is_clean(&w->plan) || w->plan.verify_ns < SIM_SECOND)
        return false;
    return !w->plan.hops || (w->swept_at_end && !w->zombie_held && !w->joined_late);
}

static void check_gone(sim_world *w, bool echild) {
    if (echild && !w->plan.linux_rules)
        sim_fail(w, "verdict echild under Darwin's rules");
    if (w->plan.linux_rules && w->alive_at_end > 0)
        sim_fail(w, "verdict %s while %d of the tree live", w->verdict, w->alive_at_end);
    if (w->recorded_at_end > 0)
        sim_fail(w, "verdict %s while %d recorded processes live", w->verdict, w->recorded_at_end);
    if (w->members_at_end > 0)
        sim_fail(w, "verdict %s while %d members live", w->verdict, w->members_at_end);
    if (w->told_lost)
        sim_fail(w, "verdict %s although the leader was lost", w->verdict);
}

void sim_oracle_end(sim_world *w) {
    const sim_plan *plan = &w->plan;
    bool excused = plan->babbles || plan->save_fails;

    if (w->result != PP_OK && !excused)
        sim_fail(w, "the loop ended with %s", pp_status_name(w->result));
    if (!w->leader)
        return;
    if (!w->at_end) {
        sim_fail(w, "the loop ended without a verdict");
        return;
    }
    if (!w->verdict[0]) {
        if (!plan->save_fails)
            sim_fail(w, "the verdict was not told");
        return;
    }
    if (strcmp(w->verdict, "echild") == 0)
        check_gone(w, true);
    else if (strcmp(w->verdict, "group_empty_and_recorded_gone") == 0)
        check_gone(w, false);
    else if (must_be_proven(w))
        sim_fail(w, "verdict %s although nothing stood in the way", w->verdict);
    if (w->forced != w->killed_group && !w->told_lost)
        sim_fail(w, "forced is %d, and SIGKILL to the group was %ssent", w->forced,
                 w->killed_group ? "" : "not ");
}
