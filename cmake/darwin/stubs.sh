#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fills DIR/deps with what the libraries of this machine export, as text stubs for the macOS linker,
# and with their headers: every symbol we use is proved to exist in that library, none of its code is
# needed. The headers go to one folder of their own, so that no other header of this machine leaks in.
#   cmake/darwin/stubs.sh DIR
set -euo pipefail

deps=$1/deps
rm -rf "$deps"
mkdir -p "$deps/include" "$deps/lib" "$deps/pkgconfig"
triple=$(cc -print-multiarch)

# stub NAME: deps/lib/libNAME.tbd from libNAME.so
stub() {
    local so
    so=$(cc -print-file-name="lib$1.so")
    [ -f "$so" ] || {
        echo "darwin: lib$1.so is not installed" >&2
        exit 1
    }
    {
        printf -- '--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n'
        printf "install-name: '@rpath/lib%s.dylib'\ncurrent-version: 1\nexports:\n" "$1"
        printf '  - targets: [ arm64-macos ]\n    symbols: [ '
        nm -D --defined-only "$so" |
            awk '$2 ~ /^[TDBRVWi]$/ { sub(/@.*/, "", $3); print "_" $3 }' | sort -u | paste -sd, |
            sed 's/,/, /g' | tr -d '\n'
        printf ' ]\n...\n'
    } >"$deps/lib/lib$1.tbd"
}

# headers PATH...: below the include folder of the system, the architecture's own last
headers() {
    local path root
    for path in "$@"; do
        for root in /usr/include "/usr/include/$triple"; do
            [ ! -e "$root/$path" ] || cp -r "$root/$path" "$deps/include/"
        done
    done
}

# pc PACKAGE LIBRARY [INCLUDE]
pc() {
    cat >"$deps/pkgconfig/$1.pc" <<PC
Name: $1
Description: symbols of $1
Version: $(pkg-config --modversion "$1")
Libs: -L$deps/lib -l$2
Cflags: -I$deps/include${3:+/$3}
PC
}

headers openssl lua5.4 lua5.4-deb-multiarch.h jansson.h jansson_config.h curl \
    cmocka.h cmocka_pbc.h
mv "$deps/include/lua5.4-deb-multiarch.h" "$deps/include/lua5.4/"
for library in crypto lua5.4 lua5.4-cjson jansson curl cmocka; do
    stub "$library"
done
pc lua5.4 lua5.4 lua5.4
pc lua5.4-cjson lua5.4-cjson lua5.4
pc jansson jansson
pc libcurl curl
pc cmocka cmocka
