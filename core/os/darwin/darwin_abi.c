/* SPDX-License-Identifier: Apache-2.0 */
/* No code, only proofs. Compiled for Darwin, every offset, size and constant of darwin_abi.h that
 * the adapter uses is compared with Apple's headers; elsewhere only what the header implies by
 * itself. A layout that moved is a compile error here, never a wrong number in a report. */
#include "darwin_abi.h"

/* Every field lies inside its record; the versions of one record are prefixes of each other. */
_Static_assert(PP_DW_KINFO_PGID + 4 <= PP_DW_KINFO_SIZE, "kinfo");
_Static_assert(PP_DW_BSDINFO_START_USEC + 8 == PP_DW_BSDINFO_SIZE, "bsdinfo");
_Static_assert(PP_DW_TASKINFO_THREADS + 12 == PP_DW_TASKINFO_SIZE, "taskinfo");
_Static_assert(PP_DW_RUSAGE_EXIT_ABS + 8 == PP_DW_RUSAGE_V0_SIZE, "rusage V0");
_Static_assert(PP_DW_RUSAGE_BILLED_ENERGY + 8 < PP_DW_RUSAGE_V4_SIZE, "rusage V4");
_Static_assert(PP_DW_RUSAGE_ENERGY_NJ + 8 < PP_DW_RUSAGE_V6_SIZE, "rusage V6");
_Static_assert(PP_DW_SIGINFO_STATUS + 4 <= PP_DW_SIGINFO_SIZE, "siginfo");

#ifdef __APPLE__
#include <libproc.h>
#include <signal.h>
#include <stddef.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/wait.h>

