/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot is a sorted list of facts and comparing is a merge of two lists, so a fact that is
 * added can never be left out of the comparison. A file's metadata is read from the descriptor
 * that is hashed: both belong to one file. */
#include "pairperf/guard.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "pairperf/digest.h"
#include "platform.h"

/* referent: the fact is about what the link leads to. Takes `text`. */
static void add(pp_guard_snapshot *snapshot, bool referent, const char *name, char *text,
                uint64_t number) {
    assert(snapshot->count < PP_GUARD_FIELDS_MAX);
    pp_guard_field *field = &snapshot->fields[snapshot->count++];
    *field = (pp_guard_field){ .text = text, .number = number };
    snprintf(field->name, sizeof field->name, "%s%s", referent ? "referent." : "", name);
}

static pp_status add_text(pp_guard_snapshot *snapshot, bool referent, const char *name,
                          const char *text, pp_error *reterr) {
    char *copy = strdup(text);
    if (!copy)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "guard");
    add(snapshot, referent, name, copy, 0);
    return PP_OK;
}

static pp_status add_metadata(pp_guard_snapshot *snapshot, bool referent, const struct stat *st,
                              pp_error *reterr) {
    pp_stat_field fields[PP_STAT_FIELDS_MAX];
    size_t count = pp_platform_stat_fields(st, fields);
    for (size_t i = 0; i < count; i++)
        add(snapshot, referent, fields[i].name, NULL, fields[i].value);
    char mode[8];
    snprintf(mode, sizeof mode, "%04o", (unsigned)(st->st_mode & 07777));
    pp_status status = add_text(snapshot, referent, "mode", mode, reterr);
    if (status == PP_OK)
        status = add_text(snapshot, referent, "type", pp__fs_type_name(st->st_mode), reterr);
    return status;
}

/* Whom an access list lets in need not show in the mode. */
static pp_status add_access_list(pp_guard_snapshot *snapshot, bool referent, int fd,
                                 const char *path, pp_error *reterr) {
    char *text;
    pp_status status = pp_platform_access_list(fd, path, &text, reterr);
    if (status == PP_OK && text)
        add(snapshot, referent, "acl", text, 0);
    return status;
}

static pp_status add_digest(pp_guard_snapshot *snapshot, bool referent, int fd, const char *path,
                            pp_error *reterr) {
    pp_digest *digest;
    pp_status status = pp_digest_new(&digest, reterr);
    if (status != PP_OK)
        return status;
    uint64_t size;
    char hex[PP_DIGEST_HEX];
    status = pp_digest_fd(digest, fd, path, &size, hex, reterr);
    pp_digest_free(digest);
    if (status == PP_OK)
        status = add_text(snapshot, referent, "sha256", hex, reterr);
    return status;
}

/* Facts of a regular file. flags: O_NOFOLLOW for the path itself. Missing is a fact of a referent
 * only; at the path itself lstat has seen it. */
static pp_status add_file(pp_guard_snapshot *snapshot, bool referent, const char *path, int flags,
                          pp_error *reterr) {
    PP_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (fd < 0 && errno == ENOENT && referent)
        return add_text(snapshot, true, "type", "absent", reterr);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pp__fs_fail(reterr, errno, "fstat", path);
    if (!S_ISREG(st.st_mode))
        return pp_fail(reterr, PP_E_UNVERIFIED, 0, "guard", "%s: a %s cannot be compared", path,
                       pp__fs_type_name(st.st_mode));
    pp_status status = add_metadata(snapshot, referent, &st, reterr);
    if (status == PP_OK)
        status = add_access_list(snapshot, referent, fd, path, reterr);
    if (status == PP_OK)
        status = add_digest(snapshot, referent, fd, path, reterr);
    return status;
}

static pp_status add_link(pp_guard_snapshot *snapshot, const char *path, const struct stat *st,
                          pp_error *reterr) {
    PP_AUTO_FREE char *target = NULL;
    pp_status status = pp_fs_readlink(path, &target, reterr);
    if (status == PP_OK)
        status = add_text(snapshot, false, "target", target, reterr);
    if (status == PP_OK)
        status = add_metadata(snapshot, false, st, reterr);
    if (status == PP_OK)
        status = add_file(snapshot, true, path, 0, reterr);
    return status;
}

