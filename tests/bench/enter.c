/* SPDX-License-Identifier: Apache-2.0 */

/* enter FILE DIR... -- PROGRAM ARG...: moves itself into the control groups DIR, writes the CPU
 * time that it had used until then (nanoseconds) to FILE, and becomes PROGRAM. What a group has
 * counted plus that number is the exact CPU time of the work, its start included. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what) {
    perror(what);
    return 126;
}

static int join(const char *dir) {
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int failed = fd < 0 || write(fd, "0", 1) != 1;
    if (fd >= 0)
        (void)close(fd);
    return failed;
}

static long long used_ns(void) {
    struct timespec used;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (long long)used.tv_sec * 1000000000 + used.tv_nsec;
}

static int tell(const char *path, long long ns) {
    FILE *file = fopen(path, "we");

    if (file == NULL)
        return -1;
    (void)fprintf(file, "%lld\n", ns);
    return fclose(file);
}

int main(int argc, char **argv) {
    int i = 2;
    long long outside_ns = 0;

    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (join(argv[i]) != 0)
            return fail(argv[i]);
        outside_ns = used_ns(); /* the group that counts CPU is the last one */
    }
    if (i + 1 >= argc) {
        (void)fputs("usage: enter FILE DIR... -- PROGRAM ARG...\n", stderr);
        return 2;
    }
    if (tell(argv[1], outside_ns) != 0)
        return fail(argv[1]);
    execv(argv[i + 1], argv + i + 1);
    return fail(argv[i + 1]);
}
