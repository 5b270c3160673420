/* SPDX-License-Identifier: Apache-2.0 */
/* splitmix64: small, and equal on every machine. */
#include "sim.h"

uint64_t sim_hash(uint64_t a, uint64_t b) {
    uint64_t z = a + 0x9e3779b97f4a7c15U * (b + 1);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

uint64_t sim_next(sim_rng *rng) {
    rng->state += 0x9e3779b97f4a7c15U;
    return sim_hash(rng->state, 0);
}

uint64_t sim_below(sim_rng *rng, uint64_t limit) {
    return limit ? sim_next(rng) % limit : 0;
}

bool sim_chance(sim_rng *rng, unsigned permille) {
    return permille > 0 && sim_below(rng, 1000) < permille;
}

int64_t sim_between(sim_rng *rng, int64_t low, int64_t high) {
    return high > low ? low + (int64_t)sim_below(rng, (uint64_t)(high - low) + 1) : low;
}

int64_t sim_delay(sim_rng *rng, int64_t low, int64_t high) {
    int64_t top = low > 0 ? low : 1;

    while (top < high && sim_chance(rng, 800))
        top *= 2;
    return sim_between(rng, low, top < high ? top : high);
}
