#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The scripts and command lines of docs/AUTHORING.md work as printed, in an empty directory.
# proves: API-1 CLI-1 CLI-10
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

page=$root/docs/AUTHORING.md
block() { # block LANGUAGE N: the N-th fenced block of the language
    awk -v fence="\`\`\`$1" -v wanted="$2" '
        $0 == "```" { inside = 0 }
        inside && n == wanted { print }
        $0 == fence { inside = 1; n++ }' "$page"
}
mkdir "$scratch/empty" "$scratch/bin"
cd "$scratch/empty" || exit 1
ln -s "$lua" "$scratch/bin/pairperf-lua"
PATH=$scratch/bin:$PATH
block lua 1 >busy.lua
block lua 2 >steps.lua

# Whoever may write the guarded directory has to say so.
allow=
if [ -w /usr/local/bin ]; then
    allow=--allow-system-launcher-write
fi
block sh 1 | sed "\$s/\$/ $allow/" >command.sh
point "there is a command line for the scenario" grep -q "^pairperf-lua ./busy.lua" command.sh
sh ./command.sh >"$scratch/output" 2>&1
status=$?
point "  which works as printed" status_is 0
point "  with the label" grep -q '"label":"busy-window"' evidence/plan.json
point "  and the option" grep -q '"calm":{"origin":"option","unit":"s","value":0.5' evidence/plan.json
for run in 01 02; do
    point "  and the hook, in run $run" test -e "evidence/busy/run-$run/home/work"
done

grep -o 'pairperf-lua ./steps.lua [^`]*' "$page" >command.sh
sh ./command.sh >"$scratch/output" 2>&1
status=$?
point "the controller works as printed" status_is 0
point "  to a proven end" said "echild"
cd "$root" || exit 1 # whoever stays in the scratch directory is ended as a leftover
finish
