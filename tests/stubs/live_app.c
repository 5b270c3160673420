/* SPDX-License-Identifier: Apache-2.0 */
/* Applications that are hard to end, for the live tests: live_app KIND [NUMBER | PATH]. Whatever
 * there is to wait for was reached when a line is printed. No process lives longer than LIFE_S. */
#ifdef __linux__
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIFE_S = 60, HOP_US = 20000, FAST_HOP_US = 500, SLOW_HOPS = 5, SHORT_LIVED = 8 };

static unsigned hop_us = HOP_US;

static int ready[2]; /* one byte for each process that is where it should be */

static _Noreturn void stay(void) {
    (void)alarm(LIFE_S);
    for (;;)
        (void)pause();
}

static void say(pid_t first, pid_t second) {
    char line[64];
    int size = snprintf(line, sizeof line, "%d %d\n", first, second);
    (void)!write(STDOUT_FILENO, line, (size_t)size);
}

static void say_and_stay(pid_t first, pid_t second) {
    say(first, second);
    stay();
}

static void am_there(void) {
    (void)!write(ready[1], "x", 1);
}

static void await_all(long count) {
    char byte;
    while (count-- > 0)
        (void)!read(ready[0], &byte, 1);
}

static time_t now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- out of the group ---- */

/* Hops into a new session and process, for ever; the first times with leisure, so that all get
 * there before the machine is busy with hops. */
static _Noreturn void chain(void) {
    const time_t end_s = now_s() + LIFE_S;
    for (unsigned hops = 0; now_s() < end_s; hops++) {
        pid_t child = fork();
        if (child > 0)
            _exit(0);
        if (child == 0)
            (void)setsid();
        if (hops == 1)
            am_there();
        (void)usleep(hops < SLOW_HOPS ? HOP_US : hop_us);
    }
    _exit(0);
}

static int chains(long count) {
    for (long i = 0; i < count; i++)
        if (fork() == 0)
            chain();
    await_all(count);
    say_and_stay(0, 0);
    return 0;
}

static int daemons(long count) {
    for (long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            (void)setsid();
            if (fork() == 0) {
                am_there();
                stay();
            }
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    }
    await_all(count);
    say_and_stay(0, 0);
    return 0;
}

/* Leaves a daemon behind that keeps the output open, and exits. */
static int keep_output_open(void) {
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        am_there();
        stay();
    }
    await_all(1);
    say(child, 0);
    return 4;
}

/* ---- in the group ---- */

static int zombie(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    say_and_stay(child, 0);
    return 0;
}

/* Its zombie stays in the group, itself does not. */
static int zombie_of_an_escapee(void) {
    pid_t keeper = fork();
    if (keeper == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        (void)setsid();
        say_and_stay(getpid(), child);
    }
    stay();
}

static void *run_on(void *unused) {
    (void)unused;
    say_and_stay(getpid(), 0);
    return NULL;
}

static int last_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_on, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}

/* Its children are never waited for by anybody. */
static int wait_for_nobody(void) {
    (void)signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < SHORT_LIVED; i++)
        if (fork() == 0) {
            am_there();
            _exit(0);
        }
    await_all(SHORT_LIVED);
    say_and_stay(0, 0);
    return 0;
}

/* ---- children that work, and what becomes of their times ---- */

/* Uses 30 ms of CPU, and is there to be seen for a while after that. */
static _Noreturn void work_and_end(void) {
    const clock_t end = clock() + CLOCKS_PER_SEC * 3 / 100;
    while (clock() < end)
        ;
    (void)usleep(200000);
    _exit(0);
}

static void *wait_for_it(void *child) {
    (void)waitpid(*(pid_t *)child, NULL, 0);
    return NULL;
}

static int work_in_children(const char *how) {
    struct sigaction action = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };
    bool in_threads = strcmp(how, "threads") == 0;
    if (strcmp(how, "discards") == 0)
        (void)sigaction(SIGCHLD, &action, NULL);
    say(getpid(), 0);
    for (const time_t end_s = now_s() + LIFE_S; now_s() < end_s;) {
        pthread_t thread;
        pid_t child = fork();
        if (child == 0)
            work_and_end();
        if (in_threads && pthread_create(&thread, NULL, wait_for_it, &child) == 0)
            (void)pthread_join(thread, NULL);
        (void)usleep(50000);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    return 0;
}

