# SPDX-License-Identifier: Apache-2.0
# What each library shows to the loader. tests/install/exports reads the libraries and compares.

file(STRINGS ${PROJECT_SOURCE_DIR}/abi/version weft_abi REGEX "^[0-9]+$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/abi/version)

# The names of namespace weft: functions, data, and what exceptions and virtual functions need.
set(weft_cxx_names "_ZN4weft*" "_ZN[KRO]4weft*" "_ZNK[RO]4weft*" "_ZT[VITSWH]N4weft*" "_ZGVN4weft*" "_ZT[hv]*_N4weft*")

# weft_exports(TARGET NAME...): keeps the names that match one of the patterns visible; weft_* are always among them. The
# nodes have no version, because the loader would not take a function with another version for the C library's.
# Sanitizers add names of their own, so their builds show everything.
function(weft_exports target)
  if(WEFT_SANITIZE)
    return()
  endif()
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  set(names "weft_*" ${ARGN})
  list(JOIN names ";\n    " names)
  file(CONFIGURE OUTPUT ${map} CONTENT "{\n  global:\n    ${names};\n  local:\n    *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
