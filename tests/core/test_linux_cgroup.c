/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf of the Linux host over scripted files: where it is made, what it tells, and every way in
 * which there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux/linux_host.h"
#include "linux_script.h"

enum { PID = SCRIPT_FIRST_PID + 7, LEAF_ID = 4711, SCRIPT_FD = 1000000, NAMES_MAX = 8 };

#define V1 "30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
#define V2 "40 30 0:37 / /cg\\040two rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
#define NAMESPACE "4026531836"

static pp_os os;
static pp_error error;

/* What the scripted file system was asked for. */
static struct {
    char made[2][128];
    int makes, removes, forks_into, forks;
    int make_errno[2], remove_errno, fork_errno;
    char removed[NAMES_MAX][128];
    char listed[NAMES_MAX][64]; /* what the parent directory holds */
    int listed_count;
    bool listed_told;
    bool not_cgroup2;
    uint64_t cgroup_id; /* of every process */
    int cgroup_errno;
    char written[8];
    ssize_t write_result;
} fs;

static int make_dir(int dir_fd, const char *name) {
    (void)dir_fd;
    int number = fs.makes++;
    if (fs.make_errno[number % 2] != 0)
        return -fs.make_errno[number % 2];
    (void)snprintf(fs.made[number % 2], sizeof fs.made[0], "%s", name);
    (void)script_numbers(name, NULL, 0);
    return 0;
}

static int remove_dir(int dir_fd, const char *name) {
    (void)dir_fd;
    (void)snprintf(fs.removed[fs.removes++ % NAMES_MAX], sizeof fs.removed[0], "%s", name);
    return -fs.remove_errno;
}

static int (*scripted_inode)(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode);
static int inode(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode) {
    if (fd < SCRIPT_FD || fd >= SCRIPT_FD + SCRIPT_MAX)
        return scripted_inode(fd, ret_fs_magic, ret_inode);
    *ret_fs_magic = fs.not_cgroup2 ? 1 : 0x63677270;
    *ret_inode = LEAF_ID;
    return 0;
}

/* The child is a real one, in no cgroup of its own. */
static pid_t fork_into(int cgroup_fd) {
    assert_true(cgroup_fd >= SCRIPT_FD);
    fs.forks_into++;
    return fs.fork_errno ? -fs.fork_errno : pp_linux_sys_real.fork();
}

static pid_t count_fork(void) {
    fs.forks++;
    return pp_linux_sys_real.fork();
}

static int cgroup_of(int pidfd, uint64_t *ret_cgroup_id) {
    (void)pidfd;
    *ret_cgroup_id = fs.cgroup_id;
    return -fs.cgroup_errno;
}

static ssize_t write_file(int fd, const void *bytes, size_t size) {
    if (fd < SCRIPT_FD)
        return pp_linux_sys_real.write(fd, bytes, size);
    (void)snprintf(fs.written, sizeof fs.written, "%.*s", (int)size, (const char *)bytes);
    return fs.write_result;
}

static ssize_t (*scripted_read_dir)(int fd, void *bytes, size_t size);
static ssize_t read_dir(int fd, void *bytes, size_t size) {
    if (fd < SCRIPT_FD)
        return scripted_read_dir(fd, bytes, size);
    if (fs.listed_told)
        return 0;
    fs.listed_told = true;
    const uint16_t length = 96;
    memset(bytes, 0, (size_t)fs.listed_count * length);
    for (int i = 0; i < fs.listed_count; i++) {
        char *at = (char *)bytes + (size_t)i * length;
        memcpy(at + 16, &length, sizeof length);
        memcpy(at + 19, fs.listed[i], sizeof fs.listed[i]);
    }
    return fs.listed_count * length;
}

static void absent(const char *path) {
    script_text(path, "")->open_errno = ENOENT;
}

