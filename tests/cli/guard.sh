#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The guard over system launchers, case by case, as root and unprivileged: on paths of our own, or
# on its own path in a mount namespace of our own.
# proves: GUARD-1 GUARD-2 GUARD-3 GUARD-4 GUARD-5 GUARD-6
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

chmod 711 "$scratch" "$scratch/watched"
install -d -m 755 "$scratch/bin"
install -m 755 "$program" "$PP_TEST_BUILD_DIR/pairperf-supervisor" "$scratch/bin"
install -d -m 777 "$scratch/out" "$scratch/cases"
script does <<'APP' # does WORDS: whatever they say, then waits
trap 'exit 0' TERM
eval "$1"
echo yes >"$HOME/done"
while :; do sleep 0.02; done
APP
chmod 755 "$scratch/does" "$scratch/app"

guarding() { # guarding OUT WORDS options: one run, as $as, of an application that does WORDS
    out=$scratch/out/$1
    (cd / && exec "$subreaper" "$scratch/watched" "${as[@]}" env HOME=/nonexistent \
        "$scratch/bin/pairperf-lua" overview --single --baseline "$scratch/does" --app-arg "$2" \
        --ready file:done --output "$out" --authorize-launch --interval 200ms --warmup 0 --duration 200ms \
        --repetitions 1 "${@:3}") >"$scratch/output" 2>&1
    status=$?
}
snapshot() { # snapshot KIND CASE PATTERN: of that case's launcher
    jq -c --arg path "$cases/$2/bin/nvpair" 'select(.kind == "guard_" + $kind) | .snapshots[$path]' \
        --arg kind "$1" "$out/overview/run-01/events.jsonl" | grep -q -- "$3"
}
names() { reason "$cases/$1/bin/nvpair: [a-z0-9_., ]*$2"; } # names CASE FIELD
names_not() { ! reason "$cases/$1/bin/nvpair: "; }

# Cases: NAME, and what is there before, in a directory of its own. File `nvpair` holds `one`.
make_cases() {
    local name
    for name in calm dressed rewritten copied moved removed linked repointed behind swapped readable fifo; do
        mkdir -p "$name/bin"
        echo one >"$name/bin/nvpair"
    done
    for name in absent created dangling; do mkdir -p "$name/bin"; done
    mkdir missing
    for name in linked repointed behind swapped; do
        mv "$name/bin/nvpair" "$name/real"
        ln -s ../real "$name/bin/nvpair"
    done
    cp -p repointed/real repointed/same
    ln -s nowhere dangling/bin/nvpair
}
change_cases() {
    touch -a dressed/bin/nvpair
    chmod 644 dressed/bin/nvpair # as it is
    printf 'two\n' >rewritten/bin/nvpair
    cp -p copied/bin/nvpair copied/bin/new
    mv copied/bin/new copied/bin/nvpair
    cp -a moved/bin moved/new
    mv moved/bin moved/old
    mv moved/new moved/bin
    rm removed/bin/nvpair
    ln -sfn ../same repointed/bin/nvpair
    printf 'two\n' >behind/real
    cp -p swapped/real swapped/new
    mv swapped/new swapped/real
    chmod 600 readable/bin/nvpair
    echo one >created/bin/nvpair
    mkdir missing/bin
    echo one >missing/bin/nvpair
}

changes() { # changes WHO: every way in which a launcher changes, or seems to
    local who=$1 all=(calm dressed rewritten copied moved removed linked repointed behind swapped
        readable absent created dangling missing) name paths=()
    cases=$scratch/cases/$who
    "${as[@]}" bash -c "umask 022; mkdir '$cases' && cd '$cases'; $(declare -f make_cases); make_cases"
    for name in "${all[@]}"; do paths+=(--guard-path "$cases/$name/bin/nvpair"); done
    guarding "$who-changes" "cd '$cases'; $(declare -f change_cases | sed '1,2d;$d')" \
        --allow-system-launcher-write "${paths[@]}"
    point "$who: launchers that change fail the run" failed_at guard
    point "  status 1" status_is 1
    point "  a file that stays as it is is none of them" names_not calm
    point "  nor one that was read, and given the mode that it had" names_not dressed
    point "  a content rewritten in place" names rewritten sha256
    point "  an identical copy swapped in" names copied ino
    point "    by what lstat tells alone: its content is the same" test "$(reason "$cases/copied/bin/nvpair: [a-z_, ]*sha256"; echo $?)" = 1
    point "  a directory replaced by an identical copy" names moved ino
    point "  a launcher that was removed" names removed type
    point "  a launcher that was made" names created type
    point "  a launcher that was made with its directory" names missing type
    point "  a mode" names readable mode
    point "  an absent one that stays so is none of them" names_not absent
    point "    and was snapshotted as such" snapshot before absent '{"type":"absent"}'
    point "  a link that stays is none of them" names_not linked
    point "    its target and what it leads to are in the snapshot" \
        snapshot before linked '"referent.sha256":.*"target":"../real","type":"symlink"'
    point "  nor a dangling one" names_not dangling
    point "    which is no absent one" snapshot before dangling '"referent.type":"absent"'
    point "  a link that leads to an identical file elsewhere" names repointed target
    point "  what a link leads to, rewritten" names behind referent.sha256
    point "  what a link leads to, exchanged for an identical copy" names swapped referent.ino
    point "  before and after stand in the evidence" snapshot after rewritten '"sha256"'
    point "  the report shows both and says that this is no sandbox" report_shows rewritten
    point "  nothing was restored" test "$(cat "$cases/rewritten/bin/nvpair")" = two
    point "  nothing was deleted" test -e "$cases/created/bin/nvpair"
    point "  every file parses" evidence_parses
}
report_shows() {
    grep -q "$cases/$1/bin/nvpair" "$out/report.md" && grep -qi 'no .*sandbox' "$out/report.md"
}

