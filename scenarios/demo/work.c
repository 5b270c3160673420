/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo's processes burn, write and fork.
 *
 * Work is asked for by the CPU clock and due at absolute times, so the cost of a window does not
 * depend on how fast the machine is or on when a process was scheduled.
 */
#include "demo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS (DEMO_TICK_MS * DEMO_NS_PER_MS)
#define WRITE_NS (250 * DEMO_NS_PER_MS)
#define WRITE_BYTES (DEMO_WRITE_KIB_PER_S * 1024 / 4)
/* whole pages, or the kernel counts a page twice */
_Static_assert(WRITE_BYTES % 4096 == 0, "a write is a number of pages");

int64_t demo_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void demo_sleep_until(int64_t t_ns) {
    for (;;) {
        int64_t left = t_ns - demo_clock_ns(CLOCK_MONOTONIC);
        if (left <= 0)
            return;
        struct timespec pause = { .tv_sec = (time_t)(left / 1000000000),
                                  .tv_nsec = (long)(left % 1000000000) };
        nanosleep(&pause, NULL);
    }
}

/* CPU of this process and of the children that it has reaped. */
static int64_t cpu_ns(void) {
    struct rusage reaped;
    getrusage(RUSAGE_CHILDREN, &reaped);
    int64_t s = reaped.ru_utime.tv_sec + reaped.ru_stime.tv_sec;
    int64_t us = reaped.ru_utime.tv_usec + reaped.ru_stime.tv_usec;
    return demo_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + s * 1000000000 + us * 1000;
}

static void burn_until(int64_t due_ns) {
    while (cpu_ns() < due_ns) {
        for (volatile unsigned i = 0; i < 2000; i++)
            ;
    }
}

void demo_pacer_start(demo_pacer *pacer, int percent) {
    int64_t now = demo_clock_ns(CLOCK_MONOTONIC);
    *pacer = (demo_pacer){
        .start_ns = now, .start_cpu_ns = cpu_ns(), .next_ns = now + TICK_NS, .percent = percent
    };
}

bool demo_pacer_wait(const demo_pacer *pacer, int fd) {
    for (;;) {
        int64_t left = pacer->next_ns - demo_clock_ns(CLOCK_MONOTONIC);
        if (left <= 0)
            return true;
        struct pollfd watched = { .fd = fd, .events = POLLIN };
        int ready = poll(&watched, 1, (int)((left + DEMO_NS_PER_MS - 1) / DEMO_NS_PER_MS));
        if (ready > 0)
            return false;
    }
}

void demo_pacer_tick(demo_pacer *pacer) {
    int64_t now = demo_clock_ns(CLOCK_MONOTONIC);
    int64_t due = pacer->start_cpu_ns + (now - pacer->start_ns) / 100 * pacer->percent;
    int64_t most = cpu_ns() + TICK_NS;
    burn_until(due < most ? due : most);

    now = demo_clock_ns(CLOCK_MONOTONIC);
    do
        pacer->next_ns += TICK_NS;
    while (pacer->next_ns <= now);
}

static bool append(int fd) {
    static const char zeros[WRITE_BYTES];
    size_t done = 0;
    while (done < sizeof zeros) {
        ssize_t n = write(fd, zeros + done, sizeof zeros - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

int demo_worker_main(int life_fd, const char *home) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/worker.dat", home);
    if (length < 0 || (size_t)length >= sizeof path)
        return 1;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return 1;

    int status = 0;
    demo_pacer pacer;
    demo_pacer_start(&pacer, DEMO_WORKER_PERCENT);
    for (int64_t written = 0; status == 0 && demo_pacer_wait(&pacer, life_fd);) {
        for (; status == 0 && written < (pacer.next_ns - pacer.start_ns) / WRITE_NS; written++)
            status = append(fd) ? 0 : 1;
        demo_pacer_tick(&pacer);
    }
    close(fd);
    return status;
}

static void child_main(int64_t born_ns) {
    burn_until(DEMO_CHILD_CPU_MS * DEMO_NS_PER_MS); /* its CPU clock began at its birth */
    demo_sleep_until(born_ns + DEMO_CHILD_LIFE_MS * DEMO_NS_PER_MS);
    _exit(0);
}

static bool fork_child(void) {
    int64_t born_ns = demo_clock_ns(CLOCK_MONOTONIC);
    pid_t pid = fork();
    if (pid == 0)
        child_main(born_ns);
    return pid > 0;
}

int demo_spawner_main(int life_fd) {
    int status = 0;
    demo_pacer pacer;
    demo_pacer_start(&pacer, DEMO_SPAWNER_PERCENT);
    while (status == 0 && demo_pacer_wait(&pacer, life_fd)) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (!fork_child())
            status = 1;
        demo_pacer_tick(&pacer);
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    return status;
}

int demo_helper_main(int life_fd) {
    if (setsid() < 0)
        return 1;
    char byte;
    while (read(life_fd, &byte, 1) < 0 && errno == EINTR)
        ;
    return 0;
}
