/* SPDX-License-Identifier: Apache-2.0 */
/* The template is listed and hashed before and after the copy, and both must agree, in what the
 * system tells of each entry, too. Nothing is created before every entry was found to be a file or
 * a directory. Directories get their modes and times last, deepest first, because filling them
 * changes both. Contents are shared where the file system can, else copied in the kernel, else
 * here; only the last says why it cannot. */
#include "pairperf/template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "manifest_internal.h"
#include "platform.h"

enum {
    COPY_SIZE = 128 * 1024,
    RANGE_SIZE = 16 << 20, /* what the kernel is asked to copy in one call */
};

static bool acceptable(mode_t mode) {
    return S_ISREG(mode) || S_ISDIR(mode);
}

static pp_status ask(const pp_template_watch *watch, pp_error *reterr) {
    if (!watch || watch->go_on(watch->ctx))
        return PP_OK;
    return pp_fail(reterr, PP_E_CANCELLED, 0, "template", "asked to stop");
}

static bool ask_while_hashing(void *ctx, const pp_manifest_progress *progress) {
    (void)progress;
    const pp_template_watch *watch = ctx;
    return watch->go_on(watch->ctx);
}

static pp_status refuse_special(const pp__walk *walk, pp_error *reterr) {
    char list[400] = "";
    size_t used = 0, left_out = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const pp__walk_entry *entry = walk->entries[i];
        if (acceptable(entry->type))
            continue;
        int size = snprintf(list + used, sizeof list - used, "%s%s (%s)", used ? ", " : "",
                            entry->path, pp__fs_type_name(entry->type));
        if (size > 0 && (size_t)size < sizeof list - used) {
            used += (size_t)size;
        } else {
            list[used] = '\0';
            left_out++;
        }
    }
    if (used == 0 && left_out == 0)
        return PP_OK;
    if (left_out == 0)
        return pp_fail(reterr, PP_E_REFUSED, 0, "template", "not a file or directory: %s", list);
    return pp_fail(reterr, PP_E_REFUSED, 0, "template", "not a file or directory: %s and %zu more",
                   list, left_out);
}

typedef struct snapshot {
    pp__walk walk;
    pp_manifest manifest;
} snapshot;

static void snapshot_done(snapshot *taken) {
    pp__walk_done(&taken->walk);
    pp_manifest_done(&taken->manifest);
}

static pp_status list(const char *directory, pp__walk *ret_walk, pp_error *reterr) {
    pp__walk walk;
    pp_status status = pp__walk_open(directory, &walk, reterr);
    if (status != PP_OK)
        return status;
    if (walk.root_fd < 0) {
        pp__walk_done(&walk);
        return pp_fail(reterr, PP_E_INVALID, ENOTDIR, "template", "%s", directory);
    }
    *ret_walk = walk;
    return PP_OK;
}

static pp_status take_snapshot(const char *directory, const pp_template_watch *watch,
                               snapshot *ret_taken, pp_error *reterr) {
    snapshot taken = { 0 };
    const pp_manifest_options options = { .progress = ask_while_hashing,
                                          .ctx = (void *)(uintptr_t)watch };
    pp_status status = list(directory, &taken.walk, reterr);
    if (status != PP_OK)
        return status;
    status = refuse_special(&taken.walk, reterr);
    if (status == PP_OK)
        status = ask(watch, reterr);
    if (status == PP_OK)
        status =
            pp__manifest_of_walk(&taken.walk, watch ? &options : NULL, &taken.manifest, reterr);
    if (status == PP_OK)
        *ret_taken = taken;
    else
        snapshot_done(&taken);
    return status;
}

static void describe(const snapshot *taken, pp_template *ret_template) {
    ret_template->entries = taken->manifest.entries;
    ret_template->bytes = taken->manifest.bytes;
    memcpy(ret_template->sha256, taken->manifest.sha256, sizeof ret_template->sha256);
}

pp_status pp_template_check(const char *directory, const pp_template_watch *watch,
                            pp_template *ret_template, pp_error *reterr) {
    snapshot taken;
    pp_status status = take_snapshot(directory, watch, &taken, reterr);
    if (status != PP_OK)
        return status;
    describe(&taken, ret_template);
    snapshot_done(&taken);
    return PP_OK;
}

void pp_template_rejects_done(pp_template_rejects *rejects) {
    if (!rejects)
        return;
    for (size_t i = 0; i < rejects->count; i++)
        free(rejects->items[i].path);
    free(rejects->items);
    *rejects = (pp_template_rejects){ 0 };
}

