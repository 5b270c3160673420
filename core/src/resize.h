/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_RESIZE_H
#define PAIRPERF_RESIZE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* realloc() for `count` items of `size` bytes. NULL, and `memory` stays as it was, when memory is
 * short or the product leaves size_t (reallocarray, which macOS lacks). */
static inline void *pp_resize(void *memory, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return realloc(memory, count * size);
}

#endif
