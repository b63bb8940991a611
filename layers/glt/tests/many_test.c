// SPDX-License-Identifier: Apache-2.0
// Many ULTs: 10,000 at a time, again and again, in the memory that the first round took.
#include <weft/glt.h>

#include "check.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { count = 10000, rounds = 12, settled = 4 };

static void add_one(void *p) { atomic_fetch_add((atomic_int *)p, 1); }
static void exit_after_adding(void *p) {
  add_one(p);
  glt_ult_exit();
}

// Returns the resident pages of the process.
static long resident_pages(void) {
  long all = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  CHECK(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
  fclose(f);
  return resident;
}

static void create_and_join_all(GLT_ult *ults, atomic_int *ran) {
  for (int i = 0; i < count; ++i)
    glt_ult_create(add_one, ran, &ults[i]);
  for (int i = 0; i < count; ++i)
    glt_ult_join(&ults[i]);
}

// Each ULT creates the next one and ends: none waits for another one.
struct chain {
  atomic_int left;
};
static void next_of_chain(void *p) {
  struct chain *c = p;
  if (atomic_fetch_sub(&c->left, 1) > 1)
    glt_ult_create(next_of_chain, c, NULL);
}

static void half(void *p) {
  atomic_int *ran = p;
  GLT_ult ults[50];
  for (int i = 0; i < 50; ++i)
    glt_ult_create(i % 10 ? add_one : exit_after_adding, ran, &ults[i]);
  for (int i = 0; i < 50; ++i)
    glt_ult_free(&ults[i]);
}

int main(int argc, char *argv[]) {
  glt_init(argc, argv);
  GLT_ult *ults = glt_ult_malloc(count);
  atomic_int ran = 0;
  struct chain c;
  long after_some = 0;
  for (int round = 0; round < rounds; ++round) {
    create_and_join_all(ults, &ran);
    for (int i = 0; i < count; ++i)
      glt_ult_create(add_one, &ran, NULL);
    for (int i = 0; i < count / 50; ++i)
      glt_ult_create(half, &ran, &ults[i]);
    for (int i = 0; i < count / 50; ++i)
      glt_ult_join(&ults[i]);
    atomic_store(&c.left, count);
    glt_ult_create(next_of_chain, &c, NULL);
    while (atomic_load(&c.left) > 0 || atomic_load(&ran) != (round + 1) * 3 * count)
      glt_yield();
    if (round + 1 == settled)
      after_some = resident_pages();
  }
  CHECK(ran == rounds * 3 * count);
#ifndef TEST_SANITIZER
  // 1,000 pages are a tenth of what the ULTs of one round would leave: 30,000 of 128 bytes.
  CHECK(resident_pages() < after_some + 1000);
#else
  CHECK(after_some > 0);
#endif
  free(ults);
  glt_finalize();
  return end_of_checks();
}
