// SPDX-License-Identifier: Apache-2.0
// The header that programs of GLT include.
#pragma once

#include <weft/glt.h>
