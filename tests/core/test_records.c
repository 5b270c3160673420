/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "records.h"

typedef struct line {
    pp_json json;
    char text[16384];
} line;

static void finish(line *l) {
    const char *text;
    size_t size;
    assert_int_equal(pp_json_finish(&l->json, &text, &size, NULL), PP_OK);
    assert_in_range(size, 1, sizeof l->text - 1);
    memcpy(l->text, text, size);
    l->text[size] = '\0';
    pp_json_done(&l->json);
}

static const char *frame_line(line *l, const pp_frame *frame) {
    pp__record_frame(&l->json, frame, NULL);
    finish(l);
    return l->text;
}

static const char *event_line(line *l, const pp_event *event) {
    pp__record_event(&l->json, event);
    finish(l);
    return l->text;
}

static void assert_holds(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no %s in %s", part, text);
}

static void assert_lacks(const char *text, const char *part) {
    if (strstr(text, part))
        fail_msg("%s in %s", part, text);
}

/* proves: SMP-3, MET-6 */
static void an_empty_frame_is_this_line(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame frame = { .seq = 3,
                       .window = 1,
                       .kind = PP_FRAME_BOUNDARY,
                       .scheduled_ns = 10,
                       .t_ns = 11,
                       .end_ns = 12,
                       .used_ns = 13,
                       .cont_ns = 14,
                       .listed_cont_ns = 9,
                       .wall_ns = 15,
                       .missed = 2,
                       .conservation = { .cpu_ns = pp_known(7),
                                         .write_bytes = pp_missing(PP_E_UNSUPPORTED) },
                       .births = pp_known(5) };
    assert_string_equal(
        frame_line(&l, &frame),
        "{\"births\":{\"count\":5,\"missing\":{}},\"cgroup\":null,\"conservation\":{\"clamped_ns\":"
        "0,\"clamped_write_bytes\":0,\"cpu_ns\":"
        "7,"
        "\"error_ns\":0,\"lower_bound\":false,"
        "\"missing\":{\"write_bytes\":\"unsupported\"},\"reaped_cpu_ns\":0,"
        "\"reaped_write_bytes\":0,\"unreaped\":0,\"write_bytes\":null},"
        "\"cont_ns\":14,\"end_ns\":12,"
        "\"enumeration\":\"ok\",\"exits\":[],\"exits_dropped\":0,\"failures\":[],"
        "\"failures_dropped\":0,\"kind\":\"boundary\",\"listed_cont_ns\":9,"
        "\"memory_pass\":false,\"missed\":2,\"procs\":[],\"scheduled_ns\":10,"
        "\"schema\":\"pairperf-frame-1\",\"seq\":3,\"t_ns\":11,\"used_ns\":13,\"wall_ns\":15,"
        "\"window\":1}");
}

/* proves: MET-6, MET-7 */
static void the_leafs_figures_stand_in_the_frame_and_missing_ones_say_why(void **state) {
    (void)state;
    line l = { 0 };
    pp_reading none = pp_missing(PP_E_UNSUPPORTED);
    pp_frame frame = { .has_leaf = true,
                       .strays = 2,
                       .births = pp_missing(PP_E_ENUMERATION),
                       .leaf = { .cpu_ns = pp_known(30000),
                                 .user_ns = pp_known(20000),
                                 .system_ns = pp_known(10000),
                                 .current_bytes = pp_known(1),
                                 .peak_bytes = pp_known(2),
                                 .anon_bytes = pp_known(3),
                                 .file_bytes = pp_known(4),
                                 .shmem_bytes = pp_known(5),
                                 .kernel_bytes = pp_missing(PP_E_DENIED),
                                 .swap_bytes = none,
                                 .read_bytes = none,
                                 .write_bytes = pp_known(0) } };
    assert_holds(frame_line(&l, &frame),
                 "\"births\":{\"count\":null,\"missing\":{\"count\":\"enumeration\"}},"
                 "\"cgroup\":{\"cpu_ns\":30000,\"memory\":{\"anon_bytes\":3,"
                 "\"current_bytes\":1,\"file_bytes\":4,\"kernel_bytes\":null,"
                 "\"peak_bytes\":2,\"shmem_bytes\":5,\"swap_bytes\":null},"
                 "\"missing\":{\"kernel_bytes\":\"denied\",\"read_bytes\":\"unsupported\","
                 "\"swap_bytes\":\"unsupported\"},\"read_bytes\":null,\"strays\":2,"
                 "\"system_ns\":10000,\"user_ns\":20000,\"write_bytes\":0},"
                 "\"conservation\":");
    frame.leaf = (pp_leaf){ 0 };
    assert_holds(frame_line(&l, &frame), "\"missing\":{\"anon_bytes\":\"not_measured\","
                                         "\"cpu_ns\":\"not_measured\",");
}

