/* SPDX-License-Identifier: Apache-2.0 */
/* Entries are taken in blocks and in their order, so that a worker mostly stays in one directory,
 * and with nobody else in it: what two of them touch at once costs both.
 * A big file is put aside when it is met and hashed at the end, the biggest first: a worker alone
 * with the last one is what would make the others wait.
 *
 * Files are opened ahead, with a hint to the system, only after a read was slow: with everything in
 * memory each hint is a call for nothing. A failure ahead does not count: the file is opened again
 * when its turn comes.
 *
 * Each worker has open files of its own where the system can do that, and closes many at once: the
 * call to the system is dear beside the reading of a small file. So whatever a worker opens, it
 * closes before it ends; nobody else could.
 *
 * After a failure the entries before it are still hashed, so whichever worker fails first, the
 * error that is reported is the first by path. */
#include "hash_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "platform.h"
#include "resize.h"

enum {
    WORKERS_MAX = 16,
    BLOCK_MIN = 8, /* entries taken at a time */
    BLOCK_MAX = 128,
    BLOCKS = 16,            /* at least so many for a worker, in a big tree */
    LINE = 128,             /* no two workers write within so many bytes */
    AHEAD_MAX = 64,         /* files open ahead, of one worker */
    SPENT_MAX = 32,         /* files done and not yet closed, likewise */
    OPEN_TOTAL = 256,       /* of each kind, of all */
    HINT_BYTES = 128 << 10, /* of a file opened ahead */
    BIG_BYTES = 4 << 20,    /* is put aside */
    SLOW_NS = 150 * 1000,   /* a file took this, and 2 ns per byte more: it was not in memory */
    SLOW_FILES = 256,       /* for so many files after it hints are given */
    PROGRESS_MS = 100,
};

typedef struct hash_pool {
    pp__walk *walk;
    unsigned char (*digests)[PP__SHA256_SIZE];
    size_t block;
    size_t ahead_max;     /* per worker */
    size_t spent_max;     /* likewise */
    atomic_size_t next;   /* no worker has taken this entry yet */
    atomic_size_t failed; /* no entry beyond it matters; written under the lock */
    atomic_bool stop;     /* cancelled */
    int done_fd;          /* a byte from each worker that ends, or -1 */
    pthread_mutex_t lock; /* of all below */
    pp_error error;
    size_t *big;
    size_t big_count, big_capacity;
} hash_pool;

typedef struct waiting {
    size_t index;
    int fd;   /* -1: not opened */
    bool big; /* was put aside before */
} waiting;

typedef struct hash_worker {
    _Alignas(LINE) hash_pool *pool;
    pthread_t thread;
    pp_digest *digest;
    pp__digest_watch watch;
    atomic_uint_fast64_t files;      /* done */
    atomic_uint_fast64_t seen_files; /* opened: their sizes are known */
    atomic_uint_fast64_t seen_bytes;
    pp__walk_cursor cursor;
    size_t at, end; /* what is left of the block taken last */
    waiting ring[AHEAD_MAX];
    size_t first, count;
    bool own_files;       /* no other thread sees what this one has open */
    int spent[SPENT_MAX]; /* ascending */
    size_t spent_count;
    bool suspicious;     /* the file before was slow */
    unsigned slow_files; /* left to be opened ahead */
    int64_t t_ns;        /* when the file before was done */
} hash_worker;

static void add(atomic_uint_fast64_t *counter, uint64_t value) {
    uint_fast64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + value, memory_order_relaxed); /* one writer */
}

static int64_t clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void fail(hash_pool *pool, size_t index, const pp_error *err) {
    pthread_mutex_lock(&pool->lock);
    if (index < atomic_load(&pool->failed)) {
        atomic_store(&pool->failed, index);
        pool->error = *err;
    }
    pthread_mutex_unlock(&pool->lock);
}

static bool matters(const hash_pool *pool, size_t index) {
    return !atomic_load_explicit(&pool->stop, memory_order_relaxed) &&
           index < atomic_load_explicit(&pool->failed, memory_order_relaxed);
}

static bool make_room(hash_pool *pool) {
    if (pool->big_count < pool->big_capacity)
        return true;
    size_t capacity = pool->big_capacity ? pool->big_capacity * 2 : 64;
    void *grown = pp_resize(pool->big, capacity, sizeof *pool->big);
    if (grown == NULL)
        return false;
    pool->big = grown;
    pool->big_capacity = capacity;
    return true;
}

static bool put_aside(hash_pool *pool, size_t index) {
    pthread_mutex_lock(&pool->lock);
    bool kept = make_room(pool);
    if (kept)
        pool->big[pool->big_count++] = index;
    pthread_mutex_unlock(&pool->lock);
    return kept;
}

