/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_HASH_POOL_H
#define PAIRPERF_HASH_POOL_H

#include "digest_internal.h"
#include "pairperf/manifest.h"
#include "walk.h"

/* Hashes every regular file of a list, on several threads, and takes its facts. Returns when all
 * threads have ended.
 *
 * options      or NULL; progress is called on the caller's thread
 * digests      one per entry; those of regular files are filled
 * ret_failed   untouched on success; else the entry whose error this is, of several the first, or
 *              the number of entries when it is of none
 *
 * Errors  PP_E_UNVERIFIED  a file changed; PP_E_CANCELLED  progress said so
 *         PP_E_SYS, op pthread_create or pipe; PP_E_NOMEM; those of fs.h and digest.h
 */
pp_status pp__hash_pool(pp__walk *walk, const pp_manifest_options *options,
                        unsigned char (*digests)[PP__SHA256_SIZE], size_t *ret_failed,
                        pp_error *reterr);

#endif