#define SIZE_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#define FIELD_IS(type, field, at, bytes)                                                           \
    _Static_assert(offsetof(type, field) == (at), #field " moved");                                \
    _Static_assert(sizeof(((type *)0)->field) == (bytes), #field " changed its size")
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

typedef struct kinfo_proc kinfo;
SIZE_IS(kinfo, PP_DW_KINFO_SIZE);
FIELD_IS(kinfo, kp_proc.p_starttime.tv_sec, PP_DW_KINFO_START_SEC, 8);
FIELD_IS(kinfo, kp_proc.p_starttime.tv_usec, PP_DW_KINFO_START_USEC, 4);
FIELD_IS(kinfo, kp_proc.p_flag, PP_DW_KINFO_FLAG, 4);
FIELD_IS(kinfo, kp_proc.p_stat, PP_DW_KINFO_STAT, 1);
FIELD_IS(kinfo, kp_proc.p_pid, PP_DW_KINFO_PID, 4);
FIELD_IS(kinfo, kp_proc.p_comm, PP_DW_KINFO_COMM, PP_DW_KINFO_COMM_SIZE);
FIELD_IS(kinfo, kp_eproc.e_ppid, PP_DW_KINFO_PPID, 4);
FIELD_IS(kinfo, kp_eproc.e_pgid, PP_DW_KINFO_PGID, 4);
SAME(PP_DW_CTL_KERN, CTL_KERN);
SAME(PP_DW_KERN_PROC, KERN_PROC);
SAME(PP_DW_KERN_PROC_PID, KERN_PROC_PID);
SAME(PP_DW_KERN_PROC_PGRP, KERN_PROC_PGRP);

typedef struct proc_bsdinfo bsdinfo;
SIZE_IS(bsdinfo, PP_DW_BSDINFO_SIZE);
FIELD_IS(bsdinfo, pbi_flags, PP_DW_BSDINFO_FLAGS, 4);
FIELD_IS(bsdinfo, pbi_status, PP_DW_BSDINFO_STATUS, 4);
FIELD_IS(bsdinfo, pbi_pid, PP_DW_BSDINFO_PID, 4);
FIELD_IS(bsdinfo, pbi_ppid, PP_DW_BSDINFO_PPID, 4);
FIELD_IS(bsdinfo, pbi_comm, PP_DW_BSDINFO_COMM, PP_DW_BSDINFO_COMM_SIZE);
FIELD_IS(bsdinfo, pbi_name, PP_DW_BSDINFO_NAME, PP_DW_BSDINFO_NAME_SIZE);
FIELD_IS(bsdinfo, pbi_pgid, PP_DW_BSDINFO_PGID, 4);
FIELD_IS(bsdinfo, pbi_start_tvsec, PP_DW_BSDINFO_START_SEC, 8);
FIELD_IS(bsdinfo, pbi_start_tvusec, PP_DW_BSDINFO_START_USEC, 8);
SAME(PP_DW_TBSDINFO, PROC_PIDTBSDINFO);
SAME(PP_DW_SSTOP, SSTOP);
SAME(PP_DW_SZOMB, SZOMB);
SAME(PP_DW_P_WEXIT, P_WEXIT);
SAME(PP_DW_PROC_FLAG_INEXIT, PROC_FLAG_INEXIT);

typedef struct proc_taskinfo taskinfo;
SIZE_IS(taskinfo, PP_DW_TASKINFO_SIZE);
FIELD_IS(taskinfo, pti_threadnum, PP_DW_TASKINFO_THREADS, 4);
SAME(PP_DW_TASKINFO, PROC_PIDTASKINFO);

SIZE_IS(struct rusage_info_v0, PP_DW_RUSAGE_V0_SIZE);
SIZE_IS(struct rusage_info_v4, PP_DW_RUSAGE_V4_SIZE);
SIZE_IS(struct rusage_info_v6, PP_DW_RUSAGE_V6_SIZE);
FIELD_IS(struct rusage_info_v0, ri_user_time, PP_DW_RUSAGE_USER, 8);
FIELD_IS(struct rusage_info_v0, ri_system_time, PP_DW_RUSAGE_SYSTEM, 8);
FIELD_IS(struct rusage_info_v0, ri_pkg_idle_wkups, PP_DW_RUSAGE_PKG_IDLE, 8);
FIELD_IS(struct rusage_info_v0, ri_interrupt_wkups, PP_DW_RUSAGE_INTERRUPT, 8);
FIELD_IS(struct rusage_info_v0, ri_resident_size, PP_DW_RUSAGE_RESIDENT, 8);
FIELD_IS(struct rusage_info_v0, ri_phys_footprint, PP_DW_RUSAGE_FOOTPRINT, 8);
FIELD_IS(struct rusage_info_v0, ri_proc_start_abstime, PP_DW_RUSAGE_START_ABS, 8);
FIELD_IS(struct rusage_info_v0, ri_proc_exit_abstime, PP_DW_RUSAGE_EXIT_ABS, 8);
FIELD_IS(struct rusage_info_v4, ri_user_time, PP_DW_RUSAGE_USER, 8);
FIELD_IS(struct rusage_info_v4, ri_child_user_time, PP_DW_RUSAGE_CHILD_USER, 8);
FIELD_IS(struct rusage_info_v4, ri_child_system_time, PP_DW_RUSAGE_CHILD_SYSTEM, 8);
FIELD_IS(struct rusage_info_v4, ri_diskio_byteswritten, PP_DW_RUSAGE_DISK_WRITTEN, 8);
FIELD_IS(struct rusage_info_v4, ri_logical_writes, PP_DW_RUSAGE_LOGICAL_WRITES, 8);
FIELD_IS(struct rusage_info_v4, ri_billed_energy, PP_DW_RUSAGE_BILLED_ENERGY, 8);
FIELD_IS(struct rusage_info_v6, ri_user_time, PP_DW_RUSAGE_USER, 8);
FIELD_IS(struct rusage_info_v6, ri_child_user_time, PP_DW_RUSAGE_CHILD_USER, 8);
FIELD_IS(struct rusage_info_v6, ri_diskio_byteswritten, PP_DW_RUSAGE_DISK_WRITTEN, 8);
FIELD_IS(struct rusage_info_v6, ri_logical_writes, PP_DW_RUSAGE_LOGICAL_WRITES, 8);
FIELD_IS(struct rusage_info_v6, ri_billed_energy, PP_DW_RUSAGE_BILLED_ENERGY, 8);
FIELD_IS(struct rusage_info_v6, ri_energy_nj, PP_DW_RUSAGE_ENERGY_NJ, 8);
SAME(PP_DW_RUSAGE_V0, RUSAGE_INFO_V0);
SAME(PP_DW_RUSAGE_V4, RUSAGE_INFO_V4);
SAME(PP_DW_RUSAGE_V6, RUSAGE_INFO_V6);

SIZE_IS(siginfo_t, PP_DW_SIGINFO_SIZE);
FIELD_IS(siginfo_t, si_code, PP_DW_SIGINFO_CODE, 4);
FIELD_IS(siginfo_t, si_pid, PP_DW_SIGINFO_PID, 4);
FIELD_IS(siginfo_t, si_status, PP_DW_SIGINFO_STATUS, 4);
SAME(PP_DW_WNOHANG, WNOHANG);
SAME(PP_DW_WEXITED, WEXITED);
SAME(PP_DW_WNOWAIT, WNOWAIT);
SAME(PP_DW_CLD_EXITED, CLD_EXITED);
SAME(PP_DW_CLD_KILLED, CLD_KILLED);
SAME(PP_DW_CLD_DUMPED, CLD_DUMPED);
SAME(PP_DW_CLD_TRAPPED, CLD_TRAPPED);
SAME(PP_DW_CLD_STOPPED, CLD_STOPPED);
SAME(PP_DW_CLD_CONTINUED, CLD_CONTINUED);
SAME(PP_DW_PATH_SIZE, PROC_PIDPATHINFO_MAXSIZE);
#endif
