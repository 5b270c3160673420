/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_PLATFORM_H
#define PAIRPERF_PLATFORM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pairperf/status.h"

/* Small differences between the systems that have no other home. One implementation per system in
 * core/os/<system>/platform.c. */

/* This program may measure here. PP_E_REFUSED: it is translated (an Intel program under Rosetta),
 * and its clocks and counters disagree. */
pp_status pp_platform_check(pp_error *reterr);

/* Modification time in nanoseconds since the epoch. */
int64_t pp_platform_mtime_ns(const struct stat *st);

/* Sets the modification time of an open file; its access time stays as it is. */
pp_status pp_platform_set_mtime(int fd, int64_t mtime_ns, const char *name, pp_error *reterr);

/* All that lstat tells of a file but its access and change times and its type and permissions
 * (GUARD-5). Names ascend by their bytes and are static. */
typedef struct pp_stat_field {
    const char *name;
    uint64_t value;
} pp_stat_field;

enum { PP_STAT_FIELDS_MAX = 16 };
size_t pp_platform_stat_fields(const struct stat *st, pp_stat_field ret_fields[PP_STAT_FIELDS_MAX]);

/* Absolute path of the running executable, links resolved. PP_E_NOMEM when `size` is too small. */
pp_status pp_platform_exe_path(char *ret_path, size_t size, pp_error *reterr);

/* The environment of this process, NULL-terminated. */
char **pp_platform_environment(void);

#endif
