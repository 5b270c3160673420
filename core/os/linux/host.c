/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever open changes about this process is remembered before it is changed, and close undoes
 * exactly what was changed, so a failed open leaves nothing behind. */
#include "linux_host.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* Terminal signals are for the harness to decide on; SIGTTOU is what taking the terminal back
 * would cost us. SIGCHLD must not be ignored, or children would reap themselves. */
static const int ignored[] = { SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGPIPE, SIGTTOU };
enum { IGNORED_COUNT = sizeof ignored / sizeof *ignored };
_Static_assert(IGNORED_COUNT + 1 == PP_LINUX_IGNORED_COUNT, "the last one is SIGCHLD");

static void change_signals(pp_linux_host *host) {
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction normal = { .sa_handler = SIG_DFL };
    for (int i = 0; i < IGNORED_COUNT; i++)
        (void)sigaction(ignored[i], &ignore, &host->saved.actions[i]);
    (void)sigaction(SIGCHLD, &normal, &host->saved.actions[IGNORED_COUNT]);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    (void)pthread_sigmask(SIG_BLOCK, &child, &host->saved.mask);
    host->saved.signals_changed = true;
}

static void restore_signals(pp_linux_host *host) {
    if (!host->saved.signals_changed)
        return;
    for (int i = 0; i < IGNORED_COUNT; i++)
        (void)sigaction(ignored[i], &host->saved.actions[i], NULL);
    (void)sigaction(SIGCHLD, &host->saved.actions[IGNORED_COUNT], NULL);
    (void)pthread_sigmask(SIG_SETMASK, &host->saved.mask, NULL);
}

static pp_status change_slack(pp_linux_host *host, pp_error *reterr) {
    int slack_ns = host->sys->prctl(PR_GET_TIMERSLACK, 0);
    if (slack_ns < 0)
        return pp_fail(reterr, PP_E_SYS, -slack_ns, "prctl", "PR_GET_TIMERSLACK");
    host->saved.slack_ns = (unsigned long)slack_ns;
    int result = host->sys->prctl(PR_SET_TIMERSLACK, 1);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "prctl", "PR_SET_TIMERSLACK");
    host->saved.slack_changed = true;
    return PP_OK;
}

/* Four descriptors per process: the soft limit is too low for a large tree. */
static pp_status change_nofile(pp_linux_host *host, pp_error *reterr) {
    int result = host->sys->get_nofile(&host->saved.nofile);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "getrlimit", "RLIMIT_NOFILE");
    struct rlimit raised = host->saved.nofile;
    raised.rlim_cur = raised.rlim_max;
    result = host->sys->set_nofile(&raised);
    pp__linux_record(host, PP_LINUX_FACT_NOFILE, result);
    host->saved.nofile_changed = result >= 0;
    return PP_OK;
}

/* The probe tells whether that worked. */
static void become_subreaper(pp_linux_host *host) {
    int result = host->sys->prctl(PR_SET_CHILD_SUBREAPER, 1);
    pp__linux_record(host, PP_LINUX_FACT_SUBREAPER, result);
    host->saved.subreaper_changed = result >= 0;
}

static pp_status set_up(pp_linux_host *host, pp_error *reterr) {
    long page_bytes = sysconf(_SC_PAGESIZE), ticks = sysconf(_SC_CLK_TCK);
    if (page_bytes <= 0 || ticks <= 0)
        return pp_fail(reterr, PP_E_SYS, errno, "sysconf", "page size or clock tick");
    host->page_bytes = (uint64_t)page_bytes;
    host->ticks_per_second = (uint64_t)ticks;

    change_signals(host);
    become_subreaper(host);
    pp_status status = change_slack(host, reterr);
    if (status == PP_OK)
        status = change_nofile(host, reterr);
    if (status != PP_OK)
        return status;
    host->proc_fd = host->sys->open_at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (host->proc_fd < 0)
        return pp_fail(reterr, PP_E_SYS, -host->proc_fd, "open", "/proc");
    status = pp__linux_wait_open(host, reterr);
    return status == PP_OK ? pp__linux_probe(host, reterr) : status;
}

static void tear_down(pp_linux_host *host) {
    const pp_linux_sys *sys = host->sys;
    pp__linux_readers_close(host);
    pp__linux_terminal_back(host);
    pp__linux_streams_close(host);
    pp__linux_handles_done(host);
    pp__linux_births_close(host);
    (void)pp__linux_leaf_close(host, NULL); /* the verdict told whether somebody is in it */
    pp__linux_close(sys, &host->leader_pidfd);
    pp__linux_close(sys, &host->proc_fd);
    pp__linux_close(sys, &host->self_io_fd);
    pp__linux_close(sys, &host->own_children_fd);
    pp__linux_close(sys, &host->timer_fd);
    pp__linux_close(sys, &host->signal_fd);
    pp__linux_close(sys, &host->epoll_fd);
    if (host->saved.nofile_changed)
        (void)sys->set_nofile(&host->saved.nofile);
    if (host->saved.slack_changed)
        (void)sys->prctl(PR_SET_TIMERSLACK, host->saved.slack_ns);
    if (host->saved.subreaper_changed)
        (void)sys->prctl(PR_SET_CHILD_SUBREAPER, 0);
    restore_signals(host);
    free(host);
}

static pp_status host_now(void *ctx, pp_now *ret_now, pp_error *reterr) {
    (void)ctx;
    return pp_host_now(ret_now, reterr);
}

