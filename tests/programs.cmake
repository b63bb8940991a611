# SPDX-License-Identifier: Apache-2.0
# Small programs that tests of tests/hardening run, against the library as it is installed.
if(NOT WEFT_SHARED OR NOT TARGET weft_hardening)
  return()
endif()
add_dependencies(weft_hardening weft)
weft_test_program(weft_holds_locks weft::weft programs/holds_locks.cpp)
add_dependencies(weft_hardening weft_holds_locks)
if(TARGET weft-locks)
  add_dependencies(weft_hardening weft-locks)
endif()

# A host that knows nothing of Weft, and plugins that do.
add_executable(weft_host programs/host.c)
target_link_libraries(weft_host PRIVATE ${CMAKE_DL_LIBS})
weft_options(weft_host)
add_dependencies(weft_hardening weft_host)
foreach(plugin first second static)
  add_library(weft_plugin_${plugin} MODULE programs/plugin.cpp)
  weft_options(weft_plugin_${plugin})
  # No symbol of a template becomes unique in the process: that alone would keep the module loaded.
  target_compile_options(weft_plugin_${plugin} PRIVATE -fvisibility=hidden $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  set_target_properties(weft_plugin_${plugin} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(weft_plugin_${plugin} PRIVATE
    $<IF:$<STREQUAL:${plugin},static>,weft::weft-static,weft::weft>)
  add_dependencies(weft_hardening weft_plugin_${plugin})
endforeach()

# A corpus in C: tasks that run in place never wait for ever where deferred ones do not.
add_executable(weft_in_place programs/in_place.c)
target_link_libraries(weft_in_place PRIVATE weft::weft)
weft_options(weft_in_place)
foreach(workers 1 2 8)
  weft_add_test(weft_in_place_c_${workers}_workers unit 120 ${CMAKE_COMMAND} -E env WEFT_WORKERS=${workers}
    WEFT_TUNE_INLINE=always WEFT_WATCH_COMPUTE=2ms $<TARGET_FILE:weft_in_place>)
endforeach()

# User code of each compiler, position independent (in a shared object) and not.
if(WEFT_SANITIZE)
  return()
endif()
set(weft_tls_compilers own=${CMAKE_CXX_COMPILER})
if(NOT CMAKE_CROSSCOMPILING)
  find_program(WEFT_OTHER_GNU NAMES g++)
  find_program(WEFT_OTHER_CLANG NAMES clang++-19 clang++)
  if(WEFT_OTHER_GNU AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND weft_tls_compilers other=${WEFT_OTHER_GNU})
  elseif(WEFT_OTHER_CLANG AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND weft_tls_compilers other=${WEFT_OTHER_CLANG})
  endif()
endif()
set(programs)
foreach(pair IN LISTS weft_tls_compilers)
  string(REGEX MATCH "^([a-z]+)=(.*)$" matched ${pair})
  set(out ${PROJECT_BINARY_DIR}/tests/weft_tls_${CMAKE_MATCH_1})
  set(compile ${CMAKE_MATCH_2} -std=c++20 -O2 -g -I${PROJECT_SOURCE_DIR}/include)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/programs)
  set(link $<TARGET_FILE:weft> -pthread -Wl,-rpath,$<TARGET_FILE_DIR:weft>)
  add_custom_command(OUTPUT ${out}_plain
    COMMAND ${compile} -fno-pic -fno-pie -no-pie ${folder}/tls_body.cpp ${folder}/tls_main.cpp ${link} -o ${out}_plain
    DEPENDS weft ${folder}/tls_body.cpp ${folder}/tls_main.cpp ${folder}/tls_body.hpp VERBATIM)
  add_custom_command(OUTPUT ${out}_pic
    COMMAND ${compile} -fPIC -shared ${folder}/tls_body.cpp ${link} -o ${out}_body.so
    COMMAND ${compile} -fPIE -pie ${folder}/tls_main.cpp ${out}_body.so ${link} -o ${out}_pic
    DEPENDS weft ${folder}/tls_body.cpp ${folder}/tls_main.cpp ${folder}/tls_body.hpp VERBATIM)
  list(APPEND programs ${out}_plain ${out}_pic)
endforeach()
add_custom_target(weft_tls_programs DEPENDS ${programs})
add_dependencies(weft_hardening weft_tls_programs)
weft_add_test(weft_tls_long stress 600 weft_hardening --gtest_filter=compilers/tls.*)
set_tests_properties(weft_tls_long PROPERTIES RUN_SERIAL ON)
set_property(TEST weft_tls_long APPEND PROPERTY ENVIRONMENT TEST_TLS_MIGRATIONS=100000)