/* Children that end with their parent: they change hands and are waited for within an instant. */
static int end_families(void) {
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    say(getpid(), 0);
    for (const time_t end_s = now_s() + LIFE_S; now_s() < end_s;) {
        pid_t parent = fork();
        if (parent == 0) {
            for (int i = 0; i < 4; i++)
                if (fork() == 0) {
                    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                    stay();
                }
            stay();
        }
        (void)usleep(30000);
        (void)kill(parent, SIGKILL);
        while (waitpid(-1, NULL, 0) > 0)
            ;
    }
    return 0;
}

static int stopped(void) {
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(LIFE_S);
        (void)raise(SIGSTOP);
        stay();
    }
    say(getpid(), child);
    (void)raise(SIGSTOP);
    stay();
}

static int dump_core(void) {
    struct rlimit limit;
    (void)getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_CORE, &limit);
    abort();
}

/* For whole sessions, which wait for this file in HOME, the working directory. */
static void say_ready(void) {
    int fd = open("ready", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "yes\n", 4) != 4)
        _exit(1);
}

static void crash(int signal_number) {
    (void)signal_number;
    abort();
}

/* Has touched so many MiB, and dumps them as core when it is asked to end. */
static int crash_when_asked(long mebibytes) {
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
    size_t size = (size_t)mebibytes << 20;
    char *bytes = malloc(size);
    if (bytes == NULL || setrlimit(RLIMIT_CORE, &limit) < 0)
        return 1;
    memset(bytes, 0xa5, size);
    (void)signal(SIGTERM, crash);
    say_ready();
    stay();
}

static void quit(int signal_number) {
    (void)signal_number;
    _exit(0);
}

/* A helper in a session of its own that spins; its parent from then on is whoever adopts it, which
 * is this application itself if wanted. */
static int spinning_helper(const char *adopter) {
    if (strcmp(adopter, "own") == 0)
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGTERM, quit);
    if (fork() == 0) {
        (void)signal(SIGTERM, SIG_IGN);
        (void)setsid();
        if (fork() > 0)
            _exit(0);
        (void)alarm(LIFE_S);
        say_ready();
        for (;;)
            ;
    }
    (void)wait(NULL);
    stay();
}

/* The child runs a set-user-ID copy of this program. */
static int with_foreigner(const char *path) {
    if (fork() == 0) {
        (void)execl(path, path, "foreigner", (char *)NULL);
        _exit(1);
    }
    stay();
}

static int foreigner(void) {
    uid_t uid = geteuid();
    if (uid == getuid() || setresuid(uid, uid, uid) < 0)
        return 1;
    say_and_stay(getpid(), 0);
    return 0;
}

/* As root: the child is somebody else's. */
static int with_user(long uid) {
    if (fork() == 0) {
        if (setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) < 0)
            _exit(1);
        (void)signal(SIGTERM, SIG_IGN);
        say_and_stay(getpid(), 0);
    }
    stay();
}

/* A member of the group and a daemon; the one that gets SIGUSR1 ends. */
static int pair(void) {
    pid_t member = fork();
    if (member == 0)
        stay();
    pid_t daemon = fork();
    if (daemon == 0) {
        (void)setsid();
        am_there();
        stay();
    }
    await_all(1);
    say(member, daemon);
    (void)alarm(LIFE_S);
    for (;;)
        (void)wait(NULL);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    const char *word = argc > 2 ? argv[2] : "0";
    const long number = strtol(word, NULL, 10);
    static const struct {
        const char *kind;
        int (*run)(void);
    } kinds[] = {
        { "keep_output_open", keep_output_open },
        { "zombie", zombie },
        { "zombie_of_an_escapee", zombie_of_an_escapee },
        { "last_thread", last_thread },
        { "wait_for_nobody", wait_for_nobody },
        { "stopped", stopped },
        { "dump_core", dump_core },
        { "foreigner", foreigner },
        { "pair", pair },
        { "end_families", end_families },
    };

    if (pipe(ready) < 0)
        return 1;
    if (strcmp(kind, "chains") == 0)
        return chains(number);
    if (strcmp(kind, "fast_chains") == 0) {
        hop_us = FAST_HOP_US;
        return chains(number);
    }
    if (strcmp(kind, "daemons") == 0)
        return daemons(number);
    if (strcmp(kind, "with_user") == 0)
        return with_user(number);
    if (strcmp(kind, "work_in_children") == 0)
        return work_in_children(word);
    if (strcmp(kind, "crash_when_asked") == 0)
        return crash_when_asked(number);
    if (strcmp(kind, "spinning_helper") == 0)
        return spinning_helper(word);
    if (strcmp(kind, "with_foreigner") == 0)
        return with_foreigner(word);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i].kind) == 0)
            return kinds[i].run();
    return 2;
}
#else
int main(void) {
    return 77;
}
#endif
