// SPDX-License-Identifier: Apache-2.0
// The one place where Weft's version is written; the build reads it from here. Usable from C as well.
#pragma once

/// @{ Gives the version: a change of MAJOR may break programs, and before 1.0 one of MINOR.
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION_STRING "0.2.0"
/// @}
