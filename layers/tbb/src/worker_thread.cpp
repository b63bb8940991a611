// SPDX-License-Identifier: Apache-2.0
#include "worker_thread.hpp"

#include <weft/layer/task.hpp>
#include <weft/layer/thread.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <pthread.h>

namespace weft_tbb {

namespace layer = weft::layer;

/// A lightweight thread. Its word is 0, k_signal, or the address of the parked thread.
struct thread_record {
  void (*run)(void *);
  void *argument;
  std::atomic<std::uintptr_t> word{0};
};

namespace {

constexpr std::uintptr_t k_signal = 1;

thread_local thread_record *t_self = nullptr; // right until the thread parks

[[gnu::noinline]] thread_record *self() noexcept { return t_self; }
[[gnu::noinline]] void set_self(thread_record *t) noexcept { t_self = t; }

void publish(weft::detail::runnable &parked, void *record) {
  thread_record &t = *static_cast<thread_record *>(record);
  std::uintptr_t none = 0;
  if (!t.word.compare_exchange_strong(none, reinterpret_cast<std::uintptr_t>(&parked))) {
    t.word.store(0);
    layer::unpark(parked);
  }
}

void main_of_thread(void *record) {
  thread_record *const t = static_cast<thread_record *>(record);
  set_self(t);
  t->run(t->argument);
  delete t;
}

} // namespace

thread_record *start_light_thread(std::size_t bytes, void (*run)(void *), void *argument,
                                  const char *&reason) noexcept {
  static char message[256];
  reason = "out of memory";
  thread_record *const t = new (std::nothrow) thread_record{run, argument};
  if (!t)
    return nullptr;
  try {
    layer::start_thread(bytes, &main_of_thread, t);
    return t;
  } catch (const std::exception &e) {
    std::snprintf(message, sizeof message, "%s", e.what());
    reason = message;
  }
  delete t;
  return nullptr;
}

void park_light_thread() noexcept {
  thread_record *const me = self();
  try {
    layer::park(&publish, me);
  } catch (const std::exception &) {
    layer::yield_now(); // no stack for others: the caller looks again
  }
  set_self(me);
}

void unpark(thread_record &sleeper) noexcept {
  std::uintptr_t was = sleeper.word.load();
  while (!sleeper.word.compare_exchange_weak(was, was > k_signal ? 0 : k_signal)) {
  }
  if (was > k_signal)
    layer::unpark(*reinterpret_cast<weft::detail::runnable *>(was));
}

void yield_light_thread() noexcept {
  thread_record *const me = self();
  layer::yield_now();
  set_self(me);
}

void call_in_weft(void (*f)(void *), void *argument) {
  thread_record *const me = self();
  f(argument);
  set_self(me);
}

bool runtime_is_gone() noexcept { return layer::is_over(); }
void forget_in_child(void (*forget)()) noexcept { pthread_atfork(nullptr, nullptr, forget); }
void outlive_exit(bool (*threads_compute)()) noexcept { layer::outlive_exit(threads_compute); }

} // namespace weft_tbb
