/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_SAMPLES_H
#define PAIRPERF_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lua.h>

#include "json_scan.h"
#include "pairperf/proc.h"
#include "pairperf/reading.h"

/* The process rows of recorded frames, packed. What repeats from frame to frame (executables,
 * reasons of missing readings, identities) is kept once, under a number from 1 on. */

typedef enum ppl_column {
    PPL_BILLED_ENERGY,
    PPL_CANCELLED_WRITE_BYTES,
    PPL_CPU_NS,
    PPL_FOOTPRINT_BYTES,
    PPL_FOOTPRINT_PSS_BYTES,
    PPL_INVOLUNTARY_SWITCHES,
    PPL_PSS_BYTES,
    PPL_RSS_BYTES,
    PPL_SWAP_BYTES,
    PPL_USS_BYTES,
    PPL_VOLUNTARY_SWITCHES,
    PPL_WAKEUPS_INTERRUPT,
    PPL_WAKEUPS_PKG_IDLE,
    PPL_WRITE_BYTES,
    PPL_COLUMNS /* how many; also: no such column */
} ppl_column;

typedef struct ppl_sample {
    pp_proc_id id;
    int64_t start_ns; /* INT64_MIN: unknown */
    uint32_t identity, exe;
    uint32_t missing; /* 0: it names no reason */
    uint16_t known;   /* bits of the columns with a value */
    bool zombie, shares_memory, escaped;
    bool threads_ended; /* or nothing says that none did */
    uint64_t values[PPL_COLUMNS];
} ppl_sample;

/* Something that repeats: its JSON text, and for reasons the status of each column. */
typedef struct ppl_shared {
    char *text;
    size_t size;
    pp_status why[PPL_COLUMNS];
    uint16_t named; /* bits of the columns that have a reason, whatever it is */
    bool denied;    /* some reason is "denied" */
} ppl_shared;

/* What pass after pass showed of an identity. */
typedef struct ppl_trace {
    uint64_t last[4]; /* switches, then wakeups */
    bool known[4];
    bool seen, escaped;
    uint32_t exe, pass;
} ppl_trace;

typedef struct ppl_shared_list {
    ppl_shared *items; /* number n at n - 1 */
    size_t count, capacity;
} ppl_shared_list;

/* A userdata of this type has the user values of ppl_samples_value. */
typedef struct ppl_samples {
    ppl_sample *rows;
    size_t count, capacity;
    ppl_shared_list exes, missing;
    lua_Integer identities;
    ppl_trace *traces; /* identity n at n - 1 */
    size_t trace_capacity;
    uint32_t passes;
    size_t last_count; /* rows of the frame before: where a row's predecessor is */
    FILE *file;        /* that is being read, */
    char *buffer;      /* through this, */
    char *line;        /* and a line of it, */
    void *value;       /* or what jansson read in it, a json_t, */
    char *rewritten;   /* and wrote again */
} ppl_samples;

#define PPL_SAMPLES_TYPE "pairperf.samples"
#define PPL_SAMPLES_DECODE "pairperf.samples.decode" /* in the registry: json.decode */

typedef enum ppl_samples_value {
    PPL_EXES = 1,    /* number -> value */
    PPL_MISSING,     /* number -> {field = reason} */
    PPL_EXE_NUMBERS, /* text -> number */
    PPL_MISSING_NUMBERS,
    PPL_IDENTITIES, /* pid, start, unique as bytes -> number */
    PPL_SAMPLES_VALUES = PPL_IDENTITIES
} ppl_samples_value;

/* The column of a field; PPL_COLUMNS when it is none. */
ppl_column ppl_samples_column(const char *field);

/* Where the user values lie on the stack while rows are read: value v at `base` + v. */
typedef struct ppl_reader {
    lua_State *L;
    ppl_samples *samples;
    json_scan scan;
    int base;
} ppl_reader;

/* Pushes any value; arrays get the mark, null becomes json.null. False: the text is not plain, and
 * the stack is the caller's to settle. May raise. */
bool ppl_push_scanned(lua_State *L, json_scan *scan);

/* Appends the rows of the array at the cursor. False as above, or rows that are none of a frame;
 * what was appended is the caller's to take back. May raise. */
bool ppl_samples_rows(ppl_reader *reader);

/* The number of an identity; a new one gets the next. `table` is the stack index of IDENTITIES. */
uint32_t ppl_samples_identity(lua_State *L, ppl_samples *samples, int table, pp_proc_id id);

/* The reading of a column, with the reason when there is none. */
pp_reading ppl_samples_reading(const ppl_samples *samples, const ppl_sample *row,
                               ppl_column column);
/* Does it add to a sum of memory: a zombie holds none, a vfork child in its parent's address space
 * is no second copy of it, and one that had ended has none left. */
bool ppl_samples_holds(const ppl_samples *samples, const ppl_sample *row, ppl_column column);

/* The rows `first_row` to `last_row` that the table at `index` names (from 1; none: 0 rows). */
const ppl_sample *ppl_samples_range(lua_State *L, int index, const ppl_samples *samples,
                                    size_t *ret_count);

#endif
