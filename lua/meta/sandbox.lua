---@meta pairperf.core.sandbox
-- SPDX-License-Identifier: Apache-2.0

--- A home of its own for one run, and the environment that points into it. Redirection only: no
--- OS-enforced file-system or network sandbox.
---@class pairperf.core.sandbox
local sandbox = {}

---@class pairperf.Artifact
---@field path string the executable: absolute; a link in its last component stays
---@field kind "app"|"directory"|"file"
---@field name string of the executable
---@field version? string CFBundleShortVersionString
---@field identifier? string CFBundleIdentifier
---@field manifest? string path of Contents/Resources/cli-bin/manifest.json

--- The executable of an .app bundle, of an unpacked directory (`executable` named, relative), or
--- a single executable file. Refused are archives and executables outside of the artifact;
--- unsupported is a binary Info.plist.
---@param artifact string
---@param options? { executable: string? }
---@return pairperf.Artifact? found
---@return pairperf.Error? err codes: refused, unsupported, malformed, denied, invalid, sys
---@nodiscard
function sandbox.executable(artifact, options) end

---@class pairperf.SandboxOptions
---@field home string to be made
---@field template? string copied into it first
---@field link_dotdirs? string[] names like ".omlx"
---@field real_home? string where these lead

--- Makes the home, mode 0700, with its directories.
---@param options pairperf.SandboxOptions
---@return true? ok
---@return pairperf.Template|pairperf.Error? copied what the template was, with one; or err, codes:
---  exists, invalid, refused, and those of template.copy
function sandbox.prepare(options) end

---@class pairperf.EnvironmentOptions
---@field home string absolute
---@field pass? string[] names taken from the harness's environment, where set
---@field set? table<string, string> beats pass
---@field extra? table<string, string> of the harness itself; beats set

--- Built from nothing: the home's variables, PATH, and of the harness's own DISPLAY, LANG, LC_*,
--- LOGNAME, TZ and USER.
---@param options pairperf.EnvironmentOptions
---@return { env: string[], names: string[] }? environment "K=V" and names, both sorted by name
---@return pairperf.Error? err codes: refused (a name that the sandbox owns), invalid
---@nodiscard
function sandbox.environment(options) end

--- Bytes left for a socket's name in TMPDIR (negative: none), and the limit of a whole path.
---@param home string
---@return integer room
---@return integer limit
---@nodiscard
function sandbox.socket_room(home) end

return sandbox
