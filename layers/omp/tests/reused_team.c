/* SPDX-License-Identifier: Apache-2.0
   Threads of the program create tasks whose events another thread fulfils, and end. The next region
   uses what their teams had, and ends. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static omp_event_handle_t g_event;
static int g_began;

static void *make_task(void *none) {
  omp_event_handle_t event;
#pragma omp task detach(event)
  {
    g_event = event;
    __atomic_store_n(&g_began, 1, __ATOMIC_RELEASE);
  }
#pragma omp taskwait
  return none;
}

int main(void) {
  const struct timespec moment = {0, 1000000};
  for (int i = 0; i < 8; ++i) {
    pthread_t maker;
    g_began = 0;
    if (pthread_create(&maker, NULL, make_task, NULL) != 0)
      return 1;
    while (!__atomic_load_n(&g_began, __ATOMIC_ACQUIRE))
      nanosleep(&moment, NULL);
    nanosleep(&moment, NULL); /* mostly the body has ended by then, so this thread ends the task */
    omp_fulfill_event(g_event);
    pthread_join(maker, NULL);
  }
  int members = 0;
#pragma omp parallel reduction(+ : members)
  members += 1;
  if (members != omp_get_max_threads()) {
    fprintf(stderr, "reused_team: %d members\n", members);
    return 1;
  }
  puts("reused_team: ok");
  return 0;
}
