/* SPDX-License-Identifier: Apache-2.0 */
/* Every number is checked digit by digit: no sign where none belongs, no wrap, nothing that
 * merely starts like a number. A result is written only when the whole input made sense. */
#include "decode.h"

#include <signal.h>
#include <string.h>

enum {
    /* getdents64 record: ino 8, offset 8, length 2, type 1, name. */
    DIRENT_LENGTH_AT = 16,
    DIRENT_NAME_AT = 19,
    SIGCHLD_BIT = 16, /* signal 17; the same on every architecture we know to run */
};

#define BYTES_PER_KIB UINT64_C(1024)
#define NS_PER_US UINT64_C(1000)

/* What is left to read. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static pp_status malformed(pp_error *reterr, const char *what) {
    return pp_fail(reterr, PP_E_MALFORMED, 0, "decode", "%s", what);
}

static void skip_spaces(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

static inline bool ends_token(const cursor *c) {
    return c->at == c->end ||
           (*c->at <= ' ' && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'));
}

/* Digits up to the end of the token. */
static bool take_u64(cursor *c, uint64_t *ret_value) {
    skip_spaces(c);
    uint64_t value = 0;
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c->at - '0'), &value))
            return false;
    if (c->at == first || !ends_token(c))
        return false;
    *ret_value = value;
    return true;
}

static bool take_i32(cursor *c, int32_t *ret_value) {
    skip_spaces(c);
    bool negative = c->at < c->end && *c->at == '-';
    if (negative)
        c->at++;
    uint64_t value;
    if (!take_u64(c, &value) || value > (uint64_t)INT32_MAX)
        return false;
    *ret_value = negative ? -(int32_t)value : (int32_t)value;
    return true;
}

static bool take_hex(cursor *c, uint64_t *ret_value) {
    skip_spaces(c);
    uint64_t value = 0;
    const char *first = c->at;
    for (; !ends_token(c); c->at++) {
        char digit = *c->at;
        unsigned nibble;
        if (digit >= '0' && digit <= '9')
            nibble = (unsigned)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            nibble = (unsigned)(digit - 'a') + 10;
        else
            return false;
        if (value > UINT64_MAX >> 4)
            return false;
        value = value << 4 | nibble;
    }
    if (c->at == first)
        return false;
    *ret_value = value;
    return true;
}

static bool skip_tokens(cursor *c, int count) {
    for (int i = 0; i < count; i++) {
        skip_spaces(c);
        const char *first = c->at;
        while (!ends_token(c))
            c->at++;
        if (c->at == first)
            return false;
    }
    return true;
}

/* memrchr is not everywhere. */
static const char *last_of(const char *bytes, const char *end, char wanted) {
    const char *last = NULL;
    while ((bytes = memchr(bytes, wanted, (size_t)(end - bytes))) != NULL)
        last = bytes++;
    return last;
}

pp_status pp__linux_decode_stat(const char *bytes, size_t size, pp_linux_stat *ret_stat,
                                pp_error *reterr) {
    const char *open = memchr(bytes, '(', size);
    const char *close = last_of(bytes, bytes + size, ')');
    if (open == NULL || close == NULL || close < open)
        return malformed(reterr, "stat: no bracketed name");

    pp_linux_stat stat = { 0 };
    cursor c = { .at = bytes, .end = open };
    if (!take_i32(&c, &stat.pid) || stat.pid <= 0)
        return malformed(reterr, "stat: pid");
    size_t name_size = (size_t)(close - open) - 1;
    if (name_size >= sizeof stat.comm)
        name_size = sizeof stat.comm - 1;
    memcpy(stat.comm, open + 1, name_size);

    c = (cursor){ .at = close + 1, .end = bytes + size };
    skip_spaces(&c);
    if (c.at == c.end || *c.at < 'A' || *c.at > 'z')
        return malformed(reterr, "stat: state");
    stat.state = *c.at++;
    if (!ends_token(&c))
        return malformed(reterr, "stat: state");
    /* Fields 4 to 6; 10 and 11; 16 and 17; 20; 22. */
    if (!take_i32(&c, &stat.ppid) || !take_i32(&c, &stat.pgid) || !take_i32(&c, &stat.sid))
        return malformed(reterr, "stat: parent, group or session");
    if (!skip_tokens(&c, 3) || !take_u64(&c, &stat.own_faults) || !take_u64(&c, &stat.child_faults))
        return malformed(reterr, "stat: faults");
    if (!skip_tokens(&c, 4) || !take_u64(&c, &stat.child_user_ticks) ||
        !take_u64(&c, &stat.child_system_ticks))
        return malformed(reterr, "stat: times of children");
    if (!skip_tokens(&c, 2) || !take_u64(&c, &stat.threads))
        return malformed(reterr, "stat: threads");
    if (!skip_tokens(&c, 1) || !take_u64(&c, &stat.start_ticks))
        return malformed(reterr, "stat: start");
    uint64_t ignored; /* field 33 */
    if (skip_tokens(&c, 10) && take_u64(&c, &ignored))
        stat.sigchld_ignored = ignored >> (SIGCHLD - 1) & 1;
    *ret_stat = stat;
    return PP_OK;
}

