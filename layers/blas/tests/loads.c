// SPDX-License-Identifier: Apache-2.0
// loads COPY [stay]: loads a copy of OpenBLAS as a package does, asks it for a function, and says whether its jobs
// run on Weft. Also asks for dlsym() behind this program, which the C library answers by the caller's address.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef void (*job_function)(int buffer, void *job, int argument);
typedef int (*call_function)(job_function run, int count, size_t size, void *jobs, int argument);

static int g_jobs;
static void count_job(int buffer, void *job, int argument) {
  (void)buffer, (void)job, (void)argument;
  __atomic_fetch_add(&g_jobs, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
  Dl_info info;
  if (dladdr(dlsym(RTLD_NEXT, "dlsym"), &info) == 0)
    return 1;
  printf("next %s\n", info.dli_fname);
  void *const copy = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!copy)
    return puts("no copy"), 1;
  const call_function call = (call_function)dlsym(copy, "call_jobs");
  char jobs[3];
  const int attached = call(count_job, 3, 1, jobs, 0);
  printf("%s, %d jobs\n", attached ? "attached" : "left", g_jobs);
  fflush(stdout);
  if (argc > 2 && strcmp(argv[2], "stay") == 0)
    sleep(60);
  return 0;
}
