# SPDX-License-Identifier: Apache-2.0
# The library: compiled once (weft_objects), linked as libweft.so (weft::weft) and libweft.a (weft::weft-static).

file(GLOB_RECURSE weft_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/*.S)

# Of src/arch/<processor>/ only one folder is compiled.
if(WEFT_CONTEXT STREQUAL "boost")
  set(weft_arch generic)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(weft_arch x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(weft_arch aarch64)
else()
  set(weft_arch generic)
endif()
list(FILTER weft_sources EXCLUDE REGEX "/src/arch/[^/]+/")
file(GLOB_RECURSE weft_arch_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/arch/${weft_arch}/*.cpp ${PROJECT_SOURCE_DIR}/src/arch/${weft_arch}/*.S)
list(APPEND weft_sources ${weft_arch_sources})
message(STATUS "Weft ${PROJECT_VERSION}: context switch from src/arch/${weft_arch}")

if(NOT weft_sources)
  file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
  set(weft_sources ${PROJECT_BINARY_DIR}/empty.cpp)
endif()

set(weft_private_libraries)
if(weft_arch STREQUAL "generic")
  find_package(Boost 1.70 REQUIRED COMPONENTS context)
  set(weft_private_libraries Boost::context)
endif()

list(APPEND weft_private_libraries ${CMAKE_DL_LIBS})

# NLopt's searches (src/tune/nlopt_search.cpp): the header is needed here, the library where a session asks for one of them.
find_path(WEFT_NLOPT_INCLUDE nlopt.h DOC "Folder of NLopt's header, for its searches")
find_library(WEFT_NLOPT_LIBRARY nlopt DOC "NLopt, which tells the name under which it is loaded")
mark_as_advanced(WEFT_NLOPT_INCLUDE WEFT_NLOPT_LIBRARY)
if(WEFT_NLOPT_INCLUDE)
  set(weft_nlopt libnlopt.so.0)
  if(WEFT_NLOPT_LIBRARY MATCHES "[.]so" AND CMAKE_OBJDUMP)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${WEFT_NLOPT_LIBRARY} OUTPUT_VARIABLE header ERROR_QUIET)
    if(header MATCHES "SONAME +([^ \n]+)")
      set(weft_nlopt ${CMAKE_MATCH_1})
    endif()
  endif()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/tune/nlopt_search.cpp PROPERTIES
    COMPILE_DEFINITIONS "WEFT_NLOPT=\"${weft_nlopt}\"" INCLUDE_DIRECTORIES ${WEFT_NLOPT_INCLUDE})
else()
  message(STATUS "Weft: sessions have no searches of NLopt: nlopt.h was not found (apt-get install libnlopt-dev)")
endif()

add_library(weft_objects OBJECT ${weft_sources})
weft_options(weft_objects)
# What runs once, on request or beside the workers is compiled in batches. What tasks go through is not: the compiler inlines into it from headers
# alone, so that its speed does not depend on its neighbours.
set(alone ${weft_sources})
list(FILTER alone EXCLUDE REGEX "/src/(config|diagnose|monitor|observe|os|publish|topo|trace|tune)/")
weft_in_batches(weft_objects ${alone})
# A forced unwinding (pthread_cancel) has no object, so `catch (abi::__forced_unwind &)` binds a null reference.
if(WEFT_SANITIZE STREQUAL "address")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/task/execute.cpp ${PROJECT_SOURCE_DIR}/src/task/run_body.cpp
    PROPERTIES COMPILE_OPTIONS -fno-sanitize=null)
endif()
set_target_properties(weft_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(weft_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/common)
target_compile_definitions(weft_objects PRIVATE WEFT_BUILDING=1 $<$<STREQUAL:${weft_arch},generic>:WEFT_CONTEXT_BOOST=1>)
target_compile_options(weft_objects PRIVATE $<$<COMPILE_LANGUAGE:CXX>:
  -ftls-model=initial-exec -fno-plt -fstack-clash-protection -fno-semantic-interposition>)
target_link_libraries(weft_objects PRIVATE Threads::Threads ${weft_private_libraries})

# Tasks run on stacks of 96 KiB: a function with a large frame must touch each page of it, or it steps over the guard below. Clang knows the option on x86-64.
set(weft_probing $<$<COMPILE_LANG_AND_ID:C,GNU>:-fstack-clash-protection> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fstack-clash-protection>)
if(weft_arch STREQUAL "x86_64")
  set(weft_probing $<$<COMPILE_LANGUAGE:C,CXX>:-fstack-clash-protection>)
endif()

# What both libraries show their users.
function(weft_public target)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_compile_options(${target} INTERFACE ${weft_probing})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE CXX)
endfunction()

add_library(weft-static STATIC $<TARGET_OBJECTS:weft_objects>)
add_library(weft::weft-static ALIAS weft-static)
weft_public(weft-static)
target_link_libraries(weft-static PUBLIC Threads::Threads PRIVATE ${weft_private_libraries})
# A module with Weft inside must stay mapped as libweft.so does.
target_link_options(weft-static INTERFACE
  $<$<IN_LIST:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY$<SEMICOLON>MODULE_LIBRARY>:-Wl,-z,nodelete>)

if(WEFT_SHARED)
  add_library(weft SHARED $<TARGET_OBJECTS:weft_objects>)
  weft_public(weft)
  set_target_properties(weft PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${weft_abi})
  target_link_libraries(weft PUBLIC Threads::Threads PRIVATE ${weft_private_libraries})
  # Workers outlive dlclose, so the code must stay mapped.
  target_link_options(weft PRIVATE -Wl,-z,nodelete ${weft_sanitizers})
  set(weft_lock_names)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(weft_lock_names "pthread_mutex_*" "pthread_rwlock_*") # debug builds count held locks (tools/locks)
  endif()
  weft_exports(weft ${weft_cxx_names} ${weft_lock_names})
else()
  add_library(weft INTERFACE)
  target_link_libraries(weft INTERFACE weft-static)
endif()
add_library(weft::weft ALIAS weft)

# For white-box tests and tools: the same objects, and src/ on the include path.
add_library(weft_internal INTERFACE)
target_link_libraries(weft_internal INTERFACE weft-static)
target_include_directories(weft_internal INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/common)

# std::execution::par on Weft, for programs of GCC's standard library: weft/pstl.hpp comes before
# every other header, in every file.
add_library(weft-pstl INTERFACE)
add_library(weft::pstl ALIAS weft-pstl)
set_target_properties(weft-pstl PROPERTIES EXPORT_NAME pstl)
target_link_libraries(weft-pstl INTERFACE weft)
target_compile_options(weft-pstl INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include weft/pstl.hpp>")
