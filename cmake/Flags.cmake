# SPDX-License-Identifier: Apache-2.0
# One interface target, pp_flags, carries the language level, warnings and hardening of every target;
# pp_plain_flags is the same without sanitizers, for applications that merely are watched.

option(PAIRPERF_WERROR "Treat compiler warnings as errors" ON)
option(PAIRPERF_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
option(PAIRPERF_FUZZ "Build the fuzz targets instead of the tests (clang)" OFF)

add_library(pp_plain_flags INTERFACE)
target_compile_features(pp_plain_flags INTERFACE c_std_11)
target_compile_definitions(pp_plain_flags INTERFACE _GNU_SOURCE $<$<PLATFORM_ID:Darwin>:_DARWIN_C_SOURCE>)
target_compile_options(pp_plain_flags INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
    $<$<BOOL:${PAIRPERF_WERROR}>:-Werror>
    # Cutting a long text at a buffer's end is what snprintf is used for.
    $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
    -fno-strict-aliasing -fno-omit-frame-pointer)

add_library(pp_flags INTERFACE)
target_link_libraries(pp_flags INTERFACE pp_plain_flags)
if(PAIRPERF_FUZZ)
    target_compile_options(pp_flags INTERFACE
        -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -O1)
    target_link_options(pp_flags INTERFACE -fsanitize=address,undefined)
elseif(PAIRPERF_SANITIZE)
    target_compile_options(pp_flags INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_link_options(pp_flags INTERFACE -fsanitize=address,undefined)
else()
    target_compile_options(pp_flags INTERFACE
        $<$<CONFIG:Release>:-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
    if(NOT APPLE)
        target_compile_options(pp_flags INTERFACE $<$<CONFIG:Release>:-fstack-clash-protection>)
        target_link_options(pp_flags INTERFACE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now>)
    endif()
endif()

# Measurements are made with optimized code that a debugger and a profiler can still read.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g" CACHE STRING "Flags of release builds" FORCE)
set(CMAKE_C_FLAGS_DEBUG "-O0 -g" CACHE STRING "Flags of debug builds" FORCE)
