-- SPDX-License-Identifier: Apache-2.0
--- The inference client: a closed loop of streamed requests, one in flight, a pause after each.
--- It polls GET BASE/models until 200 and counts nothing before. A failed request ends it with
--- status 1; SIGTERM ends it with status 0, once the request in flight is recorded as censored.
--- Writes hook/requests.jsonl and hook/chat.json below PAIR_PERF_OUTPUT.
local chat = require "pairperf.chat"
local core = require "pairperf.core"
local errors = require "pairperf.error"
local json = require "pairperf.json"
local options = require "pairperf.options"
local waiting = require "pairperf.waiting"

local M = {}

local EXIT_FAILED <const>, EXIT_USAGE <const> = 1, 2
local POLL_S <const> = 0.1
local ANSWER_S <const> = 1 -- for one answer of GET BASE/models
local NS <const> = 1e9

M.OPTIONS = {
  {
    name = "base-url",
    type = "text",
    value = "URL",
    help = "base URL of the endpoint, for example http://127.0.0.1:8080/v1",
  },
  {
    name = "base-url-file",
    type = "path",
    value = "FILE",
    help = "file that will hold it (relative to the working directory, the sandbox); awaited",
  },
  { name = "model", type = "text", value = "NAME", default = "default", help = "model to ask for" },
  {
    name = "max-tokens",
    type = "integer",
    value = "N",
    default = 64,
    min = 1,
    help = "tokens asked for per request",
  },
  {
    name = "timeout",
    type = "seconds",
    value = "TIME",
    default = 15,
    min = 0.001,
    max = 86400,
    help = "limit of one request",
  },
  {
    name = "delay",
    type = "seconds",
    value = "TIME",
    default = 1,
    help = "pause after each request",
  },
  {
    name = "max-duration",
    type = "seconds",
    value = "TIME",
    default = 3600,
    help = "no request is sent after it",
  },
  {
    name = "ready-timeout",
    type = "seconds",
    value = "TIME",
    default = 30,
    help = "limit of waiting for the endpoint",
  },
  {
    name = "api-key-env",
    type = "text",
    value = "NAME",
    help = "variable that holds the API key; its value is sent, never recorded",
  },
}

local function usage(text)
  return errors.fail("invalid", "", text)
end

-- host:port of a URL, without credentials, path and query
local function authority_of(url)
  return url:match("^https?://([^/?#]+)"):match("[^@]+$")
end

local function check_url(text)
  local url = text:match("^%s*(https?://[^/?#%s]+[^?#%s]*)%s*$")
  return url and url:gsub("/+$", "") or nil
end

--- The settings of a command line.
---@param args string[]
---@return table? settings
---@return pairperf.Error? err
function M.parse(args)
  local parsed, err = options.parse(M.OPTIONS, args)
  if not parsed then
    return nil, err
  end
  local values = parsed.values
  if #parsed.rest > 0 then
    return usage(("'%s' is not an option"):format(parsed.rest[1]))
  elseif (values["base-url"] == nil) == (values["base-url-file"] == nil) then
    return usage "give either --base-url or --base-url-file"
  end
  local settings = {
    base_url = values["base-url"] and check_url(values["base-url"]),
    base_url_file = values["base-url-file"],
    model = values.model,
    max_tokens = values["max-tokens"],
    timeout_s = values.timeout,
    delay_s = values.delay,
    max_duration_s = values["max-duration"],
    ready_timeout_s = values["ready-timeout"],
  }
  if values["base-url"] and not settings.base_url then
    return usage "option '--base-url': not an http or https URL"
  end
  local name = values["api-key-env"]
  settings.api_key = name and os.getenv(name)
  if name and not settings.api_key then
    return usage(("option '--api-key-env': the variable %s is not set"):format(name))
  end
  return settings
end

