/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_STATUS_H
#define PAIRPERF_STATUS_H

#include <stddef.h>

/* What went wrong, as a value.
 *
 * Every fallible function returns a pp_status and takes a `pp_error *reterr` last (it may be NULL).
 * Outputs are written only on success, *reterr only on failure. Building an error needs no memory
 * and is safe between fork and exec.
 *
 * The observation codes (VANISHED ... ENUMERATION) also say why a reading is missing; none of
 * them ever becomes a number.
 */
typedef enum pp_status {
    PP_OK = 0,        /* in a pp_reading's `why`: not measured */
    PP_E_SYS,         /* a system call failed; sys_errno says why */
    PP_E_DENIED,      /* the kernel refused the read or the signal */
    PP_E_VANISHED,    /* the process is gone */
    PP_E_STALE,       /* the number now belongs to another process */
    PP_E_BLOCKED,     /* the read did not return in time */
    PP_E_MALFORMED,   /* bytes that do not parse */
    PP_E_UNSUPPORTED, /* this system does not have it */
    PP_E_ENUMERATION, /* a list could not be read in full */
    PP_E_UNVERIFIED,  /* neither proven nor disproven */
    PP_E_OVERFLOW,    /* a sum left 64 bits */
    PP_E_REGRESSED,   /* a counter fell */
    PP_E_AGAIN,       /* not yet; ask again later */
    PP_E_CLOSED,      /* the other end is gone */
    PP_E_TIMEOUT,     /* a deadline passed */
    PP_E_CANCELLED,   /* the user asked to stop */
    PP_E_REFUSED,     /* policy says no */
    PP_E_INVALID,     /* the caller's argument is wrong */
    PP_E_EXISTS,      /* it is already there */
    PP_E_NOMEM,       /* no memory, or a stated limit is reached */
    PP_E_PROTOCOL,    /* the peer does not speak our protocol */
    PP_STATUS_COUNT
} pp_status;

/* Of two reasons the one that is told, so that it does not depend on which came first: the one
 * above the other in that list. PP_OK is no reason. */
static inline pp_status pp_told_of(pp_status a, pp_status b) {
    if (a == PP_OK || b == PP_OK)
        return a == PP_OK ? b : a;
    return a < b ? a : b;
}

typedef struct pp_error {
    pp_status status;
    int sys_errno;    /* 0 when no system call failed */
    char op[32];      /* the failing step, for example "open" */
    char detail[512]; /* what it was about, for example a path; always terminated */
} pp_error;

/* Fills *reterr (when not NULL) and returns `status`.
 *
 * sys_errno  errno of the failing call, or 0
 * op         short name of the step; cut at 31 bytes
 * fmt        printf format for the detail; cut at 511 bytes
 */
pp_status pp_fail(pp_error *reterr, pp_status status, int sys_errno, const char *op,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#if defined(__clang_analyzer__) || defined(__CPPCHECK__)
/* These do not look into other files: tell them that a failure is never PP_OK. */
#define pp_fail(reterr, status, ...) (pp_fail(reterr, status, __VA_ARGS__), (status))
#endif

/* Puts "<what>: " in front of the detail of an error that is passed up. Returns its status. */
pp_status pp_error_wrap(pp_error *reterr, const char *what);

/* Lower-case name of a status ("denied"), for evidence; "not_measured" for PP_OK. */
const char *pp_status_name(pp_status status);

/* The status whose name is `name`, or PP_STATUS_COUNT when there is none. */
pp_status pp_status_parse(const char *name);

/* Maps errno of a read on one process: ESRCH -> VANISHED, EPERM/EACCES -> DENIED,
 * ENOSYS/ENOTSUP/EOPNOTSUPP -> UNSUPPORTED, else SYS. */
pp_status pp_status_from_errno(int sys_errno);

/* Symbolic name, for example "ENOENT" or "SIGTERM"; "E?"/"SIG?" when unknown.
 * Evidence carries names because the numbers differ between systems. */
const char *pp_errno_name(int sys_errno);
const char *pp_signal_name(int signal_number);

/* The number of a signal name ("SIGTERM" or "TERM"), 0 when unknown. */
int pp_signal_number(const char *name);

#endif
