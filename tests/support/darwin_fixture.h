/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_DARWIN_FIXTURE_H
#define PAIRPERF_TEST_DARWIN_FIXTURE_H

#include "darwin_kernel.h"

/* A scripted macOS, the adapter over it and the host that this makes: fresh for each test. */
extern dk kernel;
extern pp_darwin darwin;
extern pp_os os;
extern pp_error err;

int boot(void **state);
int halt(void **state);

#endif
