/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#include "linux_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

pp_os host;
pp_error host_error;

int reset_script(void **state) {
    (void)state;
    script_reset();
    host_error = (pp_error){ 0 };
    (void)unsetenv("PP_KERNEL");
    return 0;
}

pp_status open_host(int channel_fd, int run_dir_fd) {
    pp_host_options options = { .channel_fd = channel_fd, .run_dir_fd = run_dir_fd };

    return pp_linux_host_open(&scripted.sys, &options, &host, &host_error);
}

int open_scripted(void **state) {
    (void)reset_script(state);
    assert_int_equal(open_host(-1, -1), PP_OK);
    return 0;
}

int close_scripted(void **state) {
    (void)state;
    pp_host_close(&host);
    (void)unsetenv("PP_KERNEL");
    assert_int_equal(script_open_count(), 0);
    return 0;
}

pp_proc_id identified(int32_t pid) {
    pp_proc_info info;

    assert_int_equal(host.identify(host.ctx, pid, &info, &host_error), PP_OK);
    return info.id;
}

pp_usage used(pp_proc_id id, bool with_switches) {
    pp_usage usage;

    assert_int_equal(host.usage(host.ctx, id, with_switches, &usage, &host_error), PP_OK);
    return usage;
}

void assert_known(pp_reading reading, uint64_t value) {
    assert_true(reading.known);
    assert_int_equal(reading.value, value);
}

void assert_missing(pp_reading reading, pp_status why) {
    assert_false(reading.known);
    assert_int_equal(reading.why, why);
}

size_t count_entries(const char *path) {
    DIR *dir = opendir(path);
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}
#endif
