/* SPDX-License-Identifier: Apache-2.0 */
/* Pid lists grow by doubling and never hold more than `count` valid entries; a failed append
 * leaves the list as it was. */
#include "os.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

void pp_pid_list_done(pp_pid_list *list) {
    if (list == NULL)
        return;
    free(list->pids);
    *list = (pp_pid_list){ 0 };
}

pp_status pp_pid_list_add(pp_pid_list *list, int32_t pid) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
        int32_t *pids = NULL;
        if (capacity <= SIZE_MAX / sizeof *pids)
            pids = realloc(list->pids, capacity * sizeof *pids);
        if (pids == NULL)
            return PP_E_NOMEM;
        list->pids = pids;
        list->capacity = capacity;
    }
    list->pids[list->count++] = pid;
    return PP_OK;
}

static pp_status no_leaf(pp_error *reterr) {
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "cgroup", "no leaf");
}

static pp_status no_leaf_read(void *ctx, pp_leaf *ret_leaf, pp_error *reterr) {
    (void)ctx;
    (void)ret_leaf;
    return no_leaf(reterr);
}

static pp_status no_leaf_list(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    (void)ctx;
    (void)ret_pids;
    return no_leaf(reterr);
}

static pp_status no_leaf_holds(void *ctx, pp_proc_id id, bool *ret_inside, pp_error *reterr) {
    (void)ctx;
    (void)id;
    (void)ret_inside;
    return no_leaf(reterr);
}

static pp_status no_leaf_here(void *ctx, pp_error *reterr) {
    (void)ctx;
    return no_leaf(reterr);
}

static const char *no_leaf_path(void *ctx) {
    (void)ctx;
    return NULL;
}

void pp_os_without_leaf(pp_os *os) {
    os->leaf_read = no_leaf_read;
    os->leaf_list = no_leaf_list;
    os->leaf_holds = no_leaf_holds;
    os->leaf_empty = no_leaf_here;
    os->leaf_kill = no_leaf_here;
    os->leaf_path = no_leaf_path;
}

static pp_status no_orphans(pp_error *reterr) {
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "orphans", "they do not come to us");
}

static pp_status no_orphan_ended(void *ctx, int32_t pid, pp_error *reterr) {
    (void)ctx;
    (void)pid;
    return no_orphans(reterr);
}

static pp_status no_reap_orphan(void *ctx, int32_t pid, bool briefly, pp_orphan *ret_orphan,
                                pp_error *reterr) {
    (void)ctx;
    (void)pid;
    (void)briefly;
    (void)ret_orphan;
    return no_orphans(reterr);
}

static pp_reading no_own_written(void *ctx) {
    (void)ctx;
    return pp_missing(PP_E_UNSUPPORTED);
}

static pp_status no_kill_children(void *ctx, size_t *ret_count, pp_error *reterr) {
    (void)ctx;
    (void)ret_count;
    return no_orphans(reterr);
}

void pp_os_without_orphans(pp_os *os) {
    os->orphan_ended = no_orphan_ended;
    os->reap_orphan = no_reap_orphan;
    os->own_written = no_own_written;
    os->kill_children = no_kill_children;
}

static pp_notices no_notices(void *ctx) {
    (void)ctx;
    return (pp_notices){ .births = pp_missing(PP_E_UNSUPPORTED) };
}

void pp_os_without_notices(pp_os *os) {
    os->notices = no_notices;
}
