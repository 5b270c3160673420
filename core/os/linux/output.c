/* SPDX-License-Identifier: Apache-2.0 */
/* What a command prints is always read, so it never blocks on us; the first bytes up to the cap
 * are kept in a file, the rest is counted. A file that cannot be written is a recorded failure and
 * no reason to stop reading. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 64 * 1024,
    CHUNKS_PER_DRAIN = 16, /* then the loop gets its turn */
};

pp_status pp__linux_open_kept_file(pp_linux_host *host, const char *name, int *ret_fd,
                                   pp_error *reterr) {
    if (host->options.run_dir_fd < 0 || name == NULL || name[0] == '\0' || strchr(name, '/'))
        return pp_fail(reterr, PP_E_INVALID, 0, "open", "no run directory for \"%s\"",
                       name ? name : "");
    int fd = host->sys->open_at(host->options.run_dir_fd, name,
                                O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return pp_fail(reterr, PP_E_SYS, -fd, "open", "%s", name);
    *ret_fd = fd;
    return PP_OK;
}

static pp_status write_all(const pp_linux_sys *sys, int fd, const char *bytes, size_t size,
                           pp_error *reterr) {
    while (size > 0) {
        ssize_t wrote = sys->write(fd, bytes, size);
        if (wrote <= 0)
            return pp_fail(reterr, PP_E_SYS, wrote < 0 ? (int)-wrote : EIO, "write", "%zu bytes",
                           size);
        bytes += wrote;
        size -= (size_t)wrote;
    }
    return PP_OK;
}

static void keep(pp_linux_host *host, pp_linux_stream *stream, const char *bytes, size_t size,
                 bool *truncated) {
    uint64_t room = host->output_cap_bytes - stream->kept;
    size_t wanted = size < room ? size : (size_t)room;
    if (wanted < size)
        *truncated = true;
    if (wanted == 0 || stream->file_fd < 0)
        return;
    pp_error error = { 0 };
    pp_status status = write_all(host->sys, stream->file_fd, bytes, wanted, &error);
    stream->kept += wanted;
    if (status != PP_OK) {
        host->output.failure = status;
        host->output.failure_errno = error.sys_errno;
        pp__linux_close(host->sys, &stream->file_fd);
    }
}

static void stream_close(pp_linux_host *host, pp_linux_stream *stream) {
    if (stream->pipe_fd >= 0)
        pp__linux_unwatch(host, stream->pipe_fd);
    pp__linux_close(host->sys, &stream->pipe_fd);
    pp__linux_close(host->sys, &stream->file_fd);
}

void pp__linux_streams_close(pp_linux_host *host) {
    stream_close(host, &host->streams[0]);
    stream_close(host, &host->streams[1]);
}

static pp_status drain(pp_linux_host *host, pp_linux_stream *stream, char *chunk, uint64_t *seen,
                       bool *truncated, pp_error *reterr) {
    for (int reads = 0; reads < CHUNKS_PER_DRAIN && stream->pipe_fd >= 0; reads++) {
        ssize_t got = host->sys->read(stream->pipe_fd, chunk, CHUNK_BYTES);
        if (got == -EAGAIN)
            return PP_OK;
        if (got <= 0) {
            stream_close(host, stream);
            return got == 0 ? PP_OK : pp_fail(reterr, PP_E_SYS, (int)-got, "read", "output");
        }
        *seen += (uint64_t)got;
        keep(host, stream, chunk, (size_t)got, truncated);
    }
    return PP_OK;
}

pp_status pp__linux_drain_output(void *ctx, pp_output_state *ret_state, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_output_state *state = &host->output;
    char *chunk = malloc(CHUNK_BYTES);
    if (chunk == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "read", "output");
    pp_status status = drain(host, &host->streams[0], chunk, &state->stdout_bytes,
                             &state->stdout_truncated, reterr);
    if (status == PP_OK)
        status = drain(host, &host->streams[1], chunk, &state->stderr_bytes,
                       &state->stderr_truncated, reterr);
    free(chunk);
    if (status == PP_OK)
        *ret_state = *state;
    return status;
}

/* After a line that is torn nothing may stand: it would be torn, too. */
static pp_status find_end(const pp_linux_sys *sys, int fd, const char *name, off_t *ret_end,
                          pp_error *reterr) {
    char last = '\n';
    ssize_t result = sys->file_size(fd, ret_end);
    if (result >= 0 && *ret_end > 0)
        result = sys->pread(fd, &last, 1, *ret_end - 1);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, (int)-result, "read", "the end of %s", name);
    if (last != '\n')
        return pp_fail(reterr, PP_E_MALFORMED, 0, "write", "%s ends in a torn line", name);
    return PP_OK;
}

/* What did not reach the disk whole is cut off again. */
static pp_status append(const pp_linux_sys *sys, int fd, const char *name, const void *bytes,
                        size_t size, pp_error *reterr) {
    pp_error error;
    off_t end;
    pp_status status = find_end(sys, fd, name, &end, reterr);
    if (status != PP_OK)
        return status;
    status = write_all(sys, fd, bytes, size, &error);
    int result = status == PP_OK ? sys->fsync(fd) : 0;
    if (result < 0)
        status = pp_fail(&error, PP_E_SYS, -result, "fsync", "%s", "");
    if (status == PP_OK)
        return PP_OK;
    bool torn = sys->truncate(fd, end) < 0;
    return pp_fail(reterr, status, error.sys_errno, error.op, "%s%s", name,
                   torn ? ": a torn line stays" : "");
}

pp_status pp__linux_save(void *ctx, const char *name, const void *bytes, size_t size,
                         pp_error *reterr) {
    pp_linux_host *host = ctx;
    int fd;
    pp_status status = pp__linux_open_kept_file(host, name, &fd, reterr);
    if (status != PP_OK)
        return status;
    status = append(host->sys, fd, name, bytes, size, reterr);
    (void)host->sys->close(fd); /* what it could report, fsync did */
    return status;
}
