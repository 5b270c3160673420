/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_DARWIN_KERNEL_H
#define PAIRPERF_TEST_DARWIN_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "darwin/adapter.h"

/* A scripted macOS below the real adapter: answers the raw calls in raw bytes, phase by phase as
 * the kernel does, and fails or changes under the caller's hands where a script says so. No
 * threads, no real time, no Apple header. */

enum { DK_SELF = 500, DK_MAX_PROCS = 400, DK_MAX_RULES = 16, DK_MAX_KILLS = 16 };

typedef enum dk_phase { DK_RUNNING = 0, DK_STOPPED, DK_EXITING, DK_ZOMBIE, DK_REAPED } dk_phase;

typedef struct dk_proc {
    int32_t pid, ppid, pgid, sid;
    uint64_t start_us, start_ticks;
    dk_phase phase;
    bool foreign;  /* another effective user */
    bool borrowed; /* a debugger is its parent for now */
    const char *path;
    char name[32];
    int32_t exit_code, exit_status; /* once it is a zombie */
    uint64_t user_ticks, system_ticks, child_user_ticks, child_system_ticks;
    uint64_t pkg_idle, interrupt, resident, footprint, disk_written, logical_writes;
    uint64_t billed_energy;
    bool exit_stamp_early; /* exit time set although listed as running */
    int32_t threads;
} dk_proc;

typedef enum dk_call {
    DK_LISTCHILDREN,
    DK_PIDINFO,
    DK_PIDPATH,
    DK_RUSAGE,
    DK_SYSCTL,
    DK_GETSID,
    DK_WAITID,
    DK_KILL,
    DK_SPAWN,
    DK_CALLS
} dk_call;

typedef struct dk dk;
typedef void (*dk_change)(dk *kernel);

typedef struct dk_rule {
    dk_call call;
    unsigned nth; /* counted per call from 1; 0: every time */
    int fail;     /* errno, or 0 */
    dk_change change;
} dk_rule;

struct dk {
    dk_proc procs[DK_MAX_PROCS];
    size_t count;
    dk_rule rules[DK_MAX_RULES];
    size_t rule_count;
    unsigned calls[DK_CALLS];
    struct {
        int32_t target;
        int signal_number;
    } kills[DK_MAX_KILLS];
    size_t kill_count;

    int max_rusage_version;
    size_t record_size;    /* of a kinfo record */
    int short_by;          /* bytes missing from every pidinfo answer */
    bool hide_groups;      /* group queries succeed with length 0 */
    int32_t foreign_group; /* group number written into the first record of a group, once */
    int32_t wrong_child;   /* pid that waitid reports instead */
    int translated;        /* -1: the name is unknown */
    uint32_t numer, denom;
    int64_t uptime_ns, cont_ns, wall_ns;
    unsigned events;
    unsigned interruptions; /* of events(), before it works */
    pp_dw_watch watch;      /* what events() was last asked to watch */
    int64_t longest_ns;     /* longest timeout it was asked for */
    int32_t spawn_pid;
    const char *spawn_step;
};

/* A kernel with this process (DK_SELF) in it and the adapter over it. */
void dk_init(dk *kernel);
void dk_open(dk *kernel, pp_darwin *ret_darwin, pp_os *ret_os);

/* A running process: a child of DK_SELF that leads its own group, unless changed afterwards. */
dk_proc *dk_add(dk *kernel, int32_t pid);
dk_proc *dk_find(dk *kernel, int32_t pid);
pp_proc_id dk_id(const dk_proc *proc);
void dk_exit(dk_proc *proc, int32_t exit_code, int32_t exit_status);

/* The nth call from now on fails, or the world changes just before it is answered. */
void dk_fail(dk *kernel, dk_call call, unsigned nth, int failure);
void dk_before(dk *kernel, dk_call call, unsigned nth, dk_change change);

#endif
