/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_WALK_H
#define PAIRPERF_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pairperf/status.h"

/* One entry below a root. Nothing was opened but directories. */
typedef struct pp__walk_entry {
    char *path;  /* relative, bytes as the system gave them; "." for a root that is a file */
    mode_t mode; /* type and permissions */
    uint64_t size;
    int64_t mtime_ns;
} pp__walk_entry;

typedef struct pp__walk {
    char *root;
    int root_fd; /* the directory, or -1 when the root is a file */
    pp__walk_entry *entries;
    size_t count, capacity;
} pp__walk;

/* Lists everything below `root`, ascending by the bytes of the path (so a directory comes before
 * what it holds). A link at the root itself is followed, links below are entries. All or error.
 *
 * ret_walk  pp__walk_done() frees it
 * Errors    those of fs.h, naming the path; PP_E_INVALID  the root is neither file nor directory
 */
pp_status pp__walk_open(const char *root, pp__walk *ret_walk, pp_error *reterr);

/* Frees and empties; a zeroed one is fine. */
void pp__walk_done(pp__walk *walk);

/* Opens entry `index` for reading; never through a link, never waiting.  *ret_fd: to close. */
pp_status pp__walk_entry_open(const pp__walk *walk, size_t index, int *ret_fd, pp_error *reterr);

/* "<root>/<path>" for error texts, cut to fit. */
typedef struct pp__walk_name {
    char text[480];
} pp__walk_name;
pp__walk_name pp__walk_entry_name(const pp__walk *walk, size_t index);

#endif
