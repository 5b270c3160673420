/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#include "supervised.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_NS (60 * SV_S)

const char *sv_exe_path;

static char *const environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };

int64_t sv_now(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SV_S + now.tv_nsec;
}

static int64_t cpu_now(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * SV_S + now.tv_nsec;
}

double sv_slowness(void) {
    int64_t began_ns = sv_now(), cpu_ns = cpu_now(), busy_ns;

    do
        busy_ns = cpu_now() - cpu_ns;
    while (busy_ns < 100 * SV_MS);
    double slowness = (double)(sv_now() - began_ns) / (double)busy_ns;
    return slowness > 1 ? slowness : 1;
}

static const char *path_of(const supervised *sv, const char *name) {
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    (void)snprintf(path, sizeof paths[0], "%s/%s", sv->dir, name);
    return path;
}

int sv_set_up(void **state) {
    supervised *sv = calloc(1, sizeof *sv);
    pp_error error;

    *state = sv;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    memcpy(sv->dir, "/tmp/pairperf-sv-XXXXXX", 24);
    if (!mkdtemp(sv->dir))
        return -1;
    pp_supervisor_options options = { .exe_path = sv_exe_path,
                                      .run_dir = sv->dir,
                                      .samples_path = path_of(sv, "samples.jsonl"),
                                      .events_path = path_of(sv, "events.jsonl") };
    sv->spawn = (pp_spawn_options){ .envp = environment,
                                    .cwd = "/",
                                    .capture = true,
                                    .stdout_name = "out",
                                    .stderr_name = "err",
                                    .output_cap_bytes = 65536,
                                    .track = true,
                                    .interval_ns = SV_S };
    if (pp_supervisor_start(&options, &sv->supervisor, &error) == PP_OK)
        return 0;
    print_error("start: %s: %s\n", error.op, error.detail);
    return -1;
}

static void remove_dir(const char *path) {
    DIR *dir = opendir(path);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        (void)closedir(dir);
    (void)rmdir(path);
}

/* Kills all children as listed, the latest first: whoever hops on has no time to. */
static void kill_children(void) {
    static char bytes[1U << 20];
    char path[64];
    size_t size = 0;
    ssize_t got;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (got = read(fd, bytes + size, sizeof bytes - 1 - size)) > 0)
        size += (size_t)got;
    (void)close(fd);
    bytes[size] = '\0';
    while (size > 0) {
        while (size > 0 && bytes[size - 1] == ' ')
            size--;
        while (size > 0 && bytes[size - 1] != ' ')
            size--;
        pid_t pid = (pid_t)strtol(bytes + size, NULL, 10);
        if (pid > 1)
            (void)kill(pid, SIGKILL); /* our own unreaped child */
    }
}

size_t sv_end_leftovers(void) {
    int64_t limit_ns = sv_now() + LIMIT_NS;
    size_t ended = 0;
    pid_t reaped;

    while (((reaped = waitpid(-1, NULL, WNOHANG)) >= 0 || errno != ECHILD) && sv_now() < limit_ns) {
        ended += reaped > 0;
        if (reaped == 0)
            kill_children();
    }
    return ended;
}

int sv_tear_down(void **state) {
    supervised *sv = *state;

    if (!sv)
        return 0;
    *state = NULL;
    pp_supervisor_free(sv->supervisor);
    bool clean = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
    size_t ended = sv_end_leftovers();
    if (ended > 0)
        print_error("%zu processes were left over\n", ended);
    remove_dir(sv->dir);
    free(sv);
    return clean ? 0 : -1;
}

pp_status sv_spawn(supervised *sv, char *const argv[], pp_error *reterr) {
    sv->spawn.argv = argv;
    return pp_supervisor_spawn(sv->supervisor, &sv->spawn, &sv->leader, reterr);
}

static void must_spawn(supervised *sv, char *const argv[]) {
    pp_error error;

    if (sv_spawn(sv, argv, &error) != PP_OK)
        fail_msg("spawn: %s: %s (%s)", error.op, error.detail, pp_errno_name(error.sys_errno));
}

void sv_shell(supervised *sv, const char *script) {
    char *const argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };

    sv->spawn.path = "/bin/sh";
    must_spawn(sv, argv);
}

void sv_again(supervised *sv, const char *mode, const char *argument) {
    char *const argv[] = { "again", (char *)(uintptr_t)mode, (char *)(uintptr_t)argument, NULL };
    char path[4096];
    ssize_t got = readlink("/proc/self/exe", path, sizeof path - 1);

    assert_true(got > 0);
    path[got] = '\0';
    sv->spawn.path = path;
    must_spawn(sv, argv);
}

void sv_app(supervised *sv, const char *kind, const char *argument) {
    char *const argv[] = { "live_app", (char *)(uintptr_t)kind, (char *)(uintptr_t)argument, NULL };
    char path[4096];

    (void)snprintf(path, sizeof path, "%.*s/tests/stubs/live_app",
                   (int)(strrchr(sv_exe_path, '/') - sv_exe_path), sv_exe_path);
    sv->spawn.path = path;
    must_spawn(sv, argv);
}

bool sv_exited(const pp_supervisor_view *view) {
    return view->exited;
}

