/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_MANIFEST_H
#define PAIRPERF_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/digest.h"
#include "pairperf/status.h"

/* What a bundle, directory or single file holds, as canonical JSON:
 *
 *   {"entries":[ENTRY,...],"schema":"pairperf-manifest-1"}
 *   file       {"mode":"0644","path":"a/b","sha256":HEX,"size":N,"type":"file"}
 *   symlink    {"path":...,"target":...,"target_sha256":HEX of the target's bytes,"type":"symlink"}
 *   others     {"mode":"0755","path":...,"type":"directory|fifo|socket|block|char"}
 *
 * Entries ascend by the bytes of their path, relative to the root; the root directory itself is no
 * entry, a root that is a file is the entry ".". Paths and targets that are not UTF-8 are
 * {"bytes_hex":...}. Times, owners and extended attributes are left out. Links below the root are
 * not followed, special files are not opened. Equal on every platform and in every locale.
 */
typedef struct pp_manifest {
    char *json; /* `size` bytes, no NUL */
    size_t size;
    char sha256[PP_DIGEST_HEX]; /* of `json` */
    uint64_t entries;
    uint64_t files; /* regular files */
    uint64_t bytes; /* their sizes summed */
} pp_manifest;

/* How far the hashing is. */
typedef struct pp_manifest_progress {
    uint64_t files_done, files;
    uint64_t bytes_done;
    uint64_t bytes;   /* of the files opened so far */
    bool bytes_known; /* `bytes` is that of all files */
} pp_manifest_progress;

typedef struct pp_manifest_options {
    unsigned workers; /* threads; 0 = one per CPU that this process may use; 16 at most */
    /* Called on the caller's thread about ten times a second, and when a signal interrupted it.
     * False: stop. May be NULL. */
    bool (*progress)(void *ctx, const pp_manifest_progress *progress);
    void *ctx;
} pp_manifest_options;

/* Every file is read as a whole, each time; times and sizes are no proof of a content. Files are
 * hashed by several threads, which have ended when this returns.
 *
 * options       or NULL
 * ret_manifest  pp_manifest_done() frees it
 *
 * Errors  of several the same each time: the first by path among the directories that cannot be
 *         listed, else the first by path among the rest
 *         those of fs.h  for anything unreadable, naming it
 *         PP_E_UNVERIFIED  something changed, or was exchanged, while it was listed or read
 *         PP_E_INVALID     the root is neither a file nor a directory
 *         PP_E_CANCELLED   progress said stop
 *         PP_E_OVERFLOW    the sizes leave 64 bits
 */
pp_status pp_manifest_build(const char *root, const pp_manifest_options *options,
                            pp_manifest *ret_manifest, pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_manifest_done(pp_manifest *manifest);

#endif
