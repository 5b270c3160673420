/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_SCRATCH_H
#define PAIRPERF_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files for tests. Everything fails the running program loudly (abort) when it cannot be done. */

/* A directory of this process, mode 0711, removed at exit. */
const char *scratch_dir(void);

/* "<scratch_dir>/<formatted>"; valid until 32 further calls. */
const char *scratch_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes a file with this text, or a directory, with exactly this mode; returns its path. */
const char *scratch_file(const char *name, const char *text, mode_t mode);
const char *scratch_mkdir(const char *name, mode_t mode);

/* Content of a file as a string; valid until 4 further calls. */
const char *scratch_content(const char *path);

/* Time of the last change of an inode, which nobody can set. */
int64_t scratch_ctime_ns(const char *path);

/* Between these two an otherwise privileged process has no privilege over files. */
void scratch_drop_privilege(void);
void scratch_restore_privilege(void);

/* Compiles a locale with a comma as decimal sign and sets it; 0 when localedef is not to be had. */
int scratch_comma_locale(void);

#endif
