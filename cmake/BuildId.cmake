# SPDX-License-Identifier: Apache-2.0
# Script: writes pp_build_id.h, touching it only when its content changes.
#   cmake -DSOURCE_DIR=... -DOUTPUT=... -DVERSION=... -P cmake/BuildId.cmake
# "Dirty" looks only at what goes into the binaries. Outside a git work tree the commit is unknown,
# and what is not provably clean counts as dirty.

set(commit "unknown")
set(dirty 1)
set(inputs core bindings lua scenarios cmake tools CMakeLists.txt)

find_program(GIT_PROGRAM git)
if(GIT_PROGRAM AND EXISTS "${SOURCE_DIR}/.git")
    set(git "${GIT_PROGRAM}" -c "safe.directory=${SOURCE_DIR}" --no-optional-locks -C "${SOURCE_DIR}")
    execute_process(COMMAND ${git} rev-parse --verify HEAD
        OUTPUT_VARIABLE head RESULT_VARIABLE head_result
        ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${git} status --porcelain -- ${inputs}
        OUTPUT_VARIABLE changes RESULT_VARIABLE changes_result ERROR_QUIET)
    if(head_result EQUAL 0)
        set(commit "${head}")
        if(changes_result EQUAL 0 AND changes STREQUAL "")
            set(dirty 0)
        endif()
    endif()
endif()

set(text "/* SPDX-License-Identifier: Apache-2.0 */
/* Written by cmake/BuildId.cmake. */
#define PP_BUILD_VERSION \"${VERSION}\"
#define PP_BUILD_COMMIT \"${commit}\"
#define PP_BUILD_DIRTY ${dirty}
")
set(old "")
if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
    file(WRITE "${OUTPUT}" "${text}")
endif()