/* A frame with one process whose readings all have `value`. */
static pp_frame frame_of(pp_frame_proc *proc, pp_reading value) {
    *proc = (pp_frame_proc){
        .info = { .id = { 42, 7, 8 }, .ppid = 1, .pgid = 42, .sid = 40, .exe = "/bin/app" },
        .leader = true,
        .in_group = true,
        .usage = { value, value, value, value, value, value, value, value, value, value, value,
                   value, value, value, value, false, false },
        .memory = { value, value, value, value },
    };
    return (pp_frame){ .procs = proc, .proc_count = 1, .memory_pass = true };
}

static const char *const reading_keys[] = {
    "billed_energy",
    "cancelled_write_bytes",
    "child_cpu_ns",
    "cpu_ns",
    "footprint_bytes",
    "footprint_pss_bytes",
    "involuntary_switches",
    "logical_write_bytes",
    "pss_bytes",
    "rss_bytes",
    "swap_bytes",
    "threads",
    "uss_bytes",
    "voluntary_switches",
    "wakeups_interrupt",
    "wakeups_pkg_idle",
    "write_bytes",
};
#define READINGS (sizeof reading_keys / sizeof *reading_keys)

/* proves: MET-6, TRK-1, TRK-6 */
static void every_missing_reading_is_null_and_named_with_its_reason(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_proc proc;
    pp_frame frame = frame_of(&proc, pp_missing(PP_E_DENIED));
    const char *text = strstr(frame_line(&l, &frame), "\"procs\":");
    for (size_t i = 0; i < READINGS; i++) {
        char part[64];
        (void)snprintf(part, sizeof part, "\"%s\":null", reading_keys[i]);
        assert_holds(text, part);
        (void)snprintf(part, sizeof part, "\"%s\":\"denied\"", reading_keys[i]);
        assert_holds(text, part);
    }
}

/* proves: MET-6 */
static void a_reading_of_zero_is_a_number_and_not_missing(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_proc proc;
    pp_frame frame = frame_of(&proc, pp_known(0));
    const char *text = strstr(frame_line(&l, &frame), "\"procs\":");
    assert_holds(text, "\"missing\":{}");
    assert_lacks(text, "null");
    for (size_t i = 0; i < READINGS; i++) {
        char part[64];
        (void)snprintf(part, sizeof part, "\"%s\":0", reading_keys[i]);
        assert_holds(text, part);
    }
}

/* proves: MET-6 */
static void what_was_never_measured_does_not_look_measured(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_proc proc;
    pp_frame frame = frame_of(&proc, (pp_reading){ 0 });
    const char *text = frame_line(&l, &frame);
    assert_holds(text, "\"rss_bytes\":null");
    assert_holds(text, "\"rss_bytes\":\"not_measured\"");
}

/* proves: MET-3 */
static void dear_memory_is_neither_given_nor_missed_on_a_cheap_pass(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_proc proc;
    pp_frame frame = frame_of(&proc, pp_missing(PP_E_DENIED));
    frame.memory_pass = false;
    const char *text = frame_line(&l, &frame);
    assert_lacks(text, "pss_bytes");
    assert_lacks(text, "swap_bytes");
    assert_lacks(text, "uss_bytes");
    assert_holds(text, "\"rss_bytes\":null");
}

static void expect_as_worded_anew(pp_json *remembering, pp_record_memo *memo,
                                  const pp_frame *frame) {
    pp_json anew = { 0 };
    const char *wanted, *text;
    size_t wanted_size, size;

    pp__record_frame(&anew, frame, NULL);
    assert_int_equal(pp_json_finish(&anew, &wanted, &wanted_size, NULL), PP_OK);
    pp_json_again(remembering);
    pp__record_frame(remembering, frame, memo);
    assert_int_equal(pp_json_finish(remembering, &text, &size, NULL), PP_OK);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(text, wanted, size);
    pp_json_done(&anew);
}

