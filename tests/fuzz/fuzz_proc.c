/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte chooses a file of /proc or of a cgroup, or what else Linux says in bytes; the rest
 * is what it holds. */
#include "fuzz.h"
#include "linux/decode.h"

enum { CHOICES = 18 };

static void check_reading(pp_reading reading) {
    MUST(reading.known || reading.why != PP_OK);
}

static void decode_process(int choice, const char *text, size_t size) {
    pp_linux_stat stat;
    pp_linux_statm statm;
    pp_linux_io io;
    pp_linux_status status;
    pp_linux_rollup rollup;
    uint64_t value;
    switch (choice) {
    case 0:
        if (pp__linux_decode_stat(text, size, &stat, NULL) == PP_OK)
            MUST(memchr(stat.comm, '\0', sizeof stat.comm) != NULL);
        break;
    case 1:
        (void)pp__linux_decode_statm(text, size, &statm, NULL);
        break;
    case 2:
        (void)pp__linux_decode_schedstat(text, size, &value, NULL);
        break;
    case 3:
        if (pp__linux_decode_io(text, size, &io, NULL) == PP_OK)
            check_reading(io.write_bytes);
        break;
    case 4:
        if (pp__linux_decode_status(text, size, &status, NULL) == PP_OK)
            check_reading(status.rss_bytes);
        break;
    default:
        if (pp__linux_decode_rollup(text, size, &rollup, NULL) == PP_OK)
            check_reading(rollup.swap_pss_bytes);
        break;
    }
}

static void decode_cgroup(int choice, const char *text, size_t size) {
    pp_linux_cpu_stat cpu;
    pp_linux_memory_stat memory;
    bool populated;
    uint64_t one, other;
    char place[64];
    switch (choice) {
    case 6:
        if (pp__linux_decode_cpu_stat(text, size, &cpu, NULL) == PP_OK)
            check_reading(cpu.cpu_ns);
        break;
    case 7:
        if (pp__linux_decode_memory_stat(text, size, &memory, NULL) == PP_OK)
            check_reading(memory.shmem_bytes);
        break;
    case 8:
        (void)pp__linux_decode_populated(text, size, &populated, NULL);
        break;
    case 9:
        (void)pp__linux_decode_figure(text, size, &one, NULL);
        break;
    case 10:
        (void)pp__linux_decode_io_stat(text, size, &one, &other, NULL);
        break;
    case 11:
        if (pp__linux_decode_own_cgroup(text, size, place, sizeof place, NULL) == PP_OK)
            MUST(place[0] == '/' && strlen(place) < sizeof place);
        break;
    default:
        for (size_t skip = 0; skip < 3; skip++)
            if (pp__linux_decode_cgroup_dir(text, size, "/a/b", skip, place, sizeof place, NULL) ==
                PP_OK)
                MUST(strlen(place) < sizeof place);
        break;
    }
}

static void decode_list(int choice, const char *text, size_t size) {
    pp_pid_list list = { 0 };
    pp_linux_leaf_owner owner;
    const char *name;
    size_t at = 0;
    switch (choice) {
    case 13:
        (void)pp__linux_decode_children(text, size, &list, NULL);
        break;
    case 14:
        (void)pp__linux_decode_procs(text, size, &list, NULL);
        break;
    default:
        (void)pp__linux_decode_numbers(text, size, &list, NULL);
        while (pp__linux_next_name(text, size, &at, &name)) {
            MUST(at <= size);
            (void)pp__linux_decode_leaf_name(name, &owner);
        }
        break;
    }
    for (size_t i = 0; i < list.count; i++)
        MUST(list.pids[i] > 0);
    pp_pid_list_done(&list);
}

static void decode_notice(const char *text, size_t size) {
    pp_linux_notice notice;
    if (pp__linux_decode_notice(text, size, &notice, NULL) == PP_OK)
        MUST(notice.kind != PP_LINUX_NOTICE_PROCESS || size >= 76);
}

static void decode_acl(const char *bytes, size_t size) {
    char *text;
    if (pp__linux_decode_acl(bytes, size, &text, NULL) != PP_OK)
        return;
    MUST(size >= 4 && strlen(text) <= (size - 4) / 8 * 24);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0)
        return 0;
    int choice = bytes[0] % CHOICES;
    char *text = exact_copy(bytes + 1, size - 1);
    if (text != NULL && choice < 6)
        decode_process(choice, text, size - 1);
    else if (text != NULL && choice < 13)
        decode_cgroup(choice, text, size - 1);
    else if (text != NULL && choice < 16)
        decode_list(choice, text, size - 1);
    else if (text != NULL && choice < 17)
        decode_notice(text, size - 1);
    else if (text != NULL)
        decode_acl(text, size - 1);
    free(text);
    return 0;
}
