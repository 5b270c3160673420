/* SPDX-License-Identifier: Apache-2.0 */

/* The floor: the same reads as a frame, by held descriptors, and nothing else: no identity, no
 * tree, no record.
 *   floor read INTERVAL_MS PASSES LEADER [CGROUP_DIR]
 *     each pass: the members (cgroup.procs and cpu.stat, or each one's children file), per member
 *     CPU clock, statm, io, status, stat, schedstat, which is what the figures of one that ran come
 *     from, and one poll over all pidfds; once a second also smaps_rollup, opened anew, and status;
 *     such a pass counts as CPU alone
 *   floor reference INTERVAL_MS PASSES LEADER [CGROUP_DIR|walk]
 *     the loop that the bars were set beside: each pass the members (cgroup.procs and cpu.stat, or
 *     a walk down that opens each thread's children file anew, or as they were at first), per
 *     member CPU clock, statm, io, and one poll over all pidfds
 *   floor timer INTERVAL_MS PASSES
 *     only the deadlines
 *   floor gone RUNS PROGRAM ARG...
 *     as parent and subreaper: from SIGTERM, sent when PROGRAM has said something, to ECHILD
 * Prints one line of key=value: times in nanoseconds, RSS in bytes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN, STATM, IO, STATUS, STAT, SCHEDSTAT, FILES };
enum { MEMBERS_MAX = 256 };

typedef enum work { TIMER, READ, REFERENCE } work;

typedef struct member {
    pid_t pid;
    int fd[FILES];
} member;

static const char *const file_names[FILES] = {
    "task/%d/children", "statm", "io", "task/%d/status", "stat", "task/%d/schedstat",
};
static member members[MEMBERS_MAX];
static int member_count;
static int cgroup_fd[2] = { -1, -1 };
static bool walks;
static int epoll_fd = -1;
static char bytes[8192];

static int64_t clock_now(clockid_t id) {
    struct timespec now;

    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void hold(pid_t pid) {
    if (member_count == MEMBERS_MAX)
        return;
    member *one = &members[member_count++];
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct epoll_event event = { .events = EPOLLIN };

    one->pid = pid;
    (void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pidfd, &event);
    for (int i = 0; i < FILES; i++) {
        char name[64], path[128];
        (void)snprintf(name, sizeof name, file_names[i], (int)pid);
        (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
        one->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
}

static ssize_t read_children(pid_t pid, const char *tid, char *text, size_t size) {
    char path[300];

    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, text, size - 1);
    (void)close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got;
}

/* From `pid` down, by the children of all threads. */
static void walk(pid_t pid, void (*meet)(pid_t pid)) {
    char path[64], text[4096];
    struct dirent *entry;

    if (meet != NULL)
        meet(pid);
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        if (entry->d_name[0] == '.' || read_children(pid, entry->d_name, text, sizeof text) < 0)
            continue;
        char *next = text;
        for (long child; (child = strtol(next, &next, 10)) > 0;)
            walk((pid_t)child, meet);
    }
    if (tasks != NULL)
        (void)closedir(tasks);
}

