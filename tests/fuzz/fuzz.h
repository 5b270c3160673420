/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_FUZZ_H
#define PAIRPERF_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One target per file fuzz_NAME.c; its corpus is tests/fuzz/corpus/NAME. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A finding: what must hold whatever the bytes are. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input in a block of exactly its size, so that reading beyond it is seen. NULL when empty. */
static inline char *exact_copy(const uint8_t *bytes, size_t size) {
    char *copy = size > 0 ? malloc(size) : NULL;
    if (copy != NULL)
        memcpy(copy, bytes, size);
    return copy;
}

/* The same as a string: up to its first NUL. */
static inline char *as_string(const uint8_t *bytes, size_t size) {
    char *copy = malloc(size + 1);
    MUST(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

#endif
