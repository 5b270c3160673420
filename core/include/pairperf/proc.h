/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_PROC_H
#define PAIRPERF_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "pairperf/reading.h"

/* A process. Never a bare pid in anything that outlives one call.
 *
 * start   Linux: start ticks since boot (field 22 of /proc/PID/stat, 10 ms steps)
 *         macOS: start time in microseconds since the epoch, as taken at fork
 * unique  Linux >= 6.9: inode of its pidfd (never reused in a boot); else 0
 */
typedef struct pp_proc_id {
    int32_t pid;
    uint64_t start;
    uint64_t unique;
} pp_proc_id;

static inline bool pp_proc_id_equal(pp_proc_id a, pp_proc_id b) {
    return a.pid == b.pid && a.start == b.start &&
           (a.unique == b.unique || a.unique == 0 || b.unique == 0);
}

#define PP_EXE_MAX 256

/* Life phase as the kernel shows it. A leader whose main thread ended while others run is
 * ALIVE: state Z with more than one thread is no exit. */
typedef enum pp_phase { PP_PHASE_ALIVE = 0, PP_PHASE_STOPPED, PP_PHASE_ZOMBIE } pp_phase;

/* Where a process stands: one validated observation. */
typedef struct pp_proc_info {
    pp_proc_id id;
    int32_t ppid;
    int32_t pgid;
    int32_t sid;
    pp_phase phase;
    uint64_t start_ns;    /* start on the clock that counts sleep (cont_ns), for birth tests */
    bool sigchld_ignored; /* its children are not accounted to it (Linux SigIgn bit) */
    char exe[PP_EXE_MAX]; /* path as first read, else the thread name in [brackets]; bytes,
                             not necessarily UTF-8; cut at 255 */
} pp_proc_info;

/* Counters of one process. Each field may be missing with a reason of its own. */
typedef struct pp_usage {
    pp_reading cpu_ns;                /* own CPU, dead threads included */
    pp_reading child_cpu_ns;          /* CPU of children it waited for (Linux: 10 ms ticks) */
    pp_reading rss_bytes;             /* resident set; shared pages count in every process */
    pp_reading footprint_bytes;       /* macOS phys_footprint */
    pp_reading voluntary_switches;    /* Linux; sum over threads, ended ones as last seen */
    pp_reading involuntary_switches;  /* Linux; likewise */
    pp_reading wakeups_pkg_idle;      /* macOS */
    pp_reading wakeups_interrupt;     /* macOS */
    pp_reading write_bytes;           /* Linux write_bytes; macOS physical bytes written */
    pp_reading cancelled_write_bytes; /* Linux */
    pp_reading logical_write_bytes;   /* macOS: a level that may fall */
    pp_reading billed_energy;         /* macOS: raw, unit and attribution unvalidated */
    pp_reading threads;
    pp_reading faults; /* Linux: page faults without I/O, of itself and of waited-for children */
    pp_reading child_faults;   /* Linux: of the latter alone; no reading of who may be ending */
    bool switches_lower_bound; /* a thread ended: what it did after its last reading is missing */
    bool shares_memory; /* runs in its parent's address space (vfork): no second copy of it */
} pp_usage;

/* Memory that is dear to read (Linux smaps_rollup), on its own fixed cadence. */
typedef struct pp_memory {
    pp_reading pss_bytes;
    pp_reading uss_bytes; /* private clean + private dirty */
    pp_reading swap_bytes;
    pp_reading footprint_pss_bytes; /* Pss_Anon + Pss_Shmem + SwapPss + VmPTE */
} pp_memory;

/* What the kernel counted for all that ever lived in the command's own cgroup (Linux). Memory and
 * I/O are missing with PP_E_UNSUPPORTED where no controller is enabled. */
typedef struct pp_leaf {
    pp_reading cpu_ns, user_ns, system_ns;                        /* steps of 1 us; never fall */
    pp_reading current_bytes, peak_bytes;                         /* all that is charged */
    pp_reading anon_bytes, file_bytes, shmem_bytes, kernel_bytes; /* parts of it */
    pp_reading swap_bytes;
    pp_reading read_bytes, write_bytes; /* of block devices */
} pp_leaf;

/* What the kernel's own notices tell of a tree. */
typedef struct pp_notices {
    /* How many processes were born in the tree so far, the leader included, met or not. Missing:
     * UNSUPPORTED here, or from the first notice on that was lost (ENUMERATION). */
    pp_reading births;
    uint64_t ends; /* how many of them ended; where births is known */
} pp_notices;

/* How a process ended. */
typedef struct pp_exit {
    bool by_signal;
    int code;          /* exit code 0..255 when !by_signal */
    int signal_number; /* when by_signal */
    bool core_dumped;
    pp_reading cpu_ns; /* own + waited-for children, from the reap; missing under plain
                          observation where the system hides it */
} pp_exit;

#endif
