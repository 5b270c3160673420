/* SPDX-License-Identifier: Apache-2.0 */
/* A digest is of a content that stood still: what fstat says before and after the read must agree
 * with each other and with the number of bytes read. The context is reset by each use. Times are as
 * fine as the file system keeps them: a change within the tick of the one before shows only in the
 * size. */
#include "pairperf/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "digest_internal.h"
#include "facts.h"
#include "fs_internal.h"

enum { BUFFER_SIZE = PP__DIGEST_AT_ONCE };

struct pp_digest {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
    unsigned char buffer[BUFFER_SIZE];
};

static pp_status crypto_failed(pp_error *reterr) {
    return pp_fail(reterr, PP_E_SYS, 0, "sha256", "libcrypto refused");
}

pp_status pp_digest_new(pp_digest **ret_digest, pp_error *reterr) {
    pp_digest *digest = malloc(sizeof *digest);
    if (!digest)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "digest");
    digest->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    digest->context = EVP_MD_CTX_new();
    if (!digest->algorithm || !digest->context) {
        pp_digest_free(digest);
        return crypto_failed(reterr);
    }
    *ret_digest = digest;
    return PP_OK;
}

void pp_digest_free(pp_digest *digest) {
    if (!digest)
        return;
    EVP_MD_CTX_free(digest->context);
    EVP_MD_free(digest->algorithm);
    free(digest);
}

pp_status pp_digest_begin(pp_digest *digest, pp_error *reterr) {
    if (!EVP_DigestInit_ex2(digest->context, digest->algorithm, NULL))
        return crypto_failed(reterr);
    return PP_OK;
}

pp_status pp_digest_add(pp_digest *digest, const void *bytes, size_t size, pp_error *reterr) {
    if (!EVP_DigestUpdate(digest->context, bytes, size))
        return crypto_failed(reterr);
    return PP_OK;
}

static pp_status finish(pp_digest *digest, unsigned char ret_sha256[PP__SHA256_SIZE],
                        pp_error *reterr) {
    if (!EVP_DigestFinal_ex(digest->context, ret_sha256, NULL))
        return crypto_failed(reterr);
    return PP_OK;
}

void pp__digest_hex(const unsigned char sha256[PP__SHA256_SIZE], char ret_hex[PP_DIGEST_HEX]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < PP__SHA256_SIZE; i++) {
        ret_hex[2 * i] = digits[sha256[i] >> 4];
        ret_hex[2 * i + 1] = digits[sha256[i] & 15];
    }
    ret_hex[PP_DIGEST_HEX - 1] = '\0';
}

static pp_status changed(const char *name, pp_error *reterr) {
    return pp_fail(reterr, PP_E_UNVERIFIED, 0, "sha256", "%.460s: changed while it was read", name);
}

pp_status pp_digest_end(pp_digest *digest, char ret_hex[PP_DIGEST_HEX], pp_error *reterr) {
    unsigned char sha256[PP__SHA256_SIZE];
    pp_status status = finish(digest, sha256, reterr);
    if (status == PP_OK)
        pp__digest_hex(sha256, ret_hex);
    return status;
}

pp_status pp_digest_bytes(pp_digest *digest, const void *bytes, size_t size,
                          char ret_hex[PP_DIGEST_HEX], pp_error *reterr) {
    pp_status status = pp_digest_begin(digest, reterr);
    if (status == PP_OK)
        status = pp_digest_add(digest, bytes, size, reterr);
    return status == PP_OK ? pp_digest_end(digest, ret_hex, reterr) : status;
}

static void look(pp__digest_watch *watch, size_t got) {
    uint_fast64_t bytes = atomic_load_explicit(&watch->bytes, memory_order_relaxed);
    atomic_store_explicit(&watch->bytes, bytes + got, memory_order_relaxed);
}

static pp_status read_through(pp_digest *digest, int fd, uint64_t size, const char *name,
                              pp__digest_watch *watch, pp_error *reterr) {
    while (size > 0) {
        size_t wanted = size < BUFFER_SIZE ? (size_t)size : BUFFER_SIZE;
        size_t got;
        pp_status status = pp__fs_read_up_to(fd, digest->buffer, wanted, name, &got, reterr);
        if (status != PP_OK)
            return status;
        if (got < wanted)
            return changed(name, reterr);
        status = pp_digest_add(digest, digest->buffer, got, reterr);
        if (status != PP_OK)
            return status;
        size -= got;
        if (watch)
            look(watch, got);
        if (watch && atomic_load_explicit(watch->stop, memory_order_relaxed))
            return pp_fail(reterr, PP_E_CANCELLED, 0, "sha256", "%s", name);
    }
    return PP_OK;
}

pp_status pp__digest_rest(pp_digest *digest, int fd, uint64_t size, const char *name,
                          pp__digest_watch *watch, unsigned char ret_sha256[PP__SHA256_SIZE],
                          pp_error *reterr) {
    pp_status status = read_through(digest, fd, size, name, watch, reterr);
    return status == PP_OK ? finish(digest, ret_sha256, reterr) : status;
}

pp_status pp__digest_content(pp_digest *digest, int fd, uint64_t size, const char *name,
                             pp__digest_watch *watch, unsigned char ret_sha256[PP__SHA256_SIZE],
                             pp_error *reterr) {
    pp_status status = pp_digest_begin(digest, reterr);
    if (status == PP_OK)
        status = pp__digest_rest(digest, fd, size, name, watch, ret_sha256, reterr);
    return status;
}

pp_status pp__digest_start(pp_digest *digest, int fd, const char *name, size_t *ret_size,
                           unsigned char ret_sha256[PP__SHA256_SIZE], pp_error *reterr) {
    ssize_t got;
    do
        got = read(fd, digest->buffer, BUFFER_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return pp__fs_fail(reterr, errno, "read", name);
    pp_status status = pp_digest_begin(digest, reterr);
    if (status == PP_OK)
        status = pp_digest_add(digest, digest->buffer, (size_t)got, reterr);
    if (status == PP_OK && got < BUFFER_SIZE)
        status = finish(digest, ret_sha256, reterr);
    if (status == PP_OK)
        *ret_size = (size_t)got;
    return status;
}

pp_status pp_digest_fd(pp_digest *digest, int fd, const char *name, uint64_t *ret_size,
                       char ret_hex[PP_DIGEST_HEX], pp_error *reterr) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pp__fs_fail(reterr, errno, "fstat", name);
    if (!S_ISREG(st.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "sha256", "%s: not a regular file", name);
    pp__facts before = pp__facts_of(&st);
    unsigned char sha256[PP__SHA256_SIZE];
    pp_status status = pp__digest_content(digest, fd, before.size, name, NULL, sha256, reterr);
    if (status != PP_OK)
        return status;
    if (fstat(fd, &st) != 0)
        return pp__fs_fail(reterr, errno, "fstat", name);
    pp__facts after = pp__facts_of(&st);
    if (!pp__facts_equal(&before, &after))
        return changed(name, reterr);
    pp__digest_hex(sha256, ret_hex);
    *ret_size = before.size;
    return PP_OK;
}

pp_status pp_digest_file(pp_digest *digest, const char *path, char ret_hex[PP_DIGEST_HEX],
                         pp_error *reterr) {
    PP_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not hold us */
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    uint64_t size;
    return pp_digest_fd(digest, fd, path, &size, ret_hex, reterr);
}
