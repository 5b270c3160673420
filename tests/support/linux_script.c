/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#include "linux_script.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SELF_PIDFD is what stands for a pidfd of this process. */
enum { FILE_FD = 1000000, SELF_PIDFD = 1999999, PIDFD = 2000000, PIDFS = 0x50494446 };

script scripted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unblocked = PTHREAD_COND_INITIALIZER;

static script_proc *proc_by_pid(int32_t pid) {
    for (size_t i = 0; i < scripted.proc_count; i++)
        if (scripted.procs[i].pid == pid && !scripted.procs[i].gone)
            return &scripted.procs[i];
    return NULL;
}

static script_proc *proc_by_fd(int fd) {
    size_t index = (size_t)(fd - PIDFD);
    return fd >= PIDFD && index < scripted.proc_count ? &scripted.procs[index] : NULL;
}

static script_file *file_by_fd(int fd) {
    size_t index = (size_t)(fd - FILE_FD);
    return fd >= FILE_FD && index < scripted.file_count ? &scripted.files[index] : NULL;
}

static bool is_gone(const script_file *file) {
    return file->owner != NULL && file->owner->gone;
}

static script_file *file_by_path(const char *path) {
    for (size_t i = 0; i < scripted.file_count; i++)
        if (!is_gone(&scripted.files[i]) && strcmp(scripted.files[i].path, path) == 0)
            return &scripted.files[i];
    return NULL;
}

static bool is_scripted_path(const char *path) {
    int pid;
    return sscanf(path, "/proc/%d", &pid) == 1 && pid >= SCRIPT_FIRST_PID;
}

static int fake_open_at(int dir_fd, const char *path, int flags, mode_t mode) {
    script_file *file = file_by_path(path);
    if (file == NULL)
        return is_scripted_path(path) ? -ENOENT
                                      : pp_linux_sys_real.open_at(dir_fd, path, flags, mode);
    file->opens++;
    if (file->vanishing_opens != 0) {
        file->vanishing_opens--;
        return -ENOENT;
    }
    if (file->open_errno != 0)
        return -file->open_errno;
    file->held++;
    file->at = 0;
    file->delivered = false;
    return FILE_FD + (int)(file - scripted.files);
}

static int fake_close(int fd) {
    if (fd == SELF_PIDFD)
        return 0;
    script_file *file = file_by_fd(fd);
    if (file == NULL && proc_by_fd(fd) == NULL)
        return pp_linux_sys_real.close(fd);
    if (file != NULL)
        file->held--;
    else
        scripted.pidfds--;
    return 0;
}

static ssize_t give(script_file *file, void *bytes, size_t size, size_t at) {
    pthread_mutex_lock(&lock);
    while (file->blocks)
        pthread_cond_wait(&unblocked, &lock);
    pthread_mutex_unlock(&lock);
    if (is_gone(file))
        return -ESRCH;
    if (file->read_errno != 0)
        return -file->read_errno;
    size_t left = at < file->size ? file->size - at : 0;
    size_t given = size < left ? size : left;
    if (file->step != 0 && given > file->step)
        given = file->step;
    memcpy(bytes, file->bytes + at, given);
    return (ssize_t)given;
}

static ssize_t fake_pread(int fd, void *bytes, size_t size, off_t offset) {
    script_file *file = file_by_fd(fd);
    return file ? give(file, bytes, size, (size_t)offset)
                : pp_linux_sys_real.pread(fd, bytes, size, offset);
}

static ssize_t fake_read(int fd, void *bytes, size_t size) {
    script_file *file = file_by_fd(fd);
    if (file == NULL)
        return pp_linux_sys_real.read(fd, bytes, size);
    ssize_t got = give(file, bytes, size, file->at);
    if (got > 0)
        file->at += (size_t)got;
    return got;
}

static int fake_rewind(int fd) {
    script_file *file = file_by_fd(fd);
    if (file == NULL)
        return pp_linux_sys_real.rewind(fd);
    file->delivered = false;
    return 0;
}

