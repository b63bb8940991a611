// SPDX-License-Identifier: Apache-2.0
#include "task/wait/waiters.hpp"

#include "task/ready.hpp"
#include "task/wait/hand_over.hpp"
#include "task/wait/listed_states.hpp"

#include <weft/detail/future.hpp>

namespace weft::inline v0 {
namespace rt {
namespace {

WEFT_INLINE void fire_all(waiter *waiting, firing &all) noexcept {
  while (waiting) {
    waiter *const next = waiting->next; // the waiter may be gone when it has been fired
    waiting->fire(waiting, all);
    waiting = next;
  }
}

struct inputs_in_turn {
  static std::size_t count(const detail::all_inputs &all) noexcept { return all.inputs.count; }
  static std::size_t passed(const detail::all_inputs &all) noexcept { return all.passed; }
  static void pass(detail::all_inputs &all, std::size_t n) noexcept { all.passed = n; }
  static std::atomic<void *> &end_of(const detail::all_inputs &all, std::size_t at) noexcept {
    return all.inputs.first[at]->done_word;
  }
};

} // namespace

bool attach_to_next(detail::all_inputs &all) noexcept {
  return attach_to_next<task_waiters, inputs_in_turn>(all);
}

void fire_input(waiter *self, firing &all) noexcept {
  auto &inputs = *static_cast<detail::all_inputs *>(self);
  if (!attach_to_next(inputs))
    all.ended.push_back(inputs.whole);
}

task *whole_of(const waiter &waiting) noexcept {
  return waiting.fire == &fire_input ? static_cast<const detail::all_inputs &>(waiting).whole
                                     : nullptr;
}

void fire_list(waiter *first, ready_list &ready) noexcept {
  firing all;
  all.ready = std::move(ready);
  fire_all(first, all);
  while (runnable *ended = all.ended.pop_front()) {
    auto &state = *static_cast<task *>(ended);
    if (waiter *const waiting = task_waiters::raise(state.done_word, k_done)) {
      remove_state(state);
      fire_all(waiting, all);
    }
    drop_references(state, 1);
  }
  ready = std::move(all.ready);
}

void fire_waiters(std::atomic<void *> &word, void *token) noexcept {
  waiter *const first = task_waiters::raise(word, token);
  if (!first)
    return;
  ready_list ready;
  fire_list(first, ready);
  enqueue_all(ready);
}

} // namespace rt
} // namespace weft::inline v0
