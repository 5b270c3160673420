/* SPDX-License-Identifier: Apache-2.0 */
/* What tells where a cgroup is and who is in it. A path is taken whole or not at all, and one that
 * climbs (".." of another namespace) leads nowhere. */
#include "decode.h"

#include <stdio.h>
#include <string.h>

#define LEAF_PREFIX "pairperf-"

enum { DIRENT_LENGTH_AT = 16, DIRENT_NAME_AT = 19 };

/* A piece of the input. */
typedef struct slice {
    const char *at;
    size_t size;
} slice;

static pp_status malformed(pp_error *reterr, const char *what) {
    return pp_fail(reterr, PP_E_MALFORMED, 0, "decode", "%s", what);
}

static bool is_text(slice s, const char *text) {
    return s.size == strlen(text) && memcmp(s.at, text, s.size) == 0;
}

static bool begins(slice s, const char *text) {
    return s.size >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

/* Takes what stands before the next `end` out of *rest, which must have one. */
static bool take_until(slice *rest, char end, slice *ret_piece) {
    const char *found = rest->size > 0 ? memchr(rest->at, end, rest->size) : NULL;
    if (found == NULL)
        return false;
    *ret_piece = (slice){ rest->at, (size_t)(found - rest->at) };
    rest->size -= ret_piece->size + 1;
    rest->at = found + 1;
    return true;
}

static bool number_of(slice s, uint64_t *ret_value) {
    uint64_t value = 0;
    for (size_t i = 0; i < s.size; i++)
        if (s.at[i] < '0' || s.at[i] > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.at[i] - '0'), &value))
            return false;
    *ret_value = value;
    return s.size > 0;
}

pp_status pp__linux_decode_procs(const char *bytes, size_t size, pp_pid_list *list,
                                 pp_error *reterr) {
    slice rest = { bytes, size }, line;
    while (rest.size > 0) {
        uint64_t pid;
        if (!take_until(&rest, '\n', &line) || !number_of(line, &pid) || pid == 0 ||
            pid > INT32_MAX)
            return malformed(reterr, "cgroup.procs");
        if (pp_pid_list_add(list, (int32_t)pid) != PP_OK)
            return pp_fail(reterr, PP_E_NOMEM, 0, "decode", "cgroup.procs");
    }
    return PP_OK;
}

pp_status pp__linux_decode_figure(const char *bytes, size_t size, uint64_t *ret_value,
                                  pp_error *reterr) {
    slice rest = { bytes, size }, line;
    uint64_t value;
    if (!take_until(&rest, '\n', &line) || rest.size != 0 || !number_of(line, &value))
        return malformed(reterr, "figure");
    *ret_value = value;
    return PP_OK;
}

/* "rbytes=123" adds 123 to *sum; other keys say nothing here. */
static bool add_figure(slice item, const char *key, uint64_t *sum) {
    uint64_t value;
    if (!begins(item, key))
        return true;
    slice digits = { item.at + strlen(key), item.size - strlen(key) };
    return number_of(digits, &value) && !__builtin_add_overflow(*sum, value, sum);
}

static bool add_device(slice line, uint64_t *read_bytes, uint64_t *write_bytes) {
    slice item;
    while (line.size > 0) {
        if (!take_until(&line, ' ', &item)) {
            item = line;
            line.size = 0;
        }
        if (!add_figure(item, "rbytes=", read_bytes) || !add_figure(item, "wbytes=", write_bytes))
            return false;
    }
    return true;
}

pp_status pp__linux_decode_io_stat(const char *bytes, size_t size, uint64_t *ret_read_bytes,
                                   uint64_t *ret_write_bytes, pp_error *reterr) {
    slice rest = { bytes, size }, line;
    uint64_t read_bytes = 0, write_bytes = 0;
    while (rest.size > 0)
        if (!take_until(&rest, '\n', &line) || !add_device(line, &read_bytes, &write_bytes))
            return malformed(reterr, "io.stat");
    *ret_read_bytes = read_bytes;
    *ret_write_bytes = write_bytes;
    return PP_OK;
}

static bool copy(slice s, char *ret_text, size_t capacity) {
    if (s.size >= capacity)
        return false;
    memcpy(ret_text, s.at, s.size);
    ret_text[s.size] = '\0';
    return true;
}

pp_status pp__linux_decode_own_cgroup(const char *bytes, size_t size, char *ret_path,
                                      size_t capacity, pp_error *reterr) {
    slice rest = { bytes, size }, line;
    while (rest.size > 0) {
        if (!take_until(&rest, '\n', &line))
            return malformed(reterr, "cgroup: last line has no end");
        if (!begins(line, "0::"))
            continue;
        slice path = { line.at + 3, line.size - 3 };
        if (!begins(path, "/"))
            return malformed(reterr, "cgroup: path");
        if (!copy(path, ret_path, capacity))
            return pp_fail(reterr, PP_E_NOMEM, 0, "decode", "cgroup: path too long");
        return PP_OK;
    }
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "cgroup", "this kernel has no cgroup2");
}

