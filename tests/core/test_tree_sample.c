/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"

#define CHILD 101
#define GRANDCHILD 102
#define MS UINT64_C(1000000)
#define BUDGET_NS INT64_C(250000000)

static int set_up(void **state) {
    fake_tree *f = fake_tree_begin(state, true, NULL);

    fake_add(&f->fake, CHILD, FAKE_LEADER);
    fake_add(&f->fake, GRANDCHILD, CHILD);
    return 0;
}

static const pp_conservation *sample(fake_tree *f) {
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, 0, &f->frame);
    return &f->frame.conservation;
}

static const pp_frame_proc *proc(const fake_tree *f, int32_t pid) {
    for (size_t i = 0; i < f->frame.proc_count; i++)
        if (f->frame.procs[i].info.id.pid == pid)
            return &f->frame.procs[i];
    return NULL;
}

static void assert_total(const pp_conservation *total, uint64_t cpu_ns) {
    assert_true(total->cpu_ns.known);
    assert_true(total->cpu_ns.value == cpu_ns);
}

/* proves: TRK-2 */
static void parents_are_read_before_their_children(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, 103, FAKE_LEADER);
    (void)sample(f);
    assert_int_equal(f->frame.proc_count, 4);
    assert_int_equal(f->frame.procs[0].info.id.pid, FAKE_LEADER);
    assert_true(f->frame.procs[0].leader && f->frame.procs[0].in_group);
    assert_true(proc(f, CHILD) < proc(f, GRANDCHILD));
}

static void reused_number_ends(fake_os *fake) {
    fake_exit(fake, 103, 0);
}

/* It is met in the place of the one that had the number before it, for it is in the leader's group,
 * and so before its parent; and it ends while that one is read.
 * proves: TRK-2, MET-7 */
static void a_reused_number_is_counted_after_its_parent(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, 103, FAKE_LEADER);
    (void)sample(f);
    fake_exit(&f->fake, 103, 0);
    fake_add(&f->fake, 104, GRANDCHILD);
    fake_add(&f->fake, 103, 104);
    fake_burn(&f->fake, 103, 50 * MS);
    f->fake.t_ns += 20000000;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_USAGE, .pid = 104, .times = 1, .change = reused_number_ends });
    assert_total(sample(f), 50 * MS);
    assert_int_equal(fake_tree_events(f, PP_TREE_REUSED, 103), 1);
}

static void new_child_ends(fake_os *fake) {
    fake_exit(fake, CHILD, 0);
}

/* As last seen, its parent had the number that its own child has now.
 * proves: TRK-1, MET-7 */
static void a_child_with_the_number_of_its_grandparent_is_counted_after_its_parent(void **state) {
    fake_tree *f = *state;
    (void)sample(f);
    fake_exit(&f->fake, CHILD, 0); /* GRANDCHILD is adopted */
    f->fake.t_ns += 20000000;
    fake_add(&f->fake, CHILD, GRANDCHILD);
    fake_burn(&f->fake, CHILD, 50 * MS);
    f->fake.t_ns += 20000000;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = GRANDCHILD, .times = 1, .status = PP_E_DENIED });
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_USAGE, .pid = GRANDCHILD, .times = 1, .change = new_child_ends });
    assert_total(sample(f), 50 * MS);
}

/* proves: MET-7 */
static void the_total_is_the_sum_of_own_and_waited_for_times(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, FAKE_LEADER, 1 * MS);
    fake_burn(&f->fake, CHILD, 10 * MS);
    fake_burn(&f->fake, GRANDCHILD, 100 * MS);
    assert_total(sample(f), 111 * MS);
    assert_int_equal(f->frame.conservation.error_ns, 0);
    fake_exit(&f->fake, GRANDCHILD, 0); /* its parent waits for it */
    assert_total(sample(f), 111 * MS);
    assert_int_equal(f->frame.conservation.error_ns, 20 * MS);
    assert_int_equal(f->frame.conservation.clamped_ns, 0);
}