static ssize_t fake_read_dir(int fd, void *bytes, size_t size) {
    script_file *file = file_by_fd(fd);
    if (file == NULL)
        return pp_linux_sys_real.read_dir(fd, bytes, size);
    if (is_gone(file))
        return -ENOENT;
    if (file->read_errno != 0)
        return -file->read_errno;
    if (file->delivered && !file->endless)
        return 0;
    file->delivered = true;
    const uint16_t length = 32;
    char *at = bytes;
    memset(bytes, 0, file->entry_count * length);
    for (size_t i = 0; i < file->entry_count; i++, at += length) {
        memcpy(at + 16, &length, sizeof length);
        (void)snprintf(at + 19, length - 19U, "%d", file->entries[i]);
    }
    return (ssize_t)(file->entry_count * length);
}

static ssize_t fake_read_link(const char *path, char *bytes, size_t size) {
    script_file *file = file_by_path(path);
    if (file == NULL)
        return is_scripted_path(path) ? -ENOENT : pp_linux_sys_real.read_link(path, bytes, size);
    return file->open_errno ? -file->open_errno : give(file, bytes, size, 0);
}

static int fake_inode(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode) {
    script_proc *proc = proc_by_fd(fd);
    if (proc == NULL && fd != SELF_PIDFD)
        return pp_linux_sys_real.inode(fd, ret_fs_magic, ret_inode);
    *ret_fs_magic = PIDFS;
    *ret_inode = proc ? proc->inode : 1;
    return 0;
}

static int fake_clock(clockid_t clock, struct timespec *ret_time) {
    int32_t pid = clock < 0 ? ~(clock >> 3) : 0;
    script_proc *proc = proc_by_pid(pid);
    if (proc == NULL && pid >= SCRIPT_FIRST_PID)
        return -EINVAL;
    if (proc == NULL)
        return pp_linux_sys_real.clock(clock, ret_time);
    proc->gone = proc->gone_after_clock;
    if (proc->cpu_errno != 0)
        return -proc->cpu_errno;
    ret_time->tv_sec = proc->cpu_ns / 1000000000;
    ret_time->tv_nsec = proc->cpu_ns % 1000000000;
    return 0;
}

static pid_t fake_get_pgid(pid_t pid) {
    script_proc *proc = proc_by_pid(pid);
    if (proc != NULL)
        return proc->pgid;
    return pid >= SCRIPT_FIRST_PID ? -ESRCH : pp_linux_sys_real.get_pgid(pid);
}

static int fake_compare_memory(pid_t pid, pid_t other) {
    script_proc *proc = proc_by_pid(pid);
    if (proc == NULL)
        return pp_linux_sys_real.compare_memory(pid, other);
    proc->memory_questions++;
    return proc->memory_answer;
}

static int fake_pidfd_open(pid_t pid) {
    script_proc *proc = proc_by_pid(pid);
    if (proc == NULL && pid == getpid())
        return SELF_PIDFD;
    if (proc == NULL)
        return pid >= SCRIPT_FIRST_PID ? -ESRCH : pp_linux_sys_real.pidfd_open(pid);
    scripted.pidfds++;
    proc->gone = proc->handed_over;
    return PIDFD + (int)(proc - scripted.procs);
}

static int fake_pidfd_signal(int pidfd, int number, unsigned flags) {
    if (number != 0) {
        int calls = scripted.pidfd_signal.calls + 1;
        scripted.pidfd_signal = (script_signal){ calls, number, pidfd, flags };
    }
    script_proc *proc = proc_by_fd(pidfd);
    if (pidfd == SELF_PIDFD)
        return 0;
    if (proc == NULL)
        return pp_linux_sys_real.pidfd_signal(pidfd, number, flags);
    if (proc->gone)
        return -ESRCH;
    if (number == 0 && proc->foreign)
        return -EPERM;
    return number != 0 && proc->signal_errno != 0 ? -proc->signal_errno : 0;
}

