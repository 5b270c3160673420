/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a supervisor: a thread that takes every child of the process as soon as it ends,
 * as a library that waits for "any child" would. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void *take_all(void *ignored) {
    for (;;)
        if (waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD)
            (void)usleep(1000);
    return ignored;
}

__attribute__((constructor)) static void begin(void) {
    sigset_t all, before;
    pthread_t thread;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    (void)pthread_create(&thread, NULL, take_all, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
