-- SPDX-License-Identifier: Apache-2.0
--- Latencies of streamed requests: of one request, and of one run. Requests of several runs are
--- never pooled; a request that failed or was cut off stays in every count.
local json = require "pairperf.json"
local stats = require "pairperf.stats"

local M = {}

local function ms(ns)
  return ns / 1e6
end

local function present(value)
  return value ~= nil and value ~= json.null
end

-- Times of the chunks that carried content: a role-only chunk is no token.
local function content_times(chunks)
  local times = {}
  for _, chunk in ipairs(chunks) do
    if chunk.content then
      times[#times + 1] = chunk.t_ns
    end
  end
  return times
end

local function gaps_ms(times)
  local gaps = json.array {}
  for i = 2, #times do
    gaps[i - 1] = ms(times[i] - times[i - 1])
  end
  return gaps
end

---@class pairperf.Stream one streamed request as it came in
---@field send_ns integer
---@field chunks {t_ns: integer, content: boolean}[]
---@field done_ns integer? terminator of the stream
---@field tokens integer? the server's count
---@field status "ok"|"failed"|"censored"

--- One streamed request.
---@param r pairperf.Stream
function M.request(r)
  local times = content_times(r.chunks)
  local ok = r.status == "ok"
  local counted = present(r.tokens)
  local tokens = counted and r.tokens or #times
  local result =
    { itl_ms = gaps_ms(times), token_source = counted and "usage" or "chunks", tokens = tokens }
  if times[1] then
    result.ttft_ms = ms(times[1] - r.send_ns)
    local span = times[#times] - times[1]
    if ok and tokens >= 2 and span > 0 then
      result.tpot_ms = ms(span) / (tokens - 1)
      result.decode_tokens_per_second = (tokens - 1) * 1e9 / span
    end
  end
  if ok and present(r.done_ns) then
    result.e2e_ms = ms(r.done_ns - r.send_ns)
  end
  return result
end

local POINTS = { p50 = 500, p90 = 900, p95 = 950, p99 = 990, max = 1000 }

local function finite(value)
  if value == nil or value == math.huge then
    return json.null
  end
  return value
end

-- Quantiles of the good requests, and bounds over all: failed and censored ones at their elapsed
-- time (low) and at infinity (high).
local function quantiles(good, low, high)
  local points, bounds = {}, {}
  for name, permille in pairs(POINTS) do
    points[name] = finite(stats.quantile(good, permille).value)
    bounds[name] = json.array {
      finite(stats.quantile(low, permille).value),
      finite(stats.quantile(high, permille).value),
    }
  end
  return points, bounds
end

local function elapsed_ms(request)
  return ms(request.end_ns - request.send_ns)
end

-- Requests sent inside the window, by how they ended.
local function split(requests, first_ns, last_ns)
  local count = { ok = 0, failed = 0, censored = 0 }
  local good, low, high, sent = {}, {}, {}, {}
  for _, r in ipairs(requests) do
    if r.send_ns >= first_ns and r.send_ns < last_ns then
      local e = elapsed_ms(r)
      count[r.status] = count[r.status] + 1
      sent[#sent + 1] = r
      low[#low + 1] = e
      high[#high + 1] = r.status == "ok" and e or math.huge
      if r.status == "ok" then
        good[#good + 1] = e
      end
    end
  end
  return count, good, low, high, sent
end

-- Requests completed inside the window, whenever they were sent, and the time one was in flight.
local function throughput(requests, first_ns, last_ns)
  local done, tokens, busy_ns = 0, 0, 0
  for _, r in ipairs(requests) do
    busy_ns = busy_ns + math.max(0, math.min(r.end_ns, last_ns) - math.max(r.send_ns, first_ns))
    if r.status == "ok" and r.end_ns >= first_ns and r.end_ns < last_ns then
      done = done + 1
      tokens = tokens + r.tokens
    end
  end
  return done, tokens, busy_ns
end

---@class pairperf.Request
---@field send_ns integer
---@field end_ns integer when it ended or was cut off
---@field status "ok"|"failed"|"censored"
---@field tokens integer

--- The requests of one run against its window.
---@param run {window: {start_ns: integer, end_ns: integer}, requests: pairperf.Request[]}
---@return table latencies
---@return pairperf.Request[] sent inside the window
function M.latency_run(run)
  local first_ns, last_ns = run.window.start_ns, run.window.end_ns
  local seconds = (last_ns - first_ns) / 1e9
  local count, good, low, high, sent = split(run.requests, first_ns, last_ns)
  local done, tokens, busy_ns = throughput(run.requests, first_ns, last_ns)
  local result = {
    attempted = #sent,
    ok = count.ok,
    failed = count.failed,
    censored = count.censored,
    completed = done,
    output_tokens = tokens,
  }
  result.e2e_ms, result.e2e_bounds_ms = quantiles(good, low, high)
  if count.ok + count.failed > 0 then
    result.error_rate = count.failed / (count.ok + count.failed)
  end
  if seconds > 0 then
    result.completed_per_second = done / seconds
    result.output_tokens_per_second = tokens / seconds
    result.busy_fraction = busy_ns / (last_ns - first_ns)
  end
  return result, sent
end

return M
