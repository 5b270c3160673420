/* SPDX-License-Identifier: Apache-2.0 */
/* The answers are compiled in: they say what was built, not what lies in the directory now. This is
 * the only file that includes the generated header, so a new commit recompiles nothing else. */
#include "pairperf/build_id.h"

#include "pp_build_id.h"

#if PP_BUILD_DIRTY
#define DIRTY_SUFFIX ".dirty"
#else
#define DIRTY_SUFFIX ""
#endif

const char *pp_build_version(void) {
    return PP_BUILD_VERSION;
}

const char *pp_build_commit(void) {
    return PP_BUILD_COMMIT;
}

bool pp_build_dirty(void) {
    return PP_BUILD_DIRTY;
}

const char *pp_build_id(void) {
    return PP_BUILD_VERSION "+" PP_BUILD_COMMIT DIRTY_SUFFIX;
}
