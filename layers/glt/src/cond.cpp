// SPDX-License-Identifier: Apache-2.0
#include "mutex.hpp"
#include "waiters.hpp"

#include <mutex>

using namespace weft_glt;

namespace {

struct condition {
  static constexpr kind_of_object k_kind{"a condition variable", "glt_cond_create()"};
  std::mutex guard; // held for a few instructions, never while a caller waits
  waiters waiting;
};

condition &find(const char *call, GLT_cond cond) noexcept {
  return object_of<condition>(call, number_of(cond));
}

} // namespace

void glt_cond_create(GLT_cond *cond) {
  static_cast<void>(new_object<condition>("glt_cond_create", cond));
}

void glt_cond_free(GLT_cond *cond) {
  require("glt_cond_free", cond, "cond");
  condition &c = find("glt_cond_free", *cond);
  {
    const std::lock_guard here(c.guard);
    if (!c.waiting.empty())
      misuse("glt_cond_free", "callers wait for the condition variable; wake them with "
                              "glt_cond_broadcast() before it is freed");
  }
  free_object<condition>(cond);
}

void glt_cond_signal(GLT_cond cond) {
  condition &c = find("glt_cond_signal", cond);
  waiter *first = nullptr;
  {
    const std::lock_guard here(c.guard);
    first = c.waiting.take();
  }
  if (first)
    in_weft("glt_cond_signal", [first] { host::wake(first->place); });
}

void glt_cond_broadcast(GLT_cond cond) {
  condition &c = find("glt_cond_broadcast", cond);
  waiter *all = nullptr;
  {
    const std::lock_guard here(c.guard);
    all = c.waiting.take_all();
  }
  in_weft("glt_cond_broadcast", [all] { waiters::resume_all(all); });
}

void glt_cond_wait(GLT_cond cond, GLT_mutex mutex_to_give_up) {
  condition &c = find("glt_cond_wait", cond);
  weft_glt::mutex &m = object_of<weft_glt::mutex>("glt_cond_wait", number_of(mutex_to_give_up));
  in_weft("glt_cond_wait", [&] {
    const void *const self = weft_glt::mutex::caller();
    if (!m.is_held_by(self))
      misuse("glt_cond_wait",
             "the caller does not hold the mutex; lock it with glt_mutex_lock() first");
    auto left = [&c, &m](waiter &waiting) {
      weft_glt::mutex &given_up = m; // the caller's stack may go on after the waiter is added
      {
        const std::lock_guard here(c.guard);
        c.waiting.add(waiting);
      }
      given_up.give_up();
    };
    wait_until_resumed(left);
    m.take_by(self);
  });
}
