/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_PLATFORM_H
#define PAIRPERF_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pairperf/status.h"

/* Small differences between the systems that have no other home. One implementation per system in
 * core/os/<system>/platform.c. */

/* This program may measure here. PP_E_REFUSED: it is translated (an Intel program under Rosetta),
 * and its clocks and counters disagree. */
pp_status pp_platform_check(pp_error *reterr);

/* Modification and change time in nanoseconds since the epoch. */
int64_t pp_platform_mtime_ns(const struct stat *st);
int64_t pp_platform_ctime_ns(const struct stat *st);

/* All that lstat tells of a file but its access and change times and its type and permissions
 * (GUARD-5). Names ascend by their bytes and are static. */
typedef struct pp_stat_field {
    const char *name;
    uint64_t value;
} pp_stat_field;

enum { PP_STAT_FIELDS_MAX = 16 };
size_t pp_platform_stat_fields(const struct stat *st, pp_stat_field ret_fields[PP_STAT_FIELDS_MAX]);

/* Who may do what with an open file beyond its mode, as text; the caller frees it. NULL when it has
 * no access list, or its file system keeps none.
 *
 * Errors  PP_E_SYS, PP_E_MALFORMED, PP_E_NOMEM  it cannot be told
 */
pp_status pp_platform_access_list(int fd, const char *name, char **ret_text, pp_error *reterr);

/* CPUs that this process may use, at least 1. */
unsigned pp_platform_cpus(void);

/* malloc() of what will be written from its beginning on: much of it in few, large pages where the
 * system has them, as each new page costs. */
void *pp_platform_allocate(size_t size);

/* The beginning of this open file can be read without waiting for a device. False when the system
 * does not tell. */
bool pp_platform_in_memory(int fd);

/* From now on this thread has a table of open files of its own, which begins as a copy of that of
 * all: what it opens no other thread has, and it is closed when the thread ends. False: not here.
 */
bool pp_platform_own_files(void);

/* Closes every open file from `first` to `last`, whosever they are. False: not here. */
bool pp_platform_close_range(int first, int last);

/* Says that these bytes of an open file will be read soon. Only ever a hint. */
void pp_platform_read_ahead(int fd, uint64_t offset, uint64_t size);

/* Makes the empty open file `out` share the whole content of `in`, without copying it.
 *
 * Errors  PP_E_UNSUPPORTED  not this system, or these files cannot share; `out` is still empty
 */
pp_status pp_platform_clone(int in, int out, const char *name, pp_error *reterr);

/* Copies up to `size` bytes at the same `offset` of both files inside the kernel.
 *
 * ret_copied  0 when `in` ends there
 * Errors      PP_E_UNSUPPORTED  not this system, or not between these files: read and write
 *             PP_E_SYS          the copying itself failed
 */
pp_status pp_platform_copy_range(int in, int out, uint64_t offset, size_t size, size_t *ret_copied,
                                 const char *name, pp_error *reterr);

/* Absolute path of the running executable, links resolved. PP_E_NOMEM when `size` is too small. */
pp_status pp_platform_exe_path(char *ret_path, size_t size, pp_error *reterr);

/* Opens a directory, close-on-exec, for names below it. A link in any component of the path is not
 * followed: -1 with errno ELOOP (or ENOTDIR). */
int pp_platform_open_directory(const char *path);

/* Whether a command's writes can be confined here, and the kernel's version of that.
 *
 * Errors  PP_E_UNSUPPORTED  no; the detail says why
 */
pp_status pp_platform_confinement(int *ret_abi, pp_error *reterr);

/* Could a confined command write into this directory, or to `path` in it? A confined child tries,
 * and leaves nothing.
 *
 * writable  as pp_command.writable
 * Errors    PP_E_UNVERIFIED  no answer; PP_E_UNSUPPORTED
 */
pp_status pp_platform_confined_writable(const char *directory, const char *path,
                                        const char *const *writable, bool *ret_writable,
                                        pp_error *reterr);

/* The environment of this process, NULL-terminated. */
char **pp_platform_environment(void);

#endif
