/* SPDX-License-Identifier: Apache-2.0 */

/* The work that the bench measures; each kind is a sequence with known properties. Kinds that
 * stay print "ready" and end in peace at SIGTERM.
 *   ppwork tree | threads | deaf | discards | group N | ticking N | plateau N | switches | reaped
 * ppwork writes FILE | churn SECONDS | idle N */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define MIB ((size_t)1 << 20)

static long long clock_ns(clockid_t id) {
    struct timespec now;

    (void)clock_gettime(id, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void rest(long long ns) {
    struct timespec left = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Uses that much CPU time of the calling thread. */
static void burn(long long ns) {
    long long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static pid_t child_that_burns(long long ns) {
    pid_t pid = fork();

    if (pid == 0) {
        burn(ns);
        _exit(0);
    }
    return pid;
}

static void say_ready(void) {
    (void)puts("ready");
    (void)fflush(stdout);
}

static void block_term(sigset_t *set) {
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, set, NULL);
}

static void await_term(const sigset_t *set) {
    int number;

    say_ready();
    (void)sigwait(set, &number);
}

/* Leaves group and session, and goes on for `ns` at a third of a core. */
static void escape(long long ns) {
    pid_t first = fork();

    if (first == 0) {
        (void)setsid();
        if (fork() != 0)
            _exit(0);
        long long end = clock_ns(CLOCK_MONOTONIC) + ns;
        while (clock_ns(CLOCK_MONOTONIC) < end) {
            burn(10 * MS);
            rest(20 * MS);
        }
        _exit(0);
    }
    (void)waitpid(first, NULL, 0);
}

/* 6 s, 40 children of 20 ms, and a daemon that outlives the root by 2 s. */
static int tree(void) {
    escape(8000 * MS);
    for (int i = 0; i < 40; i++) {
        (void)waitpid(child_that_burns(20 * MS), NULL, 0);
        rest(130 * MS);
    }
    return 0;
}

static void *thread_that_burns(void *argument) {
    (void)argument;
    burn(2 * MS);
    return NULL;
}

/* 1,000 threads of 2 ms, four at a time. */
static int threads(void) {
    for (int i = 0; i < 250; i++) {
        pthread_t thread[4];
        for (int j = 0; j < 4; j++)
            (void)pthread_create(&thread[j], NULL, thread_that_burns, NULL);
        for (int j = 0; j < 4; j++)
            (void)pthread_join(thread[j], NULL);
        rest(10 * MS);
    }
    return 0;
}

/* 60 children of 20 ms whose times the kernel discards. */
static int deaf(void) {
    (void)signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 60; i++) {
        (void)child_that_burns(20 * MS);
        rest(60 * MS);
    }
    burn(50 * MS);
    while (wait(NULL) > 0 || errno != ECHILD)
        ;
    return 0;
}

/* The same by SA_NOCLDWAIT, which nothing shows; each child can be met before it ends. */
static int discards(void) {
    struct sigaction action = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };

    (void)sigaction(SIGCHLD, &action, NULL);
    for (int i = 0; i < 40; i++) {
        if (fork() == 0) {
            burn(30 * MS);
            rest(300 * MS);
            _exit(0);
        }
        rest(60 * MS);
    }
    while (wait(NULL) > 0 || errno != ECHILD)
        ;
    return 0;
}

static void pause_for_ever(void) {
    for (;;)
        (void)pause();
}

static void tick_for_ever(void) {
    for (;;)
        rest(20 * MS);
}

/* N processes; at SIGTERM the leader ends the others, waits for them, and exits 0. */
static int group(int count, void (*member)(void)) {
    sigset_t term;
    pid_t *pids = calloc((size_t)count, sizeof *pids);

    block_term(&term);
    for (int i = 1; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            (void)sigprocmask(SIG_UNBLOCK, &term, NULL);
            member();
        }
    }
    await_term(&term);
    for (int i = 1; i < count; i++)
        (void)kill(pids[i], SIGTERM);
    while (wait(NULL) > 0)
        ;
    free(pids);
    return 0;
}

static void touch(unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i += 4096)
        bytes[i] = 1;
}

