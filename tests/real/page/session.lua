-- SPDX-License-Identifier: Apache-2.0
-- Makes a long session's directory in which a process and the scenario's summary are markup:
--   pairperf-lua --lua-path tests/lua --lua-path tests/bench tests/real/page/session.lua DIR NAME
local long_session = require "long_session"

local dir, name = ...
long_session.write(dir, name)
