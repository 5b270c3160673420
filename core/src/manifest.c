/* SPDX-License-Identifier: Apache-2.0 */
/* First the list, then each entry once, in order. An entry that is not what the list said (another
 * type, another size, unreadable) ends the whole with an error: there are no partial manifests. */
#include "pairperf/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "manifest_internal.h"
#include "pairperf/json_write.h"

void pp_manifest_done(pp_manifest *manifest) {
    if (!manifest)
        return;
    free(manifest->json);
    *manifest = (pp_manifest){ 0 };
}

static void write_text(pp_json *json, const char *key, const char *text) {
    pp_json_key(json, key);
    pp_json_string(json, text);
}

static void write_mode(pp_json *json, mode_t mode) {
    char octal[8];
    snprintf(octal, sizeof octal, "%04o", (unsigned)(mode & 07777));
    write_text(json, "mode", octal);
}

static pp_status write_file(const pp__walk *walk, size_t index, pp_digest *digest, pp_json *json,
                            pp_error *reterr) {
    const pp__walk_entry *entry = &walk->entries[index];
    pp__walk_name name = pp__walk_entry_name(walk, index);
    PP_AUTO_FD fd = -1;
    pp_status status = pp__walk_entry_open(walk, index, &fd, reterr);
    uint64_t size;
    char hex[PP_DIGEST_HEX];
    if (status == PP_OK)
        status = pp_digest_fd(digest, fd, name.text, &size, hex, reterr);
    if (status != PP_OK)
        return status;
    if (size != entry->size)
        return pp_fail(reterr, PP_E_UNVERIFIED, 0, "manifest", "%s: changed since it was listed",
                       name.text);
    write_mode(json, entry->mode);
    write_text(json, "path", entry->path);
    write_text(json, "sha256", hex);
    pp_json_key(json, "size");
    pp_json_u64(json, size);
    return PP_OK;
}

static pp_status write_symlink(const pp__walk *walk, size_t index, pp_digest *digest, pp_json *json,
                               pp_error *reterr) {
    const char *path = walk->entries[index].path;
    char target[PATH_MAX];
    ssize_t size = readlinkat(walk->root_fd, path, target, sizeof target);
    if (size < 0 || (size_t)size == sizeof target)
        return pp__fs_fail(reterr, size < 0 ? errno : ENAMETOOLONG, "readlink",
                           pp__walk_entry_name(walk, index).text);
    char hex[PP_DIGEST_HEX];
    pp_status status = pp_digest_bytes(digest, target, (size_t)size, hex, reterr);
    if (status != PP_OK)
        return status;
    write_text(json, "path", path);
    pp_json_key(json, "target");
    pp_json_string_bytes(json, target, (size_t)size);
    write_text(json, "target_sha256", hex);
    return PP_OK;
}

static pp_status write_entry(const pp__walk *walk, size_t index, pp_digest *digest, pp_json *json,
                             pp_error *reterr) {
    const pp__walk_entry *entry = &walk->entries[index];
    pp_status status = PP_OK;
    pp_json_begin_object(json);
    if (S_ISREG(entry->mode)) {
        status = write_file(walk, index, digest, json, reterr);
    } else if (S_ISLNK(entry->mode)) {
        status = write_symlink(walk, index, digest, json, reterr);
    } else {
        write_mode(json, entry->mode);
        write_text(json, "path", entry->path);
    }
    write_text(json, "type", pp__fs_type_name(entry->mode));
    pp_json_end_object(json);
    return status;
}

static pp_status write_all(const pp__walk *walk, pp_digest *digest, pp_json *json,
                           pp_error *reterr) {
    pp_json_begin_object(json);
    pp_json_key(json, "entries");
    pp_json_begin_array(json);
    for (size_t i = 0; i < walk->count; i++) {
        pp_status status = write_entry(walk, i, digest, json, reterr);
        if (status != PP_OK)
            return status;
    }
    pp_json_end_array(json);
    write_text(json, "schema", "pairperf-manifest-1");
    pp_json_end_object(json);
    return PP_OK;
}

static pp_status build(const pp__walk *walk, pp_digest *digest, pp_json *json,
                       pp_manifest *ret_manifest, pp_error *reterr) {
    pp_manifest manifest = { .entries = walk->count };
    const char *text;
    pp_status status = write_all(walk, digest, json, reterr);
    if (status == PP_OK)
        status = pp_json_finish(json, &text, &manifest.size, reterr);
    if (status == PP_OK)
        status = pp_digest_bytes(digest, text, manifest.size, manifest.sha256, reterr);
    if (status != PP_OK)
        return status;
    for (size_t i = 0; i < walk->count; i++) {
        if (!S_ISREG(walk->entries[i].mode))
            continue;
        manifest.files++;
        manifest.bytes += walk->entries[i].size;
    }
    manifest.json = malloc(manifest.size);
    if (!manifest.json)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", walk->root);
    memcpy(manifest.json, text, manifest.size);
    *ret_manifest = manifest;
    return PP_OK;
}

pp_status pp__manifest_of_walk(const pp__walk *walk, pp_manifest *ret_manifest, pp_error *reterr) {
    pp_digest *digest;
    pp_status status = pp_digest_new(&digest, reterr);
    if (status != PP_OK)
        return status;
    pp_json json = { 0 };
    status = build(walk, digest, &json, ret_manifest, reterr);
    pp_json_done(&json);
    pp_digest_free(digest);
    return status;
}

pp_status pp_manifest_build(const char *root, pp_manifest *ret_manifest, pp_error *reterr) {
    pp__walk walk;
    pp_status status = pp__walk_open(root, &walk, reterr);
    if (status != PP_OK)
        return status;
    status = pp__manifest_of_walk(&walk, ret_manifest, reterr);
    pp__walk_done(&walk);
    return status;
}
