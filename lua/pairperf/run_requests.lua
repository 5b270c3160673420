-- SPDX-License-Identifier: Apache-2.0
--- What the inference hook recorded about one run, as latencies and as metrics per request.
local core = require "pairperf.core"
local json = require "pairperf.json"
local latency = require "pairperf.latency"
local measured = require "pairperf.measured"
local records = require "pairperf.records"
local run_tiers = require "pairperf.run_tiers"
local stats = require "pairperf.stats"

local M = {}

M.FILE = "hook/requests.jsonl"
M.CLIENT = "hook/chat.json"

local STATUS = { ok = true, failed = true, censored = true }

local function complete(record)
  return STATUS[record.status]
    and math.type(record.send_ns) == "integer"
    and math.type(record.end_ns) == "integer"
end

local function number(value)
  return type(value) == "number" and value or nil
end

-- What the client says of itself; nil when it left no word.
local function read_client(run_dir)
  local text = core.fs.read(run_dir .. "/" .. M.CLIENT)
  return text and core.json.decode(text) or nil
end

--- The requests of a run; nil when no hook recorded any.
---@param run_dir string
---@return table[]? requests with the marks torn and malformed, and the client's own `client`
---@return pairperf.Error? err
function M.read(run_dir)
  local lines, err = records.read_if_any(run_dir .. "/" .. M.FILE)
  if not lines then
    return nil, err
  end
  local requests = { torn = lines.torn, malformed = lines.malformed }
  for _, record in ipairs(lines) do
    if complete(record) then
      record.tokens = number(record.tokens) or 0
      requests[#requests + 1] = record
    elseif record.status ~= nil then
      requests.malformed = requests.malformed + 1
    end
  end
  if #requests == 0 and not lines.torn and lines.malformed == 0 then
    return nil
  end
  requests.client = read_client(run_dir)
  return requests
end

local function field_values(requests, field)
  local values = {}
  for _, request in ipairs(requests) do
    if request.status == "ok" and number(request[field]) then
      values[#values + 1] = request[field]
    end
  end
  return values
end

local function point(values, permille, unit)
  local q = stats.quantile(values, permille)
  local reason = q.needs and ("needs %d requests, has %d"):format(q.needs, #values)
  return measured.metric(unit, nil, { value = q.value, reason = reason })
end

-- CPU milliseconds per completed unit of work, by one source.
local function per_unit(result, tier, count, what)
  local cpu, cpu_ns = result.metrics["cpu_percent_" .. tier], result.cpu_ns[tier]
  local fields = { flags = table.move(cpu.flags, 1, #cpu.flags, 1, {}) }
  if not measured.known(cpu.value) then
    fields.reason = "no CPU total: " .. cpu.reason
  elseif count == 0 then
    fields.reason = ("no completed %s in the window"):format(what)
  else
    fields.value = cpu_ns / 1e6 / count
  end
  return measured.metric("ms", tier, fields)
end

-- By every source, so that a comparison can take one that all its runs have.
local function add_per_unit(result, count, what)
  local name = "cpu_ms_per_" .. what
  for _, tier in ipairs(run_tiers.CPU) do
    result.metrics[name .. "_" .. tier] = per_unit(result, tier, count, what)
  end
  run_tiers.headline(result.metrics, name, run_tiers.CPU)
end

local function add_metrics(result, run, sent)
  local good = field_values(sent, "e2e_ms")
  local metrics = result.metrics
  metrics.request_p50_ms = point(good, 500, "ms")
  metrics.request_max_ms = point(good, 1000, "ms")
  metrics.ttft_p50_ms = point(field_values(sent, "ttft_ms"), 500, "ms")
  metrics.time_per_token_p50_ms = point(field_values(sent, "tpot_ms"), 500, "ms")
  add_per_unit(result, run.completed, "request")
  add_per_unit(result, run.output_tokens, "token")
end

--- Adds the latency metrics to `result` (of run_metrics.build) and returns the run's latencies.
---@return table? latency nil when no request was recorded or there is no window
function M.add(result, requests)
  local window = result.window
  if not requests or window.start_ns == json.null then
    return nil
  end
  local run, sent = latency.latency_run {
    window = { start_ns = window.start_ns, end_ns = window.end_ns },
    requests = requests,
  }
  run.recorded = #requests
  run.torn, run.malformed = requests.torn, requests.malformed
  run.delay_s = requests.client and requests.client.delay_s or json.null
  if window.valid then
    add_metrics(result, run, sent)
  end
  return run
end

return M