/* proves: SMP-3, MET-6 */
static void who_is_remembered_is_worded_as_anew(void **state) {
    (void)state;
    enum { PROCS = PP_WORDED_MAX + 2 };
    static pp_frame_proc procs[PROCS];
    pp_frame frame = frame_of(&procs[0], pp_known(1));
    pp_record_memo memo = { 0 };
    pp_json json = { 0 };

    for (int i = 0; i < PROCS; i++) {
        procs[i] = procs[0];
        procs[i].info.id.pid = 100 + i;
    }
    frame.proc_count = PROCS;
    expect_as_worded_anew(&json, &memo, &frame);
    expect_as_worded_anew(&json, &memo, &frame); /* nobody changed */
    for (int i = 0; i < PROCS; i++) {
        procs[i].usage.cpu_ns = pp_known(2);
        expect_as_worded_anew(&json, &memo, &frame);
        procs[i].memory.pss_bytes = pp_missing(PP_E_DENIED);
        expect_as_worded_anew(&json, &memo, &frame);
    }
    frame.memory_pass = !frame.memory_pass;
    expect_as_worded_anew(&json, &memo, &frame);
    frame.procs++; /* the first one ended: each stands where another stood */
    frame.proc_count--;
    expect_as_worded_anew(&json, &memo, &frame);
    frame.proc_count = 1;
    expect_as_worded_anew(&json, &memo, &frame);
    pp_json_done(&json);
    pp__record_memo_done(&memo);
}

static void numbers_beyond_63_bits_are_decimal_strings(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_proc proc;
    pp_frame frame = frame_of(&proc, pp_known(UINT64_MAX));
    proc.info.id.start = UINT64_MAX;
    proc.info.id.unique = INT64_MAX;
    const char *text = frame_line(&l, &frame);
    assert_holds(text, "\"write_bytes\":\"18446744073709551615\"");
    assert_holds(text, "\"start\":\"18446744073709551615\"");
    assert_holds(text, "\"unique\":9223372036854775807");
    assert_holds(text, "\"missing\":{}");
}

static void a_path_that_is_not_utf8_is_hex(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_proc proc;
    pp_frame frame = frame_of(&proc, pp_known(1));
    memcpy(proc.info.exe, "/a\xff\"", 5);
    assert_holds(frame_line(&l, &frame), "\"exe\":{\"bytes_hex\":\"2f61ff22\"}");
    pp_event event = { .kind = "escaped", .info = &proc.info };
    assert_holds(event_line(&l, &event), "\"exe\":{\"bytes_hex\":\"2f61ff22\"}");
    memcpy(proc.info.exe, "/\xc3\xa4\"\n", 6);
    assert_holds(event_line(&l, &event), "\"exe\":\"/\xc3\xa4\\\"\\n\"");
}

/* proves: TRK-6, TRK-7, SMP-4 */
static void ended_processes_and_failed_reads_stay_with_the_frame(void **state) {
    (void)state;
    line l = { 0 };
    pp_frame_exit exits[] = {
        { .info = { .id = { 5, 6, 0 } },
          .exit_known = true,
          .exit = { .code = 3 },
          .final = true,
          .usage.cpu_ns = pp_known(9) },
        { .exit_known = true, .exit = { .by_signal = true, .signal_number = SIGKILL } },
        { .exit_known = false },
    };
    pp_frame_failure failures[] = {
        { .pid = 5, .owned = true, .status = PP_E_DENIED, .sys_errno = EACCES, .op = "open" },
        { .pid = 6, .status = PP_E_MALFORMED, .op = "stat" },
    };
    pp_frame frame = { .enumeration = PP_E_ENUMERATION,
                       .exits = exits,
                       .exit_count = 3,
                       .exits_dropped = 4,
                       .failures = failures,
                       .failure_count = 2,
                       .failures_dropped = 5 };
    const char *text = frame_line(&l, &frame);
    assert_holds(text, "\"enumeration\":\"enumeration\"");
    assert_holds(text, "\"exit\":{\"code\":3},\"final\":true");
    assert_holds(text, "\"exit\":{\"core\":false,\"signal\":\"SIGKILL\"}");
    assert_holds(text, "\"exit\":null,\"final\":false");
    assert_holds(text, "\"exits_dropped\":4");
    assert_holds(text, "{\"errno\":\"EACCES\",\"op\":\"open\",\"owned\":true,\"pid\":5,"
                       "\"status\":\"denied\"}");
    assert_holds(text, "{\"errno\":null,\"op\":\"stat\",\"owned\":false,\"pid\":6,"
                       "\"status\":\"malformed\"}");
    assert_holds(text, "\"failures_dropped\":5");
}

