-- SPDX-License-Identifier: Apache-2.0
--- What a person would do next after a run failed at a step.

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

local ASK_FOR_OUTPUT <const> = "run it again with --keep-app-output: it keeps app-stdout and "
  .. "app-stderr in the run's directory"

--- One shell command, or what to run again when the answer was not kept.
---@param step string
---@param run {dir: string, app_ended: boolean?, app_output_kept: boolean?}
---@return string
return function(step, run)
  if run.app_ended then
    return run.app_output_kept and "less " .. quoted(run.dir .. "/app-stderr") or ASK_FOR_OUTPUT
  end
  local next = NEXT[step] or { "less", "/events.jsonl" }
  return next[1] .. " " .. quoted(run.dir .. next[2])
end
