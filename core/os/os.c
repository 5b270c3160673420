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
