/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pairperf/argv.h"

static void expect(const char *text, size_t count, const char *const words[]) {
    pp_argv argv;
    pp_error err = { 0 };
    if (pp_argv_split(text, &argv, &err) != PP_OK)
        fail_msg("%s: %s", text, err.detail);
    if (argv.count != count)
        fail_msg("%s: %zu words, wanted %zu", text, argv.count, count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(argv.words[i], words[i]) != 0)
            fail_msg("%s: word %zu is [%s], wanted [%s]", text, i, argv.words[i], words[i]);
    assert_null(argv.words[count]);
    pp_argv_done(&argv);
    pp_argv_done(&argv);
}

#define EXPECT(text, ...)                                                                          \
    do {                                                                                           \
        static const char *const words_[] = { __VA_ARGS__ };                                       \
        expect(text, sizeof words_ / sizeof *words_, words_);                                      \
    } while (0)

static void blanks_separate_and_quotes_join(void **state) {
    (void)state;
    EXPECT("/bin/sh -c 'echo a  b' x", "/bin/sh", "-c", "echo a  b", "x");
    EXPECT(" \t\n a\tb\nc ", "a", "b", "c");
    EXPECT("a'b'\"c\"d", "abcd");
    EXPECT("'' \"\" x''", "", "", "x");
    EXPECT("a", "a");
}

static void nothing_is_no_word(void **state) {
    (void)state;
    expect("", 0, NULL);
    expect(" \t\n", 0, NULL);
    expect("\\\n", 0, NULL);
}

static void backslashes_escape_as_in_a_shell(void **state) {
    (void)state;
    EXPECT("a\\ b \\'c\\' \\\\", "a b", "'c'", "\\");
    EXPECT("\"a\\\"b\\\\c\\$d\\`e\\n\"", "a\"b\\c$d`e\\n");
    EXPECT("'a\\b'", "a\\b");
    EXPECT("a\\\nb \"c\\\nd\"", "ab", "cd");
    EXPECT("a \\\n b", "a", "b");
}

/* proves: HOOK-1 */
static void nothing_is_expanded(void **state) {
    (void)state;
    EXPECT("$HOME ${X} `id` $(id) * ~ ~root # no | a > b & ; {a,b}", "$HOME", "${X}", "`id`",
           "$(id)", "*", "~", "~root", "#", "no", "|", "a", ">", "b", "&", ";", "{a,b}");
    EXPECT("\"$HOME\" '$HOME'", "$HOME", "$HOME");
    EXPECT("\xff\xfe \xc3\xa9", "\xff\xfe", "\xc3\xa9");
}

/* proves: HOOK-1 */
static void an_open_quote_is_refused_with_its_position(void **state) {
    (void)state;
    static const struct {
        const char *text, *detail;
    } cases[] = {
        { "a 'b", "the quote ' at position 3 is not closed" },
        { "\"", "the quote \" at position 1 is not closed" },
        { "a \"b 'c'", "the quote \" at position 3 is not closed" },
        { "\"a\\\"", "the quote \" at position 1 is not closed" },
        { "it's", "the quote ' at position 3 is not closed" },
        { "a\\", "a backslash at the end" },
        { "\"a\\", "the quote \" at position 1 is not closed" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pp_argv argv = { .count = 77 };
        pp_error err = { 0 };
        assert_int_equal(pp_argv_split(cases[i].text, &argv, &err), PP_E_INVALID);
        assert_string_equal(err.detail, cases[i].detail);
        assert_int_equal(argv.count, 77);
    }
}

static void the_most_words_a_text_can_hold_fit(void **state) {
    (void)state;
    enum { WORDS = 5000 };
    char *text = malloc((size_t)2 * WORDS);
    for (size_t i = 0; i < WORDS; i++)
        memcpy(text + 2 * i, "x ", 2);
    text[2 * WORDS - 1] = '\0';
    pp_argv argv;
    assert_int_equal(pp_argv_split(text, &argv, NULL), PP_OK);
    assert_int_equal(argv.count, WORDS);
    assert_string_equal(argv.words[WORDS - 1], "x");
    pp_argv_done(&argv);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate_and_quotes_join),
        cmocka_unit_test(nothing_is_no_word),
        cmocka_unit_test(backslashes_escape_as_in_a_shell),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(an_open_quote_is_refused_with_its_position),
        cmocka_unit_test(the_most_words_a_text_can_hold_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
