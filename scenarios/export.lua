-- SPDX-License-Identifier: Apache-2.0
-- Writes a finished session for other programs: pairperf-lua export FORMAT DIR [--to FILE]
return pairperf.finished("export", ...)