static void hold_cgroup(const char *dir) {
    static const char *const names[] = { "cgroup.procs", "cpu.stat" };

    for (int i = 0; i < 2; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        cgroup_fd[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
}

static void read_at_start(int fd) {
    if (pread(fd, bytes, sizeof bytes, 0) < 0)
        perror("pread");
}

static void pass(work what) {
    struct epoll_event event;
    bool grouped = cgroup_fd[0] >= 0;
    int first = what == READ && !grouped ? CHILDREN : STATM;
    int end = what == REFERENCE ? STATUS : FILES;

    for (int i = 0; i < 2 && grouped; i++)
        read_at_start(cgroup_fd[i]);
    if (walks)
        walk(members[0].pid, NULL);
    for (int i = 0; i < member_count; i++) {
        member *one = &members[i];
        (void)clock_now((clockid_t)(~(unsigned)one->pid << 3 | 2));
        for (int file = first; file < end; file++)
            read_at_start(one->fd[file]);
    }
    (void)epoll_wait(epoll_fd, &event, 1, 0);
}

static void read_memory(void) {
    for (int i = 0; i < member_count; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)members[i].pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        read_at_start(fd);
        (void)close(fd);
        read_at_start(members[i].fd[STATUS]);
    }
}

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static int64_t quantile(int64_t *values, int count, double part) {
    int place = (int)(part * count);

    qsort(values, (size_t)count, sizeof *values, compare);
    return values[place < count ? place : count - 1];
}

static long long own_rss(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL || fscanf(file, "%*d %lld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        (void)fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int run(int interval_ms, int passes, work what) {
    int64_t *took = calloc((size_t)passes, sizeof *took),
            *late = calloc((size_t)passes, sizeof *late);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int64_t interval_ns = interval_ms * INT64_C(1000000);
    int64_t start = clock_now(CLOCK_MONOTONIC);
    int64_t cpu_ns = clock_now(CLOCK_PROCESS_CPUTIME_ID);

    if (took == NULL || late == NULL || timer < 0)
        return 1;
    int kept = 0, memory_every = interval_ms < 1000 ? 1000 / interval_ms : 1;
    for (int i = 0; i < passes; i++) {
        uint64_t fired;
        int64_t due = start + (i + 1) * interval_ns;
        struct itimerspec when = { .it_value = { due / 1000000000, due % 1000000000 } };
        (void)timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
        if (read(timer, &fired, sizeof fired) < 0)
            return 1;
        int64_t begin = clock_now(CLOCK_MONOTONIC);
        late[i] = begin - due;
        if (what != TIMER)
            pass(what);
        took[kept] = clock_now(CLOCK_MONOTONIC) - begin;
        bool with_memory = what == READ && i % memory_every == 0;
        if (with_memory)
            read_memory();
        kept += !with_memory;
    }
    cpu_ns = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
    int missed = 0;
    for (int i = 0; i < passes; i++)
        missed += late[i] >= interval_ns;
    (void)printf("members=%d passes=%d missed=%d cpu_ns=%lld pass_median_ns=%lld pass_p95_ns=%lld "
                 "late_median_ns=%lld late_p99_ns=%lld late_max_ns=%lld rss_bytes=%lld\n",
                 member_count, passes, missed, (long long)(cpu_ns / passes),
                 (long long)quantile(took, kept, 0.5), (long long)quantile(took, kept, 0.95),
                 (long long)quantile(late, passes, 0.5), (long long)quantile(late, passes, 0.99),
                 (long long)quantile(late, passes, 1), own_rss());
    free(took);
    free(late);
    return 0;
}

/* One run; -1: it could not be started. */
static int64_t go_and_end(char **command) {
    int told[2];

    if (pipe(told) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0);
        (void)dup2(told[1], STDOUT_FILENO);
        (void)close(told[0]);
        (void)close(told[1]);
        execv(command[0], command);
        _exit(127);
    }
    (void)close(told[1]);
    ssize_t size = read(told[0], bytes, sizeof bytes);
    int64_t begin = clock_now(CLOCK_MONOTONIC);
    (void)kill(pid, SIGTERM);
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
        ;
    (void)close(told[0]);
    return size > 0 ? clock_now(CLOCK_MONOTONIC) - begin : -1;
}

static int gone(int runs, char **command) {
    int64_t *took = calloc((size_t)runs, sizeof *took);

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; took != NULL && i < runs; i++) {
        took[i] = go_and_end(command);
        if (took[i] < 0)
            return 1;
    }
    if (took == NULL)
        return 1;
    (void)printf("runs=%d median_ns=%lld p95_ns=%lld max_ns=%lld\n", runs,
                 (long long)quantile(took, runs, 0.5), (long long)quantile(took, runs, 0.95),
                 (long long)quantile(took, runs, 1));
    free(took);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "gone") == 0)
        return gone(atoi(argv[2]), argv + 3);
    static const char *const names[] = { "timer", "read", "reference" };
    int what = TIMER;

    while (argc > 1 && what <= REFERENCE && strcmp(argv[1], names[what]) != 0)
        what++;
    if (argc < (what == TIMER ? 4 : 5) || what > REFERENCE) {
        (void)fputs("usage: floor timer MS PASSES | read|reference MS PASSES LEADER [WHERE] | "
                    "gone RUNS COMMAND\n",
                    stderr);
        return 2;
    }
    (void)prctl(PR_SET_TIMERSLACK, 1);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (what != TIMER)
        walk((pid_t)atoi(argv[4]), hold);
    walks = argc > 5 && strcmp(argv[5], "walk") == 0;
    if (argc > 5 && !walks)
        hold_cgroup(argv[5]);
    return run(atoi(argv[2]), atoi(argv[3]), (work)what);
}
