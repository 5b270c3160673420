/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's leader: starts the tree, announces the endpoint, ends everything on SIGTERM.
 *
 * The children are forked before any thread exists and before the memory is touched: what they
 * and the spawner's children copy of the leader is small and alike in both variants. Exit status
 * 0 means: told to stop, and every child ended well and was reaped.
 */
#include "demo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3 };

static int stop_pipe[2];

static void on_stop(int signal_number) {
    (void)signal_number;
    int saved = errno;
    ssize_t ignored = write(stop_pipe[1], "x", 1);
    (void)ignored;
    errno = saved;
}

static int complain(const char *step) {
    fprintf(stderr, "demo: %s: %s\n", step, strerror(errno));
    return 1;
}

static bool open_pipe(int ends[2]) {
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static void child_main(size_t which, const int life[2], const char *home) {
    /* a signal to the whole group is the leader's to answer; the life line ends the others */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    close(life[1]);
    switch (which) {
    case 0:
        _exit(demo_worker_main(life[0], home));
    case 1:
        _exit(demo_spawner_main(life[0]));
    default:
        _exit(demo_helper_main(life[0]));
    }
}

static bool fork_children(const int life[2], const char *home) {
    for (size_t i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return false;
        if (pid == 0)
            child_main(i, life, home);
    }
    return true;
}

static bool hold_memory(void) {
    size_t size = (size_t)DEMO_LEADER_MIB << 20;
    unsigned char *held =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (held == MAP_FAILED)
        return false;
    memset(held, 0xa5, size); /* kept until the process ends */
    return true;
}

/* The file appears whole or not at all. */
static bool announce(const char *home, uint16_t port) {
    char path[PATH_MAX], temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s/endpoint.url.tmp", home);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return false;
    snprintf(path, sizeof path, "%s/endpoint.url", home);

    FILE *file = fopen(temporary, "w");
    if (!file)
        return false;
    bool written = fprintf(file, "http://127.0.0.1:%u/v1\n", (unsigned)port) > 0;
    written = fclose(file) == 0 && written;
    return written && rename(temporary, path) == 0;
}

/* Burns the leader's share until it is told to stop. False: a child ended by itself. */
static bool run_until_stopped(void) {
    demo_pacer pacer;
    demo_pacer_start(&pacer, DEMO_LEADER_PERCENT);
    while (demo_pacer_wait(&pacer, stop_pipe[0])) {
        if (waitpid(-1, NULL, WNOHANG) != 0)
            return false;
        demo_pacer_tick(&pacer);
    }
    return true;
}

static bool reap_children(void) {
    bool well = true;
    size_t reaped = 0;
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid > 0) {
            reaped++;
            well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        } else if (errno != EINTR) {
            return well && reaped == CHILDREN;
        }
    }
}

int main(void) {
    const char *home = getenv("HOME");
    if (!home || home[0] != '/') {
        fputs("demo: HOME must be an absolute path\n", stderr);
        return 2;
    }
    int life[2];
    if (!open_pipe(stop_pipe) || !open_pipe(life))
        return complain("pipe");
    struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);

    if (!fork_children(life, home))
        return complain("fork"); /* the life line closes with us */
    close(life[0]);

    uint16_t port = 0;
    bool well = hold_memory() && demo_endpoint_start(&port);
    if (!well)
        complain("start");
    else
        well = announce(home, port) && run_until_stopped();
    demo_endpoint_stop();
    close(life[1]);
    return reap_children() && well ? 0 : 1;
}
