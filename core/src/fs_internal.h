/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_FS_INTERNAL_H
#define PAIRPERF_FS_INTERNAL_H

#include <stddef.h>
#include <sys/stat.h>

#include "pairperf/fs.h"

/* What the modules that work on files share. Failures carry the status of errno as fs.h says. */

pp_status pp__fs_fail(pp_error *reterr, int sys_errno, const char *op, const char *path);

/* Writes all, whatever the kernel takes at a time. `name` is for the error. */
pp_status pp__fs_write_all(int fd, const void *bytes, size_t size, const char *name,
                           pp_error *reterr);

/* Reads up to `size` bytes, fewer only at the end of the file. */
pp_status pp__fs_read_up_to(int fd, void *bytes, size_t size, const char *name, size_t *ret_size,
                            pp_error *reterr);

/* Sets the modification time of an open file; its access time stays as it is. */
pp_status pp__fs_set_mtime(int fd, int64_t mtime_ns, const char *name, pp_error *reterr);

/* fsync, again after EINTR. */
pp_status pp__fs_sync(int fd, const char *name, pp_error *reterr);

/* Closes and reports; *fd is -1 afterwards. */
pp_status pp__fs_close(int *fd, const char *name, pp_error *reterr);

/* Name of a file type as in pp_fs_info. */
const char *pp__fs_type_name(mode_t mode);

/* malloc'd "<directory>/<name>"; NULL without memory. */
char *pp__fs_join(const char *directory, const char *name);

/* malloc'd path of the directory that holds `path`: "." for a bare name, "/" for a top one;
 * NULL without memory. */
char *pp__fs_parent(const char *path);

/* Sorts ascending by bytes. */
void pp__fs_sort_names(char **names, size_t count);

#endif
