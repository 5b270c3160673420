/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#include "linux_cgroup_script.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "linux/linux_host.h"
#include "linux_script.h"

enum { SCRIPT_FD = 1000000 };

pp_os cg_os;
pp_error cg_error;
cg_fs cg;

static int make_dir(int dir_fd, const char *name) {
    (void)dir_fd;
    int number = cg.makes++;
    if (cg.make_errno[number % 2] != 0)
        return -cg.make_errno[number % 2];
    (void)snprintf(cg.made[number % 2], sizeof cg.made[0], "%s", name);
    (void)script_numbers(name, NULL, 0);
    return 0;
}

static int remove_dir(int dir_fd, const char *name) {
    (void)dir_fd;
    (void)snprintf(cg.removed[cg.removes++ % CG_NAMES_MAX], sizeof cg.removed[0], "%s", name);
    return -cg.remove_errno;
}

static int (*scripted_inode)(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode);
static int inode(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode) {
    if (fd < SCRIPT_FD || fd >= SCRIPT_FD + SCRIPT_MAX)
        return scripted_inode(fd, ret_fs_magic, ret_inode);
    *ret_fs_magic = cg.not_cgroup2 ? 1 : 0x63677270;
    *ret_inode = CG_LEAF_ID;
    return 0;
}

/* The child is a real one, in no cgroup of its own. */
static pid_t fork_into(int cgroup_fd) {
    assert_true(cgroup_fd >= SCRIPT_FD);
    cg.forks_into++;
    return cg.fork_errno ? -cg.fork_errno : pp_linux_sys_real.fork();
}

static pid_t count_fork(void) {
    cg.forks++;
    return pp_linux_sys_real.fork();
}

static int cgroup_of(int pidfd, uint64_t *ret_cgroup_id) {
    (void)pidfd;
    *ret_cgroup_id = cg.cgroup_id;
    return -cg.cgroup_errno;
}

static int try_lock(int fd) {
    return fd < SCRIPT_FD ? pp_linux_sys_real.try_lock(fd) : -cg.lock_errno;
}

static ssize_t write_file(int fd, const void *bytes, size_t size) {
    if (fd < SCRIPT_FD)
        return pp_linux_sys_real.write(fd, bytes, size);
    (void)snprintf(cg.written, sizeof cg.written, "%.*s", (int)size, (const char *)bytes);
    return cg.write_result;
}

static ssize_t (*scripted_read_dir)(int fd, void *bytes, size_t size);
static ssize_t read_dir(int fd, void *bytes, size_t size) {
    if (fd < SCRIPT_FD)
        return scripted_read_dir(fd, bytes, size);
    if (cg.listed_told)
        return 0;
    cg.listed_told = true;
    const uint16_t length = 96;
    memset(bytes, 0, (size_t)cg.listed_count * length);
    for (int i = 0; i < cg.listed_count; i++) {
        char *at = (char *)bytes + (size_t)i * length;
        memcpy(at + 16, &length, sizeof length);
        memcpy(at + 19, cg.listed[i], sizeof cg.listed[i]);
    }
    return (ssize_t)cg.listed_count * length;
}

void cg_absent(const char *path) {
    script_text(path, "")->open_errno = ENOENT;
}

int cg_set_up(void **state) {
    (void)state;
    script_reset();
    memset(&cg_error, 0, sizeof cg_error);
    memset(&cg, 0, sizeof cg);
    cg.write_result = 1;
    cg.cgroup_id = CG_LEAF_ID;
    (void)unsetenv("PP_KERNEL");
    scripted_inode = scripted.sys.inode;
    scripted_read_dir = scripted.sys.read_dir;
    scripted.sys.inode = inode;
    scripted.sys.read_dir = read_dir;
    scripted.sys.make_dir = make_dir;
    scripted.sys.remove_dir = remove_dir;
    scripted.sys.fork = count_fork;
    scripted.sys.fork_into = fork_into;
    scripted.sys.cgroup_of = cgroup_of;
    scripted.sys.write = write_file;
    scripted.sys.try_lock = try_lock;
    (void)script_text("/proc/self/mountinfo", CG_V1 CG_V2);
    (void)script_text("/proc/self/cgroup", "4:memory:/v1\n0::/ours\n");
    (void)script_text("/proc/self/ns/pid", "pid:[" CG_NAMESPACE "]");
    (void)script_numbers("/cg two/ours", NULL, 0);
    (void)script_text("cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\n");
    (void)script_text("cgroup.procs", "");
    (void)script_text("cgroup.events", "populated 1\nfrozen 0\n");
    (void)script_text("cgroup.kill", "");
    static const char *const controlled[] = { "memory.current", "memory.peak", "memory.stat",
                                              "memory.swap.current", "io.stat" };
    for (size_t i = 0; i < sizeof controlled / sizeof *controlled; i++)
        cg_absent(controlled[i]);
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    return pp_linux_host_open(&scripted.sys, &options, &cg_os, &cg_error) == PP_OK ? 0 : -1;
}

int cg_tear_down(void **state) {
    (void)state;
    pp_host_close(&cg_os);
    (void)unsetenv("PP_KERNEL");
    assert_int_equal(script_open_count(), 0);
    return 0;
}

pp_status cg_run_command(void) {
    static char name[] = "true";
    static char *const argv[] = { name, NULL };
    static char *const envp[] = { NULL };
    const pp_command command = { .path = "/bin/true", .argv = argv, .envp = envp, .cwd = "/" };
    int fd = pp_linux_sys_real.pidfd_open(getpid()); /* valgrind before 3.20 knows none */
    if (fd < 0)
        skip();
    (void)close(fd);
    pp_proc_id id;
    pp_exit exit;
    pp_reading written;
    pp_events events;
    pp_status status = cg_os.spawn(cg_os.ctx, &command, &id, &cg_error);
    if (status != PP_OK)
        return status;
    while (cg_os.reap(cg_os.ctx, id, &exit, &written, &cg_error) == PP_E_AGAIN)
        (void)cg_os.wait(cg_os.ctx, 0, false, &events, &cg_error);
    return PP_OK;
}
#else
typedef int pp_linux_only; /* no empty translation unit */
#endif
