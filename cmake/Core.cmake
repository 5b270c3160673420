# SPDX-License-Identifier: Apache-2.0
# libpairperf and the supervisor: C only, no Lua.

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
    set(PP_OS_DIR darwin)
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(PP_OS_DIR linux)
else()
    message(FATAL_ERROR "pairperf runs on Linux and macOS, not on ${CMAKE_SYSTEM_NAME}")
endif()

set(PP_BUILD_ID_DIR "${CMAKE_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${PP_BUILD_ID_DIR}")
add_custom_target(pp_build_id
    COMMAND "${CMAKE_COMMAND}" -DSOURCE_DIR=${CMAKE_SOURCE_DIR}
        -DOUTPUT=${PP_BUILD_ID_DIR}/pp_build_id.h -DVERSION=${PROJECT_VERSION}
        -P "${CMAKE_SOURCE_DIR}/cmake/BuildId.cmake"
    BYPRODUCTS "${PP_BUILD_ID_DIR}/pp_build_id.h"
    COMMENT "Checking which commit this is"
    VERBATIM)

file(GLOB PP_CORE_SOURCES CONFIGURE_DEPENDS
    core/src/*.c core/os/*.c core/os/${PP_OS_DIR}/*.c)
add_library(pairperf STATIC ${PP_CORE_SOURCES})
add_dependencies(pairperf pp_build_id)
target_include_directories(pairperf
    PUBLIC "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/core/include>"
    PRIVATE core/os core/src "${PP_BUILD_ID_DIR}")
target_compile_definitions(pairperf
    PRIVATE PP_SUPERVISOR_DIR="${CMAKE_INSTALL_FULL_LIBEXECDIR}/pairperf")
target_link_libraries(pairperf PRIVATE pp_flags PUBLIC OpenSSL::Crypto Threads::Threads m)

# For what is part of the project but not of the library: its unpublished headers.
add_library(pp_core_private INTERFACE)
target_include_directories(pp_core_private INTERFACE core/os core/src)
target_link_libraries(pp_core_private INTERFACE pp_flags pairperf)

# The supervisor's loop stands apart from its main(), so that tests run it on other hosts.
file(GLOB PP_LOOP_SOURCES CONFIGURE_DEPENDS core/supervisor/*.c)
list(FILTER PP_LOOP_SOURCES EXCLUDE REGEX "/main\\.c$")
add_library(pp_loop STATIC ${PP_LOOP_SOURCES})
target_include_directories(pp_loop PUBLIC core/supervisor)
target_link_libraries(pp_loop PUBLIC pp_core_private)

add_executable(pairperf-supervisor core/supervisor/main.c)
target_link_libraries(pairperf-supervisor PRIVATE pp_loop)
set_target_properties(pairperf-supervisor PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
install(TARGETS pairperf-supervisor DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/pairperf")

file(RELATIVE_PATH PP_PC_PREFIX
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" PP_PC_PREFIX "${PP_PC_PREFIX}")
configure_file(core/pairperf.pc.in pairperf.pc @ONLY)
install(TARGETS pairperf ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY core/include/pairperf DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")
install(FILES "${CMAKE_BINARY_DIR}/pairperf.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
