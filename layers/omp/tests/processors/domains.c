/* SPDX-License-Identifier: Apache-2.0
   OMP_PLACES=ll_caches and numa_domains: the cpus of one place share their last cache, or belong to
   one domain. The files of Linux are this program's: cpus with even numbers and those with odd ones
   are apart, in one socket. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "domains: %s\n", what);
  abort();
}

static FILE *file_of(const char *text) {
  FILE *const file = fmemopen(NULL, 4096, "w+");
  fputs(text, file);
  rewind(file);
  return file;
}

static FILE *list_from(int first) {
  char text[4096] = "";
  for (int cpu = first; cpu < 1024; cpu += 2)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", cpu == first ? "" : ",", cpu);
  return file_of(strcat(text, "\n"));
}

/* Is in the program, so the library opens its files by it. */
FILE *fopen(const char *path, const char *mode) {
  int cpu = 0, index = 0, node = 0, end = 0;
  if (sscanf(path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%n", &cpu, &index, &end) == 2 && end) {
    if (index > 2)
      return NULL;
    if (strcmp(path + end, "level") == 0)
      return file_of(index == 0 ? "1\n" : index == 1 ? "3\n" : "2\n");
    return index == 1 ? list_from(cpu % 2) : file_of("0-1023\n");
  }
  if (strcmp(path, "/sys/devices/system/node/online") == 0)
    return file_of("0,2-3\n");
  if (sscanf(path, "/sys/devices/system/node/node%d/%n", &node, &end) == 1 && end)
    return node == 0 ? file_of("\n") : list_from(node - 2);
  if (strstr(path, "/topology/physical_package_id"))
    return file_of("0\n");
  FILE *(*const next)(const char *, const char *) =
      (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
  return next(path, mode);
}

int main(void) {
  int cpus = 0, parities = 0;
  for (int p = 0; p < omp_get_num_places(); ++p) {
    int ids[1024], of_place = 0;
    const int n = omp_get_place_num_procs(p);
    require(n > 0 && n <= 1024, "a place has cpus");
    omp_get_place_proc_ids(p, ids);
    for (int i = 0; i < n; ++i)
      of_place |= 1 << ids[i] % 2;
    require(of_place != 3, "a place has cpus that are apart");
    require((parities & of_place) == 0, "cpus that belong together have two places");
    parities |= of_place;
    cpus += n;
  }
  require(cpus == omp_get_num_procs(), "each cpu has a place");
  puts("domains: ok");
  return 0;
}
