/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that nobody wants to meet, one per row: each has a defined outcome. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "hash_pool.h"
#include "manifest_internal.h"
#include "pairperf/manifest.h"
#include "scratch.h"

#define LONG50 "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define LONG255 LONG50 LONG50 LONG50 LONG50 LONG50 "nnnnn"

static char top[64]; /* of the row, relative to the scratch directory */

static const char *at(const char *name) {
    return scratch_path("%s/%s", top, name);
}

static void file(const char *name, const char *text, mode_t mode) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", top, name);
    scratch_file(path, text, mode);
}

static void directory(const char *name, mode_t mode) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", top, name);
    scratch_mkdir(path, mode);
}

static bool newline(void) {
    file("a\nb", "", 0644);
    return true;
}

static bool not_utf8(void) {
    file("\xff\xfe", "", 0644);
    return true;
}

static bool markup(void) {
    directory("<", 0755);
    file("</script>", "", 0644);
    return true;
}

static bool pipe_sign(void) {
    file("a|b", "", 0644);
    return true;
}

static bool name_of_255_bytes(void) {
    file(LONG255, "", 0644);
    return true;
}

static bool link_loops(void) {
    return symlink("a", at("b")) == 0 && symlink("b", at("a")) == 0 && symlink(".", at("c")) == 0;
}

static bool fifo(void) {
    return mkfifo(at("x"), 0644) == 0 && chmod(at("x"), 0644) == 0;
}

static bool unix_socket(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "x" };
    bool made = chdir(scratch_path("%s", top)) == 0 &&
                bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                chmod("x", 0644) == 0 && chdir("/") == 0;
    close(fd);
    return made;
}

static bool device(void) {
    return mknod(at("x"), S_IFCHR | 0644, (dev_t)(1 << 8 | 3)) == 0 && chmod(at("x"), 0644) == 0;
}

static bool closed_file(void) {
    file("a", "", 0644);
    file("closed", "x", 0);
    return true;
}

static bool closed_directory(void) {
    file("a", "", 0);
    directory("closed", 0);
    return true;
}

static bool sparse(void) {
    file("x", "", 0644);
    return truncate(at("x"), (off_t)64 << 20) == 0;
}

static bool hard_links(void) {
    file("a", "abc", 0644);
    return link(at("a"), at("b")) == 0;
}

