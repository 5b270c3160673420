/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_GUARD_H
#define PAIRPERF_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/status.h"

/* What stands at a guarded path, so that a change can be shown (GUARD-1, GUARD-5). Nothing is ever
 * written, restored or deleted. */

/* One fact: a text, or a number when text is NULL. */
typedef struct pp_guard_field {
    char name[32];
    char *text;
    uint64_t number;
} pp_guard_field;

enum { PP_GUARD_FIELDS_MAX = 40 };

/* Facts ascending by their names. Always "type" ("absent", "file" or "symlink"). Unless absent also
 * "mode" (octal text) and what lstat tells but atime and ctime: "dev", "ino", "nlink", "size",
 * "uid", "gid", "rdev", "blocks", "blksize", "mtime_ns", on macOS "flags", "gen", "birthtime_ns". A
 * file has "sha256", and "acl" when an access list says more than its mode. A symlink has "target",
 * and all of a file or "absent" under "referent.<name>" for what it finally leads to. */
typedef struct pp_guard_snapshot {
    pp_guard_field fields[PP_GUARD_FIELDS_MAX];
    size_t count;
} pp_guard_snapshot;

/* ret_snapshot  pp_guard_done() frees it
 *
 * Errors  PP_E_UNVERIFIED  neither a file nor a link to one: its contents cannot be compared; or
 *                          it changed while it was read
 *         and those of fs.h: an unreadable file is no snapshot
 */
pp_status pp_guard_snapshot_take(const char *path, pp_guard_snapshot *ret_snapshot,
                                 pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_guard_done(pp_guard_snapshot *snapshot);

/* Names of the facts that differ or stand on one side only, ascending; none = unchanged.
 *
 * ret_names  room for 2 * PP_GUARD_FIELDS_MAX strings, which belong to the snapshots
 */
size_t pp_guard_differences(const pp_guard_snapshot *before, const pp_guard_snapshot *after,
                            const char **ret_names);

/* Could the effective user put something at `path` (GUARD-2)? Asked of the kernel for the directory
 * that holds it, or for the nearest existing parent, whose missing children could be made.
 *
 * ret_directory  the directory that was asked about; the caller frees it
 *
 * Errors  PP_E_UNVERIFIED  the kernel gave neither yes nor no; to be taken as yes
 */
pp_status pp_guard_writable(const char *path, bool *ret_writable, char **ret_directory,
                            pp_error *reterr);

/* The same for a confined command: a confined child tries and leaves nothing.
 *
 * writable  where the command may write, as pp_spawn_options.writable
 *
 * Errors   PP_E_UNVERIFIED   no answer; to be taken as yes
 *          PP_E_UNSUPPORTED  nothing can be confined here
 *          PP_E_SYS          one of `writable` cannot be opened
 */
pp_status pp_guard_writable_confined(const char *path, const char *const *writable,
                                     bool *ret_writable, char **ret_directory, pp_error *reterr);

/* Whether writes of a command can be confined here.
 *
 * ret_abi  the kernel's version of that (Linux: the ABI of Landlock, at least 3)
 * Errors   PP_E_UNSUPPORTED  no; the detail says why
 */
pp_status pp_guard_confinement(int *ret_abi, pp_error *reterr);

#endif
