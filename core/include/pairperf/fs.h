/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_FS_H
#define PAIRPERF_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/status.h"

/* Files as evidence needs them: every write, sync and close is checked, nothing is overwritten in
 * place, and no link in any component of a path is followed when something is written or made
 * (PP_E_SYS + ELOOP): whoever gives a path resolves its links first (pp_fs_realpath).
 *
 * Paths   bytes, as the system takes them
 * Errors  PP_E_EXISTS   EEXIST
 *         PP_E_DENIED   EACCES, EPERM
 *         PP_E_SYS      any other failed call; sys_errno says why, detail names the path
 *         and what a function adds
 */

/* Makes one directory, mode 0700. PP_E_EXISTS for anything already there, a dangling link too. */
pp_status pp_fs_mkdir_exclusive(const char *path, pp_error *reterr);

/* Makes a directory and its missing parents, each 0700. A directory already there is fine. */
pp_status pp_fs_mkdirs(const char *path, pp_error *reterr);

/* The file `path` holds exactly these bytes afterwards, mode 0600, or is what it was before:
 * temporary in the same directory, fsync, rename, fsync of the directory. */
pp_status pp_fs_write_atomic(const char *path, const void *bytes, size_t size, pp_error *reterr);

/* Appends to a regular file, made 0600 when missing. A write that fails half-way (a full disk) is
 * taken back, so that what was there stays intact.
 *
 * sync    also fsync the file
 * Errors  PP_E_INVALID  not a regular file
 */
pp_status pp_fs_append(const char *path, const void *bytes, size_t size, bool sync,
                       pp_error *reterr);

/* The whole content of a regular file, links followed. Never waits for a FIFO.
 *
 * ret_bytes  the caller frees it; a NUL follows the content
 * Errors     PP_E_INVALID  not a regular file; PP_E_NOMEM  more than max_bytes
 */
pp_status pp_fs_read(const char *path, size_t max_bytes, char **ret_bytes, size_t *ret_size,
                     pp_error *reterr);

typedef struct pp_fs_info {
    const char *type; /* "file" "directory" "symlink" "fifo" "socket" "block" "char" "unknown" */
    uint32_t mode;    /* permissions, 07777 */
    uint64_t size, ino, dev;
    uint32_t uid, gid;
    int64_t mtime_ns;
} pp_fs_info;

pp_status pp_fs_stat(const char *path, bool follow, pp_fs_info *ret_info, pp_error *reterr);

/* Names in a directory without "." and "..", ascending by their bytes. */
typedef struct pp_fs_names {
    char **names;
    size_t count;
    size_t capacity;
} pp_fs_names;

pp_status pp_fs_list(const char *path, pp_fs_names *ret_names, pp_error *reterr);
/* Frees and empties; NULL is fine. */
void pp_fs_names_done(pp_fs_names *names);

/* Absolute path without links. *ret_path: the caller frees it. */
pp_status pp_fs_realpath(const char *path, char **ret_path, pp_error *reterr);

/* Target of a symlink. *ret_target: the caller frees it. */
pp_status pp_fs_readlink(const char *path, char **ret_target, pp_error *reterr);

/* Bytes that this user may still write on the file system of `path`. */
pp_status pp_fs_free_bytes(const char *path, uint64_t *ret_bytes, pp_error *reterr);

/* The working directory. *ret_path: the caller frees it. */
pp_status pp_fs_getcwd(char **ret_path, pp_error *reterr);

/* Sets the permissions of what `path` leads to. */
pp_status pp_fs_chmod(const char *path, uint32_t mode, pp_error *reterr);

/* May the effective user execute this regular file? PP_E_INVALID when it is not a regular file. */
pp_status pp_fs_access_exec(const char *path, pp_error *reterr);

#endif
