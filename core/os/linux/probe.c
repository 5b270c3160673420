/* SPDX-License-Identifier: Apache-2.0 */
/* Every capability is found by trying it on ourselves, never by a version number. What does not
 * work is recorded with its errno and with what that means for the evidence. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

#define PIDFS_MAGIC UINT64_C(0x50494446)
#define RSS_TOLERANCE_BYTES UINT64_C(65536) /* what one pass of this file may touch */

static const char *const names[PP_LINUX_FACT_COUNT] = {
    [PP_LINUX_FACT_PIDFD] = "pidfd",
    [PP_LINUX_FACT_INODE] = "pidfs_inode",
    [PP_LINUX_FACT_GROUP_SIGNAL] = "pidfd_group_signal",
    [PP_LINUX_FACT_SUBREAPER] = "subreaper",
    [PP_LINUX_FACT_CPU_CLOCK] = "cpu_clock",
    [PP_LINUX_FACT_THREAD_TIMES] = "thread_times",
    [PP_LINUX_FACT_CHILDREN] = "children_files",
    [PP_LINUX_FACT_IO] = "io_counters",
    [PP_LINUX_FACT_ROLLUP] = "smaps_rollup",
    [PP_LINUX_FACT_RSS] = "exact_rss",
    [PP_LINUX_FACT_SHARED_MEMORY] = "shared_memory",
    [PP_LINUX_FACT_NOFILE] = "descriptor_limit",
    [PP_LINUX_FACT_LEAF] = "cgroup_leaf",
    [PP_LINUX_FACT_LANDLOCK] = "landlock",
    [PP_LINUX_FACT_BIRTHS] = "process_events",
};

static const char *const consequences[PP_LINUX_FACT_COUNT] = {
    [PP_LINUX_FACT_PIDFD] = "no host: processes cannot be held",
    [PP_LINUX_FACT_INODE] = "identity: pid and 10 ms start token, bound by held descriptors",
    [PP_LINUX_FACT_GROUP_SIGNAL] = "group signals by number, only while the leader is pinned",
    [PP_LINUX_FACT_SUBREAPER] = "no host: orphans would not be adopted",
    [PP_LINUX_FACT_CPU_CLOCK] = "no CPU reading",
    [PP_LINUX_FACT_THREAD_TIMES] = "switches: threads that ended unseen are not noticed",
    [PP_LINUX_FACT_CHILDREN] = "children are found by a scan of all processes",
    [PP_LINUX_FACT_IO] = "no I/O reading",
    [PP_LINUX_FACT_ROLLUP] = "no proportional memory reading",
    [PP_LINUX_FACT_RSS] = "resident size is approximate or unconfirmed",
    [PP_LINUX_FACT_SHARED_MEMORY] = "a vfork child may count its parent's memory again",
    [PP_LINUX_FACT_NOFILE] = "the soft descriptor limit stays; large trees may not be held",
    [PP_LINUX_FACT_LEAF] = "no cgroup of its own: totals by conservation, ends by pid alone",
    [PP_LINUX_FACT_LANDLOCK] = "writes cannot be confined",
    [PP_LINUX_FACT_BIRTHS] = "births are not counted, and children are listed in every frame",
};

static void record_status(pp_linux_host *host, pp_linux_fact fact, pp_status state, int sys_errno) {
    host->facts[fact] = (pp_linux_capability){
        .name = names[fact],
        .state = state,
        .sys_errno = sys_errno,
        .consequence = state == PP_OK ? "" : consequences[fact],
    };
}

void pp__linux_record(pp_linux_host *host, pp_linux_fact fact, ssize_t result) {
    int sys_errno = result < 0 ? (int)-result : 0;
    pp_status state = PP_OK;
    if (sys_errno == ENOENT || sys_errno == EINVAL) /* no such file or flag */
        state = PP_E_UNSUPPORTED;
    else if (sys_errno != 0)
        state = pp_status_from_errno(sys_errno);
    record_status(host, fact, state, sys_errno);
}

void pp__linux_record_error(pp_linux_host *host, pp_linux_fact fact, const pp_error *error) {
    record_status(host, fact, error->status, error->sys_errno);
}

