// SPDX-License-Identifier: Apache-2.0
// The header that programs of GLT include with FASTGLT. Here the functions are those of the library.
#pragma once

#include <weft/glt.h>
