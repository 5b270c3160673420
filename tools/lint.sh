#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All static checks; runs every one, then fails if any failed.
#   tools/lint.sh [CHECK...]      default: all, in this order
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
shopt -s globstar nullglob

jobs=$(getconf _NPROCESSORS_ONLN)
once=build/clang/once
stylua=third_party/npm/node_modules/.bin/stylua
c_files=(core/**/*.[ch] bindings/*.[ch] scenarios/**/*.[ch] tests/**/*.[ch])
lua_files=(lua/**/*.lua scenarios/**/*.lua tests/**/*.lua tools/*.lua .luacheckrc)
shell_files=(.ci/run third_party/*.sh tools/*.sh tests/**/*.sh scenarios/**/*.sh cmake/**/*.sh)

check_files() { tools/check_files.sh; }
check_format() { clang-format --dry-run -Werror "${c_files[@]}"; }
check_stylua() { "$stylua" --check -- "${lua_files[@]}"; }
check_luacheck() { luacheck --quiet --no-color "${lua_files[@]}"; }
check_shellcheck() { shellcheck -x "${shell_files[@]}"; }
check_coverage() { lua5.4 tools/coverage.lua --check; }

# Lists for the next two checks how each file that we wrote is compiled: once, although some are in
# several targets. Makes the header that they need.
check_configure() {
    cmake --preset clang --log-level=WARNING >/dev/null &&
        cmake --build --preset clang --target pp_build_id >/dev/null &&
        mkdir -p "$once" && awk '
            BEGIN { print "[" }
            /^{/ { entry = "" }
            /^ / { entry = entry $0 "\n" }
            /^ *"file"/ { wanted = !seen[$0]++ && !/\/generated\// }
            /^}/ && wanted { printf "%s{\n%s}", separator, entry; separator = ",\n" }
            END { print "\n]" }' build/clang/compile_commands.json >"$once/compile_commands.json"
}

# gcc's warnings are errors in every build; this is clang's turn, and its analyzer's.
# A process per file: with several, LLVM 14 mistakes va_start in all but the first.
check_tidy() {
    sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$once/compile_commands.json" |
        xargs -n 1 -P "$jobs" clang-tidy --quiet -p "$once" \
        2> >(grep -vE 'warnings?( and [0-9]+ errors?)? generated\.$' >&2)
}

check_cppcheck() {
    cppcheck --quiet --project="$once/compile_commands.json" --std=c11 \
        --enable=warning,performance,portability --inline-suppr --error-exitcode=1 -j "$jobs"
}

checks=(files format stylua luacheck shellcheck coverage configure tidy cppcheck)
[ $# -eq 0 ] || checks=("$@")
failed=()
for check in "${checks[@]}"; do
    started=$SECONDS
    echo "== lint: $check"
    "check_$check" || failed+=("$check")
    echo "   $((SECONDS - started)) s"
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "== lint failed: ${failed[*]}"
    exit 1
fi