static int set_up(void **state) {
    (void)state;
    script_reset();
    memset(&error, 0, sizeof error);
    memset(&fs, 0, sizeof fs);
    fs.write_result = 1;
    fs.cgroup_id = LEAF_ID;
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
    (void)script_text("/proc/self/mountinfo", V1 V2);
    (void)script_text("/proc/self/cgroup", "4:memory:/v1\n0::/ours\n");
    (void)script_text("/proc/self/ns/pid", "pid:[" NAMESPACE "]");
    (void)script_numbers("/cg two/ours", NULL, 0);
    (void)script_text("cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\n");
    (void)script_text("cgroup.procs", "");
    (void)script_text("cgroup.events", "populated 1\nfrozen 0\n");
    (void)script_text("cgroup.kill", "");
    static const char *const controlled[] = { "memory.current", "memory.peak", "memory.stat",
                                              "memory.swap.current", "io.stat" };
    for (size_t i = 0; i < sizeof controlled / sizeof *controlled; i++)
        absent(controlled[i]);
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    return pp_linux_host_open(&scripted.sys, &options, &os, &error) == PP_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    pp_host_close(&os);
    (void)unsetenv("PP_KERNEL");
    assert_int_equal(script_open_count(), 0);
    return 0;
}

/* Starts /bin/true and reaps it. */
static pp_status run_command(void) {
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
    pp_status status = os.spawn(os.ctx, &command, &id, &error);
    if (status != PP_OK)
        return status;
    while (os.reap(os.ctx, id, &exit, &written, &error) == PP_E_AGAIN)
        (void)os.wait(os.ctx, 0, false, &events, &error);
    return PP_OK;
}

static pp_status state_of_leaf(int *ret_errno, const char **ret_consequence) {
    const char *name;
    pp_status fact;
    for (size_t i = 0; os.capability(os.ctx, i, &name, &fact, ret_errno, ret_consequence) == PP_OK;
         i++)
        if (strcmp(name, "cgroup_leaf") == 0)
            return fact;
    fail_msg("no capability cgroup_leaf");
    return PP_E_INVALID;
}

static void assert_no_leaf(pp_status why, int sys_errno) {
    int told_errno;
    const char *consequence;
    pp_leaf leaf;
    pp_pid_list pids;
    bool inside;
    assert_int_equal(state_of_leaf(&told_errno, &consequence), why);
    assert_int_equal(told_errno, sys_errno);
    assert_true(strlen(consequence) > 0);
    assert_null(os.leaf_path(os.ctx));
    assert_int_equal(os.leaf_read(os.ctx, &leaf, &error), PP_E_UNSUPPORTED);
    assert_int_equal(os.leaf_list(os.ctx, &pids, &error), PP_E_UNSUPPORTED);
    assert_int_equal(os.leaf_holds(os.ctx, (pp_proc_id){ .pid = getpid() }, &inside, &error),
                     PP_E_UNSUPPORTED);
    assert_int_equal(os.leaf_empty(os.ctx, &error), PP_E_UNSUPPORTED);
    assert_int_equal(os.leaf_kill(os.ctx, &error), PP_E_UNSUPPORTED);
}

/* ---- making it ---- */

/* proves: GRP-10, SMP-9 */
static void the_leaf_is_made_below_our_own_place_and_removed(void **state) {
    (void)state;
    char name[128], path[256];
    int sys_errno;
    const char *consequence;
    assert_int_equal(state_of_leaf(&sys_errno, &consequence), PP_E_UNVERIFIED);
    assert_int_equal(run_command(), PP_OK);
    assert_int_equal(state_of_leaf(&sys_errno, &consequence), PP_OK);
    assert_int_equal(fs.forks_into, 1);
    assert_int_equal(fs.forks, 0);
    int length = snprintf(name, sizeof name, "pairperf-%d-", getpid());
    assert_memory_equal(fs.made[0], name, (size_t)length);
    assert_non_null(strstr(fs.made[0], "-" NAMESPACE));
    (void)snprintf(path, sizeof path, "/cg two/ours/%.100s", fs.made[0]);
    assert_string_equal(os.leaf_path(os.ctx), path);
    assert_int_equal(fs.removes, 0);
    pp_host_close(&os);
    assert_int_equal(fs.removes, 1);
    assert_string_equal(fs.removed[0], fs.made[0]);
}

