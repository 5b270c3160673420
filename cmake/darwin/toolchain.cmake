# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for macOS on arm64 with clang and lld. build.sh prepares build/darwin-sdk first:
# Apple's headers and libSystem's symbol list, and symbol lists of the other libraries.

set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET arm64-apple-macos13.0)
set(CMAKE_OSX_ARCHITECTURES arm64 CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET 13.0 CACHE STRING "")
get_filename_component(PP_DARWIN_SDK "${CMAKE_CURRENT_LIST_DIR}/../../build/darwin-sdk" ABSOLUTE)
set(CMAKE_OSX_SYSROOT "${PP_DARWIN_SDK}" CACHE PATH "")

foreach(tool AR RANLIB NM OTOOL INSTALL_NAME_TOOL)
    string(TOLOWER ${tool} name)
    string(REPLACE _ - name ${name})
    find_program(CMAKE_${tool} llvm-${name}-14 REQUIRED)
endforeach()
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld")
endforeach()
# A call that only a newer macOS has must be guarded or it does not compile.
set(CMAKE_C_FLAGS_INIT "-Werror=unguarded-availability-new")

# Nothing of this machine is looked for: libraries come from the private folder alone.
set(CMAKE_FIND_ROOT_PATH "${PP_DARWIN_SDK}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(OPENSSL_INCLUDE_DIR "${PP_DARWIN_SDK}/deps/include" CACHE PATH "")
set(OPENSSL_CRYPTO_LIBRARY "${PP_DARWIN_SDK}/deps/lib/libcrypto.tbd" CACHE FILEPATH "")
