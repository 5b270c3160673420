/* SPDX-License-Identifier: Apache-2.0 */
/* What the Linux host reads of real processes: identity, CPU, memory, writes, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "linux_live.h"
#include "memory_of.h"

enum { MIB = 1024 * 1024, BURN_MS = 300, BLOCK_MIB = 16 };

/* ---- what this program does when it is started again ---- */

static void burn(int ms) {
    struct timespec used;
    do
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

static _Noreturn void stay(void) {
    for (;;)
        (void)pause();
}

static void say(const char *word) {
    (void)puts(word);
    (void)fflush(stdout);
}

static void touch(size_t bytes) {
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block != MAP_FAILED)
        memset(block, 1, bytes);
}

static _Noreturn void *live_on(void *main_thread) {
    (void)pthread_join(*(pthread_t *)main_thread, NULL);
    touch(BLOCK_MIB * (size_t)MIB);
    say("ready");
    stay();
}

/* The main thread ends, another one goes on. */
static int again_headless(void) {
    static pthread_t self;
    pthread_t other;
    self = pthread_self();
    if (pthread_create(&other, NULL, live_on, &self) != 0)
        return 1;
    pthread_exit(NULL);
}

static void *sleep_often(void *argument) {
    const struct timespec moment = { .tv_nsec = 1000000 };
    for (int i = 0; i < 200; i++)
        (void)nanosleep(&moment, NULL);
    return argument;
}

/* Sleeps a hundred times and stays until it is let go. */
static void *sleep_and_stay(void *argument) {
    (void)sleep_often(argument);
    (void)sem_wait(argument);
    return argument;
}

/* Its child stays in its address space. */
static int again_vfork(void) {
    touch(BLOCK_MIB * (size_t)MIB);
    if (vfork() == 0) /* NOLINT: what it does to its parent is the point */
        for (;;)
            (void)pause(); /* NOLINT */
    stay();
}

enum { THREADS = 5 };

static void await_usr1(void) {
    sigset_t usr1;
    int number;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &usr1, NULL);
    say("ready");
    (void)sigwait(&usr1, &number);
}

static void start_all(pthread_t threads[THREADS], void *(*body)(void *), void *argument) {
    for (int i = 0; i < THREADS; i++)
        (void)pthread_create(&threads[i], NULL, body, argument);
}

static void join_all(const pthread_t threads[THREADS]) {
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    say("joined");
}

static int again_threads(void) {
    pthread_t threads[THREADS];
    static sem_t leave;
    (void)sem_init(&leave, 0, 0);
    start_all(threads, sleep_and_stay, &leave);
    await_usr1();
    for (int i = 0; i < THREADS; i++)
        (void)sem_post(&leave);
    join_all(threads);
    stay();
}

static int again_unseen(void) {
    pthread_t threads[THREADS];
    start_all(threads, sleep_often, NULL);
    join_all(threads);
    await_usr1();
    _exit(0); /* a sanitizer's work at exit would be a waited-for child */
}

static int again_block(void) {
    touch(BLOCK_MIB * (size_t)MIB);
    say("ready");
    stay();
}

