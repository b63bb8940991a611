// SPDX-License-Identifier: Apache-2.0
// The calls of Nanos6 for memory on several nodes: sets of nodes, and memory whose blocks lie on one node
// after another.
#pragma once

#include "cpus.h"

#include <sys/mman.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nanos6_bitmask_t; // bit n is node n
typedef enum { NUMA_ALL = 0, NUMA_ALL_ACTIVE = 1, NUMA_ANY_ACTIVE = 2 } nanos6_bitmask_wildcard_t;

static inline void nanos6_bitmask_clearall(nanos6_bitmask_t *bitmask) { *bitmask = 0; }
static inline void nanos6_bitmask_setbit(nanos6_bitmask_t *bitmask, uint64_t n) {
  if (n < 64)
    *bitmask |= (uint64_t)1 << n;
}
static inline void nanos6_bitmask_clearbit(nanos6_bitmask_t *bitmask, uint64_t n) {
  if (n < 64)
    *bitmask &= ~((uint64_t)1 << n);
}
static inline uint64_t nanos6_bitmask_isbitset(const nanos6_bitmask_t *bitmask, uint64_t n) {
  return n < 64 ? *bitmask >> n & 1 : 0;
}
static inline uint64_t nanos6_count_setbits(const nanos6_bitmask_t *bitmask) {
  return (uint64_t)__builtin_popcountll(*bitmask);
}
// Chooses all nodes of the machine; those all of whose cpus the process may use; those one of whose cpus
// it may use.
static inline void nanos6_bitmask_set_wildcard(nanos6_bitmask_t *bitmask,
                                               nanos6_bitmask_wildcard_t wildcard) {
  const long last = weft_oss_last_node();
  long node, cpu;
  *bitmask = 0;
  for (node = 0; node <= last && node < 64; ++node) {
    char file[64];
    long mine = 0, all = 0, last_cpu = -1;
    snprintf(file, sizeof file, "/sys/devices/system/node/node%ld/cpulist", node);
    weft_oss_list_has(file, -1, &last_cpu);
    // Without a description of nodes there is one, which has all cpus.
    if (last_cpu < 0 && last == 0)
      nanos6_bitmask_setbit(bitmask, 0);
    if (last_cpu < 0)
      continue;
    for (cpu = weft_oss_next_cpu(-1); cpu >= 0; cpu = weft_oss_next_cpu(cpu))
      mine += weft_oss_list_has(file, cpu, NULL);
    for (cpu = 0; cpu <= last_cpu; ++cpu)
      all += weft_oss_list_has(file, cpu, NULL);
    if (wildcard == NUMA_ALL || (wildcard == NUMA_ANY_ACTIVE && mine > 0) ||
        (wildcard == NUMA_ALL_ACTIVE && mine == all))
      nanos6_bitmask_setbit(bitmask, (uint64_t)node);
  }
}
static inline void nanos6_bitmask_setall(nanos6_bitmask_t *bitmask) {
  nanos6_bitmask_set_wildcard(bitmask, NUMA_ALL);
}

// Memory of whole pages; the page in front of it holds their number of bytes.
static inline void *weft_oss_map(uint64_t size, uint64_t page) {
  const uint64_t bytes = (size + page - 1) / page * page + page;
  void *const at =
      mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | 0x20 /* anonymous */, -1, 0);
  if (at == MAP_FAILED)
    return NULL;
  *(uint64_t *)at = bytes;
  return (char *)at + page;
}
// Returns memory whose blocks lie on the nodes of the set in turn, or NULL. Blocks are whole pages. Where
// the kernel refuses the placement, memory lies where it is written first.
static inline void *nanos6_numa_alloc_block_interleave(uint64_t size,
                                                       const nanos6_bitmask_t *bitmask,
                                                       uint64_t block_size) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  const uint64_t block = block_size ? (block_size + page - 1) / page * page : page;
  char *const all = (char *)weft_oss_map(size, page);
  uint64_t at, node = 0;
  if (!all || !*bitmask)
    return all;
  for (at = 0; at < size; at += block, node = (node + 1) % 64) {
    uint64_t only;
    while (!nanos6_bitmask_isbitset(bitmask, node))
      node = (node + 1) % 64;
    only = (uint64_t)1 << node;
    // 1: MPOL_PREFERRED, because a full node is no reason to fail.
    if (syscall(SYS_mbind, all + at, (unsigned long)((size - at < block ? size - at : block)), 1,
                &only, (unsigned long)65, 0) != 0)
      break;
  }
  return all;
}
// Returns memory for objects that stand for data in dependences: it lies where it is written first.
static inline void *nanos6_numa_alloc_sentinels(uint64_t size, const nanos6_bitmask_t *bitmask,
                                                uint64_t block_size) {
  (void)bitmask;
  (void)block_size;
  return weft_oss_map(size, (uint64_t)sysconf(_SC_PAGESIZE));
}
static inline void nanos6_numa_free(void *ptr) {
  if (ptr) {
    void *const first = (char *)ptr - sysconf(_SC_PAGESIZE);
    munmap(first, (size_t)*(uint64_t *)first);
  }
}

#ifdef __cplusplus
}
#endif