/* proves: GRP-10 */
static void a_leaf_that_somebody_lives_in_stays(void **state) {
    (void)state;
    assert_int_equal(run_command(), PP_OK);
    fs.remove_errno = EBUSY;
    pp_host_close(&os);
    assert_int_equal(fs.removes, 1);
}

/* proves: SMP-9 */
static void there_is_no_leaf_without_a_mount_that_shows_our_place(void **state) {
    (void)state;
    (void)script_text("/proc/self/mountinfo", V1);
    assert_int_equal(run_command(), PP_OK);
    assert_no_leaf(PP_E_UNSUPPORTED, 0);
    assert_int_equal(fs.makes, 0);
    assert_int_equal(fs.forks, 1);
}

/* proves: SMP-9 */
static void there_is_no_leaf_where_our_place_is_not_told(void **state) {
    (void)state;
    static const struct {
        const char *cgroup;
        pp_status why;
    } cases[] = { { "0::/../elsewhere\n", PP_E_UNSUPPORTED },
                  { "4:memory:/v1\n", PP_E_UNSUPPORTED },
                  { "0::/cut", PP_E_MALFORMED },
                  { "0::relative\n", PP_E_MALFORMED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)tear_down(state);
        assert_int_equal(set_up(state), 0);
        (void)script_text("/proc/self/cgroup", cases[i].cgroup);
        assert_int_equal(run_command(), PP_OK);
        assert_no_leaf(cases[i].why, 0);
    }
}

/* proves: SMP-9 */
static void unreadable_tables_are_told_with_their_errno(void **state) {
    (void)state;
    script_text("/proc/self/mountinfo", "")->open_errno = EACCES;
    assert_int_equal(run_command(), PP_OK);
    assert_no_leaf(PP_E_DENIED, EACCES);
    (void)tear_down(state);
    assert_int_equal(set_up(state), 0);
    script_text("/proc/self/cgroup", "")->read_errno = EIO;
    assert_int_equal(run_command(), PP_OK);
    assert_no_leaf(PP_E_SYS, EIO);
}

/* proves: SMP-9, GRP-10 */
static void a_place_that_refuses_us_is_told_with_its_errno(void **state) {
    (void)state;
    static const struct {
        int sys_errno;
        pp_status why;
    } cases[] = { { EACCES, PP_E_DENIED },
                  { EROFS, PP_E_DENIED },
                  { EPERM, PP_E_DENIED },
                  { ENOSPC, PP_E_SYS },
                  { ENOENT, PP_E_UNSUPPORTED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)tear_down(state);
        assert_int_equal(set_up(state), 0);
        fs.make_errno[0] = cases[i].sys_errno;
        assert_int_equal(run_command(), PP_OK);
        assert_no_leaf(cases[i].why, cases[i].sys_errno);
        assert_int_equal(fs.removes, 0);
    }
}

/* proves: GRP-10 */
static void another_mount_is_tried_when_the_first_refuses(void **state) {
    (void)state;
    (void)script_text("/proc/self/mountinfo",
                      V2 "41 30 0:37 /ours /second rw - cgroup2 cgroup2 rw\n"
                         "42 30 0:37 /our /third rw - cgroup2 cgroup2 rw\n");
    (void)script_numbers("/second", NULL, 0);
    fs.make_errno[0] = EROFS;
    assert_int_equal(run_command(), PP_OK);
    assert_int_equal(fs.makes, 2);
    assert_memory_equal(os.leaf_path(os.ctx), "/second/pairperf-", 17);
    (void)tear_down(state);
    assert_int_equal(set_up(state), 0);
    fs.make_errno[0] = EROFS;
    fs.make_errno[1] = EACCES;
    (void)script_text("/proc/self/mountinfo",
                      V2 "41 30 0:37 /ours /second rw - cgroup2 cgroup2 rw\n");
    (void)script_numbers("/second", NULL, 0);
    assert_int_equal(run_command(), PP_OK);
    assert_no_leaf(PP_E_DENIED, EACCES); /* the last one's word */
}

