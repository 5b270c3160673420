-- SPDX-License-Identifier: Apache-2.0
-- A controller script: manifest digest, guard, launch, sampling and verification, one by one.
--   pairperf-lua ./one_by_one.lua ARTIFACT NEW-DIRECTORY --authorize-launch
local artifact, output = ...
if not (artifact and output) or artifact:sub(1, 2) == "--" then
  print "usage: pairperf-lua ./one_by_one.lua ARTIFACT NEW-DIRECTORY --authorize-launch"
  return 2
end

local manifest = assert(pairperf.manifest.build(artifact))
print("bundle manifest sha256", manifest.sha256)

local before = assert(pairperf.guard.snapshot "/usr/local/bin/nvpair")

local app <close> =
  assert(pairperf.launch { artifact = artifact, output = output, interval_s = 0.2 })
print("launched pid", app.pid)

local window = assert(app:sample { duration_s = 1, interval_s = 0.2 })
print("frames in the window", window.frames)
for _, member in ipairs(app:members()) do
  print("member", member.pid, member.exe)
end

local verdict = app:stop { grace_s = 5 }
print("verdict", verdict.verdict, verdict.forced and "forced" or "not forced")

local after = assert(pairperf.guard.snapshot "/usr/local/bin/nvpair")
local changed = pairperf.guard.differences(before, after)
print("guard", #changed == 0 and "unchanged" or table.concat(changed, ", "))
return verdict.verdict == "echild" and #changed == 0 and 0 or 1
