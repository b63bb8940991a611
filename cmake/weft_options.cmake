# SPDX-License-Identifier: Apache-2.0
# What a builder may choose, and the flags that follow from it.

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "Weft needs Linux (futex, membarrier); this system is ${CMAKE_SYSTEM_NAME}")
endif()

set(weft_top_level OFF)
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  set(weft_top_level ON)
endif()

set(weft_shared_default ON)
if(DEFINED BUILD_SHARED_LIBS)
  set(weft_shared_default ${BUILD_SHARED_LIBS})
endif()
option(WEFT_SHARED "weft::weft is the shared library (the static one is built either way)" ${weft_shared_default})
option(WEFT_TESTS "build the tests" ${weft_top_level})
option(WEFT_BENCH "build the benchmarks" ${weft_top_level})
option(WEFT_BENCH_PEERS "build the programs of the benchmarks that run on other runtimes, or on none, too" ${weft_top_level})
option(WEFT_EXAMPLES "build the examples" ${weft_top_level})
option(WEFT_TOOLS "build the command `weft`" ${weft_top_level})
option(WEFT_INSTALL "write the install rules" ${weft_top_level})
option(WEFT_ALPI "build weft::alpi, for task-aware libraries" ${weft_top_level})
option(WEFT_GLT "build weft::glt, for programs of lightweight threads" ${weft_top_level})
option(WEFT_MPI "build weft::mpi-openmpi and weft::mpi-mpich, for the MPIs that are found" ${weft_top_level})
option(WEFT_NET "build weft::net, for communication between ranks" ${weft_top_level})
option(WEFT_LPF "build weft::lpf, which runs programs of LPF" ${weft_top_level})
option(WEFT_OMP "build the OpenMP library" ${weft_top_level})
option(WEFT_OSS "build the plugins by which Clang compiles #pragma oss" ${weft_top_level})
option(WEFT_POOLS "build the library by which `weft run` makes room for other pools" ${weft_top_level})
option(WEFT_PYTHON "build tasks in Python, where Python's headers are found" ${weft_top_level})
option(WEFT_RAYON "build the library of the crate weft-rayon" ${weft_top_level})
option(WEFT_TBB "build the library that gives TBB its worker threads" ${weft_top_level})
option(WEFT_LIBRARY_LINKS "installed libraries have links by which linkers find them; OFF for archives without links" ON)
option(WEFT_PACKAGES "write the rules of Debian's packages (`make packages`)" OFF)
option(WEFT_BATCHES "compile the files of tools, tests and layers for messages in batches: faster from nothing, slower after a change of one file" ON)
option(WEFT_QUICK_TESTS "for the tests only: optimise unit suites less, which saves a third of the time that they take to compile" OFF)
option(WEFT_WERROR "warnings are errors" OFF)
option(WEFT_MUTANTS "for the tests only: seeded bugs, chosen by the variable WEFT_MUTANT" OFF)
set(WEFT_SANITIZE "" CACHE STRING "thread, address (with undefined), or empty: for programs that are built so, too (docs/user/sanitizers.md)")
set(WEFT_HWLOC AUTO CACHE STRING "AUTO, ON or OFF: the tests compare Weft's picture of the machine with hwloc's")
set(WEFT_FREE_THREADED_PYTHON auto CACHE STRING "folders with the headers of Pythons without a GIL, or auto: those of python3.13t and python3.14t")
set(WEFT_CONTEXT auto CACHE STRING "auto (own assembly where there is some) or boost (Boost.Context)")
set_property(CACHE WEFT_SANITIZE PROPERTY STRINGS "" thread address)
set_property(CACHE WEFT_HWLOC PROPERTY STRINGS AUTO ON OFF)
set_property(CACHE WEFT_CONTEXT PROPERTY STRINGS auto boost)

# Stops the configuration when an option holds a word it does not know.
function(weft_require_one_of option)
  if(NOT "${${option}}" IN_LIST ARGN)
    list(JOIN ARGN "', '" allowed)
    message(FATAL_ERROR "${option} is '${${option}}'; it must be one of '${allowed}'")
  endif()
endfunction()
weft_require_one_of(WEFT_SANITIZE "" thread address)
weft_require_one_of(WEFT_HWLOC AUTO ON OFF)
weft_require_one_of(WEFT_CONTEXT auto boost)

if(weft_top_level)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set_property(CACHE CMAKE_BUILD_TYPE PROPERTY VALUE RelWithDebInfo)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
elseif(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release) # of Weft alone: the program around it has said nothing, and would get a slow library
endif()

# Also as a part of another project, and of this folder alone: the command `weft` finds the libraries beside its own folder.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

include(GNUInstallDirs)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(WEFT_SANITIZE STREQUAL "thread")
  set(weft_sanitizers -fsanitize=thread)
elseif(WEFT_SANITIZE STREQUAL "address")
  # Not vptr: clang would have every C program linked with the C++ part of the sanitizer.
  set(weft_sanitizers -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 17)
    list(APPEND weft_sanitizers -fno-sanitize=function) # of that part, too, in these
  endif()
endif()

# The flags of everything in this tree: language, warnings, sanitizers. Users of the library inherit none of them.
function(weft_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_STANDARD_REQUIRED ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic>
    $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${WEFT_WERROR}>>:-Werror>
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
    # Valgrind 3.19 reads no newer debug information of clang than this.
    $<$<AND:$<OR:$<COMPILE_LANG_AND_ID:C,Clang>,$<COMPILE_LANG_AND_ID:CXX,Clang>>,$<CONFIG:Debug,RelWithDebInfo>>:-fdebug-default-version=4>)
  if(WEFT_MUTANTS)
    target_compile_definitions(${target} PRIVATE WEFT_MUTANTS=1)
  endif()
  if(WEFT_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:${weft_sanitizers}>)
    target_link_options(${target} PRIVATE ${weft_sanitizers})
  endif()
endfunction()

# The debug information of a target holds lines alone. A backtrace needs no more, and the rest takes a fifth to a third of the time of compilation.
function(weft_lines_only target)
  if(CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-g( |$)")
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:RelWithDebInfo>>:-g1>)
  endif()
endfunction()

# Compiles a target's C++ files eight at a time, so that what they include is read, and its templates are instantiated, once. Names in their unnamed
# namespaces must differ; a file for which they do not is named after the target, and compiled by itself. Preset clang compiles each file by
# itself, which shows that a file includes what it needs.
function(weft_in_batches target)
  if(WEFT_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # GCC takes the files of a batch for headers, whose types would be in several files.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()
