// SPDX-License-Identifier: Apache-2.0
// The calls of <nanos6.h> in C: streams, cpus, nodes of memory, and the runtime.
#include "check.h"

#include <nanos6.h>
#include <nanos6/debug.h>
#include <nanos6/numa.h>

#include <stdint.h>
#include <string.h>

// One function at a time may run in a stream, and in the order of the calls, also behind tasks of the others.
struct turn {
  int *next, mine;
};
static int g_inside;
static int g_called_back;
static void take_turn(void *arg) {
  const struct turn t = *(struct turn *)arg;
#pragma oss task firstprivate(t)
  {
    CHECK(__atomic_add_fetch(&g_inside, 1, __ATOMIC_ACQ_REL) == 1);
    be_late();
    CHECK(*t.next == t.mine);
    ++*t.next;
    __atomic_sub_fetch(&g_inside, 1, __ATOMIC_ACQ_REL);
  }
}
static void count_call(void *arg) {
  CHECK(*(int *)arg > 0);
  __atomic_add_fetch(&g_called_back, 1, __ATOMIC_ACQ_REL);
}
static void count(void *arg) { __atomic_add_fetch((int *)arg, 1, __ATOMIC_ACQ_REL); }

static void streams(void) {
  enum { n = 20 };
  static struct turn all[n];
  static int next, others;
  next = others = 0;
  g_called_back = 0;
  for (int i = 0; i < n; ++i) {
    all[i] = (struct turn){&next, i};
    nanos6_stream_spawn_function(take_turn, &all[i], count_call, &next, "turn", 7);
    nanos6_stream_spawn_function(count, &others, NULL, NULL, NULL, (size_t)-1 - (size_t)(i % 3));
  }
  nanos6_stream_synchronize(7);
  CHECK(next == n && g_called_back == n);
  nanos6_stream_synchronize(12345); // no function was spawned into it
  nanos6_stream_synchronize_all();
  CHECK(others == n);
  // Several functions may spawn into a stream and wait for one.
  int x = 0;
#pragma oss task inout(x)
  {
    nanos6_stream_spawn_function(count, &x, NULL, NULL, "count", 3);
    nanos6_stream_synchronize(3);
    ++x;
  }
#pragma oss taskwait
  CHECK(x == 2);
}

static void cpus(void) {
  const unsigned int n = nanos6_get_num_cpus();
  CHECK(n > 0 && nanos6_get_total_num_cpus() == n);
  unsigned int seen = 0;
  for (void *at = nanos6_cpus_begin(); at != nanos6_cpus_end(); at = nanos6_cpus_advance(at)) {
    CHECK(nanos6_cpus_get_virtual(at) == (long)seen);
    const long cpu = nanos6_cpus_get(at);
    CHECK(cpu >= 0 && nanos6_get_cpu_status(cpu) == nanos6_enabled_cpu);
    CHECK(nanos6_enable_cpu(cpu) == 1 && nanos6_disable_cpu(cpu) == 0);
    const long node = nanos6_cpus_get_numa(at);
    CHECK(node >= 0 && node < 64);
    ++seen;
  }
  CHECK(seen == n);
  CHECK(nanos6_cpus_get(nanos6_cpus_begin()) == weft_oss_next_cpu(-1));
  if (n > 1 && weft_oss_next_cpu(weft_oss_next_cpu(-1)) >= 0)
    CHECK(nanos6_cpus_get(nanos6_cpus_advance(nanos6_cpus_begin())) != weft_oss_next_cpu(-1));
  CHECK(nanos6_get_cpu_status(1 << 20) == nanos6_invalid_cpu_status && !nanos6_enable_cpu(1 << 20));
  CHECK(nanos6_get_current_virtual_cpu() < n && nanos6_get_current_system_cpu() >= 0);
  CHECK(!nanos6_is_dlb_enabled() && !nanos6_is_numa_tracking_enabled());
}

static void lists_of_the_kernel(void) {
  char name[] = "/tmp/weft-oss-list-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && write(file, "0-2,5,8-9\n", 10) == 10);
  close(file);
  for (long i = -1; i < 12; ++i) {
    long last = -1;
    CHECK(weft_oss_list_has(name, i, &last) == ((i >= 0 && i <= 2) || i == 5 || i == 8 || i == 9));
    CHECK(last == 9);
  }
  unlink(name);
  CHECK(!weft_oss_list_has(name, 0, NULL));
}

static void nodes(void) {
  nanos6_bitmask_t set, any;
  nanos6_bitmask_clearall(&set);
  CHECK(nanos6_count_setbits(&set) == 0);
  nanos6_bitmask_setbit(&set, 0);
  nanos6_bitmask_setbit(&set, 63);
  nanos6_bitmask_setbit(&set, 64); // no such node
  CHECK(nanos6_count_setbits(&set) == 2 && nanos6_bitmask_isbitset(&set, 63) == 1);
  CHECK(nanos6_bitmask_isbitset(&set, 0) == 1 && nanos6_bitmask_isbitset(&set, 1) == 0);
  CHECK(nanos6_bitmask_isbitset(&set, 64) == 0);
  nanos6_bitmask_clearbit(&set, 63);
  nanos6_bitmask_clearbit(&set, 64);
  CHECK(nanos6_count_setbits(&set) == 1);
  nanos6_bitmask_setall(&set);
  nanos6_bitmask_set_wildcard(&any, NUMA_ANY_ACTIVE);
  CHECK(nanos6_count_setbits(&any) >= 1 && (any & ~set) == 0);
  const long node = nanos6_cpus_get_numa(nanos6_cpus_begin());
  CHECK(nanos6_bitmask_isbitset(&any, (uint64_t)node));
  nanos6_bitmask_t whole;
  nanos6_bitmask_set_wildcard(&whole, NUMA_ALL_ACTIVE);
  CHECK((whole & ~any) == 0);

  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = 5 * page + 100;
  nanos6_bitmask_clearall(&set);
  for (int with = 0; with < 2; ++with) {
    char *const data = nanos6_numa_alloc_block_interleave(size, with ? &any : &set, page + 1);
    CHECK(data && (uintptr_t)data % page == 0);
    for (uint64_t i = 0; i < size; ++i)
      CHECK(data[i] == 0);
    memset(data, 5, size);
    int mode = -1;
    // 2: of the page at the address. Containers may refuse both calls.
    if (syscall(SYS_get_mempolicy, &mode, NULL, 0, data + 4 * page, 2) == 0 && with)
      CHECK(mode == 1);
    nanos6_numa_free(data);
  }
  int *const sentinels = nanos6_numa_alloc_sentinels(10 * sizeof(int), &any, page);
  CHECK(sentinels);
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
#pragma oss task out(sentinels[i])
    sentinels[i] = i;
#pragma oss task in(sentinels[i])inout(sum)
    sum += sentinels[i];
  }
  nanos6_taskwait("nodes");
  CHECK(sum == 45);
  nanos6_numa_free(sentinels);
  nanos6_numa_free(NULL);
}

int main(void) {
  CHECK(nanos6_library_mode_init() == NULL);
  nanos6_init();
  CHECK(!nanos6_in_serial_context());
  nanos6_yield();
  for (int i = 0; i < 3; ++i)
    streams();
  cpus();
  lists_of_the_kernel();
  nodes();
#pragma oss task final(1)
  CHECK(nanos6_in_final() && nanos6_in_serial_context());
#pragma oss taskwait
  return 0;
}
