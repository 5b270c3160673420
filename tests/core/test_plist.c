/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plist.h"

#define HEAD                                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                 \
    "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "                                      \
    "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"                                        \
    "<plist version=\"1.0\">\n"
#define TAIL "\n</plist>\n"

/* Value of key "want"; the caller frees it. */
static char *value_of(const char *text) {
    pp__plist_want want = { .key = "want" };
    pp_error err = { 0 };
    if (pp__plist_read(text, strlen(text), &want, 1, &err) != PP_OK)
        fail_msg("%s\n%s", text, err.detail);
    return want.value;
}

static void expect(const char *body, const char *wanted) {
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s" TAIL, body);
    char *value = value_of(text);
    if (!wanted)
        assert_null(value);
    else
        assert_string_equal(value ? value : "(null)", wanted);
    free(value);
}

static void expect_malformed(const char *text) {
    pp__plist_want want = { .key = "want" };
    pp_error err = { 0 };
    pp_status status = pp__plist_read(text, strlen(text), &want, 1, &err);
    free(want.value);
    if (status != PP_E_MALFORMED)
        fail_msg("accepted: %s", text);
    assert_non_null(strstr(err.detail, "line "));
}

/* proves: BOX-1 */
static void strings_of_the_top_dictionary_are_found(void **state) {
    (void)state;
    expect("<dict><key>want</key><string>PAIR</string></dict>", "PAIR");
    expect("<dict>\n <key>a</key>\n <true/>\n <!-- x --> <key>want</key> <string>P</string></dict>",
           "P");
    expect("<dict><key>other</key><string>x</string></dict>", NULL);
    expect("<dict/>", NULL);
    expect("<dict><key>want</key><string/></dict>", "");
}

static void inner_keys_are_not_those_of_the_top(void **state) {
    (void)state;
    expect("<dict><key>a</key><dict><key>want</key><string>inner</string></dict>"
           "<key>want</key><string>outer</string></dict>",
           "outer");
    expect("<dict><key>a</key><array><dict><key>want</key><string>inner</string></dict>"
           "<integer>1</integer><date>2026</date><data>AA==</data><real>1.5</real><false/>"
           "<true></true><array/></array></dict>",
           NULL);
}

static void characters_are_decoded(void **state) {
    (void)state;
    expect("<dict><key>want</key><string>&amp;&lt;&gt;&quot;&apos;</string></dict>", "&<>\"'");
    expect("<dict><key>want</key><string>&#65;&#x41;&#xE9;&#x20AC;&#x1F600;</string></dict>",
           "AA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    expect("<dict><key>w&#97;nt</key><string><![CDATA[<&>]]>!</string></dict>", "<&>!");
    expect("<dict><key>want</key><string> kept \n</string></dict>", " kept \n");
}

static void a_mark_and_no_declaration_are_fine(void **state) {
    (void)state;
    char *value =
        value_of("\xef\xbb\xbf<plist><dict><key>want</key><string>x</string></dict></plist>");
    assert_string_equal(value, "x");
    free(value);
}

/* proves: BOX-1 */
static void a_binary_list_is_refused_with_the_reason(void **state) {
    (void)state;
    pp__plist_want want = { .key = "want" };
    pp_error err = { 0 };
    assert_int_equal(pp__plist_read("bplist00\x00", 9, &want, 1, &err), PP_E_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "binary property list"));
}

static void anything_else_is_malformed(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "no list",
        "<plist",
        "<plist>",
        "<plist></plist>",
        "<plist><string>x</string></plist>",
        "<plist><dict></plist>",
        "<plist><dict></dict>",
        "<plist><dict></dict></plist>x",
        "<plist><dict></dict></plist><plist></plist>",
        "<plist><dict><key>want</key></dict></plist>",
        "<plist><dict><string>x</string></dict></plist>",
        "<plist><dict><key>want</key><integer>1</integer></dict></plist>",
        "<plist><dict><key>want</key><dict></dict></dict></plist>",
        "<plist><dict><key>want</key><true/></dict></plist>",
        ("<plist><dict><key>want</key><string>a</string><key>want</key><string>b</string></dict>"
         "</plist>"),
        "<plist><dict><key>want</key><string>a</key></dict></plist>",
        "<plist><dict><key>want</key><string>a<b/></string></dict></plist>",
        "<plist><dict><key>want</key><string>&nbsp;</string></dict></plist>",
        "<plist><dict><key>want</key><string>&#0;</string></dict></plist>",
        "<plist><dict><key>want</key><string>&#xD800;</string></dict></plist>",
        "<plist><dict><key>want</key><string>&#x110000;</string></dict></plist>",
        "<plist><dict><key>want</key><string>&#99999999999999999999999;</string></dict></plist>",
        "<plist><dict><key>want</key><string>&#;</string></dict></plist>",
        "<plist><dict><key>want</key><string>\xff</string></dict></plist>",
        "<plist><dict><key>want</key><string><![CDATA[x</string></dict></plist>",
        "<plist><dict><key>a</key><thing>x</thing></dict></plist>",
        "<plist><dict a=\"b\"></dict></plist>",
        "<plist><dict><!-- open </dict></plist>",
        "<!DOCTYPE plist [<!ENTITY x \"y\">]><plist><dict></dict></plist>",
        "<dict></dict>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_malformed(texts[i]);
}

static void every_cut_of_a_good_list_is_malformed(void **state) {
    (void)state;
    static const char text[] =
        HEAD "<dict><key>a</key><array><string>&amp;</string><true/></array>"
             "<key>want</key><string><![CDATA[x]]></string></dict>\n</plist>";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        char *cut = malloc(size + 1); /* exact, so that a sanitizer sees a step too far */
        memcpy(cut, text, size);
        pp__plist_want want = { .key = "want" };
        pp_status status = pp__plist_read(cut, size, &want, 1, NULL);
        free(want.value);
        free(cut);
        if (status != PP_E_MALFORMED)
            fail_msg("cut at %zu", size);
    }
}

static void depth_is_bounded_and_lines_are_counted(void **state) {
    (void)state;
    static const char head[] = "<plist>\n<dict>\n<key>a</key>\n", array[] = "<array>";
    char text[8192];
    size_t size = sizeof head - 1;
    memcpy(text, head, size);
    for (int i = 0; i < 200; i++, size += sizeof array - 1)
        memcpy(text + size, array, sizeof array - 1);
    pp_error err = { 0 };
    pp__plist_want want = { .key = "want" };
    assert_int_equal(pp__plist_read(text, size, &want, 1, &err), PP_E_MALFORMED);
    assert_string_equal(err.detail, "line 4: nested too deep");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_of_the_top_dictionary_are_found),
        cmocka_unit_test(inner_keys_are_not_those_of_the_top),
        cmocka_unit_test(characters_are_decoded),
        cmocka_unit_test(a_mark_and_no_declaration_are_fine),
        cmocka_unit_test(a_binary_list_is_refused_with_the_reason),
        cmocka_unit_test(anything_else_is_malformed),
        cmocka_unit_test(every_cut_of_a_good_list_is_malformed),
        cmocka_unit_test(depth_is_bounded_and_lines_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
