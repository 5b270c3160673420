-- SPDX-License-Identifier: Apache-2.0
-- Lists metrics, their units and margins: pairperf-lua metrics
return pairperf.finished("metrics", ...)