/* The walk's own order is by path. */
static bool collect(const pp__walk *walk, pp_template_rejects *rejects) {
    size_t wanted = 0;
    for (size_t i = 0; i < walk->count; i++)
        wanted += !acceptable(walk->entries[i]->type);
    if (wanted == 0)
        return true;
    rejects->items = calloc(wanted, sizeof *rejects->items);
    for (size_t i = 0; rejects->items && i < walk->count; i++) {
        const pp__walk_entry *entry = walk->entries[i];
        if (acceptable(entry->type))
            continue;
        pp_template_reject *reject = &rejects->items[rejects->count++];
        *reject = (pp_template_reject){ strdup(entry->path), pp__fs_type_name(entry->type) };
        if (!reject->path)
            return false;
    }
    return rejects->items != NULL;
}

pp_status pp_template_rejects_list(const char *directory, pp_template_rejects *ret_rejects,
                                   pp_error *reterr) {
    pp__walk walk;
    pp_template_rejects rejects = { 0 };
    pp_status status = list(directory, &walk, reterr);
    if (status != PP_OK)
        return status;
    if (collect(&walk, &rejects)) {
        *ret_rejects = rejects;
    } else {
        pp_template_rejects_done(&rejects);
        status = pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", directory);
    }
    pp__walk_done(&walk);
    return status;
}

typedef struct copy {
    const pp_template_watch *watch;
    pp__walk *walk;
    pp__walk_cursor cursor;
    int home_fd;
    char *buffer; /* COPY_SIZE */
} copy;

static pp_status became_shorter(const char *name, pp_error *reterr) {
    return pp_fail(reterr, PP_E_UNVERIFIED, 0, "copy", "%.460s: became shorter", name);
}

