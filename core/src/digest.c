/* SPDX-License-Identifier: Apache-2.0 */
/* A digest is of a content that stood still: what fstat says before and after the read must agree
 * with each other and with the number of bytes read. The context is reset by each use. */
#include "pairperf/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "platform.h"

enum { BUFFER_SIZE = 256 * 1024, SHA256_SIZE = 32 };

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

static pp_status begin(pp_digest *digest, pp_error *reterr) {
    if (!EVP_DigestInit_ex2(digest->context, digest->algorithm, NULL))
        return crypto_failed(reterr);
    return PP_OK;
}

static pp_status finish(pp_digest *digest, char ret_hex[PP_DIGEST_HEX], pp_error *reterr) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[SHA256_SIZE];
    if (!EVP_DigestFinal_ex(digest->context, bytes, NULL))
        return crypto_failed(reterr);
    for (size_t i = 0; i < sizeof bytes; i++) {
        ret_hex[2 * i] = digits[bytes[i] >> 4];
        ret_hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret_hex[2 * sizeof bytes] = '\0';
    return PP_OK;
}

pp_status pp_digest_bytes(pp_digest *digest, const void *bytes, size_t size,
                          char ret_hex[PP_DIGEST_HEX], pp_error *reterr) {
    pp_status status = begin(digest, reterr);
    if (status != PP_OK)
        return status;
    if (!EVP_DigestUpdate(digest->context, bytes, size))
        return crypto_failed(reterr);
    return finish(digest, ret_hex, reterr);
}

/* Hashes what there is up to `size` bytes; whether that was all, fstat tells afterwards. */
static pp_status read_through(pp_digest *digest, int fd, uint64_t size, const char *name,
                              uint64_t *ret_read, pp_error *reterr) {
    uint64_t total = 0;
    while (total < size) {
        uint64_t left = size - total;
        size_t wanted = left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE;
        size_t got;
        pp_status status = pp__fs_read_up_to(fd, digest->buffer, wanted, name, &got, reterr);
        if (status != PP_OK)
            return status;
        if (!EVP_DigestUpdate(digest->context, digest->buffer, got))
            return crypto_failed(reterr);
        total += got;
        if (got < wanted)
            break;
    }
    *ret_read = total;
    return PP_OK;
}

pp_status pp_digest_fd(pp_digest *digest, int fd, const char *name, uint64_t *ret_size,
                       char ret_hex[PP_DIGEST_HEX], pp_error *reterr) {
    struct stat before, after;
    if (fstat(fd, &before) != 0)
        return pp__fs_fail(reterr, errno, "fstat", name);
    if (!S_ISREG(before.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "sha256", "%s: not a regular file", name);
    uint64_t size = 0;
    pp_status status = begin(digest, reterr);
    if (status == PP_OK)
        status = read_through(digest, fd, (uint64_t)before.st_size, name, &size, reterr);
    if (status != PP_OK)
        return status;
    if (fstat(fd, &after) != 0)
        return pp__fs_fail(reterr, errno, "fstat", name);
    if (size != (uint64_t)before.st_size || before.st_size != after.st_size ||
        pp_platform_mtime_ns(&before) != pp_platform_mtime_ns(&after))
        return pp_fail(reterr, PP_E_UNVERIFIED, 0, "sha256", "%s: changed while it was read", name);
    status = finish(digest, ret_hex, reterr);
    if (status == PP_OK)
        *ret_size = size;
    return status;
}

pp_status pp_digest_file(pp_digest *digest, const char *path, char ret_hex[PP_DIGEST_HEX],
                         pp_error *reterr) {
    PP_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not hold us */
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    uint64_t size;
    return pp_digest_fd(digest, fd, path, &size, ret_hex, reterr);
}