/* Two pidfds of one process share an inode in pidfs; elsewhere all pidfds of the system do. */
ssize_t pp__linux_try_inode(const pp_linux_host *host, int pidfd) {
    uint64_t magic, inode, again;
    int result = host->sys->inode(pidfd, &magic, &inode);
    if (result < 0)
        return result;
    if (magic != PIDFS_MAGIC || inode == 0)
        return -ENOSYS;
    int second = host->sys->pidfd_open((int32_t)getpid());
    if (second < 0)
        return second;
    result = host->sys->inode(second, &magic, &again);
    pp__linux_close(host->sys, &second);
    return result < 0 ? result : again == inode ? 0 : -ENOSYS;
}

/* A kernel that knows the flag answers about our group (ESRCH: we lead none). */
static ssize_t try_group_signal(pp_linux_host *host, int pidfd) {
    int result = host->sys->pidfd_signal(pidfd, 0, PIDFD_SIGNAL_PROCESS_GROUP);
    return result == -ESRCH || result == -EPERM ? 0 : result;
}

static ssize_t try_path(pp_linux_host *host, const char *path, char *buf, size_t capacity) {
    int fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    ssize_t got = host->sys->pread(fd, buf, capacity, 0);
    pp__linux_close(host->sys, &fd);
    return got;
}

static ssize_t try_children(pp_linux_host *host) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    return try_path(host, path, bytes, sizeof bytes);
}

/* Held for the bracket around each reap. */
static ssize_t try_io(pp_linux_host *host) {
    char bytes[PP_LINUX_FILE_MAX];
    int fd = host->sys->open_at(AT_FDCWD, "/proc/self/io", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    ssize_t got = host->sys->pread(fd, bytes, sizeof bytes, 0);
    if (got < 0)
        pp__linux_close(host->sys, &fd);
    host->self_io_fd = fd;
    return got;
}

static ssize_t try_cpu_clock(pp_linux_host *host) {
    struct timespec time;
    clockid_t clock = (clockid_t)(~(uint32_t)getpid() << 3 | 2U);
    return host->sys->clock(clock, &time);
}

/* Kernels without the figure show 0, and we have run. */
static ssize_t try_thread_times(pp_linux_host *host) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    uint64_t time_ns;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", getpid());
    ssize_t got = try_path(host, path, bytes, sizeof bytes);
    if (got < 0)
        return got;
    pp_status status = pp__linux_decode_schedstat(bytes, (size_t)got, &time_ns, NULL);
    return status == PP_OK && time_ns > 0 ? 0 : -ENOSYS;
}

/* smaps_rollup counts pages; statm may be an estimate (before about 6.17). */
static void probe_memory(pp_linux_host *host) {
    char bytes[PP_LINUX_FILE_MAX];
    pp_linux_rollup rollup;
    pp_linux_statm statm;
    ssize_t got = try_path(host, "/proc/self/smaps_rollup", bytes, sizeof bytes);
    pp__linux_record(host, PP_LINUX_FACT_ROLLUP, got);
    record_status(host, PP_LINUX_FACT_RSS, PP_E_UNVERIFIED, 0);
    if (got < 0 || pp__linux_decode_rollup(bytes, (size_t)got, &rollup, NULL) != PP_OK ||
        !rollup.rss_bytes.known)
        return;
    got = try_path(host, "/proc/self/statm", bytes, sizeof bytes);
    if (got < 0 || pp__linux_decode_statm(bytes, (size_t)got, &statm, NULL) != PP_OK)
        return;
    uint64_t exact = rollup.rss_bytes.value, shown = statm.resident_pages * host->page_bytes;
    uint64_t difference = exact > shown ? exact - shown : shown - exact;
    if (difference <= RSS_TOLERANCE_BYTES)
        record_status(host, PP_LINUX_FACT_RSS, PP_OK, 0);
}

static void probe_landlock(pp_linux_host *host) {
    int abi;
    pp_error error;
    if (pp__linux_landlock_abi(host->sys, &abi, &error) == PP_OK)
        record_status(host, PP_LINUX_FACT_LANDLOCK, PP_OK, 0);
    else
        pp__linux_record_error(host, PP_LINUX_FACT_LANDLOCK, &error);
}

static void switch_off(pp_linux_host *host, pp_linux_fact fact) {
    record_status(host, fact, PP_E_UNSUPPORTED, 0);
    host->facts[fact].consequence = "switched off by PP_KERNEL";
}

