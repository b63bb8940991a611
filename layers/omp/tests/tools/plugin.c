/* SPDX-License-Identifier: Apache-2.0
   A library with regions. A program without OpenMP, which is this file with PROGRAM defined, loads
   it, unloads it and loads it again. */
#include <stdio.h>
#ifdef PROGRAM
#include <dlfcn.h>
#include <stdlib.h>

static int use(const char *file, int flags) {
  void *library = dlopen(file, flags);
  if (!library) {
    fprintf(stderr, "plugin: %s\n", dlerror());
    exit(1);
  }
  int (*sum)(int) = (int (*)(int))dlsym(library, "plugin_sum");
  const int got = sum(100);
  dlclose(library);
  return got;
}

static long resident_kib(void) {
  long pages = 0;
  FILE *const f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%*d %ld", &pages) != 1)
    exit(1);
  fclose(f);
  return pages * 4;
}

int main(int argc, char **argv) {
  (void)argc;
  long before = 0;
  for (int round = 0; round < 400; ++round) {
    if (use(argv[1], RTLD_NOW | (round & 1 ? RTLD_DEEPBIND : 0) |
                         (round & 2 ? RTLD_LOCAL : RTLD_GLOBAL)) != 4950) {
      fprintf(stderr, "plugin: a wrong sum in round %d\n", round);
      return 1;
    }
    if (round == 100)
      before = resident_kib();
  }
  if (resident_kib() - before > 2048) {
    fprintf(stderr, "plugin: memory grows from %ld to %ld KiB\n", before, resident_kib());
    return 1;
  }
  puts("plugin: ok");
  return 0;
}
#else
static _Thread_local int own = 3;
int plugin_sum(int n);
int plugin_sum(int n) {
  int sum = 0, wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum, wrong)
  {
    wrong += own != 3; /* a new copy for each thread, each time the library is loaded */
    own = 7;
#pragma omp for
    for (int i = 0; i < n; ++i)
      sum += i;
  }
  return wrong ? -1 : sum;
}
#endif