static pp_status read_and_write(const copy *to, int in, int out, off_t at, off_t end,
                                const char *name, pp_error *reterr) {
    if (lseek(in, at, SEEK_SET) < 0 || lseek(out, at, SEEK_SET) < 0)
        return pp__fs_fail(reterr, errno, "lseek", name);
    while (at < end) {
        size_t wanted = end - at < COPY_SIZE ? (size_t)(end - at) : COPY_SIZE;
        size_t got = 0;
        pp_status status = pp__fs_read_up_to(in, to->buffer, wanted, name, &got, reterr);
        if (status == PP_OK && got < wanted)
            status = became_shorter(name, reterr);
        if (status == PP_OK)
            status = pp__fs_write_all(out, to->buffer, got, name, reterr);
        at += (off_t)got;
        if (status == PP_OK && at < end)
            status = ask(to->watch, reterr);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}

static pp_status copy_range(const copy *to, int in, int out, off_t at, off_t end, const char *name,
                            pp_error *reterr) {
    while (at < end) {
        size_t wanted = end - at < RANGE_SIZE ? (size_t)(end - at) : RANGE_SIZE;
        size_t copied = 0;
        pp_status status =
            pp_platform_copy_range(in, out, (uint64_t)at, wanted, &copied, name, reterr);
        if (status == PP_E_UNSUPPORTED || (status == PP_OK && copied == 0))
            return read_and_write(to, in, out, at, end, name, reterr);
        at += (off_t)copied;
        if (status == PP_OK && at < end)
            status = ask(to->watch, reterr);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}

/* Copies only where the file system says there is data; one that cannot tell says "everywhere". */
static pp_status copy_data(const copy *to, int in, int out, off_t size, const char *name,
                           pp_error *reterr) {
    if (ftruncate(out, size) != 0)
        return pp__fs_fail(reterr, errno, "ftruncate", name);
    for (off_t at = 0; at < size;) {
        off_t data = lseek(in, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break; /* a hole up to the end */
        off_t hole = data < 0 ? -1 : lseek(in, data, SEEK_HOLE);
        if (data < 0 || hole < 0) {
            data = at;
            hole = size;
        }
        if (hole > size)
            hole = size;
        pp_status status = copy_range(to, in, out, data, hole, name, reterr);
        if (status != PP_OK)
            return status;
        at = hole;
    }
    return PP_OK;
}

static pp_status copy_content(const copy *to, int in, int out, off_t size, const char *name,
                              pp_error *reterr) {
    if (size == 0 || pp_platform_clone(in, out, name, NULL) == PP_OK)
        return PP_OK;
    return copy_data(to, in, out, size, name, reterr);
}

static pp_status set_attributes(int fd, const pp__walk_entry *entry, const char *name,
                                pp_error *reterr) {
    if (fchmod(fd, entry->facts.mode & 07777) != 0)
        return pp__fs_fail(reterr, errno, "fchmod", name);
    return pp__fs_set_mtime(fd, entry->facts.mtime_ns, name, reterr);
}

static pp_status copy_file(copy *to, size_t index, pp_error *reterr) {
    const pp__walk_entry *entry = to->walk->entries[index];
    pp__walk_name name = pp__walk_entry_name(to->walk, index);
    PP_AUTO_FD in = -1;
    pp_status status = pp__walk_entry_open(to->walk, index, &to->cursor, &in, reterr);
    if (status == PP_OK)
        status = pp__walk_entry_look(to->walk, index, in, reterr);
    if (status != PP_OK)
        return status;
    PP_AUTO_FD out = openat(to->home_fd, entry->path,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out < 0)
        return pp__fs_fail(reterr, errno, "create", name.text);
    status = copy_content(to, in, out, (off_t)entry->facts.size, name.text, reterr);
    if (status == PP_OK)
        status = pp__walk_entry_look(to->walk, index, in, reterr);
    if (status == PP_OK)
        status = set_attributes(out, entry, name.text, reterr);
    if (status == PP_OK)
        status = pp__fs_close(&out, name.text, reterr);
    return status;
}

static pp_status finish_directory(const copy *to, size_t index, pp_error *reterr) {
    const pp__walk_entry *entry = to->walk->entries[index];
    pp__walk_name name = pp__walk_entry_name(to->walk, index);
    PP_AUTO_FD fd =
        openat(to->home_fd, entry->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", name.text);
    return set_attributes(fd, entry, name.text, reterr);
}

static pp_status copy_entries(copy *to, pp_error *reterr) {
    pp_status status = PP_OK;
    size_t count = to->walk->count;
    for (size_t i = 0; status == PP_OK && i < count; i++) {
        const pp__walk_entry *entry = to->walk->entries[i];
        if (S_ISREG(entry->type))
            status = copy_file(to, i, reterr);
        else if (mkdirat(to->home_fd, entry->path, 0700) != 0)
            status = pp__fs_fail(reterr, errno, "mkdir", pp__walk_entry_name(to->walk, i).text);
        if (status == PP_OK)
            status = ask(to->watch, reterr);
    }
    for (size_t i = count; status == PP_OK && i > 0; i--)
        if (S_ISDIR(to->walk->entries[i - 1]->type))
            status = finish_directory(to, i - 1, reterr);
    return status;
}

static pp_status copy_into(pp__walk *walk, const char *home, const pp_template_watch *watch,
                           pp_error *reterr) {
    PP_AUTO_FD home_fd = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (home_fd < 0)
        return pp__fs_fail(reterr, errno, "open", home);
    PP_AUTO_FREE char *buffer = malloc(COPY_SIZE);
    if (!buffer)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", home);
    copy to = { .watch = watch, .walk = walk, .home_fd = home_fd, .buffer = buffer };
    pp_status status = copy_entries(&to, reterr);
    pp__walk_cursor_done(&to.cursor);
    return status;
}

static bool same(const snapshot *before, const snapshot *after) {
    if (strcmp(before->manifest.sha256, after->manifest.sha256) != 0)
        return false;
    for (size_t i = 0; i < before->walk.count; i++)
        if (!pp__facts_equal(&before->walk.entries[i]->facts, &after->walk.entries[i]->facts))
            return false;
    return true;
}

static pp_status verify_unchanged(const char *directory, const pp_template_watch *watch,
                                  const snapshot *before, pp_error *reterr) {
    snapshot after;
    pp_status status = take_snapshot(directory, watch, &after, reterr);
    if (status != PP_OK)
        return status;
    if (!same(before, &after))
        status = pp_fail(reterr, PP_E_UNVERIFIED, 0, "template", "%s: changed while it was copied",
                         directory);
    snapshot_done(&after);
    return status;
}

pp_status pp_template_copy(const char *directory, const char *home, const pp_template_watch *watch,
                           pp_template *ret_template, pp_error *reterr) {
    snapshot before;
    pp_status status = take_snapshot(directory, watch, &before, reterr);
    if (status != PP_OK)
        return status;
    status = copy_into(&before.walk, home, watch, reterr);
    if (status == PP_OK)
        status = verify_unchanged(directory, watch, &before, reterr);
    if (status == PP_OK)
        describe(&before, ret_template);
    snapshot_done(&before);
    return status;
}
