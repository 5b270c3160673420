/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_SUPERVISOR_PRIVATE_H
#define PP_SUPERVISOR_PRIVATE_H

#include <sys/types.h>

#include "pairperf/message.h"
#include "pairperf/supervisor.h"

/* One evidence file that is only appended to. */
typedef struct pp_record_file {
    int fd;            /* -1: not kept */
    const char *what;  /* "samples" or "events", for messages */
    uint64_t unsynced; /* highest sequence number written, not yet on disk; 0: none */
    int64_t synced_ns; /* when it was last brought to disk */
} pp_record_file;

struct pp_supervisor {
    pid_t pid;     /* of the supervisor; 0 once it was waited for */
    int fd;        /* -1 once closed */
    bool given_up; /* it did not end even by SIGKILL */
    bool greeted;
    bool spawn_answered;
    bool tracked;         /* its command is sampled, so windows are possible */
    pp_error spawn_error; /* status != PP_OK: the command could not be started */
    uint32_t windows;
    bool stop_asked;
    pp_buffer in, out;
    size_t sent;
    pp_record_file samples, events;
    pp_buffer frame_line, verdict_line; /* latest records, without line end */
    bool unkept;    /* a record could not be written, whatever the reason: none after it is */
    pp_buffer leaf; /* path with its NUL; empty: none */
    pp_supervisor_view view;
};

/* supervisor.c: waits for the end of our child *pid, which is 0 then: end_ns for its own end, then
 * kill_ns for what SIGKILL does. PP_E_TIMEOUT: it hangs in the kernel. */
pp_status pp__supervisor_await_end(pid_t *pid, int64_t end_ns, int64_t kill_ns, pp_error *reterr);

/* supervisor_start.c */
pp_status pp__supervisor_launch(pp_supervisor *supervisor, const pp_supervisor_options *options,
                                pp_error *reterr);

/* supervisor_records.c: record_open leaves fd -1 for a NULL path. */
pp_status pp__record_open(pp_record_file *file, const char *what, const char *path,
                          pp_error *reterr);
/* Appends one line, whole or not at all as far as the disk allows. */
pp_status pp__record_append(pp_record_file *file, uint64_t seq, const void *line, size_t size,
                            pp_error *reterr);
/* Brings it to disk when `now` or when the last time is a second ago. *ret_acked: what is safe
 * now, 0: nothing new. */
pp_status pp__record_sync(pp_record_file *file, bool now, uint64_t *ret_acked, pp_error *reterr);
void pp__record_close(pp_record_file *file);

/* supervisor_receive.c: handles what arrived; troubles go into the view. */
void pp__supervisor_receive(pp_supervisor *supervisor);
void pp__supervisor_lose(pp_supervisor *supervisor, const pp_error *error);

#endif
