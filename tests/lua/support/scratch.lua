-- SPDX-License-Identifier: Apache-2.0
--- A directory for a spec's files: `local scratch = require "tests.lua.support.scratch"`.
local M = {}

--- Runs a shell command; it must succeed.
function M.sh(command)
  local ok, how, code = os.execute(command)
  if not ok then
    error(("%s: %s %d"):format(command, how, code), 2)
  end
end

--- Output of a shell command.
function M.capture(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

--- A fresh directory; give it to M.remove at the end.
function M.make()
  local path = os.tmpname()
  assert(os.remove(path))
  M.sh(("mkdir -m 755 '%s'"):format(path))
  return path
end

function M.remove(path)
  M.sh(("chmod -R u+rwX '%s' && rm -rf '%s'"):format(path, path))
end

function M.write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
  return path
end

return M
