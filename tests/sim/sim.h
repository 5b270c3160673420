/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os.h"

/* A simulated kernel with processes that misbehave, and a simulated harness, under the supervisor's
 * real loop. One schedule = one seed: what the seed does not decide does not vary. Time is virtual;
 * it advances in wait() and, in racy schedules, inside every other call as well.
 */

#define SIM_MS 1000000LL
#define SIM_SECOND 1000000000LL
#define SIM_NEVER INT64_MAX
#define SIM_PROCS_MAX 320 /* ever born in one schedule */
#define SIM_PIDS_MAX 512

/* ---- random numbers (rng.c) ---- */
typedef struct sim_rng {
    uint64_t state;
} sim_rng;
uint64_t sim_hash(uint64_t a, uint64_t b);
uint64_t sim_next(sim_rng *rng);
uint64_t sim_below(sim_rng *rng, uint64_t limit);
bool sim_chance(sim_rng *rng, unsigned permille);
int64_t sim_between(sim_rng *rng, int64_t low, int64_t high);
/* Spread over the orders of magnitude between low and high. */
int64_t sim_delay(sim_rng *rng, int64_t low, int64_t high);

/* ---- what a schedule is about (plan.c) ---- */
typedef struct sim_plan {
    uint64_t seed;
    bool linux_rules; /* else Darwin's */
    bool racy;        /* the world moves between any two calls; else only in wait() */
    bool has_unique;  /* Linux >= 6.9 */
    bool hidepid;
    unsigned pids;        /* numbers in use: 2 .. pids - 1 */
    unsigned reuse;       /* permille: take the number freed last */
    unsigned births;      /* of the tree, at most */
    unsigned strangers;   /* born while it runs */
    unsigned jump;        /* permille per call: descheduled until the next event (racy) */
    unsigned fault;       /* permille per (call, process, 20 ms): fails with its own status */
    unsigned deny;        /* permille of processes whose counters are denied for ever */
    unsigned foreign;     /* permille of births that change the uid */
    unsigned stuck;       /* permille of processes that cannot be killed for long */
    unsigned deaf;        /* permille of processes that ignore SIGTERM */
    unsigned ignorers;    /* permille of processes that ignore SIGCHLD */
    bool crowd;           /* parents that wait at once for many short-lived children */
    bool hops;            /* processes leave group and session */
    bool leaf;            /* the tree has a cgroup of its own */
    unsigned leavers;     /* permille of processes that move out of it, per act */
    bool notices;         /* of births and ends */
    int64_t deaf_ns;      /* from then on they are lost; SIM_NEVER */
    int64_t thief_ns;     /* after the leader's exit somebody else reaps it; SIM_NEVER */
    int64_t debugger_ns;  /* a debugger borrows the leader */
    int64_t suspend_ns;   /* the machine sleeps; then every so often the wall clock steps */
    int64_t kill_most_ns; /* a killed process is gone within */
    /* the command */
    bool spawn_fails;
    bool track, reap_escapees, expect_helpers;
    int64_t interval_ns;
    int64_t latest_end_ns; /* after the start; 0: none */
    /* the harness */
    unsigned windows;
    int64_t stop_after_ns; /* SIM_NEVER: it never asks */
    bool stop_twice;
    bool group_first;
    int64_t grace_ns, verify_ns;
    int64_t death_ns;  /* of the harness; SIM_NEVER: it survives */
    bool hung;         /* stops reading and writing at death_ns, dies much later */
    bool babbles;      /* sends something impossible at death_ns */
    unsigned ack_mode; /* 0 at once, 1 once in a while, 2 never before the verdict */
    size_t capacity, chunk;
    int64_t latency_most_ns;
    bool save_fails;
    unsigned save_fails_at; /* counted from 1, this one alone; 0: none */
    bool losing;            /* what is on its way dies with the harness */
} sim_plan;
void sim_plan_make(sim_plan *plan, uint64_t seed, bool linux_rules);
/* Nothing in it keeps a whole proof from being reached. */
bool sim_plan_is_clean(const sim_plan *plan);

/* ---- processes (world.c, behave.c) ---- */
typedef enum sim_state { SIM_ALIVE = 0, SIM_EXITING, SIM_ZOMBIE, SIM_GONE } sim_state;
enum { SIM_KERNEL = 0, SIM_SUPERVISOR, SIM_HARNESS, SIM_DEBUGGER, SIM_FIRST };

