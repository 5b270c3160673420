/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_CGROUP_SCRIPT_H
#define PAIRPERF_LINUX_CGROUP_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os.h"

/* A scripted cgroup file system under the real Linux host: the leaf's files are scripted by their
 * bare names, and a command that is started there is a real one in no cgroup of its own. */

enum { CG_PID = 90000007, CG_LEAF_ID = 4711, CG_NAMES_MAX = 8 };

#define CG_V1 "30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
#define CG_V2 "40 30 0:37 / /cg\\040two rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
#define CG_NAMESPACE "4026531836"

extern pp_os cg_os;
extern pp_error cg_error;

/* What was asked for, and what is answered. */
typedef struct cg_fs {
    char made[2][128];
    int makes, removes, forks_into, forks;
    int make_errno[2], remove_errno, fork_errno;
    char removed[CG_NAMES_MAX][128];
    char listed[CG_NAMES_MAX][64]; /* what the parent directory holds */
    int listed_count;
    bool listed_told;
    int lock_errno; /* of directories that are not ours */
    bool not_cgroup2;
    uint64_t cgroup_id; /* of every process */
    int cgroup_errno;
    char written[8];
    ssize_t write_result;
} cg_fs;

extern cg_fs cg;

/* Test fixture: an open host. */
int cg_set_up(void **state);
int cg_tear_down(void **state);
/* A file that does not exist. */
void cg_absent(const char *path);
/* Starts /bin/true and reaps it; skips where pidfds are unknown. */
pp_status cg_run_command(void);

#endif
