# SPDX-License-Identifier: Apache-2.0
# These runs have leaves of all four levels at once, and blocks of another size.
foreach(backend weft oss libgomp serial)
  if(TARGET app-amr-${backend} AND NOT (WEFT_SANITIZE AND backend STREQUAL "libgomp"))
    weft_app_test(app-amr-${backend}-levels unit app-amr-${backend} --size 12 --tile 4 --variables 1 --workers 2 --reps 1)
  endif()
endforeach()
