-- SPDX-License-Identifier: Apache-2.0
--- Scenarios whose windows or repetitions are short of the defaults: their figures show that the
--- set-up works, and their words are only indicative. Each scenario is judged by its own numbers.
local M = {}

local WORDS = {
  warmup = "warm-up under 60 s",
  duration = "window under 120 s",
  repetitions = "fewer than 5 repetitions",
}

--- What a scenario is short of: "window under 120 s, fewer than 5 repetitions".
---@param reasons string[]
---@return string
function M.words(reasons)
  local words = {}
  for i, reason in ipairs(reasons) do
    words[i] = WORDS[reason] or reason
  end
  return table.concat(words, ", ")
end

--- The same as a sentence of the scenario's own section.
function M.sentence(reasons)
  local text = "Diagnostic only (%s): these figures support no conclusion about the builds."
  return text:format(M.words(reasons))
end

--- What the scenarios of a session are short of: one entry without a name when it is the same for
--- all of them, else one for each that is short of something.
---@param scenarios {name: string, diagnostic_reasons: string[]}[]
---@return {scenario: string?, reasons: string[]}[]
function M.shortfalls(scenarios)
  local list, first, alike = {}, table.concat(scenarios[1].diagnostic_reasons, " "), true
  for _, one in ipairs(scenarios) do
    local reasons = one.diagnostic_reasons
    alike = alike and table.concat(reasons, " ") == first
    list[#list + 1] = #reasons > 0 and { scenario = one.name, reasons = reasons } or nil
  end
  return alike and #list > 0 and { { reasons = list[1].reasons } } or list
end

return M
