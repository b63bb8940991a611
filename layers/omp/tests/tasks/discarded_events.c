/* SPDX-License-Identifier: Apache-2.0
   A cancelled group does not wait for the event of a task that never begins. The program may
   fulfil such an event later, or never. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { k_rounds = 100, k_tasks = 4 };

static void require(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "discarded_events: %s\n", what);
  abort();
}

static int g_ran;

/* One thread runs the newest task first, so the first task never begins. */
static omp_event_handle_t discarded_by_newer(void) {
  omp_event_handle_t event;
#pragma omp parallel num_threads(1) shared(event)
#pragma omp taskgroup
  {
#pragma omp task detach(event)
    ++g_ran;
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
  }
  return event;
}

/* A task that follows the one that cancels never begins, whatever the number of threads. */
static omp_event_handle_t discarded_by_predecessor(void) {
  omp_event_handle_t event;
  char place = 0;
#pragma omp parallel shared(event)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task depend(out : place)
    {
#pragma omp cancel taskgroup
    }
#pragma omp task depend(in : place) detach(event)
    ++g_ran;
  }
  return event;
}

/* Tasks that are made after the cancellation: the first is deferred; the others are not, because
   their parent is final. */
static void made_after_cancel(omp_event_handle_t events[3]) {
  char place = 0;
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
#pragma omp taskwait
    omp_event_handle_t event;
#pragma omp task detach(event)
    ++g_ran;
    events[0] = event;
  }
#pragma omp parallel num_threads(1) shared(place)
#pragma omp taskgroup
  {
#pragma omp task final(1)
    {
      omp_event_handle_t event;
#pragma omp task if (0)
      {
#pragma omp cancel taskgroup
      }
#pragma omp task detach(event)
      ++g_ran;
      events[1] = event;
#pragma omp task detach(event) depend(inout : place)
      ++g_ran;
      events[2] = event;
    }
  }
}

/* The event may be fulfilled while the group is being cancelled. */
static void fulfilled_meanwhile(void) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  for (int i = 0; i < k_tasks; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event)
    {
#pragma omp cancel taskgroup
    }
    omp_fulfill_event(event);
  }
}

/* A task whose body is over, and whose event is not yet fulfilled, while `other` is. */
static void fulfil_beside_another(omp_event_handle_t other) {
  int over = 0;
#pragma omp parallel num_threads(1) shared(over)
  {
    omp_event_handle_t event;
#pragma omp taskgroup
    {
#pragma omp task detach(event) shared(over)
      ++over;
      require((uintptr_t)event != (uintptr_t)other, "an event was given to two tasks");
      omp_fulfill_event(other);
      omp_fulfill_event(event);
    }
  }
  require(over == 1, "a task of its own group runs");
}

int main(void) {
  alarm(60); /* an event that never comes fails */
  for (int i = 0; i < k_rounds; ++i) {
    fulfil_beside_another(discarded_by_newer());
    fulfil_beside_another(discarded_by_predecessor());
    (void)discarded_by_newer(); /* such an event is never fulfilled */
    (void)discarded_by_predecessor();
    omp_event_handle_t events[3];
    made_after_cancel(events);
    for (int e = 0; e < 3; ++e)
      fulfil_beside_another(events[e]);
    fulfilled_meanwhile();
  }
  require(g_ran == 0, "a task began after its group was cancelled");
  puts("discarded_events: ok");
  return 0;
}
