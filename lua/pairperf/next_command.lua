-- SPDX-License-Identifier: Apache-2.0
--- The command a person would run next after a run failed at a step.

local function quoted(path)
  return "'" .. path:gsub("'", "'\\''") .. "'"
end

-- step -> command and what it looks at below the run's directory
local NEXT = {
  evidence = { "df -h", "" },
  sandbox = { "ls -la", "" },
  pre_sample_hook = { "less", "/hook/stderr" },
  post_run_check = { "less", "/check/stderr" },
  sampling = { "less", "/samples.jsonl" },
}

--- One shell command.
---@param step string
---@param run {dir: string}
---@return string
return function(step, run)
  local next = NEXT[step] or { "less", "/events.jsonl" }
  return next[1] .. " " .. quoted(run.dir .. next[2])
end
