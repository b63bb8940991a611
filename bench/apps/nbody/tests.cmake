# SPDX-License-Identifier: Apache-2.0
foreach(backend weft oss serial)
  if(TARGET app-nbody-${backend})
    weft_app_test(app-nbody-${backend}-flat unit app-nbody-${backend} --small --nested 0 --workers 2 --reps 2)
  endif()
endforeach()
