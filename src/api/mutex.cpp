// SPDX-License-Identifier: Apache-2.0
// weft::mutex, the contended side.
//
// Roles: a holder; waiters. Word: null free; 1 held, nobody new waits; else the newest waiter (held), linked to older ones.
//   m_queue: waiters in order of arrival, of the holder. Invariants: I1 a waiter's node is in the word's list or in m_queue, once,
//   until the lock is its own. I2 unlock hands the lock over: the word stays held. Orders: O1 acquire on taking, O2 release on
//   giving up, O3 publishing a node: release, so that the holder reads it whole; the holder's exchange acquires it.
// Progress: blocking; waiters suspend. Reclamation: a node lies on its waiter's stack; the hand-over (make_ready) is its last touch.
// Checked by: tests/unit/api/mutex_test.cpp, tests/stress/fuzz.cpp.
#include "base/error.hpp"
#include "worker/runtime.hpp"

#include <weft/mutex.hpp>

#include <map>
#include <mutex>
#include <string>

namespace weft::inline v0 {

using namespace rt;

namespace {

struct waiter {
  frame *suspended;
  waiter *next;
};

struct lock_call {
  std::atomic<void *> *word;
  waiter node;
};

void *const k_locked = reinterpret_cast<void *>(std::uintptr_t{1});

void publish_waiter(executor &, frame &f, void *p) {
  auto &call = *static_cast<lock_call *>(p);
  std::atomic<void *> &word = *call.word;
  call.node.suspended = &f;
  void *seen = word.load(std::memory_order_relaxed);
  for (;;) {
    if (!seen) {
      if (word.compare_exchange_weak(seen, k_locked, std::memory_order_acquire, std::memory_order_relaxed)) // O1
        return make_ready(f);
      continue;
    }
    call.node.next = seen == k_locked ? nullptr : static_cast<waiter *>(seen);
    if (word.compare_exchange_weak(seen, &call.node, std::memory_order_release, std::memory_order_relaxed)) // O3
      return;
  }
}

} // namespace

void mutex::lock_slow() {
  this_worker();
  lock_call call{&m_word, {}};
  suspend(&publish_waiter, &call);
}

void mutex::unlock_slow() {
  auto *oldest = static_cast<waiter *>(m_queue);
  if (!oldest) {
    void *seen = m_word.exchange(locked(), std::memory_order_acquire); // O3: the nodes are read whole
    if (!seen) {
      m_word.store(nullptr, std::memory_order_relaxed); // as it was
      throw_error(errc::invalid_argument, "a weft::mutex is unlocked that nobody holds; unlock once per lock");
    }
    for (auto *w = static_cast<waiter *>(seen); w;) { // newest first: turn it round
      waiter *older = w->next;
      w->next = oldest;
      oldest = w;
      w = older;
    }
  }
  m_queue = oldest->next; // read before the waiter goes on: its node is gone then
  make_ready(*oldest->suspended);
}

namespace detail {

mutex &critical_mutex(const char *name) {
  static std::mutex guard;
  static auto *all = new std::map<std::string, mutex>; // never destroyed: tasks may outlive static destructors
  std::lock_guard lock(guard);
  return (*all)[name];
}

} // namespace detail
} // namespace weft::inline v0