static bool is_octal(const char *digits) {
    for (int i = 0; i < 3; i++)
        if (digits[i] < '0' || digits[i] > '7')
            return false;
    return true;
}

/* Undoes the kernel's "\040" for space, tab, line end and backslash. */
static bool copy_unescaped(slice s, char *ret_text, size_t capacity) {
    size_t out = 0;
    for (size_t i = 0; i < s.size; i++, out++) {
        if (out + 1 >= capacity)
            return false;
        char byte = s.at[i];
        if (byte == '\\' && s.size - i > 3 && is_octal(s.at + i + 1)) {
            byte = (char)((s.at[i + 1] - '0') * 64 + (s.at[i + 2] - '0') * 8 + s.at[i + 3] - '0');
            i += 3;
        }
        ret_text[out] = byte;
    }
    ret_text[out] = '\0';
    return true;
}

/* Root and mount point of a line that is a cgroup2 mount. */
static bool is_cgroup2(slice line, slice *ret_root, slice *ret_point) {
    slice field;
    for (int i = 0; i < 3; i++) /* id, parent, device */
        if (!take_until(&line, ' ', &field))
            return false;
    if (!take_until(&line, ' ', ret_root) || !take_until(&line, ' ', ret_point))
        return false;
    do { /* options, then optional fields up to a lone dash */
        if (!take_until(&line, ' ', &field))
            return false;
    } while (!is_text(field, "-"));
    return take_until(&line, ' ', &field) && is_text(field, "cgroup2");
}

/* What of `path` lies below `root`; NULL when it does not. */
static const char *below(const char *path, const char *root) {
    size_t size = strlen(root);
    if (strcmp(root, "/") == 0)
        return strcmp(path, "/") == 0 ? "" : path;
    if (strncmp(path, root, size) != 0 || (path[size] != '\0' && path[size] != '/'))
        return NULL;
    return path + size;
}

pp_status pp__linux_decode_cgroup_dir(const char *bytes, size_t size, const char *path, size_t skip,
                                      char *ret_dir, size_t capacity, pp_error *reterr) {
    char root[PP_LINUX_CGROUP_PATH_MAX], point[PP_LINUX_CGROUP_PATH_MAX];
    slice rest = { bytes, size }, line, shown_root, shown_point;
    if (strncmp(path, "/..", 3) == 0)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "cgroup", "%s: of another namespace", path);
    while (take_until(&rest, '\n', &line)) {
        if (!is_cgroup2(line, &shown_root, &shown_point) ||
            !copy_unescaped(shown_root, root, sizeof root) ||
            !copy_unescaped(shown_point, point, sizeof point))
            continue;
        const char *rest_of_path = below(path, root);
        if (rest_of_path == NULL || skip-- > 0)
            continue;
        int length = snprintf(ret_dir, capacity, "%s%s", point, rest_of_path);
        if (length < 0 || (size_t)length >= capacity)
            return pp_fail(reterr, PP_E_NOMEM, 0, "decode", "cgroup: path too long");
        return PP_OK;
    }
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "cgroup", "no cgroup2 mount shows %s", path);
}

bool pp__linux_decode_leaf_name(const char *name, pp_linux_leaf_owner *ret_owner) {
    slice rest = { name, strlen(name) }, pid, start;
    pp_linux_leaf_owner owner;
    uint64_t number;
    if (!begins(rest, LEAF_PREFIX))
        return false;
    rest = (slice){ name + strlen(LEAF_PREFIX), rest.size - strlen(LEAF_PREFIX) };
    if (!take_until(&rest, '-', &pid) || !number_of(pid, &number) || number == 0 ||
        number > INT32_MAX || !take_until(&rest, '-', &start) ||
        !number_of(start, &owner.start_ticks) || !number_of(rest, &owner.namespace))
        return false;
    owner.pid = (int32_t)number;
    *ret_owner = owner;
    return true;
}

bool pp__linux_next_name(const char *bytes, size_t size, size_t *at, const char **ret_name) {
    uint16_t length;
    if (size - *at <= DIRENT_NAME_AT)
        return false;
    memcpy(&length, bytes + *at + DIRENT_LENGTH_AT, sizeof length);
    if (length <= DIRENT_NAME_AT || length > size - *at ||
        memchr(bytes + *at + DIRENT_NAME_AT, '\0', length - DIRENT_NAME_AT) == NULL)
        return false;
    *ret_name = bytes + *at + DIRENT_NAME_AT;
    *at += length;
    return true;
}
