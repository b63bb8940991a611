// SPDX-License-Identifier: Apache-2.0
// The policy through which every lock-free component touches memory: what the policies of the
// library (src/atomic/atomic.hpp) and of layers (weft_threads/sync/atomics.hpp) have in common. It
// is std::atomic and nothing else. The model checker in tests/model supplies a policy of the same
// shape that explores interleavings and stale reads.
// A component is a template `template <class P = real_atomics>` and uses only:
//   P::atomic<T>            std::atomic's load, store, exchange, compare_exchange_*, fetch_*
//   P::var<T>               plain memory; the checker reports a data race on it
//   P::await(a, pred, mo)   spin until pred(a.load(mo)) holds (short waits only: it yields, but never parks)
//   P::pause()              a spin hint inside a hand-written retry loop
//   P::yield()              gives the cpu away inside a retry loop that may take longer
//   P::k_spins              how often a waiter looks before it yields or parks
// and what the policy of its library adds.
// The checker weakens every order written at a call of these, by its place in the source, and expects a model to fail:
// a component needs no code for that, but it must write its orders out.
#pragma once

#include <weft_common/cpu_pause.hpp>

#include <atomic>

namespace weft_common {

/// Makes a policy of std::atomic. `Yield` gives the cpu to another kernel thread.
template <void (*Yield)() noexcept, int Spins>
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  static constexpr int k_spins = Spins;

  template <class T>
  struct var {
    T value{};
    T get() const noexcept { return value; }
    void set(T to) noexcept { value = to; }
  };

  template <class A, class Pred>
  static auto await(const A &word, Pred pred, std::memory_order order) noexcept {
    auto v = word.load(order);
    for (int spins = 0; !pred(v); v = word.load(order)) {
      if (++spins < k_spins)
        cpu_pause();
      else
        Yield();
    }
    return v;
  }

  static void pause() noexcept { cpu_pause(); }
  static void yield() noexcept { Yield(); }
};

} // namespace weft_common
