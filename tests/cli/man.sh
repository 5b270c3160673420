#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The manual page is what the option tables say, and documents every option that --help names.
# proves: CLI-4
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

page=$root/docs/man/pairperf-lua.1
"$lua" "$root/tools/gen_man.lua" >"$scratch/output" 2>&1
point "docs/man/pairperf-lua.1 is up to date (pairperf-lua tools/gen_man.lua writes it)" \
    cmp "$scratch/output" "$page"

"$lua" overview --help >"$scratch/help"
missing=
while read -r name; do
    grep -qF -- "${name//-/\\-}\\fR" "$page" || missing="$missing $name"
done < <(grep -o '^   --[a-z-]*' "$scratch/help")
echo "missing:$missing" >"$scratch/output"
point "  with every option of --help" test -z "$missing"

if command -v man >/dev/null; then
    man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>"$scratch/output"
    point "  without a warning" test ! -s "$scratch/output"
else
    skip "  without a warning" "no man program here"
fi
finish
