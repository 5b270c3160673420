#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --confine: the kernel keeps a session's applications from writing, root's too, and the guard
# believes it by trying. In a mount namespace of its own, with a launcher directory of its own.
# proves: BOX-9 GUARD-2 GUARD-6
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

quietly() { "$@" >"$scratch/output" 2>&1; }
refused() { # refused options: a session that is not to begin
    "$lua" overview --single --baseline "$scratch/app" --repetitions 1 "${quick[@]}" \
        --output "$scratch/none" --authorize-launch "$@" >"$scratch/output" 2>&1
    status=$?
    status_is 2 && test ! -e "$scratch/none"
}
bare() { # bare APP OUT options: a session without the override
    out=$scratch/out/$2
    "$lua" overview --single --baseline "$scratch/$1" --repetitions 1 "${quick[@]}" --seed 3 \
        --interval 200ms --output "$out" --authorize-launch --confine "${@:3}" \
        >"$scratch/output" 2>&1
    status=$?
}

point "--writable alone is refused" refused --writable "$scratch"
point "  with its reason" said "'--writable' has no place without '--confine'"
export PP_KERNEL=6.1
point "on a kernel that cannot deny truncation --confine is refused" refused --confine
point "  with the reason" said "'--confine': writes cannot be confined here: ABI 2 cannot deny truncation"
unset PP_KERNEL

cat >"$scratch/abi.lua" <<'LUA'
local state, err = pairperf.guard.confinement()
print(state and state.abi or "none: " .. tostring(err))
LUA
abi=$("$lua" "$scratch/abi.lua" 2>/dev/null)
case $abi in
[0-9]*) ;;
*)
    point "without Landlock --confine is refused" refused --confine
    point "  with the reason" said "writes cannot be confined here"
    skip "everything that is confined" "${abi:-no answer}"
    finish
    exit
    ;;
esac

# Our own /usr/local/bin, when we may: never the machine's.
private=
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    private=1
    mkdir "$scratch/launchers"
    echo original >"$scratch/launchers/nvpair"
    program_before=$program
    cat >"$scratch/in_private" <<IN
#!/bin/sh
exec unshare -m --propagation private sh -c 'mount --bind "$scratch/launchers" /usr/local/bin && exec "\$@"' sh "$program_before" "\$@"
IN
    chmod +x "$scratch/in_private"
    program=$scratch/in_private
    watch_sessions
    launchers=/usr/local/bin
else
    mkdir "$scratch/launchers"
    echo original >"$scratch/launchers/nvpair"
    launchers=$scratch/launchers
fi

# What it tries, and how each ended, is in its home.
script tries <<'APP'
trap 'exit 0' TERM
d=$1
also=${2:-/nowhere}
t() {
    name=$1
    shift
    if (eval "$*") 2>/dev/null; then echo "$name done"; else echo "$name denied"; fi >>"$HOME/tried"
}
echo mine >"$HOME/mine"
echo not yet >"$HOME/begun"
t create ': >"$d/new"'
t append 'echo more >>"$d/nvpair"'
t truncate 'truncate -s 0 "$d/nvpair"'
t overwrite 'echo other >"$d/nvpair"'
t rename 'mv "$d/nvpair" "$d/other"'
t remove 'rm "$d/other" || rm "$d/nvpair"'
t rename_in 'mv -T "$HOME/mine" "$d/mine"'
t rename_over 'echo two >"$HOME/two"; mv -fT "$HOME/two" "$d/nvpair"'
t link 'ln "$HOME/begun" "$d/linked"'
t symlink 'ln -s /bin/true "$d/sym"'
t through_link 'ln -s "$d" "$HOME/way"; : >"$HOME/way/new"'
t directory 'mkdir "$d/sub"'
t fifo 'mkfifo "$d/fifo"'
t tmp ': >/tmp/pairperf-confined-$$'
t mount 'mount --bind "$HOME" "$d"'
t daemon 'setsid sh -c ": >\"$d/late\""'
t home 'mkdir "$HOME/sub" && echo x >"$HOME/sub/x" && mv "$HOME/sub/x" "$HOME/y" && rm "$HOME/y"'
t temporary 'mktemp >/dev/null'
t null 'echo x >/dev/null'
t also 'echo x >"$also/x"'
echo yes >"$HOME/ready"
while :; do sleep 0.02; done
APP
tried() { grep -qx "$1" "$out/overview/run-01/home/tried"; }
untouched() {
    test "$(ls -A "$scratch/launchers")" = nvpair && test "$(cat "$scratch/launchers/nvpair")" = original
}

