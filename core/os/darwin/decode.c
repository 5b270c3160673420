/* SPDX-License-Identifier: Apache-2.0 */
/* Every record is read at the offsets of darwin_abi.h through memcpy, never through a cast. A
 * record that the kernel cannot have written is malformed as a whole; no field of it is used. Zeros
 * that stand for "no longer known" (memory in an exit record) become missing readings. */
#include "decode.h"

#include <string.h>

#include "darwin_abi.h"
#include "pairperf/counters.h"

#define USEC_PER_SEC UINT64_C(1000000)

static uint8_t get_u8(const void *bytes, size_t at) {
    return ((const uint8_t *)bytes)[at];
}

static int32_t get_i32(const void *bytes, size_t at) {
    int32_t value;
    memcpy(&value, (const uint8_t *)bytes + at, sizeof(value));
    return value;
}

static uint64_t get_u64(const void *bytes, size_t at) {
    uint64_t value;
    memcpy(&value, (const uint8_t *)bytes + at, sizeof(value));
    return value;
}

static void get_name(const void *bytes, size_t at, size_t size, char ret_name[33]) {
    size_t length = size < 32 ? size : 32;
    memcpy(ret_name, (const uint8_t *)bytes + at, length);
    ret_name[length] = '\0';
}

static pp_phase phase_of(uint32_t stat, bool exiting) {
    if (stat == PP_DW_SZOMB || exiting)
        return PP_PHASE_ZOMBIE;
    return stat == PP_DW_SSTOP ? PP_PHASE_STOPPED : PP_PHASE_ALIVE;
}

/* The checks that both records share. */
static pp_status finish_seen(uint64_t sec, uint64_t usec, pp_dw_seen *seen, pp_dw_seen *ret_seen) {
    if (seen->pid <= 0 || seen->ppid < 0 || seen->pgid < 0 || usec >= USEC_PER_SEC || sec == 0 ||
        sec > UINT64_MAX / USEC_PER_SEC - 1)
        return PP_E_MALFORMED;
    seen->start_us = sec * USEC_PER_SEC + usec;
    *ret_seen = *seen;
    return PP_OK;
}

pp_status pp__dw_decode_kinfo(const void *bytes, size_t size, pp_dw_seen *ret_seen) {
    if (size != PP_DW_KINFO_SIZE)
        return PP_E_MALFORMED;
    bool exiting = (get_i32(bytes, PP_DW_KINFO_FLAG) & PP_DW_P_WEXIT) != 0;
    pp_dw_seen seen = {
        .pid = get_i32(bytes, PP_DW_KINFO_PID),
        .ppid = get_i32(bytes, PP_DW_KINFO_PPID),
        .pgid = get_i32(bytes, PP_DW_KINFO_PGID),
        .phase = phase_of(get_u8(bytes, PP_DW_KINFO_STAT), exiting),
    };
    get_name(bytes, PP_DW_KINFO_COMM, PP_DW_KINFO_COMM_SIZE, seen.name);
    return finish_seen(get_u64(bytes, PP_DW_KINFO_START_SEC),
                       (uint32_t)get_i32(bytes, PP_DW_KINFO_START_USEC), &seen, ret_seen);
}

pp_status pp__dw_decode_bsdinfo(const void *bytes, size_t size, pp_dw_seen *ret_seen) {
    if (size != PP_DW_BSDINFO_SIZE)
        return PP_E_MALFORMED;
    bool exiting = (get_i32(bytes, PP_DW_BSDINFO_FLAGS) & PP_DW_PROC_FLAG_INEXIT) != 0;
    pp_dw_seen seen = {
        .pid = get_i32(bytes, PP_DW_BSDINFO_PID),
        .ppid = get_i32(bytes, PP_DW_BSDINFO_PPID),
        .pgid = get_i32(bytes, PP_DW_BSDINFO_PGID),
        .phase = phase_of((uint32_t)get_i32(bytes, PP_DW_BSDINFO_STATUS), exiting),
    };
    get_name(bytes, PP_DW_BSDINFO_NAME, PP_DW_BSDINFO_NAME_SIZE, seen.name);
    if (seen.name[0] == '\0')
        get_name(bytes, PP_DW_BSDINFO_COMM, PP_DW_BSDINFO_COMM_SIZE, seen.name);
    return finish_seen(get_u64(bytes, PP_DW_BSDINFO_START_SEC),
                       get_u64(bytes, PP_DW_BSDINFO_START_USEC), &seen, ret_seen);
}