static pp_status add_path(pp_guard_snapshot *snapshot, const char *path, pp_error *reterr) {
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return pp__fs_fail(reterr, errno, "lstat", path);
        return add_text(snapshot, false, "type", "absent", reterr);
    }
    if (S_ISLNK(st.st_mode))
        return add_link(snapshot, path, &st, reterr);
    return add_file(snapshot, false, path, O_NOFOLLOW, reterr);
}

static int compare_fields(const void *a, const void *b) {
    return strcmp(((const pp_guard_field *)a)->name, ((const pp_guard_field *)b)->name);
}

pp_status pp_guard_snapshot_take(const char *path, pp_guard_snapshot *ret_snapshot,
                                 pp_error *reterr) {
    pp_guard_snapshot snapshot = { 0 };
    pp_status status = add_path(&snapshot, path, reterr);
    if (status != PP_OK) {
        pp_guard_done(&snapshot);
        return status;
    }
    qsort(snapshot.fields, snapshot.count, sizeof *snapshot.fields, compare_fields);
    *ret_snapshot = snapshot;
    return PP_OK;
}

void pp_guard_done(pp_guard_snapshot *snapshot) {
    if (!snapshot)
        return;
    for (size_t i = 0; i < snapshot->count; i++)
        free(snapshot->fields[i].text);
    snapshot->count = 0;
}

static bool same_value(const pp_guard_field *a, const pp_guard_field *b) {
    if (!a->text || !b->text)
        return !a->text && !b->text && a->number == b->number;
    return strcmp(a->text, b->text) == 0;
}

size_t pp_guard_differences(const pp_guard_snapshot *before, const pp_guard_snapshot *after,
                            const char **ret_names) {
    size_t count = 0, i = 0, j = 0;
    while (i < before->count || j < after->count) {
        const pp_guard_field *a = i < before->count ? &before->fields[i] : NULL;
        const pp_guard_field *b = j < after->count ? &after->fields[j] : NULL;
        int order = !a ? 1 : !b ? -1 : compare_fields(a, b);
        if (order != 0 || !same_value(a, b))
            ret_names[count++] = order <= 0 ? a->name : b->name;
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}

/* The nearest existing directory on the way up from `path`, which itself may be missing. */
static pp_status nearest_directory(const char *path, char **ret_directory, pp_error *reterr) {
    char *directory = pp__fs_parent(path);
    for (;;) {
        if (!directory)
            return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", path);
        struct stat st;
        if (stat(directory, &st) == 0)
            break;
        int failed = errno;
        /* A dangling link or an unreadable parent is there and tells nothing. */
        if (failed != ENOENT || lstat(directory, &st) == 0) {
            pp_status status = pp_fail(reterr, PP_E_UNVERIFIED, failed, "stat", "%s", directory);
            free(directory);
            return status;
        }
        char *parent = pp__fs_parent(directory);
        free(directory);
        directory = parent;
    }
    *ret_directory = directory;
    return PP_OK;
}

pp_status pp_guard_writable_confined(const char *path, const char *const *writable,
                                     bool *ret_writable, char **ret_directory, pp_error *reterr) {
    PP_AUTO_FREE char *directory = NULL;
    pp_status status = nearest_directory(path, &directory, reterr);
    if (status == PP_OK)
        status = pp_platform_confined_writable(directory, path, writable, ret_writable, reterr);
    if (status != PP_OK)
        return status;
    *ret_directory = directory;
    directory = NULL;
    return PP_OK;
}

pp_status pp_guard_confinement(int *ret_abi, pp_error *reterr) {
    return pp_platform_confinement(ret_abi, reterr);
}

pp_status pp_guard_writable(const char *path, bool *ret_writable, char **ret_directory,
                            pp_error *reterr) {
    PP_AUTO_FREE char *directory = NULL;
    pp_status status = nearest_directory(path, &directory, reterr);
    if (status != PP_OK)
        return status;
    bool writable = faccessat(AT_FDCWD, directory, W_OK, AT_EACCESS) == 0;
    if (!writable && errno != EACCES && errno != EPERM && errno != EROFS)
        return pp_fail(reterr, PP_E_UNVERIFIED, errno, "faccessat", "%s", directory);
    *ret_writable = writable;
    *ret_directory = directory;
    directory = NULL;
    return PP_OK;
}
