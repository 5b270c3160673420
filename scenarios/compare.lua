-- SPDX-License-Identifier: Apache-2.0
-- Compares the variants of finished sessions again: pairperf-lua compare DIR... [options]
return pairperf.finished("compare", ...)
