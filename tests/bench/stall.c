/* SPDX-License-Identifier: Apache-2.0 */

/* stall SECONDS: a process whose memory roll-up does not return for that long. It maps a file of a
 * FUSE server of our own. The server refuses the first read: the kernel asks again, now with the
 * memory lock held, and this time there is no answer. Its main thread wants to map something,
 * and stands in line as a writer, and every further reader of the lock behind it.
 * Prints "ready PID" of that process, once it is stuck; ends in peace at SIGTERM. Needs root. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILE_NODE = 2, PAGE = 4096 };

static volatile unsigned char *stuck_page;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void answer(int fd, uint64_t unique, int error, const void *body, size_t size) {
    unsigned char reply[sizeof(struct fuse_out_header) + PAGE];
    struct fuse_out_header head = { .len = (uint32_t)(sizeof head + size),
                                    .error = -error,
                                    .unique = unique };

    memcpy(reply, &head, sizeof head);
    if (size > 0)
        memcpy(reply + sizeof head, body, size);
    if (write(fd, reply, head.len) < 0 && errno != ENOENT)
        die("write to /dev/fuse");
}

static struct fuse_attr attributes(uint64_t node) {
    return (struct fuse_attr){ .ino = node,
                               .size = node == FILE_NODE ? PAGE : 0,
                               .mode = node == FILE_NODE ? S_IFREG | 0400 : S_IFDIR | 0500,
                               .nlink = 1,
                               .blksize = PAGE };
}

static void serve_read(int fd, uint64_t unique, unsigned seconds) {
    static const unsigned char zeros[PAGE];
    static int reads;

    if (reads++ == 0) {
        answer(fd, unique, EIO, NULL, 0);
        return;
    }
    sleep(seconds);
    answer(fd, unique, 0, zeros, sizeof zeros);
}

static void serve_one(int fd, const struct fuse_in_header *in, unsigned seconds) {
    struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
                                  .minor = FUSE_KERNEL_MINOR_VERSION,
                                  .max_write = PAGE };
    struct fuse_entry_out entry = { .nodeid = FILE_NODE, .attr = attributes(FILE_NODE) };
    struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
    struct fuse_open_out opened = { 0 };

    switch (in->opcode) {
    case FUSE_INIT:
        answer(fd, in->unique, 0, &init, sizeof init);
        break;
    case FUSE_LOOKUP:
        answer(fd, in->unique, 0, &entry, sizeof entry);
        break;
    case FUSE_GETATTR:
        answer(fd, in->unique, 0, &attr, sizeof attr);
        break;
    case FUSE_OPEN:
        answer(fd, in->unique, 0, &opened, sizeof opened);
        break;
    case FUSE_READ:
        serve_read(fd, in->unique, seconds);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        answer(fd, in->unique, ENOSYS, NULL, 0);
    }
}

static _Noreturn void serve(int fd, unsigned seconds) {
    static _Alignas(8) unsigned char request[FUSE_MIN_READ_BUFFER + PAGE];

    while (read(fd, request, sizeof request) > 0)
        serve_one(fd, (const struct fuse_in_header *)request, seconds);
    _exit(0);
}

static void *fault(void *argument) {
    (void)argument;
    (void)*stuck_page;
    return NULL;
}

static void *want_to_map(void) {
    return mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void nap(long ms) {
    struct timespec time = { .tv_nsec = ms * 1000000 };

    (void)nanosleep(&time, NULL);
}

static _Noreturn void get_stuck(const char *path, int told) {
    pthread_t thread;
    int fd = open(path, O_RDONLY);

    stuck_page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd < 0 || stuck_page == MAP_FAILED)
        die(path);
    (void)signal(SIGTERM, SIG_DFL);
    (void)pthread_create(&thread, NULL, fault, NULL);
    nap(200); /* the fault has to stand before the writer comes */
    if (write(told, "x", 1) != 1)
        die("write");
    (void)want_to_map();
    for (;;)
        (void)pause();
}

static int mount_fuse(const char *dir) {
    char options[128];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        die("/dev/fuse");
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        die("unshare");
    (void)snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd,
                   getuid(), getgid());
    if (mount("stall", dir, "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        die("mount");
    return fd;
}

int main(int argc, char **argv) {
    unsigned seconds = (unsigned)atoi(argc > 1 ? argv[1] : "10");
    char dir[] = "/tmp/pp-stall.XXXXXX", path[64], byte;
    int told[2], number;
    sigset_t term;

    if (mkdtemp(dir) == NULL || pipe(told) != 0)
        die("mkdtemp");
    int fd = mount_fuse(dir);
    (void)snprintf(path, sizeof path, "%s/page", dir);
    pid_t server = fork();
    if (server == 0)
        serve(fd, seconds);
    (void)close(fd);
    pid_t target = fork();
    if (target == 0)
        get_stuck(path, told[1]);
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &term, NULL);
    if (read(told[0], &byte, 1) != 1)
        die("the process that was to get stuck");
    nap(100);
    (void)printf("ready %d\n", (int)target);
    (void)fflush(stdout);
    (void)sigwait(&term, &number);
    (void)kill(target, SIGKILL);
    (void)kill(server, SIGKILL); /* the kernel then fails what waits for it */
    while (wait(NULL) > 0)
        ;
    (void)umount2(dir, MNT_DETACH);
    (void)rmdir(dir);
    return 0;
}
