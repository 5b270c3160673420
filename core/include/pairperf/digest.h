/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DIGEST_H
#define PAIRPERF_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "pairperf/status.h"

/* SHA-256. One pp_digest serves any number of contents, one after the other; it fetches the
 * algorithm once and keeps its buffer.
 *
 * Results  64 lowercase hex digits and a NUL; untouched on failure
 * Errors   PP_E_NOMEM  no memory; PP_E_SYS with sys_errno 0  libcrypto refused
 * Source   FIPS 180-4, computed by libcrypto
 */
enum { PP_DIGEST_HEX = 65 };

typedef struct pp_digest pp_digest;

/* *ret_digest: free it with pp_digest_free(). */
pp_status pp_digest_new(pp_digest **ret_digest, pp_error *reterr);
void pp_digest_free(pp_digest *digest);

pp_status pp_digest_bytes(pp_digest *digest, const void *bytes, size_t size,
                          char ret_hex[PP_DIGEST_HEX], pp_error *reterr);

/* A content piece by piece: begin, add as often as needed, end. The next begin forgets what was not
 * ended. */
pp_status pp_digest_begin(pp_digest *digest, pp_error *reterr);
pp_status pp_digest_add(pp_digest *digest, const void *bytes, size_t size, pp_error *reterr);
pp_status pp_digest_end(pp_digest *digest, char ret_hex[PP_DIGEST_HEX], pp_error *reterr);

/* An open regular file from its present position, which must be the start, to its end.
 *
 * name    for errors
 * Errors  PP_E_UNVERIFIED  size, mode, modification or change time changed meanwhile
 *         PP_E_INVALID     not a regular file
 *         and those of fs.h
 */
pp_status pp_digest_fd(pp_digest *digest, int fd, const char *name, uint64_t *ret_size,
                       char ret_hex[PP_DIGEST_HEX], pp_error *reterr);

/* The regular file that `path` leads to, links followed: what would run or be read. */
pp_status pp_digest_file(pp_digest *digest, const char *path, char ret_hex[PP_DIGEST_HEX],
                         pp_error *reterr);

#endif
