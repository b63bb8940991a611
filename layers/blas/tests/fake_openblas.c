// SPDX-License-Identifier: Apache-2.0
// A library with OpenBLAS's functions of threads, in the spelling and of the kind that the build
// chooses: PREFIX, SUFFIX, PARALLEL, BUFFERS, and WITHOUT_CALLBACK.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

typedef void (*job_function)(int buffer, void *job, int argument);
typedef void (*callback_function)(int sync, job_function run, int count, size_t size, void *jobs,
                                  int argument);

static callback_function g_callback;
static int g_threads = 64;

#define JOINED(prefix, name, suffix) prefix##name##suffix
#define JOIN(prefix, name, suffix) JOINED(prefix, name, suffix)
#define NAME(name) JOIN(PREFIX, name, SUFFIX)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#ifdef WITHOUT_CALLBACK
#define VERSION "0.3.21"
#else
#define VERSION "0.3.28"
#endif
#if PARALLEL == 2
#define KIND " USE_OPENMP"
#elif PARALLEL == 1
#define KIND " DYNAMIC_ARCH"
// The name of the function is in the file, as in a copy that makes threads.
__typeof__(pthread_create) *NAME(openblas_makes_threads_by)(void) { return pthread_create; }
#else
#define KIND ""
#endif

// No version: a program that names OpenBLAS says nothing of one.
const char *NAME(openblas_name)(void) { return "OpenBLAS : a fake"; }
const char *NAME(openblas_get_config)(void) {
  return "OpenBLAS " VERSION " " KIND " Haswell MAX_THREADS=" TEXT(BUFFERS);
}
int NAME(openblas_get_parallel)(void) { return PARALLEL; }
int NAME(openblas_get_num_threads)(void) { return g_threads; }
void NAME(openblas_set_num_threads)(int threads) { g_threads = threads; }
#ifndef WITHOUT_CALLBACK
void NAME(openblas_set_threads_callback_function)(callback_function callback) {
  g_callback = callback;
}
#endif

struct known_job {
  job_function run;
  void *job;
};

// The function that the callback gets is one of the copy, as OpenBLAS's.
static void run_known_job(int buffer, void *p, int argument) {
  const struct known_job *const known = p;
  known->run(buffer, known->job, argument);
}

// For the test: what a product does. Returns 0 when no callback was set.
int call_jobs(job_function run, int count, size_t size, void *jobs, int argument) {
  if (!g_callback)
    return 0;
  struct known_job *const known = calloc((size_t)count + 1, sizeof *known);
  for (int i = 0; i < count; ++i)
    known[i] = (struct known_job){run, (char *)jobs + size * (size_t)i};
  g_callback(1, run_known_job, count, sizeof *known, known, argument);
  free(known);
  return 1;
}

// The same, with a function that is not the copy's.
int call_jobs_of_others(job_function run, int count, size_t size, void *jobs, int argument) {
  g_callback(1, run, count, size, jobs, argument);
  return 1;
}