/* Its I/O is out of sight until its parent has waited for it; the total waits, and never falls.
 * proves: TRK-7, MET-6 */
static void an_ended_member_hides_its_writes_for_a_while(void **state) {
    fake_tree *f = *state;
    fake_find(&f->fake, GRANDCHILD)->usage.write_bytes = pp_known(4096);
    fake_find(&f->fake, CHILD)->usage.write_bytes = pp_known(100);
    uint64_t before = sample(f)->write_bytes.value;
    fake_find(&f->fake, GRANDCHILD)->usage.write_bytes = pp_missing(PP_E_VANISHED);
    const pp_conservation *total = sample(f);
    assert_true(total->write_bytes.known);
    assert_true(total->write_bytes.value == before);
    assert_int_equal(total->clamped_write_bytes, 4096);
    assert_int_equal(total->unreaped, 1);
    fake_find(&f->fake, GRANDCHILD)->usage.write_bytes = pp_missing(PP_E_DENIED);
    total = sample(f);
    assert_false(total->write_bytes.known);
    assert_int_equal(total->write_bytes.why, PP_E_DENIED);
}

static void grandchild_exits(fake_os *fake) {
    fake_exit(fake, GRANDCHILD, 0);
}

/* proves: MET-7, SMP-4 */
static void a_parent_is_read_again_when_its_child_vanished_in_the_pass(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, CHILD, 10 * MS);
    fake_burn(&f->fake, GRANDCHILD, 100 * MS);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_USAGE,
                                         .pid = GRANDCHILD,
                                         .times = 1,
                                         .change = grandchild_exits });
    assert_total(sample(f), 110 * MS);
    assert_int_equal(proc(f, CHILD)->usage.child_cpu_ns.value, 100 * MS);
    assert_null(proc(f, GRANDCHILD));
    assert_int_equal(f->frame.exit_count, 1);
}

static void all_children_exit(fake_os *fake) {
    for (int32_t pid = GRANDCHILD; pid < GRANDCHILD + 5; pid++)
        fake_exit(fake, pid, 0);
}

/* proves: MET-7, SMP-4 */
static void a_parent_of_many_that_vanished_is_read_again_once(void **state) {
    fake_tree *f = *state;
    for (int32_t pid = GRANDCHILD + 1; pid < GRANDCHILD + 5; pid++)
        fake_add(&f->fake, pid, CHILD);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_USAGE,
                                         .pid = GRANDCHILD,
                                         .times = 1,
                                         .change = all_children_exit });
    (void)sample(f);
    assert_int_equal(f->frame.exit_count, 5);
    /* Leader, child, five in vain, and the child again. */
    assert_int_equal(f->fake.calls[FAKE_USAGE], 8);
}

static void child_moves_out(fake_os *fake) {
    fake_find(fake, CHILD)->info.pgid = CHILD;
}

/* It is looked at as the parent of one just met, and is back when its own turn comes.
 * proves: TRK-4 */
static void an_escape_counts_whatever_the_look_was_for(void **state) {
    fake_tree *f = *state;
    (void)sample(f);
    fake_add(&f->fake, 103, CHILD);
    fake_find(&f->fake, 103)->info.pgid = 103;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_IDENTIFY, .pid = 103, .times = 1, .change = child_moves_out });
    (void)sample(f);
    fake_find(&f->fake, CHILD)->info.pgid = FAKE_LEADER;
    (void)sample(f);
    assert_int_equal(fake_tree_events(f, PP_TREE_ESCAPED, CHILD), 1);
}

/* Whose children are not read has perhaps one that nobody knows.
 * proves: TRK-2, SMP-4 */
