#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A post-run check: the pids of everything below the application's supervisor, as ps sees them.
set -eu
supervisor=$(ps -o ppid= -p "$PAIR_PERF_APP_PID")
ps -eo pid=,ppid= | awk -v root="$((supervisor))" '
    { parent[$1] = $2 }
    END {
        for (pid in parent) {
            above = parent[pid]
            while (above in parent && above != root)
                above = parent[above]
            if (above == root)
                print pid
        }
    }'