typedef struct sim_proc {
    int32_t pid, pgid, sid;
    int parent;      /* index */
    int real_parent; /* while a debugger has it: to whom it goes back */
    sim_state state;
    pp_proc_id id;
    int64_t born_ns, ended_ns;
    int64_t start_cont_ns;
    bool ours; /* descends from the leader */
    bool is_leader;
    bool stopped, foreign, denied, sigchld_ignored, deaf, helper, stuck;
    bool doomed; /* a deadly signal is on its way: no more forks */
    bool term_pending;
    bool ever_outside; /* of the leader's group or the session it was started in */
    bool in_leaf;
    int64_t left_leaf_ns; /* when it moved out; SIM_NEVER: never */
    uint64_t leaf_cpu_ns; /* that it had then */
    int64_t joined_ns;    /* its present group */
    unsigned weight[8];
    unsigned reaps;   /* 0 never, 1 promptly, 2 late */
    unsigned on_term; /* 0 dies, 1 dies late, 2 forks and dies */
    unsigned depth;
    int64_t pace_ns;
    pp_exit exit;
    uint64_t cpu_permille; /* of the time it lives */
    uint64_t child_cpu_ns, write_rate, absorbed_bytes;
    uint64_t child_faults;
    bool no_wait;   /* SA_NOCLDWAIT: its children leave no zombies, and nothing shows it */
    bool discarded; /* a child of its own was lost that way */
    bool lost_cpu;  /* somebody below it was never waited for */
    int64_t act_ns, die_ns, reap_ns, next_ns;
    int die_signal;
    sim_rng rng;
    /* what the supervisor was told */
    bool identified, recorded;
    bool seen_outside;         /* by looks at a member before and after a wait */
    bool told_escaped;         /* the verdict names it */
    uint64_t outside_in_round; /* of waits, when it was seen outside; 0: it was seen inside */
    int64_t identified_ns;
    unsigned exit_records;
    bool listed;
} sim_proc;

/* A counter reading as it was given out. */
typedef struct sim_given {
    int64_t t_ns;
    int proc;
    pp_status status;
    bool is_memory;
    bool zombie;
    pp_usage usage;
    pp_memory memory;
} sim_given;

typedef struct sim_record {
    uint64_t seq;
    uint16_t type;
    bool written, saved;
    pp_reading live_rss;
    char *line;
    size_t size;
} sim_record;

typedef struct sim_harness {
    int64_t next_ns, read_ns, command_ns, ack_ns;
    unsigned command;
    bool dead, deaf, closed_seen, spawned, spawn_failed, window_open, verdict;
    int64_t died_ns;
    uint64_t written_seq;
    unsigned char *inbox, *outbox; /* to the supervisor, from it */
    size_t inbox_size, inbox_capacity, outbox_size, outbox_capacity;
    sim_record *records;
    size_t record_count, record_capacity;
    uint64_t saved_seq[2]; /* last one in the file of events, of frames */
    uint32_t window;
    sim_rng rng;
} sim_harness;

typedef struct sim_world {
    sim_plan plan;
    sim_rng rng;
    sim_rng order; /* of lists; apart, so that it decides nothing else */
    bool shuffled;
    bool trace;
    bool audited; /* records are parsed and compared with what was given */
    int64_t now_ns, slept_ns, wall_ns, born_ns;
    int64_t lost_ns; /* that calls took or a scheduler took away, since the stop began */
    uint64_t calls, rounds;
    sim_proc procs[SIM_PROCS_MAX];
    int count;
    int live[SIM_PROCS_MAX]; /* indices, not GONE */
    int live_count;
    int16_t by_pid[SIM_PIDS_MAX];
    int32_t last_pid, freed_pid;
    int64_t freed_ns;
    unsigned births, strangers;
    unsigned saves; /* tried */
    int64_t stranger_ns, thief_ns, debugger_ns, suspend_ns, step_ns;
    int leader; /* index; 0: none */
    bool child_pending;
    sim_harness harness;
    sim_given *given;
    size_t given_count, given_capacity;
    /* what the oracle knows of the supervisor */
    bool asked_to_stop, told_exited, told_lost, leader_reaped, leader_stolen, swept_at_end;
    int64_t bound_ns, kill_earliest_ns, latest_ns, lost_leader_ns;
    bool list_whole, list_dirty, verified_before;
    int64_t list_ns;
    int32_t listed[SIM_PROCS_MAX];
    size_t listed_count;                /* not confirmed yet */
    bool list_alone, list_alone_before; /* only the exited leader was in the last two lists */
    bool killed_group, refused_signal;
    bool at_end; /* own_cost() was asked: the verdict is made */
    int64_t end_ns;
    bool pressed; /* the channel took less than there was, so that bytes decide about time */
    int alive_at_end, recorded_at_end, members_at_end, in_leaf_at_end;
    uint64_t cpu_at_end, write_at_end;
    bool zombie_held;     /* a zombie in the group had a living parent outside it */
    bool joined_late;     /* somebody came into the group after its SIGKILL */
    bool lossy;           /* some CPU was lost to nobody's count */
    bool leaf_killed;     /* cgroup.kill was written */
    uint64_t own_written; /* by what the supervisor reaped */
    uint64_t tree_births, tree_ends;
    /* verdict */
    pp_status result;
    char verdict[40];
    bool forced;
    char failure[400]; /* the first broken property; empty: none */
} sim_world;

