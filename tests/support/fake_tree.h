/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_FAKE_TREE_H
#define PAIRPERF_TEST_FAKE_TREE_H

#include "fake_os.h"
#include "pairperf/tree.h"

enum { FAKE_TREE_EVENTS = 256 };

/* A leader on a fake host and the tree that knows it: what tests of the tracker begin with. */
typedef struct fake_tree {
    fake_os fake;
    pp_tree tree;
    pp_frame frame;
    pp_tree_event events[FAKE_TREE_EVENTS]; /* the first ones, as they were told */
    size_t event_count;                     /* all of them */
} fake_tree;

/* In *state, on a host that adopts, or not; `expected` as for pp_tree_init(). */
fake_tree *fake_tree_begin(void **state, bool adopts, const char *const *expected);
int fake_tree_set_up(void **state);
int fake_tree_tear_down(void **state);

/* Into a frame of its own. */
pp_status fake_tree_discover(fake_tree *f);
size_t fake_tree_events(const fake_tree *f, pp_tree_event_kind kind, int32_t pid);

#endif
