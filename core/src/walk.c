/* SPDX-License-Identifier: Apache-2.0 */
/* The list grows while it is read: each directory met in it is opened from the root by its relative
 * path and its names are appended, until none is left. So depth costs no stack and one descriptor.
 * Links below the root are never followed. */
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "platform.h"

void pp__walk_done(pp__walk *walk) {
    for (size_t i = 0; i < walk->count; i++)
        free(walk->entries[i].path);
    free(walk->entries);
    if (walk->root && walk->root_fd >= 0)
        close(walk->root_fd);
    free(walk->root);
    *walk = (pp__walk){ .root_fd = -1 };
}

pp__walk_name pp__walk_entry_name(const pp__walk *walk, size_t index) {
    pp__walk_name name;
    if (walk->root_fd < 0)
        (void)snprintf(name.text, sizeof name.text, "%.470s", walk->root);
    else
        (void)snprintf(name.text, sizeof name.text, "%.200s/%.270s", walk->root,
                       walk->entries[index].path);
    return name;
}

/* Takes `path`, also when it fails. */
static bool add_entry(pp__walk *walk, char *path, const struct stat *st) {
    if (path && walk->count == walk->capacity) {
        size_t capacity = walk->capacity ? walk->capacity * 2 : 64;
        pp__walk_entry *grown = realloc(walk->entries, capacity * sizeof *grown);
        if (grown) {
            walk->entries = grown;
            walk->capacity = capacity;
        }
    }
    if (!path || walk->count == walk->capacity) {
        free(path);
        return false;
    }
    walk->entries[walk->count++] = (pp__walk_entry){
        .path = path,
        .mode = st->st_mode,
        .size = (uint64_t)st->st_size,
        .mtime_ns = pp_platform_mtime_ns(st),
    };
    return true;
}

static pp_status add_name(pp__walk *walk, int dir_fd, const char *parent, const char *name,
                          pp_error *reterr) {
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        PP_AUTO_FREE char *full = pp__fs_join(parent ? parent : walk->root, name);
        return pp__fs_fail(reterr, errno, "lstat", full ? full : name);
    }
    if (!add_entry(walk, parent ? pp__fs_join(parent, name) : strdup(name), &st))
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", walk->root);
    return PP_OK;
}

/* Appends what the directory holds. Takes the descriptor. parent: its relative path, NULL = root */
static pp_status list_directory(pp__walk *walk, int fd, const char *parent, const char *name,
                                pp_error *reterr) {
    PP_AUTO_DIR dir = fdopendir(fd);
    if (!dir) {
        int failed = errno;
        close(fd);
        return pp__fs_fail(reterr, failed, "opendir", name);
    }
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry && errno)
            return pp__fs_fail(reterr, errno, "readdir", name);
        if (!entry)
            return PP_OK;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        pp_status status = add_name(walk, fd, parent, entry->d_name, reterr);
        if (status != PP_OK)
            return status;
    }
}

static int open_directory(int at, const char *path, int flags) {
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

static pp_status list_all(pp__walk *walk, pp_error *reterr) {
    int fd = open_directory(walk->root_fd, ".", 0);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", walk->root);
    pp_status status = list_directory(walk, fd, NULL, walk->root, reterr);
    for (size_t i = 0; status == PP_OK && i < walk->count; i++) {
        if (!S_ISDIR(walk->entries[i].mode))
            continue;
        const char *path = walk->entries[i].path;
        pp__walk_name name = pp__walk_entry_name(walk, i);
        fd = open_directory(walk->root_fd, path, O_NOFOLLOW);
        status = fd < 0 ? pp__fs_fail(reterr, errno, "open", name.text)
                        : list_directory(walk, fd, path, name.text, reterr);
    }
    return status;
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const pp__walk_entry *)a)->path, ((const pp__walk_entry *)b)->path);
}

static pp_status fill(pp__walk *walk, pp_error *reterr) {
    struct stat st;
    if (stat(walk->root, &st) != 0)
        return pp__fs_fail(reterr, errno, "stat", walk->root);
    if (S_ISREG(st.st_mode)) {
        if (!add_entry(walk, strdup("."), &st))
            return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", walk->root);
        return PP_OK;
    }
    if (!S_ISDIR(st.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "walk", "%s: neither a file nor a directory",
                       walk->root);
    walk->root_fd = open_directory(AT_FDCWD, walk->root, 0);
    if (walk->root_fd < 0)
        return pp__fs_fail(reterr, errno, "open", walk->root);
    pp_status status = list_all(walk, reterr);
    if (status == PP_OK && walk->count > 0)
        qsort(walk->entries, walk->count, sizeof *walk->entries, compare_entries);
    return status;
}

pp_status pp__walk_open(const char *root, pp__walk *ret_walk, pp_error *reterr) {
    pp__walk walk = { .root = strdup(root), .root_fd = -1 };
    if (!walk.root)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", root);
    pp_status status = fill(&walk, reterr);
    if (status == PP_OK)
        *ret_walk = walk;
    else
        pp__walk_done(&walk);
    return status;
}

pp_status pp__walk_entry_open(const pp__walk *walk, size_t index, int *ret_fd, pp_error *reterr) {
    int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
    int fd = walk->root_fd < 0
                 ? open(walk->root, flags)
                 : openat(walk->root_fd, walk->entries[index].path, flags | O_NOFOLLOW);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", pp__walk_entry_name(walk, index).text);
    *ret_fd = fd;
    return PP_OK;
}
