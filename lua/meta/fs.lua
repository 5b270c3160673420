---@meta pairperf.core.fs
-- SPDX-License-Identifier: Apache-2.0

--- Files as evidence needs them: every write, sync and close is checked. What is written or made is
--- never reached through a link, in any component (sys, ELOOP): resolve first with realpath. Error
--- codes everywhere: exists, denied, sys (with errno), and what a function adds.
---@class pairperf.core.fs
local fs = {}

---@class pairperf.FileInfo
---@field type "file"|"directory"|"symlink"|"fifo"|"socket"|"block"|"char"|"unknown"
---@field mode integer permissions, 0 to 4095
---@field size integer
---@field uid integer
---@field gid integer
---@field ino integer|string decimal digits above 2^63-1
---@field dev integer|string
---@field mtime_ns integer since the epoch

--- Makes one directory, mode 0700; whatever is already there is an error.
---@param path string
---@return true? ok
---@return pairperf.Error? err
function fs.mkdir_exclusive(path) end

--- Makes a directory and its missing parents, each 0700.
---@param path string
---@return true? ok
---@return pairperf.Error? err
function fs.mkdirs(path) end

--- The file holds exactly these bytes afterwards, mode 0600, or is what it was before.
---@param path string
---@param bytes string
---@return true? ok
---@return pairperf.Error? err
function fs.write_atomic(path, bytes) end

--- Appends to a regular file, made 0600 when missing; never through a symlink. A write that fails
--- half-way is taken back.
---@param path string
---@param bytes string
---@param sync? boolean also fsync
---@return true? ok
---@return pairperf.Error? err codes: invalid (not a regular file)
function fs.append(path, bytes, sync) end

--- The whole content of a regular file, links followed.
---@param path string
---@param max_bytes? integer default 1 GiB
---@return string? bytes
---@return pairperf.Error? err codes: invalid (not a regular file), nomem (more than max_bytes)
---@nodiscard
function fs.read(path, max_bytes) end

--- What the path itself is.
---@param path string
---@return pairperf.FileInfo? info
---@return pairperf.Error? err
---@nodiscard
function fs.lstat(path) end

--- What the path leads to.
---@param path string
---@return pairperf.FileInfo? info
---@return pairperf.Error? err
---@nodiscard
function fs.stat(path) end

--- Names in a directory, sorted by their bytes.
---@param path string
---@return string[]? names
---@return pairperf.Error? err
---@nodiscard
function fs.list(path) end

--- Absolute path without links.
---@param path string
---@return string? resolved
---@return pairperf.Error? err
---@nodiscard
function fs.realpath(path) end

--- Target of a symlink.
---@param path string
---@return string? target
---@return pairperf.Error? err
---@nodiscard
function fs.readlink(path) end

--- Bytes that this user may still write there.
---@param path string
---@return integer? bytes
---@return pairperf.Error? err
---@nodiscard
function fs.free_bytes(path) end

--- The working directory.
---@return string? path
---@return pairperf.Error? err
---@nodiscard
function fs.getcwd() end

--- Sets the permissions of what the path leads to.
---@param path string
---@param mode integer 0 to 4095
---@return true? ok
---@return pairperf.Error? err
function fs.chmod(path, mode) end

--- May the effective user execute this regular file?
---@param path string
---@return true? ok
---@return pairperf.Error? err codes: denied, invalid (not a regular file)
---@nodiscard
function fs.access_exec(path) end

return fs
