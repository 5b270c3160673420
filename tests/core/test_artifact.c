/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/artifact.h"
#include "scratch.h"

#define PLIST(body) "<plist version=\"1.0\"><dict>" body "</dict></plist>"

/* A bundle with this Info.plist (NULL: none) and this executable. */
static const char *make_app(const char *name, const char *plist, const char *executable) {
    char path[256];
    scratch_mkdir(name, 0755);
    static const char *const directories[] = { "Contents", "Contents/MacOS", "Contents/Resources",
                                               "Contents/Resources/cli-bin" };
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", name, directories[i]);
        scratch_mkdir(path, 0755);
    }
    if (plist) {
        snprintf(path, sizeof path, "%s/Contents/Info.plist", name);
        scratch_file(path, plist, 0644);
    }
    snprintf(path, sizeof path, "%s/Contents/MacOS/%s", name, executable);
    scratch_file(path, "#!/bin/sh\n", 0755);
    return scratch_path("%s", name);
}

static void expect_refusal(const char *path, const char *executable, pp_status wanted,
                           const char *part) {
    pp_artifact artifact = { .kind = "untouched" };
    pp_error err = { 0 };
    pp_status status = pp_artifact_find(path, executable, &artifact, &err);
    if (status != wanted || !strstr(err.detail, part))
        fail_msg("%s: status %d, %s", path, (int)status, err.detail);
    assert_string_equal(artifact.kind, "untouched");
}

/* proves: BOX-1 */
static void a_bundle_names_its_executable(void **state) {
    (void)state;
    const char *app = make_app("Named.app",
                               PLIST("<key>CFBundleExecutable</key><string>Runner</string>"
                                     "<key>CFBundleShortVersionString</key><string>1.2.3</string>"
                                     "<key>CFBundleIdentifier</key><string>org.example</string>"),
                               "Runner");
    scratch_file("Named.app/Contents/Resources/cli-bin/manifest.json", "{}", 0644);
    pp_artifact artifact;
    assert_int_equal(pp_artifact_find(app, NULL, &artifact, NULL), PP_OK);
    assert_string_equal(artifact.path, scratch_path("Named.app/Contents/MacOS/Runner"));
    assert_string_equal(artifact.kind, "app");
    assert_string_equal(artifact.name, "Runner");
    assert_string_equal(artifact.version, "1.2.3");
    assert_string_equal(artifact.identifier, "org.example");
    assert_string_equal(artifact.manifest,
                        scratch_path("Named.app/Contents/Resources/cli-bin/manifest.json"));
    pp_artifact_done(&artifact);
    pp_artifact_done(&artifact);
}

/* proves: BOX-1 */
static void the_default_executable_is_pair(void **state) {
    (void)state;
    pp_artifact artifact;
    const char *apps[] = { make_app("Plain.app", PLIST(""), "PAIR"),
                           make_app("Bare.app", NULL, "PAIR") };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pp_artifact_find(apps[i], NULL, &artifact, NULL), PP_OK);
        assert_string_equal(artifact.name, "PAIR");
        assert_null(artifact.version);
        assert_null(artifact.identifier);
        assert_null(artifact.manifest);
        pp_artifact_done(&artifact);
    }
}

static void another_executable_of_a_bundle_can_be_named(void **state) {
    (void)state;
    make_app("Other.app", PLIST(""), "PAIR");
    scratch_file("Other.app/Contents/MacOS/helper", "", 0755);
    pp_artifact artifact;
    assert_int_equal(
        pp_artifact_find(scratch_path("Other.app"), "Contents/MacOS/helper", &artifact, NULL),
        PP_OK);
    assert_string_equal(artifact.name, "helper");
    pp_artifact_done(&artifact);
}

/* proves: BOX-1 */
static void bad_property_lists_are_refused_by_path(void **state) {
    (void)state;
    const char *app = make_app("Binary.app", "bplist00", "PAIR");
    expect_refusal(app, NULL, PP_E_UNSUPPORTED, "Binary.app/Contents/Info.plist: a binary");
    app = make_app("Broken.app", "<plist>", "PAIR");
    expect_refusal(app, NULL, PP_E_MALFORMED, "Broken.app/Contents/Info.plist: line 1");
    app = make_app("Escape.app", PLIST("<key>CFBundleExecutable</key><string>../../x</string>"),
                   "PAIR");
    expect_refusal(app, NULL, PP_E_MALFORMED, "no file name");
}

