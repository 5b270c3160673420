/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_TREE_WALK_H
#define PP_TREE_WALK_H

#include "pid_map.h"
#include "tree_private.h"

/* Why a number is looked at. */
typedef enum pp_listed {
    PP_LISTED_NOT = 0, /* it was a member's, or in doubt */
    PP_LISTED_PERHAPS, /* as a child by whoever has the number of a member that was not proven */
    PP_LISTED_SURELY   /* by a list that is the tree's own */
} pp_listed;

/* One that was looked at and not proven to be ours. */
typedef struct pp_stranger {
    int32_t pid, ppid;
    pp_listed listed;
    bool in_doubt; /* nor not to be */
} pp_stranger;

/* What one pass over the tree knows. The second part is for reading counters. */
typedef struct pp_tree_walk {
    pp_tree *tree;
    pp_frame *frame;
    pp_pid_list queue;      /* candidates in the order of discovery; a stranger may come again */
    pp_pid_map queued;      /* pp_listed */
    pp_stranger *strangers; /* met so far */
    size_t stranger_count, stranger_capacity;
    pp_pid_map own;     /* the supervisor's children: the leader and adopted orphans */
    pp_pid_list leaf;   /* who lives in the tree's own cgroup */
    pp_pid_map in_leaf; /* the same */
    int64_t orphans_ns; /* spent on those that ended */
    size_t orphans;     /* how many */
    int64_t started_cont_ns;
    bool told_of_nobody;   /* by the notices, since a pass that met everybody */
    bool nobody_new;       /* so these are believed: lists of children are not read */
    bool surprised;        /* there was one all the same */
    pp_status leaf_status; /* PP_OK: that list is whole; UNSUPPORTED: there is no such cgroup */

    pp_pid_map orphans_of; /* parents of what vanished in this pass */
    pp_pid_list reread;    /* those that were read again, and whom they waited for since */
    pp_debts debts;        /* what those parents must have been given for them */
    pp_pid_list line;      /* from one that is to be counted up to its topmost uncounted parent */
} pp_tree_walk;

void pp__tree_walk_done(pp_tree_walk *w);
/* Something went wrong, so that the frame's lists are not whole. PP_OK: nothing did. */
void pp__tree_walk_lacks(pp_tree_walk *w, pp_status why);
/* The member vanished, or its number is another's by now. */
void pp__tree_walk_gone(pp_tree_walk *w, size_t index, pp_status status);
/* Looks at everybody; reads no counters. */
void pp__tree_walk_discover(pp_tree_walk *w);

#endif
