/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_MANIFEST_H
#define PAIRPERF_MANIFEST_H

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

/* ret_manifest  pp_manifest_done() frees it
 *
 * Errors  those of fs.h for anything unreadable, naming it
 *         PP_E_UNVERIFIED  a file changed while it was read
 *         PP_E_INVALID     the root is neither a file nor a directory
 */
pp_status pp_manifest_build(const char *root, pp_manifest *ret_manifest, pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_manifest_done(pp_manifest *manifest);

#endif
