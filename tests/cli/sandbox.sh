#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Homes from templates and links, case by case, as root and unprivileged; and the room for sockets.
# proves: BOX-2 BOX-4 BOX-5 CAN-1
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

chmod 711 "$scratch" "$scratch/watched"
install -d -m 755 "$scratch/bin"
install -m 755 "$program" "$PP_TEST_BUILD_DIR/pairperf-supervisor" "$scratch/bin"
install -d -m 777 "$scratch/out" "$scratch/trees"
script does <<'APP' # does WORDS: whatever they say, then waits
trap 'exit 0' TERM
eval "$1"
echo yes >"$HOME/done"
while :; do sleep 0.02; done
APP
chmod 755 "$scratch/does" "$scratch/app"

session() { # session OUT WORDS options: runs, as $as, of an application that does WORDS
    out=$scratch/out/$1
    (cd / && exec "$subreaper" "$scratch/watched" "${as[@]}" env HOME="$trees/real" \
        "$scratch/bin/pairperf-lua" overview --single --baseline "$scratch/does" --app-arg "$2" \
        --ready file:done --output "$out" --authorize-launch --allow-system-launcher-write \
        --interval 200ms --warmup 0 --duration 200ms "${@:3}") >"$scratch/output" 2>&1
    status=$?
}
refused() { status_is 2 && test ! -e "$out"; }
in_home() { (cd "$out/overview/run-$run/home" && "$@"); }
harmless() { test "$(sha256sum <"$trees/plain/d/f")" = "$(echo content | sha256sum)"; }

make_trees() {
    mkdir -p plain/d rejects/d real/.engine real/.other
    echo content >plain/d/f
    chmod 640 plain/d/f
    touch -d @1000000007 plain/d/f plain/d
    truncate --size=8M plain/hole
    for i in {1..40}; do ln -s nowhere "rejects/a link with a longer name, number $i"; done
    mkfifo "$(printf 'rejects/d/pi\npe')"
    echo x >rejects/file
    echo engine >real/.engine/state
    echo x >real/.file
    ln -s .other real/.alias
}
all_are_named() {
    test "$(grep -c '^    a link with a longer name, number [0-9]* (symlink)$' "$scratch/output")" -eq 40 &&
        said '^    d/pi?pe (fifo)$'
}
copied() {
    in_home cmp d/f "$trees/plain/d/f" && test "$(in_home stat -c '%a %Y' d/f)" = "640 1000000007" &&
        test "$(in_home stat -c %Y d)" = 1000000007 && test "$(in_home stat -c %s hole)" -eq 8388608 &&
        test "$(in_home stat -c %b hole)" -le "$(stat -c %b "$trees/plain/hole")"
}
in_event() { jq -se "any(.[]; .kind == \"$1\" and ($2))" "$out/overview/run-$run/events.jsonl" >/dev/null; }

templates() { # templates WHO
    local who=$1
    session "$who-plain" : --template "$trees/plain" --repetitions 1
    point "$who: a template is copied with modes, times and holes" copied
    point "  each run says which it was" \
        in_event sandbox_ready ".template.sha256 == $(jq .template.sha256 "$out/plan.json")"
    point "  the template itself is as it was" harmless
    session "$who-rejects" : --template "$trees/rejects" --repetitions 1
    point "$who: a template with links and special files is refused" refused
    point "  all of them are named at once" all_are_named
    point "  with their number" said "rejects': 41 entries that are neither file nor directory"
    session "$who-dry" : --template "$trees/rejects" --dry-run
    point "  by --dry-run, too" all_are_named

    session "$who-planted" "ln -s nowhere '$trees/plain/link'" --template "$trees/plain" --repetitions 2
    point "$who: a template that gets a link between two runs fails the second one" in_run 02 failed_at sandbox
    point "  nothing of it was copied" test ! -e "$out/overview/run-02/home/d"
    point "  the evidence lists what it may not hold" \
        in_run 02 in_event template_refused '.rejects == [{path: "link", type: "symlink"}]'
    point "  every file parses" evidence_parses
    rm "$trees/plain/link"
    session "$who-edited" "echo more >'$trees/plain/more'" --template "$trees/plain" --repetitions 3
    point "$who: a template that changes between two runs fails the second one" in_run 02 failed_at sandbox
    point "  said so" in_run 02 reason "is not what it was when the session started"
    point "  and the third is skipped" in_run 03 skipped
    rm "$trees/plain/more"
}

