/* SPDX-License-Identifier: Apache-2.0 */
/* The list grows while it is read: each directory met in it is opened from the root by its relative
 * path and its names are appended, until none is left. So depth costs no stack and one descriptor.
 * Links below the root are never followed: a directory that is opened again must be the inode that
 * was listed. Regular files are not looked at before they are opened: one call less for each. */
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "platform.h"

/* Change times are this coarse at most, and clocks are set back by less. */
#define SETTLED_NS (INT64_C(3) * 1000000000)

enum { BLOCK_MIN = 32 << 10, BLOCK_MAX = 2 << 20 };

/* Entries follow it. */
struct pp__walk_block {
    pp__walk_block *next;
    size_t size, used; /* itself included */
};

void pp__walk_done(pp__walk *walk) {
    while (walk->blocks) {
        pp__walk_block *next = walk->blocks->next;
        free(walk->blocks);
        walk->blocks = next;
    }
    free(walk->entries);
    free(walk->directories);
    if (walk->root && walk->root_fd >= 0)
        close(walk->root_fd);
    free(walk->root);
    *walk = (pp__walk){ .root_fd = -1 };
}

static pp__walk_name name_of(const pp__walk *walk, const char *path) {
    pp__walk_name name;
    if (walk->root_fd < 0 || !path)
        (void)snprintf(name.text, sizeof name.text, "%.470s", walk->root);
    else
        (void)snprintf(name.text, sizeof name.text, "%.200s/%.270s", walk->root, path);
    return name;
}

pp__walk_name pp__walk_entry_name(const pp__walk *walk, size_t index) {
    return name_of(walk, walk->entries[index]->path);
}

static pp_status no_memory(const pp__walk *walk, pp_error *reterr) {
    return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", walk->root);
}

static pp_status changed(const char *name, int sys_errno, pp_error *reterr) {
    return pp_fail(reterr, PP_E_UNVERIFIED, sys_errno, "walk", "%.440s: changed meanwhile", name);
}

/* Room for one more of `size` bytes. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 64;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* The next block is eight times as large as the one before, and always takes one entry. */
static bool add_block(pp__walk *walk, size_t wanted) {
    size_t size = walk->blocks ? walk->blocks->size * 8 : BLOCK_MIN;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (size < sizeof *walk->blocks + wanted)
        size = sizeof *walk->blocks + wanted;
    pp__walk_block *block = pp_platform_allocate(size);
    if (!block)
        return false;
    *block = (pp__walk_block){ .next = walk->blocks, .size = size, .used = sizeof *block };
    walk->blocks = block;
    return true;
}

static void *block_alloc(pp__walk *walk, size_t size) {
    const size_t align = _Alignof(pp__walk_entry);
    size = (size + align - 1) / align * align;
    if ((!walk->blocks || walk->blocks->size - walk->blocks->used < size) && !add_block(walk, size))
        return NULL;
    void *memory = (char *)walk->blocks + walk->blocks->used;
    walk->blocks->used += size;
    return memory;
}

/* Appends it; parent: NULL = the root. NULL without memory. */
static pp__walk_entry *add_entry(pp__walk *walk, const char *parent, const char *name) {
    size_t parent_size = parent ? strlen(parent) + 1 : 0, name_size = strlen(name) + 1;
    void *entries = walk->entries;
    if (!grow(&entries, walk->count, &walk->capacity, sizeof(pp__walk_entry *)))
        return NULL;
    walk->entries = entries;
    pp__walk_entry *entry = block_alloc(walk, sizeof *entry + parent_size + name_size);
    if (!entry)
        return NULL;
    *entry = (pp__walk_entry){ .name_at = parent_size };
    if (parent) {
        memcpy(entry->path, parent, parent_size - 1);
        entry->path[parent_size - 1] = '/';
    }
    memcpy(entry->path + parent_size, name, name_size);
    walk->path_bytes += parent_size + name_size - 1;
    walk->entries[walk->count++] = entry;
    return entry;
}

