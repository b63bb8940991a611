// expect: (could not convert|no viable conversion|conversion from|cannot convert)
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

weft::label f() { return "a bare string is no label"; }