mkdir "$scratch/also"
guard=()
[ -n "$private" ] || guard=(--guard-path "$launchers/nvpair")
writes_launchers() { [ -n "$private" ] || [ "$(id -u)" -eq 0 ] || [ -w "$launchers" ]; }
point "unconfined the guard refuses that directory" refused "${guard[@]}"
point "  and names confinement as a way on" said "--confine (Linux): the kernel keeps the application"
bare tries confined "${guard[@]}" --ready file:ready --app-arg "$launchers" --app-arg "$scratch/also" \
    --writable "$scratch/also"
point "confined it proceeds without the override" status_is 0
for what in create append truncate overwrite rename remove rename_in rename_over link symlink \
    through_link directory fifo tmp mount daemon; do
    point "  $what is denied" tried "$what denied"
done
for what in home temporary null also; do
    point "  $what is not" tried "$what done"
done
point "  the launcher and its directory are untouched" untouched
point "  the run says so" event confined "\"landlock_abi\":$abi.*/also\".*/home\""
point "  so does the plan, with what is not covered" \
    quietly grep -q "\"confine\":{\"abi\":$abi,\"not_covered\":\[\"chmod, chown" "$out/plan.json"
point "  and the report" quietly grep -q "Not covered: chmod, chown, utime" "$out/report.md"
point "  all files hold to their schemas" evidence_parses
if [ -n "$private" ]; then
    point "  it was the private directory that was guarded" event guard_before '"/usr/local/bin/nvpair":{.*"sha256"'
    point "  and not the machine's" test ! -e /usr/local/bin/new
else
    skip "the machine's own launcher path" "no private mount namespace here; --guard-path was used"
fi

# What is opened on purpose is believed by nobody.
point "a --writable that holds the guarded directory is refused" refused --confine "${guard[@]}" \
    --writable "$launchers"
point "  as writable" said "'$launchers' can be written by this user"
point "so is one that is the guarded file" refused --confine "${guard[@]}" --writable "$launchers/nvpair"
point "a --writable that does not exist is refused" refused --confine --writable "$scratch/nowhere"
point "  by name" said "'--writable': '$scratch/nowhere'.*ENOENT"

"$lua" overview --single --baseline "$scratch/app" --output "$scratch/none" --confine --dry-run \
    "${guard[@]}" >"$scratch/output" 2>&1
status=$?
point "a dry run says what confinement does" said "Confined by Landlock (ABI $abi), root too"
point "  what it does not cover" said "Not covered: chmod, chown, utime.*signals to other"
point "  and what the guard then finds" said "$launchers/nvpair is file, its directory is not writable by a confined"
point "and nothing of all this changed the launchers" untouched

# Nothing but the confinement was in the way.
start free --single --baseline "$scratch/tries" --repetitions 1 "${quick[@]}" "${guard[@]}" \
    --ready file:ready --app-arg "$launchers"
point "unconfined the same application changes the launcher, which fails the run" failed_at guard
for what in create append truncate overwrite rename remove rename_in rename_over link symlink \
    through_link directory fifo tmp daemon; do
    [ "$what" != rename_in ] && [ "$what" != link ] || [ -z "$private" ] || continue # another mount
    point "  $what is done" tried "$what done"
done
rm -f /tmp/pairperf-confined-*
point "  and no confinement is told" quietly sh -c "! grep -q '\"kind\":\"confined\"' '$out'/overview/run-01/events.jsonl"
finish
