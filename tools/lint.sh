#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All static checks; runs every one, then fails if any failed.
#   tools/lint.sh [CHECK...]      default: all, in this order
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
shopt -s globstar nullglob

jobs=$(getconf _NPROCESSORS_ONLN)
build=build/clang
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

# Writes the list of compilations that the next two checks read, and the header that they miss.
check_configure() {
    cmake --preset clang --log-level=WARNING >/dev/null &&
        cmake --build --preset clang --target pp_build_id >/dev/null
}

# The files that this system compiles; each once, although bindings are compiled twice.
compiled_files() {
    sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" |
        grep -v '/generated/' | sort -u
}

# gcc's warnings are errors in every build; this is clang's turn, and its analyzer's.
# A process per file: with several, LLVM 14 mistakes va_start in all but the first.
check_tidy() {
    compiled_files | xargs -n 1 -P "$jobs" clang-tidy --quiet -p "$build" \
        2> >(grep -vE 'warnings?( and [0-9]+ errors?)? generated\.$' >&2)
}

check_cppcheck() {
    cppcheck --quiet --project="$build/compile_commands.json" -i"$PWD/$build/generated" \
        --std=c11 --enable=warning,performance,portability --inline-suppr \
        --error-exitcode=1 -j "$jobs"
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
