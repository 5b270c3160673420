# SPDX-License-Identifier: Apache-2.0
# One libFuzzer program per tests/fuzz/fuzz_NAME.c, with the sanitizers (preset fuzz, clang).

file(GLOB PP_FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
file(GLOB PP_FUZZ_DARWIN core/os/darwin/decode.c)
foreach(source IN LISTS PP_FUZZ_SOURCES)
    get_filename_component(stem "${source}" NAME_WE)
    add_executable(${stem} "${source}")
    target_link_libraries(${stem} PRIVATE pp_core_private)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
endforeach()
target_sources(fuzz_darwin PRIVATE ${PP_FUZZ_DARWIN})
target_link_libraries(fuzz_json PRIVATE pp_bindings PkgConfig::LUA)
target_link_libraries(fuzz_manifest PRIVATE PkgConfig::JANSSON)
