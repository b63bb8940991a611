/* SPDX-License-Identifier: Apache-2.0
   Memory of devices: there is the host alone, and what names another device fails. */
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "devices: %s\n", what);
    abort();
  }
}

int main(void) {
  const int host = omp_get_initial_device(), none = host + 1;
  const size_t two = 2, nothing = 0;
  int from[2] = {1, 2}, to[2] = {0, 0};
  require(!omp_target_alloc(8, none), "memory of a device that does not exist");
  require(omp_target_memcpy(to, from, sizeof from, 0, 0, host, host) == 0 && to[1] == 2,
          "a copy from host to host");
  require(omp_target_memcpy(NULL, from, sizeof from, 0, 0, none, host) == EINVAL,
          "a copy to a device that does not exist");
  require(omp_target_memcpy(to, NULL, sizeof from, 0, 0, host, none) == EINVAL,
          "a copy from a device that does not exist");
  to[0] = to[1] = 0;
  require(omp_target_memcpy_rect(to, from, sizeof(int), 1, &two, &nothing, &nothing, &two, &two,
                                 host, host) == 0 &&
              to[1] == 2,
          "a box from host to host");
  require(omp_target_memcpy_rect(NULL, from, sizeof(int), 1, &two, &nothing, &nothing, &two, &two,
                                 none, host) == EINVAL,
          "a box to a device that does not exist");
  require(omp_target_memcpy_rect(to, NULL, sizeof(int), 1, &two, &nothing, &nothing, &two, &two,
                                 host, none) == EINVAL,
          "a box from a device that does not exist");
  require(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, none, none) ==
              INT_MAX,
          "the number of dimensions");
  puts("devices: ok");
  return 0;
}