static void children_of_one_that_cannot_be_looked_at_are_in_doubt(void **state) {
    fake_tree *f = *state;
    (void)sample(f);
    size_t before = f->frame.proc_count;
    fake_add(&f->fake, 103, CHILD);
    fake_escape(&f->fake, 103);
    f->fake.t_ns += 20000000;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_INSPECT,
                                         .pid = CHILD,
                                         .times = 3, /* for itself, and as 103's parent */
                                         .status = PP_E_DENIED });
    (void)sample(f);
    assert_int_equal(f->frame.enumeration, PP_E_UNVERIFIED);
    assert_false(f->frame.conservation.cpu_ns.known);
    f->fake.t_ns += 20000000;
    (void)sample(f);
    f->fake.t_ns += 20000000;
    (void)sample(f);
    assert_int_equal(f->frame.enumeration, PP_OK);
    assert_int_equal(f->frame.proc_count, before + 1);
}

/* Two that cannot be looked at for different reasons. */
static void the_reason_of_a_pass_does_not_depend_on_the_order_of_lists(void **state) {
    fake_tree *f = *state;
    const pp_status reasons[] = { PP_E_BLOCKED, PP_E_DENIED, PP_E_BLOCKED };
    fake_add(&f->fake, 103, CHILD);
    fake_add(&f->fake, 104, CHILD);
    for (int first = 0; first < 2; first++) {
        for (int i = 0; i < 2; i++)
            fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                                 .pid = 103 + i,
                                                 .times = 1,
                                                 .status = reasons[first + i] });
        (void)sample(f);
        assert_int_equal(f->frame.enumeration, PP_E_DENIED);
        f->fake.t_ns += 20000000;
    }
}

static void sibling_exits_and_child_moves_out(fake_os *fake) {
    fake_exit(fake, 103, 0);
    child_moves_out(fake);
}

/* Here it is what its parent, read again, may have waited for.
 * proves: TRK-4 */
static void an_escape_counts_when_its_parent_is_read_again(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, 103, FAKE_LEADER);
    (void)sample(f);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_USAGE,
                                         .pid = 103,
                                         .times = 1,
                                         .change = sibling_exits_and_child_moves_out });
    (void)sample(f);
    fake_find(&f->fake, CHILD)->info.pgid = FAKE_LEADER;
    (void)sample(f);
    assert_int_equal(fake_tree_events(f, PP_TREE_ESCAPED, CHILD), 1);
}

/* What an exit record shows must not be less than an earlier frame showed.
 * proves: SMP-4, SMP-5 */
static void what_was_read_again_is_what_was_last_seen(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, GRANDCHILD, 100 * MS);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_USAGE,
                                         .pid = GRANDCHILD,
                                         .times = 1,
                                         .change = grandchild_exits });
    (void)sample(f);
    uint64_t shown = proc(f, CHILD)->usage.child_cpu_ns.value;
    fake_exit(&f->fake, CHILD, 0);
    (void)sample(f);
    assert_int_equal(f->frame.exits[0].info.id.pid, CHILD);
    assert_true(f->frame.exits[0].usage.child_cpu_ns.value == shown);
}

/* proves: SMP-4 */
static void what_vanished_unseen_keeps_its_last_reading_and_is_not_called_final(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, GRANDCHILD, 100 * MS);
    (void)sample(f);
    fake_burn(&f->fake, GRANDCHILD, 7 * MS);
    fake_exit(&f->fake, GRANDCHILD, 0);
    (void)sample(f);
    assert_int_equal(f->frame.exit_count, 1);
    assert_false(f->frame.exits[0].final);
    assert_int_equal(f->frame.exits[0].usage.cpu_ns.value, 100 * MS);
}

/* proves: MET-7 */
static void a_total_that_falls_is_held_at_its_maximum_and_the_gap_told(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, CHILD, 100 * MS);
    assert_total(sample(f), 100 * MS);
    fake_find(&f->fake, CHILD)->usage.cpu_ns.value = 70 * MS;
    assert_total(sample(f), 100 * MS);
    assert_int_equal(f->frame.conservation.clamped_ns, 30 * MS);
    fake_find(&f->fake, CHILD)->usage.cpu_ns.value = 101 * MS;
    assert_total(sample(f), 101 * MS);
    assert_int_equal(f->frame.conservation.clamped_ns, 0);
}

