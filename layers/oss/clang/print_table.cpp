// SPDX-License-Identifier: Apache-2.0
// Prints the reference page of the directives and clauses.
#include "table.hpp"

#include <cstdio>

int main() { return std::fputs(weft_oss::reference_page().c_str(), stdout) < 0 ? 1 : 0; }
