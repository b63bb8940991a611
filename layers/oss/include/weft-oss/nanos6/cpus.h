// SPDX-License-Identifier: Apache-2.0
// The calls of Nanos6 for cpus. Programs include <nanos6.h> or <nanos6/debug.h>.
//
// A virtual cpu is a worker, without the spare ones that stand in for blocked workers. Its cpu of the
// system is the one of the same place among those that the process may use. Workers that the setting
// `bind` does not tie to a cpu may run on any of them.
#pragma once

#include "../nanos6.h"

#ifdef _GNU_SOURCE
#include <sched.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _GNU_SOURCE
extern int sched_getcpu(void); // of the C library, which declares them with _GNU_SOURCE only
extern long syscall(long number, ...);
#endif

enum { weft_oss_most_cpus = 4096, weft_oss_cpus_of_word = 8 * sizeof(unsigned long) };

// Returns the place of the next cpu behind `after` (-1: the first one) that the process may use; -1 if
// there is none.
static inline long weft_oss_next_cpu(long after) {
  unsigned long set[weft_oss_most_cpus / weft_oss_cpus_of_word] = {0};
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
  long cpu;
  for (cpu = after + 1; cpu < bytes * 8; ++cpu)
    if (set[cpu / weft_oss_cpus_of_word] >> cpu % weft_oss_cpus_of_word & 1)
      return cpu;
  return -1;
}

// Says whether a list of the kernel, such as 0-3,8, names a number. `last` gets its largest one.
static inline int weft_oss_list_has(const char *file, long number, long *last) {
  FILE *const list = fopen(file, "re");
  long low, high;
  int found = 0, more;
  if (!list)
    return 0;
  do {
    if (fscanf(list, "%ld", &low) != 1)
      break;
    high = low;
    more = fgetc(list);
    if (more == '-') {
      if (fscanf(list, "%ld", &high) != 1)
        break;
      more = fgetc(list);
    }
    found |= low <= number && number <= high;
    if (last)
      *last = high;
  } while (more == ',');
  fclose(list);
  return found;
}
// Says whether a node of memory has a cpu, and which is the last node.
static inline int weft_oss_node_has(long node, long cpu) {
  char file[64];
  snprintf(file, sizeof file, "/sys/devices/system/node/node%ld/cpulist", node);
  return weft_oss_list_has(file, cpu, NULL);
}
static inline long weft_oss_last_node(void) {
  long last = 0;
  weft_oss_list_has("/sys/devices/system/node/online", 0, &last);
  return last;
}

static inline unsigned int nanos6_get_num_cpus(void) {
  const int workers = weft_worker_count();
  weft_oss_require(workers < 0 ? workers : 0, "nanos6_get_num_cpus");
  return (unsigned int)workers;
}
static inline unsigned int nanos6_get_total_num_cpus(void) { return nanos6_get_num_cpus(); }
static inline unsigned int nanos6_get_current_virtual_cpu(void) {
  const int worker = weft_worker_id();
  return worker < 0 ? 0 : (unsigned int)worker % nanos6_get_num_cpus();
}
static inline long nanos6_get_current_system_cpu(void) { return sched_getcpu(); }

// An iterator is one more than the number of a virtual cpu.
static inline void *nanos6_cpus_begin(void) { return (void *)(uintptr_t)1; }
static inline void *nanos6_cpus_end(void) { return (void *)((uintptr_t)nanos6_get_num_cpus() + 1); }
static inline void *nanos6_cpus_advance(void *cpu_iterator) {
  return (void *)((uintptr_t)cpu_iterator + 1);
}
static inline long nanos6_cpus_get_virtual(void *cpu_iterator) {
  return (long)(uintptr_t)cpu_iterator - 1;
}
// Where there are more workers than cpus, they begin again with the first one.
static inline long nanos6_cpus_get(void *cpu_iterator) {
  long left = nanos6_cpus_get_virtual(cpu_iterator), cpu = weft_oss_next_cpu(-1);
  const long first = cpu;
  for (; left > 0 && first >= 0; --left) {
    cpu = weft_oss_next_cpu(cpu);
    if (cpu < 0)
      cpu = first;
  }
  return cpu;
}
static inline long nanos6_cpus_get_numa(void *cpu_iterator) {
  const long cpu = nanos6_cpus_get(cpu_iterator), last = weft_oss_last_node();
  long node;
  for (node = 0; node < last; ++node)
    if (weft_oss_node_has(node, cpu))
      return node;
  return last;
}

typedef enum {
  nanos6_invalid_cpu_status,
  nanos6_uninitialized_cpu,
  nanos6_enabled_cpu,
  nanos6_enabling_cpu,
  nanos6_disabled_cpu,
  nanos6_disabling_cpu,
  nanos6_lent_cpu,
  nanos6_lending_cpu,
  nanos6_acquired_cpu,
  nanos6_acquired_enabled_cpu,
  nanos6_returned_cpu,
  nanos6_shutting_down_cpu,
  nanos6_shutdown_cpu
} nanos6_cpu_status_t;

// Returns nanos6_enabled_cpu for a cpu that a worker has, else nanos6_invalid_cpu_status.
static inline nanos6_cpu_status_t nanos6_get_cpu_status(long system_cpu_id) {
  void *at;
  for (at = nanos6_cpus_begin(); at != nanos6_cpus_end(); at = nanos6_cpus_advance(at))
    if (nanos6_cpus_get(at) == system_cpu_id)
      return nanos6_enabled_cpu;
  return nanos6_invalid_cpu_status;
}
// Weft keeps all of its workers. These return whether the cpu is now what the caller asks for.
static inline int nanos6_enable_cpu(long system_cpu_id) {
  return nanos6_get_cpu_status(system_cpu_id) == nanos6_enabled_cpu;
}
static inline int nanos6_disable_cpu(long system_cpu_id) {
  (void)system_cpu_id;
  return 0;
}
static inline int nanos6_is_dlb_enabled(void) { return 0; }
static inline int nanos6_is_numa_tracking_enabled(void) { return 0; }

#ifdef __cplusplus
}
#endif

#include "numa.h" // which needs these