cannot_be_compared() { # cannot_be_compared WHO
    mkfifo "$cases/fifo/pipe"
    chmod 666 "$cases/fifo/pipe"
    guarding "$1-fifo" : --allow-system-launcher-write --guard-path "$cases/fifo/pipe"
    point "$1: a FIFO is refused, not waited for" status_is 2
    point "  by name" said "$cases/fifo/pipe: a fifo cannot be compared"
    guarding "$1-turns" "mv '$cases/fifo/pipe' '$cases/calm/bin/nvpair'" --allow-system-launcher-write \
        --guard-path "$cases/calm/bin/nvpair"
    point "$1: a launcher that becomes one fails the run" failed_at guard
    point "  for it cannot be verified" reason "cannot be read and verified: .*a fifo cannot be compared"
}

refused() { status_is 2 && test ! -e "$out"; }
refusals() { # refusals WHO: directories that this user may write
    local who=$1
    guarding "$who-writable" : --guard-path "$cases/absent/bin/nvpair"
    point "$who: a directory that this user may write is refused" refused
    point "  by name" said "guard: '$cases/absent/bin' can be written by this user"
    point "  with the ways on, and what each means" said "--allow-system-launcher-write: a write becomes possible"
    guarding "$who-missing" : --guard-path "$cases/absent/deep/er/nvpair"
    point "$who: of a missing directory the nearest one that is there is asked" \
        said "guard: '$cases/absent' can be written by this user"
    ln -s nowhere "$cases/dangling-directory"
    guarding "$who-nowhere" : --guard-path "$cases/dangling-directory/nvpair"
    point "$who: no answer counts as writable" refused
    point "  and says so" said "dangling-directory.* can be written by this user (unknown: "
}

# What an ACL says beyond the mode, of user 65534. Run as that user; then as root.
acl() { "$PP_TEST_BUILD_DIR/tests/stubs/acl" "$@" 2>"$scratch/output"; } # acl PATH USER PERMISSIONS MASK
acls() {
    local dir=$scratch/acl
    (
        umask 022
        mkdir -p "$dir"/{given,masked,denied,launcher}/bin
        for name in given masked denied launcher; do echo one >"$dir/$name/bin/nvpair"; done
        chmod 777 "$dir/denied/bin"
    )
    acl "$dir/given/bin" 65534 7 7 && acl "$dir/masked/bin" 65534 7 5 && acl "$dir/denied/bin" 65534 5 7 &&
        acl "$dir/launcher/bin/nvpair" 65534 6 6
    local made=$?
    if [ "$made" -eq 77 ]; then
        skip "ACLs" "$(cat "$scratch/output")"
        rm -r "$dir"
        return
    fi
    point "ACLs can be given" test "$made" -eq 0
    guarding acl-given : --guard-path "$dir/given/bin/nvpair"
    point "a directory that an ACL lets this user write is refused" refused
    point "  by name" said "guard: '$dir/given/bin' can be written by this user"
    guarding acl-masked : --guard-path "$dir/masked/bin/nvpair"
    point "one whose ACL has a mask that takes the right away needs no override" status_is 0
    guarding acl-denied : --guard-path "$dir/denied/bin/nvpair"
    point "nor does one that all may write, but for this user" status_is 0
    guarding acl-launcher "echo two >'$dir/launcher/bin/nvpair'" --guard-path "$dir/launcher/bin/nvpair"
    point "a launcher that an ACL lets this user write is watched all the same" failed_at guard
    point "  by its content" reason "$dir/launcher/bin/nvpair: .*sha256"
}
acls_and_root() {
    local dir=$scratch/acl
    guarding acl-root : --guard-path "$dir/masked/bin/nvpair"
    point "root is refused whatever the ACL says" refused
    # One launcher whose mode shows the list, one whose mode did that before, that one behind a link.
    cases=$dir
    mkdir -p "$dir"/{shows,hides,leads}/bin
    echo one | tee "$dir/shows/bin/nvpair" >"$dir/hides/bin/nvpair"
    chmod 644 "$dir/shows/bin/nvpair"
    chmod 664 "$dir/hides/bin/nvpair"
    ln -s ../../hides/bin/nvpair "$dir/leads/bin/nvpair"
    guarding acl-changed "for name in shows hides; do
            '$PP_TEST_BUILD_DIR/tests/stubs/acl' '$dir'/\$name/bin/nvpair 65534 6 6; done" \
        --allow-system-launcher-write --guard-path "$dir/shows/bin/nvpair" \
        --guard-path "$dir/hides/bin/nvpair" --guard-path "$dir/leads/bin/nvpair"
    point "an ACL that lets somebody write the launcher fails the run" failed_at guard
    point "  where it shows in the mode" reason "shows/bin/nvpair: acl, mode[;\"]"
    point "  and where lstat tells nothing of it" reason "hides/bin/nvpair: acl[;\"]"
    point "    in what a link leads to, too" reason "leads/bin/nvpair: referent.acl [(]"
    point "  the list stands in the evidence" \
        snapshot after hides '"acl":"user::rw-,user:65534:rw-,group::rw-,mask::rw-,other::r--"'
    guarding acl-stays "chmod 664 '$dir/hides/bin/nvpair'" --allow-system-launcher-write \
        --guard-path "$dir/hides/bin/nvpair"
    point "  one that was there and stays is no change" status_is 0
}

