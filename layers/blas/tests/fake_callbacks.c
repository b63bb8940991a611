// SPDX-License-Identifier: Apache-2.0
// A library with the functions of C-Blosc2 (BLOSC: its major version) or of FFTW (FFTW: the prefix of its names) that set a
// threads callback; WITHOUT_CALLBACK leaves these out.
#include <stddef.h>

#define JOINED(prefix, name) prefix##name
#define JOIN(prefix, name) JOINED(prefix, name)

#ifdef OTHER
int fftw_is_without_threads(void) { return 1; }
#else
static void *g_data;
#endif

#ifdef BLOSC
typedef void (*callback_function)(void *data, void (*run)(void *), int count, size_t size, void *jobs);
static callback_function g_callback;
static short g_threads = 4;
static int g_changes; // of the number of threads, since the callback was set

void blosc2_set_threads_callback(callback_function callback, void *data) {
  g_callback = callback;
  g_data = data;
  g_changes = 0;
}
short blosc2_get_nthreads(void) { return g_threads; }
short blosc2_set_nthreads(short threads) {
  const short before = g_threads;
  g_changes += threads != before;
  g_threads = threads;
  return before;
}
#if BLOSC >= 3
void blosc2_vlcompress_ctx(void) {}
#endif
int changes_of_threads(void) { return g_changes; }
int call_blosc_jobs(void (*run)(void *), int count, size_t size, void *jobs) {
  if (!g_callback)
    return 0;
  g_callback(g_data, run, count, size, jobs);
  return 1;
}
#endif

#ifdef FFTW
typedef void (*callback_function)(void *(*run)(char *), char *jobs, size_t size, int count, void *data);
static callback_function g_callback;

int JOIN(FFTW, init_threads)(void) { return 1; }
#ifndef WITHOUT_CALLBACK
void JOIN(FFTW, threads_set_callback)(callback_function callback, void *data) {
  g_callback = callback;
  g_data = data;
}
#endif
int call_fftw_jobs(void *(*run)(char *), int count, size_t size, char *jobs) {
  if (!g_callback)
    return 0;
  g_callback(run, jobs, size, count, g_data);
  return 1;
}
#endif
