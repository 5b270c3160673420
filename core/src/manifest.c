/* SPDX-License-Identifier: Apache-2.0 */
/* First the list, then the content of every file by the pool, then each entry once, in order. An
 * entry that is not what the list said (another type, another file, unreadable) ends the whole with
 * an error: there are no partial manifests. */
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
#include "hash_pool.h"
#include "manifest_internal.h"
#include "pairperf/json_write.h"
#include "platform.h"

enum { ENTRY_BYTES = 144 }; /* of a file's entry without its path, about */

void pp_manifest_done(pp_manifest *manifest) {
    if (!manifest)
        return;
    free(manifest->json);
    *manifest = (pp_manifest){ 0 };
}

/* Those of each entry, quoted once. */
static const pp_json_name name_mode = PP_JSON_NAME("mode"), name_path = PP_JSON_NAME("path"),
                          name_sha256 = PP_JSON_NAME("sha256"), name_size = PP_JSON_NAME("size"),
                          name_target = PP_JSON_NAME("target"),
                          name_target_sha256 = PP_JSON_NAME("target_sha256"),
                          name_type = PP_JSON_NAME("type");

static void write_text(pp_json *json, const pp_json_name *name, const char *text) {
    pp_json_name_key(json, name);
    pp_json_string(json, text);
}

static void write_mode(pp_json *json, mode_t mode) {
    const char octal[] = { (char)('0' + (mode >> 9 & 7)), (char)('0' + (mode >> 6 & 7)),
                           (char)('0' + (mode >> 3 & 7)), (char)('0' + (mode & 7)), '\0' };
    write_text(json, &name_mode, octal);
}

typedef struct manifest_build {
    pp__walk *walk;
    unsigned char (*digests)[PP__SHA256_SIZE]; /* of regular files, by entry */
    size_t failed;                             /* this entry ends the whole with `error` */
    pp_error error;
    pp__walk_cursor cursor;
    pp_digest *digest;
    pp_json json;
    pp_manifest manifest;
} manifest_build;

static void write_file(manifest_build *maker, size_t index) {
    const pp__walk_entry *entry = maker->walk->entries[index];
    char hex[PP_DIGEST_HEX];
    pp__digest_hex(maker->digests[index], hex);
    write_mode(&maker->json, entry->facts.mode);
    write_text(&maker->json, &name_path, entry->path);
    write_text(&maker->json, &name_sha256, hex);
    pp_json_name_key(&maker->json, &name_size);
    pp_json_u64(&maker->json, entry->facts.size);
}

static pp_status write_symlink(manifest_build *maker, size_t index, pp_error *reterr) {
    const pp__walk_entry *entry = maker->walk->entries[index];
    char target[PATH_MAX];
    char hex[PP_DIGEST_HEX];
    int directory;
    pp_status status =
        pp__walk_entry_directory(maker->walk, index, &maker->cursor, &directory, reterr);
    if (status != PP_OK)
        return status;
    ssize_t size = readlinkat(directory, entry->path + entry->name_at, target, sizeof target);
    if (size < 0 || (size_t)size == sizeof target)
        return pp__fs_fail(reterr, size < 0 ? errno : ENAMETOOLONG, "readlink",
                           pp__walk_entry_name(maker->walk, index).text);
    status = pp_digest_bytes(maker->digest, target, (size_t)size, hex, reterr);
    if (status != PP_OK)
        return status;
    write_text(&maker->json, &name_path, entry->path);
    pp_json_name_key(&maker->json, &name_target);
    pp_json_string_bytes(&maker->json, target, (size_t)size);
    write_text(&maker->json, &name_target_sha256, hex);
    return PP_OK;
}

static pp_status write_entry(manifest_build *maker, size_t index, pp_error *reterr) {
    const pp__walk_entry *entry = maker->walk->entries[index];
    pp_json *json = &maker->json;
    pp_status status = PP_OK;
    pp_json_begin_object(json);
    if (S_ISREG(entry->type)) {
        write_file(maker, index);
    } else if (S_ISLNK(entry->type)) {
        status = write_symlink(maker, index, reterr);
    } else {
        write_mode(json, entry->facts.mode);
        write_text(json, &name_path, entry->path);
    }
    write_text(json, &name_type, pp__fs_type_name(entry->type));
    pp_json_end_object(json);
    return status;
}

