-- SPDX-License-Identifier: Apache-2.0
-- Completes the report of a session whose harness died: pairperf-lua recover DIR
return pairperf.finished("recover", ...)
