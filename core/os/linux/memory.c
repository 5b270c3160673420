/* SPDX-License-Identifier: Apache-2.0 */
/* Reading smaps_rollup can wait for the target's memory lock as long as the target likes. Threads
 * do it, each with one slot that it shares with the loop and nothing else. A question takes at most
 * half of the time that is left, so that those behind it have some; then it is BLOCKED, and so at
 * once is every further question about that process until its thread is back. Meanwhile other
 * threads read the others, until there are no more of them. An answer that came too late is thrown
 * away. */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum slot_state { SLOT_IDLE, SLOT_ASKED, SLOT_ANSWERED } slot_state;

struct pp_linux_reader {
    const pp_linux_sys *sys;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing; /* the thread ends, and frees all of this */
    slot_state state;
    pp_proc_id id;    /* asked */
    pp_status status; /* answered: status, then error or memory */
    pp_error error;
    pp_memory memory;
};

static pp_reading sum_of(const pp_reading *parts, size_t count) {
    pp_sum sum = { 0 };
    for (size_t i = 0; i < count; i++)
        pp_sum_add(&sum, parts[i]);
    return pp_sum_total(&sum);
}

static pp_memory combine(const pp_linux_rollup *rollup, pp_reading page_tables) {
    const pp_reading unique[] = { rollup->private_clean_bytes, rollup->private_dirty_bytes };
    const pp_reading footprint[] = { rollup->pss_anon_bytes, rollup->pss_shmem_bytes,
                                     rollup->swap_pss_bytes, page_tables };
    return (pp_memory){
        .pss_bytes = rollup->pss_bytes,
        .uss_bytes = sum_of(unique, sizeof unique / sizeof *unique),
        .swap_bytes = rollup->swap_bytes,
        .footprint_pss_bytes = sum_of(footprint, sizeof footprint / sizeof *footprint),
    };
}

/* base is "/proc/PID" or "/proc/PID/task/TID". */
static pp_status read_memory_at(const pp_linux_sys *sys, const char *base, pp_memory *ret_memory,
                                pp_error *reterr) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_rollup rollup;
    pp_linux_status decoded;
    (void)snprintf(path, sizeof path, "%s/smaps_rollup", base);
    pp_status status = pp__linux_read_path(sys, path, bytes, sizeof bytes, &size, reterr);
    if (status == PP_OK && size == 0)
        status = pp_fail(reterr, PP_E_VANISHED, 0, "pread", "%s: no address space", path);
    if (status == PP_OK)
        status = pp__linux_decode_rollup(bytes, size, &rollup, reterr);
    if (status != PP_OK)
        return status;

    (void)snprintf(path, sizeof path, "%s/status", base);
    status = pp__linux_read_path(sys, path, bytes, sizeof bytes, &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_status(bytes, size, &decoded, reterr);
    if (status == PP_OK)
        *ret_memory = combine(&rollup, decoded.page_table_bytes);
    return status;
}

static pp_status read_memory(const pp_linux_sys *sys, int32_t pid, pp_memory *ret_memory,
                             pp_error *reterr) {
    char base[PP_LINUX_PATH_MAX / 2];
    (void)snprintf(base, sizeof base, "/proc/%d", pid);
    pp_status status = read_memory_at(sys, base, ret_memory, reterr);
    if (status != PP_E_VANISHED)
        return status;

    /* The main thread has no address space; another thread may. */
    pp_pid_list threads = { 0 };
    if (pp__linux_list_threads(sys, pid, &threads, NULL) == PP_OK && threads.count > 1)
        for (size_t i = 0; i < threads.count && status == PP_E_VANISHED; i++) {
            (void)snprintf(base, sizeof base, "/proc/%d/task/%d", pid, threads.pids[i]);
            status = read_memory_at(sys, base, ret_memory, reterr);
        }
    pp_pid_list_done(&threads);
    return status;
}

static void reader_free(pp_linux_reader *reader) {
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

static void *read_for_ever(void *argument) {
    pp_linux_reader *reader = argument;
    pthread_mutex_lock(&reader->lock);
    while (!reader->closing) {
        if (reader->state != SLOT_ASKED) {
            pthread_cond_wait(&reader->changed, &reader->lock);
            continue;
        }
        int32_t pid = reader->id.pid;
        pthread_mutex_unlock(&reader->lock);
        pp_error error = { 0 };
        pp_memory memory = { 0 };
        pp_status status = read_memory(reader->sys, pid, &memory, &error);
        pthread_mutex_lock(&reader->lock);
        reader->status = status;
        reader->error = error;
        reader->memory = memory;
        reader->state = SLOT_ANSWERED;
        pthread_cond_broadcast(&reader->changed);
    }
    pthread_mutex_unlock(&reader->lock);
    reader_free(reader);
    return NULL;
}

static int init_slot(pp_linux_reader *reader) {
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result != 0)
        return result;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&reader->lock, NULL); /* cannot fail without attributes */
    result = pthread_cond_init(&reader->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return result;
}

