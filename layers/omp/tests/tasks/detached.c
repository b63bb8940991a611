/* SPDX-License-Identifier: Apache-2.0
   The creator of an undeferred task runs other tasks until the task's event is fulfilled, because
   one of them may fulfil it. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int g_done = 0;

static void fulfilled_by_child(void) {
  omp_event_handle_t event;
#pragma omp task if (0) detach(event)
  {
#pragma omp task firstprivate(event)
    {
#pragma omp atomic
      ++g_done;
      omp_fulfill_event(event);
    }
  }
}

int main(void) {
  alarm(60); /* an event that never comes fails */
#pragma omp parallel num_threads(1)
  fulfilled_by_child();
  if (g_done != 1)
    abort();
#pragma omp parallel num_threads(3) /* all members at once */
  for (int i = 0; i < 100; ++i)
    fulfilled_by_child();
  if (g_done != 301)
    abort();
  puts("detached: ok");
  return 0;
}
