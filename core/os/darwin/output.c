/* SPDX-License-Identifier: Apache-2.0 */
/* A captured stream is read to its end whatever happens to the file it is kept in: the command
 * never blocks on us. Bytes beyond the cap are counted and dropped. A file that cannot be written
 * is a stated failure of the output, not of the run. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024, CHUNKS_PER_DRAIN = 64 };

static void close_fd(int *fd) {
    int old = *fd;
    *fd = -1;
    if (old >= 0)
        (void)close(old);
}

void pp__dw_output_init(pp_darwin *darwin) {
    for (size_t i = 0; i < 2; i++)
        darwin->streams[i] = (pp_dw_stream){ .pipe_fd = -1, .file_fd = -1 };
    darwin->output_cap_bytes = 0;
    darwin->output = (pp_output_state){ 0 };
}

void pp__dw_output_done(pp_darwin *darwin) {
    for (size_t i = 0; i < 2; i++) {
        close_fd(&darwin->streams[i].pipe_fd);
        close_fd(&darwin->streams[i].file_fd);
    }
}

/* Away from 0, 1 and 2, where the start would overwrite it before it is used. */
static int above_stdio(int fd) {
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return moved;
}

static pp_status write_all(int fd, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return PP_E_SYS;
        bytes += written;
        size -= (size_t)written;
    }
    return PP_OK;
}

static pp_status open_kept(pp_darwin *darwin, const char *name, int *ret_fd, pp_error *reterr) {
    if (darwin->run_dir_fd < 0 || name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
        return pp_fail(reterr, PP_E_INVALID, 0, "openat", "%s: not a name in a run directory",
                       name != NULL ? name : "(none)");
    int fd = openat(darwin->run_dir_fd, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    if (fd < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "openat", "%s", name);
    *ret_fd = fd;
    return PP_OK;
}

/* Whole or not at all: nothing is put after a line that is torn, and none is left so. */
static pp_status append(int fd, const char *name, const void *bytes, size_t size,
                        pp_error *reterr) {
    struct stat before;
    char last = '\n';

    if (fstat(fd, &before) != 0 ||
        (before.st_size > 0 && pread(fd, &last, 1, before.st_size - 1) < 0))
        return pp_fail(reterr, PP_E_SYS, errno, "read", "the end of %s", name);
    if (last != '\n')
        return pp_fail(reterr, PP_E_MALFORMED, 0, "write", "%s ends in a torn line", name);
    if (write_all(fd, bytes, size) == PP_OK && fsync(fd) == 0)
        return PP_OK;
    int failed = errno;
    bool torn = ftruncate(fd, before.st_size) != 0;
    return pp_fail(reterr, PP_E_SYS, failed, "write", "%s%s", name,
                   torn ? ": a torn line stays" : "");
}

pp_status pp__dw_save(void *ctx, const char *name, const void *bytes, size_t size,
                      pp_error *reterr) {
    int fd;
    pp_status status = open_kept(ctx, name, &fd, reterr);
    if (status != PP_OK)
        return status;
    status = append(fd, name, bytes, size, reterr);
    close_fd(&fd);
    return status;
}

static pp_status open_stream(pp_darwin *darwin, pp_dw_stream *stream, const char *name,
                             int *ret_write_end, pp_error *reterr) {
    int ends[2];
    pp_status status = open_kept(darwin, name, &stream->file_fd, reterr);
    if (status != PP_OK)
        return status;
    if (pipe(ends) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "pipe", "%s", name);
    stream->pipe_fd = ends[0];
    stream->kept = 0;
    *ret_write_end = ends[1] = above_stdio(ends[1]);
    /* One thread, and the start closes all that it is not told to keep: no gap that matters. */
    if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "fcntl", "%s", name);
    return PP_OK;
}

pp_status pp__dw_output_open(pp_darwin *darwin, const pp_command *command, int ret_stdio[3],
                             pp_error *reterr) {
    int stdio[3] = { -1, -1, -1 };
    bool capture = command->output == PP_OUTPUT_CAPTURE;
    const char *names[] = { command->stdout_name, command->stderr_name };
    pp_status status = PP_OK;

    for (size_t i = 0; i < 3 && status == PP_OK; i++) {
        if (capture && i > 0) {
            status = open_stream(darwin, &darwin->streams[i - 1], names[i - 1], &stdio[i], reterr);
            continue;
        }
        stdio[i] = above_stdio(open("/dev/null", (i == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
        if (stdio[i] < 0)
            status = pp_fail(reterr, PP_E_SYS, errno, "open", "/dev/null");
    }
    if (status != PP_OK) {
        for (size_t i = 0; i < 3; i++)
            close_fd(&stdio[i]);
        pp__dw_output_done(darwin);
        return status;
    }
    darwin->output_cap_bytes = command->output_cap_bytes;
    memcpy(ret_stdio, stdio, sizeof stdio);
    return PP_OK;
}

/* Counts `size` bytes that were read and keeps what the cap allows. */
static void keep(pp_darwin *darwin, size_t index, const char *bytes, size_t size) {
    pp_dw_stream *stream = &darwin->streams[index];
    pp_output_state *output = &darwin->output;
    uint64_t room = darwin->output_cap_bytes - stream->kept;
    size_t kept = size < room ? size : (size_t)room;

    *(index == 0 ? &output->stdout_bytes : &output->stderr_bytes) += size;
    if (kept < size)
        *(index == 0 ? &output->stdout_truncated : &output->stderr_truncated) = true;
    if (stream->file_fd < 0 || kept == 0)
        return;
    if (write_all(stream->file_fd, bytes, kept) != PP_OK) {
        output->failure = PP_E_SYS;
        output->failure_errno = errno;
        close_fd(&stream->file_fd);
        return;
    }
    stream->kept += kept;
}

static void drain(pp_darwin *darwin, size_t index) {
    pp_dw_stream *stream = &darwin->streams[index];
    char bytes[CHUNK_BYTES];

    for (int i = 0; i < CHUNKS_PER_DRAIN && stream->pipe_fd >= 0; i++) {
        ssize_t got = read(stream->pipe_fd, bytes, sizeof bytes);
        if (got > 0) {
            keep(darwin, index, bytes, (size_t)got);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got < 0)
            darwin->output.failure = PP_E_SYS;
        close_fd(&stream->pipe_fd);
        close_fd(&stream->file_fd);
    }
}

pp_status pp__dw_drain_output(void *ctx, pp_output_state *ret_state, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    (void)reterr;
    for (size_t i = 0; i < 2; i++)
        drain(darwin, i);
    *ret_state = darwin->output;
    return PP_OK;
}
