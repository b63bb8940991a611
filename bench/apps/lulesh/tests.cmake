# SPDX-License-Identifier: Apache-2.0
# Whole blasts end at the published number of steps and energy.
weft_app_test(app-lulesh-weft-blast unit app-lulesh-weft --size 10 --tile 5 --steps 0 --workers 2 --reps 1)
weft_app_test(app-lulesh-weft-30 stress app-lulesh-weft --size 30 --tile 6 --steps 0 --workers 2 --reps 1)
set_tests_properties(app-lulesh-weft-30 PROPERTIES TIMEOUT 1200)
if(TARGET app-lulesh-oss)
  weft_app_test(weft_oss_apps_lulesh_blast unit app-lulesh-oss --size 10 --tile 5 --steps 0 --workers 2 --reps 1)
endif()
