-- SPDX-License-Identifier: Apache-2.0
--- A scripted HTTP server (tests/stubs/sse_server.c) beside a test.
local core = require "pairperf.core"
local waiting = require "pairperf.waiting"

local M = {}

M.JSON = [[HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n]]
M.STREAM = [[HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n]]
M.MODELS = "GET\nsend " .. M.JSON .. [[Content-Length: 2\r\n\r\n{}]] .. "\n"

--- A directory of its own, with a trailing slash left out.
function M.directory()
  local path = os.tmpname()
  os.remove(path)
  assert(core.fs.mkdir_exclusive(path))
  return path
end

--- Polls until `check` answers something.
function M.await(what, check)
  local answer, err = waiting.wait(10, check, { every_s = 0.01 })
  return answer or error(("%s: %s"):format(what, err), 2)
end

--- A check for await(): the first whole line of a file.
function M.first_line(path)
  return function()
    local text = core.fs.read(path, 4096)
    return text and text:match "^(.-)\n"
  end
end

--- Runs a shell command in the background; its process id.
function M.spawn(dir, command)
  local file = ("%s/pid.%d"):format(dir, math.random(1 << 30))
  os.execute(("%s </dev/null & echo $! >%s"):format(command, file))
  return M.await("process id", M.first_line(file))
end

--- Starts a server in `dir`.
---@return {url: string, stop: fun()}
function M.start(dir, script)
  assert(core.fs.append(dir .. "/script", script))
  local program = os.getenv "PP_TEST_BUILD_DIR" .. "/tests/stubs/sse_server"
  local words = ("exec %s %s/endpoint.url %s/script"):format(program, dir, dir)
  local pid = M.spawn(dir, words)
  return {
    url = M.await("the stub server's URL", M.first_line(dir .. "/endpoint.url")),
    stop = function()
      os.execute("kill " .. pid)
    end,
  }
end

--- A POST section that streams `events`, one write each.
function M.stream(events, step)
  local lines = { "POST", "send " .. M.STREAM }
  for _, event in ipairs(events) do
    lines[#lines + 1] = (step or "send") .. " " .. event
  end
  return table.concat(lines, "\n") .. "\n"
end

--- A content chunk.
function M.content(text)
  return ([[data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n]]):format(text)
end

M.ROLE = [[data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}\n\n]]
M.FINISH = [[data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n]]
M.DONE = [[data: [DONE]\n\n]]

function M.usage(tokens)
  return ([[data: {"choices":[],"usage":{"completion_tokens":%d}}\n\n]]):format(tokens)
end

return M
