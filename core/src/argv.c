/* SPDX-License-Identifier: Apache-2.0 */
/* No word is longer than the text and no text has more words than (bytes + 1) / 2, so one block
 * holds all: first the pointers, then the text. `out` never passes what was read. */
#include "pairperf/argv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct splitter {
    const char *text; /* all of it */
    const char *at;   /* next byte to read */
    char *out;        /* where the next byte of a word goes */
} splitter;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

static pp_status not_closed(const char *quote, const splitter *in, pp_error *reterr) {
    return pp_fail(reterr, PP_E_INVALID, 0, "split", "the quote %c at position %zu is not closed",
                   *quote, (size_t)(quote - in->text) + 1);
}

static pp_status take_single(splitter *in, pp_error *reterr) {
    const char *quote = in->at++;
    while (*in->at && *in->at != '\'')
        *in->out++ = *in->at++;
    if (!*in->at)
        return not_closed(quote, in, reterr);
    in->at++;
    return PP_OK;
}

static pp_status take_double(splitter *in, pp_error *reterr) {
    const char *quote = in->at++;
    while (*in->at && *in->at != '"') {
        if (in->at[0] == '\\' && in->at[1] == '\n') {
            in->at += 2;
            continue;
        }
        if (in->at[0] == '\\' && in->at[1] && strchr("\"\\$`", in->at[1]))
            in->at++;
        *in->out++ = *in->at++;
    }
    if (!*in->at)
        return not_closed(quote, in, reterr);
    in->at++;
    return PP_OK;
}

static pp_status take_escaped(splitter *in, pp_error *reterr) {
    in->at++;
    if (!*in->at)
        return pp_fail(reterr, PP_E_INVALID, 0, "split", "a backslash at the end");
    if (*in->at != '\n')
        *in->out++ = *in->at;
    in->at++;
    return PP_OK;
}

static pp_status take_word(splitter *in, pp_error *reterr) {
    pp_status status = PP_OK;
    while (status == PP_OK && *in->at && !is_blank(*in->at)) {
        if (*in->at == '\'')
            status = take_single(in, reterr);
        else if (*in->at == '"')
            status = take_double(in, reterr);
        else if (*in->at == '\\')
            status = take_escaped(in, reterr);
        else
            *in->out++ = *in->at++;
    }
    return status;
}

/* Blanks and escaped newlines between words; the latter would else look like an empty word. */
static void skip_blanks(splitter *in) {
    while (is_blank(*in->at) || (in->at[0] == '\\' && in->at[1] == '\n'))
        in->at += *in->at == '\\' ? 2 : 1;
}

static pp_status split(splitter *in, pp_argv *argv, pp_error *reterr) {
    for (skip_blanks(in); *in->at; skip_blanks(in)) {
        argv->words[argv->count++] = in->out;
        pp_status status = take_word(in, reterr);
        if (status != PP_OK)
            return status;
        *in->out++ = '\0';
    }
    argv->words[argv->count] = NULL;
    return PP_OK;
}

pp_status pp_argv_split(const char *text, pp_argv *ret_argv, pp_error *reterr) {
    size_t size = strlen(text);
    size_t pointers = ((size + 1) / 2 + 1) * sizeof(char *);
    pp_argv argv = { .words = malloc(pointers + size + 1) };
    if (!argv.words)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "split");
    splitter in = { .text = text, .at = text, .out = (char *)argv.words + pointers };
    pp_status status = split(&in, &argv, reterr);
    if (status == PP_OK)
        *ret_argv = argv;
    else
        pp_argv_done(&argv);
    return status;
}

void pp_argv_done(pp_argv *argv) {
    if (!argv)
        return;
    free(argv->words);
    *argv = (pp_argv){ 0 };
}
