#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The manifest's digest against one made by find, sha256sum and jq, of the same things made in
# another order, under another umask and read in another locale.
# proves: PROV-2
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

cat >"$scratch/manifest.lua" <<'LUA'
local manifest = assert(pairperf.manifest.build((...)))
io.stdout:write(manifest.json)
LUA

# Each line: mode, path (%b), content or link target (%b)
things() {
    cat <<'END'
0755 sub
0755 <
0750 sub/deeper
0644 sub/a first
0600 sub/deeper/b second
4755 run #!/bin/sh
0644 new\nline text
0644 \303\251 accent
0644 e\314\201 another
0644 </script> <
0644 a|b pipe
0644 quote"back\\\\slash q
0644 tab\there t
0644 \001\177 control
0644 \377\376bad bytes
0644 sub-x beside
0644 Sub upper
0644 empty
link sub/link ../run
link dangling no\nwhere
link odd \377target
fifo pipe
END
}

make_tree() { # ROOT ORDER... : lines of `things` in the order that sort's options give
    local root=$1 mode path content
    shift
    mkdir "$root"
    while read -r mode path content; do # directories first, or nothing could be made in them
        path=$(printf '%b.' "$path")
        case $path in sub. | sub/deeper. | '<.') mkdir -p "$root/${path%.}" ;; esac
    done < <(things)
    while read -r mode path content; do
        path=$(printf '%b.' "$path")
        path=$root/${path%.}
        content=$(printf '%b.' "$content")
        case $mode in
        link) ln -s "${content%.}" "$path" ;;
        fifo) mkfifo -m 0640 "$path" ;;
        *) [ -d "$path" ] || printf %s "${content%.}" >"$path" ;;
        esac
    done < <(things | sort "$@")
    while read -r mode path content; do
        path=$(printf '%b.' "$path")
        case $mode in link | fifo) ;; *) chmod "$mode" "$root/${path%.}" ;; esac
    done < <(things)
}

# The JSON value of the bytes on stdin.
text() {
    cat >"$scratch/text"
    if iconv -f UTF-8 -t UTF-8 "$scratch/text" >/dev/null 2>&1; then
        jq -Rs . <"$scratch/text"
    else
        jq -n --arg bytes_hex "$(od -An -v -tx1 "$scratch/text" | tr -d ' \n')" '$ARGS.named'
    fi
}

sum() { sha256sum | cut -c1-64; }

entries() { # ROOT
    local path type mode size
    find "$1" -mindepth 1 -printf '%P\0' | LC_ALL=C sort -z | while IFS= read -r -d '' path; do
        type=$(stat -c %F "$1/$path")
        mode=$(printf '%04d' "$(stat -c %a "$1/$path")")
        size=$(stat -c %s "$1/$path")
        case $type in
        regular*)
            jq -n --argjson path "$(printf %s "$path" | text)" --arg mode "$mode" \
                --argjson size "$size" --arg sha256 "$(sum <"$1/$path")" '$ARGS.named + {type: "file"}'
            ;;
        symbolic*)
            jq -n --argjson path "$(printf %s "$path" | text)" \
                --argjson target "$(readlink -n "$1/$path" | text)" \
                --arg target_sha256 "$(readlink -n "$1/$path" | sum)" \
                '$ARGS.named + {type: "symlink"}'
            ;;
        *)
            jq -n --argjson path "$(printf %s "$path" | text)" --arg mode "$mode" \
                --arg type "$type" '$ARGS.named'
            ;;
        esac
    done
}

recompute() { # ROOT: canonical bytes; jq writes DEL as an escape, ours is raw
    entries "$1" | jq -jcSs '{entries: ., schema: "pairperf-manifest-1"}' | sed 's/\\u007f/\x7f/g'
}

ours() { # ROOT OUTPUT
    "$lua" "$scratch/manifest.lua" "$1" >"$2" 2>"$scratch/output"
}

make_tree "$scratch/one" -k2
(umask 077 && make_tree "$scratch/two" -r -k3)
recompute "$scratch/one" >"$scratch/wanted.json"
point "the manifest is made" ours "$scratch/one" "$scratch/one.json"
diff <(jq . "$scratch/wanted.json") <(jq . "$scratch/one.json") >"$scratch/output" 2>&1
point "find, sha256sum and jq come to the same bytes" cmp "$scratch/wanted.json" "$scratch/one.json"
point "with every entry" test "$(jq '.entries | length' "$scratch/one.json")" -eq 22
ours "$scratch/two" "$scratch/two.json"
point "order and umask of its making change nothing" cmp "$scratch/one.json" "$scratch/two.json"
for locale in $(locale -a | grep -iE '^(tr|de|cs|fr)_|^C\.utf' | head -n 3); do
    LC_ALL=$locale ours "$scratch/one" "$scratch/locale.json"
    point "nor does the locale $locale" cmp "$scratch/one.json" "$scratch/locale.json"
done
printf x >>"$scratch/two/sub/deeper/b"
ours "$scratch/two" "$scratch/two.json"
point "a byte more does" test "$(sum <"$scratch/one.json")" != "$(sum <"$scratch/two.json")"
finish
