# SPDX-License-Identifier: Apache-2.0
# The layer and programs of both compilers with ThreadSanitizer: it reports no program without a
# race, and each race that there is.
#
# Excluded, and why:
# - spinners, preempted, yield: in this build the layer interrupts no thread that spins;
# - process, plugin, both_abis: they fork, load and unload, which ThreadSanitizer restricts;
# - limit, places, abi_flavor and the runs of the environment: they check settings, and nothing runs
# side by side;
# - llvm_entries: threadprivate uses the runtime.
find_program(weft_omp_clang-19 clang-19)
find_program(weft_omp_gcc-12 gcc-12)
find_program(weft_omp_clang++-19 clang++-19)
if(NOT weft_omp_clang-19 OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(STATUS "Weft: OpenMP programs with ThreadSanitizer are not tested: they are linked by clang-19, and Weft is to be built by it")
  return()
endif()
foreach(compiler clang-19 gcc-12)
  if(NOT weft_omp_${compiler})
    continue()
  endif()
  set(run ${CMAKE_CURRENT_SOURCE_DIR}/run_tsan ${PROJECT_BINARY_DIR}/lib/weft-omp ${weft_omp_clang-19} ${weft_omp_${compiler}})
  weft_add_test(weft_omp_tsan_race_${compiler} unit 120 ${CMAKE_COMMAND} -E env WEFT_WORKERS=2 ${run} ${CMAKE_CURRENT_SOURCE_DIR}/race.c threads tasks dependences)
  foreach(program constructs more_constructs oversubscribed tasks in_place progress identity late llvm_more helpers)
    if((program MATCHES "identity|late" AND compiler STREQUAL "clang-19") OR (program MATCHES "llvm_more|helpers" AND compiler STREQUAL "gcc-12"))
      continue() # <omp.h> is packaged with the compiler's own runtime; LLVM's ABI
    endif()
    weft_add_test(weft_omp_tsan_${program}_${compiler} unit 300 ${run} ${CMAKE_CURRENT_SOURCE_DIR}/${program}.c)
  endforeach()
endforeach()
if(weft_omp_clang++-19)
  set(flags "-std=c++20 -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include -L${PROJECT_BINARY_DIR}/lib -Wl,-rpath,${PROJECT_BINARY_DIR}/lib -lweft")
  weft_add_test(weft_omp_tsan_mixed unit 300 ${CMAKE_COMMAND} -E env WEFT_WORKERS=2 "WEFT_TEST_FLAGS=${flags}" ${CMAKE_CURRENT_SOURCE_DIR}/run_tsan
    ${PROJECT_BINARY_DIR}/lib/weft-omp ${weft_omp_clang++-19} ${weft_omp_clang++-19} ${CMAKE_CURRENT_SOURCE_DIR}/mixed.cpp)
endif()