static bool take_biggest(hash_pool *pool, size_t *ret_index) {
    pp__walk_entry *const *entries = pool->walk->entries;
    pthread_mutex_lock(&pool->lock);
    bool any = pool->big_count > 0;
    if (any) {
        size_t best = 0;
        for (size_t i = 1; i < pool->big_count; i++)
            if (entries[pool->big[i]]->facts.size > entries[pool->big[best]]->facts.size)
                best = i;
        *ret_index = pool->big[best];
        pool->big[best] = pool->big[--pool->big_count];
    }
    pthread_mutex_unlock(&pool->lock);
    return any;
}

/* The next entry of this worker that is a file. */
static bool take_next(hash_worker *worker, size_t *ret_index) {
    hash_pool *pool = worker->pool;
    const pp__walk *walk = pool->walk;
    for (;;) {
        for (; worker->at < worker->end; worker->at++) {
            if (!S_ISREG(walk->entries[worker->at]->type) || !matters(pool, worker->at))
                continue;
            *ret_index = worker->at++;
            return true;
        }
        worker->at = atomic_fetch_add_explicit(&pool->next, pool->block, memory_order_relaxed);
        if (worker->at >= walk->count) {
            worker->at = worker->end;
            return false;
        }
        worker->end =
            walk->count - worker->at > pool->block ? worker->at + pool->block : walk->count;
    }
}

static void open_ahead(hash_worker *worker, waiting *file) {
    const pp__walk *walk = worker->pool->walk;
    if (pp__walk_entry_open(walk, file->index, &worker->cursor, &file->fd, NULL) != PP_OK)
        return; /* said when its turn comes */
    if (worker->suspicious) {
        worker->suspicious = false;
        if (!pp_platform_in_memory(file->fd))
            worker->slow_files = SLOW_FILES;
    }
    if (worker->slow_files > 0)
        pp_platform_read_ahead(file->fd, 0, HINT_BYTES);
}

static bool next_waiting(hash_worker *worker, waiting *ret_file) {
    size_t wanted = worker->slow_files > 0 ? worker->pool->ahead_max : 1;
    while (worker->count < wanted) {
        waiting file = { .fd = -1 };
        if (!take_next(worker, &file.index))
            break;
        open_ahead(worker, &file);
        worker->ring[(worker->first + worker->count++) % AHEAD_MAX] = file;
    }
    if (worker->count == 0) {
        *ret_file = (waiting){ .fd = -1, .big = true };
        return take_biggest(worker->pool, &ret_file->index);
    }
    *ret_file = worker->ring[worker->first];
    worker->first = (worker->first + 1) % AHEAD_MAX;
    worker->count--;
    return true;
}

/* Numbers in a row are closed at once. */
static void close_spent(hash_worker *worker) {
    const int *spent = worker->spent;
    for (size_t i = 0, end; i < worker->spent_count; i = end) {
        for (end = i + 1; end < worker->spent_count && spent[end] == spent[end - 1] + 1; end++)
            ;
        if (end - i > 1 && worker->own_files && pp_platform_close_range(spent[i], spent[end - 1]))
            continue;
        for (size_t k = i; k < end; k++)
            (void)close(spent[k]);
    }
    worker->spent_count = 0;
}

static void spend(hash_worker *worker, int fd) {
    if (fd < 0)
        return;
    size_t at = worker->spent_count++;
    for (; at > 0 && worker->spent[at - 1] > fd; at--)
        worker->spent[at] = worker->spent[at - 1];
    worker->spent[at] = fd;
    if (worker->spent_count == worker->pool->spent_max)
        close_spent(worker);
}

/* The whole of it between two looks. */
static pp_status hash_carefully(hash_worker *worker, size_t index, int fd, pp_error *reterr) {
    hash_pool *pool = worker->pool;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return pp__fs_fail(reterr, errno, "lseek", pp__walk_entry_name(pool->walk, index).text);
    pp_status status = pp__walk_entry_look(pool->walk, index, fd, reterr);
    if (status != PP_OK)
        return status;
    const pp__walk_entry *entry = pool->walk->entries[index];
    status = pp__digest_content(worker->digest, fd, entry->facts.size,
                                pp__walk_entry_name(pool->walk, index).text, &worker->watch,
                                pool->digests[index], reterr);
    if (status == PP_OK)
        status = pp__walk_entry_look(pool->walk, index, fd, reterr);
    return status;
}

/* A small file is read at once and looked at afterwards, which is enough when it has not changed
 * for long; that saves a call in five.  *ret_aside: it is for later. */