static bool is_word(const char *word, size_t size, const char *wanted) {
    return size == strlen(wanted) && memcmp(word, wanted, size) == 0;
}

/* Makes the host believe in an older kernel or a poorer place, so that its other half is tested. */
static pp_status apply_switches(pp_linux_host *host, pp_error *reterr) {
    const char *words = getenv("PP_KERNEL");
    while (words != NULL && words[0] != '\0') {
        size_t size = strcspn(words, ",");
        if (is_word(words, size, "6.1")) {
            switch_off(host, PP_LINUX_FACT_INODE);
            switch_off(host, PP_LINUX_FACT_GROUP_SIGNAL);
            switch_off(host, PP_LINUX_FACT_LANDLOCK);
            switch_off(host, PP_LINUX_FACT_BIRTHS);
        } else if (is_word(words, size, "no-cgroup")) {
            switch_off(host, PP_LINUX_FACT_LEAF);
            host->wants_no_leaf = true;
        } else {
            return pp_fail(reterr, PP_E_INVALID, 0, "PP_KERNEL",
                           "\"%s\"; known are 6.1 and no-cgroup, with a comma between", words);
        }
        words += size;
        words += words[0] == ',';
    }
    return PP_OK;
}

bool pp__linux_switched(const char *wanted) {
    const char *words = getenv("PP_KERNEL");
    while (words != NULL && words[0] != '\0') {
        size_t size = strcspn(words, ",");
        if (is_word(words, size, wanted))
            return true;
        words += size;
        words += words[0] == ',';
    }
    return false;
}

static pp_status require(const pp_linux_host *host, pp_linux_fact fact, pp_error *reterr) {
    const pp_linux_capability *found = &host->facts[fact];
    if (found->state == PP_OK)
        return PP_OK;
    return pp_fail(reterr, PP_E_UNSUPPORTED, found->sys_errno, found->name, "%s",
                   found->consequence);
}

/* Half of the descriptors are for what cannot be done without. */
static void limit_kept(pp_linux_host *host) {
    struct rlimit limit;
    bool known = host->sys->get_nofile(&limit) >= 0;
    host->kept_fd_max = !known ? 0 : limit.rlim_cur > INT_MAX ? INT_MAX : (int)(limit.rlim_cur / 2);
}

pp_status pp__linux_probe(pp_linux_host *host, pp_error *reterr) {
    limit_kept(host);
    int pidfd = host->sys->pidfd_open((int32_t)getpid());
    ssize_t usable = pidfd < 0 ? pidfd : host->sys->pidfd_signal(pidfd, 0, 0);
    pp__linux_record(host, PP_LINUX_FACT_PIDFD, usable);
    pp__linux_record(host, PP_LINUX_FACT_INODE,
                     pidfd < 0 ? pidfd : pp__linux_try_inode(host, pidfd));
    pp__linux_record(host, PP_LINUX_FACT_GROUP_SIGNAL,
                     pidfd < 0 ? pidfd : try_group_signal(host, pidfd));
    pp__linux_close(host->sys, &pidfd);
    pp__linux_record(host, PP_LINUX_FACT_CPU_CLOCK, try_cpu_clock(host));
    pp__linux_record(host, PP_LINUX_FACT_THREAD_TIMES, try_thread_times(host));
    pp__linux_record(host, PP_LINUX_FACT_CHILDREN, try_children(host));
    pp__linux_record(host, PP_LINUX_FACT_IO, try_io(host));
    probe_memory(host);
    pp__linux_record(host, PP_LINUX_FACT_SHARED_MEMORY,
                     host->sys->compare_memory((pid_t)getpid(), (pid_t)getpid()));
    record_status(host, PP_LINUX_FACT_LEAF, PP_E_UNVERIFIED, 0); /* tried at the start */
    probe_landlock(host);
    record_status(host, PP_LINUX_FACT_BIRTHS, PP_E_UNVERIFIED, 0); /* seen at the start */

    pp_status status = apply_switches(host, reterr);
    if (status == PP_OK)
        status = require(host, PP_LINUX_FACT_PIDFD, reterr);
    if (status == PP_OK)
        status = require(host, PP_LINUX_FACT_SUBREAPER, reterr);
    return status;
}
