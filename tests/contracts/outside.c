/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else: it sees only the installed headers, library and pkg-config file. It
 * starts a command under the installed supervisor, samples it for a moment, stops it and prints the
 * verdict.
 * proves: API-2 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pairperf/build_id.h>
#include <pairperf/status.h>
#include <pairperf/supervisor.h>

#define MS 1000000LL
#define S (1000 * MS)

static int failures;

static void expect_text(const char *what, const char *got, const char *wanted) {
    if (got && strcmp(got, wanted) == 0)
        return;
    fprintf(stderr, "%s: got \"%s\", wanted \"%s\"\n", what, got ? got : "(null)", wanted);
    failures++;
}

static void give_up(const char *what, const pp_error *error) {
    fprintf(stderr, "%s: %s: %s: %s %s\n", what, error->op, error->detail,
            pp_status_name(error->status), pp_errno_name(error->sys_errno));
    exit(1);
}

/* Serves the supervisor until its window or its verdict is there; gives up after 200 wake-ups. */
static pp_supervisor_view pump(pp_supervisor *supervisor, int for_verdict) {
    pp_supervisor_view view;
    pp_error error;

    for (int i = 0; i < 200; i++) {
        pp_supervisor_look(supervisor, &view);
        if (view.error.status != PP_OK)
            give_up("look", &view.error);
        if (for_verdict ? view.phase == PP_SUPERVISOR_DONE : view.window_done)
            return view;
        if (pp_supervisors_pump(&supervisor, 1, -1, S, &error) != PP_OK)
            give_up("pump", &error);
    }
    fprintf(stderr, "nothing happens; phase %s\n", pp_supervisor_phase_name(view.phase));
    exit(1);
}

static void measure_sleep(const char *dir) {
    char *const argv[] = { "sleep", "60", NULL };
    char *const envp[] = { "PATH=/usr/bin:/bin", NULL };
    pp_supervisor_options options = { .run_dir = dir };
    pp_spawn_options spawn = { .path = "/bin/sleep",
                               .argv = argv,
                               .envp = envp,
                               .cwd = "/",
                               .track = true,
                               .interval_ns = 100 * MS };
    pp_supervisor *supervisor;
    pp_proc_id leader;
    pp_error error;

    if (pp_supervisor_start(&options, &supervisor, &error) != PP_OK)
        give_up("start", &error);
    if (pp_supervisor_spawn(supervisor, &spawn, &leader, &error) != PP_OK)
        give_up("spawn", &error);
    if (pp_supervisor_sample(supervisor, 300 * MS, 100 * MS, &error) != PP_OK)
        give_up("sample", &error);
    pp_supervisor_view view = pump(supervisor, 0);
    if (view.window_frames < 2 || view.window_frames + view.window_missed != 4) {
        fprintf(stderr, "%d frames, %d missed\n", (int)view.window_frames, (int)view.window_missed);
        failures++;
    }
    if (!view.live_rss_bytes.known || view.live_rss_bytes.value == 0 || view.live_processes != 1) {
        fprintf(stderr, "%u processes, resident size %s\n", (unsigned)view.live_processes,
                pp_status_name(view.live_rss_bytes.why));
        failures++;
    }
    if (pp_supervisor_stop(supervisor, false, 10 * S, 5 * S, &error) != PP_OK)
        give_up("stop", &error);
    view = pump(supervisor, 1);
    printf("pid %d: %d frames, verdict %s%s\n%.*s\n", (int)leader.pid, (int)view.window_frames,
           pp_verdict_name(view.verdict), view.forced ? ", forced" : "", (int)view.verdict_size,
           view.verdict_json);
    expect_text("signal", view.exit.by_signal ? pp_signal_name(view.exit.signal_number) : "none",
                "SIGTERM");
    if (view.verdict != PP_VERDICT_ECHILD && view.verdict != PP_VERDICT_GROUP_EMPTY)
        failures++;
    pp_supervisor_free(supervisor);
}

int main(int argc, char **argv) {
    expect_text("pp_status_name", pp_status_name(PP_E_DENIED), "denied");
    expect_text("pp_errno_name", pp_errno_name(ENOENT), "ENOENT");
    expect_text("pp_build_version", pp_build_version(), PP_EXPECTED_VERSION);
    if (argc == 2)
        measure_sleep(argv[1]);
    else
        expect_text("usage", "", "outside DIR");
    return failures ? 1 : 0;
}
