/* SPDX-License-Identifier: Apache-2.0 */

/* An application that sheds processes, console only.
 *
 *   storm chains N MICROSECONDS  N chains: each forks itself on into a session of its own and ends,
 *                                again and again, that often
 *   storm daemons N              N daemons, each forked twice into a session of its own
 *
 * HOME/ready says so when all of them exist. Ends with 0 on SIGTERM; what it shed does not. No
 * process outlives LIFE_S.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIFE_S = 60, COUNT_MAX = 1000 };

static void hop_on(long microseconds) {
    const struct timespec rest = { .tv_sec = microseconds / 1000000,
                                   .tv_nsec = microseconds % 1000000 * 1000 };
    const time_t end = time(NULL) + LIFE_S;

    while (time(NULL) < end) {
        if (fork() > 0)
            _exit(0);
        (void)setsid();
        (void)nanosleep(&rest, NULL);
    }
    _exit(0);
}

static void stay(void) {
    (void)setsid();
    if (fork() > 0)
        _exit(0);
    (void)signal(SIGTERM, SIG_IGN);
    (void)alarm(LIFE_S);
    for (;;)
        (void)pause();
}

static void shed(const char *kind, long count, long microseconds) {
    for (long i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid < 0)
            exit(70);
        if (pid > 0)
            (void)waitpid(pid, NULL, 0); /* it has gone on */
        else if (strcmp(kind, "chains") == 0)
            hop_on(microseconds);
        else
            stay();
    }
}

static void say_ready(void) {
    const char *home = getenv("HOME");
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/ready", home ? home : ".");
    FILE *file = fopen(path, "w");
    if (!file || fputs("yes\n", file) < 0 || fclose(file) != 0)
        exit(70);
}

int main(int argc, char **argv) {
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    long microseconds = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    sigset_t set;
    int number;

    if (count <= 0 || count > COUNT_MAX) {
        (void)fputs("usage: storm chains N MICROSECONDS | daemons N\n", stderr);
        return 2;
    }
    shed(argv[1], count, microseconds);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    say_ready();
    return sigwait(&set, &number);
}
