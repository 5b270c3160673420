/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock takes rights away from a process and all that it starts, for good, root included. All
 * rights to write that the kernel knows are taken; given back are those below the named paths, and
 * on devices that keep nothing. Reading and executing stay free. Where truncation cannot be taken
 * (before ABI 3) nothing is: an existing file could be emptied, and the guard would believe in us.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "internal.h"
#include "platform.h"

enum { ABI_NEEDED = 3, ABI_OF_6_1 = 2, ABI_IOCTL_DEV = 5, RESTRICT_SELF = 446 };

/* The numbers of the kernel's LANDLOCK_ACCESS_FS_*; the headers may be older. */
#define RIGHT(number) (UINT64_C(1) << (number))
#define WRITE_FILE RIGHT(1)
#define REMOVE_AND_MAKE (RIGHT(13) - RIGHT(4)) /* files, directories, devices, sockets, links */
#define REFER RIGHT(13)                        /* rename and link between directories */
#define TRUNCATE RIGHT(14)
#define IOCTL_DEV RIGHT(15)

static const char *const keeping_nothing[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                               "/dev/urandom" };
enum { DEVICES = sizeof keeping_nothing / sizeof *keeping_nothing };

pp_status pp__linux_landlock_abi(const pp_linux_sys *sys, int *ret_abi, pp_error *reterr) {
    int abi = sys->landlock_abi();
    if (abi == -ENOSYS)
        return pp_fail(reterr, PP_E_UNSUPPORTED, ENOSYS, "landlock", "not part of this kernel");
    if (abi == -EOPNOTSUPP)
        return pp_fail(reterr, PP_E_UNSUPPORTED, EOPNOTSUPP, "landlock", "switched off at boot");
    if (abi < 0)
        return pp_fail(reterr, PP_E_UNSUPPORTED, -abi, "landlock",
                       "the call is refused, by a seccomp filter for example");
    if (abi > ABI_OF_6_1 && pp__linux_switched("6.1"))
        abi = ABI_OF_6_1;
    if (abi < ABI_NEEDED)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "landlock",
                       "ABI %d cannot deny truncation; ABI %d (Linux 6.2) is needed", abi,
                       (int)ABI_NEEDED);
    *ret_abi = abi;
    return PP_OK;
}

/* A file takes only the rights that files have. */
static pp_status allow(const pp_linux_sys *sys, int rules_fd, uint64_t handled, const char *path,
                       pp_error *reterr) {
    int fd = sys->open_at(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    if (fd < 0)
        return pp_fail(reterr, PP_E_SYS, -fd, "open", "%s", path);
    int result = sys->landlock_allow(rules_fd, fd, handled);
    if (result == -EINVAL)
        result = sys->landlock_allow(rules_fd, fd, handled & (WRITE_FILE | TRUNCATE | IOCTL_DEV));
    pp__linux_close(sys, &fd);
    return result < 0 ? pp_fail(reterr, PP_E_SYS, -result, "landlock_add_rule", "%s", path) : PP_OK;
}

pp_status pp__linux_landlock_open(const pp_linux_sys *sys, const char *const *writable, int *ret_fd,
                                  pp_error *reterr) {
    int abi;
    pp_status status = pp__linux_landlock_abi(sys, &abi, reterr);
    if (status != PP_OK)
        return status;
    uint64_t handled = WRITE_FILE | REMOVE_AND_MAKE | REFER | TRUNCATE;
    if (abi >= ABI_IOCTL_DEV)
        handled |= IOCTL_DEV;
    int rules_fd = sys->landlock_create(handled);
    if (rules_fd < 0)
        return pp_fail(reterr, PP_E_SYS, -rules_fd, "landlock_create_ruleset", "ABI %d", abi);
    for (size_t i = 0; i < DEVICES && status == PP_OK; i++) {
        pp_error err;
        status = allow(sys, rules_fd, handled, keeping_nothing[i], &err);
        if (status != PP_OK && err.sys_errno == ENOENT)
            status = PP_OK; /* a place with few devices */
        else if (status != PP_OK && reterr)
            *reterr = err;
    }
    for (size_t i = 0; writable[i] != NULL && status == PP_OK; i++)
        status = allow(sys, rules_fd, handled, writable[i], reterr);
    if (status == PP_OK)
        *ret_fd = rules_fd;
    else
        pp__linux_close(sys, &rules_fd);
    return status;
}

int pp__linux_landlock_enter(int rules_fd) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) < 0 ||
        syscall(RESTRICT_SELF, rules_fd, 0) < 0)
        return -errno;
    return 0;
}

pp_status pp_platform_confinement(int *ret_abi, pp_error *reterr) {
    return pp__linux_landlock_abi(&pp_linux_sys_real, ret_abi, reterr);
}

/* How the child that tries ends: this, 0 for no, or the errno that says neither. */
enum { CAN_WRITE = 255 };

static int tried(int fd) {
    if (fd >= 0)
        return CAN_WRITE;
    return errno == EACCES || errno == EPERM || errno == EROFS ? 0 : errno;
}

/* A nameless file in the directory, and the file that is there already; access checks do not know
 * Landlock. */
static _Noreturn void try_to_write(int rules_fd, const char *directory, const char *path) {
    if (pp__linux_landlock_enter(rules_fd) < 0)
        _exit(errno);
    int result = tried(open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (result == 0) {
        result = tried(open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
        if (result == ENOENT || result == ENOTDIR || result == ELOOP) /* nothing, or a link */
            result = 0;
    }
    _exit(result);
}

static pp_status answer_of(pid_t child, int *ret_answer, pp_error *reterr) {
    int how;
    pid_t ended;
    do
        ended = waitpid(child, &how, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child || !WIFEXITED(how))
        return pp_fail(reterr, PP_E_UNVERIFIED, ended < 0 ? errno : 0, "confined probe",
                       "gave no answer");
    *ret_answer = WEXITSTATUS(how);
    return PP_OK;
}

pp_status pp_platform_confined_writable(const char *directory, const char *path,
                                        const char *const *writable, bool *ret_writable,
                                        pp_error *reterr) {
    PP_AUTO_FD rules_fd = -1;
    pp_status status = pp__linux_landlock_open(&pp_linux_sys_real, writable, &rules_fd, reterr);
    if (status != PP_OK)
        return status;
    pid_t child = fork();
    if (child < 0)
        return pp_fail(reterr, PP_E_UNVERIFIED, errno, "fork", "confined probe");
    if (child == 0)
        try_to_write(rules_fd, directory, path);
    int answer = 0; /* gcc -O2 does not see that it is set on success */
    status = answer_of(child, &answer, reterr);
    if (status == PP_OK && answer != 0 && answer != CAN_WRITE)
        return pp_fail(reterr, PP_E_UNVERIFIED, answer, "open", "%s", directory);
    if (status == PP_OK)
        *ret_writable = answer == CAN_WRITE;
    return status;
}
