-- SPDX-License-Identifier: Apache-2.0
--- The two sides of a comparison: which program, with which arguments and environment, and what
--- differs between them beside the artifact.
local core = require "pairperf.core"
local errors = require "pairperf.error"
local manifest_changes = require "pairperf.manifest_changes"

local M = {}

M.NAMES = { "baseline", "candidate" }

local ARCHIVES = { "%.dmg$", "%.zip$", "%.AppImage$", "%.deb$", "%.pkg$", "%.tar%.%w+$", "%.tgz$" }

local function is_archive(path)
  for _, pattern in ipairs(ARCHIVES) do
    if path:find(pattern) then
      return true
    end
  end
  return false
end

local function missing(name)
  return errors.fail(
    "refused",
    "option '--" .. name .. "'",
    "is missing: name an .app bundle, an unpacked directory with --executable, "
      .. "or one executable file"
  )
end

-- The default artifacts of macOS (CLI-6).
local function default_artifact(name, system)
  if system ~= "Darwin" then
    return nil
  elseif name == "baseline" then
    return "/Applications/PAIR.app"
  end
  local text = core.fs.read("desktop/package.json", 1 << 20)
  local package = text and core.json.decode(text)
  return package
    and package.version
    and ("desktop/release/%s/mac/mac-arm64/PAIR.app"):format(package.version)
end

local function pairs_of(list)
  local set = {}
  for _, pair in ipairs(list or {}) do
    local name, value = pair:match("^([^=]+)=(.*)$")
    set[name] = value
  end
  return set
end

M.pairs_of = pairs_of

