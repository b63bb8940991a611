# SPDX-License-Identifier: Apache-2.0
# Leaves of all four levels at once, and blocks of another size.
weft_app_test(app-amr-weft-levels unit app-amr-weft --size 12 --tile 4 --variables 1 --workers 2 --reps 1)
