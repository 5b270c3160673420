/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/sandbox.h"

extern char **environ;

/* An environment like a developer's: what must go beside what may stay. */
static int set_hostile_environment(void **state) {
    (void)state;
    static const char *const entries[][2] = {
        { "LD_PRELOAD", "/evil.so" },
        { "LD_LIBRARY_PATH", "/evil" },
        { "DYLD_INSERT_LIBRARIES", "/evil" },
        { "PAIR_TOKEN", "1" },
        { "PAIR_PERF_OUTPUT", "/elsewhere" },
        { "NVPAIR_X", "1" },
        { "ELECTRON_RUN_AS_NODE", "1" },
        { "NODE_OPTIONS", "--inspect" },
        { "API_KEY", "fake-key-fake-key" },
        { "AWS_SECRET_ACCESS_KEY", "fake" },
        { "SSH_AUTH_SOCK", "/agent" },
        { "HTTP_PROXY", "http://proxy" },
        { "https_proxy", "http://proxy" },
        { "OTEL_EXPORTER_OTLP_ENDPOINT", "http://telemetry" },
        { "XDG_CONFIG_HOME", "/real/.config" },
        { "XDG_DATA_DIRS", "/real/share" },
        { "XDG_RUNTIME_DIR", "/run/user/1" },
        { "TMPDIR", "/real/tmp" },
        { "HOME", "/real" },
        { "PATH", "/real/bin" },
        { "SHELL", "/bin/zsh" },
        { "LANG", "C.UTF-8" },
        { "LC_TIME", "C" },
        { "LCX", "1" },
        { "TZ", "UTC" },
        { "USER", "somebody" },
        { "LOGNAME", "somebody" },
        { "DISPLAY", ":0" },
    };
    static char *none[] = { NULL };
    environ = none;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (setenv(entries[i][0], entries[i][1], 1) != 0)
            return 1;
    return 0;
}

static pp_environment build(const pp_environment_request *request) {
    pp_environment environment;
    pp_error err = { 0 };
    if (pp_sandbox_environment(request, &environment, &err) != PP_OK)
        fail_msg("%s", err.detail);
    return environment;
}

static const char *value_of(const pp_environment *environment, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < environment->count; i++)
        if (strncmp(environment->entries[i], name, size) == 0 &&
            environment->entries[i][size] == '=')
            return environment->entries[i] + size + 1;
    return NULL;
}

/* proves: BOX-3 BOX-2 */
static void exactly_the_published_names_are_there(void **state) {
    (void)state;
    static const char *const wanted[] = {
        "CFFIXED_USER_HOME=/h",
        "DISPLAY=:0",
        "HOME=/h",
        "LANG=C.UTF-8",
        "LC_TIME=C",
        "LOGNAME=somebody",
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "TEMP=/h/tmp",
        "TMP=/h/tmp",
        "TMPDIR=/h/tmp",
        "TZ=UTC",
        "USER=somebody",
        "XDG_CACHE_HOME=/h/.cache",
        "XDG_CONFIG_HOME=/h/.config",
        "XDG_DATA_HOME=/h/.local/share",
        "XDG_RUNTIME_DIR=/h/run",
        "XDG_STATE_HOME=/h/.local/state",
    };
    pp_environment environment = build(&(pp_environment_request){ .home = "/h" });
    assert_int_equal(environment.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < environment.count; i++)
        assert_string_equal(environment.entries[i], wanted[i]);
    assert_null(environment.entries[environment.count]);
    pp_environment_done(&environment);
    pp_environment_done(&environment);
}

/* proves: CLI-8 */
static void later_sources_replace_earlier_ones(void **state) {
    (void)state;
    const char *const pass[] = { "API_KEY", "PATH", "NOT_SET_ANYWHERE", "TZ", NULL };
    const char *const set[] = { "TZ=Asia/Tokyo", "A=1=2", "EMPTY=", NULL };
    const char *const extra[] = { "A=3", "PAIR_PERF_OUTPUT=/o", NULL };
    pp_environment environment =
        build(&(pp_environment_request){ .home = "/h", .pass = pass, .set = set, .extra = extra });
    assert_string_equal(value_of(&environment, "API_KEY"), "fake-key-fake-key");
    assert_string_equal(value_of(&environment, "PATH"), "/real/bin");
    assert_null(value_of(&environment, "NOT_SET_ANYWHERE"));
    assert_string_equal(value_of(&environment, "TZ"), "Asia/Tokyo");
    assert_string_equal(value_of(&environment, "A"), "3");
    assert_string_equal(value_of(&environment, "EMPTY"), "");
    assert_string_equal(value_of(&environment, "PAIR_PERF_OUTPUT"), "/o");
    pp_environment_done(&environment);
}

static void entries_are_sorted_by_name_and_not_by_text(void **state) {
    (void)state;
    const char *const set[] = { "AB=1", "A=2", "A1=3", NULL }; /* '1' sorts before '=' */
    pp_environment environment = build(&(pp_environment_request){ .home = "/h", .set = set });
    assert_string_equal(environment.entries[0], "A=2");
    assert_string_equal(environment.entries[1], "A1=3");
    assert_string_equal(environment.entries[2], "AB=1");
    pp_environment_done(&environment);
}

static void expect_refusal(const pp_environment_request *request, pp_status wanted) {
    pp_environment environment = { .count = 77 };
    pp_error err = { 0 };
    assert_int_equal(pp_sandbox_environment(request, &environment, &err), wanted);
    assert_int_equal(environment.count, 77);
}

/* proves: BOX-2 */
static void what_the_sandbox_owns_cannot_be_named(void **state) {
    (void)state;
    static const char *const owned[] = { "HOME", "CFFIXED_USER_HOME", "TMPDIR",         "TMP",
                                         "TEMP", "XDG_RUNTIME_DIR",   "XDG_CONFIG_HOME" };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        char entry[64];
        (void)snprintf(entry, sizeof entry, "%s=/x", owned[i]);
        const char *const names[] = { owned[i], NULL };
        const char *const entries[] = { entry, NULL };
        expect_refusal(&(pp_environment_request){ .home = "/h", .pass = names }, PP_E_REFUSED);
        expect_refusal(&(pp_environment_request){ .home = "/h", .set = entries }, PP_E_REFUSED);
        expect_refusal(&(pp_environment_request){ .home = "/h", .extra = entries }, PP_E_REFUSED);
    }
}

static void entries_without_a_name_or_value_are_invalid(void **state) {
    (void)state;
    const char *const no_name[] = { "=x", NULL }, *const no_value[] = { "A", NULL };
    const char *const empty[] = { "", NULL };
    expect_refusal(&(pp_environment_request){ .home = "/h", .set = no_name }, PP_E_INVALID);
    expect_refusal(&(pp_environment_request){ .home = "/h", .set = no_value }, PP_E_INVALID);
    expect_refusal(&(pp_environment_request){ .home = "/h", .pass = empty }, PP_E_INVALID);
    const char *const pair[] = { "A=1", NULL };
    expect_refusal(&(pp_environment_request){ .home = "/h", .pass = pair }, PP_E_INVALID);
    expect_refusal(&(pp_environment_request){ .home = "relative" }, PP_E_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_published_names_are_there),
        cmocka_unit_test(later_sources_replace_earlier_ones),
        cmocka_unit_test(entries_are_sorted_by_name_and_not_by_text),
        cmocka_unit_test(what_the_sandbox_owns_cannot_be_named),
        cmocka_unit_test(entries_without_a_name_or_value_are_invalid),
    };
    return cmocka_run_group_tests(tests, set_hostile_environment, NULL);
}
