#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One flipped bit in any file that the harness, its supervisors or recover wrote is named by verify,
# by file and by line or field: at the first byte, the last, in the middle, and elsewhere.
#   FLIPS=20 how many places in each file, FLIPS_SEED=1 where they are
# proves: REP-5
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

demo=$PP_TEST_BUILD_DIR/demo
if [ ! -x "$demo/old/Demo.app/Contents/MacOS/demo" ]; then
    skip "flipped bits" "the demo application is not built"
    finish
    exit 0
fi

cat >"$scratch/flip.lua" <<'LUA'
local verify = require "pairperf.verify"
local digests = require "pairperf.digests"
local output, places, seed = ...
math.randomseed(tonumber(seed))

local function put(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

local function found_in(name)
  local found = assert(verify.session(output))
  for _, one in ipairs(found.problems) do
    if one.file == name and (one.where:find "^line %d" or one.where:find "^field %w") then
      return true
    end
  end
  local said = {}
  for i, one in ipairs(found.problems) do
    said[i] = ("%s: %s: %s"):format(one.file, one.where, one.text)
  end
  return false, table.concat(said, "; ")
end

local function offsets(size)
  local list = { 1, size, size // 2 + 1 }
  while #list < tonumber(places) do
    list[#list + 1] = math.random(1, size)
  end
  return list
end

local names, flips, missed = { digests.FILE }, 0, 0
for _, file in ipairs((digests.walk(output))) do
  names[#names + 1] = file.size > 0 and file.path or nil
end
for _, name in ipairs(names) do
  local path = output .. "/" .. name
  local text = assert(pairperf.fs.read(path))
  for _, at in ipairs(offsets(#text)) do
    at = math.max(1, at)
    local bit = 1 << math.random(0, 7)
    put(path, text:sub(1, at - 1) .. string.char(text:byte(at) ~ bit) .. text:sub(at + 1))
    local named, said = found_in(name)
    flips = flips + 1
    if not named then
      missed = missed + 1
      print(("%s: byte %d, bit %d is not named: %s"):format(name, at, bit, said))
    end
  end
  put(path, text)
  print("flipped " .. name)
end
print(("%d flips in %d files (seed %s), %d missed"):format(flips, #names, seed, missed))
return missed == 0 and 0 or 1
LUA
script check <<'CHECK'
echo all is well
echo it is >&2
CHECK
script talker <<APP
echo one
echo two >&2
exec "$demo/old/Demo.app/Contents/MacOS/demo" "\$@"
APP
script hook <<HOOK
echo from the hook
echo not UTF-8: "\$(printf '\\377')" >&2
exec "$program" --run-hook inference chat_loop -- --base-url-file endpoint.url --model demo --max-tokens 4 --delay 50ms
HOOK
session=("$lua" inference --baseline "$scratch/talker" --authorize-launch --allow-system-launcher-write
    --ready file:endpoint.url --post-run-check "$scratch/check" --pre-sample-hook "$scratch/hook"
    --keep-app-output=4KiB --repetitions 1 --interval 200ms --warmup 200ms --seed 3)
flips() { # of $out
    "$lua" "$scratch/flip.lua" "$out" "${FLIPS:-3}" "${FLIPS_SEED:-1}" >"$scratch/output" 2>&1
    status=$?
    sed -n 's/^flipped //p' "$scratch/output" >>"$scratch/flipped"
    grep -v '^flipped' "$scratch/output" | sed 's/^/# /'
}
holds() { "$lua" verify "$out" >"$scratch/output" 2>&1; }

out=$scratch/out/control
"${session[@]}" --output "$out" --null-control --duration 400ms >"$scratch/output" 2>&1
status=$?
point "an A/A session succeeds" status_is 0
flips
point "  one flipped bit in any of its files is named by file and line or field" status_is 0
point "  and the files are as they were" holds

# The harness is killed when its first run has requests: its supervisors save what they have.
out=$scratch/out/killed
AFTERWARDS_MS=20000 "${session[@]}" --output "$out" --single --duration 60s >"$scratch/output" 2>&1 &
job=$!
await test -s "$out/inference/run-01/hook/requests.jsonl"
kill -KILL "$(child_of "$job")"
wait "$job"
"$lua" recover "$out" >"$scratch/output" 2>&1
status=$?
point "recover completes one whose harness was killed" status_is 0
flips
point "  one flipped bit in any of its files is named by file and line or field" status_is 0
point "  and the files are as they were" holds

# All that a harness, a supervisor and recover write (docs/EVIDENCE.md), or nothing was shown of it.
sed 's|inference/run-..|RUN|; s/candidate-bundle/baseline-bundle/' "$scratch/flipped" | sort -u >"$scratch/kinds"
all_kinds() {
    printf '%s\n' baseline-bundle-manifest.json digests.json noise-floor.json plan.json probes.json \
        report.html report.json report.md session.json session.log RUN/app-stderr RUN/app-stdout \
        RUN/{check,hook}/{events.jsonl,stderr,stdout} RUN/hook/{chat.json,requests.jsonl} \
        RUN/events{,.recover,.supervisor}.jsonl RUN/samples{,.supervisor}.jsonl RUN/summary.json |
        sort | comm -23 - "$scratch/kinds" >"$scratch/output"
    [ ! -s "$scratch/output" ]
}
point "every kind of file was among them" all_kinds
finish