/* proves: SMP-9, GRP-10 */
static void a_leaf_that_takes_nobody_is_removed_and_the_command_runs(void **state) {
    (void)state;
    static const int refusals[] = { EACCES, ENOSYS, EBUSY, EOPNOTSUPP };
    static const pp_status words[] = { PP_E_DENIED, PP_E_UNSUPPORTED, PP_E_SYS, PP_E_UNSUPPORTED };
    for (size_t i = 0; i < 4; i++) {
        (void)tear_down(state);
        assert_int_equal(set_up(state), 0);
        fs.fork_errno = refusals[i];
        assert_int_equal(run_command(), PP_OK);
        assert_no_leaf(words[i], refusals[i]);
        assert_int_equal(fs.forks, 1);
        assert_int_equal(fs.removes, 1);
        assert_string_equal(fs.removed[0], fs.made[0]);
    }
}

/* proves: SMP-9 */
static void a_leaf_without_its_files_is_removed_at_once(void **state) {
    (void)state;
    static const char *const needed[] = { "cpu.stat", "cgroup.procs", "cgroup.events" };
    for (size_t i = 0; i < 3; i++) {
        (void)tear_down(state);
        assert_int_equal(set_up(state), 0);
        absent(needed[i]);
        assert_int_equal(run_command(), PP_OK);
        assert_no_leaf(PP_E_UNSUPPORTED, ENOENT);
        assert_int_equal(fs.removes, 1);
        assert_int_equal(fs.forks_into, 0);
    }
    (void)tear_down(state);
    assert_int_equal(set_up(state), 0);
    fs.not_cgroup2 = true;
    assert_int_equal(run_command(), PP_OK);
    assert_no_leaf(PP_E_UNSUPPORTED, 0);
    assert_int_equal(fs.removes, 1);
}

static pid_t no_fork(void) {
    return -EAGAIN;
}

/* proves: GRP-10 */
static void a_start_that_fails_gives_its_leaf_back_and_the_next_gets_another(void **state) {
    (void)state;
    fs.fork_errno = EAGAIN;
    scripted.sys.fork = no_fork;
    assert_int_equal(run_command(), PP_E_SYS);
    assert_int_equal(fs.removes, 1);
    fs.fork_errno = 0;
    assert_int_equal(run_command(), PP_OK);
    assert_int_equal(fs.makes, 2);
    assert_non_null(os.leaf_path(os.ctx));
}

/* proves: SMP-9 */
static void the_switch_for_no_leaf_is_one_word_of_a_list(void **state) {
    (void)state;
    static const char *const lists[] = { "no-cgroup", "6.1,no-cgroup", "no-cgroup,6.1" };
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    int sys_errno;
    const char *consequence;
    for (size_t i = 0; i < 3; i++) {
        pp_host_close(&os);
        (void)setenv("PP_KERNEL", lists[i], 1);
        assert_int_equal(pp_linux_host_open(&scripted.sys, &options, &os, &error), PP_OK);
        assert_int_equal(run_command(), PP_OK);
        assert_int_equal(fs.makes, 0);
        assert_no_leaf(PP_E_UNSUPPORTED, 0);
        (void)state_of_leaf(&sys_errno, &consequence);
        assert_string_equal(consequence, "switched off by PP_KERNEL");
    }
    pp_host_close(&os);
    static const char *const wrong[] = { "cgroup", "6.1,", "no-cgroup,x", ",6.1" };
    for (size_t i = 0; i < 4; i++) {
        (void)setenv("PP_KERNEL", wrong[i], 1);
        pp_status expected = i == 1 ? PP_OK : PP_E_INVALID; /* a comma may end the list */
        assert_int_equal(pp_linux_host_open(&scripted.sys, &options, &os, &error), expected);
        if (expected == PP_OK)
            pp_host_close(&os);
    }
    os.ctx = NULL;
}

