#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the file system can share, a home shares the template's data and costs no room; elsewhere it
# is copied. On an XFS of our own in a file, in a mount namespace of our own.
# proves: BOX-4
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" -eq 0 ] || why="needs root"
command -v mkfs.xfs >/dev/null || why="no mkfs.xfs here"
if [ -n "${why-}" ]; then
    skip "templates that share" "$why"
    finish
    exit 0
fi

mkdir "$scratch/shares"
truncate --size=512M "$scratch/image"
# The mount ends with the shell that made it: everything is asked within.
cat >"$scratch/inside.sh" <<'INSIDE'
cd "$1" || exit 1
mkfs.xfs -q -m reflink=1 image && mount -o loop image shares || exit 77
mkdir -p shares/template/d elsewhere/d
head -c 64M /dev/urandom >shares/template/d/large
echo one >shares/template/small
cp -r shares/template/. elsewhere
free_kib() { sync -f shares && stat -f -c '%f * %S / 1024' shares | xargs -I{} bash -c 'echo $(({}))'; }
session() { # session SCRATCH PROGRAM OUT TEMPLATE: one run, of an application that changes its home
    local before
    before=$(free_kib)
    "$2" overview --single --baseline "$1/changes" --output "$1/shares/$3" --template "$1/$4" --authorize-launch \
        --allow-system-launcher-write --repetitions 1 --interval 200ms --warmup 0 --duration 200ms \
        --ready file:changed >"$1/said-$3" 2>&1
    echo $? >"$1/status-$3"
    echo $((before - $(free_kib))) >"$1/kib-$3"
}
session "$1" "$2" shared shares/template
session "$1" "$2" copied elsewhere
home=shares/shared/overview/run-01/home
physical() { filefrag -v "$1" | sed -n 's/^ *[0-9]*: *\([0-9. ]*: *[0-9. ]*\):.*/\1/p'; }
{
    cmp shares/template/d/large "$home/d/large" && echo same content
    ! cmp -s shares/template/small "$home/small" && [ "$(cat shares/template/small)" = one ] && echo template is its own
    [ -n "$(physical "$home/d/large")" ] && [ "$(physical "$home/d/large")" = "$(physical shares/template/d/large)" ] &&
        echo same extents
} >asked 2>&1
cp -r shares/shared out/shared && rm -rf shares/shared
INSIDE
script changes <<'APP'
trap 'exit 0' TERM
echo two >"$HOME/small"
echo yes >"$HOME/changed"
while :; do sleep 0.02; done
APP
unshare -m --propagation private bash "$scratch/inside.sh" "$scratch" "$lua" >"$scratch/output" 2>&1
if [ $? -eq 77 ]; then
    skip "templates that share" "no XFS can be mounted here: $(tail -n 1 "$scratch/output")"
    finish
    exit 0
fi
asked() { grep -qx "$1" "$scratch/asked"; }
ended() { # ended OUT: its status and what it said
    cp "$scratch/said-$1" "$scratch/output"
    status=$(cat "$scratch/status-$1")
    status_is 0
}
costs() { # costs OUT LEAST MOST, in KiB
    local kib
    kib=$(cat "$scratch/kib-$1")
    echo "# $1: $kib KiB"
    [ "$kib" -ge "$2" ] && [ "$kib" -le "$3" ]
}
out=$scratch/out/shared
point "a session whose template can be shared succeeds" ended shared
cp "$scratch/asked" "$scratch/output"
point "  the home has the same content" asked "same content"
if command -v filefrag >/dev/null; then
    point "  in the very extents of the template" asked "same extents"
else
    skip "the template's extents" "no filefrag here"
fi
point "  64 MiB of it cost next to nothing" costs shared -8192 8192
point "  what the application writes stays out of the template" asked "template is its own"
point "  every file parses" evidence_parses
point "from another file system a session succeeds, too" ended copied
point "  and its home is a copy" costs copied 65536 81920
finish
