// SPDX-License-Identifier: Apache-2.0
#pragma oss declare reduction(joined : unsigned : omp_out += omp_in) initializer(omp_priv = 0)
void add(unsigned &x);
