-- SPDX-License-Identifier: Apache-2.0
--- Canonical JSON, the one form of evidence: see lua/meta/json.lua.
return require("pairperf.core").json
