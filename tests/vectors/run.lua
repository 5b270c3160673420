-- SPDX-License-Identifier: Apache-2.0
--- Runs a file of golden vectors against the product's own modules:
---   lua5.4 tests/vectors/run.lua FILE      (LUA_PATH and LUA_CPATH as tests/run.sh sets them)
--- Ends with `N passed, N failed` alone on a line; exit status 1 when any failed.
package.path = "tests/lua/?.lua;" .. package.path
local vectors = require "support.vectors"

local passed, failed = 0, 0
for _, case in ipairs(vectors.load(assert(arg[1], "name a file of vectors")).cases) do
  local problem = vectors.run(case)
  if problem then
    failed = failed + 1
    print("FAILED " .. case.op .. ": " .. problem)
  else
    passed = passed + 1
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