static bool hundred_thousand(void) {
    int at_fd = open(scratch_path("%s", top), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool made = at_fd >= 0;
    for (int i = 0; made && i < 100000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%05d", i);
        made = symlinkat("x", at_fd, name) == 0;
    }
    close(at_fd);
    return made;
}

static struct grower {
    pthread_t thread;
    int fd; /* 0: not at work */
    atomic_bool stop;
} grower;

static void *keep_growing(void *argument) {
    (void)argument;
    while (!atomic_load(&grower.stop))
        (void)!write(grower.fd, "x", 1);
    return NULL;
}

/* Large enough to be read for longer than it takes to grow by a byte; grows already. */
static bool growing(void) {
    file("f", "", 0644);
    if (truncate(at("f"), (off_t)16 << 20) != 0)
        return false;
    grower.fd = open(at("f"), O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(pthread_create(&grower.thread, NULL, keep_growing, NULL), 0);
    struct stat st;
    do
        assert_int_equal(fstat(grower.fd, &st), 0);
    while (st.st_size == (off_t)16 << 20);
    return true;
}

static void grow_no_more(void) {
    if (grower.fd <= 0)
        return;
    atomic_store(&grower.stop, true);
    pthread_join(grower.thread, NULL);
    close(grower.fd);
    grower.fd = 0;
}

typedef struct hostile_row {
    const char *name;
    bool (*make)(void); /* false: this machine or user cannot */
    pp_status status;
    uint64_t entries, bytes;
    const char *has; /* in the canonical bytes, or in the error's detail */
} hostile_row;

static const hostile_row rows[] = {
    { "newline", newline, PP_OK, 1, 0, "\"path\":\"a\\nb\"" },
    { "not UTF-8", not_utf8, PP_OK, 1, 0, "\"path\":{\"bytes_hex\":\"fffe\"}" },
    { "markup", markup, PP_OK, 2, 0, "\"path\":\"</script>\"" },
    { "pipe sign", pipe_sign, PP_OK, 1, 0, "\"path\":\"a|b\"" },
    { "255 bytes", name_of_255_bytes, PP_OK, 1, 0, "\"path\":\"" LONG255 "\"" },
    { "loops of links", link_loops, PP_OK, 3, 0, "\"target\":\"b\"" },
    { "FIFO", fifo, PP_OK, 1, 0, "{\"mode\":\"0644\",\"path\":\"x\",\"type\":\"fifo\"}" },
    { "socket", unix_socket, PP_OK, 1, 0,
      "{\"mode\":\"0644\",\"path\":\"x\",\"type\":\"socket\"}" },
    { "device", device, PP_OK, 1, 0, "{\"mode\":\"0644\",\"path\":\"x\",\"type\":\"char\"}" },
    { "mode 0000", closed_file, PP_E_DENIED, 0, 0, "/closed" },
    { "directory of mode 0000", closed_directory, PP_E_DENIED, 0, 0, "/closed" },
    { "growing while read", growing, PP_E_UNVERIFIED, 0, 0, "/f: " },
    { "sparse", sparse, PP_OK, 1, 64 << 20,
      "3b6a07d0d404fab4e23b6d34bc6696a6a312dd92821332385e5af7c01c421351" },
    { "hard links", hard_links, PP_OK, 2, 6, "\"path\":\"b\"" },
    { "100,000 entries", hundred_thousand, PP_OK, 100000, 0, "\"path\":\"99999\"" },
};

static bool contains(const char *text, size_t size, const char *wanted) {
    return memmem(text, size, wanted, strlen(wanted)) != NULL;
}

static void check_row(const hostile_row *row, unsigned workers) {
    const pp_manifest_options options = { .workers = workers };
    pp_manifest manifest = { 0 };
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_manifest_build(scratch_path("%s", top), &options, &manifest, &err);
    scratch_restore_privilege();
    if (status != row->status)
        fail_msg("%s: %s: %s", row->name, pp_status_name(status), err.detail);
    if (status != PP_OK) {
        if (!strstr(err.detail, row->has))
            fail_msg("%s: %s", row->name, err.detail);
        return;
    }
    if (manifest.entries != row->entries || manifest.bytes != row->bytes ||
        !contains(manifest.json, manifest.size, row->has))
        fail_msg("%s: %.*s", row->name, manifest.size < 1000 ? (int)manifest.size : 1000,
                 manifest.json);
    pp_manifest_done(&manifest);
}

/* proves: PROV-2 */
static void every_hostile_tree_has_its_outcome(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(top, sizeof top, "row-%zu", i);
        scratch_mkdir(top, 0755);
        if (!rows[i].make()) {
            print_message("without %s: %s\n", rows[i].name, strerror(errno));
            continue;
        }
        check_row(&rows[i], 1);
        check_row(&rows[i], 4);
        grow_no_more();
    }
}

/* Whichever worker meets its failure first. proves: PROV-2 */
static void the_first_failure_by_path_is_reported(void **state) {
    (void)state;
    strcpy(top, "failures");
    scratch_mkdir(top, 0755);
    for (int i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%03d", i);
        file(name, "x", i >= 37 && i % 3 == 1 ? 0 : 0644);
    }
    const pp_manifest_options options = { .workers = 8 };
    const char *root = scratch_path("%s", top), *first = at("f037");
    for (int i = 0; i < 50; i++) {
        pp_manifest manifest;
        pp_error err = { 0 };
        scratch_drop_privilege();
        pp_status status = pp_manifest_build(root, &options, &manifest, &err);
        scratch_restore_privilege();
        assert_int_equal(status, PP_E_DENIED);
        assert_string_equal(err.detail, first);
    }
}

/* What happens between listing and reading. */
typedef struct meanwhile_row {
    const char *name;
    void (*change)(void);
} meanwhile_row;

static void grow(void) {
    int fd = open(at("f"), O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, "more", 4), 4);
    close(fd);
}

