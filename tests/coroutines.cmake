# SPDX-License-Identifier: Apache-2.0
# Coroutines: awaits of children without end on a task's stack of 96 KiB, by code of each compiler that is not optimised; and
# the cases under every policy.
set(weft_coro_rounds 10000000)
set(weft_coro_seconds 300)
if(CMAKE_CROSSCOMPILING)
  set(weft_coro_rounds 1000000) # an emulator runs the code
elseif(WEFT_SANITIZE)
  set(weft_coro_seconds 600) # ThreadSanitizer takes 20 s of a processor in the program alone, and others use the machine
endif()
set(weft_coro_environment "${weft_test_environment};WEFT_STACK_BYTES=96KiB")
weft_test_program(weft_coro_chain weft::weft-static programs/coro_chain.cpp)
set_property(SOURCE programs/coro_chain.cpp TARGET_DIRECTORY weft_coro_chain APPEND PROPERTY COMPILE_OPTIONS -O0)
weft_add_test(weft_coro_chain unit ${weft_coro_seconds} weft_coro_chain ${weft_coro_rounds})
set_tests_properties(weft_coro_chain PROPERTIES ENVIRONMENT "${weft_coro_environment}")
if(WEFT_SHARED AND NOT WEFT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  find_program(WEFT_OTHER_GNU NAMES g++)
  find_program(WEFT_OTHER_CLANG NAMES clang++-19 clang++)
  set(other)
  if(WEFT_OTHER_GNU AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(other ${WEFT_OTHER_GNU})
  elseif(WEFT_OTHER_CLANG AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(other ${WEFT_OTHER_CLANG})
  endif()
  if(other)
    set(out ${PROJECT_BINARY_DIR}/tests/weft_coro_chain_other)
    add_custom_command(OUTPUT ${out}
      COMMAND ${other} -std=c++20 -O0 -g -I${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/programs/coro_chain.cpp
        $<TARGET_FILE:weft> -pthread -Wl,-rpath,$<TARGET_FILE_DIR:weft> -o ${out}
      DEPENDS weft ${CMAKE_CURRENT_SOURCE_DIR}/programs/coro_chain.cpp
      IMPLICIT_DEPENDS CXX ${CMAKE_CURRENT_SOURCE_DIR}/programs/coro_chain.cpp VERBATIM)
    add_custom_target(weft_coro_chain_programs ALL DEPENDS ${out})
    weft_add_test(weft_coro_chain_other unit 300 ${out} ${weft_coro_rounds})
    set_tests_properties(weft_coro_chain_other PROPERTIES ENVIRONMENT "${weft_coro_environment}")
  endif()
endif()

if(NOT TARGET weft_unit_coro OR CMAKE_CROSSCOMPILING)
  return()
endif()
foreach(policy stealing delegated local-fifo central)
  foreach(workers 1 2 8)
    set(name weft_unit_coro_${policy}_${workers})
    weft_add_test(${name} unit 300 weft_unit_coro)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "${weft_test_environment};WEFT_SCHED_POLICY=${policy};WEFT_WORKERS=${workers}")
  endforeach()
endforeach()
foreach(mode distributed central hybrid auto)
  weft_add_test(weft_unit_coro_managed_${mode} unit 300 weft_unit_coro)
  set_tests_properties(weft_unit_coro_managed_${mode} PROPERTIES ENVIRONMENT
    "${weft_test_environment};WEFT_MANAGE_MODE=${mode};WEFT_MANAGE_BACKLOG=1;WEFT_WORKERS=2")
endforeach()
weft_add_test(weft_unit_coro_seeded unit 300 weft_unit_coro)
set_tests_properties(weft_unit_coro_seeded PROPERTIES ENVIRONMENT "${weft_test_environment};WEFT_SCHED_SEED=7")
weft_add_test(weft_coro_long stress 600 weft_unit_coro --gtest_filter=coro_stress.*)
set_property(TEST weft_coro_long APPEND PROPERTY ENVIRONMENT TEST_CORO_ROUNDS=200)
