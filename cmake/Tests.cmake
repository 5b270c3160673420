# SPDX-License-Identifier: Apache-2.0
# C tests: each tests/<folder>/test_*.c is one executable and one ctest (live: three).

include(FindPkgConfig)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB PP_SUPPORT_SOURCES CONFIGURE_DEPENDS tests/support/*.c)
add_library(pp_test_support INTERFACE)
if(PP_SUPPORT_SOURCES)
    add_library(pp_test_support_objects STATIC ${PP_SUPPORT_SOURCES})
    target_include_directories(pp_test_support_objects PUBLIC tests/support)
    target_link_libraries(pp_test_support_objects PUBLIC pp_core_private PkgConfig::CMOCKA)
    target_link_libraries(pp_test_support INTERFACE pp_test_support_objects)
endif()
target_link_libraries(pp_test_support INTERFACE pp_loop PkgConfig::CMOCKA)
target_compile_definitions(pp_test_support INTERFACE
    CMOCKA_NO_DEPRECATION_WARNINGS # cmocka 2 deprecates what 1.1.5 only has
    PP_TEST_SUPERVISOR="${CMAKE_BINARY_DIR}/pairperf-supervisor"
    PP_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}"
    PP_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    # macOS has the times of POSIX in struct stat, under other names.
    $<$<PLATFORM_ID:Darwin>:st_mtim=st_mtimespec> $<$<PLATFORM_ID:Darwin>:st_ctim=st_ctimespec>)

# What the other system's adapter does without that system is tested here, too, over scripted calls.
if(PP_OS_DIR STREQUAL "linux")
    file(GLOB PP_OTHER_OS_SOURCES CONFIGURE_DEPENDS core/os/darwin/*.c)
    list(FILTER PP_OTHER_OS_SOURCES EXCLUDE REGEX "/(.*_real|platform)\\.c$")
else()
    file(GLOB PP_OTHER_OS_SOURCES CONFIGURE_DEPENDS core/os/linux/decode*.c)
endif()
if(PP_OTHER_OS_SOURCES)
    add_library(pp_other_os STATIC ${PP_OTHER_OS_SOURCES})
    target_link_libraries(pp_other_os PUBLIC pp_core_private)
    target_link_libraries(pp_test_support INTERFACE pp_other_os)
endif()

function(pp_register_test name label)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 180 SKIP_RETURN_CODE 77)
endfunction()

# A live test once more where no cgroup is to be had, and there as on a stock Debian 12 kernel, too:
# every newer primitive switched off.
function(pp_in_other_modes name)
    pp_register_test(${name}_no_cgroup live ${ARGN})
    pp_register_test(${name}_6_1 live ${ARGN})
    set_property(TEST ${name}_no_cgroup PROPERTY ENVIRONMENT PP_KERNEL=no-cgroup)
    set_property(TEST ${name}_6_1 PROPERTY ENVIRONMENT PP_KERNEL=6.1,no-cgroup)
    set(modes ${name} ${name}_no_cgroup ${name}_6_1)
    set_property(TEST ${modes} PROPERTY RUN_SERIAL ON)
    set_property(TEST ${modes} PROPERTY TIMEOUT 240) # storms leave others little of a machine
endfunction()

function(pp_add_c_tests label)
    file(GLOB sources CONFIGURE_DEPENDS tests/${label}/test_*.c)
    foreach(source IN LISTS sources)
        get_filename_component(stem "${source}" NAME_WE)
        set(target ${label}_${stem})
        add_executable(${target} "${source}")
        target_link_libraries(${target} PRIVATE pp_test_support)
        set_target_properties(${target} PROPERTIES
            OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/${label}")
        if(TARGET pairperf-supervisor)
            add_dependencies(${target} pairperf-supervisor)
        endif()
        pp_register_test(${label}.${stem} ${label} ${target})
        if(label STREQUAL "live")
            pp_in_other_modes(${label}.${stem} ${target})
            if(stem MATCHES "^test_supervisor_([a-z]+_)?live$") # awkward applications: see run.sh
                set_property(TEST ${label}.${stem} ${label}.${stem}_6_1
                    APPEND PROPERTY LABELS awkward)
            endif()
        endif()
    endforeach()
endfunction()

pp_add_c_tests(core)
pp_add_c_tests(live)
if(NOT PAIRPERF_SANITIZE) # about speed, which an instrumented supervisor has not
    pp_register_test(live.storm_at_full_speed live live_test_supervisor_storm_live full_speed)
    pp_in_other_modes(live.storm_at_full_speed live_test_supervisor_storm_live full_speed)
endif()
include(Sim)

# Peers of the Lua, CLI and live tests, found below PP_TEST_BUILD_DIR/tests/stubs. Never instrumented:
# they are not what is tested, and a fork that copies shadow memory is slow.
foreach(name IN ITEMS sse_server live_app)
    add_executable(pp_${name} tests/stubs/${name}.c)
    target_link_libraries(pp_${name} PRIVATE pp_plain_flags Threads::Threads)
    set_target_properties(pp_${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/stubs")
endforeach()

# Below this the CLI tests run what they test, to see what it leaves behind; what sheds much; and
# what gives ACLs.
if(PP_OS_DIR STREQUAL "linux")
    foreach(name IN ITEMS acl subreaper storm)
        add_executable(pp_${name} tests/stubs/${name}.c)
        target_link_libraries(pp_${name} PRIVATE pp_plain_flags)
        set_target_properties(pp_${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/stubs")
    endforeach()
endif()

# Preloaded into a supervisor, to take its children from it; nothing comes before a sanitizer.
if(PP_OS_DIR STREQUAL "linux" AND NOT PAIRPERF_SANITIZE)
    add_library(pp_reaper_preload MODULE tests/stubs/reaper_preload.c)
    target_link_libraries(pp_reaper_preload PRIVATE pp_plain_flags Threads::Threads)
    set_target_properties(pp_reaper_preload PROPERTIES PREFIX "" OUTPUT_NAME reaper_preload
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/stubs")
endif()

# An outside program against the library as it is installed; builds its own copy.
if(NOT CMAKE_CROSSCOMPILING)
    add_test(NAME contracts.outside COMMAND "${CMAKE_SOURCE_DIR}/tests/contracts/run.sh"
        "${CMAKE_SOURCE_DIR}" "${CMAKE_C_COMPILER}")
    set_tests_properties(contracts.outside PROPERTIES LABELS contracts TIMEOUT 300)
endif()