/* proves: GRP-10 */
static void only_leaves_whose_owner_is_gone_are_cleared_away(void **state) {
    (void)state;
    script_proc *alive = script_process(PID, 500, 77);
    (void)alive;
    static const char *const names[] = {
        "pairperf-%d-500-" NAMESPACE,     /* lives */
        "pairperf-%d-499-" NAMESPACE,     /* its number is another's */
        "pairperf-90000001-5-" NAMESPACE, /* no such number */
        "pairperf-90000001-5-1",          /* of another namespace */
        "pairperf-90000001-5",
        "pairperf-x-5-" NAMESPACE,
        "user.slice",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)snprintf(fs.listed[fs.listed_count++], sizeof fs.listed[0], names[i], PID);
    fs.remove_errno = EBUSY; /* whatever the kernel says */
    assert_int_equal(run_command(), PP_OK);
    assert_int_equal(fs.removes, 2);
    char reused[64];
    (void)snprintf(reused, sizeof reused, names[1], PID);
    assert_string_equal(fs.removed[0], reused);
    assert_string_equal(fs.removed[1], names[2]);
    assert_non_null(os.leaf_path(os.ctx));
}

/* ---- what it tells ---- */

static pp_leaf read_leaf(void) {
    pp_leaf leaf;
    assert_int_equal(os.leaf_read(os.ctx, &leaf, &error), PP_OK);
    return leaf;
}

static void assert_reading(pp_reading reading, uint64_t value) {
    assert_true(reading.known);
    assert_true(reading.value == value);
}

/* proves: MET-7, MET-6 */
static void figures_without_a_controller_are_unsupported(void **state) {
    (void)state;
    assert_int_equal(run_command(), PP_OK);
    pp_leaf leaf = read_leaf();
    assert_reading(leaf.cpu_ns, 30000);
    assert_reading(leaf.user_ns, 20000);
    assert_reading(leaf.system_ns, 10000);
    const pp_reading none[] = { leaf.current_bytes, leaf.peak_bytes,  leaf.anon_bytes,
                                leaf.file_bytes,    leaf.shmem_bytes, leaf.kernel_bytes,
                                leaf.swap_bytes,    leaf.read_bytes,  leaf.write_bytes };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(none[i].known);
        assert_int_equal(none[i].why, PP_E_UNSUPPORTED);
    }
}

/* proves: MET-3, MET-7 */
static void figures_of_enabled_controllers_are_read(void **state) {
    (void)state;
    script_text("memory.current", "100\n")->open_errno = 0;
    script_text("memory.peak", "200\n")->open_errno = 0;
    script_text("memory.swap.current", "0\n")->open_errno = 0;
    script_text("memory.stat", "anon 1\nfile 2\nkernel 3\nkernel_stack 9\nshmem 4\nanon_thp 8\n")
        ->open_errno = 0;
    script_text("io.stat", "8:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=5 dios=1\n"
                           "7:0 \n254:0 rbytes=1 wbytes=2 rios=0 wios=0 dbytes=0 dios=0\n")
        ->open_errno = 0;
    assert_int_equal(run_command(), PP_OK);
    pp_leaf leaf = read_leaf();
    assert_reading(leaf.current_bytes, 100);
    assert_reading(leaf.peak_bytes, 200);
    assert_reading(leaf.swap_bytes, 0);
    assert_reading(leaf.anon_bytes, 1);
    assert_reading(leaf.file_bytes, 2);
    assert_reading(leaf.kernel_bytes, 3);
    assert_reading(leaf.shmem_bytes, 4);
    assert_reading(leaf.read_bytes, 11);
    assert_reading(leaf.write_bytes, 22);
}