static void shorten(void) {
    assert_int_equal(truncate(at("f"), 1), 0);
}

static void replace(void) {
    file("new", "abc", 0644);
    assert_int_equal(rename(at("new"), at("f")), 0);
}

static void dress_up(void) {
    struct stat st;
    assert_int_equal(stat(at("f"), &st), 0);
    int fd = open(at("f"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "xyz", 3), 3);
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st.st_mtim };
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void become_link(void) {
    assert_int_equal(unlink(at("f")), 0);
    assert_int_equal(symlink("/etc/passwd", at("f")), 0);
}

static void become_fifo(void) {
    assert_int_equal(unlink(at("f")), 0);
    assert_int_equal(mkfifo(at("f"), 0644), 0);
}

static void vanish(void) {
    assert_int_equal(unlink(at("f")), 0);
}

static void change_mode(void) {
    assert_int_equal(chmod(at("f"), 0600), 0);
}

static const meanwhile_row changes[] = {
    { "grows", grow },
    { "shrinks", shorten },
    { "is replaced", replace },
    { "gets another content in its old times", dress_up },
    { "is a link", become_link },
    { "is a FIFO", become_fifo },
    { "is gone", vanish },
    { "has another mode", change_mode },
};

/* proves: PROV-2 */
static void a_file_that_changes_after_it_was_seen_is_found_out(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        snprintf(top, sizeof top, "change-%zu", i);
        const char *root = scratch_mkdir(top, 0755);
        file("f", "abc", 0644);
        pp__walk walk;
        pp_manifest manifest;
        pp_error err = { 0 };
        assert_int_equal(pp__walk_open(root, &walk, NULL), PP_OK);
        assert_int_equal(pp__manifest_of_walk(&walk, NULL, &manifest, NULL), PP_OK);
        pp_manifest_done(&manifest);
        changes[i].change();
        pp_status status = pp__manifest_of_walk(&walk, NULL, &manifest, &err);
        if (status != PP_E_UNVERIFIED || !strstr(err.detail, at("f")))
            fail_msg("a file that %s: %s: %s", changes[i].name, pp_status_name(status), err.detail);
        pp__walk_done(&walk);
    }
}

/* A file too young to be trusted and an old one take different ways to the same digest; so do files
 * that are read at once, in parts, or put aside. proves: PROV-2 */
static void every_way_of_reading_gives_the_same_digest(void **state) {
    (void)state;
    strcpy(top, "ways");
    const char *root = scratch_mkdir(top, 0755);
    static const off_t sizes[] = { 0, 1, 131071, 131072, 131073, (4 << 20) - 1, 4 << 20, 5 << 20 };
    pp_digest *digest;
    assert_int_equal(pp_digest_new(&digest, NULL), PP_OK);
    pp__walk walk;
    unsigned char sums[8][PP__SHA256_SIZE];
    for (size_t i = 0; i < 8; i++) {
        char name[8];
        snprintf(name, sizeof name, "%zu", i);
        file(name, "", 0644);
        assert_int_equal(truncate(at(name), sizes[i]), 0);
    }
    for (int old = 0; old < 2; old++) {
        size_t failed;
        pp_error err = { 0 };
        assert_int_equal(pp__walk_open(root, &walk, NULL), PP_OK);
        if (old)
            walk.began_ns += INT64_C(3600) * 1000000000;
        if (pp__hash_pool(&walk, NULL, sums, &failed, &err) != PP_OK)
            fail_msg("%s", err.detail);
        for (size_t i = 0; i < 8; i++) {
            char hex[PP_DIGEST_HEX], wanted[PP_DIGEST_HEX];
            pp__digest_hex(sums[i], hex);
            assert_int_equal(pp_digest_file(digest, at(walk.entries[i]->path), wanted, NULL),
                             PP_OK);
            assert_string_equal(hex, wanted);
            assert_int_equal(walk.entries[i]->facts.size, sizes[i]);
        }
        pp__walk_done(&walk);
    }
    pp_digest_free(digest);
}

