/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a command line; each, quoted and split again, is itself. */
#include "fuzz.h"
#include "pairperf/argv.h"

static size_t quote(const char *word, char *to) {
    size_t at = 0;
    to[at++] = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(to + at, "'\\''", 4);
            at += 4;
        } else {
            to[at++] = *word;
        }
    }
    to[at++] = '\'';
    to[at++] = ' ';
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = as_string(bytes, size);
    pp_argv argv, again;
    if (pp_argv_split(text, &argv, NULL) == PP_OK) {
        char *quoted = malloc(5 * strlen(text) + 4 * argv.count + 1);
        MUST(quoted != NULL);
        size_t at = 0;
        for (size_t i = 0; i < argv.count; i++)
            at += quote(argv.words[i], quoted + at);
        quoted[at] = '\0';
        MUST(argv.words[argv.count] == NULL);
        MUST(pp_argv_split(quoted, &again, NULL) == PP_OK);
        MUST(again.count == argv.count);
        for (size_t i = 0; i < argv.count; i++)
            MUST(strcmp(again.words[i], argv.words[i]) == 0);
        pp_argv_done(&again);
        pp_argv_done(&argv);
        free(quoted);
    }
    free(text);
    return 0;
}
