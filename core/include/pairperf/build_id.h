/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_BUILD_ID_H
#define PAIRPERF_BUILD_ID_H

#include <stdbool.h>

/* Which source this library was built from. Fixed strings of the library; never NULL, never freed.
 * The harness and its supervisors refuse each other unless their pp_build_id() are equal.
 *
 * Source   git, asked at build time about the files that go into the binaries
 */

/* "0.1.0" */
const char *pp_build_version(void);

/* 40 hex digits, or "unknown" when built outside a git work tree. */
const char *pp_build_commit(void);

/* The sources differed from that commit, or that could not be ruled out. */
bool pp_build_dirty(void);

/* "0.1.0+<commit>", with ".dirty" behind it when pp_build_dirty(). */
const char *pp_build_id(void);

#endif
