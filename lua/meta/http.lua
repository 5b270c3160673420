---@meta pairperf.core.http
-- SPDX-License-Identifier: Apache-2.0

--- HTTP requests, one at a time: http and https only, no proxy, no redirect, a new connection each.
--- A signal that asks to stop (core.cancel) ends every one of them. Errors carry no URL.
--- Codes: cancelled, timeout, closed (the peer went away too early), sys (not connected, with
--- errno), invalid (the URL), protocol, nomem.
---@class pairperf.core.http
local http = {}

---@class pairperf.HttpRequest
---@field url string
---@field headers string[]? lines "Name: value"
---@field body string? makes it a POST; no NUL inside
---@field timeout_s number? for the whole request; default 15
---@field connect_timeout_s number? default: timeout_s
---@field on_data (fun(bytes: string, t_ns: integer): boolean?)? each piece of the
--- body as it comes, with the time on the clock of core.clock.now; false ends the request; an error
--- is raised again by stream()

---@class pairperf.HttpAnswer
---@field status integer
---@field content_type string?
---@field total_s number
---@field bytes integer of the body, so far as it was read
---@field aborted boolean on_data ended it

--- Sends a request and hands on its body.
---@param request pairperf.HttpRequest
---@return pairperf.HttpAnswer? answer
---@return pairperf.Error? err
---@nodiscard
function http.stream(request) end

--- The status that a GET is answered with; the body is not read.
---@param url string
---@param options {timeout_s: number?}?
---@return integer? status
---@return pairperf.Error? err
---@nodiscard
function http.status(url, options) end

--- Opens a TCP connection and closes it.
---@param host string
---@param port integer
---@param options {timeout_s: number?}?
---@return true? ok
---@return pairperf.Error? err
---@nodiscard
function http.connect(host, port, options) end

return http
