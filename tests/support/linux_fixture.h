/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_LINUX_FIXTURE_H
#define PAIRPERF_TEST_LINUX_FIXTURE_H

#include "linux/linux_host.h"
#include "linux_script.h"

/* The Linux host over the script, fresh for each test, and what tests ask it most. */
extern pp_os host;
extern pp_error host_error;

/* PP_KERNEL unset, an empty script. */
int reset_script(void **state);
pp_status open_host(int channel_fd, int run_dir_fd);
/* Both; and the end of it: nothing may be open. */
int open_scripted(void **state);
int close_scripted(void **state);

pp_proc_id identified(int32_t pid);
pp_usage used(pp_proc_id id, bool with_switches);
void assert_known(pp_reading reading, uint64_t value);
void assert_missing(pp_reading reading, pp_status why);
/* Entries of a directory of the real /proc. */
size_t count_entries(const char *path);

#endif
