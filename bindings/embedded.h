/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_EMBEDDED_H
#define PAIRPERF_EMBEDDED_H

#include <stddef.h>

/* A file compiled into pairperf-lua; the table is written by tools/embed.lua at build time. */
typedef struct pp_embedded_file {
    const char *name;  /* "pairperf.run", "scenarios/tray.lua", "argparse" */
    const char *chunk; /* name for tracebacks, for example "@lua/pairperf/run.lua" */
    const char *bytes;
    size_t size;
} pp_embedded_file;

extern const pp_embedded_file pp_embedded_files[];
extern const size_t pp_embedded_count;

#endif
