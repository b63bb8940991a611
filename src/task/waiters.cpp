// SPDX-License-Identifier: Apache-2.0
#include "task/waiters.hpp"

#include "task/ready.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

WEFT_INLINE void fire_all(waiter *w, firing &all) noexcept {
  while (w) {
    waiter *const next = w->next; // the waiter may be gone when it has been fired
    w->fire(w, all);
    w = next;
  }
}

} // namespace

void fire_waiters(std::atomic<void *> &word, void *token, ready_list &ready) noexcept {
  if (waiter *const first = task_waiters::raise(word, token))
    fire_list(first, ready);
}

void fire_list(waiter *first, ready_list &ready) noexcept {
  firing all;
  all.ready = std::move(ready);
  fire_all(first, all);
  while (runnable *ended = all.ended.pop_front()) {
    auto &state = *static_cast<task *>(ended);
    fire_all(task_waiters::raise(state.done_word, k_done), all);
    drop_references(state, 1);
  }
  ready = std::move(all.ready);
}

void fire_waiters(std::atomic<void *> &word, void *token) noexcept {
  ready_list ready;
  fire_waiters(word, token, ready);
  enqueue_all(ready);
}

} // namespace rt
} // namespace weft::inline v0