static pp_status write_all(manifest_build *maker, pp_error *reterr) {
    pp_json *json = &maker->json;
    pp_json_begin_object(json);
    pp_json_key(json, "entries");
    pp_json_begin_array(json);
    for (size_t i = 0; i < maker->walk->count; i++) {
        pp_status status =
            i == maker->failed ? maker->error.status : write_entry(maker, i, &maker->error);
        if (status != PP_OK) {
            if (reterr)
                *reterr = maker->error;
            return status;
        }
    }
    pp_json_end_array(json);
    pp_json_key(json, "schema");
    pp_json_string(json, "pairperf-manifest-1");
    pp_json_end_object(json);
    return PP_OK;
}

static pp_status count_files(manifest_build *maker, pp_error *reterr) {
    pp_manifest *manifest = &maker->manifest;
    manifest->entries = maker->walk->count;
    for (size_t i = 0; i < maker->walk->count; i++) {
        const pp__walk_entry *entry = maker->walk->entries[i];
        if (!S_ISREG(entry->type))
            continue;
        manifest->files++;
        if (__builtin_add_overflow(manifest->bytes, entry->facts.size, &manifest->bytes))
            return pp_fail(reterr, PP_E_OVERFLOW, 0, "manifest", "%s", maker->walk->root);
    }
    return PP_OK;
}

static pp_status finish(manifest_build *maker, pp_error *reterr) {
    pp_manifest *manifest = &maker->manifest;
    pp_status status = count_files(maker, reterr);
    if (status == PP_OK)
        status = pp_json_take(&maker->json, &manifest->json, &manifest->size, reterr);
    if (status == PP_OK)
        status = pp_digest_bytes(maker->digest, manifest->json, manifest->size, manifest->sha256,
                                 reterr);
    return status;
}

static void *allocate(const pp__walk *walk, size_t size, pp_error *reterr) {
    void *memory = pp_platform_allocate(size);
    if (!memory)
        pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", walk->root);
    return memory;
}

/* A file that failed still lets the links before it fail first. */
static pp_status hash_and_write(manifest_build *maker, const pp_manifest_options *options,
                                pp_error *reterr) {
    pp_status status =
        pp__hash_pool(maker->walk, options, maker->digests, &maker->failed, &maker->error);
    if (status != PP_OK && maker->failed == maker->walk->count) {
        if (reterr)
            *reterr = maker->error;
        return status;
    }
    size_t size = maker->walk->path_bytes + (maker->walk->count + 1) * ENTRY_BYTES;
    char *text = allocate(maker->walk, size, reterr);
    if (!text)
        return PP_E_NOMEM;
    pp_json_into(&maker->json, text, size);
    status = write_all(maker, reterr);
    return status == PP_OK ? finish(maker, reterr) : status;
}

pp_status pp__manifest_of_walk(pp__walk *walk, const pp_manifest_options *options,
                               pp_manifest *ret_manifest, pp_error *reterr) {
    manifest_build maker = { .walk = walk, .failed = walk->count };
    maker.digests = allocate(walk, (walk->count + 1) * sizeof *maker.digests, reterr);
    pp_status status = maker.digests ? pp_digest_new(&maker.digest, reterr) : PP_E_NOMEM;
    if (status == PP_OK)
        status = hash_and_write(&maker, options, reterr);
    if (status == PP_OK)
        *ret_manifest = maker.manifest;
    else
        pp_manifest_done(&maker.manifest);
    free(maker.digests);
    pp__walk_cursor_done(&maker.cursor);
    pp_digest_free(maker.digest);
    pp_json_done(&maker.json);
    return status;
}

pp_status pp_manifest_build(const char *root, const pp_manifest_options *options,
                            pp_manifest *ret_manifest, pp_error *reterr) {
    pp__walk walk;
    pp_status status = pp__walk_open(root, &walk, reterr);
    if (status != PP_OK)
        return status;
    status = pp__manifest_of_walk(&walk, options, ret_manifest, reterr);
    pp__walk_done(&walk);
    return status;
}