/* 64 MiB shared and 16 MiB inherited by all, and 16 MiB of each one's own. */
static int plateau(int count) {
    sigset_t term;
    int told[2];
    char byte = 0;
    size_t shared_size = 64 * MIB, own_size = 16 * MIB;
    unsigned char *shared =
        mmap(NULL, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned char *inherited = malloc(own_size);

    if (shared == MAP_FAILED || inherited == NULL || pipe(told) != 0)
        return 1;
    touch(shared, shared_size);
    touch(inherited, own_size);
    block_term(&term);
    for (int i = 1; i < count; i++) {
        if (fork() == 0) {
            unsigned char *own = malloc(own_size);
            touch(shared, shared_size);
            touch(own, own_size);
            (void)sigprocmask(SIG_UNBLOCK, &term, NULL);
            if (write(told[1], &byte, 1) == 1)
                pause_for_ever();
            _exit(1);
        }
    }
    for (int i = 1; i < count; i++)
        if (read(told[0], &byte, 1) != 1)
            return 1;
    await_term(&term);
    (void)signal(SIGTERM, SIG_IGN);
    (void)kill(0, SIGTERM);
    while (wait(NULL) > 0)
        ;
    return 0;
}

static void *thread_that_sleeps(void *argument) {
    (void)argument;
    for (int i = 0; i < 200; i++)
        rest(5 * MS);
    return NULL;
}

/* 5 threads x 200 sleeps; the threads have ended when it says ready. */
static int switches(void) {
    sigset_t term;
    pthread_t thread[5];

    block_term(&term);
    for (int i = 0; i < 5; i++)
        (void)pthread_create(&thread[i], NULL, thread_that_sleeps, NULL);
    for (int i = 0; i < 5; i++)
        (void)pthread_join(thread[i], NULL);
    await_term(&term);
    return 0;
}

/* A leader without work of its own, and a child of 0.3 s that it has waited for. */
static int reaped(void) {
    sigset_t term;

    block_term(&term);
    (void)waitpid(child_that_burns(300 * MS), NULL, 0);
    await_term(&term);
    return 0;
}

/* 40 MiB by 20 short dd processes. */
static int writes(const char *path) {
    sigset_t term;
    char of[4096], seek[32];

    block_term(&term);
    (void)snprintf(of, sizeof of, "of=%s", path);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(seek, sizeof seek, "seek=%d", 2 * i);
        pid_t pid = fork();
        if (pid == 0) {
            execl("/bin/dd", "dd", "if=/dev/zero", of, "bs=1M", "count=2", "conv=notrunc,fsync",
                  "status=none", seek, (char *)NULL);
            _exit(127);
        }
        (void)waitpid(pid, NULL, 0);
    }
    await_term(&term);
    return 0;
}

/* For so long, fifty times a second: a daemon that leaves and lives for 100 ms. */
static int churn(int seconds) {
    long long end = clock_ns(CLOCK_MONOTONIC) + seconds * (1000 * MS);

    while (clock_ns(CLOCK_MONOTONIC) < end) {
        pid_t first = fork();
        if (first == 0) {
            (void)setsid();
            if (fork() == 0)
                rest(100 * MS);
            _exit(0);
        }
        (void)waitpid(first, NULL, 0);
        rest(20 * MS);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    const char *word = argc > 2 ? argv[2] : "1";

    if (strcmp(kind, "tree") == 0)
        return tree();
    if (strcmp(kind, "threads") == 0)
        return threads();
    if (strcmp(kind, "deaf") == 0)
        return deaf();
    if (strcmp(kind, "discards") == 0)
        return discards();
    if (strcmp(kind, "group") == 0 || strcmp(kind, "idle") == 0)
        return group(atoi(word), pause_for_ever);
    if (strcmp(kind, "ticking") == 0)
        return group(atoi(word), tick_for_ever);
    if (strcmp(kind, "plateau") == 0)
        return plateau(atoi(word));
    if (strcmp(kind, "switches") == 0)
        return switches();
    if (strcmp(kind, "reaped") == 0)
        return reaped();
    if (strcmp(kind, "writes") == 0)
        return writes(word);
    if (strcmp(kind, "churn") == 0)
        return churn(atoi(word));
    (void)fprintf(stderr, "ppwork: unknown kind '%s'\n", kind);
    return 2;
}