local function joined(first, second)
  local list = table.move(first or {}, 1, #(first or {}), 1, {})
  return table.move(second or {}, 1, #(second or {}), #list + 1, list)
end

local function absolute(path)
  return path:sub(1, 1) == "/" and path or core.fs.getcwd() .. "/" .. path
end

M.absolute = absolute

--- The absolute path of a directory that is to be made, its parents without links: nothing below it
--- is ever written through one.
---@param path string
---@return string
function M.output(path)
  path = absolute(path)
  local parent, name = path:match "^(.*)/([^/]+)/*$"
  local real = name and core.fs.realpath(parent ~= "" and parent or "/")
  return real and (real == "/" and "" or real) .. "/" .. name or path
end

--- One side, resolved from the options; nothing is hashed yet.
---@param name "baseline"|"candidate"
---@param values table option values
---@param system string
---@return table? variant
---@return pairperf.Error? err code refused
function M.resolve(name, values, system)
  local artifact = values[name] or default_artifact(name, system)
  if not artifact then
    return missing(name)
  elseif is_archive(artifact) then
    return errors.fail(
      "refused",
      "option '--" .. name .. "'",
      ("'%s' is an archive; unpack it (--%s-archive records where it came from)"):format(
        artifact,
        name
      )
    )
  end
  local relative = values[name .. "-executable"] or values.executable
  local found, err = core.sandbox.executable(absolute(artifact), { executable = relative })
  if not found then
    return errors.fail("refused", "option '--" .. name .. "'", errors.reason(err))
  end
  local ok, failure = core.fs.access_exec(found.path)
  if not ok then
    return errors.fail(
      "refused",
      "option '--" .. name .. "'",
      ("'%s' is not executable: %s"):format(found.path, failure.errno or failure.code)
    )
  end
  return {
    name = name,
    artifact = absolute(artifact),
    kind = found.kind,
    path = found.path,
    version = found.version,
    identifier = found.identifier,
    manifest = found.manifest,
    args = joined(values["app-arg"], values[name .. "-arg"]),
    env_set = pairs_of(joined(values.env, values[name .. "-env"])),
    env_pass = values["pass-env"] or {},
    archive = values[name .. "-archive"],
  }
end

local function digest_of(path, what)
  local sha256, err = core.digest.file(path)
  if not sha256 then
    return errors.fail("refused", what, tostring(err))
  end
  return sha256
end

-- The manifest of a directory or file; what `watch` answers ends the hashing.
local function manifest_of(path, watch)
  local ok, bundle, err = pcall(core.manifest.build, path, {
    progress = watch and function(progress)
      local ended = watch(progress)
      if ended then
        error(ended, 0)
      end
    end,
  })
  if ok then
    return bundle, err
  elseif errors.is(bundle) then
    return nil, bundle
  end
  error(bundle, 0)
end

-- Archives can be as large as bundles: hashed as those, so that they can be watched.
local function archive_digest(variant, watch)
  local bundle, err = manifest_of(variant.archive, watch)
  if not bundle then
    return nil, err
  end
  return core.json.decode(bundle.json).entries[1].sha256
end

--- Hashes a variant: executable, whole bundle, its cli manifest and the archive it came from.
---@param variant table
---@param watch (fun(progress: pairperf.ManifestProgress): pairperf.Error?)? asked about ten times a
---second; an answer ends the hashing
---@return true? ok
---@return pairperf.Error? err
function M.identify(variant, watch)
  local err
  variant.executable_sha256, err = digest_of(variant.path, variant.name)
  if err then
    return nil, err
  end
  local bundle, failure = manifest_of(variant.artifact, watch)
  if not bundle then
    return nil, failure
  end
  variant.bundle = bundle
  if variant.manifest then
    variant.cli_manifest_sha256, err = digest_of(variant.manifest, variant.name)
  end
  if variant.archive and not err then
    variant.archive_sha256, err = archive_digest(variant, watch)
  end
  return not err or nil, err
end

--- Whether the artifact on disk is still the one that was identified, and what differs.
---@param variant table
---@param watch (fun(progress: pairperf.ManifestProgress): pairperf.Error?)? as for identify()
---@return table state as session.json keeps it
function M.revisit(variant, watch)
  local now, err = manifest_of(variant.artifact, watch)
  local changes, count = core.json.array {}, 0
  if not now then
    changes, count = core.json.array { "cannot be read: " .. errors.reason(err) }, 1
  elseif now.sha256 ~= variant.bundle.sha256 then
    changes, count = manifest_changes.between(variant.bundle.json, now.json)
  end
  return {
    unchanged = now ~= nil and now.sha256 == variant.bundle.sha256,
    bundle_manifest_sha256 = now and now.sha256 or core.json.null,
    changes = changes,
    change_count = count,
  }
end

local function names_of(variant)
  local environment = core.sandbox.environment {
    home = "/",
    set = variant.env_set,
    pass = variant.env_pass,
    extra = {},
  }
  return environment and environment.names or {}
end

--- A variant as plan.json keeps it.
function M.record(variant)
  local bundle = variant.bundle or {}
  return {
    artifact = variant.artifact,
    kind = variant.kind,
    executable = variant.path,
    executable_sha256 = variant.executable_sha256,
    args = core.json.array(variant.args),
    env_set = variant.env_set,
    env_names = core.json.array(names_of(variant)),
    bundle_manifest_sha256 = bundle.sha256,
    version = variant.version or core.json.null,
    identifier = variant.identifier or core.json.null,
    cli_manifest_sha256 = variant.cli_manifest_sha256 or core.json.null,
    archive = variant.archive and { path = variant.archive, sha256 = variant.archive_sha256 }
      or core.json.null,
  }
end

local function listed(list)
  return #list > 0 and table.concat(list, " ") or "none"
end

-- The environment of `set` that `other` does not have.
local function environment_beside(set, other)
  local parts = {}
  for name, value in pairs(set) do
    if other[name] ~= value then
      parts[#parts + 1] = name .. "=" .. value
    end
  end
  table.sort(parts)
  return listed(parts)
end

local function shared_count(left, right)
  local count = 0
  while left[count + 1] ~= nil and left[count + 1] == right[count + 1] do
    count = count + 1
  end
  return count
end

local function rest_of(list, from)
  return listed(table.move(list, from, #list, 1, {}))
end

local function difference(what, left, right)
  return ("%s: baseline %s, candidate %s"):format(what, left, right)
end

local function argument_difference(left, right)
  local shared = shared_count(left, right)
  if shared == #left and shared == #right then
    return nil
  end
  local what = shared == 0 and "arguments" or ("arguments, after the first %d"):format(shared)
  return difference(what, rest_of(left, shared + 1), rest_of(right, shared + 1))
end

local function environment_difference(left, right)
  local only_left, only_right = environment_beside(left, right), environment_beside(right, left)
  return only_left ~= only_right and difference("environment", only_left, only_right) or nil
end

--- Every difference between the variants beside the artifact, as sentences; what both have is left
--- out.
---@return string[]
function M.differences(baseline, candidate)
  local lines = {}
  lines[#lines + 1] = argument_difference(baseline.args, candidate.args)
  lines[#lines + 1] = environment_difference(baseline.env_set, candidate.env_set)
  if baseline.kind ~= candidate.kind then
    lines[#lines + 1] = difference("kind of artifact", baseline.kind, candidate.kind)
  end
  return lines
end

--- An A/A control: the same content, arguments and environment on both sides.
---@return boolean
function M.is_null_control(baseline, candidate)
  return baseline.bundle.sha256 == candidate.bundle.sha256
    and baseline.executable_sha256 == candidate.executable_sha256
    and #M.differences(baseline, candidate) == 0
end

return M
