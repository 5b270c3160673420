/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os.h"

static void a_pid_list_keeps_every_pid_in_order(void **state) {
    (void)state;
    pp_pid_list list = { 0 };
    for (int32_t pid = 1; pid <= 1000; pid++)
        assert_int_equal(pp_pid_list_add(&list, pid), PP_OK);
    assert_int_equal(list.count, 1000);
    for (int32_t pid = 1; pid <= 1000; pid++)
        assert_int_equal(list.pids[pid - 1], pid);
    pp_pid_list_done(&list);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.capacity, 0);
    assert_null(list.pids);
}

static void emptying_twice_or_nothing_is_harmless(void **state) {
    (void)state;
    pp_pid_list list = { 0 };
    assert_int_equal(pp_pid_list_add(&list, 5), PP_OK);
    pp_pid_list_done(&list);
    pp_pid_list_done(&list);
    pp_pid_list_done(NULL);
}

static void a_list_beyond_the_address_space_is_no_memory_and_stays_as_it_was(void **state) {
    (void)state;
    int32_t pids[1] = { 7 };
    pp_pid_list list = { .pids = pids, .count = SIZE_MAX / 4, .capacity = SIZE_MAX / 4 };
    assert_int_equal(pp_pid_list_add(&list, 8), PP_E_NOMEM);
    assert_ptr_equal(list.pids, pids);
    assert_int_equal(list.count, SIZE_MAX / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pid_list_keeps_every_pid_in_order),
        cmocka_unit_test(emptying_twice_or_nothing_is_harmless),
        cmocka_unit_test(a_list_beyond_the_address_space_is_no_memory_and_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
