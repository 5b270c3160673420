/* SPDX-License-Identifier: Apache-2.0 */
#include "darwin_fixture.h"

dk kernel;
pp_darwin darwin;
pp_os os;
pp_error err;

int boot(void **state) {
    (void)state;
    dk_init(&kernel);
    dk_open(&kernel, &darwin, &os);
    err = (pp_error){ 0 };
    return 0;
}

int halt(void **state) {
    (void)state;
    pp__darwin_done(&darwin);
    return 0;
}
