/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_SCRIPT_H
#define PAIRPERF_LINUX_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linux/linux_sys.h"

/* Scripted processes and files under the real Linux adapter. Pids from SCRIPT_FIRST_PID on exist
 * only here, and so does the pidfd of this process; whatever else is not scripted goes to the
 * running kernel. One script per test program. */

enum { SCRIPT_FIRST_PID = 90000000, SCRIPT_MAX = 128, SCRIPT_MAX_NUMBERS = 32 };

/* One life of one number. */
typedef struct script_proc {
    int32_t pid;
    int32_t pgid;
    uint64_t inode;
    bool gone;             /* reaped: descriptors say ESRCH, the number is free */
    bool foreign;          /* signal 0 says EPERM */
    bool handed_over;      /* reaped as soon as its pidfd was opened */
    bool gone_after_clock; /* reaped as soon as its CPU clock was read */
    int64_t cpu_ns;        /* goes on by 1 when a file is written again: the process has run */
    int cpu_errno;
    int memory_answer, memory_questions; /* 0: its parent's address space; 1: its own; -errno */
    int signal_errno;                    /* answer to real signals */
} script_proc;

/* One file or directory. Belongs to the process of its path, if that is scripted. */
typedef struct script_file {
    char path[96];
    char bytes[16384];
    size_t size;
    bool numbers; /* a directory of these: */
    int32_t entries[SCRIPT_MAX_NUMBERS];
    size_t entry_count;
    bool delivered; /* the directory was read to its end */
    bool endless;   /* ... which it never comes to */
    int open_errno, read_errno;
    int vanishing_opens; /* so many opens say ENOENT first; -1: all */
    int opens, held;     /* how often opened, and not closed yet */
    size_t step;         /* the most one read gives; 0: any */
    size_t at;           /* position of read() */
    bool blocks;         /* reads wait for script_unblock() */
    script_proc *owner;
} script_file;

typedef struct script_signal {
    int calls;
    int number; /* of the last call */
    int target; /* fd or pid */
    unsigned flags;
} script_signal;

typedef struct script {
    pp_linux_sys sys; /* replace what a test wants to answer itself */
    script_proc procs[SCRIPT_MAX];
    size_t proc_count;
    script_file files[SCRIPT_MAX];
    size_t file_count;
    script_signal pidfd_signal, kill; /* numbers other than 0 only */
    int pidfds;                       /* scripted pidfds that are open */
} script;

extern script scripted;

/* Starts over. */
void script_reset(void);
/* A process with its stat, statm, io, status and an empty task list of one thread. */
script_proc *script_process(int32_t pid, uint64_t start_ticks, uint64_t inode);
/* The file at path, made if need be, with this content. */
script_file *script_text(const char *path, const char *text);
/* "/proc/PID/name" of a scripted process. */
script_file *script_of(const script_proc *proc, const char *name, const char *text);
/* A directory that lists these numbers. */
script_file *script_numbers(const char *path, const int32_t *numbers, size_t count);
/* Lets blocked reads go on. */
void script_unblock(script_file *file);
/* Scripted descriptors that are still open, pidfds included. */
int script_open_count(void);

#endif
