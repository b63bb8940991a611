# SPDX-License-Identifier: Apache-2.0
# Small programs that tests of tests/hardening run, against the library as it is installed.
if(WEFT_SHARED AND TARGET weft_hardening)
  weft_test_program(weft_holds_locks weft::weft programs/holds_locks.cpp)
  add_dependencies(weft_hardening weft_holds_locks)
  if(TARGET weft-locks)
    add_dependencies(weft_hardening weft-locks)
  endif()
endif()
