# SPDX-License-Identifier: Apache-2.0
"""Compares the figures of statistics.lua with scipy's, case by case: peer_scipy.py FILE

FILE holds a JSON object per line: two samples, and what our statistics say of them. p without ties
comes from scipy's exact test, with ties from all relabellings of the midranks, above 60 values from
its tie-corrected normal; the interval from the definition, over the null that scipy's exact test
gives for samples without ties.
"""
import json
import sys

import numpy as np
from scipy import stats


def p_values(b, c):
    if len(b) + len(c) > 60:
        how = {"method": "asymptotic", "use_continuity": True}
        return [stats.mannwhitneyu(c, b, alternative=way, **how).pvalue for way in ("less", "greater")]
    if len(set(b + c)) == len(b) + len(c):
        return [
            stats.mannwhitneyu(c, b, alternative=way, method="exact").pvalue for way in ("less", "greater")
        ]
    ranks = stats.rankdata(b + c)

    def rank_sum(first, _second, axis):
        return np.sum(first, axis=axis)

    data = (ranks[len(b):], ranks[: len(b)])
    return [
        stats.permutation_test(
            data, rank_sum, vectorized=True, n_resamples=np.inf, alternative=way
        ).pvalue
        for way in ("less", "greater")
    ]


def tie_free_p(n, m, u):
    """P(U <= u) of samples without ties, from samples that have this U."""
    c = list(range(m))  # the lowest m, each then lifted over as many of the others as it takes
    b = list(range(m, m + n))
    left = u
    for i in reversed(range(m)):
        lifted = min(n, left)
        c[i] = b[lifted - 1] + (i + 1) / (m + 2) if lifted else i
        left -= lifted
    return stats.mannwhitneyu(c, b, alternative="less", method="exact").pvalue


def interval_k(n, m, tail):
    if n + m > 60:
        spread = -stats.norm.ppf(tail) * np.sqrt(n * m * (n + m + 1) / 12)
        return int(np.floor(n * m / 2 - 0.5 - spread))
    k = -1
    while tie_free_p(n, m, k + 1) <= tail + 1e-12:
        k += 1
    return k if k >= 0 else None


def hinges(values):
    values, half = sorted(values), len(values) // 2
    return np.median(values[-half:]) - np.median(values[:half])


def expected(case):
    b, c = case["b"], case["c"]
    less, greater = p_values(b, c)
    differences = sorted(y - x for x in b for y in c)
    k = interval_k(len(b), len(c), case["tail"])
    return {
        "p_less": less,
        "p_greater": greater,
        "p_two_sided": min(1, 2 * min(less, greater)),
        "u": stats.mannwhitneyu(c, b).statistic,
        "shift": np.median(differences),
        "k": k,
        "lo": None if k is None else differences[k],
        "hi": None if k is None else differences[-k - 1],
        "median": np.median(b),
        "iqr": hinges(b),
        "z": -stats.norm.ppf(case["tail"]),
    }


def agrees(one, other):
    if one is None or other is None:
        return one is None and other is None
    return abs(one - other) <= 1e-9 * max(1, abs(one))


def main():
    same, count = 0, 0
    for line in open(sys.argv[1], encoding="utf-8"):
        case, count = json.loads(line), count + 1
        wrong = [
            f"{name} {case['ours'].get(name)} here {value}"
            for name, value in expected(case).items()
            if not agrees(value, case["ours"].get(name))
        ]
        same += not wrong
        if wrong:
            print(f"differs: {case['b']} {case['c']}: {'; '.join(wrong)}", file=sys.stderr)
    word = "ok  " if same == count > 0 else "MISS"
    print(f"{word} random inputs alike in our statistics and in scipy: ours {same} of {count}, bar all")
    sys.exit(same != count or count == 0)


main()
