// SPDX-License-Identifier: Apache-2.0
// What the models of layers/omp share: the policy, and threads that park and wait as OpenMP threads do (images of parker in layers/threads/src/weft_threads/thread/parker.cpp, of event.cpp).
#pragma once

#include "suspension.hpp"

#include "layers/omp/src/sync/sleeper_list.hpp"

#include <weft_threads/sync/parker_word.hpp>

#include <cstdint>

namespace weft_model {

/// The layer's parts write their plain memory as plain memory is written.
struct omp_atomics : model_atomics {
  template <class T>
  class plain {
   public:
    plain(T v = T{}) : m_var(v) {}
    plain(const plain &) = delete;
    plain &operator=(const plain &other) { return *this = other.m_var.get(); }
    plain &operator=(T v) {
      m_var.set(v);
      return *this;
    }
    operator T() const { return m_var.get(); }
    T operator->() const { return m_var.get(); }
    plain &operator++() { return *this = static_cast<T>(m_var.get() + 1); }
    plain &operator-=(T less) { return *this = static_cast<T>(m_var.get() - less); }

   private:
    model_var<T> m_var;
  };
};

class omp_model_thread {
 public:
  /// Until it is signalled, or for no reason.
  void wait() {
    if (!m_word.is_signalled())
      park([] { return true; });
    m_word.clear();
  }
  template <class Holds>
  void wait_for(Holds holds) {
    if (!holds())
      return;
    if (!m_word.is_signalled())
      park(holds);
    m_word.clear();
  }
  void signal() {
    if (model_frame *const f = m_word.signal())
      make_ready(*f);
  }
  model_frame *take() { return m_word.take(); }
  bool wake() {
    model_frame *const f = take();
    if (f)
      make_ready(*f);
    return f != nullptr;
  }

 private:
  template <class Holds>
  void park(Holds holds) {
    suspend([&](model_frame &f) { return m_word.publish(f, holds); });
  }

  weft_omp::parker_word<model_frame, omp_atomics> m_word;
};

/// Waiting on words, as event.cpp of the layer does it.
struct omp_events {
  weft_omp::sleeper_list<omp_model_thread, omp_atomics> list;
  omp_model_thread members[3];
  void wait_while(omp_model_thread &me, const model_atomic<std::uint32_t> &word,
                  std::uint32_t value) {
    weft_omp::word_sleeper<omp_model_thread, omp_atomics> s{&word, &me};
    if (!list.enter(s, word, value))
      return;
    while (!s.is_woken())
      me.wait();
  }
  bool wake_one(const void *word) {
    omp_model_thread *const found = list.take(word);
    if (found)
      found->signal();
    return found != nullptr;
  }
  void wake_all(const void *word) {
    list.take_all(word, [](omp_model_thread &found) { found.signal(); });
  }
};

} // namespace weft_model
