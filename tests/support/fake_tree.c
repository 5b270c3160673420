/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void on_event(void *ctx, const pp_tree_event *event) {
    fake_tree *f = ctx;

    if (f->event_count < FAKE_TREE_EVENTS)
        f->events[f->event_count] = *event;
    f->event_count++;
}

fake_tree *fake_tree_begin(void **state, bool adopts, const char *const *expected) {
    fake_tree *f = calloc(1, sizeof *f);

    assert_non_null(f);
    fake_init(&f->fake, adopts);
    pp_proc_id leader = fake_add(&f->fake, FAKE_LEADER, FAKE_SELF)->info.id;
    pp_tree_init(&f->tree, &f->fake.os, leader, expected);
    f->tree.on_event = on_event;
    f->tree.event_ctx = f;
    *state = f;
    return f;
}

int fake_tree_set_up(void **state) {
    (void)fake_tree_begin(state, true, NULL);
    return 0;
}

int fake_tree_tear_down(void **state) {
    fake_tree *f = *state;

    pp_tree_done(&f->tree);
    pp_tree_done(&f->tree); /* twice does no harm */
    pp_frame_done(&f->frame);
    free(f);
    return 0;
}

pp_status fake_tree_discover(fake_tree *f) {
    pp_frame_reset(&f->frame);
    return pp_tree_discover(&f->tree, &f->frame);
}

size_t fake_tree_events(const fake_tree *f, pp_tree_event_kind kind, int32_t pid) {
    size_t count = 0;

    assert_in_range(f->event_count, 0, FAKE_TREE_EVENTS);
    for (size_t i = 0; i < f->event_count; i++)
        count += f->events[i].kind == kind && f->events[i].info.id.pid == pid;
    return count;
}
