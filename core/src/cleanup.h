/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_CLEANUP_H
#define PAIRPERF_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* One cleanup attribute per resource kind. Each keeps errno, so that an early return may report
 * the error that caused it. pp_take_* moves the resource out, visibly. */

#define PP_AUTO_FD __attribute__((cleanup(pp__auto_close))) int
#define PP_AUTO_DIR __attribute__((cleanup(pp__auto_closedir))) DIR *
#define PP_AUTO_FREE __attribute__((cleanup(pp__auto_free)))

static inline void pp__auto_close(int *fd) {
    int saved = errno;
    if (*fd >= 0)
        close(*fd);
    errno = saved;
}

static inline void pp__auto_closedir(DIR **dir) {
    int saved = errno;
    if (*dir)
        closedir(*dir);
    errno = saved;
}

static inline void pp__auto_free(void *memory) {
    int saved = errno;
    free(*(void **)memory);
    errno = saved;
}

static inline int pp_take_fd(int *fd) {
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
