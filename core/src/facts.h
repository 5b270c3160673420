/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_FACTS_H
#define PAIRPERF_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* What tells one state of a file from another without reading it. The change time is among it
 * because nobody can set it: a content that was exchanged and dressed in its old times shows. */
typedef struct pp__facts {
    mode_t mode;
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
} pp__facts;

pp__facts pp__facts_of(const struct stat *st);
bool pp__facts_equal(const pp__facts *a, const pp__facts *b);

#endif
