/* SPDX-License-Identifier: Apache-2.0 */
/* Reading smaps_rollup can wait for the target's memory lock as long as the target likes. Threads
 * do it, each with one list of questions that it shares with the loop and nothing else. One list is
 * a whole pass: the loop and the thread hand over to each other once. When half of the time that is
 * left goes by without an answer, the question in hand is BLOCKED, and so at once is every further
 * one about that process until its thread is back. Meanwhile another thread has the rest of the
 * list, until there are no more of them. An answer that came too late is thrown away. */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pp_linux_reader {
    const pp_linux_sys *sys;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing;            /* the thread ends, and frees all of this */
    pp_memory_answer *items; /* its list */
    size_t capacity;
    size_t done, count; /* answered, and asked; the one in hand stays on the list */
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

static void answer(pp_memory_answer *item, pp_status status, const pp_error *error) {
    item->status = status;
    item->sys_errno = error->sys_errno;
    memcpy(item->op, error->op, sizeof item->op);
}

static void reader_free(pp_linux_reader *reader) {
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->lock);
    free(reader->items);
    free(reader);
}

static void *read_for_ever(void *argument) {
    pp_linux_reader *reader = argument;
    pthread_mutex_lock(&reader->lock);
    while (!reader->closing) {
        if (reader->done == reader->count) {
            pthread_cond_wait(&reader->changed, &reader->lock);
            continue;
        }
        pp_memory_answer item = reader->items[reader->done];
        pthread_mutex_unlock(&reader->lock);
        pp_error error = { 0 };
        if (item.status == PP_OK) /* else it is answered */
            answer(&item, read_memory(reader->sys, item.id.pid, &item.memory, &error), &error);
        pthread_mutex_lock(&reader->lock);
        reader->items[reader->done++] = item;
        if (reader->done == reader->count)
            pthread_cond_broadcast(&reader->changed);
    }
    pthread_mutex_unlock(&reader->lock);
    reader_free(reader);
    return NULL;
}

static int init_reader(pp_linux_reader *reader) {
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

/* NULL, and why: there is none. */
static pp_linux_reader *reader_open(pp_linux_host *host, pp_error *reterr) {
    if (host->reader_count == PP_LINUX_READERS_MAX) {
        (void)pp_fail(reterr, PP_E_BLOCKED, 0, "smaps_rollup", "all %d readers hang",
                      PP_LINUX_READERS_MAX);
        return NULL;
    }
    pp_linux_reader *reader = calloc(1, sizeof *reader);
    int result = reader != NULL ? 0 : ENOMEM;
    if (result == 0) {
        reader->sys = host->sys;
        result = init_reader(reader);
    }
    if (result == 0)
        result = start_thread(reader);
    if (result != 0) {
        free(reader);
        (void)pp_fail(reterr, PP_E_SYS, result, "pthread_create", "memory reader");
        return NULL;
    }
    return host->readers[host->reader_count++] = reader;
}

/* The thread frees the reader; one that is stuck in a read does so when it comes back. */
static void reader_close(pp_linux_reader *reader) {
    pthread_t thread = reader->thread;
    pthread_mutex_lock(&reader->lock);
    bool stuck = reader->done < reader->count;
    reader->closing = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    (void)(stuck ? pthread_detach(thread) : pthread_join(thread, NULL));
}

void pp__linux_readers_close(pp_linux_host *host) {
    while (host->reader_count > 0)
        reader_close(host->readers[--host->reader_count]);
}

/* Whose question it has in hand; pid 0: nobody's. */
static pp_proc_id in_hand(pp_linux_reader *reader) {
    pthread_mutex_lock(&reader->lock);
    pp_proc_id id = { 0 };
    if (reader->done < reader->count)
        id = reader->items[reader->done].id;
    pthread_mutex_unlock(&reader->lock);
    return id;
}

static bool hangs(pp_linux_host *host, pp_proc_id id) {
    for (size_t i = 0; i < host->reader_count; i++)
        if (pp_proc_id_equal(in_hand(host->readers[i]), id))
            return true;
    return false;
}

static pp_linux_reader *idle_reader(pp_linux_host *host, pp_error *reterr) {
    for (size_t i = 0; i < host->reader_count; i++)
        if (in_hand(host->readers[i]).pid == 0)
            return host->readers[i];
    return reader_open(host, reterr);
}

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * PP_LINUX_NS_PER_SECOND + now.tv_nsec;
}