/* A child that burns and is waited for; then burns as much itself and ends. */
static int again_burn(void) {
    pid_t child = fork();
    if (child == 0) {
        burn(BURN_MS);
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
    burn(BURN_MS);
    return 0;
}

static int again_hostile_name(void) {
    (void)prctl(PR_SET_NAME, "x) S 1 (y", 0, 0, 0);
    say("ready");
    stay();
}

static int again_ignores_children(void) {
    (void)signal(SIGCHLD, SIG_IGN);
    say("ready");
    stay();
}

static const struct {
    const char *mode;
    int (*body)(void);
} modes[] = {
    { "headless", again_headless },    { "threads", again_threads },
    { "block", again_block },          { "burn", again_burn },
    { "hostile", again_hostile_name }, { "ignores", again_ignores_children },
    { "unseen", again_unseen },        { "vfork", again_vfork },
};

/* ---- tests ---- */

/* proves: GRP-5 */
static void a_process_whose_main_thread_ended_lives_and_shows_its_memory(void **state) {
    (void)state;
    pp_exit exit;
    pp_proc_id id = live_again("headless");
    (void)live_await_output("ready");
    assert_int_equal(live_inspect(id).phase, PP_PHASE_ALIVE);
    assert_int_equal(live_os.observe_exit(live_os.ctx, id, &exit, &live_error), PP_E_AGAIN);
    pp_usage usage = live_usage(id, true);
    assert_true(usage.rss_bytes.known && usage.rss_bytes.value >= BLOCK_MIB * (uint64_t)MIB);
    assert_true(usage.cpu_ns.known && usage.cpu_ns.value > 0);
    assert_true(usage.voluntary_switches.known);
    pp_memory memory = { 0 };
    assert_int_equal(memory_of(&live_os, id, INT64_MAX, &memory, &live_error), PP_OK);
    assert_true(memory.uss_bytes.known && memory.uss_bytes.value >= BLOCK_MIB * (uint64_t)MIB);
    live_end(id);
}

/* proves: SMP-2 */
static void memory_readings_agree_with_what_was_touched(void **state) {
    (void)state;
    const uint64_t block = BLOCK_MIB * (uint64_t)MIB, other = 12 * (uint64_t)MIB;
    pp_proc_id id = live_again("block");
    pp_memory memory = { 0 };
    (void)live_await_output("ready");
    assert_int_equal(memory_of(&live_os, id, INT64_MAX, &memory, &live_error), PP_OK);
    uint64_t rss = live_usage(id, false).rss_bytes.value;
    assert_in_range(memory.footprint_pss_bytes.value, block, block + other);
    assert_in_range(memory.uss_bytes.value, block, rss);
    assert_in_range(memory.pss_bytes.value, memory.uss_bytes.value, rss + MIB);
    assert_true(memory.swap_bytes.known);
    live_end(id);
}

/* Without privilege, and over a child of another process. */
static int host_of_a_vfork_child(void) {
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
        return 77;
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    if (pp_host_open(&options, &live_os, &live_error) != PP_OK)
        return 1;
    char *const words[] = { "again", "vfork", NULL };
    pp_command command = { .path = "/proc/self/exe", .argv = words, .envp = words + 2, .cwd = "/" };
    pp_proc_id id;
    if (live_os.spawn(live_os.ctx, &command, &id, &live_error) != PP_OK)
        return 77; /* no way to start it here */
    pp_pid_list children = { 0 };
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    while (children.count == 0 && live_now() < limit) {
        const struct timespec moment = { .tv_nsec = 1000000 };
        (void)nanosleep(&moment, NULL);
        pp_pid_list_done(&children);
        (void)live_os.list_children(live_os.ctx, id.pid, &children, &live_error);
    }
    if (children.count == 0)
        return 4;
    pp_usage usage = live_usage(live_identify(children.pids[0]).id, true);
    bool shares = usage.shares_memory && usage.rss_bytes.value > BLOCK_MIB * (uint64_t)MIB;
    bool parent_shares = live_usage(id, true).shares_memory;
    live_end(id);
    pp_pid_list_done(&children);
    pp_host_close(&live_os);
    return !shares ? 2 : parent_shares ? 3 : 0;
}

/* proves: MET-3 */
static void a_vfork_child_is_no_second_copy_of_its_parents_memory(void **state) {
    (void)state;
    int result = live_forked(host_of_a_vfork_child);
    if (result == 77)
        skip();
    assert_int_equal(result, 0);
}

/* proves: SMP-2, SMP-5 */
static void a_zombie_keeps_its_counters_and_the_reap_agrees(void **state) {
    (void)state;
    const uint64_t burned = BURN_MS * UINT64_C(1000000), tick = 10 * UINT64_C(1000000);
    pp_proc_id id = live_again("burn");
    (void)live_await_exit(id);
    pp_usage usage = live_usage(id, false);
    assert_true(usage.cpu_ns.known && usage.child_cpu_ns.known);
    assert_in_range(usage.cpu_ns.value, burned, 10 * burned);
    assert_in_range(usage.child_cpu_ns.value, burned - 2 * tick, 10 * burned);
    assert_int_equal(usage.rss_bytes.known, false);
    assert_int_equal(usage.rss_bytes.why, PP_E_VANISHED);
    pp_reading written;
    pp_exit exit = live_reap(id, &written);
    uint64_t both = usage.cpu_ns.value + usage.child_cpu_ns.value;
    assert_in_range(exit.cpu_ns.value, both - 2 * tick, both + 2 * tick);
}

static void reaping_accounts_what_the_whole_life_wrote(void **state) {
    (void)state;
    pp_proc_id id = live_shell("dd if=/dev/zero of=blob bs=1048576 count=3 2>/dev/null");
    (void)live_await_exit(id);
    pp_usage usage = live_usage(id, false);
    pp_reading written;
    (void)live_reap(id, &written);
    if (!usage.write_bytes.known) { /* kernel without I/O accounting */
        assert_int_equal(written.why, usage.write_bytes.why);
        skip();
    }
    assert_true(written.known);
    assert_int_equal(written.value, usage.write_bytes.value); /* 0 on a memory file system */
}

/* One who is preempted on the way to sleep goes involuntarily. */
static uint64_t switches(const pp_usage *usage) {
    return usage->voluntary_switches.value + usage->involuntary_switches.value;
}

/* proves: SMP-2, MET-2 */
static void switches_of_all_threads_are_kept_when_the_threads_end(void **state) {
    (void)state;
    pp_proc_id id = live_again("threads");
    (void)live_await_output("ready");
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    pp_usage before;
    do {
        assert_true(live_now() < limit);
        live_pause();
        before = live_usage(id, true);
    } while (switches(&before) < 1000); /* 5 threads, 200 sleeps each */
    assert_int_equal(before.threads.value, 6);
    assert_false(before.switches_lower_bound);
    assert_int_equal(live_os.signal(live_os.ctx, id, SIGUSR1, &live_error), PP_OK);
    (void)live_await_output("joined");
    pp_usage after = live_usage(id, true);
    assert_int_equal(after.threads.value, 1);
    assert_true(after.voluntary_switches.value >= before.voluntary_switches.value);
    assert_true(after.switches_lower_bound);
    live_end(id);
}

/* proves: SMP-2, MET-2 */
static void switches_of_threads_that_nobody_saw_are_counted_at_the_end(void **state) {
    (void)state;
    pp_proc_id id = live_again("unseen");
    (void)live_await_output("joined");
    pp_usage alive = live_usage(id, true);
    assert_true(switches(&alive) < 1000);
    assert_true(alive.switches_lower_bound);
    assert_int_equal(live_os.signal(live_os.ctx, id, SIGUSR1, &live_error), PP_OK);
    (void)live_await_exit(id);
    pp_usage ended = live_usage(id, true);
    assert_true(switches(&ended) >= 1000);
    assert_false(ended.switches_lower_bound);
    live_end(id);
}

/* proves: TRK-1 */
static void B01_a_hostile_thread_name_changes_nothing_else(void **state) {
    (void)state;
    pp_proc_id id = live_again("hostile");
    (void)live_await_output("ready");
    pp_proc_info info = live_inspect(id);
    assert_int_equal(info.ppid, getpid());
    assert_int_equal(info.pgid, id.pid);
    assert_int_equal(info.id.start, id.start);
    assert_int_equal(info.phase, PP_PHASE_ALIVE);
    assert_non_null(strstr(info.exe, "test_linux_process_live"));
    live_end(id);
}

static void ignoring_sigchld_is_seen(void **state) {
    (void)state;
    pp_proc_id id = live_again("ignores");
    (void)live_await_output("ready");
    (void)live_usage(id, true);
    assert_true(live_inspect(id).sigchld_ignored);
    live_end(id);
}

/* proves: TRK-1 */
static void a_start_lies_between_the_clocks_around_it(void **state) {
    (void)state;
    const uint64_t tick_ns = 10000000;
    pp_now before, after;
    assert_int_equal(live_os.now(live_os.ctx, &before, &live_error), PP_OK);
    pp_proc_id id = live_shell("exit 0");
    assert_int_equal(live_os.now(live_os.ctx, &after, &live_error), PP_OK);
    pp_proc_info info = live_inspect(id);
    assert_in_range(info.start_ns, (uint64_t)before.cont_ns - tick_ns, (uint64_t)after.cont_ns);
    assert_true(live_old_kernel() == (id.unique == 0));
    live_end(id);
}

/* Forks a child that waits to be killed, under a number of our choice if the kernel lets us. */
static pid_t fork_sleeper(pid_t wanted) {
    if (wanted > 0) {
        char text[16];
        int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
        int size = snprintf(text, sizeof text, "%d", wanted - 1);
        bool set = fd >= 0 && write(fd, text, (size_t)size) == size;
        (void)close(fd);
        if (!set)
            return 0;
    }
    pid_t pid = fork();
    if (pid == 0)
        stay();
    return pid;
}

static void end_sleeper(pid_t pid) {
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* proves: TRK-1, GRP-7 */
static void a_reused_number_is_told_from_the_process_that_had_it(void **state) {
    (void)state;
    pid_t pid = fork_sleeper(0);
    pp_proc_id old = live_identify(pid).id;
    const struct timespec two_ticks = { .tv_nsec = 20000000 };
    end_sleeper(pid);
    if (live_old_kernel()) /* its token has 10 ms steps */
        (void)nanosleep(&two_ticks, NULL);
    pid_t second = 0;
    for (int i = 0; i < 300 && second != pid; i++) { /* others may be faster */
        if (second > 0)
            end_sleeper(second);
        second = fork_sleeper(pid);
        if (second == 0)
            skip();
    }
    if (second != pid) {
        end_sleeper(second);
        skip();
    }
    pp_proc_info info;
    pp_usage usage;
    pp_exit exit;
    assert_int_equal(live_os.usage(live_os.ctx, old, true, &usage, &live_error), PP_E_STALE);
    assert_int_equal(live_os.inspect(live_os.ctx, old, &info, &live_error), PP_E_STALE);
    assert_int_equal(live_os.signal(live_os.ctx, old, SIGKILL, &live_error), PP_E_STALE);
    assert_int_equal(live_os.observe_exit(live_os.ctx, old, &exit, &live_error), PP_E_VANISHED);
    pp_proc_id fresh = live_identify(pid).id;
    assert_false(pp_proc_id_equal(old, fresh));
    assert_int_equal(live_inspect(fresh).phase, PP_PHASE_ALIVE);
    end_sleeper(pid);
}

/* Runs an execute-only program without privilege. */
static int host_of_an_unreadable_program(void) {
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
        return 77;
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    if (pp_host_open(&options, &live_os, &live_error) != PP_OK)
        return 1;
    char path[64];
    char *const words[] = { "app", "60", NULL };
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/app", live_run_dir_fd);
    pp_command command = { .path = path, .argv = words, .envp = words + 2, .cwd = "/" };
    pp_proc_id id;
    if (live_os.spawn(live_os.ctx, &command, &id, &live_error) != PP_OK)
        return 77; /* no way to start it here */
    pp_usage usage = live_usage(id, true);
    pp_memory memory = { 0 };
    pp_status status = memory_of(&live_os, id, INT64_MAX, &memory, &live_error);
    pp_phase phase = live_inspect(id).phase;
    live_end(id);
    pp_host_close(&live_os);
    if (usage.write_bytes.known || usage.write_bytes.why != PP_E_DENIED)
        return 2;
    if (status != PP_E_DENIED)
        return 3;
    return usage.cpu_ns.known && usage.rss_bytes.known && phase == PP_PHASE_ALIVE ? 0 : 4;
}

/* proves: TRK-1 */
static void B05_an_unreadable_program_is_alive_with_denied_counters(void **state) {
    (void)state;
    pp_proc_id id = live_shell("cp /bin/sleep app && chmod 0111 app && chmod 0711 .");
    assert_int_equal(live_await_exit(id).code, 0);
    live_end(id);
    int result = live_forked(host_of_an_unreadable_program);
    if (result == 77)
        skip();
    assert_int_equal(result, 0);
}

/* An exited, unreaped leader, watched without privilege. */
static int host_of_an_ended_program(void) {
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
        return 77;
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    if (pp_host_open(&options, &live_os, &live_error) != PP_OK)
        return 1;
    char *const words[] = { "true", NULL };
    pp_command command = { .path = "/bin/true", .argv = words, .envp = words + 1, .cwd = "/" };
    pp_proc_id id;
    if (live_os.spawn(live_os.ctx, &command, &id, &live_error) != PP_OK)
        return 2;
    (void)live_await_exit(id);
    pp_usage usage = live_usage(id, true);
    live_end(id);
    pp_host_close(&live_os);
    if (!usage.cpu_ns.known)
        return 3;
    return usage.write_bytes.known || usage.write_bytes.why == PP_E_VANISHED ? 0 : 4;
}

/* proves: TRK-7 */
static void what_an_ended_program_hides_is_gone_not_denied(void **state) {
    (void)state;
    int result = live_forked(host_of_an_ended_program);
    if (result == 77)
        skip();
    assert_int_equal(result, 0);
}

static void the_host_knows_its_own_cost(void **state) {
    (void)state;
    pp_reading cpu, rss;
    assert_int_equal(live_os.own_cost(live_os.ctx, &cpu, &rss, &live_error), PP_OK);
    assert_true(cpu.known && cpu.value > 0);
    assert_true(rss.known && rss.value > 0);
}

static void the_executable_is_found_in_its_directory(void **state) {
    (void)state;
    char dir[4096], path[8192], tiny[2];
    assert_int_equal(pp_host_self_exe_dir(dir, sizeof dir, &live_error), PP_OK);
    (void)snprintf(path, sizeof path, "%s/test_linux_process_live", dir);
    assert_int_equal(access(path, X_OK), 0);
    assert_int_equal(pp_host_self_exe_dir(tiny, sizeof tiny, &live_error), PP_E_NOMEM);
}

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].mode) == 0)
            return modes[i].body();
#define T(name) cmocka_unit_test_setup_teardown(name, live_open, live_close)
    const struct CMUnitTest tests[] = {
        T(a_process_whose_main_thread_ended_lives_and_shows_its_memory),
        T(memory_readings_agree_with_what_was_touched),
        T(a_vfork_child_is_no_second_copy_of_its_parents_memory),
        T(a_zombie_keeps_its_counters_and_the_reap_agrees),
        T(reaping_accounts_what_the_whole_life_wrote),
        T(switches_of_all_threads_are_kept_when_the_threads_end),
        T(switches_of_threads_that_nobody_saw_are_counted_at_the_end),
        T(B01_a_hostile_thread_name_changes_nothing_else),
        T(ignoring_sigchld_is_seen),
        T(a_start_lies_between_the_clocks_around_it),
        T(a_reused_number_is_told_from_the_process_that_had_it),
        T(B05_an_unreadable_program_is_alive_with_denied_counters),
        T(what_an_ended_program_hides_is_gone_not_denied),
        T(the_host_knows_its_own_cost),
        T(the_executable_is_found_in_its_directory),
    };
    return cmocka_run_group_tests(tests, live_make_run_dir, live_remove_run_dir);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