/* The type alone for what is opened or read later anyway. */
static bool describe(int dir_fd, const struct dirent *name, pp__walk_entry *entry) {
    mode_t type = (mode_t)DTTOIF(name->d_type);
    if (S_ISREG(type) || S_ISLNK(type) || S_ISDIR(type)) {
        entry->type = type;
        return true;
    }
    struct stat st;
    if (fstatat(dir_fd, name->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    entry->type = st.st_mode & S_IFMT;
    entry->known = !S_ISREG(entry->type) && !S_ISLNK(entry->type) && !S_ISDIR(entry->type);
    if (entry->known)
        entry->facts = pp__facts_of(&st);
    return true;
}

static pp_status add_name(pp__walk *walk, int dir_fd, const struct dirent *name, pp_error *reterr) {
    size_t directory = walk->directory_count - 1;
    pp__walk_entry *entry = add_entry(walk, walk->directories[directory].path, name->d_name);
    if (!entry)
        return no_memory(walk, reterr);
    entry->directory = directory;
    if (!describe(dir_fd, name, entry))
        return pp__fs_fail(reterr, errno, "lstat", name_of(walk, entry->path).text);
    return PP_OK;
}

static pp_status read_names(pp__walk *walk, DIR *dir, const char *path, pp_error *reterr) {
    for (;;) {
        errno = 0;
        struct dirent *name = readdir(dir);
        if (!name && errno)
            return pp__fs_fail(reterr, errno, "readdir", name_of(walk, path).text);
        if (!name)
            return PP_OK;
        if (strcmp(name->d_name, ".") == 0 || strcmp(name->d_name, "..") == 0)
            continue;
        pp_status status = add_name(walk, dirfd(dir), name, reterr);
        if (status != PP_OK)
            return status;
    }
}

static pp_status facts_of(int fd, const char *name, pp__facts *ret_facts, pp_error *reterr) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pp__fs_fail(reterr, errno, "fstat", name);
    *ret_facts = pp__facts_of(&st);
    return PP_OK;
}

static bool add_directory(pp__walk *walk, const char *path, const pp__facts *facts) {
    void *directories = walk->directories;
    if (!grow(&directories, walk->directory_count, &walk->directory_capacity,
              sizeof *walk->directories))
        return false;
    walk->directories = directories;
    walk->directories[walk->directory_count++] =
        (pp__walk_directory){ .path = path, .dev = facts->dev, .ino = facts->ino };
    return true;
}

/* Appends what the directory holds. path: relative, NULL = the root */
static pp_status list_directory(pp__walk *walk, const char *path, pp__facts *ret_facts,
                                pp_error *reterr) {
    pp__walk_name name = name_of(walk, path);
    int fd =
        openat(walk->root_fd, path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    PP_AUTO_DIR dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int failed = errno;
        if (fd >= 0)
            close(fd);
        return pp__fs_fail(reterr, failed, "open", name.text);
    }
    pp__facts after;
    pp_status status = facts_of(fd, name.text, ret_facts, reterr);
    if (status == PP_OK && !add_directory(walk, path, ret_facts))
        status = no_memory(walk, reterr);
    if (status == PP_OK)
        status = read_names(walk, dir, path, reterr);
    if (status == PP_OK)
        status = facts_of(fd, name.text, &after, reterr);
    if (status == PP_OK && !pp__facts_equal(ret_facts, &after))
        status = changed(name.text, 0, reterr);
    return status;
}

/* After a failure the other directories are still listed, so that the same one is reported in
 * whatever order the system names them. */
static pp_status list_all(pp__walk *walk, pp_error *reterr) {
    pp__facts facts;
    pp_status first = list_directory(walk, NULL, &facts, reterr);
    const char *first_path = NULL;
    for (size_t i = 0; i < walk->count && (first == PP_OK || first_path); i++) {
        if (!S_ISDIR(walk->entries[i]->type))
            continue;
        const char *path = walk->entries[i]->path;
        pp_error err;
        pp_status status = list_directory(walk, path, &facts, &err);
        if (status == PP_OK) {
            walk->entries[i]->facts = facts;
            walk->entries[i]->known = true;
        } else if (!first_path || strcmp(path, first_path) < 0) {
            first = status;
            first_path = path;
            if (reterr)
                *reterr = err;
        }
    }
    return first;
}

static int compare_entries(const void *a, const void *b) {
    return strcmp((*(pp__walk_entry *const *)a)->path, (*(pp__walk_entry *const *)b)->path);
}

static pp_status fill(pp__walk *walk, pp_error *reterr) {
    struct stat st;
    if (stat(walk->root, &st) != 0)
        return pp__fs_fail(reterr, errno, "stat", walk->root);
    if (S_ISREG(st.st_mode)) {
        pp__walk_entry *entry = add_entry(walk, NULL, ".");
        if (!entry)
            return no_memory(walk, reterr);
        entry->type = S_IFREG;
        return PP_OK;
    }
    if (!S_ISDIR(st.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "walk", "%s: neither a file nor a directory",
                       walk->root);
    walk->root_fd = open(walk->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (walk->root_fd < 0)
        return pp__fs_fail(reterr, errno, "open", walk->root);
    pp_status status = list_all(walk, reterr);
    if (status == PP_OK && walk->count > 0)
        qsort(walk->entries, walk->count, sizeof *walk->entries, compare_entries);
    return status;
}

pp_status pp__walk_open(const char *root, pp__walk *ret_walk, pp_error *reterr) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    pp__walk walk = {
        .root = strdup(root),
        .root_fd = -1,
        .began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
    };
    if (!walk.root)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", root);
    pp_status status = fill(&walk, reterr);
    if (status == PP_OK)
        *ret_walk = walk;
    else
        pp__walk_done(&walk);
    return status;
}

void pp__walk_cursor_done(pp__walk_cursor *cursor) {
    if (cursor->open)
        close(cursor->fd);
    *cursor = (pp__walk_cursor){ 0 };
}

/* What only an entry that was exchanged meanwhile answers. */
static pp_status open_failed(int sys_errno, const char *name, pp_error *reterr) {
    if (sys_errno == ENOENT || sys_errno == ELOOP || sys_errno == ENOTDIR || sys_errno == ENXIO)
        return changed(name, sys_errno, reterr);
    return pp__fs_fail(reterr, sys_errno, "open", name);
}

pp_status pp__walk_entry_directory(const pp__walk *walk, size_t index, pp__walk_cursor *cursor,
                                   int *ret_fd, pp_error *reterr) {
    size_t wanted = walk->entries[index]->directory;
    if (!cursor->open || cursor->directory != wanted) {
        pp__walk_cursor_done(cursor);
        const pp__walk_directory *directory = &walk->directories[wanted];
        PP_AUTO_FD fd = openat(walk->root_fd, directory->path ? directory->path : ".",
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return open_failed(errno, name_of(walk, directory->path).text, reterr);
        pp__facts facts = { 0 };
        pp_status status = facts_of(fd, name_of(walk, directory->path).text, &facts, reterr);
        if (status != PP_OK)
            return status;
        if (facts.dev != directory->dev || facts.ino != directory->ino)
            return changed(name_of(walk, directory->path).text, 0, reterr);
        *cursor = (pp__walk_cursor){ true, pp_take_fd(&fd), wanted };
    }
    *ret_fd = cursor->fd;
    return PP_OK;
}

pp_status pp__walk_entry_open(const pp__walk *walk, size_t index, pp__walk_cursor *cursor,
                              int *ret_fd, pp_error *reterr) {
    const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
    const pp__walk_entry *entry = walk->entries[index];
    int fd, directory = -1;
    if (walk->root_fd < 0) {
        fd = open(walk->root, flags);
    } else {
        pp_status status = pp__walk_entry_directory(walk, index, cursor, &directory, reterr);
        if (status != PP_OK)
            return status;
        fd = openat(directory, entry->path + entry->name_at, flags | O_NOFOLLOW);
    }
    if (fd < 0)
        return open_failed(errno, pp__walk_entry_name(walk, index).text, reterr);
    *ret_fd = fd;
    return PP_OK;
}

pp_status pp__walk_entry_look(pp__walk *walk, size_t index, int fd, pp_error *reterr) {
    pp__walk_entry *entry = walk->entries[index];
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pp__fs_fail(reterr, errno, "fstat", pp__walk_entry_name(walk, index).text);
    pp__facts facts = pp__facts_of(&st);
    if (!S_ISREG(facts.mode) || (entry->known && !pp__facts_equal(&facts, &entry->facts)))
        return changed(pp__walk_entry_name(walk, index).text, 0, reterr);
    entry->facts = facts;
    entry->known = true;
    return PP_OK;
}

bool pp__walk_entry_settled(const pp__walk *walk, size_t index) {
    return walk->entries[index]->facts.ctime_ns < walk->began_ns - SETTLED_NS;
}