/* proves: CLI-6 */
static void a_directory_needs_its_executable_named(void **state) {
    (void)state;
    const char *directory = scratch_mkdir("unpacked", 0755);
    scratch_mkdir("unpacked/bin", 0755);
    scratch_file("unpacked/bin/pair", "", 0755);
    scratch_file("unpacked/readme", "", 0644);
    expect_refusal(directory, NULL, PP_E_REFUSED, "needs its executable named");
    expect_refusal(directory, "/bin/sh", PP_E_REFUSED, "relative");
    expect_refusal(directory, "", PP_E_REFUSED, "relative");
    expect_refusal(directory, "readme", PP_E_DENIED, "readme");
    expect_refusal(directory, "bin", PP_E_INVALID, "not a regular file");
    expect_refusal(directory, "none", PP_E_SYS, "none");
    pp_artifact artifact;
    assert_int_equal(pp_artifact_find(directory, "bin/pair", &artifact, NULL), PP_OK);
    assert_string_equal(artifact.path, scratch_path("unpacked/bin/pair"));
    assert_string_equal(artifact.kind, "directory");
    pp_artifact_done(&artifact);
}

static void an_executable_outside_of_the_directory_is_refused(void **state) {
    (void)state;
    const char *directory = scratch_path("unpacked");
    assert_int_equal(symlink("/bin/sh", scratch_path("unpacked/outside")), 0);
    assert_int_equal(symlink("bin/pair", scratch_path("unpacked/inside")), 0);
    scratch_mkdir("unpacked-twin", 0755);
    scratch_file("unpacked-twin/x", "", 0755);
    expect_refusal(directory, "outside", PP_E_REFUSED, "leads out of");
    expect_refusal(directory, "../unpacked-twin/x", PP_E_REFUSED, "leads out of");
    pp_artifact artifact;
    assert_int_equal(pp_artifact_find(directory, "inside", &artifact, NULL), PP_OK);
    pp_artifact_done(&artifact);
}

/* proves: CLI-6 */
static void one_file_is_made_absolute_but_keeps_its_own_name(void **state) {
    (void)state;
    assert_int_equal(chdir(scratch_dir()), 0);
    scratch_file("tool", "", 0755);
    assert_int_equal(symlink("tool", "alias"), 0);
    pp_artifact artifact;
    static const char *const given[] = { "alias", "./alias", "unpacked/../alias" };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pp_artifact_find(given[i], NULL, &artifact, NULL), PP_OK);
        assert_string_equal(artifact.path, scratch_path("alias"));
        assert_string_equal(artifact.kind, "file");
        pp_artifact_done(&artifact);
    }
    expect_refusal("tool", "x", PP_E_REFUSED, "this is a file");
    scratch_file("text", "", 0644);
    expect_refusal("text", NULL, PP_E_DENIED, "text");
    expect_refusal("nothing", NULL, PP_E_SYS, "nothing");
}

/* proves: CLI-6 */
static void archives_are_refused_with_what_to_do(void **state) {
    (void)state;
    expect_refusal(scratch_file("PAIR.dmg", "", 0755), NULL, PP_E_REFUSED, "mount it");
    expect_refusal(scratch_file("PAIR.ZIP", "", 0755), NULL, PP_E_REFUSED, "unpack it");
    expect_refusal(scratch_file("P.AppImage", "", 0755), NULL, PP_E_REFUSED, "--appimage-extract");
    expect_refusal(scratch_file("pair.deb", "", 0755), NULL, PP_E_REFUSED, "dpkg-deb");
    expect_refusal(scratch_file("zipped", "PK\x03\x04...", 0755), NULL, PP_E_REFUSED, "zip");
    expect_refusal(scratch_file("packed", "!<arch>\n", 0755), NULL, PP_E_REFUSED, "package");
    expect_refusal(scratch_file("image",
                                "\x7f"
                                "ELFxxxxAI\x02",
                                0755),
                   NULL, PP_E_REFUSED, "AppImage");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bundle_names_its_executable),
        cmocka_unit_test(the_default_executable_is_pair),
        cmocka_unit_test(another_executable_of_a_bundle_can_be_named),
        cmocka_unit_test(bad_property_lists_are_refused_by_path),
        cmocka_unit_test(a_directory_needs_its_executable_named),
        cmocka_unit_test(an_executable_outside_of_the_directory_is_refused),
        cmocka_unit_test(one_file_is_made_absolute_but_keeps_its_own_name),
        cmocka_unit_test(archives_are_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