static pp_reading read_own_rss(const pp_linux_host *host) {
    char bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_statm statm;
    pp_status status =
        pp__linux_read_path(host->sys, "/proc/self/statm", bytes, sizeof bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_statm(bytes, size, &statm, NULL);
    return status == PP_OK ? pp_known(statm.resident_pages * host->page_bytes) : pp_missing(status);
}

static pp_status own_cost(void *ctx, pp_reading *ret_cpu_ns, pp_reading *ret_rss_bytes,
                          pp_error *reterr) {
    pp_linux_host *host = ctx;
    struct timespec time;
    int result = host->sys->clock(CLOCK_PROCESS_CPUTIME_ID, &time);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "clock_gettime", "CLOCK_PROCESS_CPUTIME_ID");
    *ret_cpu_ns = pp_known((uint64_t)(time.tv_sec * PP_LINUX_NS_PER_SECOND + time.tv_nsec));
    *ret_rss_bytes = read_own_rss(host);
    return PP_OK;
}

static pp_status capability(void *ctx, size_t index, const char **ret_name, pp_status *ret_state,
                            int *ret_errno, const char **ret_consequence) {
    const pp_linux_host *host = ctx;
    if (index >= PP_LINUX_FACT_COUNT)
        return PP_E_VANISHED;
    *ret_name = host->facts[index].name;
    *ret_state = host->facts[index].state;
    *ret_errno = host->facts[index].sys_errno;
    *ret_consequence = host->facts[index].consequence;
    return PP_OK;
}

static pp_os os_over(pp_linux_host *host) {
    return (pp_os){
        .ctx = host,
        .now = host_now,
        .wait = pp__linux_wait,
        .channel_send = pp__linux_channel_send,
        .channel_recv = pp__linux_channel_recv,
        .spawn = pp__linux_spawn,
        .observe_exit = pp__linux_observe_exit,
        .reap = pp__linux_reap,
        .no_children_left = pp__linux_no_children_left,
        .orphan_ended = pp__linux_orphan_ended,
        .reap_orphan = pp__linux_reap_orphan,
        .own_written = pp__linux_own_written,
        .list_group = pp__linux_list_group,
        .list_children = pp__linux_list_children,
        .list_own_children = pp__linux_list_own_children,
        .identify = pp__linux_identify,
        .inspect = pp__linux_inspect,
        .usage = pp__linux_usage,
        .memory = pp__linux_memory,
        .notices = pp__linux_notices,
        .leaf_read = pp__linux_leaf_read,
        .leaf_list = pp__linux_leaf_list,
        .leaf_holds = pp__linux_leaf_holds,
        .leaf_empty = pp__linux_leaf_empty,
        .leaf_kill = pp__linux_leaf_kill,
        .leaf_path = pp__linux_leaf_path,
        .forget = pp__linux_forget,
        .signal = pp__linux_signal,
        .signal_group = pp__linux_signal_group,
        .kill_children = pp__linux_kill_children,
        .drain_output = pp__linux_drain_output,
        .save = pp__linux_save,
        .own_cost = own_cost,
        .capability = capability,
        .adopts = true,
    };
}

pp_status pp_linux_host_open(const pp_linux_sys *sys, const pp_host_options *options, pp_os *ret_os,
                             pp_error *reterr) {
    pp_linux_host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "host", "no memory");
    host->sys = sys ? sys : &pp_linux_sys_real;
    host->options = *options;
    host->own_pid = (int32_t)getpid();
    host->proc_fd = host->self_io_fd = host->own_children_fd = host->leader_pidfd = -1;
    host->epoll_fd = host->signal_fd = host->timer_fd = -1;
    pp__linux_leaf_init(&host->leaf);
    pp__linux_births_init(&host->births);
    for (size_t i = 0; i < 2; i++)
        host->streams[i] = (pp_linux_stream){ .pipe_fd = -1, .file_fd = -1 };

    pp_status status = set_up(host, reterr);
    if (status != PP_OK) {
        tear_down(host);
        return status;
    }
    *ret_os = os_over(host);
    return PP_OK;
}

void pp_linux_host_close(pp_os *os) {
    if (os == NULL || os->ctx == NULL)
        return;
    pp_linux_host *host = os->ctx;
    *os = (pp_os){ 0 };
    tear_down(host);
}

/* Frames come and go by the kilobyte. Giving their pages back and taking new ones costs more than
 * filling them; a backlog of many frames is given back all the same. */
static void keep_freed_memory(void) {
#ifdef M_TRIM_THRESHOLD
    (void)mallopt(M_TRIM_THRESHOLD, 512 << 10);
    (void)mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

/* A frame takes a fraction of a millisecond, so short turns are asked for: on a busy machine they
 * come earlier than the long ones of others (Linux 6.12; before, this changes nothing). Whatever we
 * start has its own again. */
static void ask_for_short_turns(void) {
    struct scheduling {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } wanted = { 0 };
    if (syscall(SYS_sched_getattr, 0, &wanted, sizeof wanted, 0) != 0 || wanted.policy != 0)
        return;
    wanted.flags |= 1; /* SCHED_FLAG_RESET_ON_FORK */
    wanted.runtime_ns = 100000;
    (void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

pp_status pp_host_open(const pp_host_options *options, pp_os *ret_os, pp_error *reterr) {
    keep_freed_memory();
    ask_for_short_turns();
    return pp_linux_host_open(NULL, options, ret_os, reterr);
}

void pp_host_close(pp_os *os) {
    pp_linux_host_close(os);
}
