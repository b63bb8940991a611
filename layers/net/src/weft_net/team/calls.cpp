// SPDX-License-Identifier: Apache-2.0
// Collective calls that a rank has started: a task makes them one after another, in the order of their starts, which
// is the same at all ranks. The task is there while calls are.
#include "weft_net/team/state.hpp"

#include <weft/function.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <sched.h>

namespace weft::inline v0 {
namespace net::detail {

/// Is such a call.
struct team_state::started_call {
  call what;
  std::shared_ptr<void> context; // of `what`
  promise<void> ends;
  started_call *next = nullptr;
};

void team_state::make(const call &what) {
  check_process();
  bool is_first = true;
  {
    const std::lock_guard guard(lock);
    is_first = !makes_calls;
  }
  if (is_first)
    make_now(what);
  else
    start_call(what).get();
}

future<void> team_state::start_call(const call &what, std::shared_ptr<void> context) {
  check_process(); // before a promise starts Weft in the child
  std::unique_ptr<started_call> one;
  try {
    one = std::make_unique<started_call>();
  } catch (const std::bad_alloc &) {
    throw error(errc::out_of_resources, std::string("no memory for a ") + what.name + " of " +
                                            who() + "; wait for earlier operations first");
  }
  one->what = what;
  one->context = std::move(context);
  future<void> result = one->ends.get_future();
  bool begins = false;
  {
    const std::lock_guard guard(lock);
    begins = !std::exchange(makes_calls, true);
    (first_call ? last_call->next : first_call) = one.get();
    last_call = one.release();
  }
  if (begins)
    begin_calls();
  return result;
}

/// Spawns the task; where it cannot be, the calls fail.
void team_state::begin_calls() noexcept {
  try {
    weft::spawn_function([](void *self) { static_cast<team_state *>(self)->make_calls(); }, this,
                         nullptr, nullptr, {.label = "collective calls"});
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    while (started_call *const one = next_call()) {
      one->ends.set_exception(error);
      delete one;
    }
  }
}

/// Takes the call whose turn it is; null where none is left, and then the task is over.
team_state::started_call *team_state::next_call() noexcept {
  weft::event *over = nullptr;
  {
    const std::lock_guard guard(lock);
    made_call = first_call;
    if (first_call) {
      first_call = first_call->next;
      return made_call;
    }
    makes_calls = false;
    over = std::exchange(calls_over, nullptr);
  }
  if (over) // which ends the team
    over->set();
  return nullptr;
}

void team_state::make_calls() noexcept {
  while (started_call *const one = next_call()) {
    std::exception_ptr failed;
    try {
      make_now(one->what);
    } catch (...) {
      failed = std::current_exception();
    }
    one->context.reset(); // the waiter may count on it
    {
      const std::lock_guard guard(lock); // reports of waits read it
      made_call = nullptr;
    }
    if (failed)
      one->ends.set_exception(std::move(failed));
    else
      one->ends.set_value();
    delete one;
  }
}

void team_state::end_calls() noexcept {
  weft::event over;
  {
    const std::lock_guard guard(lock);
    is_ending = true;
    if (!makes_calls)
      return;
    calls_over = &over;
    fail_receiving();
  }
  try {
    over.wait();
  } catch (const weft::error &) { // it cannot suspend: the task ends nevertheless
    while (!over.is_set())
      sched_yield();
  }
}

void team_state::list_call(std::vector<layer::outside_wait> &to) const {
  const auto &[number, step, from] = receiving->name;
  const std::string what = std::string(receiving->call) + ", collective call " +
                           std::to_string(number) + " of " + who() + ", to get a message from";
  to.push_back(
      {layer::waiter_of(receiving->come), what, name_of_rank(from), receiving->name_of_task});
  if (made_call)
    to.push_back({layer::waiter_of(made_call->ends), what, name_of_rank(from)});
}

} // namespace net::detail
} // namespace weft::inline v0