links() { # links WHO
    local who=$1 name
    # shellcheck disable=SC2016 # for the application
    session "$who-linked" 'cat "$HOME/.engine/state" "$HOME/.alias/x" >"$HOME/seen"' --repetitions 1 \
        --link-dotdir .engine --link-dotdir .alias --template "$trees/plain"
    point "$who: a dot-directory leads to the real one" \
        test "$(in_home readlink .engine)" = "$trees/real/.engine"
    point "  its content is seen" test "$(in_home cat seen)" = engine
    point "  a link of the real home's is linked by its name" test "$(in_home readlink .alias)" = "$trees/real/.alias"
    point "  the report says that the real directory is exposed and not read-only" \
        grep -q 'not read-only' "$out/report.md"
    for name in engine .a/b .. .missing .file .config; do
        session "$who-bad" : --link-dotdir "$name" --repetitions 1
        point "$who: --link-dotdir $name is refused" refused
        point "  by name" said "'$name'\|$name:"
    done
}

everything() { # everything WHO
    trees=$scratch/trees/$1
    "${as[@]}" bash -c "umask 022; mkdir '$trees' && cd '$trees'; $(declare -f make_trees); make_trees"
    templates "$1"
    links "$1"
}
as=(env)
if [ "$(id -u)" -eq 0 ]; then
    everything as-root
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    everything as-nobody
    trees=$scratch/trees/as-nobody
    chmod 000 "$trees/plain/d/f"
    session unreadable : --template "$trees/plain" --repetitions 1
    point "as-nobody: a template with an unreadable file is refused" refused
    point "  by name" said "plain/d/f: EACCES"
    as=(env)
else
    everything as-this-user
    skip "other users" "needs root"
fi

# A signal while a template is hashed: before there is a session, and within one.
begin() { # begin OUT WORDS
    out=$scratch/out/$1
    set -m
    "$lua" overview --single --baseline "$scratch/does" --app-arg "$2" --ready file:done --output "$out" \
        --authorize-launch --allow-system-launcher-write --interval 200ms --warmup 0 --duration 200ms \
        --repetitions 2 --template "$scratch/large" >"$scratch/output" 2>&1 &
    pid=$!
    set +m
}
reads_template() { # a thread of the program has a file of it open
    local harness
    harness=$(child_of "$pid") && find "/proc/$harness"/task/*/fd -lname "$scratch/large/*" 2>/dev/null | grep -q .
}
mkdir "$scratch/large"
if truncate --size=1T "$scratch/large/f" 2>"$scratch/output"; then
    begin early :
    await reads_template
    kill -INT "$pid"
    wait "$pid"
    status=$?
    point "a signal while a template is hashed: status 3" status_is 3
    point "  nothing was created" test ! -e "$out"
    truncate --size=0 "$scratch/large/f"
    begin late "truncate --size=1T '$scratch/large/f'"
    await in_run 02 event run_started 2>/dev/null
    await reads_template
    kill -TERM "$pid"
    wait "$pid"
    status=$?
    point "a signal while it is hashed for a run: status 3" status_is 3
    point "  the cancellation is kept" in_run 02 event cancelled '"signal":"SIGTERM"'
    point "  every file parses" evidence_parses
else
    skip "a template of a terabyte" "no such file here"
fi

# Sockets below TMPDIR, bound by absolute path.
if perl -MSocket -e 1 2>"$scratch/output"; then
    cat >"$scratch/binds" <<'APP'
#!/usr/bin/env perl
use Socket;
$SIG{TERM} = sub { exit 0 };
sub say_in { open(my $f, '>', "$ENV{HOME}/$_[0]") or die; print $f $_[1]; close $f or die }
say_in('length', length $ENV{TMPDIR});
my $path = "$ENV{TMPDIR}/" . 's' x 40;
socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
say_in('bound', eval { bind($s, pack_sockaddr_un($path)) } && -S $path ? 'yes' : "no: $!");
sleep 1 while 1;
APP
    chmod 755 "$scratch/binds"
    pair binds binds s --repetitions 1 --ready file:bound
    both() { cat "$out"/overview/run-0[12]/home/"$1"; }
    point "a session with a short --output succeeds" status_is 0
    point "  an application binds a name of 40 bytes below TMPDIR" test "$(both bound)" = yesyes
    point "  TMPDIR is as long for one variant as for the other" \
        test "$(both length | cut -c 1-2)" = "$(both length | cut -c 3-4)"
    point "  nobody was warned" test "$(said "below TMPDIR"; echo $?)" = 1
    pair binds binds "$(printf 'long%.0s' {1..15})" --repetitions 1 --ready file:bound
    point "with a long one preflight had warned" \
        said "bound below TMPDIR by its whole path, which is [0-9]* bytes too long (of 108); choose a shorter --output"
    point "  and it cannot" test "$(in_home cut -c 1-2 bound)" = no
else
    skip "sockets below TMPDIR" "no perl with Socket"
fi
finish