static unsigned asked;
static pp_manifest_progress last;

static bool stop_at_the_third(void *ctx, const pp_manifest_progress *progress) {
    (void)ctx;
    last = *progress;
    return ++asked < 3;
}

/* A terabyte of nothing would take minutes. proves: PROV-2 CAN-1 */
static void a_huge_file_says_how_far_it_is_and_can_be_stopped(void **state) {
    (void)state;
    strcpy(top, "huge");
    const char *root = scratch_mkdir(top, 0755);
    file("f", "", 0644);
    if (truncate(at("f"), (off_t)1 << 40) != 0) {
        print_message("skipped: no file of this size: %s\n", strerror(errno));
        skip();
    }
    const pp_manifest_options options = { .progress = stop_at_the_third };
    pp_manifest manifest = { .entries = 77 };
    pp_error err = { 0 };
    asked = 0;
    assert_int_equal(pp_manifest_build(root, &options, &manifest, &err), PP_E_CANCELLED);
    assert_int_equal(manifest.entries, 77);
    assert_int_equal(asked, 3);
    assert_int_equal(last.files, 1);
    assert_int_equal(last.files_done, 0);
    assert_true(last.bytes_known);
    assert_int_equal(last.bytes, (uint64_t)1 << 40);
    assert_true(last.bytes_done > 0 && last.bytes_done < last.bytes);
}

static bool go_on(void *ctx, const pp_manifest_progress *progress) {
    (void)ctx;
    (void)progress;
    return true;
}

static size_t count_open(int below) {
    size_t open = 0;
    for (int fd = 0; fd < below; fd++)
        open += fcntl(fd, F_GETFD) >= 0;
    return open;
}

/* Closed together are files in a row: here none are, as ours lie between them. */
static void few_descriptors_are_enough_and_others_stay_open(void **state) {
    (void)state;
    enum { LIMIT = 40, FILES = 200 };
    strcpy(top, "few");
    scratch_mkdir(top, 0755);
    for (unsigned i = 0; i < FILES; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        file(name, name, 0644);
    }
    const char *root = scratch_path("%s", top);
    for (int fd = 6; fd < 24; fd += 3)
        assert_int_equal(dup2(STDERR_FILENO, fd), fd);
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = LIMIT;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    size_t open = count_open(LIMIT);
    pp_status status = PP_OK;
    pp_error err = { .detail = "none" };
    for (unsigned workers = 1; workers <= 4 && status == PP_OK; workers++) {
        const pp_manifest_options options = { .workers = workers, .progress = go_on };
        pp_manifest manifest = { 0 };
        status = pp_manifest_build(root, &options, &manifest, &err);
        assert_int_equal(status == PP_OK ? manifest.files : FILES, FILES);
        pp_manifest_done(&manifest);
    }
    size_t left = count_open(LIMIT);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int fd = 6; fd < 24; fd += 3)
        close(fd);
    if (status != PP_OK)
        fail_msg("%s %s: %s", err.op, err.detail, strerror(err.sys_errno));
    assert_int_equal(left, open);
}

static void an_empty_tree_needs_no_worker(void **state) {
    (void)state;
    pp_manifest manifest;
    assert_int_equal(pp_manifest_build(scratch_mkdir("empty", 0755), NULL, &manifest, NULL), PP_OK);
    assert_int_equal(manifest.entries, 0);
    pp_manifest_done(&manifest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hostile_tree_has_its_outcome),
        cmocka_unit_test(the_first_failure_by_path_is_reported),
        cmocka_unit_test(a_file_that_changes_after_it_was_seen_is_found_out),
        cmocka_unit_test(every_way_of_reading_gives_the_same_digest),
        cmocka_unit_test(a_huge_file_says_how_far_it_is_and_can_be_stopped),
        cmocka_unit_test(few_descriptors_are_enough_and_others_stay_open),
        cmocka_unit_test(an_empty_tree_needs_no_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
