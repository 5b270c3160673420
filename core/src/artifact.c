/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is returned exists, is a regular file that the effective user may execute, and lies
 * inside the artifact once links are resolved. Nothing is run and nothing is unpacked. */
#include "pairperf/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "plist.h"

#define DEFAULT_EXECUTABLE "PAIR"

enum { INFO_PLIST_MAX = 1 << 20 };

void pp_artifact_done(pp_artifact *artifact) {
    if (!artifact)
        return;
    free(artifact->path);
    free(artifact->name);
    free(artifact->version);
    free(artifact->identifier);
    free(artifact->manifest);
    *artifact = (pp_artifact){ 0 };
}

static pp_status no_memory(pp_error *reterr, const char *path) {
    return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", path);
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcasecmp(text + size - end_size, end) == 0;
}

typedef struct archive_kind {
    const char *suffix;
    const char *magic; /* NULL: known by its suffix alone */
    size_t magic_at;
    const char *reason;
} archive_kind;

static const archive_kind archives[] = {
    { ".dmg", NULL, 0, "a disk image: mount it and name the .app inside" },
    { ".zip", "PK\x03\x04", 0, "a zip archive: unpack it and name what it holds" },
    { ".appimage", "AI\x02", 8,
      "an AppImage starts its program through a mount of its own: unpack it with "
      "--appimage-extract and name the directory and its executable" },
    { ".deb", "!<arch>\n", 0,
      "a package: unpack it with dpkg-deb -x and name the directory and its executable" },
};

static pp_status refuse_archive(const char *path, pp_error *reterr) {
    char head[16] = "";
    PP_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    size_t size = 0;
    if (fd >= 0)
        (void)pp__fs_read_up_to(fd, head, sizeof head, path, &size, NULL);
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        const archive_kind *kind = &archives[i];
        bool named = ends_with(path, kind->suffix);
        size_t magic_size = kind->magic ? strlen(kind->magic) : 0;
        bool marked = kind->magic && size >= kind->magic_at + magic_size &&
                      memcmp(head + kind->magic_at, kind->magic, magic_size) == 0;
        if (named || marked)
            return pp_fail(reterr, PP_E_REFUSED, 0, "artifact", "%s: %s", path, kind->reason);
    }
    return PP_OK;
}

/* Does `path`, links resolved, lie below `root`, which has none? */
static pp_status require_inside(const char *root, const char *path, pp_error *reterr) {
    PP_AUTO_FREE char *resolved = NULL;
    pp_status status = pp_fs_realpath(path, &resolved, reterr);
    if (status != PP_OK)
        return status;
    size_t size = strlen(root);
    if (strncmp(resolved, root, size) != 0 || resolved[size] != '/')
        return pp_fail(reterr, PP_E_REFUSED, 0, "artifact", "%s: leads out of %s", path, root);
    return PP_OK;
}

/* Sets path and name from `executable` below the resolved directory `root`. */
static pp_status set_executable(pp_artifact *artifact, const char *root, const char *executable,
                                pp_error *reterr) {
    artifact->path = pp__fs_join(root, executable);
    if (!artifact->path)
        return no_memory(reterr, executable);
    pp_status status = pp_fs_access_exec(artifact->path, reterr);
    if (status == PP_OK)
        status = require_inside(root, artifact->path, reterr);
    if (status != PP_OK)
        return status;
    artifact->name = strdup(strrchr(artifact->path, '/') + 1);
    return artifact->name ? PP_OK : no_memory(reterr, executable);
}

static pp_status read_info(const char *root, pp__plist_want *wants, size_t count,
                           pp_error *reterr) {
    PP_AUTO_FREE char *path = pp__fs_join(root, "Contents/Info.plist");
    if (!path)
        return no_memory(reterr, root);
    PP_AUTO_FREE char *text = NULL;
    size_t size;
    pp_error failure = { 0 };
    pp_status status = pp_fs_read(path, INFO_PLIST_MAX, &text, &size, &failure);
    if (status == PP_E_SYS && failure.sys_errno == ENOENT)
        return PP_OK; /* the defaults hold */
    if (status == PP_OK)
        status = pp__plist_read(text, size, wants, count, &failure);
    if (status != PP_OK) {
        pp_error_wrap(&failure, path);
        if (reterr)
            *reterr = failure;
    }
    return status;
}