/* proves: MET-7, SMP-4 */
static void what_the_supervisor_reaped_is_booked_once(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    fake_burn(&f->fake, GRANDCHILD, 100 * MS);
    fake_find(&f->fake, GRANDCHILD)->usage.write_bytes = pp_known(4096);
    fake_exit(&f->fake, CHILD, 0);
    assert_total(sample(f), 100 * MS);
    fake_exit(&f->fake, GRANDCHILD, 0); /* an orphan: ours to reap */
    assert_total(sample(f), 100 * MS);
    assert_int_equal(f->frame.conservation.reaped_cpu_ns, 0);
    pp_proc_id id = fake_find(&f->fake, GRANDCHILD)->info.id;
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_OK);
    for (int i = 0; i < 2; i++) {
        assert_total(sample(f), 100 * MS);
        assert_int_equal(f->frame.conservation.reaped_cpu_ns, 100 * MS);
        assert_int_equal(f->frame.conservation.clamped_ns, 0);
        assert_int_equal(f->frame.conservation.reaped_write_bytes, 4096);
        assert_int_equal(f->frame.conservation.write_bytes.value, 4096);
        assert_int_equal(f->frame.exit_count, i == 0);
    }
}

static pp_status (*real_reap)(void *, pp_proc_id, pp_exit *, pp_reading *, pp_error *);

static pp_status reap_without_figures(void *ctx, pp_proc_id id, pp_exit *ret_exit,
                                      pp_reading *ret_write_bytes, pp_error *reterr) {
    pp_status status = real_reap(ctx, id, ret_exit, ret_write_bytes, reterr);
    ret_exit->cpu_ns = pp_missing(PP_E_UNSUPPORTED);
    *ret_write_bytes = pp_missing(PP_E_DENIED);
    return status;
}

/* proves: MET-6, MET-7 */
static void a_reaping_without_figures_leaves_no_total(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    real_reap = f->fake.os.reap;
    f->fake.os.reap = reap_without_figures;
    pp_proc_id id = fake_add(&f->fake, 103, FAKE_SELF)->info.id;
    fake_exit(&f->fake, 103, 0);
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_OK);
    const pp_conservation *total = sample(f);
    assert_false(total->cpu_ns.known || total->write_bytes.known);
    assert_int_equal(total->cpu_ns.why, PP_E_UNSUPPORTED);
    assert_int_equal(total->write_bytes.why, PP_E_DENIED);
}

/* proves: TRK-6, TRK-1, MET-6 */
static void denied_usage_is_null_everywhere_and_leaves_no_total(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, CHILD, 10 * MS);
    assert_total(sample(f), 10 * MS);
    fake_rule_add(
        &f->fake,
        (fake_rule){
            .call = FAKE_USAGE, .pid = CHILD, .times = 1, .status = PP_E_DENIED, .sys_errno = 13 });
    const pp_conservation *total = sample(f);
    assert_false(total->cpu_ns.known || total->write_bytes.known);
    assert_int_equal(total->cpu_ns.why, PP_E_DENIED);
    assert_int_equal(f->frame.proc_count, 3);
    const pp_usage *usage = &proc(f, CHILD)->usage;
    assert_int_equal(usage->cpu_ns.why, PP_E_DENIED);
    assert_int_equal(usage->rss_bytes.why, PP_E_DENIED);
    assert_false(usage->cpu_ns.known || usage->rss_bytes.known || usage->threads.known);
    assert_int_equal(f->frame.failures[0].pid, CHILD);
    assert_int_equal(f->frame.failures[0].sys_errno, 13);
    assert_int_equal(fake_tree_events(f, PP_TREE_DENIED, CHILD), 1);
    assert_total(sample(f), 10 * MS);
    assert_int_equal(fake_tree_events(f, PP_TREE_DENIED, CHILD), 1);
}

