/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_FAKE_OS_H
#define PAIRPERF_TEST_FAKE_OS_H

#include "os.h"

/* A small scripted host: a virtual clock and a table of processes; fake_harness.h adds the channel
 * and what is saved. It does what a test says and nothing by chance. A dead child of a living
 * process is waited for by it at once, or discarded; a dead child of the supervisor stays a zombie
 * until it is reaped.
 */

enum {
    FAKE_SELF = 50, /* the supervisor, and its session */
    FAKE_LEADER = 100,
    FAKE_FAULTS = 100, /* that each is born with */
    FAKE_MAX_PROCS = 768,
    FAKE_MAX_RULES = 16,
    FAKE_MAX_DEEDS = 64,
    FAKE_MAX_TIMERS = 32,
};

typedef enum fake_call {
    FAKE_WAIT = 0,
    FAKE_SPAWN,
    FAKE_OBSERVE,
    FAKE_REAP,
    FAKE_LIST_GROUP,
    FAKE_LIST_CHILDREN,
    FAKE_LIST_OWN,
    FAKE_IDENTIFY,
    FAKE_INSPECT,
    FAKE_USAGE,
    FAKE_MEMORY,
    FAKE_SIGNAL,
    FAKE_SIGNAL_GROUP,
    FAKE_LEAF_READ,
    FAKE_LEAF_LIST,
    FAKE_LEAF_HOLDS,
    FAKE_LEAF_EMPTY,
    FAKE_LEAF_KILL,
    FAKE_ORPHAN_ENDED,
    FAKE_REAP_ORPHAN,
    FAKE_OWN_WRITTEN,
    FAKE_KILL_CHILDREN,
    FAKE_CALLS
} fake_call;

typedef struct fake_os fake_os;
typedef void (*fake_change)(fake_os *fake);

typedef struct fake_proc {
    pp_proc_info info;
    bool gone;       /* reaped: no trace but this entry */
    bool deaf;       /* ignores SIGTERM */
    bool immortal;   /* survives SIGKILL */
    bool discards;   /* its dead children leave it nothing */
    bool hidden;     /* on no list, but the kernel knows it */
    bool outside;    /* of the leaf */
    bool unreadable; /* as an orphan: no look at it succeeds */
    pp_exit exit;
    pp_usage usage;
} fake_proc;

/* The matching calls numbered skip+1 ... skip+times fail, or the world changes before they are
 * answered. */
typedef struct fake_rule {
    fake_call call;
    int32_t pid; /* 0: any */
    unsigned skip, times;
    pp_status status; /* PP_OK: does not fail */
    int sys_errno;
    fake_change change; /* may be NULL */
} fake_rule;

typedef enum fake_deed_kind {
    FAKE_SIGNALLED = 0,
    FAKE_GROUP_SIGNALLED,
    FAKE_REAPED,
    FAKE_LEAF_KILLED
} fake_deed_kind;

/* A signal or a reap, in order. */
typedef struct fake_deed {
    fake_deed_kind kind;
    int32_t pid;
    int signal_number;
    int64_t t_ns;
} fake_deed;

struct fake_os {
    pp_os os;
    int64_t t_ns, asleep_ns; /* cont_ns - t_ns */
    int64_t call_ns;         /* that each call takes; 0: time passes in wait() only */
    unsigned calls[FAKE_CALLS];
    uint64_t own_written;       /* with what was reaped */
    int64_t memory_deadline_ns; /* of the last question for memory */
    fake_proc procs[FAKE_MAX_PROCS];
    size_t proc_count;
    uint64_t born; /* start tokens are 1000 + this */
    fake_rule rules[FAKE_MAX_RULES];
    size_t rule_count;
    fake_deed deeds[FAKE_MAX_DEEDS];
    size_t deed_count;
    bool forgets_deeds; /* there would be too many */
    struct {
        int64_t t_ns; /* INT64_MAX: over */
        fake_change change;
    } timers[FAKE_MAX_TIMERS];
    size_t timer_count;
    unsigned waits;
    bool child_changed;
    fake_change on_spawn; /* right after the leader came to be; may be NULL */
    /* The other end's turn in wait(): true when something arrived. NULL: no channel. */
    bool (*channel)(fake_os *fake, bool want_writable, pp_events *events);
};

/* Everybody is in a leaf from now on, but those that say otherwise. */
void fake_give_leaf(fake_os *fake);

#define FAKE_FOREVER 1000000U /* for `times` */

/* The clock starts at 1000 s. adopts as on Linux; false: as on macOS. */
void fake_init(fake_os *fake, bool adopts);

/* A running process in the leader's group and the supervisor's session, started now. */
fake_proc *fake_add(fake_os *fake, int32_t pid, int32_t ppid);
/* The present owner of this number, NULL when there is none. */
fake_proc *fake_find(fake_os *fake, int32_t pid);
/* setsid: a group and session of its own. */
void fake_escape(fake_os *fake, int32_t pid);
/* Ends with an exit code, or by a signal; its children get the adopter as parent. */
void fake_exit(fake_os *fake, int32_t pid, int code);
void fake_end_by_signal(fake_os *fake, int32_t pid, int signal_number);
/* Somebody reaps it behind our back, and nobody tells us. */
void fake_steal(fake_os *fake, int32_t pid);
void fake_burn(fake_os *fake, int32_t pid, uint64_t cpu_ns);

void fake_rule_add(fake_os *fake, fake_rule rule);
/* Runs `change` once the clock reaches now + in_ns. */
void fake_after(fake_os *fake, int64_t in_ns, fake_change change);

/* Deeds of a kind to a pid (0: any); signal_number 0: any. */
size_t fake_deeds(const fake_os *fake, fake_deed_kind kind, int32_t pid, int signal_number);
/* Index of the first of them, or FAKE_MAX_DEEDS. */
size_t fake_deed_at(const fake_os *fake, fake_deed_kind kind, int32_t pid, int signal_number);

#endif
