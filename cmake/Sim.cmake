# SPDX-License-Identifier: Apache-2.0
# The simulated kernel under the supervisor's real loop. It compiles the few core files that it runs
# itself, optimized whatever the build type: tens of thousands of schedules are one test.

set(PP_SIM_SCHEDULES 50000)
if(PAIRPERF_SANITIZE)
    set(PP_SIM_SCHEDULES 4000)
endif()

file(GLOB PP_SIM_SOURCES CONFIGURE_DEPENDS tests/sim/*.c)
foreach(name IN ITEMS frame json_write message outbox reading record_verdict records request status
        stop tree tree_conserve tree_discards tree_memory tree_sample tree_unmet tree_walk
        pid_map counters)
    list(APPEND PP_SIM_SOURCES core/src/${name}.c)
endforeach()
add_executable(sim_main ${PP_SIM_SOURCES} core/os/os.c ${PP_LOOP_SOURCES})
target_include_directories(sim_main PRIVATE
    tests/sim core/include core/src core/os core/supervisor)
target_compile_options(sim_main PRIVATE -O2)
target_link_libraries(sim_main PRIVATE pp_flags m)
set_target_properties(sim_main PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/sim")
foreach(profile IN ITEMS linux darwin)
    add_test(NAME sim.${profile}
        COMMAND sim_main --profile ${profile} --seeds 1..${PP_SIM_SCHEDULES})
    set_tests_properties(sim.${profile} PROPERTIES LABELS sim TIMEOUT 900)
endforeach()