/* proves: SMP-6, MET-6 */
static void one_field_missing_leaves_no_total_and_the_other_fields_stay(void **state) {
    fake_tree *f = *state;
    fake_find(&f->fake, CHILD)->usage.write_bytes = pp_missing(PP_E_DENIED);
    const pp_conservation *total = sample(f);
    assert_total(total, 0);
    assert_false(total->write_bytes.known);
    assert_true(proc(f, CHILD)->usage.rss_bytes.known);
}

/* proves: MET-7 */
static void without_adoption_there_is_no_conserved_total(void **state) {
    fake_tree *f = *state;
    f->fake.os.adopts = false;
    const pp_conservation *total = sample(f);
    assert_false(total->cpu_ns.known || total->write_bytes.known);
    assert_int_equal(total->cpu_ns.why, PP_E_UNSUPPORTED);
    assert_true(proc(f, CHILD)->usage.cpu_ns.known);
}

/* proves: TRK-6 */
static void an_incomplete_discovery_leaves_no_total(void **state) {
    fake_tree *f = *state;
    fake_rule_add(&f->fake,
                  (fake_rule){ .call = FAKE_LIST_OWN, .times = 1, .status = PP_E_ENUMERATION });
    const pp_conservation *total = sample(f);
    assert_int_equal(f->frame.enumeration, PP_E_ENUMERATION);
    assert_false(total->cpu_ns.known || total->write_bytes.known);
    assert_int_equal(total->cpu_ns.why, PP_E_ENUMERATION);
    assert_int_equal(f->frame.proc_count, 3);
    assert_total(sample(f), 0);
}

/* A member whose place cannot be read is not summed as if it were whole.
 * proves: TRK-6, GRP-3 */
static void an_unreadable_member_still_shows_its_usage_and_the_failure(void **state) {
    fake_tree *f = *state;
    (void)sample(f);
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = CHILD, .times = 1, .status = PP_E_BLOCKED });
    (void)sample(f);
    assert_non_null(proc(f, CHILD));
    assert_int_equal(f->frame.failures[0].status, PP_E_BLOCKED);
}

static void overflowing_counters_have_no_total(void **state) {
    fake_tree *f = *state;
    fake_find(&f->fake, CHILD)->usage.cpu_ns = pp_known(UINT64_MAX);
    fake_burn(&f->fake, GRANDCHILD, 1);
    const pp_conservation *total = sample(f);
    assert_false(total->cpu_ns.known);
    assert_int_equal(total->cpu_ns.why, PP_E_OVERFLOW);
}

/* proves: MET-7, TRK-5 */
static void a_member_that_ignores_sigchld_makes_the_total_a_lower_bound_for_good(void **state) {
    fake_tree *f = *state;
    assert_false(sample(f)->lower_bound);
    fake_find(&f->fake, CHILD)->info.sigchld_ignored = true;
    assert_true(sample(f)->lower_bound);
    fake_exit(&f->fake, CHILD, 0);
    assert_true(sample(f)->lower_bound);
}

/* proves: MET-3 */
static void memory_is_read_only_when_asked_for(void **state) {
    fake_tree *f = *state;
    (void)sample(f);
    assert_false(f->frame.memory_pass);
    assert_false(proc(f, CHILD)->memory.pss_bytes.known);
    pp_tree_sample(&f->tree, BUDGET_NS, &f->frame);
    assert_true(f->frame.memory_pass);
    assert_true(proc(f, CHILD)->memory.pss_bytes.known);
    assert_int_equal(f->fake.memory_deadline_ns, f->frame.t_ns + BUDGET_NS);
}

/* proves: MET-6, TRK-7 */
static void memory_that_cannot_be_read_is_missing_and_a_zombies_is_no_failure(void **state) {
    fake_tree *f = *state;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_MEMORY, .times = FAKE_FOREVER, .status = PP_E_BLOCKED });
    fake_exit(&f->fake, FAKE_LEADER, 0);
    pp_tree_sample(&f->tree, BUDGET_NS, &f->frame);
    assert_int_equal(proc(f, CHILD)->memory.pss_bytes.why, PP_E_BLOCKED);
    assert_int_equal(proc(f, FAKE_LEADER)->memory.pss_bytes.why, PP_E_BLOCKED);
    assert_int_equal(f->frame.failure_count, 2); /* the two that live */
}