static pp_status hash_first(hash_worker *worker, size_t index, int fd, bool *ret_aside,
                            pp_error *reterr) {
    hash_pool *pool = worker->pool;
    const pp__walk_entry *entry = pool->walk->entries[index];
    size_t got;
    pp_error err;
    pp_status status =
        pp__digest_start(worker->digest, fd, entry->path, &got, pool->digests[index], &err);
    if (status != PP_OK) /* only now the whole name is wanted */
        return pp_fail(reterr, status, err.sys_errno, err.op, "%s",
                       pp__walk_entry_name(pool->walk, index).text);
    status = pp__walk_entry_look(pool->walk, index, fd, reterr);
    if (status != PP_OK)
        return status;
    add(&worker->seen_files, 1);
    add(&worker->seen_bytes, entry->facts.size);
    if (entry->facts.size >= BIG_BYTES && put_aside(pool, index)) {
        *ret_aside = true;
        return PP_OK;
    }
    bool all = got < PP__DIGEST_AT_ONCE;
    if (!pp__walk_entry_settled(pool->walk, index) || got > entry->facts.size ||
        (all && got < entry->facts.size))
        return hash_carefully(worker, index, fd, reterr);
    add(&worker->watch.bytes, got);
    if (all)
        return PP_OK;
    status = pp__digest_rest(worker->digest, fd, entry->facts.size - got,
                             pp__walk_entry_name(pool->walk, index).text, &worker->watch,
                             pool->digests[index], reterr);
    return status == PP_OK ? pp__walk_entry_look(pool->walk, index, fd, reterr) : status;
}

static pp_status hash(hash_worker *worker, const waiting *file, bool *ret_aside, pp_error *reterr) {
    int fd = file->fd;
    pp_status status = PP_OK;
    if (fd < 0)
        status = pp__walk_entry_open(worker->pool->walk, file->index, &worker->cursor, &fd, reterr);
    if (status != PP_OK)
        return status;
    status = file->big ? hash_carefully(worker, file->index, fd, reterr)
                       : hash_first(worker, file->index, fd, ret_aside, reterr);
    spend(worker, fd);
    return status;
}

/* Slow may also be a busy machine: the next file to be opened tells. */
static void mind_the_time(hash_worker *worker, uint64_t size) {
    int64_t now_ns = clock_ns();
    worker->suspicious = now_ns - worker->t_ns > SLOW_NS + 2 * (int64_t)size;
    worker->t_ns = now_ns;
    if (worker->slow_files > 0)
        worker->slow_files--;
}

static void *work(void *argument) {
    hash_worker *worker = argument;
    hash_pool *pool = worker->pool;
    waiting file;
    worker->own_files = pp_platform_own_files();
    worker->t_ns = clock_ns();
    while (next_waiting(worker, &file)) {
        if (!matters(pool, file.index)) {
            spend(worker, file.fd);
            continue;
        }
        bool aside = false;
        pp_error err;
        if (hash(worker, &file, &aside, &err) != PP_OK)
            fail(pool, file.index, &err);
        add(&worker->files, !aside);
        mind_the_time(worker, pool->walk->entries[file.index]->facts.size);
    }
    close_spent(worker);
    pp__walk_cursor_done(&worker->cursor);
    if (pool->done_fd >= 0)
        (void)!write(pool->done_fd, "", 1);
    return NULL;
}

/* As many as there is work for, at least one. */
static size_t worker_count(const pp_manifest_options *options, uint64_t files) {
    uint64_t count = options && options->workers ? options->workers : pp_platform_cpus();
    if (count > WORKERS_MAX)
        count = WORKERS_MAX;
    if (count > files)
        count = files;
    return count > 0 ? (size_t)count : 1;
}

/* Of so many descriptors of all, and a quarter of those that there may be, one worker's. */
static size_t share(size_t total, size_t workers, size_t most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < total)
        total = (size_t)limit.rlim_cur / 4;
    size_t each = total / workers;
    return each < 1 ? 1 : each > most ? most : each;
}

static size_t block_of(size_t entries, size_t workers) {
    size_t block = entries / (workers * BLOCKS);
    return block < BLOCK_MIN ? BLOCK_MIN : block > BLOCK_MAX ? BLOCK_MAX : block;
}

/* Zeroed. */
static hash_worker *new_workers(size_t count) {
    hash_worker *workers = aligned_alloc(LINE, count * sizeof *workers);
    if (workers)
        memset(workers, 0, count * sizeof *workers);
    return workers;
}