void sim_fail(sim_world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_trace(sim_world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

void sim_world_init(sim_world *w, const sim_plan *plan);
void sim_world_done(sim_world *w);
/* Runs everything that is due up to t_ns and leaves the clock there. */
void sim_run_until(sim_world *w, int64_t t_ns);
int64_t sim_next_event(const sim_world *w);
sim_proc *sim_find(sim_world *w, int32_t pid);
int sim_birth(sim_world *w, int parent);
void sim_reaped(sim_world *w, sim_proc *p);
void sim_move(sim_world *w, sim_proc *p, int32_t pgid, int32_t sid);
void sim_signal(sim_world *w, sim_proc *p, int number);
void sim_end(sim_world *w, sim_proc *p, int code, int number);
uint64_t sim_cpu_ns(const sim_world *w, const sim_proc *p);
uint64_t sim_written(const sim_world *w, const sim_proc *p);
/* Its page faults, and those of the children it waited for. */
uint64_t sim_faults(const sim_world *w, const sim_proc *p);
/* CPU of all that ever belonged to the tree, at t_ns. */
uint64_t sim_true_cpu(const sim_world *w, int64_t t_ns);
uint64_t sim_true_written(const sim_world *w, int64_t t_ns);
/* The same for what was used inside the leaf. */
uint64_t sim_leaf_cpu(const sim_world *w);
void sim_leave_leaf(sim_world *w, sim_proc *p);
void sim_schedule(sim_proc *p);
void sim_behave_born(sim_world *w, sim_proc *p, const sim_proc *parent);
void sim_behave(sim_world *w, sim_proc *p);
void sim_behave_term(sim_world *w, sim_proc *p);

/* ---- the host (host.c, host_read.c) and the other end (harness.c) ---- */
void sim_host(sim_world *w, pp_os *ret_os);
void sim_host_reads(pp_os *os);
/* Where a process stands, if that can be read now. */
pp_status sim_look(sim_world *w, sim_proc *p, pp_proc_info *ret_info, pp_error *reterr);
void sim_host_leaf(pp_os *os);
/* Before every call: time passes, the world may move. */
void sim_call(sim_world *w, const char *name);
/* Does this kind of call on this process fail now, and how? */
pp_status sim_fault(sim_world *w, unsigned kind, int about);
enum { SIM_F_LIST = 1, SIM_F_LOOK, SIM_F_USAGE, SIM_F_MEMORY, SIM_F_WAIT, SIM_F_LEAF };
void sim_harness_init(sim_world *w);
void sim_harness_done(sim_harness *h);
void sim_harness_schedule(sim_world *w);
void sim_harness_run(sim_world *w);
void sim_harness_receive(sim_world *w, const void *bytes, size_t size);
void sim_harness_saved(sim_world *w, const void *line, size_t size, bool frame);
const char *sim_build_id(void);

/* ---- properties (oracle.c, audit.c) ---- */
void sim_oracle_signal(sim_world *w, pp_proc_id id, const sim_proc *target, int number);
void sim_oracle_signal_group(sim_world *w, pp_proc_id leader, int number);
void sim_oracle_leaf_kill(sim_world *w);
void sim_oracle_kill_child(sim_world *w, const sim_proc *target);
void sim_oracle_reap(sim_world *w, const sim_proc *p);
void sim_oracle_list(sim_world *w, pp_status status, const pp_pid_list *list);
void sim_oracle_identified(sim_world *w, int32_t pid, pp_status status, const pp_proc_info *info);
void sim_oracle_stop(sim_world *w, int64_t grace_ns, int64_t verify_ns);
void sim_oracle_death(sim_world *w);
void sim_oracle_verdict(sim_world *w);
void sim_oracle_end(sim_world *w);
void sim_audit(sim_world *w);

#endif