-- One look at the endpoint. True when it is ready, else nil and the answer; none when the look was
-- cut short by the end of the wait.
local function look(settings, left_s)
  if not settings.base_url then
    local text = core.fs.read(settings.base_url_file, 4096)
    settings.base_url = text and check_url(text)
    if not settings.base_url then
      return nil, text and "no URL in the file yet" or "no file yet"
    end
  end
  local limit_s = math.max(0.001, math.min(ANSWER_S, left_s))
  local status, err = core.http.status(settings.base_url .. "/models", { timeout_s = limit_s })
  if not status and err.code == "timeout" and limit_s < ANSWER_S then
    return nil
  end
  return status == 200 or nil, status and "HTTP status " .. status or tostring(err)
end

-- Seconds until the endpoint was ready; nil and why not.
local function await_ready(settings)
  local began_ns, last = core.clock.now(), "none"
  local ready, err = waiting.wait(settings.ready_timeout_s, function(left_s)
    local met, answer = look(settings, left_s)
    last = answer or last
    return met
  end, { every_s = POLL_S })
  if ready then
    return (core.clock.now() - began_ns) / NS
  elseif err.code == "timeout" then
    return nil, "the endpoint was not ready in time; last answer: " .. last
  end
  return nil, "told to stop before the endpoint was ready"
end

local function new_counts()
  return { ok = 0, failed = 0, censored = 0 }
end

-- Sends requests until told to stop, out of time, or one fails. Returns the counts.
local function loop(settings, requests_file)
  local counts, began_ns = new_counts(), core.clock.now()
  for index = 1, math.maxinteger do
    if (core.clock.now() - began_ns) / NS >= settings.max_duration_s then
      return counts
    end
    local record = chat.ask(settings)
    record.index = index
    counts[record.status] = counts[record.status] + 1
    assert(core.fs.append(requests_file, assert(json.encode(record)) .. "\n"))
    if record.status ~= "ok" or not waiting.pause(settings.delay_s) then
      return counts, record.error
    end
  end
end

local function write_summary(dir, settings, ready_wait_s, counts)
  local summary = {
    schema = "pairperf-chat-1",
    endpoint = settings.base_url and authority_of(settings.base_url) or json.null,
    model = settings.model,
    max_tokens = settings.max_tokens,
    timeout_s = settings.timeout_s,
    delay_s = settings.delay_s,
    max_duration_s = settings.max_duration_s,
    ready_timeout_s = settings.ready_timeout_s,
    ready_wait_s = ready_wait_s or json.null,
    requests = counts,
  }
  assert(core.fs.write_atomic(dir .. "/chat.json", assert(json.encode(summary)) .. "\n"))
end

local function complain(text)
  io.stderr:write("chat_loop: ", text, "\n")
end

-- Runs shielded: a signal is seen by the waits and by the request in flight, nowhere else.
local function run(settings, dir)
  assert(core.fs.mkdirs(dir))
  local ready_wait_s, problem = await_ready(settings)
  local counts = new_counts()
  if ready_wait_s then
    local failure
    counts, failure = loop(settings, dir .. "/requests.jsonl")
    problem = failure and "a request failed: " .. failure
  end
  write_summary(dir, settings, ready_wait_s, counts)
  if problem then
    complain(problem)
    return EXIT_FAILED
  end
  return 0
end

--- The hook.
---@param args string[]
---@return integer exit_status
function M.main(args)
  if args[1] == "--help" then
    io.stdout:write(options.help(M.OPTIONS, {
      usage = "chat_loop.lua --base-url URL | --base-url-file FILE [options]",
      summary = "streams chat completions, one after the other, until SIGTERM",
    }))
    return 0
  end
  local settings, err = M.parse(args)
  local output = os.getenv "PAIR_PERF_OUTPUT"
  if not settings or not output then
    complain(err and errors.text(err) or "PAIR_PERF_OUTPUT is not set")
    return EXIT_USAGE
  end
  return waiting.undisturbed(run, settings, output .. "/hook")
end

return M