static struct timespec half_way(int64_t deadline_ns) {
    int64_t begin_ns = now_ns();
    int64_t until_ns =
        deadline_ns > begin_ns ? begin_ns + (deadline_ns - begin_ns + 1) / 2 : deadline_ns;
    return (struct timespec){ .tv_sec = until_ns / PP_LINUX_NS_PER_SECOND,
                              .tv_nsec = until_ns % PP_LINUX_NS_PER_SECOND };
}

/* The reader is idle. */
static bool give(pp_linux_reader *reader, const pp_memory_answer *items, size_t count) {
    pthread_mutex_lock(&reader->lock);
    bool fits = count <= reader->capacity;
    if (!fits) {
        pp_memory_answer *bigger = reallocarray(reader->items, count, sizeof *bigger);
        if (bigger) {
            reader->items = bigger;
            reader->capacity = count;
            fits = true;
        }
    }
    if (fits) {
        memcpy(reader->items, items, count * sizeof *items);
        reader->done = 0;
        reader->count = count;
        pthread_cond_broadcast(&reader->changed);
    }
    pthread_mutex_unlock(&reader->lock);
    return fits;
}

/* Until the list is done, or nothing moved in half of the time that was left. The question in hand
 * is its last then. Answers how many are done. */
static size_t collect(pp_linux_reader *reader, int64_t deadline_ns, pp_memory_answer *items) {
    size_t before = SIZE_MAX;
    pthread_mutex_lock(&reader->lock);
    while (reader->done < reader->count && reader->done != before && now_ns() < deadline_ns) {
        struct timespec until = half_way(deadline_ns);
        before = reader->done;
        int result = 0;
        while (reader->done < reader->count && result != ETIMEDOUT)
            result = pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
    }
    size_t done = reader->done;
    memcpy(items, reader->items, done * sizeof *items);
    if (done < reader->count)
        reader->count = done + 1;
    pthread_mutex_unlock(&reader->lock);
    return done;
}

static void answer_all(pp_memory_answer *items, size_t count, const pp_error *error) {
    for (size_t i = 0; i < count; i++)
        if (items[i].status == PP_OK)
            answer(&items[i], error->status, error);
}

/* A reader, with these to read; NULL, and why: there is none. */
static pp_linux_reader *reader_with(pp_linux_host *host, const pp_memory_answer *items,
                                    size_t count, pp_error *reterr) {
    pp_linux_reader *reader = idle_reader(host, reterr);
    if (reader == NULL || give(reader, items, count))
        return reader;
    (void)pp_fail(reterr, PP_E_NOMEM, 0, "reader", "no memory");
    return NULL;
}

static void ask(pp_linux_host *host, pp_memory_answer *items, size_t count, int64_t deadline_ns) {
    pp_error error = { 0 };
    (void)pp_fail(&error, PP_E_BLOCKED, 0, "smaps_rollup", "no answer");
    size_t at = 0;
    while (at < count && now_ns() < deadline_ns) {
        pp_linux_reader *reader = reader_with(host, items + at, count - at, &error);
        if (reader == NULL)
            break;
        at += collect(reader, deadline_ns, items + at);
        if (at < count)
            answer(&items[at++], PP_E_BLOCKED, &error);
    }
    answer_all(items + at, count - at, &error);
}

/* PP_OK: it can be asked for. */
static pp_status may_ask(pp_linux_host *host, pp_proc_id id, pp_error *reterr) {
    pp_linux_handle *handle;
    const pp_linux_capability *fact = &host->facts[PP_LINUX_FACT_ROLLUP];
    if (fact->state != PP_OK)
        return pp_fail(reterr, fact->state, fact->sys_errno, "smaps_rollup", "%s",
                       fact->consequence);
    if (hangs(host, id))
        return pp_fail(reterr, PP_E_BLOCKED, 0, "smaps_rollup", "pid %d: still no answer", id.pid);
    return pp__linux_handle_find(host, id, &handle, reterr);
}

/* Was it read from this process, and not from who had its number later? */
static pp_status validate(pp_linux_host *host, pp_proc_id id, pp_error *reterr) {
    pp_linux_handle *handle;
    pp_status status = pp__linux_handle_find(host, id, &handle, reterr);
    return status == PP_OK ? pp__linux_handle_validate(host, handle, reterr) : status;
}

void pp__linux_memory(void *ctx, pp_memory_answer *items, size_t count, int64_t deadline_ns) {
    pp_linux_host *host = ctx;
    pp_error error = { 0 };
    for (size_t i = 0; i < count; i++)
        answer(&items[i], may_ask(host, items[i].id, &error), &error);
    ask(host, items, count, deadline_ns);
    for (size_t i = 0; i < count; i++)
        if (items[i].status == PP_OK)
            answer(&items[i], validate(host, items[i].id, &error), &error);
}
