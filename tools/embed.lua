-- SPDX-License-Identifier: Apache-2.0
-- Writes the C file that carries the Lua sources inside pairperf-lua (bindings/embedded.h).
--
--   lua5.4 tools/embed.lua OUTPUT (FILE | NAME=FILE)...
--
-- lua/pairperf/x/y.lua is named as require names it, pairperf.x.y (init.lua: its folder); any other
-- FILE keeps its path; NAME=FILE says it itself. Each also carries the name for tracebacks, which
-- for our own files is the path in the source tree.

local function module_name(path)
  local stem = path:match("^lua/(.+)%.lua$")
  if not stem then
    return path
  end
  return (stem:gsub("/init$", ""):gsub("/", "."))
end

local function parse_argument(argument)
  local name, path = argument:match("^([^=]+)=(.+)$")
  if name then
    return { name = name, path = path, chunk = "@" .. path:match("[^/]+$") }
  end
  return { name = module_name(argument), path = argument, chunk = "@" .. argument }
end

local function read_file(path)
  local file <close> = assert(io.open(path, "rb"))
  return assert(file:read("a"))
end

local function escape(char)
  return ("\\%03o"):format(char:byte())
end

-- Text as C string literals, one a line; compilers take these far faster than lists of numbers.
local function literal(bytes)
  local lines = {}
  for line in bytes:gmatch("[^\n]*\n?") do
    lines[#lines + 1] = '    "' .. line:gsub("[^ !#->@-%[%]-~]", escape) .. '"\n'
  end
  return table.concat(lines)
end

local output = assert(arg[1], "usage: embed.lua OUTPUT (FILE | NAME=FILE)...")
local entries = {}
for i = 2, #arg do
  entries[#entries + 1] = parse_argument(arg[i])
end
table.sort(entries, function(a, b)
  return a.name < b.name
end)

local out <close> = assert(io.open(output, "wb"))
local function emit(...)
  assert(out:write(...))
end

emit("/* SPDX-License-Identifier: Apache-2.0 */\n/* Written by tools/embed.lua. */\n")
emit('#include "embedded.h"\n\n')
for i, entry in ipairs(entries) do
  emit(("static const char file_%d[] =\n"):format(i), literal(read_file(entry.path)), ";\n\n")
end
emit("const pp_embedded_file pp_embedded_files[] = {\n")
for i, entry in ipairs(entries) do
  emit(('    { "%s", "%s", file_%d, sizeof file_%d - 1 },\n'):format(entry.name, entry.chunk, i, i))
end
emit(
  "};\nconst size_t pp_embedded_count = sizeof pp_embedded_files / sizeof pp_embedded_files[0];\n"
)
