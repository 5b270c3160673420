/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of one directory through the library, as the harness makes it.
 *
 *   hash_manifest DIR [WORKERS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "pairperf/manifest.h"

int main(int argc, char **argv) {
    pp_manifest manifest;
    pp_error err;
    pp_manifest_options options = { 0 };
    if (argc < 2 || argc > 3)
        return 2;
    if (argc == 3)
        options.workers = (unsigned)atoi(argv[2]);
    if (pp_manifest_build(argv[1], &options, &manifest, &err) != PP_OK) {
        fprintf(stderr, "%s: %s: %s\n", err.op, err.detail, pp_status_name(err.status));
        return 1;
    }
    printf("%llu files, %llu bytes, %s\n", (unsigned long long)manifest.files,
           (unsigned long long)manifest.bytes, manifest.sha256);
    pp_manifest_done(&manifest);
    return 0;
}