/* proves: MET-6 */
static void a_figure_that_cannot_be_read_is_missing_and_the_others_stay(void **state) {
    (void)state;
    script_file *memory = script_text("memory.current", "100\n");
    memory->open_errno = 0;
    script_text("memory.peak", "12x\n")->open_errno = 0;
    script_text("memory.swap.current", "")->open_errno = EACCES;
    script_text("io.stat", "8:0 rbytes=ten wbytes=1\n")->open_errno = 0;
    assert_int_equal(run_command(), PP_OK);
    static const char *const wrong[] = { "user_usec 1\n", "usage_usec -1\n", "usage_usec 1",
                                         "usage_usec 18446744073709551615\n", "" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)script_text("cpu.stat", wrong[i]);
        pp_leaf leaf = read_leaf();
        assert_false(leaf.cpu_ns.known || leaf.user_ns.known || leaf.system_ns.known);
        assert_int_equal(leaf.cpu_ns.why, PP_E_MALFORMED);
        assert_reading(leaf.current_bytes, 100);
    }
    pp_leaf leaf = read_leaf();
    assert_int_equal(leaf.peak_bytes.why, PP_E_MALFORMED);
    assert_int_equal(leaf.swap_bytes.why, PP_E_DENIED);
    assert_int_equal(leaf.read_bytes.why, PP_E_MALFORMED);
    memory->read_errno = ENODEV; /* it was removed under us */
    script_text("cpu.stat", "usage_usec 1\n")->read_errno = ENODEV;
    leaf = read_leaf();
    assert_int_equal(leaf.current_bytes.why, PP_E_SYS);
    assert_int_equal(leaf.cpu_ns.why, PP_E_SYS);
}

/* proves: TRK-4, TRK-6 */
static void its_list_is_whole_or_no_list(void **state) {
    (void)state;
    pp_pid_list pids = { 0 };
    assert_int_equal(run_command(), PP_OK);
    script_file *procs = script_text("cgroup.procs", "12\n345\n90000007\n");
    procs->step = 4;              /* short reads */
    for (int i = 0; i < 2; i++) { /* from its beginning each time */
        procs->at = 0;
        assert_int_equal(os.leaf_list(os.ctx, &pids, &error), PP_OK);
        assert_int_equal(pids.count, 3);
        assert_int_equal(pids.pids[2], 90000007);
        pp_pid_list_done(&pids);
    }
    static const char *const wrong[] = { "12\n0\n", "12\n34", "12\n-4\n", "a\n", "4294967296\n" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        script_text("cgroup.procs", wrong[i])->at = 0;
        assert_int_equal(os.leaf_list(os.ctx, &pids, &error), PP_E_ENUMERATION);
    }
    procs->read_errno = EOPNOTSUPP;
    assert_int_equal(os.leaf_list(os.ctx, &pids, &error), PP_E_ENUMERATION);
    assert_int_equal(error.sys_errno, EOPNOTSUPP);
}

/* proves: GRP-12 */
static void emptiness_is_read_and_never_assumed(void **state) {
    (void)state;
    assert_int_equal(run_command(), PP_OK);
    assert_int_equal(os.leaf_empty(os.ctx, &error), PP_E_AGAIN);
    script_file *events = script_text("cgroup.events", "populated 0\nfrozen 0\n");
    assert_int_equal(os.leaf_empty(os.ctx, &error), PP_OK);
    static const char *const wrong[] = { "frozen 0\n", "populated 2\n", "populated 0", "" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)script_text("cgroup.events", wrong[i]);
        assert_int_equal(os.leaf_empty(os.ctx, &error), PP_E_MALFORMED);
    }
    events->read_errno = ENODEV;
    assert_int_equal(os.leaf_empty(os.ctx, &error), PP_E_SYS);
}

/* proves: CAN-3 */
static void a_kill_is_one_byte_and_its_failure_is_told(void **state) {
    (void)state;
    assert_int_equal(run_command(), PP_OK);
    assert_int_equal(os.leaf_kill(os.ctx, &error), PP_OK);
    assert_string_equal(fs.written, "1");
    fs.write_result = -EACCES;
    assert_int_equal(os.leaf_kill(os.ctx, &error), PP_E_DENIED);
    assert_int_equal(error.sys_errno, EACCES);
    fs.write_result = 0;
    assert_int_equal(os.leaf_kill(os.ctx, &error), PP_E_SYS);
}

