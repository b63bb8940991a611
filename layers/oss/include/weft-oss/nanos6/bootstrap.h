// SPDX-License-Identifier: Apache-2.0
// A part of Nanos6, all of which is in one header.
#pragma once

#include "../nanos6.h"
