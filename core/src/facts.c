/* SPDX-License-Identifier: Apache-2.0 */
/* Owners, links and attributes count only through the change time. */
#include "facts.h"

#include "platform.h"

pp__facts pp__facts_of(const struct stat *st) {
    return (pp__facts){
        .mode = st->st_mode,
        .dev = (uint64_t)st->st_dev,
        .ino = (uint64_t)st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime_ns = pp_platform_mtime_ns(st),
        .ctime_ns = pp_platform_ctime_ns(st),
    };
}

bool pp__facts_equal(const pp__facts *a, const pp__facts *b) {
    return a->mode == b->mode && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}
