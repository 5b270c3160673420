/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[256];
static pid_t owner;

static void require(int good, const char *what) {
    if (good)
        return;
    perror(what);
    abort();
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk) {
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static int open_up(const char *path, const struct stat *st, int type, struct FTW *walk) {
    (void)st;
    (void)walk;
    if (type == FTW_D || type == FTW_DNR)
        (void)chmod(path, 0700);
    return 0;
}

static void remove_all(void) {
    if (getpid() != owner) /* a forked child of the test */
        return;
    (void)nftw(directory, open_up, 16, FTW_PHYS);
    (void)nftw(directory, remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

const char *scratch_dir(void) {
    if (owner)
        return directory;
    const char *base = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/pairperf-test-XXXXXX", base ? base : "/tmp");
    require(mkdtemp(directory) != NULL, "mkdtemp");
    require(chmod(directory, 0711) == 0, "chmod");
    char *resolved = realpath(directory, NULL);
    require(resolved && strlen(resolved) < sizeof directory, "realpath");
    (void)snprintf(directory, sizeof directory, "%s", resolved);
    free(resolved);
    owner = getpid();
    require(atexit(remove_all) == 0, "atexit");
    return directory;
}

const char *scratch_path(const char *fmt, ...) {
    static char paths[32][4096];
    static unsigned next;
    char *path = paths[next++ % 32];
    int size = snprintf(path, sizeof paths[0], "%s/", scratch_dir());
    va_list args;
    va_start(args, fmt);
    vsnprintf(path + size, sizeof paths[0] - (size_t)size, fmt, args);
    va_end(args);
    return path;
}

const char *scratch_file(const char *name, const char *text, mode_t mode) {
    const char *path = scratch_path("%s", name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    require(fd >= 0, path);
    require(write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
    require(fchmod(fd, mode) == 0, path);
    require(close(fd) == 0, path);
    return path;
}

const char *scratch_mkdir(const char *name, mode_t mode) {
    const char *path = scratch_path("%s", name);
    require(mkdir(path, 0700) == 0 && chmod(path, mode) == 0, path);
    return path;
}

const char *scratch_content(const char *path) {
    static char texts[4][65536];
    static unsigned next;
    char *text = texts[next++ % 4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    require(fd >= 0, path);
    ssize_t size = read(fd, text, sizeof texts[0] - 1);
    require(size >= 0, path);
    close(fd);
    text[size] = '\0';
    return text;
}

int64_t scratch_ctime_ns(const char *path) {
    struct stat st;
    require(lstat(path, &st) == 0, path);
#ifdef __APPLE__
    const struct timespec time = st.st_ctimespec;
#else
    const struct timespec time = st.st_ctim;
#endif
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

enum { NOBODY = 65534 };
static int dropped;

void scratch_drop_privilege(void) {
    dropped = geteuid() == 0;
    if (dropped)
        require(seteuid(NOBODY) == 0, "seteuid");
}

void scratch_restore_privilege(void) {
    if (dropped)
        require(seteuid(0) == 0, "seteuid");
    dropped = 0;
}

int scratch_comma_locale(void) {
    const char *source = scratch_file("comma",
                                      "LC_IDENTIFICATION\ntitle \"comma\"\n"
                                      "END LC_IDENTIFICATION\nLC_NUMERIC\n"
                                      "decimal_point \",\"\nthousands_sep \"\"\n"
                                      "grouping -1\nEND LC_NUMERIC\n",
                                      0600);
    char command[8192];
    snprintf(command, sizeof command, "localedef -c -i %s %s >/dev/null 2>&1", source,
             scratch_path("xx_XX"));
    int status = system(command); /* warns about all that is not there, with status 1 */
    (void)status;
    require(setenv("LOCPATH", scratch_dir(), 1) == 0, "setenv");
    return setlocale(LC_ALL, "xx_XX") != NULL;
}
