// SPDX-License-Identifier: Apache-2.0
// Looks like an OpenMP runtime that a package brings.
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  (void)threads, (void)flags;
  body(data);
}
