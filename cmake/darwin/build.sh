#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything for macOS on arm64 from here: proves layouts, types, availability and symbols
# against Apple's headers. Runs nothing: what only a Mac can show is not shown.
#   cmake/darwin/build.sh [--allow-fallback]
# Without the headers only our own ABI header is checked; that is a failure unless --allow-fallback.
set -euo pipefail
cd "$(dirname "$0")/../.."

sdk=$PWD/build/darwin-sdk
out=build/darwin
log=build/darwin.log

fallback() {
    clang-14 --target=arm64-apple-macos13.0 -U__APPLE__ -std=gnu11 -Wall -Wextra -Werror \
        -ffreestanding -fsyntax-only core/os/darwin/darwin_abi.c
    echo "darwin: THE SDK CHECKS DID NOT RUN: no macOS headers; only our own ABI header was compiled" >&2
    [ "${1:-}" = --allow-fallback ] || exit 1
    exit 0
}

# Prints "<executables> <bundles>" among the arm64 Mach-O files below a folder.
count_mach_o() {
    local executables=0 bundles=0 file words
    while IFS= read -r -d '' file; do
        read -r -a words < <(od -An -tx4 -N16 "$file")
        [ "${words[0]:-} ${words[1]:-}" = "feedfacf 0100000c" ] || continue
        case ${words[3]:-} in
        00000002) executables=$((executables + 1)) && echo "  linked ${file#"$out"/}" >&2 ;;
        00000008) bundles=$((bundles + 1)) && echo "  bundled ${file#"$out"/}" >&2 ;;
        esac
    done < <(find "$out" -type f -size +4k -not -path '*/CMakeFiles/*' -print0 | sort -z)
    echo "$executables $bundles"
}

mkdir -p build
status=0
cmake/darwin/sdk.sh "$sdk" || status=$?
case $status in
0) ;;
1) fallback "${1:-}" ;;
*) exit 1 ;;
esac
cmake/darwin/stubs.sh "$sdk"

export PKG_CONFIG_LIBDIR=$sdk/deps/pkgconfig PKG_CONFIG_PATH=
configure=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=cmake/darwin/toolchain.cmake)
[ ! -f "$out/CMakeCache.txt" ] || configure=()
cmake -S . -B "$out" -G Ninja --log-level=WARNING "${configure[@]}"
if ! ninja -C "$out" -k 0 >"$log" 2>&1; then
    grep -E '^FAILED:|error:|undefined symbol' "$log" >&2 || tail -n 30 "$log" >&2
    echo "darwin: the build for macOS failed; see $log" >&2
    exit 1
fi
read -r executables bundles < <(count_mach_o)
echo "darwin: $executables Mach-O executables and $bundles bundle(s) linked for macOS 13 on arm64;" \
    "nothing was run on macOS"
[ "$executables" -gt 0 ]
