// SPDX-License-Identifier: Apache-2.0
// The calls of NODES, which have the names of Nanos6.
#pragma once

#include "nanos6.h"
