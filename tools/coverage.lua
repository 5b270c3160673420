-- SPDX-License-Identifier: Apache-2.0
-- Writes docs/requirements-coverage.md: requirement -> tests that prove it -> status.
--
--   lua5.4 tools/coverage.lua [--check]      --check: only say whether the file is up to date
--
-- The ids come from docs/requirements-ids.txt, the tests from marks in tests/, in a comment at or
-- just above a test: `proves: GRP-7, BOX-3`. A test that is built here but can run only on a Mac
-- says `proves on macOS: ID`.

local IDS = "docs/requirements-ids.txt"
local OUTPUT = "docs/requirements-coverage.md"
local NEAR_LINES = 4 -- how far below its mark a test may start

local WORKS, COMPILES, MISSING = "works", "compiles, not run here", "missing"

local function read_file(path)
  local file <close> = assert(io.open(path, "rb"))
  return assert(file:read("a"))
end

local function read_ids()
  local ids, known = {}, {}
  for line in read_file(IDS):gmatch("[^\n]+") do
    local id, title = line:match("^([A-Z]+%-%d+)\t(.+)$")
    if id then
      assert(not known[id], IDS .. ": twice: " .. id)
      known[id] = { id = id, title = title, tests = {}, seen = {}, status = MISSING }
      ids[#ids + 1] = known[id]
    end
  end
  return ids, known
end

local function list_test_files()
  local pipe <close> = assert(io.popen("find tests -type f | LC_ALL=C sort"))
  local files = {}
  for path in pipe:lines() do
    files[#files + 1] = path
  end
  return files
end

-- The name of the test that starts on this line, in C (cmocka), Lua (busted) or shell TAP.
local function test_name(line)
  return line:match("^static void ([%w_]+)%(void %*%*")
    or line:match('^%s*it%(%s*"(.-)"%s*,')
    or line:match('^%s*describe%(%s*"(.-)"%s*,')
    or line:match("^([%w_]+)%(%) {$")
end

local function split_lines(text)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n?") do
    lines[#lines + 1] = line
  end
  return lines
end

local function name_near(lines, at)
  for i = at, math.min(at + NEAR_LINES, #lines) do
    local name = test_name(lines[i])
    if name then
      return name
    end
  end
end

local function add_proof(requirement, test, status)
  if not requirement.seen[test] then
    requirement.seen[test] = true
    table.insert(requirement.tests, test)
  end
  if requirement.status ~= WORKS then
    requirement.status = status
  end
end

local function scan_file(path, known, problems)
  local lines = split_lines(read_file(path))
  for at, line in ipairs(lines) do
    local where, marked = line:match("%f[%w]proves( ?[%w ]*): (.*)$")
    if marked and (where == "" or where == " on macOS") then
      local name = name_near(lines, at)
      local test = name and ("`%s` %s"):format(path, name) or ("`%s`"):format(path)
      for id in marked:gmatch("%f[%w][A-Z]+%-%d+%f[%W]") do
        if known[id] then
          add_proof(known[id], test, where == "" and WORKS or COMPILES)
        else
          problems[#problems + 1] = ("%s:%d: no such requirement: %s"):format(path, at, id)
        end
      end
    end
  end
end

local function render(ids)
  local counts = { [WORKS] = 0, [COMPILES] = 0, [MISSING] = 0 }
  local rows = {}
  for _, requirement in ipairs(ids) do
    counts[requirement.status] = counts[requirement.status] + 1
    rows[#rows + 1] = ("| %s | %s | %s | %s |"):format(
      requirement.id,
      requirement.title:gsub("|", "\\|"),
      (table.concat(requirement.tests, "<br>"):gsub("|", "\\|")),
      requirement.status
    )
  end
  return table.concat({
    "# Requirements and the tests that prove them",
    "",
    "Written by `tools/coverage.lua`; do not edit. `works`: a test proves it and runs here.",
    "`compiles, not run here`: only tests that need a Mac. `missing`: no test names it.",
    "",
    ("%d requirements: %d works, %d compiles, not run here, %d missing."):format(
      #ids,
      counts[WORKS],
      counts[COMPILES],
      counts[MISSING]
    ),
    "",
    "| id | requirement | tests | status |",
    "| --- | --- | --- | --- |",
    table.concat(rows, "\n"),
    "",
  }, "\n")
end

local function exists_with(path, text)
  local file <close> = io.open(path, "rb")
  return file ~= nil and file:read("a") == text
end

local function main(check_only)
  local ids, known = read_ids()
  local problems = {}
  for _, path in ipairs(list_test_files()) do
    scan_file(path, known, problems)
  end
  local text = render(ids)
  if not check_only then
    local file <close> = assert(io.open(OUTPUT, "wb"))
    assert(file:write(text))
  elseif not exists_with(OUTPUT, text) then
    problems[#problems + 1] = OUTPUT .. " is out of date; run: lua5.4 tools/coverage.lua"
  end
  for _, problem in ipairs(problems) do
    io.stderr:write(problem, "\n")
  end
  return #problems == 0
end

os.exit(main(arg[1] == "--check"))