static pp_status set_manifest(pp_artifact *artifact, const char *root, pp_error *reterr) {
    PP_AUTO_FREE char *path = pp__fs_join(root, "Contents/Resources/cli-bin/manifest.json");
    if (!path)
        return no_memory(reterr, root);
    pp_fs_info info;
    pp_error failure;
    pp_status status = pp_fs_stat(path, true, &info, &failure);
    if (status == PP_OK) {
        artifact->manifest = path;
        path = NULL;
    } else if (failure.sys_errno != ENOENT && failure.sys_errno != ENOTDIR) {
        if (reterr)
            *reterr = failure;
        return status;
    }
    return PP_OK;
}

static pp_status find_in_app(pp_artifact *artifact, const char *root, const char *executable,
                             pp_error *reterr) {
    pp__plist_want wants[] = {
        { .key = "CFBundleExecutable" },
        { .key = "CFBundleShortVersionString" },
        { .key = "CFBundleIdentifier" },
    };
    pp_status status = read_info(root, wants, sizeof wants / sizeof *wants, reterr);
    artifact->version = wants[1].value;
    artifact->identifier = wants[2].value;
    PP_AUTO_FREE char *bundle_executable = wants[0].value;
    if (status != PP_OK)
        return status;
    const char *name = bundle_executable ? bundle_executable : DEFAULT_EXECUTABLE;
    if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "artifact",
                       "%s/Contents/Info.plist: CFBundleExecutable is no file name", root);
    PP_AUTO_FREE char *relative = pp__fs_join("Contents/MacOS", name);
    if (!relative)
        return no_memory(reterr, root);
    status = set_executable(artifact, root, executable ? executable : relative, reterr);
    if (status == PP_OK)
        status = set_manifest(artifact, root, reterr);
    return status;
}

static bool is_app(const char *root) {
    PP_AUTO_FREE char *macos = pp__fs_join(root, "Contents/MacOS");
    pp_fs_info info;
    return ends_with(root, ".app") || (macos && pp_fs_stat(macos, true, &info, NULL) == PP_OK);
}

static pp_status find_in_directory(pp_artifact *artifact, const char *path, const char *executable,
                                   pp_error *reterr) {
    PP_AUTO_FREE char *root = NULL;
    pp_status status = pp_fs_realpath(path, &root, reterr);
    if (status != PP_OK)
        return status;
    if (executable && (!*executable || *executable == '/'))
        return pp_fail(reterr, PP_E_REFUSED, 0, "artifact",
                       "%s: the executable must be named relative to %s", executable, root);
    artifact->kind = is_app(root) ? "app" : "directory";
    if (strcmp(artifact->kind, "app") == 0)
        return find_in_app(artifact, root, executable, reterr);
    if (!executable)
        return pp_fail(reterr, PP_E_REFUSED, 0, "artifact",
                       "%s: a directory that is no .app needs its executable named", root);
    return set_executable(artifact, root, executable, reterr);
}

static pp_status find_file(pp_artifact *artifact, const char *path, const char *executable,
                           pp_error *reterr) {
    artifact->kind = "file";
    if (executable)
        return pp_fail(reterr, PP_E_REFUSED, 0, "artifact",
                       "%s: an executable is named inside of a directory, this is a file", path);
    pp_status status = refuse_archive(path, reterr);
    if (status != PP_OK)
        return status;
    PP_AUTO_FREE char *parent = pp__fs_parent(path);
    if (!parent)
        return no_memory(reterr, path);
    PP_AUTO_FREE char *resolved = NULL;
    status = pp_fs_realpath(parent, &resolved, reterr);
    if (status != PP_OK)
        return status;
    const char *slash = strrchr(path, '/');
    artifact->name = strdup(slash ? slash + 1 : path);
    artifact->path = artifact->name
                         ? pp__fs_join(strcmp(resolved, "/") == 0 ? "" : resolved, artifact->name)
                         : NULL;
    if (!artifact->path)
        return no_memory(reterr, path);
    return pp_fs_access_exec(artifact->path, reterr);
}

pp_status pp_artifact_find(const char *path, const char *executable, pp_artifact *ret_artifact,
                           pp_error *reterr) {
    pp_fs_info info;
    pp_status status = pp_fs_stat(path, true, &info, reterr);
    if (status != PP_OK)
        return status;
    pp_artifact artifact = { 0 };
    status = strcmp(info.type, "directory") == 0
                 ? find_in_directory(&artifact, path, executable, reterr)
                 : find_file(&artifact, path, executable, reterr);
    if (status == PP_OK)
        *ret_artifact = artifact;
    else
        pp_artifact_done(&artifact);
    return status;
}
