/* SPDX-License-Identifier: Apache-2.0 */
/* What hashing a tree costs at the very least: list, open, read to the end, SHA-256, close; nothing
 * checked but failure, nothing kept. PROCESSES share the files, and nothing else. Also makes the
 * two trees of the benchmark.
 *
 *   hash_floor hash DIR [PROCESSES] | big DIR | small DIR | evict DIR
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER_SIZE = 128 * 1024, SHARE = 8 /* files in a row of one process */ };

static unsigned char buffer[BUFFER_SIZE];
static EVP_MD *algorithm;
static EVP_MD_CTX *context;
static unsigned char sum[32]; /* of all digests, so that none is left out */
static uint64_t files, bytes;
static uint64_t met, processes = 1, process; /* this one's shares of the files it meets */

static void hash_file(int fd, const char *name) {
    unsigned char digest[32];
    ssize_t got;
    if (!EVP_DigestInit_ex2(context, algorithm, NULL))
        errx(1, "libcrypto refused");
    while ((got = read(fd, buffer, sizeof buffer)) > 0) {
        EVP_DigestUpdate(context, buffer, (size_t)got);
        bytes += (uint64_t)got;
    }
    if (got < 0 || !EVP_DigestFinal_ex(context, digest, NULL))
        err(1, "%s", name);
    for (size_t i = 0; i < sizeof sum; i++)
        sum[i] ^= digest[i];
    files++;
}

static void evict_file(int fd, const char *name) {
    (void)name;
    if (fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        err(1, "%s", name);
}

/* Takes dir_fd. Links and special files are passed over: the trees have none. */
static void each_file(int dir_fd, void (*visit)(int fd, const char *name)) {
    DIR *dir = fdopendir(dir_fd);
    if (!dir)
        err(1, "opendir");
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (entry->d_type != DT_DIR && entry->d_type != DT_REG)
            continue;
        if (entry->d_type == DT_REG && met++ / SHARE % processes != process)
            continue;
        int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            err(1, "%s", name);
        if (entry->d_type == DT_DIR) {
            each_file(fd, visit);
        } else {
            visit(fd, name);
            close(fd);
        }
    }
    closedir(dir);
}

static void make_file(const char *path, size_t size, uint64_t seed) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        err(1, "%s", path);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    while (size > 0) {
        for (size_t i = 0; i < sizeof buffer; i += sizeof state) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            memcpy(buffer + i, &state, sizeof state);
        }
        size_t part = size < sizeof buffer ? size : sizeof buffer;
        if (write(fd, buffer, part) != (ssize_t)part)
            err(1, "%s", path);
        size -= part;
    }
    close(fd);
}

static void make_directory(const char *path) {
    if (mkdir(path, 0755) != 0)
        err(1, "%s", path);
}

/* 1 GiB in 64 files */
static void make_big(const char *root) {
    char path[4096];
    make_directory(root);
    for (unsigned i = 0; i < 64; i++) {
        snprintf(path, sizeof path, "%s/file-%02u", root, i);
        make_file(path, (size_t)16 << 20, i);
    }
}

/* 20,000 files of 61 MB in 200 directories: 14 of 20 up to 200 bytes, 5 of about 3 KB, one of
 * about 47 KB */
static void make_small(const char *root) {
    char path[4096];
    make_directory(root);
    for (unsigned i = 0; i < 200; i++) {
        if (i % 10 == 0) {
            snprintf(path, sizeof path, "%s/part-%02u", root, i / 10);
            make_directory(path);
        }
        snprintf(path, sizeof path, "%s/part-%02u/section-%u", root, i / 10, i % 10);
        make_directory(path);
        for (unsigned k = 0; k < 100; k++) {
            unsigned kind = k % 20;
            size_t size = kind < 14   ? (k * 37 + i) % 200
                          : kind < 19 ? 2000 + k * 20
                                      : 44000 + i * 30;
            snprintf(path, sizeof path, "%s/part-%02u/section-%u/module-%02u.js", root, i / 10,
                     i % 10, k);
            make_file(path, size, i * 100 + k);
        }
    }
}

static void visit_all(const char *root, bool hash) {
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    context = EVP_MD_CTX_new();
    if (fd < 0 || !algorithm || !context)
        err(1, "%s", root);
    each_file(fd, hash ? hash_file : evict_file);
    if (hash)
        printf("%llu files, %llu bytes, %02x%02x%02x%02x\n", (unsigned long long)files,
               (unsigned long long)bytes, sum[0], sum[1], sum[2], sum[3]);
}

/* Returns in each process that has a share. */
static void share_out(void) {
    while (process + 1 < processes) {
        pid_t child = fork();
        if (child < 0)
            err(1, "fork");
        if (child == 0)
            return;
        process++;
    }
}

static int wait_for_all(void) {
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 4)
        errx(2, "hash DIR [PROCESSES] | big|small|evict DIR");
    if (strcmp(argv[1], "big") == 0) {
        make_big(argv[2]);
    } else if (strcmp(argv[1], "small") == 0) {
        make_small(argv[2]);
    } else {
        if (argc == 4)
            processes = strtoull(argv[3], NULL, 10);
        share_out();
        visit_all(argv[2], strcmp(argv[1], "hash") == 0);
    }
    return wait_for_all();
}
