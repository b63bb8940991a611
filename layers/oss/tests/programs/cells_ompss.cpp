// SPDX-License-Identifier: Apache-2.0
// Cells of directive and clause that the other programs leave out: the same in C and in C++.
#include "../cells/ompss.h"
