# SPDX-License-Identifier: Apache-2.0
# The bindings, built twice: into pairperf-lua, which needs no Lua file at run time, and as the module
# pairperf/core.so for the unit tests, because a stock lua5.4 cannot load static bindings.

include(FindPkgConfig)
find_program(LUA_PROGRAM NAMES lua5.4 lua-5.4 REQUIRED)
pkg_search_module(LUA REQUIRED IMPORTED_TARGET lua5.4 lua-5.4)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(LUA_CJSON IMPORTED_TARGET lua5.4-cjson)

# Sets `ret_path` to where lua5.4 itself finds a module on `search` (path or cpath).
function(pp_find_lua_module name search ret_path)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -E env --unset=LUA_PATH --unset=LUA_PATH_5_4
            --unset=LUA_CPATH --unset=LUA_CPATH_5_4 --unset=LUA_INIT --unset=LUA_INIT_5_4
            "${LUA_PROGRAM}" -e "print(assert(package.searchpath('${name}', package.${search})))"
        OUTPUT_VARIABLE found RESULT_VARIABLE result ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "the Lua module ${name} was not found; run third_party/install.sh")
    endif()
    set(${ret_path} "${found}" PARENT_SCOPE)
endfunction()

pp_find_lua_module(argparse path PP_ARGPARSE)
find_file(PP_DYGRAPHS dygraph.min.js REQUIRED
    PATHS /usr/share/javascript/dygraphs
        "${CMAKE_SOURCE_DIR}/third_party/npm/node_modules/dygraphs/dist"
    NO_DEFAULT_PATH)

# Our Lua files, the schemas and these two, as one C file.
file(GLOB_RECURSE PP_LUA_FILES CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
    lua/pairperf/*.lua scenarios/*.lua docs/schema/*.schema.json)
set(PP_EMBEDDED "${CMAKE_BINARY_DIR}/generated/embedded.c")
add_custom_command(OUTPUT "${PP_EMBEDDED}"
    COMMAND "${LUA_PROGRAM}" tools/embed.lua "${PP_EMBEDDED}" ${PP_LUA_FILES}
        argparse=${PP_ARGPARSE} dygraph.min.js=${PP_DYGRAPHS}
    DEPENDS tools/embed.lua ${PP_LUA_FILES} "${PP_ARGPARSE}" "${PP_DYGRAPHS}"
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    COMMENT "Embedding the Lua files"
    VERBATIM)

file(GLOB PP_BINDING_SOURCES CONFIGURE_DEPENDS bindings/*.c)
list(REMOVE_ITEM PP_BINDING_SOURCES "${CMAKE_SOURCE_DIR}/bindings/main.c")
if(NOT PP_BINDING_SOURCES)
    message(STATUS "bindings/ holds no modules yet: pairperf-lua is not built")
    return()
endif()

add_library(pp_bindings OBJECT ${PP_BINDING_SOURCES})
target_include_directories(pp_bindings PUBLIC bindings)
target_link_libraries(pp_bindings PUBLIC pp_core_private PkgConfig::JANSSON PkgConfig::CURL)
target_include_directories(pp_bindings SYSTEM PUBLIC ${LUA_INCLUDE_DIRS})

add_executable(pairperf-lua bindings/main.c "${PP_EMBEDDED}")
target_link_libraries(pairperf-lua PRIVATE pp_bindings PkgConfig::LUA)
# Other people's C modules, loaded by a script, find Lua's functions in the executable.
set_target_properties(pairperf-lua PROPERTIES
    ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
if(LUA_CJSON_FOUND)
    target_link_libraries(pairperf-lua PRIVATE PkgConfig::LUA_CJSON)
else()
    pp_find_lua_module(cjson cpath PP_CJSON) # LuaRocks installs only the loadable module
    target_compile_definitions(pairperf-lua PRIVATE PP_CJSON_MODULE="${PP_CJSON}")
endif()
if(TARGET pairperf-supervisor)
    add_dependencies(pairperf-lua pairperf-supervisor)
endif()
install(TARGETS pairperf-lua DESTINATION "${CMAKE_INSTALL_BINDIR}")

add_library(pairperf_core MODULE)
target_link_libraries(pairperf_core PRIVATE pp_bindings)
set_target_properties(pairperf_core PROPERTIES
    PREFIX "" OUTPUT_NAME core SUFFIX ".so"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lua/pairperf")
if(APPLE)
    target_link_options(pairperf_core PRIVATE -undefined dynamic_lookup)
endif()
