/* SPDX-License-Identifier: Apache-2.0 */
/* Darwin's records as far as they are decoded: process lists, usage and exits. */
#include "darwin/darwin_abi.h"
#include "darwin/decode.h"
#include "fuzz.h"

static void check_seen(const pp_dw_seen *seen) {
    MUST(memchr(seen->name, '\0', sizeof seen->name) != NULL);
}

static void decode_usage(const uint8_t *bytes, size_t size, int version) {
    pp_usage usage;
    pp_dw_timebase timebase = { .numer = 125, .denom = 3 };
    size_t wanted = pp__dw_rusage_size(version);
    if (size < wanted)
        return;
    char *record = exact_copy(bytes, wanted);
    pp__dw_decode_rusage(record, version, timebase, &usage);
    MUST(usage.cpu_ns.known || usage.cpu_ns.why != PP_OK);
    (void)pp__dw_rusage_start_ticks(record);
    free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    pp_dw_seen seen;
    pp_exit how;
    if (size == 0)
        return 0;
    char *record = exact_copy(bytes + 1, size - 1);
    if (bytes[0] % 4 == 0 && pp__dw_decode_kinfo(record, size - 1, &seen) == PP_OK)
        check_seen(&seen);
    else if (bytes[0] % 4 == 1 && pp__dw_decode_bsdinfo(record, size - 1, &seen) == PP_OK)
        check_seen(&seen);
    else if (bytes[0] % 4 == 2 && size > PP_DW_SIGINFO_SIZE)
        (void)pp__dw_decode_siginfo(record, bytes[0] / 4, &how);
    else if (bytes[0] % 4 == 3)
        decode_usage(bytes + 1, size - 1, (bytes[0] & 4) != 0 ? 6 : (bytes[0] & 8) != 0 ? 4 : 0);
    free(record);
    return 0;
}