/* No signal is ever delivered to the thread. */
static int start_thread(pp_linux_reader *reader) {
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&reader->thread, NULL, read_for_ever, reader);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static pp_status reader_open(pp_linux_host *host, pp_linux_reader **ret_reader, pp_error *reterr) {
    if (host->reader_count == PP_LINUX_READERS_MAX)
        return pp_fail(reterr, PP_E_BLOCKED, 0, "smaps_rollup", "all %d readers hang",
                       PP_LINUX_READERS_MAX);
    pp_linux_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "reader", "no memory");
    reader->sys = host->sys;
    int result = init_slot(reader);
    if (result == 0)
        result = start_thread(reader);
    if (result != 0) {
        free(reader);
        return pp_fail(reterr, PP_E_SYS, result, "pthread_create", "memory reader");
    }
    host->readers[host->reader_count++] = reader;
    *ret_reader = reader;
    return PP_OK;
}

/* The thread frees the reader; one that is stuck in a read does so when it comes back. */
static void reader_close(pp_linux_reader *reader) {
    pthread_t thread = reader->thread;
    pthread_mutex_lock(&reader->lock);
    bool stuck = reader->state == SLOT_ASKED;
    reader->closing = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    (void)(stuck ? pthread_detach(thread) : pthread_join(thread, NULL));
}

void pp__linux_readers_close(pp_linux_host *host) {
    while (host->reader_count > 0)
        reader_close(host->readers[--host->reader_count]);
}

/* Frees the slot if its answer came too late for whoever asked. */
static bool is_idle(pp_linux_reader *reader) {
    pthread_mutex_lock(&reader->lock);
    if (reader->state == SLOT_ANSWERED)
        reader->state = SLOT_IDLE;
    bool idle = reader->state == SLOT_IDLE;
    pthread_mutex_unlock(&reader->lock);
    return idle;
}

static pp_status reader_for(pp_linux_host *host, pp_proc_id id, pp_linux_reader **ret_reader,
                            pp_error *reterr) {
    pp_linux_reader *free_one = NULL;
    for (size_t i = 0; i < host->reader_count; i++) {
        pp_linux_reader *reader = host->readers[i];
        if (is_idle(reader))
            free_one = reader;
        else if (pp_proc_id_equal(reader->id, id))
            return pp_fail(reterr, PP_E_BLOCKED, 0, "smaps_rollup", "pid %d: still no answer",
                           id.pid);
    }
    if (free_one == NULL)
        return reader_open(host, ret_reader, reterr);
    *ret_reader = free_one;
    return PP_OK;
}

static struct timespec half_way(int64_t deadline_ns) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = now.tv_sec * PP_LINUX_NS_PER_SECOND + now.tv_nsec;
    int64_t until_ns = deadline_ns > now_ns ? now_ns + (deadline_ns - now_ns + 1) / 2 : deadline_ns;
    return (struct timespec){ .tv_sec = until_ns / PP_LINUX_NS_PER_SECOND,
                              .tv_nsec = until_ns % PP_LINUX_NS_PER_SECOND };
}

static pp_status ask(pp_linux_reader *reader, pp_proc_id id, int64_t deadline_ns,
                     pp_memory *ret_memory, pp_error *reterr) {
    struct timespec until = half_way(deadline_ns);
    pthread_mutex_lock(&reader->lock);
    reader->id = id;
    reader->state = SLOT_ASKED;
    pthread_cond_broadcast(&reader->changed);
    int result = 0;
    while (reader->state != SLOT_ANSWERED && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&reader->changed, &reader->lock, &until);

    pp_status status;
    if (reader->state != SLOT_ANSWERED) {
        status = pp_fail(reterr, PP_E_BLOCKED, 0, "smaps_rollup", "pid %d: no answer", id.pid);
    } else {
        reader->state = SLOT_IDLE;
        status = reader->status;
        if (status == PP_OK)
            *ret_memory = reader->memory;
        else if (reterr != NULL)
            *reterr = reader->error;
    }
    pthread_mutex_unlock(&reader->lock);
    return status;
}

pp_status pp__linux_memory(void *ctx, pp_proc_id id, int64_t deadline_ns, pp_memory *ret_memory,
                           pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle;
    pp_linux_reader *reader = NULL; /* gcc -O2 does not see that it is set on success */
    const pp_linux_capability *fact = &host->facts[PP_LINUX_FACT_ROLLUP];
    if (fact->state != PP_OK)
        return pp_fail(reterr, fact->state, fact->sys_errno, "smaps_rollup", "%s",
                       fact->consequence);
    pp_status status = pp__linux_handle_find(host, id, &handle, reterr);
    if (status == PP_OK)
        status = reader_for(host, id, &reader, reterr);
    if (status != PP_OK)
        return status;

    pp_memory memory;
    status = ask(reader, id, deadline_ns, &memory, reterr);
    if (status != PP_OK)
        return status;
    status = pp__linux_handle_validate(host, handle, reterr);
    if (status == PP_OK)
        *ret_memory = memory;
    return status;
}
