/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_WALK_H
#define PAIRPERF_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "facts.h"
#include "pairperf/status.h"

/* One entry below a root. Nothing was opened but directories. */
typedef struct pp__walk_entry {
    pp__facts facts;
    bool known;       /* `facts` are set: all but links, and regular files not yet opened */
    mode_t type;      /* S_IFMT */
    size_t directory; /* the one that holds it, in `directories` */
    size_t name_at;   /* where the last component of `path` begins */
    char path[];      /* relative, bytes as the system gave them; "." for a root that is a file */
} pp__walk_entry;

typedef struct pp__walk_directory {
    const char *path; /* relative; NULL for the root */
    uint64_t dev, ino;
} pp__walk_directory;

typedef struct pp__walk_block pp__walk_block;

typedef struct pp__walk {
    char *root;
    int root_fd;      /* the directory, or -1 when the root is a file */
    int64_t began_ns; /* since the epoch */
    pp__walk_entry **entries;
    size_t count, capacity;
    pp__walk_directory *directories;
    size_t directory_count, directory_capacity;
    pp__walk_block *blocks; /* which hold the entries */
    size_t path_bytes;      /* of all entries */
} pp__walk;

/* Lists everything below `root`, ascending by the bytes of the path (so a directory comes before
 * what it holds). A link at the root itself is followed, links below are entries. All or error: of
 * several failures the first by path.
 *
 * ret_walk  pp__walk_done() frees it
 * Errors    those of fs.h, naming the path; PP_E_INVALID  the root is neither file nor directory
 *           PP_E_UNVERIFIED  a directory changed while it was listed
 */
pp_status pp__walk_open(const char *root, pp__walk *ret_walk, pp_error *reterr);

/* Frees and empties; a zeroed one is fine. */
void pp__walk_done(pp__walk *walk);

/* The directory of the entry that was opened last stays open for the next. One per thread. */
typedef struct pp__walk_cursor {
    bool open;
    int fd;
    size_t directory;
} pp__walk_cursor;

void pp__walk_cursor_done(pp__walk_cursor *cursor);

/* The directory that holds entry `index`. *ret_fd belongs to the cursor.
 *
 * Errors  PP_E_UNVERIFIED  it is no more the one that was listed; those of fs.h
 */
pp_status pp__walk_entry_directory(const pp__walk *walk, size_t index, pp__walk_cursor *cursor,
                                   int *ret_fd, pp_error *reterr);

/* Opens entry `index` for reading; never through a link, never waiting. Entries may be opened and
 * looked at from several threads, one entry by one at a time.
 *
 * ret_fd  to close
 * Errors  PP_E_UNVERIFIED  it is no more what was listed; those of fs.h
 */
pp_status pp__walk_entry_open(const pp__walk *walk, size_t index, pp__walk_cursor *cursor,
                              int *ret_fd, pp_error *reterr);

/* The opened entry is a regular file; its facts are taken the first time and must hold ever after.
 *
 * Errors  PP_E_UNVERIFIED  not so; those of fs.h
 */
pp_status pp__walk_entry_look(pp__walk *walk, size_t index, int fd, pp_error *reterr);

/* Whoever looked at it after reading it needs not have looked before: its change time lies so far
 * back that it stood still since the list was begun. */
bool pp__walk_entry_settled(const pp__walk *walk, size_t index);

/* "<root>/<path>" for error texts, cut to fit. */
typedef struct pp__walk_name {
    char text[480];
} pp__walk_name;
pp__walk_name pp__walk_entry_name(const pp__walk *walk, size_t index);

#endif
