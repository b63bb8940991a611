// SPDX-License-Identifier: Apache-2.0
// What weft-c++ and CMake precompile. A file of its own, so that <weft/oss.hpp> is a system header in what they make.
#pragma once

#include <weft/oss.hpp>