/* Signals stay with the thread that called. */
static int start_thread(hash_worker *worker) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static pp_status start_worker(hash_pool *pool, hash_worker *worker, pp_error *reterr) {
    worker->pool = pool;
    worker->watch.stop = &pool->stop;
    pp_status status = pp_digest_new(&worker->digest, reterr);
    if (status != PP_OK)
        return status;
    int failed = start_thread(worker);
    if (failed == 0)
        return PP_OK;
    pp_digest_free(worker->digest);
    return pp_fail(reterr, PP_E_SYS, failed, "pthread_create", "%s", pool->walk->root);
}

static pp_manifest_progress progress_of(hash_worker *workers, size_t count, uint64_t files) {
    pp_manifest_progress progress = { .files = files };
    uint64_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        progress.files_done += atomic_load_explicit(&workers[i].files, memory_order_relaxed);
        progress.bytes_done += atomic_load_explicit(&workers[i].watch.bytes, memory_order_relaxed);
        progress.bytes += atomic_load_explicit(&workers[i].seen_bytes, memory_order_relaxed);
        seen += atomic_load_explicit(&workers[i].seen_files, memory_order_relaxed);
    }
    progress.bytes_known = seen == files;
    return progress;
}

/* Asks `progress` from time to time, and when a signal came, until all workers have ended. */
static void look_on(hash_pool *pool, hash_worker *workers, size_t count, uint64_t files,
                    int ended_fd, const pp_manifest_options *options) {
    for (size_t ended = 0; ended < count;) {
        struct pollfd waited = { .fd = ended_fd, .events = POLLIN };
        char bytes[WORKERS_MAX];
        if (poll(&waited, 1, PROGRESS_MS) > 0) {
            ssize_t got = read(ended_fd, bytes, sizeof bytes);
            ended += got > 0 ? (size_t)got : 0;
        } else if (!atomic_load(&pool->stop)) {
            pp_manifest_progress progress = progress_of(workers, count, files);
            if (!options->progress(options->ctx, &progress))
                atomic_store(&pool->stop, true);
        }
    }
}

static pp_status run(hash_pool *pool, hash_worker *workers, size_t count, uint64_t files,
                     const pp_manifest_options *options, pp_error *reterr) {
    PP_AUTO_FD ended_fd = -1;
    PP_AUTO_FD done_fd = -1;
    if (options && options->progress) {
        int fds[2];
        if (pipe(fds) != 0)
            return pp_fail(reterr, PP_E_SYS, errno, "pipe", "%s", pool->walk->root);
        ended_fd = fds[0];
        done_fd = fds[1];
        (void)fcntl(ended_fd, F_SETFD, FD_CLOEXEC); /* progress may start something */
        (void)fcntl(done_fd, F_SETFD, FD_CLOEXEC);
    }
    pool->done_fd = done_fd;
    size_t started = 0;
    pp_status status = PP_OK;
    while (started < count && status == PP_OK) {
        status = start_worker(pool, &workers[started], reterr);
        started += status == PP_OK;
    }
    if (started > 0)
        status = PP_OK; /* fewer do it, too */
    if (status == PP_OK && done_fd >= 0)
        look_on(pool, workers, started, files, ended_fd, options);
    for (size_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        pp_digest_free(workers[i].digest);
    }
    return status;
}

pp_status pp__hash_pool(pp__walk *walk, const pp_manifest_options *options,
                        unsigned char (*digests)[PP__SHA256_SIZE], size_t *ret_failed,
                        pp_error *reterr) {
    uint64_t files = 0;
    for (size_t i = 0; i < walk->count; i++)
        files += S_ISREG(walk->entries[i]->type);
    if (files == 0)
        return PP_OK;
    size_t count = worker_count(options, files);
    hash_pool pool = {
        .walk = walk,
        .digests = digests,
        .block = block_of(walk->count, count),
        .ahead_max = share(OPEN_TOTAL, count, AHEAD_MAX),
        .spent_max = share(OPEN_TOTAL, count, SPENT_MAX),
    };
    atomic_init(&pool.failed, walk->count);
    hash_worker *workers = new_workers(count);
    size_t failed = walk->count;
    pp_status status = PP_OK;
    if (!workers)
        status = pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", walk->root);
    else if (pthread_mutex_init(&pool.lock, NULL) == 0) {
        status = run(&pool, workers, count, files, options, reterr);
        pthread_mutex_destroy(&pool.lock);
        failed = atomic_load(&pool.failed);
    }
    free(workers);
    free(pool.big);
    if (status == PP_OK && atomic_load(&pool.stop)) {
        status = pp_fail(reterr, PP_E_CANCELLED, 0, "sha256", "%s", walk->root);
        failed = walk->count;
    } else if (status == PP_OK && failed < walk->count) {
        status = pool.error.status;
        if (reterr)
            *reterr = pool.error;
    }
    if (status != PP_OK)
        *ret_failed = failed;
    return status;
}
