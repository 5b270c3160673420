/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DIGEST_INTERNAL_H
#define PAIRPERF_DIGEST_INTERNAL_H

#include <stdatomic.h>

#include "pairperf/digest.h"

enum { PP__SHA256_SIZE = 32 };

/* Shared with whoever looks on while a content is read. */
typedef struct pp__digest_watch {
    atomic_uint_fast64_t bytes; /* read so far; written by the reader alone */
    const atomic_bool *stop;    /* set: give up with PP_E_CANCELLED */
} pp__digest_watch;

/* The content of a file of less than PP__DIGEST_AT_ONCE bytes, read at once from where it stands.
 *
 * ret_size  what was read; PP__DIGEST_AT_ONCE: there may be more, pp__digest_rest() goes on
 */
enum { PP__DIGEST_AT_ONCE = 128 * 1024 };
pp_status pp__digest_start(pp_digest *digest, int fd, const char *name, size_t *ret_size,
                           unsigned char ret_sha256[PP__SHA256_SIZE], pp_error *reterr);

/* The next `size` bytes, after those of pp__digest_start(). As pp__digest_content(). */
pp_status pp__digest_rest(pp_digest *digest, int fd, uint64_t size, const char *name,
                          pp__digest_watch *watch, unsigned char ret_sha256[PP__SHA256_SIZE],
                          pp_error *reterr);

/* The next `size` bytes of an open file, no fewer.
 *
 * watch   or NULL
 * Errors  PP_E_UNVERIFIED  the file ends before; PP_E_CANCELLED; those of fs.h
 */
pp_status pp__digest_content(pp_digest *digest, int fd, uint64_t size, const char *name,
                             pp__digest_watch *watch, unsigned char ret_sha256[PP__SHA256_SIZE],
                             pp_error *reterr);

void pp__digest_hex(const unsigned char sha256[PP__SHA256_SIZE], char ret_hex[PP_DIGEST_HEX]);

#endif
