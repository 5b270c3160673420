/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of one directory through the library, as the harness makes it. */
#include <stdio.h>

#include "pairperf/manifest.h"

int main(int argc, char **argv) {
    pp_manifest manifest;
    pp_error err;
    if (argc != 2)
        return 2;
    if (pp_manifest_build(argv[1], NULL, &manifest, &err) != PP_OK) {
        fprintf(stderr, "%s: %s: %s\n", err.op, err.detail, pp_status_name(err.status));
        return 1;
    }
    printf("%llu files, %llu bytes, %s\n", (unsigned long long)manifest.files,
           (unsigned long long)manifest.bytes, manifest.sha256);
    pp_manifest_done(&manifest);
    return 0;
}
