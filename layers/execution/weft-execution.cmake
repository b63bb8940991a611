# SPDX-License-Identifier: Apache-2.0
# Defines weft::execution, which is built where it is linked: programs of std::execution's parallel scheduler then run on
# Weft. It finds the program's library of senders by the target STDEXEC::stdexec, or by the compiler's include path; another
# one is named by target_include_directories(weft-execution PUBLIC ...) and by the definitions WEFT_P2300_HEADER and
# WEFT_P2300_NAMESPACE.
if(NOT TARGET weft-execution)
  if(NOT weft_execution_source)
    set(weft_execution_source ${CMAKE_CURRENT_LIST_DIR}/src/backend.cpp)
  endif()
  add_library(weft-execution STATIC EXCLUDE_FROM_ALL ${weft_execution_source})
  add_library(weft::execution ALIAS weft-execution)
  target_compile_features(weft-execution PUBLIC cxx_std_20)
  target_link_libraries(weft-execution PUBLIC weft::weft $<TARGET_NAME_IF_EXISTS:STDEXEC::stdexec>)
  # The function that is replaced may be a weak symbol, for which a linker searches no archive.
  target_link_options(weft-execution INTERFACE LINKER:-u,weft_execution_backend)
endif()
