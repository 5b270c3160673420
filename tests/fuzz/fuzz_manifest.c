/* SPDX-License-Identifier: Apache-2.0 */
/* A tree whose names, and whose one link's target, are the input's bytes: its manifest is JSON that
 * another reader takes, with one entry for each name, and is the same the second time. */
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "pairperf/manifest.h"

enum { NAMES = 3, NAME_BYTES = 200 };

static char root[] = "/tmp/pairperf-fuzz-XXXXXX";
static int root_fd = -1;

static void remove_root(void) {
    (void)rmdir(root);
}

/* Names between zeros and slashes. */
static size_t names_of(const uint8_t *bytes, size_t size, char names[NAMES][NAME_BYTES + 1]) {
    size_t count = 0, length = 0;
    for (size_t i = 0; i <= size && count < NAMES; i++) {
        bool ends = i == size || bytes[i] == '\0' || bytes[i] == '/';
        if (!ends && length < NAME_BYTES)
            names[count][length++] = (char)bytes[i];
        if (ends && length > 0) {
            names[count][length] = '\0';
            if (strcmp(names[count], ".") != 0 && strcmp(names[count], "..") != 0)
                count++;
            length = 0;
        }
    }
    return count;
}

static bool make(size_t index, const char *name, const char *target) {
    if (index == 1)
        return symlinkat(target, root_fd, name) == 0;
    if (index == 2)
        return mkdirat(root_fd, name, 0755) == 0;
    int fd = openat(root_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return fd >= 0 && close(fd) == 0;
}

static void check(size_t made) {
    pp_manifest manifest, again;
    pp_manifest_options options = { .workers = 1 };
    MUST(pp_manifest_build(root, &options, &manifest, NULL) == PP_OK);
    MUST(manifest.entries == made);
    json_error_t problem;
    json_t *read =
        json_loadb(manifest.json, manifest.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
    MUST(read != NULL);
    MUST(json_array_size(json_object_get(read, "entries")) == made);
    json_decref(read);
    MUST(pp_manifest_build(root, &options, &again, NULL) == PP_OK);
    MUST(strcmp(manifest.sha256, again.sha256) == 0);
    pp_manifest_done(&manifest);
    pp_manifest_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char names[NAMES][NAME_BYTES + 1];
    bool there[NAMES] = { false };
    size_t made = 0;
    if (root_fd < 0) {
        MUST(mkdtemp(root) != NULL);
        root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)atexit(remove_root);
    }
    size_t count = names_of(bytes, size, names);
    for (size_t i = 0; i < count; i++) {
        there[i] = make(i, names[i], names[0]); /* the same name twice is made once */
        made += there[i];
    }
    check(made);
    for (size_t i = 0; i < count; i++)
        if (there[i])
            MUST(unlinkat(root_fd, names[i], i == 2 ? AT_REMOVEDIR : 0) == 0);
    return 0;
}