/* Numbers are never signalled for real from a script. */
static int fake_kill(pid_t pid, int number) {
    scripted.kill = (script_signal){ scripted.kill.calls + 1, number, pid, 0 };
    return 0;
}

void script_reset(void) {
    memset(&scripted, 0, sizeof scripted); /* too big for a value on the stack */
    scripted.sys = pp_linux_sys_real;
    scripted.sys.open_at = fake_open_at;
    scripted.sys.close = fake_close;
    scripted.sys.pread = fake_pread;
    scripted.sys.read = fake_read;
    scripted.sys.rewind = fake_rewind;
    scripted.sys.read_dir = fake_read_dir;
    scripted.sys.read_link = fake_read_link;
    scripted.sys.inode = fake_inode;
    scripted.sys.clock = fake_clock;
    scripted.sys.get_pgid = fake_get_pgid;
    scripted.sys.compare_memory = fake_compare_memory;
    scripted.sys.pidfd_open = fake_pidfd_open;
    scripted.sys.pidfd_signal = fake_pidfd_signal;
    scripted.sys.kill = fake_kill;
}

static script_file *file_at(const char *path) {
    script_file *file = file_by_path(path);
    if (file == NULL) {
        if (scripted.file_count == SCRIPT_MAX)
            abort();
        file = &scripted.files[scripted.file_count++];
        (void)snprintf(file->path, sizeof file->path, "%s", path);
        int pid;
        if (sscanf(path, "/proc/%d", &pid) == 1)
            file->owner = proc_by_pid(pid);
    } else if (file->owner != NULL) {
        file->owner->cpu_ns++;
    }
    return file;
}

script_file *script_text(const char *path, const char *text) {
    script_file *file = file_at(path);
    file->size = strlen(text);
    if (file->size > sizeof file->bytes)
        abort();
    memcpy(file->bytes, text, file->size);
    return file;
}

script_file *script_of(const script_proc *proc, const char *name, const char *text) {
    char path[96];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", proc->pid, name);
    return script_text(path, text);
}

script_file *script_numbers(const char *path, const int32_t *numbers, size_t count) {
    script_file *file = file_at(path);
    file->numbers = true;
    file->entry_count = count;
    if (count > 0)
        memcpy(file->entries, numbers, count * sizeof *numbers);
    return file;
}

script_proc *script_process(int32_t pid, uint64_t start_ticks, uint64_t inode) {
    if (scripted.proc_count == SCRIPT_MAX)
        abort();
    script_proc *proc = &scripted.procs[scripted.proc_count++];
    *proc = (script_proc){
        .pid = pid, .pgid = pid, .inode = inode, .cpu_ns = 5000, .memory_answer = 1
    };
    char text[256];
    (void)snprintf(text, sizeof text,
                   "%d (app) S 1 %d %d 0 -1 0 1 1 1 1 1 1 30 12 20 0 1 0 %llu 4096 2\n", pid, pid,
                   pid, (unsigned long long)start_ticks);
    script_of(proc, "stat", text);
    script_of(proc, "statm", "600 7 3 1 0 5 0\n");
    script_of(proc, "io", "wchar: 1\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n");
    script_of(proc, "status",
              "Name:\tapp\nVmPTE:\t 8 kB\nSigIgn:\t0000000000000000\n"
              "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n");
    script_of(proc, "exe", "/opt/app");
    (void)snprintf(text, sizeof text, "/proc/%d/task", pid);
    script_numbers(text, &pid, 1);
    (void)snprintf(text, sizeof text, "task/%d/schedstat", pid);
    script_of(proc, text, "1000000000000 0 1\n");
    return proc;
}

void script_unblock(script_file *file) {
    pthread_mutex_lock(&lock);
    file->blocks = false;
    pthread_cond_broadcast(&unblocked);
    pthread_mutex_unlock(&lock);
}

int script_open_count(void) {
    int count = scripted.pidfds;
    for (size_t i = 0; i < scripted.file_count; i++)
        count += scripted.files[i].held;
    return count;
}
#else
typedef int pp_linux_only; /* no empty translation unit */
#endif
