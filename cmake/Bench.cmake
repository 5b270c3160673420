# SPDX-License-Identifier: Apache-2.0
# Programs of tests/bench, built only by the target pp_bench.

add_custom_target(pp_bench)
foreach(name IN ITEMS enter floor stall work)
    add_executable(pp_bench_${name} EXCLUDE_FROM_ALL tests/bench/${name}.c)
    target_link_libraries(pp_bench_${name} PRIVATE pp_flags Threads::Threads)
    add_dependencies(pp_bench pp_bench_${name})
    set_target_properties(pp_bench_${name} PROPERTIES
        OUTPUT_NAME pp${name} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench/bin")
endforeach()
