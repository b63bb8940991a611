// SPDX-License-Identifier: Apache-2.0
#pragma once

#pragma oss declare reduction(joined:unsigned : omp_out += omp_in) initializer(omp_priv = 0)

inline void add_joined(unsigned &bits) {
#pragma oss task reduction(joined : bits)
  bits += 1;
}