bool sv_done(const pp_supervisor_view *view) {
    return view->phase == PP_SUPERVISOR_DONE;
}

bool sv_printed(const pp_supervisor_view *view) {
    return view->output_bytes[0] > 0;
}

bool sv_window_done(const pp_supervisor_view *view) {
    return view->window_done;
}

void sv_await(supervised *sv, sv_condition condition) {
    int64_t limit_ns = sv_now() + LIMIT_NS;

    for (;;) {
        pp_supervisor_look(sv->supervisor, &sv->view);
        if (condition(&sv->view))
            return;
        if (sv->view.error.status != PP_OK)
            fail_msg("supervisor: %s: %s", sv->view.error.op, sv->view.error.detail);
        if (sv_now() > limit_ns)
            fail_msg("nothing of that kind in 60 s; phase %s; events:\n%s",
                     pp_supervisor_phase_name(sv->view.phase), sv_file(sv, "events.jsonl"));
        assert_int_equal(pp_supervisors_pump(&sv->supervisor, 1, -1, SV_S, NULL), PP_OK);
    }
}

void sv_stop(supervised *sv, bool group_first, int64_t grace_ns) {
    assert_int_equal(pp_supervisor_stop(sv->supervisor, group_first, grace_ns, 5 * SV_S, NULL),
                     PP_OK);
    sv_await(sv, sv_done);
}

void sv_end(supervised *sv) {
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
}

bool sv_verdict_says(const supervised *sv, const char *text) {
    return memmem(sv->view.verdict_json, sv->view.verdict_size, text, strlen(text)) != NULL;
}

size_t sv_count(const char *text, const char *part) {
    size_t found = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        found++;
    return found;
}

char sv_state(pid_t pid) {
    char path[64], bytes[1024];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes - 1);
    (void)close(fd);
    bytes[got > 0 ? got : 0] = '\0';
    const char *name_end = strrchr(bytes, ')');
    return name_end ? name_end[2] : '\0';
}

void sv_await_state(pid_t pid, char state) {
    int64_t limit_ns = sv_now() + LIMIT_NS;

    while (sv_state(pid) != state) {
        if (sv_now() > limit_ns)
            fail_msg("%d does not get into state '%c'", pid, state);
        (void)usleep(1000);
    }
}

const char *sv_file(const supervised *sv, const char *name) {
    static char *text;
    size_t size = 0, capacity = 1U << 20;
    int fd = open(path_of(sv, name), O_RDONLY | O_CLOEXEC);
    ssize_t got;

    free(text);
    text = malloc(capacity);
    while (fd >= 0 && (got = read(fd, text + size, capacity - size - 1)) > 0)
        size += (size_t)got;
    if (fd >= 0)
        (void)close(fd);
    text[size] = '\0';
    return text;
}

bool sv_has_line(const char *text, const char *part, const char *other) {
    while (*text) {
        size_t size = strcspn(text, "\n");
        if (memmem(text, size, part, strlen(part)) && memmem(text, size, other, strlen(other)))
            return true;
        text += size + (text[size] == '\n');
    }
    return false;
}

long long sv_number(const char *text, const char *key) {
    char quoted[64];

    (void)snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    if (at)
        return strtoll(at + strlen(quoted), NULL, 10);
    fail_msg("no %s in %s", quoted, text);
    return -1;
}

int sv_reap(pid_t pid) {
    int64_t limit_ns = sv_now() + LIMIT_NS;
    int status = 0;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) != pid) {
        if ((got < 0 && errno != ECHILD) || sv_now() > limit_ns)
            fail_msg("%d does not end as our child", pid);
        (void)usleep(1000); /* until it is ours and ended */
    }
    return status;
}

/* ---- canonical JSON, by a scan ---- */

static const char *scan_value(const char *at);

static const char *scan_string(const char *at) {
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\')
            at++;
    }
    return at + 1;
}

static const char *scan_list(const char *at, char end) {
    const char *key = NULL;
    size_t key_size = 0;

    if (*at == end)
        return at + 1;
    for (;; at++) {
        if (end == '}') {
            const char *next = scan_string(at);
            if (!next || *next != ':')
                return NULL;
            size_t size = (size_t)(next - at) - 2, common = size < key_size ? size : key_size;
            int order = key ? memcmp(key, at + 1, common) : -1;
            if (order > 0 || (order == 0 && key_size >= size))
                return NULL;
            key = at + 1;
            key_size = size;
            at = next + 1;
        }
        at = scan_value(at);
        if (!at || *at == end)
            return at ? at + 1 : NULL;
        if (*at != ',')
            return NULL;
    }
}

static const char *scan_value(const char *at) {
    if (*at == '"')
        return scan_string(at);
    if (*at == '{')
        return scan_list(at + 1, '}');
    if (*at == '[')
        return scan_list(at + 1, ']');
    size_t size = strspn(at, "-0123456789.eE+truefalsn");
    return size > 0 ? at + size : NULL;
}

bool sv_canonical(const char *lines) {
    while (*lines) {
        const char *end = *lines == '{' ? scan_value(lines) : NULL;
        if (!end || *end != '\n')
            return false;
        lines = end + 1;
    }
    return true;
}
#else
typedef int pp_linux_only; /* no empty translation unit */
#endif
