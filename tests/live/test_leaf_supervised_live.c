/* SPDX-License-Identifier: Apache-2.0 */
/* Real commands with a cgroup of their own under the built supervisor, and without the supervisor
 * or the harness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pairperf/sweep.h"
#include "supervised.h"

/* Runs on until it is killed, in a session of its own. */
#define DAEMON "setsid sh -c 'echo $$; while :; do sleep 0.01; done'"

static bool is_switched_off(void) {
    const char *words = getenv("PP_KERNEL");
    return words != NULL && strstr(words, "no-cgroup") != NULL;
}

/* The leaf's directory; ends the command and skips where there is none. */
static const char *leaf(supervised *sv) {
    static char path[4096];
    pp_supervisor_look(sv->supervisor, &sv->view);
    if (sv->view.leaf == NULL) {
        print_message("no leaf here\n");
        pp_supervisor_free(sv->supervisor);
        sv->supervisor = NULL;
        skip();
    }
    (void)snprintf(path, sizeof path, "%s", sv->view.leaf);
    return path;
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static void move(int32_t pid, const char *dir) {
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "%d", pid) > 0);
    (void)close(fd);
}

static bool verdict_says(const supervised *sv, const char *text) {
    return sv->view.verdict_json &&
           memmem(sv->view.verdict_json, sv->view.verdict_size, text, strlen(text));
}

static bool two_frames(const pp_supervisor_view *view) {
    return view->frames >= 2;
}

/* The first frame may come before the command has run for a microsecond. */
static const char *last_leaf(const char *frames) {
    const char *last = strstr(frames, "\"cgroup\":{\"cpu_ns\":");
    for (const char *at = last; at; at = strstr(at + 1, "\"cgroup\":{\"cpu_ns\":"))
        last = at;
    assert_non_null(last);
    return last;
}

/* proves: MET-7, GRP-12 */
static void frames_and_verdict_tell_of_the_leaf_and_it_is_gone_afterwards(void **state) {
    supervised *sv = *state;
    char path[4096];
    sv_shell(sv, "exec sleep 60");
    (void)snprintf(path, sizeof path, "%s", leaf(sv));
    sv_await(sv, two_frames);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(verdict_says(sv, "\"cgroup_empty\":true"));
    assert_true(sv_canonical(sv_file(sv, "samples.jsonl")));
    const char *frames = sv_file(sv, "samples.jsonl");
    assert_true(sv_number(last_leaf(frames), "cpu_ns") > 0);
    assert_int_equal(sv_number(frames, "strays"), 0);
    const char *events = sv_file(sv, "events.jsonl");
    assert_true(sv_has_line(events, "\"kind\":\"spawned\"", path));
    assert_true(sv_has_line(events, "\"capability\":\"cgroup_leaf\"", "\"state\":\"ok\""));
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    assert_false(exists(path));
}

static void without_a_leaf_frames_say_null_and_the_capability_says_why(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "exec sleep 60");
    pp_supervisor_look(sv->supervisor, &sv->view);
    if (sv->view.leaf)
        skip();
    sv_await(sv, two_frames);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(verdict_says(sv, "\"cgroup_empty\":null"));
    assert_non_null(strstr(sv_file(sv, "samples.jsonl"), "\"cgroup\":null,"));
    if (is_switched_off())
        assert_true(sv_has_line(sv_file(sv, "events.jsonl"), "\"capability\":\"cgroup_leaf\"",
                                "switched off by PP_KERNEL"));
}

static bool a_stray_was_seen(const pp_supervisor_view *view) {
    return view->frame_json &&
           memmem(view->frame_json, view->frame_size, "\"strays\":1,", 11) != NULL;
}

/* proves: TRK-3, MET-7 */
static void a_process_that_leaves_the_leaf_is_a_stray_in_the_frames(void **state) {
    supervised *sv = *state;
    char above[4096];
    sv_shell(sv, "exec sleep 60");
    (void)snprintf(above, sizeof above, "%s", leaf(sv));
    *strrchr(above, '/') = '\0';
    sv_await(sv, two_frames);
    move(sv->leader.pid, above);
    sv_await(sv, a_stray_was_seen);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD); /* it is still ours to end */
    assert_true(verdict_says(sv, "\"cgroup_empty\":true"));
}

