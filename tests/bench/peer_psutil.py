# SPDX-License-Identifier: Apache-2.0
"""The usual way with psutil: scan the tree below PID, every INTERVAL seconds, at most LIMIT times.

Prints one line of key=value: CPU of the tree as last seen per process (psutil_s), as integrated
percentages, the way psrecord does it (psrecord_s), its last sum of RSS, and the own cost.
"""
import sys
import time

import psutil


def sample(process, known, last_seen):
    percent, rss = 0.0, 0
    for found in [process, *process.children(recursive=True)]:
        one = known.setdefault(found, found)
        try:
            with one.oneshot():
                times = one.cpu_times()
                last_seen[one] = times.user + times.system
                percent += one.cpu_percent()
                rss += one.memory_info().rss
                one.num_ctx_switches()
                one.io_counters()
        except psutil.Error:
            continue
    return percent, rss


def main():
    pid, interval, limit = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    root = psutil.Process(pid)
    known = {}  # psutil measures a percentage between two calls on one object
    last_seen, integral, samples, cpu, rss = {}, 0.0, 0, 0.0, 0
    before = time.monotonic()
    while samples < limit and root.is_running() and root.status() != psutil.STATUS_ZOMBIE:
        began = time.process_time()
        try:
            percent, rss = sample(root, known, last_seen)
        except psutil.NoSuchProcess:
            break
        cpu += time.process_time() - began
        now = time.monotonic()
        integral += percent / 100 * (now - before)
        before = now
        samples += 1
        time.sleep(interval)
    print(
        f"samples={samples} psutil_s={sum(last_seen.values()):.3f} psrecord_s={integral:.3f}"
        f" tree_rss_bytes={rss} cpu_ns={cpu * 1e9 / max(samples, 1):.0f} rss_bytes={psutil.Process().memory_info().rss}"
    )


main()