pp_status pp__linux_decode_statm(const char *bytes, size_t size, pp_linux_statm *ret_statm,
                                 pp_error *reterr) {
    pp_linux_statm statm;
    cursor c = { .at = bytes, .end = bytes + size };
    if (!take_u64(&c, &statm.total_pages) || !take_u64(&c, &statm.resident_pages))
        return malformed(reterr, "statm");
    *ret_statm = statm;
    return PP_OK;
}

pp_status pp__linux_decode_schedstat(const char *bytes, size_t size, uint64_t *ret_time_ns,
                                     pp_error *reterr) {
    cursor c = { .at = bytes, .end = bytes + size };
    uint64_t time_ns;
    if (!take_u64(&c, &time_ns))
        return malformed(reterr, "schedstat");
    *ret_time_ns = time_ns;
    return PP_OK;
}

/* One wanted line of a "Key: value" file. */
typedef struct key {
    const char *name; /* with its colon or space */
    enum { UNIT_NONE, UNIT_KIB, UNIT_HEX, UNIT_US } unit;
    pp_reading *ret_value;
} key;

static bool take_value(cursor *c, const key *wanted) {
    uint64_t value;
    if (wanted->unit == UNIT_HEX ? !take_hex(c, &value) : !take_u64(c, &value))
        return false;
    if (wanted->unit == UNIT_KIB) {
        skip_spaces(c);
        if (c->end - c->at < 2 || memcmp(c->at, "kB", 2) != 0 ||
            __builtin_mul_overflow(value, BYTES_PER_KIB, &value))
            return false;
    }
    if (wanted->unit == UNIT_US && __builtin_mul_overflow(value, NS_PER_US, &value))
        return false;
    *wanted->ret_value = pp_known(value);
    return true;
}

/* Reads the wanted keys; one that does not occur stays missing with PP_E_UNSUPPORTED. */
static pp_status take_keys(const char *bytes, size_t size, const key *keys, size_t count,
                           pp_error *reterr) {
    uint32_t initials = 0; /* most lines begin like none of the keys */
    for (size_t i = 0; i < count; i++) {
        *keys[i].ret_value = pp_missing(PP_E_UNSUPPORTED);
        initials |= UINT32_C(1) << (*keys[i].name & 31);
    }

    const char *end = bytes + size;
    for (const char *line = bytes; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL)
            return malformed(reterr, "last line has no end");
        for (size_t i = 0; i < count && (initials >> (*line & 31) & 1) != 0; i++) {
            size_t name_size = strlen(keys[i].name);
            if (*line != *keys[i].name || (size_t)(newline - line) < name_size ||
                memcmp(line, keys[i].name, name_size) != 0)
                continue;
            cursor c = { .at = line + name_size, .end = newline };
            if (!take_value(&c, &keys[i]))
                return malformed(reterr, keys[i].name);
        }
        line = newline + 1;
    }
    return PP_OK;
}

pp_status pp__linux_decode_io(const char *bytes, size_t size, pp_linux_io *ret_io,
                              pp_error *reterr) {
    pp_linux_io io;
    const key keys[] = {
        { "write_bytes:", UNIT_NONE, &io.write_bytes },
        { "cancelled_write_bytes:", UNIT_NONE, &io.cancelled_write_bytes },
    };
    pp_status status = take_keys(bytes, size, keys, sizeof keys / sizeof *keys, reterr);
    if (status == PP_OK)
        *ret_io = io;
    return status;
}

pp_status pp__linux_decode_status(const char *bytes, size_t size, pp_linux_status *ret_status,
                                  pp_error *reterr) {
    pp_reading ignored;
    pp_linux_status decoded;
    const key keys[] = {
        { "SigIgn:", UNIT_HEX, &ignored },
        { "voluntary_ctxt_switches:", UNIT_NONE, &decoded.voluntary_switches },
        { "nonvoluntary_ctxt_switches:", UNIT_NONE, &decoded.involuntary_switches },
        { "VmPTE:", UNIT_KIB, &decoded.page_table_bytes },
        { "VmRSS:", UNIT_KIB, &decoded.rss_bytes },
    };
    pp_status status = take_keys(bytes, size, keys, sizeof keys / sizeof *keys, reterr);
    if (status != PP_OK)
        return status;
    if (!ignored.known)
        return malformed(reterr, "status: no SigIgn");
    decoded.sigchld_ignored = (ignored.value >> SIGCHLD_BIT & 1) != 0;
    *ret_status = decoded;
    return PP_OK;
}