static void an_older_kernel_has_no_kill(void **state) {
    (void)state;
    absent("cgroup.kill");
    assert_int_equal(run_command(), PP_OK);
    assert_non_null(os.leaf_path(os.ctx));
    assert_int_equal(os.leaf_kill(os.ctx, &error), PP_E_UNSUPPORTED);
}

static pp_proc_id identified(void) {
    pp_proc_info info;
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
    return info.id;
}

static bool holds(pp_proc_id id) {
    bool inside = false;
    assert_int_equal(os.leaf_holds(os.ctx, id, &inside, &error), PP_OK);
    return inside;
}

/* proves: TRK-3, TRK-1 */
static void who_is_inside_is_told_by_number_or_else_by_path(void **state) {
    (void)state;
    char path[256];
    assert_int_equal(run_command(), PP_OK);
    script_proc *proc = script_process(PID, 1, 5);
    pp_proc_id id = identified();
    script_file *file = script_of(proc, "cgroup", "0::/elsewhere\n");
    assert_true(holds(id)); /* the number says so */
    assert_int_equal(file->opens, 0);
    fs.cgroup_id = 9;
    assert_false(holds(id));
    (void)snprintf(path, sizeof path, "0::/ours/%.100s/below\n", fs.made[0]);
    (void)script_of(proc, "cgroup", path);
    assert_true(holds(id)); /* another number, but below the leaf */
    (void)snprintf(path, sizeof path, "0::/ours/%.100sX\n", fs.made[0]);
    (void)script_of(proc, "cgroup", path);
    assert_false(holds(id)); /* a longer name */

    fs.cgroup_errno = ENOTTY;
    assert_false(holds(id));
    fs.cgroup_errno = 0;
    fs.cgroup_id = LEAF_ID;
    assert_false(holds(id)); /* what is not there is not asked again */
    (void)snprintf(path, sizeof path, "0::/ours/%.100s\n", fs.made[0]);
    (void)script_of(proc, "cgroup", path);
    assert_true(holds(id));

    bool inside;
    proc->gone = true;
    assert_int_equal(os.leaf_holds(os.ctx, id, &inside, &error), PP_E_VANISHED);
    script_proc *newcomer = script_process(PID, 2, 6);
    (void)script_of(newcomer, "cgroup", path);
    assert_int_equal(os.leaf_holds(os.ctx, id, &inside, &error), PP_E_STALE);
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN);
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_leaf_is_made_below_our_own_place_and_removed),
        T(a_leaf_that_somebody_lives_in_stays),
        T(there_is_no_leaf_without_a_mount_that_shows_our_place),
        T(there_is_no_leaf_where_our_place_is_not_told),
        T(unreadable_tables_are_told_with_their_errno),
        T(a_place_that_refuses_us_is_told_with_its_errno),
        T(another_mount_is_tried_when_the_first_refuses),
        T(a_leaf_that_takes_nobody_is_removed_and_the_command_runs),
        T(a_leaf_without_its_files_is_removed_at_once),
        T(a_start_that_fails_gives_its_leaf_back_and_the_next_gets_another),
        T(the_switch_for_no_leaf_is_one_word_of_a_list),
        T(only_leaves_whose_owner_is_gone_are_cleared_away),
        T(figures_without_a_controller_are_unsupported),
        T(figures_of_enabled_controllers_are_read),
        T(a_figure_that_cannot_be_read_is_missing_and_the_others_stay),
        T(its_list_is_whole_or_no_list),
        T(emptiness_is_read_and_never_assumed),
        T(a_kill_is_one_byte_and_its_failure_is_told),
        T(an_older_kernel_has_no_kill),
        T(who_is_inside_is_told_by_number_or_else_by_path),
    };
    return cmocka_run_group_tests_name("linux_cgroup", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