static pp_reading two_ticks(const void *bytes, size_t one, size_t other, pp_dw_timebase timebase) {
    uint64_t ticks;
    if (__builtin_add_overflow(get_u64(bytes, one), get_u64(bytes, other), &ticks))
        return pp_missing(PP_E_OVERFLOW);
    return pp_ticks_to_ns(ticks, timebase.numer, timebase.denom);
}

size_t pp__dw_rusage_size(int version) {
    if (version >= PP_DW_RUSAGE_V6)
        return PP_DW_RUSAGE_V6_SIZE;
    return version >= PP_DW_RUSAGE_V4 ? PP_DW_RUSAGE_V4_SIZE : PP_DW_RUSAGE_V0_SIZE;
}

void pp__dw_decode_rusage(const void *bytes, int version, pp_dw_timebase timebase,
                          pp_usage *ret_usage) {
    pp_reading none = pp_missing(PP_E_UNSUPPORTED);
    pp_reading gone = pp_missing(PP_E_VANISHED);
    bool exited = get_u64(bytes, PP_DW_RUSAGE_EXIT_ABS) != 0;
    bool v4 = version >= PP_DW_RUSAGE_V4;
    pp_usage usage = {
        .cpu_ns = two_ticks(bytes, PP_DW_RUSAGE_USER, PP_DW_RUSAGE_SYSTEM, timebase),
        .child_cpu_ns = none,
        .rss_bytes = exited ? gone : pp_known(get_u64(bytes, PP_DW_RUSAGE_RESIDENT)),
        .footprint_bytes = exited ? gone : pp_known(get_u64(bytes, PP_DW_RUSAGE_FOOTPRINT)),
        .voluntary_switches = none,
        .involuntary_switches = none,
        .wakeups_pkg_idle = pp_known(get_u64(bytes, PP_DW_RUSAGE_PKG_IDLE)),
        .wakeups_interrupt = pp_known(get_u64(bytes, PP_DW_RUSAGE_INTERRUPT)),
        .write_bytes = none,
        .cancelled_write_bytes = none,
        .logical_write_bytes = none,
        .billed_energy = none,
        .threads = none,
        .faults = none,
        .child_faults = none,
    };
    if (v4) {
        usage.child_cpu_ns =
            two_ticks(bytes, PP_DW_RUSAGE_CHILD_USER, PP_DW_RUSAGE_CHILD_SYSTEM, timebase);
        usage.write_bytes = pp_known(get_u64(bytes, PP_DW_RUSAGE_DISK_WRITTEN));
        usage.logical_write_bytes = pp_known(get_u64(bytes, PP_DW_RUSAGE_LOGICAL_WRITES));
        usage.billed_energy = pp_known(get_u64(bytes, PP_DW_RUSAGE_BILLED_ENERGY));
    }
    *ret_usage = usage;
}

uint64_t pp__dw_rusage_start_ticks(const void *bytes) {
    return get_u64(bytes, PP_DW_RUSAGE_START_ABS);
}

pp_status pp__dw_decode_siginfo(const void *bytes, int32_t pid, pp_exit *ret_exit) {
    int32_t seen_pid = get_i32(bytes, PP_DW_SIGINFO_PID);
    if (seen_pid == 0)
        return PP_E_AGAIN;
    if (seen_pid != pid)
        return PP_E_MALFORMED;

    /* The kernel reports stopped children to every waiter, whatever was asked for. */
    int32_t code = get_i32(bytes, PP_DW_SIGINFO_CODE);
    int32_t status = get_i32(bytes, PP_DW_SIGINFO_STATUS);
    pp_exit how = { .cpu_ns = pp_missing(PP_E_UNSUPPORTED) };
    switch (code) {
    case PP_DW_CLD_EXITED:
        how.code = status & 0xff; /* the kernel carries 24 bits of it, the top byte unreliable */
        break;
    case PP_DW_CLD_KILLED:
    case PP_DW_CLD_DUMPED:
        how.by_signal = true;
        how.signal_number = status & 0x7f;
        how.core_dumped = code == PP_DW_CLD_DUMPED || (status & 0x80) != 0;
        break;
    case PP_DW_CLD_TRAPPED:
    case PP_DW_CLD_STOPPED:
    case PP_DW_CLD_CONTINUED:
        return PP_E_AGAIN;
    default:
        return PP_E_MALFORMED;
    }
    *ret_exit = how;
    return PP_OK;
}