pp_status pp__linux_decode_rollup(const char *bytes, size_t size, pp_linux_rollup *ret_rollup,
                                  pp_error *reterr) {
    pp_linux_rollup rollup;
    const key keys[] = {
        { "Rss:", UNIT_KIB, &rollup.rss_bytes },
        { "Pss:", UNIT_KIB, &rollup.pss_bytes },
        { "Pss_Anon:", UNIT_KIB, &rollup.pss_anon_bytes },
        { "Pss_Shmem:", UNIT_KIB, &rollup.pss_shmem_bytes },
        { "Private_Clean:", UNIT_KIB, &rollup.private_clean_bytes },
        { "Private_Dirty:", UNIT_KIB, &rollup.private_dirty_bytes },
        { "Swap:", UNIT_KIB, &rollup.swap_bytes },
        { "SwapPss:", UNIT_KIB, &rollup.swap_pss_bytes },
    };
    pp_status status = take_keys(bytes, size, keys, sizeof keys / sizeof *keys, reterr);
    if (status == PP_OK)
        *ret_rollup = rollup;
    return status;
}

pp_status pp__linux_decode_cpu_stat(const char *bytes, size_t size, pp_linux_cpu_stat *ret_stat,
                                    pp_error *reterr) {
    pp_linux_cpu_stat stat;
    const key keys[] = {
        { "usage_usec ", UNIT_US, &stat.cpu_ns },
        { "user_usec ", UNIT_US, &stat.user_ns },
        { "system_usec ", UNIT_US, &stat.system_ns },
    };
    pp_status status = take_keys(bytes, size, keys, sizeof keys / sizeof *keys, reterr);
    if (status != PP_OK)
        return status;
    if (!stat.cpu_ns.known)
        return malformed(reterr, "cpu.stat: no usage_usec");
    *ret_stat = stat;
    return PP_OK;
}

pp_status pp__linux_decode_memory_stat(const char *bytes, size_t size,
                                       pp_linux_memory_stat *ret_stat, pp_error *reterr) {
    pp_linux_memory_stat stat;
    const key keys[] = {
        { "anon ", UNIT_NONE, &stat.anon_bytes },
        { "file ", UNIT_NONE, &stat.file_bytes },
        { "kernel ", UNIT_NONE, &stat.kernel_bytes },
        { "shmem ", UNIT_NONE, &stat.shmem_bytes },
    };
    pp_status status = take_keys(bytes, size, keys, sizeof keys / sizeof *keys, reterr);
    if (status == PP_OK)
        *ret_stat = stat;
    return status;
}

pp_status pp__linux_decode_populated(const char *bytes, size_t size, bool *ret_populated,
                                     pp_error *reterr) {
    pp_reading populated;
    const key keys[] = { { "populated ", UNIT_NONE, &populated } };
    pp_status status = take_keys(bytes, size, keys, 1, reterr);
    if (status != PP_OK)
        return status;
    if (!populated.known || populated.value > 1)
        return malformed(reterr, "cgroup.events: populated");
    *ret_populated = populated.value == 1;
    return PP_OK;
}

pp_status pp__linux_decode_children(const char *bytes, size_t size, pp_pid_list *list,
                                    pp_error *reterr) {
    cursor c = { .at = bytes, .end = bytes + size };
    for (skip_spaces(&c); c.at < c.end; skip_spaces(&c)) {
        int32_t pid;
        if (!take_i32(&c, &pid) || pid <= 0)
            return malformed(reterr, "children");
        if (pp_pid_list_add(list, pid) != PP_OK)
            return pp_fail(reterr, PP_E_NOMEM, 0, "decode", "children");
    }
    return PP_OK;
}

pp_status pp__linux_decode_numbers(const char *bytes, size_t size, pp_pid_list *list,
                                   pp_error *reterr) {
    for (size_t at = 0; at < size;) {
        uint16_t length;
        if (size - at <= DIRENT_NAME_AT)
            return malformed(reterr, "directory entry");
        memcpy(&length, bytes + at + DIRENT_LENGTH_AT, sizeof length);
        if (length <= DIRENT_NAME_AT || length > size - at)
            return malformed(reterr, "directory entry");
        const char *name = bytes + at + DIRENT_NAME_AT;
        const char *end = memchr(name, '\0', length - DIRENT_NAME_AT);
        if (end == NULL)
            return malformed(reterr, "directory entry");
        cursor c = { .at = name, .end = end };
        uint64_t number;
        if (name < end && *name >= '0' && *name <= '9' && take_u64(&c, &number) && c.at == end &&
            number > 0 && number <= INT32_MAX && pp_pid_list_add(list, (int32_t)number) != PP_OK)
            return pp_fail(reterr, PP_E_NOMEM, 0, "decode", "directory");
        at += length;
    }
    return PP_OK;
}
