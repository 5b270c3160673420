/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pid_map.h"

enum { MANY = 20000 };

static void what_was_put_is_found_and_nothing_else(void **state) {
    (void)state;
    pp_pid_map map = { 0 };
    assert_int_equal(pp_pid_map_at(&map, 1), -1);
    pp_pid_map_remove(&map, 1);
    for (int32_t pid = 1; pid <= MANY; pid++)
        assert_true(pp_pid_map_put(&map, pid * 3, (size_t)pid));
    assert_true(pp_pid_map_put(&map, 3, 77));
    assert_int_equal(map.count, MANY);
    assert_int_equal(pp_pid_map_at(&map, 3), 77);
    for (int32_t pid = 2; pid <= MANY; pid++) {
        assert_int_equal(pp_pid_map_at(&map, pid * 3), pid);
        assert_false(pp_pid_map_has(&map, pid * 3 + 1));
    }
    assert_int_equal(pp_pid_map_at(&map, 0), -1);
    assert_int_equal(pp_pid_map_at(&map, -3), -1);
    pp_pid_map_done(&map);
    assert_int_equal(map.count, 0);
}

/* Whatever stood behind a removed number because of it is still found. */
static void removal_loses_nobody_else(void **state) {
    (void)state;
    pp_pid_map map = { 0 };
    unsigned char in[1024] = { 0 };
    uint32_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525 + 1013904223;
        int32_t pid = (int32_t)(random >> 16) % 1023 + 1;
        in[pid] = random >> 30 > 1;
        if (in[pid])
            assert_true(pp_pid_map_put(&map, pid, (size_t)pid));
        else
            pp_pid_map_remove(&map, pid);
        int32_t other = (int32_t)(random >> 8) % 1023 + 1;
        assert_int_equal(pp_pid_map_at(&map, other), in[other] ? other : -1);
    }
    pp_pid_map_done(&map);
}

static void replacing_needs_no_memory(void **state) {
    (void)state;
    pp_pid_map map = { 0 };
    assert_true(pp_pid_map_put(&map, 1, 0));
    size_t most = map.capacity / 4 * 3;
    for (size_t i = 2; i <= most; i++)
        assert_true(pp_pid_map_put(&map, (int32_t)i, i));
    size_t capacity = map.capacity;
    assert_true(pp_pid_map_put(&map, 7, 70));
    assert_int_equal(map.capacity, capacity);
    assert_int_equal(map.count, most);
    assert_int_equal(pp_pid_map_at(&map, 7), 70);
    assert_true(pp_pid_map_put(&map, (int32_t)most + 1, 0));
    assert_true(map.capacity > capacity);
    pp_pid_map_done(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_and_nothing_else),
        cmocka_unit_test(removal_loses_nobody_else),
        cmocka_unit_test(replacing_needs_no_memory),
    };
    return cmocka_run_group_tests_name("pid_map", tests, NULL, NULL);
}