static void an_event_with_everything_is_this_line(void **state) {
    (void)state;
    line l = { 0 };
    pp_proc_info info = { .id = { 42, 7, 8 }, .ppid = 1, .pgid = 42, .exe = "/bin/app" };
    pp_error error;
    (void)pp_fail(&error, PP_E_SYS, ENOENT, "execve", "/no");
    pp_event event = {
        .kind = "k",
        .seq = 9,
        .now = { .t_ns = 1, .wall_ns = 2 },
        .info = &info,
        .old_ppid = 3,
        .exit = &(pp_exit){ .by_signal = true, .signal_number = SIGABRT, .core_dumped = true },
        .signal = "SIGTERM",
        .target = "group",
        .error = &error,
        .window = 4,
        .frames = 5,
        .missed = 6,
        .duration_ns = 7,
        .interval_ns = 8,
        .capability = "c",
        .consequence = "",
        .state = PP_OK
    };
    assert_string_equal(
        event_line(&l, &event),
        "{\"capability\":\"c\",\"consequence\":\"\",\"duration_ns\":7,\"error\":{\"detail\":\"/"
        "no\","
        "\"errno\":\"ENOENT\",\"op\":\"execve\",\"status\":\"sys\"},\"exe\":\"/bin/app\","
        "\"exit\":{\"core\":true,\"signal\":\"SIGABRT\"},\"frames\":5,\"interval_ns\":8,"
        "\"kind\":\"k\",\"missed\":6,\"old_ppid\":3,\"pgid\":42,\"pid\":42,\"ppid\":1,"
        "\"schema\":\"pairperf-event-1\",\"seq\":9,\"signal\":\"SIGTERM\","
        "\"source\":\"supervisor\",\"start\":7,\"state\":\"ok\",\"t_ns\":1,\"target\":\"group\","
        "\"unique\":8,\"wall_ns\":2,\"window\":4}");
}

static void an_event_says_nothing_that_it_does_not_know(void **state) {
    (void)state;
    line l = { 0 };
    pp_event event = { .kind = "k", .error = &(pp_error){ .status = PP_OK } };
    assert_string_equal(event_line(&l, &event),
                        "{\"kind\":\"k\",\"schema\":\"pairperf-event-1\",\"seq\":0,"
                        "\"source\":\"supervisor\",\"t_ns\":0,\"wall_ns\":0}");
}

/* proves: SMP-9 */
static void a_missing_capability_names_its_state_and_consequence(void **state) {
    (void)state;
    line l = { 0 };
    pp_event event = { .kind = "capability",
                       .capability = "smaps_rollup",
                       .consequence = "no PSS",
                       .state = PP_E_DENIED };
    const char *text = event_line(&l, &event);
    assert_holds(text, "\"capability\":\"smaps_rollup\",\"consequence\":\"no PSS\"");
    assert_holds(text, "\"state\":\"denied\"");
}

static pp_tree_member member_of(int32_t pid, bool seen, bool expected) {
    return (pp_tree_member){ .info = { .id = { pid, (uint64_t)pid * 10, 0 }, .pgid = pid },
                             .seen = seen,
                             .expected = expected };
}

/* proves: CAN-3, GRP-12, SMP-8 (B19) */
static void a_verdict_lists_survivors_and_unverified_by_pid_and_start(void **state) {
    (void)state;
    line l = { 0 };
    pp_tree_member members[] = { member_of(5, true, false), member_of(6, false, false) };
    members[0].info.phase = PP_PHASE_ZOMBIE;
    pp_tree tree = { .members = members, .count = 2, .escapes = 1, .reaped_cpu_ns = 12 };
    tree.escape_records[0].info.id = (pp_proc_id){ 9, 90, 0 };
    pp_stop stop = { .verdict = PP_VERDICT_LEFT_RUNNING, .forced = true };
    pp_outlasted outlasted = { .total = 1 };
    outlasted.infos[0] = members[1].info;
    outlasted.infos[0].phase = PP_PHASE_STOPPED;
    pp_verdict_record record = { .seq = 1,
                                 .stop = &stop,
                                 .cause = "requested",
                                 .outlasted = &outlasted,
                                 .adopts = true,
                                 .exited = true,
                                 .exit = { .code = 3 },
                                 .group_empty = true,
                                 .tree = &tree,
                                 .own_cpu_ns = pp_known(1),
                                 .own_rss_bytes = pp_missing(PP_E_SYS),
                                 .verified_ns = 77 };
    pp__record_verdict(&l.json, &record);
    finish(&l);
    assert_holds(l.text, "\"survivors\":[{\"exe\":\"\",\"expected\":false,\"pgid\":5,"
                         "\"phase\":\"zombie\",\"pid\":5,\"start\":50,\"unique\":0}]");
    assert_holds(l.text, "\"unverified\":[{\"exe\":\"\",\"expected\":false,\"pgid\":6,"
                         "\"phase\":\"alive\",\"pid\":6,\"start\":60,\"unique\":0}]");
    assert_holds(l.text, "\"escapees\":[{\"exe\":\"\",\"expected\":false,\"pgid\":0,\"pid\":9,"
                         "\"start\":90,\"unique\":0}]");
    assert_holds(l.text, "\"proofs\":{\"group_empty\":true,\"kernel_childless\":\"no\","
                         "\"recorded_gone\":false}");
    assert_holds(l.text, "\"verdict\":\"left_running\",\"verified_ns\":77");
    assert_holds(l.text, "\"leader_exit\":{\"code\":3}");
    assert_holds(l.text, "\"forced\":true");
    assert_holds(l.text, "\"outlasted\":[{\"exe\":\"\",\"expected\":false,\"pgid\":6,"
                         "\"phase\":\"stopped\",\"pid\":6,\"start\":60,\"unique\":0}],"
                         "\"outlasted_total\":1,");
    assert_holds(l.text, "\"reaped_cpu_ns\":12,");
    assert_holds(l.text, "\"own\":{\"cpu_ns\":1,\"frames\":0,\"frames_dropped\":0,"
                         "\"rss_bytes\":null,\"tree_events\":0}");
    assert_holds(l.text, "\"signal_failure\":null");
}

