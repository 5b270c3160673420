-- SPDX-License-Identifier: Apache-2.0
--- Finished sessions in the formats of other programs: pairperf-lua export FORMAT DIR [--to FILE].
local core = require "pairperf.core"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local export_csv = require "pairperf.export_csv"
local export_openmetrics = require "pairperf.export_openmetrics"
local export_trace = require "pairperf.export_trace"
local nearest = require "pairperf.nearest"
local report = require "pairperf.report"
local report_build = require "pairperf.report_build"

local M = {}

-- format -> function(report, summaries, directory) -> text | nil, err
local FORMATS = {
  csv = export_csv.text,
  openmetrics = export_openmetrics.text,
  perfetto = export_trace.text,
}

M.NAMES = { "csv", "openmetrics", "perfetto" }

M.OPTIONS = {
  {
    name = "to",
    type = "path",
    value = "FILE",
    help = "new file outside DIR (default: standard output)",
  },
  { name = "help", type = "flag", help = "print this text" },
}

local function fail(text, ...)
  return errors.fail("invalid", "", text:format(...))
end

-- Evidence stays what it was: nothing is added below its directory.
local function is_inside(path, directory)
  local parent = core.fs.realpath(path:match "^(.*)/[^/]*$" or ".")
  local whole = core.fs.realpath(directory)
  return parent and whole and (parent .. "/"):sub(1, #whole + 1) == whole .. "/"
end

local function check_target(path, directory)
  if not path then
    return true
  elseif core.fs.lstat(path) then
    return fail("option '--to': '%s' exists; name a new file", path)
  elseif is_inside(path, directory) then
    return fail("option '--to': '%s' is inside the session; name a file elsewhere", path)
  end
  return true
end

local function write(text, path)
  if path then
    return core.fs.write_atomic(path, text)
  end
  local ok, message = io.stdout:write(text)
  return ok and true, ok or errors.new("sys", "write", message)
end

local function make(format, directory)
  local input, err = report.load(directory)
  if not input then
    return fail("%s: not the output of a session: %s", directory, tostring(err))
  end
  return FORMATS[format](report_build.build(input), input.summaries, directory)
end

--- Writes one session in one format.
---@param operands string[] format and directory
---@param values table option values
---@return integer? exit_status
---@return pairperf.Error? err
function M.run(operands, values)
  local format, directory = operands[1], operands[2]
  if not FORMATS[format] then
    local near = nearest(format, M.NAMES)
    local hint = near and ("; did you mean '%s'?"):format(near) or ""
    return fail("'%s' is none of %s%s", format, table.concat(M.NAMES, ", "), hint)
  elseif not directory or operands[3] then
    return fail "name one output directory of a session after the format"
  end
  local ok, err = check_target(values.to, directory)
  local text
  if ok then
    text, err = make(format, directory)
  end
  if text then
    ok, err = write(text, values.to)
  end
  if not (text and ok) then
    return nil, err
  end
  return exit_status.OK
end

return M
