/* SPDX-License-Identifier: Apache-2.0 */

/* Runs a command and finds out what it left behind, whatever that calls itself and wherever it
 * went: every orphan below the command becomes a child of this process.
 *
 *   subreaper [-w MS] DIR COMMAND [ARG...]
 *
 * DIR/<own pid>.child  the command's pid, as soon as it runs
 * DIR/<own pid>.left   once it ended: a line "PID STATE EXECUTABLE" for each process that was left;
 *                      before they are listed they have MS milliseconds to end (0). All are killed.
 *
 * Exit status: the command's, 128 + N after signal N. INT, TERM and HUP are passed on to the
 * command; USR2, or the end of whoever started this, ends everything.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILL_MS = 10000, POLL_MS = 2, LEFT_MAX = 4096 };

static const char *directory;
static pid_t command;
static int command_status = -1;

static void die(const char *what) {
    (void)fprintf(stderr, "subreaper: %s: %s\n", what, strerror(errno));
    exit(70);
}

static int64_t now_ms(void) {
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Appears whole: a reader never sees half of it. */
static void publish(const char *suffix, const char *text, size_t size) {
    char name[PATH_MAX], draft[PATH_MAX];

    (void)snprintf(name, sizeof name, "%s/%d.%s", directory, getpid(), suffix);
    (void)snprintf(draft, sizeof draft, "%s/.%d.%s", directory, getpid(), suffix);
    FILE *file = fopen(draft, "w");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0 ||
        rename(draft, name) != 0)
        die(name);
}

/* Takes what has ended. Returns whether there is any child left. */
static bool reap(void) {
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
        if (pid == command)
            command_status = status;
    return pid == 0;
}

/* State and executable of a child that is not reaped, so its number is its own. */
static char look(pid_t pid, char *exe, size_t capacity) {
    char path[64], line[512];

    (void)snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t length = readlink(path, exe, capacity - 1);
    exe[length > 0 ? length : 0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return '?';
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    (void)fclose(file);
    return end && end[1] == ' ' ? end[2] : '?';
}

static FILE *open_children(void) {
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    FILE *children = fopen(path, "r");
    if (!children)
        die(path);
    return children;
}

/* Kills whatever is listed at this moment; the first time a process is met it goes to `left`. */
static void kill_children(FILE *left) {
    static pid_t known[LEFT_MAX];
    static size_t count;
    FILE *children = open_children();
    int pid;

    while (fscanf(children, "%d", &pid) == 1) {
        char exe[PATH_MAX];
        char state = '?';
        size_t i = 0;
        while (i < count && known[i] != pid)
            i++;
        if (i == count) /* a chain has hopped on before one has looked twice */
            state = look(pid, exe, sizeof exe);
        (void)kill(pid, SIGKILL);
        if (i < count || state == 'Z')
            continue;
        if (left)
            (void)fprintf(left, "%d %c %s\n", pid, state, exe[0] ? exe : "?");
        if (count < LEFT_MAX)
            known[count++] = pid;
    }
    (void)fclose(children);
}

static int await_signal(const sigset_t *set, int64_t ms) {
    struct timespec timeout = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    return sigtimedwait(set, NULL, &timeout);
}

static void end_all(const sigset_t *set, FILE *left) {
    int64_t deadline_ms = now_ms() + KILL_MS;

    while (reap()) {
        if (now_ms() > deadline_ms) {
            errno = ETIMEDOUT;
            die("what is left cannot be killed");
        }
        kill_children(left);
        (void)await_signal(set, POLL_MS);
    }
}

static void run_command(char **argv, const sigset_t *old) {
    command = fork();
    if (command < 0)
        die("fork");
    if (command == 0) {
        (void)sigprocmask(SIG_SETMASK, old, NULL);
        (void)execvp(argv[0], argv);
        (void)fprintf(stderr, "subreaper: %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    char text[16] = "";
    publish("child", text, (size_t)snprintf(text, sizeof text, "%d\n", command));
}

/* Until the command has ended: its signals are ours. */
static void attend(const sigset_t *set) {
    (void)reap();
    while (command_status < 0) {
        int number = sigwaitinfo(set, NULL);
        (void)reap();
        if (number == SIGUSR2) {
            end_all(set, NULL);
            exit(128 + SIGUSR2);
        }
        if (command_status < 0 && number > 0 && number != SIGCHLD)
            (void)kill(command, number);
    }
}

static void report(const sigset_t *set, int64_t wait_ms) {
    char *text = NULL;
    size_t size = 0;
    FILE *left = open_memstream(&text, &size);
    int64_t deadline_ms = now_ms() + wait_ms;

    if (!left)
        die("open_memstream");
    while (reap() && now_ms() < deadline_ms)
        if (await_signal(set, POLL_MS) == SIGUSR2)
            break;
    end_all(set, left);
    if (fclose(left) != 0)
        die("left");
    publish("left", text, size);
    free(text);
}

int main(int argc, char **argv) {
    sigset_t set, old;
    int64_t wait_ms = 0;
    int first = 1;

    if (argc > 3 && strcmp(argv[1], "-w") == 0) {
        wait_ms = strtol(argv[2], NULL, 10);
        first = 3;
    }
    if (argc < first + 2) {
        (void)fputs("usage: subreaper [-w MS] DIR COMMAND [ARG...]\n", stderr);
        return 2;
    }
    directory = argv[first];
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR2);
    (void)signal(SIGCHLD, SIG_DFL);
    if (sigprocmask(SIG_BLOCK, &set, &old) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGUSR2) != 0)
        die("prctl");
    run_command(argv + first + 1, &old);
    attend(&set);
    report(&set, wait_ms);
    return WIFEXITED(command_status) ? WEXITSTATUS(command_status) : 128 + WTERMSIG(command_status);
}
