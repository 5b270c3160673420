# SPDX-License-Identifier: Apache-2.0
# What lets one call below an output directory fail (tests/faults.sh): loaded before libc.

if(PP_OS_DIR STREQUAL "linux" AND NOT PAIRPERF_SANITIZE)
    add_library(pp_fault_preload MODULE tests/faults/fault_preload.c)
    target_link_libraries(pp_fault_preload PRIVATE pp_flags ${CMAKE_DL_LIBS})
    set_target_properties(pp_fault_preload PROPERTIES
        PREFIX "" OUTPUT_NAME fault_preload
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/faults")
endif()
