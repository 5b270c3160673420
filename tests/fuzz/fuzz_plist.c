/* SPDX-License-Identifier: Apache-2.0 */
/* The Info.plist of somebody's application. */
#include "fuzz.h"
#include "plist.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    pp__plist_want wants[] = { { .key = "CFBundleExecutable" }, { .key = "a" } };
    char *text = exact_copy(bytes, size);
    if (text != NULL)
        (void)pp__plist_read(text, size, wants, 2, NULL);
    free(wants[0].value);
    free(wants[1].value);
    free(text);
    return 0;
}
