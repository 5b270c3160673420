-- SPDX-License-Identifier: Apache-2.0
std = "lua54"
max_line_length = 100
exclude_files = { "build", "third_party/npm/node_modules" }
files["tests/lua"] = { std = "lua54+busted" }
files["scenarios"] = { std = "lua54", read_globals = { "pairperf" } }
files["tests/faults"] = { std = "lua54", read_globals = { "pairperf" } }
files["lua/meta"] = { unused = false } -- declarations without bodies
