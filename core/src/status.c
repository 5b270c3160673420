/* SPDX-License-Identifier: Apache-2.0 */
/* Errors are values of the caller's: building one allocates nothing, cuts what does not fit and
 * always leaves terminated strings. The name tables are the only place where a status, an errno
 * or a signal gets its spelling, so evidence from two systems says the same word. */
#include "pairperf/status.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef struct named_number {
    int number;
    const char *name;
} named_number;

static const char *const status_names[PP_STATUS_COUNT] = {
    [PP_OK] = "not_measured",
    [PP_E_SYS] = "sys",
    [PP_E_DENIED] = "denied",
    [PP_E_VANISHED] = "vanished",
    [PP_E_STALE] = "stale",
    [PP_E_BLOCKED] = "blocked",
    [PP_E_MALFORMED] = "malformed",
    [PP_E_UNSUPPORTED] = "unsupported",
    [PP_E_ENUMERATION] = "enumeration",
    [PP_E_UNVERIFIED] = "unverified",
    [PP_E_OVERFLOW] = "overflow",
    [PP_E_REGRESSED] = "regressed",
    [PP_E_AGAIN] = "again",
    [PP_E_CLOSED] = "closed",
    [PP_E_TIMEOUT] = "timeout",
    [PP_E_CANCELLED] = "cancelled",
    [PP_E_REFUSED] = "refused",
    [PP_E_INVALID] = "invalid",
    [PP_E_EXISTS] = "exists",
    [PP_E_NOMEM] = "nomem",
    [PP_E_PROTOCOL] = "protocol",
};

/* Names that both systems have. Where two share a number the first one wins. */
#define E(name)                                                                                    \
    { name, #name }
static const named_number errno_names[] = {
    E(EPERM),           E(ENOENT),       E(ESRCH),        E(EINTR),        E(EIO),
    E(ENXIO),           E(E2BIG),        E(ENOEXEC),      E(EBADF),        E(ECHILD),
    E(EAGAIN),          E(ENOMEM),       E(EACCES),       E(EFAULT),       E(EBUSY),
    E(EEXIST),          E(EXDEV),        E(ENODEV),       E(ENOTDIR),      E(EISDIR),
    E(EINVAL),          E(ENFILE),       E(EMFILE),       E(ENOTTY),       E(ETXTBSY),
    E(EFBIG),           E(ENOSPC),       E(ESPIPE),       E(EROFS),        E(EMLINK),
    E(EPIPE),           E(EDOM),         E(ERANGE),       E(EDEADLK),      E(ENAMETOOLONG),
    E(ENOLCK),          E(ENOSYS),       E(ENOTEMPTY),    E(ELOOP),        E(EOVERFLOW),
    E(EILSEQ),          E(EUSERS),       E(ENOTSOCK),     E(EMSGSIZE),     E(EPROTOTYPE),
    E(ENOPROTOOPT),     E(ENOTSUP),      E(EOPNOTSUPP),   E(EAFNOSUPPORT), E(EADDRINUSE),
    E(EADDRNOTAVAIL),   E(ENETDOWN),     E(ENETUNREACH),  E(ECONNABORTED), E(ECONNRESET),
    E(ENOBUFS),         E(EISCONN),      E(ENOTCONN),     E(ESHUTDOWN),    E(ETIMEDOUT),
    E(ECONNREFUSED),    E(EHOSTDOWN),    E(EHOSTUNREACH), E(EALREADY),     E(EINPROGRESS),
    E(ESTALE),          E(EDQUOT),       E(ECANCELED),    E(EPROTO),       E(EBADMSG),
    E(EPROTONOSUPPORT), E(EDESTADDRREQ), E(ENETRESET),    E(ENOTBLK),      E(EIDRM),
    E(ENOMSG),          E(ETIME),        E(ENODATA),      E(EREMOTE),
};
#undef E

#define S(name)                                                                                    \
    { name, #name }
static const named_number signal_names[] = {
    S(SIGHUP),    S(SIGINT),  S(SIGQUIT),  S(SIGILL),  S(SIGTRAP), S(SIGABRT),
    S(SIGBUS),    S(SIGFPE),  S(SIGKILL),  S(SIGUSR1), S(SIGSEGV), S(SIGUSR2),
    S(SIGPIPE),   S(SIGALRM), S(SIGTERM),  S(SIGCHLD), S(SIGCONT), S(SIGSTOP),
    S(SIGTSTP),   S(SIGTTIN), S(SIGTTOU),  S(SIGURG),  S(SIGXCPU), S(SIGXFSZ),
    S(SIGVTALRM), S(SIGPROF), S(SIGWINCH), S(SIGIO),   S(SIGSYS),
};
#undef S

pp_status(pp_fail)(pp_error *reterr, pp_status status, int sys_errno, const char *op,
                   const char *fmt, ...) {
    if (reterr == NULL)
        return status;

    va_list args;
    reterr->status = status;
    reterr->sys_errno = sys_errno;
    (void)snprintf(reterr->op, sizeof reterr->op, "%s", op);
    va_start(args, fmt);
    if (vsnprintf(reterr->detail, sizeof reterr->detail, fmt, args) < 0)
        reterr->detail[0] = '\0';
    va_end(args);
    return status;
}

pp_status pp_error_wrap(pp_error *reterr, const char *what) {
    if (reterr == NULL)
        return PP_E_SYS;

    char whole[sizeof reterr->detail];
    if (snprintf(whole, sizeof whole, "%s: %s", what, reterr->detail) > 0)
        memcpy(reterr->detail, whole, sizeof whole);
    return reterr->status;
}

const char *pp_status_name(pp_status status) {
    size_t index = (size_t)status;
    return index < COUNT(status_names) ? status_names[index] : "?";
}

pp_status pp_status_parse(const char *name) {
    for (size_t i = 0; i < COUNT(status_names); i++)
        if (strcmp(status_names[i], name) == 0)
            return (pp_status)i;
    return PP_STATUS_COUNT;
}

pp_status pp_status_from_errno(int sys_errno) {
    if (sys_errno == ESRCH)
        return PP_E_VANISHED;
    if (sys_errno == EPERM || sys_errno == EACCES)
        return PP_E_DENIED;
    if (sys_errno == ENOSYS || sys_errno == ENOTSUP || sys_errno == EOPNOTSUPP)
        return PP_E_UNSUPPORTED;
    return PP_E_SYS;
}

static const char *name_of(const named_number *table, size_t count, int number,
                           const char *unknown) {
    for (size_t i = 0; i < count; i++)
        if (table[i].number == number)
            return table[i].name;
    return unknown;
}

const char *pp_errno_name(int sys_errno) {
    return name_of(errno_names, COUNT(errno_names), sys_errno, "E?");
}

const char *pp_signal_name(int signal_number) {
    return name_of(signal_names, COUNT(signal_names), signal_number, "SIG?");
}

int pp_signal_number(const char *name) {
    const char *bare = strncmp(name, "SIG", 3) == 0 ? name + 3 : name;
    for (size_t i = 0; i < COUNT(signal_names); i++)
        if (strcmp(signal_names[i].name + 3, bare) == 0)
            return signal_names[i].number;
    return 0;
}