static void two_seconds_pass(fake_os *fake) {
    fake->t_ns += 2000000000;
}

/* proves: SMP-3 */
static void a_frame_is_timed_from_before_the_first_counter_to_after_the_last(void **state) {
    fake_tree *f = *state;
    int64_t start_ns = f->fake.t_ns;
    f->fake.asleep_ns = 5;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_USAGE,
                                         .pid = GRANDCHILD,
                                         .times = 1,
                                         .change = two_seconds_pass });
    (void)sample(f);
    assert_true(f->frame.t_ns == start_ns);
    assert_true(f->frame.cont_ns == start_ns + 5);
    assert_true(f->frame.end_ns == start_ns + 2000000000);
}

/* proves: TRK-1 */
static void a_member_whose_number_is_reused_in_the_pass_gives_no_numbers(void **state) {
    fake_tree *f = *state;
    (void)sample(f);
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_USAGE, .pid = GRANDCHILD, .times = 1, .status = PP_E_STALE });
    (void)sample(f);
    assert_null(proc(f, GRANDCHILD));
    assert_int_equal(f->frame.exit_count, 1);
    (void)sample(f);
    assert_non_null(proc(f, GRANDCHILD));
}

/* proves: SMP-6, TRK-3 */
static void an_escaped_member_still_counts_and_is_marked(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, CHILD, 10 * MS);
    fake_escape(&f->fake, CHILD);
    assert_total(sample(f), 10 * MS);
    assert_true(proc(f, CHILD)->escaped);
    assert_false(proc(f, CHILD)->in_group);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, fake_tree_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(parents_are_read_before_their_children),
        T(a_reused_number_is_counted_after_its_parent),
        T(a_child_with_the_number_of_its_grandparent_is_counted_after_its_parent),
        T(the_total_is_the_sum_of_own_and_waited_for_times),
        T(an_ended_member_hides_its_writes_for_a_while),
        T(a_parent_is_read_again_when_its_child_vanished_in_the_pass),
        T(a_parent_of_many_that_vanished_is_read_again_once),
        T(an_escape_counts_whatever_the_look_was_for),
        T(children_of_one_that_cannot_be_looked_at_are_in_doubt),
        T(the_reason_of_a_pass_does_not_depend_on_the_order_of_lists),
        T(an_escape_counts_when_its_parent_is_read_again),
        T(what_was_read_again_is_what_was_last_seen),
        T(what_vanished_unseen_keeps_its_last_reading_and_is_not_called_final),
        T(a_total_that_falls_is_held_at_its_maximum_and_the_gap_told),
        T(what_the_supervisor_reaped_is_booked_once),
        T(a_reaping_without_figures_leaves_no_total),
        T(denied_usage_is_null_everywhere_and_leaves_no_total),
        T(one_field_missing_leaves_no_total_and_the_other_fields_stay),
        T(without_adoption_there_is_no_conserved_total),
        T(an_incomplete_discovery_leaves_no_total),
        T(an_unreadable_member_still_shows_its_usage_and_the_failure),
        T(overflowing_counters_have_no_total),
        T(a_member_that_ignores_sigchld_makes_the_total_a_lower_bound_for_good),
        T(memory_is_read_only_when_asked_for),
        T(memory_that_cannot_be_read_is_missing_and_a_zombies_is_no_failure),
        T(a_frame_is_timed_from_before_the_first_counter_to_after_the_last),
        T(a_member_whose_number_is_reused_in_the_pass_gives_no_numbers),
        T(an_escaped_member_still_counts_and_is_marked),
    };
    return cmocka_run_group_tests_name("tree_sample", tests, NULL, NULL);
}
