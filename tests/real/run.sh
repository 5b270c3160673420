#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles two real applications with build/release/pairperf-lua and checks the evidence:
# an inference server (node-llama-cpp, tiny model) and Chromium under Xvfb.
set -eu
cd "$(dirname "$0")/../.."
echo "tests/real: not written yet" >&2
exit 1
