/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_TEST_MEMORY_OF_H
#define PP_TEST_MEMORY_OF_H

#include <string.h>

#include "os.h"

/* One process alone; *ret_memory is written on success. */
static inline pp_status memory_of(pp_os *asked, pp_proc_id id, int64_t deadline_ns,
                                  pp_memory *ret_memory, pp_error *reterr) {
    pp_memory_answer item = { .id = id };
    asked->memory(asked->ctx, &item, 1, deadline_ns);
    if (item.status != PP_OK)
        return pp_fail(reterr, item.status, item.sys_errno, item.op, "pid %d", id.pid);
    *ret_memory = item.memory;
    return PP_OK;
}

#endif
