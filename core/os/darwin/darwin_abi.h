/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DARWIN_ABI_H
#define PAIRPERF_DARWIN_ABI_H

/* Darwin's binary interface as this project reads it: sizes, offsets and constants of its own, so
 * that the decoders run on any system. darwin_abi.c compares every one of them with Apple's headers
 * when it is compiled for Darwin. Values hold for arm64 and x86_64.
 */

/* struct kinfo_proc, sysctl {CTL_KERN, KERN_PROC, ...} */
enum {
    PP_DW_CTL_KERN = 1,
    PP_DW_KERN_PROC = 14,
    PP_DW_KERN_PROC_PID = 1,
    PP_DW_KERN_PROC_PGRP = 2,

    PP_DW_KINFO_SIZE = 648,
    PP_DW_KINFO_START_SEC = 0,  /* 8 bytes */
    PP_DW_KINFO_START_USEC = 8, /* 4 bytes */
    PP_DW_KINFO_FLAG = 32,
    PP_DW_KINFO_STAT = 36, /* 1 byte */
    PP_DW_KINFO_PID = 40,
    PP_DW_KINFO_COMM = 243,
    PP_DW_KINFO_COMM_SIZE = 17,
    PP_DW_KINFO_PPID = 560,
    PP_DW_KINFO_PGID = 564,
};

/* struct proc_bsdinfo, proc_pidinfo(PROC_PIDTBSDINFO) */
enum {
    PP_DW_TBSDINFO = 3,

    PP_DW_BSDINFO_SIZE = 136,
    PP_DW_BSDINFO_FLAGS = 0,
    PP_DW_BSDINFO_STATUS = 4,
    PP_DW_BSDINFO_PID = 12,
    PP_DW_BSDINFO_PPID = 16,
    PP_DW_BSDINFO_COMM = 48,
    PP_DW_BSDINFO_COMM_SIZE = 16,
    PP_DW_BSDINFO_NAME = 64,
    PP_DW_BSDINFO_NAME_SIZE = 32,
    PP_DW_BSDINFO_PGID = 100,
    PP_DW_BSDINFO_START_SEC = 120,
    PP_DW_BSDINFO_START_USEC = 128, /* 8 bytes */
};

/* Process states and flags. p_stat says "runs" for nearly everything alive. */
enum {
    PP_DW_SSTOP = 4,
    PP_DW_SZOMB = 5,
    PP_DW_P_WEXIT = 0x2000,     /* kinfo flag: exit has begun */
    PP_DW_PROC_FLAG_INEXIT = 4, /* bsdinfo flag: the same */
};

/* struct proc_taskinfo, proc_pidinfo(PROC_PIDTASKINFO) */
enum {
    PP_DW_TASKINFO = 4,

    PP_DW_TASKINFO_SIZE = 96,
    PP_DW_TASKINFO_THREADS = 84,
};

/* struct rusage_info_vN, proc_pid_rusage; each version is a prefix of the next */
enum {
    PP_DW_RUSAGE_V0 = 0,
    PP_DW_RUSAGE_V4 = 4,
    PP_DW_RUSAGE_V6 = 6,

    PP_DW_RUSAGE_V0_SIZE = 96,
    PP_DW_RUSAGE_V4_SIZE = 296,
    PP_DW_RUSAGE_V6_SIZE = 464,

    PP_DW_RUSAGE_USER = 16,
    PP_DW_RUSAGE_SYSTEM = 24,
    PP_DW_RUSAGE_PKG_IDLE = 32,
    PP_DW_RUSAGE_INTERRUPT = 40,
    PP_DW_RUSAGE_RESIDENT = 64,
    PP_DW_RUSAGE_FOOTPRINT = 72,
    PP_DW_RUSAGE_START_ABS = 80,
    PP_DW_RUSAGE_EXIT_ABS = 88,
    PP_DW_RUSAGE_CHILD_USER = 96, /* from V1 on */
    PP_DW_RUSAGE_CHILD_SYSTEM = 104,
    PP_DW_RUSAGE_DISK_WRITTEN = 152,
    PP_DW_RUSAGE_LOGICAL_WRITES = 232, /* from V4 on */
    PP_DW_RUSAGE_BILLED_ENERGY = 264,
    PP_DW_RUSAGE_ENERGY_NJ = 336, /* from V6 on */
};

/* siginfo_t and waitid */
enum {
    PP_DW_SIGINFO_SIZE = 104,
    PP_DW_SIGINFO_CODE = 8,
    PP_DW_SIGINFO_PID = 12,
    PP_DW_SIGINFO_STATUS = 20,

    PP_DW_WNOHANG = 0x01,
    PP_DW_WEXITED = 0x04,
    PP_DW_WNOWAIT = 0x20,

    PP_DW_CLD_EXITED = 1,
    PP_DW_CLD_KILLED = 2,
    PP_DW_CLD_DUMPED = 3,
    PP_DW_CLD_TRAPPED = 4,
    PP_DW_CLD_STOPPED = 5,
    PP_DW_CLD_CONTINUED = 6,
};

/* proc_pidpath refuses smaller and larger buffers than 1024..4096 bytes. */
enum { PP_DW_PATH_SIZE = 4096 };

#endif
