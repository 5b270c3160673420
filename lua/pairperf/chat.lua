-- SPDX-License-Identifier: Apache-2.0
--- One streamed chat completion and how it ended. No text of a response is kept: a delta is looked
--- at for whether it holds content, and forgotten.
---
--- ok        every event well-formed and the stream seen through [DONE]
--- failed    everything else; `error` holds a class, never the server's words
--- censored  a signal ended it: its time is a lower bound, not a failure
local cjson = require "cjson.safe"
local core = require "pairperf.core"
local json = require "pairperf.json"
local latency = require "pairperf.latency"
local sse = require "pairperf.sse"

local M = {}

M.PROMPT = "Describe a walk through a small town on a rainy morning."

local CLASS_MAX <const> = 64

local decoder = cjson.new()
decoder.decode_invalid_numbers(false)

local Reader = {}
Reader.__index = Reader

-- The error class that a server gave in band: a bare word of its type or code, no free text.
local function error_class(value)
  local class = type(value) == "table" and (value.type or value.code) or nil
  if type(class) == "number" then
    class = ("%d"):format(class // 1)
  end
  if type(class) ~= "string" or #class > CLASS_MAX or not class:match "^[%w_.-]+$" then
    return "in_band"
  end
  return "in_band:" .. class
end

local function holds_text(value)
  return type(value) == "string" and value ~= ""
end

-- What a chunk's choices brought: content, reasoning.
local function look_at_choices(choices)
  local content, reasoning = false, false
  for _, choice in ipairs(type(choices) == "table" and choices or {}) do
    local delta = type(choice) == "table" and choice.delta
    if type(delta) == "table" then
      content = content or holds_text(delta.content)
      reasoning = reasoning or holds_text(delta.reasoning_content)
    end
  end
  return content, reasoning
end

local function take_chunk(self, chunk, t_ns)
  local content, reasoning = look_at_choices(chunk.choices)
  if content or reasoning then
    self.chunks[#self.chunks + 1] = { t_ns = t_ns, content = true }
  end
  if reasoning then
    self.first_reasoning_ns = self.first_reasoning_ns or t_ns
  end
  local usage = type(chunk.usage) == "table" and math.tointeger(chunk.usage.completion_tokens)
  if usage and usage >= 0 then
    self.usage = usage
  end
end

local function take_event(self, event, t_ns)
  if self.done_ns or self.failure then
    return
  elseif event.data:match "^%s*%[DONE%]%s*$" then
    self.done_ns = t_ns
    return
  end
  local chunk = decoder.decode(event.data)
  if type(chunk) ~= "table" then
    self.failure = "malformed_chunk"
  elseif event.type == "error" or (chunk.error ~= nil and chunk.error ~= cjson.null) then
    self.failure = error_class(chunk.error)
  else
    take_chunk(self, chunk, t_ns)
  end
end

--- Reads a response body piece by piece.
---@return table reader
function M.reader()
  local self = setmetatable({ chunks = {} }, Reader)
  self.parser = sse.parser(function(event)
    take_event(self, event, self.t_ns)
  end)
  return self
end

--- Takes the next bytes of the body.
---@param bytes string
---@param t_ns integer when they came
---@return boolean go_on false once nothing after them can matter
function Reader:feed(bytes, t_ns)
  self.t_ns = t_ns
  if not self.parser:feed(bytes) then
    self.failure = self.failure or "endless_event"
  end
  return not (self.done_ns or self.failure)
end

-- Why the request failed; nil when it did not.
local function failure_of(self, answer, err)
  if answer and answer.status ~= 200 then
    return "http_status"
  elseif
    answer and not (answer.content_type or ""):lower():match "^text/event%-stream%f[\0;%s]"
  then
    return "content_type"
  elseif self.failure then
    return self.failure
  elseif err then
    return err.errno and err.code .. ":" .. err.errno or err.code
  elseif not self.done_ns then
    return "ended_before_done"
  end
end

--- How the request ended.
---@param answer pairperf.HttpAnswer?
---@param err pairperf.Error?
---@return "ok"|"failed"|"censored" status
---@return string? error class when failed
function Reader:outcome(answer, err)
  if err and err.code == "cancelled" and not self.failure then
    return "censored"
  end
  local failure = failure_of(self, answer, err)
  return failure and "failed" or "ok", failure
end

-- The line for requests.jsonl.
local function record_of(self, send_ns, end_ns, answer, err)
  local status, failure = self:outcome(answer, err)
  local done_ns = status == "ok" and self.done_ns or nil
  local record = latency.request {
    send_ns = send_ns,
    chunks = self.chunks,
    done_ns = done_ns,
    tokens = self.usage,
    status = status,
  }
  record.schema = "pairperf-request-1"
  record.send_ns, record.end_ns = send_ns, done_ns or end_ns
  record.first_content_ns = self.chunks[1] and self.chunks[1].t_ns
  record.first_reasoning_ns = self.first_reasoning_ns
  record.chunks = #self.chunks
  record.status, record.error = status, failure
  record.http_status = answer and answer.status or json.null
  return record
end

---@class pairperf.ChatRequest
---@field base_url string without a slash at its end
---@field model string
---@field max_tokens integer
---@field timeout_s number
---@field api_key string? sent, never recorded

local function headers_of(request)
  local headers = { "Content-Type: application/json", "Accept: text/event-stream" }
  if request.api_key then
    headers[#headers + 1] = "Authorization: Bearer " .. request.api_key
  end
  return headers
end

local function body_of(request)
  return assert(json.encode {
    model = request.model,
    messages = json.array { { role = "user", content = M.PROMPT } },
    max_tokens = request.max_tokens,
    stream = true,
    stream_options = { include_usage = true },
  })
end

--- Sends the one fixed prompt and reads the answer through [DONE].
---@param request pairperf.ChatRequest
---@return table record of schema pairperf-request-1
function M.ask(request)
  local reader = M.reader()
  local message = {
    url = request.base_url .. "/chat/completions",
    headers = headers_of(request),
    body = body_of(request),
    timeout_s = request.timeout_s,
    on_data = function(bytes, t_ns)
      return reader:feed(bytes, t_ns)
    end,
  }
  local send_ns = core.clock.now()
  local answer, err = core.http.stream(message)
  return record_of(reader, send_ns, core.clock.now(), answer, err)
end

return M