as=(env)
me="as this user"
[ "$(id -u)" -ne 0 ] || me="as root"
changes "${me// /-}"
cannot_be_compared "${me// /-}"
refusals "${me// /-}"

mkdir -p "$scratch/shut/bin"
echo one >"$scratch/shut/bin/nvpair"
chmod 666 "$scratch/shut/bin/nvpair"
if [ "$(id -u)" -eq 0 ]; then
    guarding root : --guard-path "$scratch/shut/bin/nvpair"
    point "root may write any directory, and is refused" refused
    point "  its own launcher's, too" said "guard: '/usr/local/bin' can be written by this user"

    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    changes as-nobody
    cannot_be_compared as-nobody
    refusals as-nobody
    guarding shut : --guard-path "$scratch/shut/bin/nvpair" --guard-path "$scratch/shut/more/nvpair"
    point "nobody needs no override where nobody may write the directory" status_is 0
    guarding open "echo two >'$scratch/shut/bin/nvpair'" --guard-path "$scratch/shut/bin/nvpair"
    point "  and a file that is open to all is watched all the same" reason "shut/bin/nvpair: .*sha256"
    chmod 000 "$scratch/shut/bin/nvpair"
    guarding closed : --guard-path "$scratch/shut/bin/nvpair"
    point "  one that nobody may read is refused" status_is 2
    point "    by name" said "shut/bin/nvpair cannot be read and verified: .*EACCES"
    acls
    as=(env)
    [ ! -e "$scratch/acl" ] || acls_and_root
else
    skip "other users" "needs root"
    skip "ACLs" "needs root, to be two users"
fi

# The guard's own path, on a file system of our own.
private() { # private WORDS...: in a mount namespace whose /usr/local/bin is empty
    # shellcheck disable=SC2016 # for the shell inside
    unshare "$1" sh -c 'mount -t tmpfs -o mode=755 none /usr/local/bin && shift && eval "$ready" && exec "$@"' sh "$@"
}
flags=-rm
[ "$(id -u)" -ne 0 ] || flags=-m
if ready=: private "$flags" true 2>"$scratch/output"; then
    export -f private
    export ready=:
    as=(bash -c 'private "$@"' private "$flags")
    guarding launcher 'echo mine >/usr/local/bin/nvpair' --allow-system-launcher-write
    point "the launcher itself is guarded, with no option at all" \
        reason "changed: /usr/local/bin/nvpair: .*type"
    guarding more 'echo mine >/usr/local/bin/nvpair' --allow-system-launcher-write \
        --guard-path "$scratch/shut/bin/nvpair"
    point "  and no --guard-path drops it" reason "changed: /usr/local/bin/nvpair: "
    ready="mount -o remount,ro /usr/local/bin"
    guarding read-only : --guard-path /usr/local/bin/more/nvpair
    point "on a read-only mount root needs no override" status_is 0
    ready="mount -o remount,ro /usr/local/bin"
    guarding beside : --guard-path "$scratch/shut/bin/nvpair"
    point "  but for a path beside it" refused
else
    skip "the guard's own path" "no mount namespace here: $(head -n 1 "$scratch/output")"
fi
finish