/* proves: GRP-12, CAN-3 */
static void somebody_who_moved_in_forbids_the_proof_and_keeps_the_leaf(void **state) {
    supervised *sv = *state;
    char path[4096], wanted[64];
    sv_shell(sv, "exec sleep 60");
    (void)snprintf(path, sizeof path, "%s", leaf(sv));
    pid_t guest = fork();
    if (guest == 0) {
        (void)setsid();
        for (;;)
            (void)pause();
    }
    move(guest, path);
    sv_stop(sv, false, 500 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_true(verdict_says(sv, "\"cgroup_empty\":false"));
    assert_true(verdict_says(sv, "\"kernel_childless\":\"ok\""));
    (void)snprintf(wanted, sizeof wanted, "\"pid\":%d,", guest);
    assert_non_null(strstr(strstr(sv->view.verdict_json, "\"survivors\":"), wanted));
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    assert_true(exists(path));
    assert_int_equal(kill(guest, 0), 0); /* nobody asked for its end */
    assert_int_equal(kill(guest, SIGKILL), 0);
    assert_true(WIFSIGNALED(sv_reap(guest)));
    assert_int_equal(rmdir(path), 0);
}

/* proves: CAN-3, GRP-10 */
static void daemons_to_be_reaped_go_with_the_leaf(void **state) {
    supervised *sv = *state;
    sv->spawn.reap_escapees = true;
    sv_shell(sv, DAEMON " & exec sleep 60");
    (void)leaf(sv);
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(
        sv_has_line(sv_file(sv, "events.jsonl"), "\"kind\":\"signal\"", "\"target\":\"cgroup\""));
}

static void await_end_of(pid_t pid) {
    int64_t limit_ns = sv_now() + 20 * SV_S;
    while (kill(pid, 0) == 0) {
        assert_true(sv_now() < limit_ns);
        (void)usleep(1000);
    }
}

/* proves: CAN-5, GRP-10 */
static void after_a_killed_supervisor_the_sweep_kills_and_removes_the_leaf(void **state) {
    supervised *sv = *state;
    char path[4096];
    sv_shell(sv, DAEMON " & exec sleep 60");
    (void)snprintf(path, sizeof path, "%s", leaf(sv));
    sv_await(sv, sv_printed);
    pid_t daemon = atoi(sv_file(sv, "out"));
    char parent[64];
    (void)snprintf(parent, sizeof parent, "/proc/%d/stat", sv->leader.pid);
    FILE *file = fopen(parent, "r");
    int supervisor = 0;
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %d", &supervisor), 1);
    (void)fclose(file);
    assert_int_equal(kill(supervisor, SIGKILL), 0);
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    assert_true(exists(path));
    assert_int_equal(kill(daemon, 0), 0); /* only its leader died with it */
    pp_sweep_order order = { .leaf = path, .limit_ns = 10 * SV_S };
    pp_sweep sweep;
    pp_error error = { 0 };
    assert_int_equal(pp_sweep_run(&order, &sweep, &error), PP_OK);
    bool met = false;
    for (size_t i = 0; i < sweep.count; i++) {
        met |= sweep.items[i].info.id.pid == daemon;
        if (sweep.items[i].info.id.pid == daemon)
            assert_int_equal(sweep.items[i].how, PP_SWEPT_GONE);
    }
    assert_true(met);
    pp_sweep_done(&sweep);
    assert_true(kill(daemon, 0) < 0 && errno == ESRCH);
    assert_false(exists(path));
    assert_int_equal(pp_sweep_run(&order, &sweep, &error), PP_OK); /* again is harmless */
    pp_sweep_done(&sweep);
    order.leaf = "/tmp/pairperf";
    assert_int_equal(pp_sweep_run(&order, &sweep, &error), PP_E_INVALID);
    pp_sweep_done(&sweep);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* those that the order did not name */
        ;
}

/* proves: CAN-5 */
static void after_a_killed_harness_no_leaf_is_left(void **state) {
    supervised *sv = *state;
    int told[2];
    char path[4096] = { 0 };
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    assert_int_equal(pipe(told), 0);
    pid_t harness = fork();
    if (harness == 0) {
        pp_supervisor_options options = { .exe_path = sv_exe_path, .run_dir = sv->dir };
        if (pp_supervisor_start(&options, &sv->supervisor, NULL) != PP_OK)
            _exit(1);
        sv_shell(sv, DAEMON " & exec sleep 60");
        sv_await(sv, sv_printed);
        pp_supervisor_look(sv->supervisor, &sv->view);
        const char *told_path = sv->view.leaf ? sv->view.leaf : "-";
        (void)!write(told[1], told_path, strlen(told_path));
        (void)kill(getpid(), SIGKILL);
    }
    assert_true(read(told[0], path, sizeof path - 1) > 0);
    (void)close(told[0]);
    (void)close(told[1]);
    pid_t daemon = atoi(sv_file(sv, "out"));
    assert_int_equal(WTERMSIG(sv_reap(harness)), SIGKILL);
    while (waitpid(-1, NULL, 0) > 0) /* the supervisor is ours now, and ends by itself */
        ;
    await_end_of(daemon);
    if (path[0] == '-')
        skip();
    assert_false(exists(path));
    assert_true(sv_has_line(sv_file(sv, "events.supervisor.jsonl"), "\"cause\":\"harness_gone\"",
                            "\"cgroup_empty\":true"));
}

int main(void) {
    sv_exe_path = PP_TEST_SUPERVISOR;
#define T(name) cmocka_unit_test_setup_teardown(name, sv_set_up, sv_tear_down)
    const struct CMUnitTest tests[] = {
        T(frames_and_verdict_tell_of_the_leaf_and_it_is_gone_afterwards),
        T(without_a_leaf_frames_say_null_and_the_capability_says_why),
        T(a_process_that_leaves_the_leaf_is_a_stray_in_the_frames),
        T(somebody_who_moved_in_forbids_the_proof_and_keeps_the_leaf),
        T(daemons_to_be_reaped_go_with_the_leaf),
        T(after_a_killed_supervisor_the_sweep_kills_and_removes_the_leaf),
        T(after_a_killed_harness_no_leaf_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
