// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a task's block and of a stack. 192 and 256 bytes are the blocks of a task
// without accesses and of one with three.
#include "measure.hpp"
#include "mem/slab.hpp"
#include "mem/stack_pool.hpp"

#include <cstdlib>
#include <vector>

namespace {

using namespace weft::rt;

constexpr long k_operations = 400'000;

heap &own_heap() {
  static heap &h = heap_of_slot(0);
  return h;
}

template <class Allocate, class Free>
void batches(long n, std::size_t batch, Allocate allocate, Free release) {
  static std::vector<void *> held;
  held.resize(batch);
  for (long i = 0; i < n; i += static_cast<long>(batch)) {
    for (void *&p : held)
      p = allocate();
    for (void *p : held)
      release(p);
  }
}

template <class Allocate, class Free>
void add_local(bench::table &t, const std::string &name, Allocate allocate, Free release) {
  t.add(name + ", a pair at a time", k_operations, [=](long n) {
    for (long i = 0; i < n; ++i) {
      void *p = allocate();
      bench::keep(p);
      release(p);
    }
  });
  t.add(name + ", 1000 at a time", k_operations,
        [=](long n) { batches(n, 1000, allocate, release); });
}

/// Frees blocks of several heaps in turn through another heap: measures the cost of returning them,
/// without waiting.
void add_remote(bench::table &t, unsigned owners) {
  static heap &mine = own_heap();
  std::vector<heap *> heaps;
  for (unsigned i = 0; i < owners; ++i)
    heaps.push_back(&heap_of_slot(1 + i));
  t.add("allocate and remote free, 256 bytes, " + std::to_string(owners) + " owners in turn",
        k_operations, [=](long n) {
          std::size_t at = 0;
          batches(
              n, 1000,
              [&] {
                at = at + 1 == heaps.size() ? 0 : at + 1;
                return heaps[at]->allocate(256);
              },
              [](void *p) { heap::deallocate(p, &mine); });
        });
}

void add_stacks(bench::table &t) {
  static stack_cache cache;
  t.add("stack: acquire and release, cached", k_operations, [](long n) {
    for (long i = 0; i < n; ++i) {
      stack *s = cache.acquire();
      bench::keep(s);
      cache.release(s);
    }
  });
  t.add("stack: acquire and release, 100 at a time, cache of 64", k_operations / 4, [](long n) {
    stack *held[100];
    for (long i = 0; i < n; i += 100) {
      for (stack *&s : held)
        s = cache.acquire();
      for (stack *s : held)
        cache.release(s);
    }
  });
  t.add("stack: fresh, touched once", 2000, [](long n) {
    for (long i = 0; i < n; ++i) {
      stack *s = cache.acquire();
      bench::keep(s); // never released
    }
    while (cache.count() != 0)
      bench::keep(cache.acquire());
  });
}

} // namespace

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 31;
  bench::table t;
  heap &h = own_heap();
  add_local(
      t, "slab, 192 bytes", [&h] { return h.allocate(192); },
      [&h](void *p) { heap::deallocate(p, &h); });
  add_local(
      t, "slab, 2000 bytes", [&h] { return h.allocate(2000); },
      [&h](void *p) { heap::deallocate(p, &h); });
  add_local(
      t, "slab, 8000 bytes", [&h] { return h.allocate(8000); },
      [&h](void *p) { heap::deallocate(p, &h); });
  add_local(t, "malloc, 192 bytes", [] { return std::malloc(192); }, [](void *p) { std::free(p); });
  add_local(
      t, "aligned_alloc, 192 bytes", [] { return std::aligned_alloc(64, 192); },
      [](void *p) { std::free(p); });
  add_remote(t, 1);
  add_remote(t, 4);
  add_remote(t, 32);
  add_stacks(t);
  t.print(rounds);
}