/* proves: GRP-12, GRP-6 */
static void a_verdict_claims_no_proof_that_the_system_cannot_give(void **state) {
    (void)state;
    line l = { 0 };
    pp_tree tree = { .reaped_missing = PP_E_UNSUPPORTED };
    pp_stop stop = { .verdict = PP_VERDICT_GROUP_EMPTY,
                     .signal_failed = true,
                     .signal_status = PP_E_DENIED };
    pp_outlasted outlasted = { .total = 0 };
    pp_verdict_record record = {
        .stop = &stop, .cause = "latest_end", .tree = &tree, .outlasted = &outlasted
    };
    pp__record_verdict(&l.json, &record);
    finish(&l);
    assert_holds(l.text, "\"kernel_childless\":\"unsupported\"");
    assert_holds(l.text, "\"recorded_gone\":true");
    assert_holds(l.text, "\"leader_exit\":null");
    assert_holds(l.text, "\"reaped_cpu_ns\":null");
    assert_holds(l.text, "\"signal_failure\":\"denied\"");
    assert_holds(l.text, "\"cause\":\"latest_end\"");
}

/* proves: TRK-4 */
static void records_of_processes_are_capped_and_the_total_is_told(void **state) {
    (void)state;
    line l = { 0 };
    pp_tree tree = { .escapes = PP_TREE_ESCAPES_MAX + 3 };
    pp_stop stop = { 0 };
    pp_outlasted outlasted = { .total = PP_OUTLASTED_MAX + 1 };
    pp_verdict_record record = {
        .stop = &stop, .cause = "requested", .tree = &tree, .outlasted = &outlasted
    };
    pp__record_verdict(&l.json, &record);
    finish(&l);
    assert_holds(l.text, "\"escapees_total\":67");
    assert_holds(l.text, "\"outlasted_total\":65");
    size_t listed = 0;
    for (const char *at = l.text; (at = strstr(at, "\"expected\":")) != NULL; at++)
        listed++;
    assert_int_equal(listed, PP_TREE_ESCAPES_MAX + PP_OUTLASTED_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_frame_is_this_line),
        cmocka_unit_test(the_leafs_figures_stand_in_the_frame_and_missing_ones_say_why),
        cmocka_unit_test(every_missing_reading_is_null_and_named_with_its_reason),
        cmocka_unit_test(a_reading_of_zero_is_a_number_and_not_missing),
        cmocka_unit_test(what_was_never_measured_does_not_look_measured),
        cmocka_unit_test(dear_memory_is_neither_given_nor_missed_on_a_cheap_pass),
        cmocka_unit_test(who_is_remembered_is_worded_as_anew),
        cmocka_unit_test(numbers_beyond_63_bits_are_decimal_strings),
        cmocka_unit_test(a_path_that_is_not_utf8_is_hex),
        cmocka_unit_test(ended_processes_and_failed_reads_stay_with_the_frame),
        cmocka_unit_test(an_event_with_everything_is_this_line),
        cmocka_unit_test(an_event_says_nothing_that_it_does_not_know),
        cmocka_unit_test(a_missing_capability_names_its_state_and_consequence),
        cmocka_unit_test(a_verdict_lists_survivors_and_unverified_by_pid_and_start),
        cmocka_unit_test(a_verdict_claims_no_proof_that_the_system_cannot_give),
        cmocka_unit_test(records_of_processes_are_capped_and_the_total_is_told),
    };
    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
