/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else: it sees only the installed headers, library and pkg-config file.
 * proves: API-2 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pairperf/build_id.h>
#include <pairperf/status.h>

static int failures;

static void expect_text(const char *what, const char *got, const char *wanted) {
    if (got && strcmp(got, wanted) == 0)
        return;
    fprintf(stderr, "%s: got \"%s\", wanted \"%s\"\n", what, got ? got : "(null)", wanted);
    failures++;
}

int main(void) {
    expect_text("pp_status_name", pp_status_name(PP_E_DENIED), "denied");
    expect_text("pp_errno_name", pp_errno_name(ENOENT), "ENOENT");
    expect_text("pp_build_version", pp_build_version(), PP_EXPECTED_VERSION);
    return failures ? 1 : 0;
}
