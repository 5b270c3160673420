/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_ARTIFACT_H
#define PAIRPERF_ARTIFACT_H

#include "pairperf/status.h"

/* What is to be profiled, and the executable that is started directly (BOX-1, CLI-6).
 *
 *   app        a bundle: <app>/Contents/MacOS/<CFBundleExecutable, default PAIR>, or `executable`
 *   directory  an unpacked application with `executable` named
 *   file       one executable file
 *
 * All strings are malloc'd. */
typedef struct pp_artifact {
    char *path;       /* of the executable: absolute; a link in its last component stays */
    const char *kind; /* static: "app", "directory" or "file" */
    char *name;       /* of the executable */
    char *version;    /* app: CFBundleShortVersionString, or NULL */
    char *identifier; /* app: CFBundleIdentifier, or NULL */
    char *manifest;   /* Contents/Resources/cli-bin/manifest.json of an app, or NULL */
} pp_artifact;

/* artifact    path of the bundle, directory or file
 * executable  path of the executable relative to a bundle or directory, or NULL
 *
 * ret_artifact  pp_artifact_done() frees it
 *
 * Errors  PP_E_REFUSED      an archive (dmg, zip, AppImage, deb); `executable` leads out of the
 *                           artifact, or is missing for a directory, or given for a file
 *         PP_E_UNSUPPORTED  a binary Info.plist
 *         PP_E_MALFORMED    an Info.plist that is no property list, or names no plain file
 *         PP_E_DENIED       not executable; PP_E_INVALID  not a regular file
 *         and those of fs.h
 */
pp_status pp_artifact_find(const char *artifact, const char *executable, pp_artifact *ret_artifact,
                           pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_artifact_done(pp_artifact *artifact);

#endif
