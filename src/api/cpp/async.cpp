// SPDX-License-Identifier: Apache-2.0
// How coroutines wait for synchronization objects and groups. The protocols: src/sync, task/wait/lock_queue.hpp and
// task/wait/coroutine.hpp.
#include "api/cpp/coro.hpp"
#include "api/cpp/sync.hpp"
#include "base/clock.hpp"
#include "sync/barrier.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/semaphore.hpp"
#include "sync/shared_lock.hpp"
#include "task/wait/lock_queue.hpp"
#include "task/wait/signal_word.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/async.hpp>

#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace detail {
namespace {

template <class State>
State &state_of(const async_wait &wait) noexcept {
  return *static_cast<State *>(wait.object);
}

wait_place place_of(const async_wait &wait) noexcept {
  switch (wait.kind) {
  case async_kind::writer:
  case async_kind::reader:
    return place_in(state_of<shared_lock_state<>>(wait), waits_for::mutex);
  case async_kind::semaphore:
    return place_in(state_of<semaphore_state<>>(wait), waits_for::semaphore);
  case async_kind::latch:
    return place_in(state_of<latch_state<>>(wait), waits_for::latch);
  case async_kind::barrier:
    return place_in(state_of<barrier_state<>>(wait), waits_for::barrier);
  case async_kind::event:
    return place_in(state_of<event_state<>>(wait), waits_for::event);
  case async_kind::once:
    return place_in(state_of<semaphore_state<>>(wait), waits_for::call_once);
  case async_kind::notification:
  case async_kind::bare_notification:
    return place_in_list(wait.object, *wait.list, waits_for::notification);
  case async_kind::sleep:
    return place_in_list(wait.object, *wait.list, waits_for::nothing);
  case async_kind::channel:
    break;
  }
  return place_in_list(wait.object, *wait.list, waits_for::channel);
}

/// Lets the coroutine go on if it was left; else the leaver does.
void resume(wait_node<> &node) {
  if (void *const waiting = raise_signal(node.signal, k_done))
    enqueue_ready(*static_cast<runnable *>(waiting));
}

/// Lets the coroutine take its mutex if it was left; else the leaver does.
void resume_locked(wait_node<> &node) {
  auto &self = static_cast<async_notification &>(node);
  if (raise_signal(node.signal, k_done))
    unless(
        bug::coroutine_locks_late, [&] { async_lock_wait::take_or_leave(&self.again); },
        [&] { enqueue_ready(*self.goes_on); });
}

} // namespace

/// Says what the awaiters of coro.hpp and of async.hpp wait for.
struct coro_waits {
  /// Returns nothing of time, a turn, and other libraries.
  static wait_reason of(const coro_root &root) noexcept {
    const auto is = [&root](void (*leave)(void *) noexcept) { return root.leave == leave; };
    if (is(&task_end::leave))
      return {waits_for::end_of_task, awaiter<task_end>(root).awaited};
    if (is(&limited_task_end::leave))
      return {waits_for::end_of_task, awaiter<limited_task_end>(root).awaited};
    if (is(&async_wait::leave))
      return {place_of(awaiter<async_wait>(root)).what, awaiter<async_wait>(root).object};
    if (is(&async_notification::leave_unlocked))
      return {waits_for::notification, awaiter<async_notification>(root).object};
    if (is(&async_lock_wait::take_or_leave))
      return {waits_for::lock, awaiter<async_lock_wait>(root).lock};
    if (is(&async_group::leave))
      return {waits_for::group, &awaiter<async_group>(root).group->internals()};
    if (is(&async_children::leave))
      return {waits_for::children, root.self};
    if (is(&limited_children::leave))
      return children_of(root, awaiter<limited_children>(root).group);
    return {};
  }

 private:
  template <class Awaiter>
  static Awaiter &awaiter(const coro_root &root) noexcept {
    return *static_cast<Awaiter *>(root.context);
  }
  static wait_reason children_of(const coro_root &root, task_group *group) noexcept {
    return group ? wait_reason{waits_for::group, &group->internals()}
                 : wait_reason{waits_for::children, root.self};
  }
};

/// Holds what may end a wait early. Nothing of it touches the coroutine before it was left.
struct async_limits {
  explicit async_limits(async_wait &waiting) : place(place_of(waiting)), wait{waiting, place} {
    if (waiting.limit.deadline_ns != UINT64_MAX)
      deadline.emplace(wait);
  }
  wait_place place;
  cancellable wait;
  std::optional<deadline_call> deadline;
  std::optional<std::stop_callback<stop_call>> stop;
};

void async_wait::prepare() {
  rt::begin_wait(*this);
  wait_node<>::resume = kind == async_kind::notification ? &resume_locked : &detail::resume;
  if (limit.deadline_ns == UINT64_MAX && !may_be_stopped(limit))
    return;
  void *const block = coro_allocate(sizeof(async_limits));
  try {
    limits = ::new (block) async_limits(*this);
  } catch (...) {
    coro_free(block);
    throw;
  }
}

bool async_wait::take_or_enter() {
  const sync_guard here(object);
  switch (kind) {
  case async_kind::reader:
    shared = true;
    [[fallthrough]];
  case async_kind::writer:
    return rt::take_or_enter(state_of<shared_lock_state<>>(*this), *this);
  case async_kind::semaphore:
  case async_kind::once:
    return rt::take_or_enter(state_of<semaphore_state<>>(*this), *this);
  case async_kind::latch:
    return find_down_or_enter(state_of<latch_state<>>(*this), *this);
  case async_kind::barrier:
    return find_over_or_enter(state_of<barrier_state<>>(*this), phase, *this);
  case async_kind::event:
    return find_set_or_enter(state_of<event_state<>>(*this), *this);
  case async_kind::notification:
  case async_kind::bare_notification:
  case async_kind::channel:
  case async_kind::sleep:
    break;
  }
  rt::enter(*list, *this);
  return false;
}

bool async_wait::arm() noexcept {
  if (!limits)
    return is_raised(signal, k_done);
  if (limit.deadline_ns <= now_ns())
    limits->wait.end(wait_end::timed_out);
  if (limits->deadline && !is_raised(signal, k_done))
    limits->deadline->at(limit.deadline_ns);
  if (limit.stop && !is_raised(signal, k_done))
    limits->stop.emplace(*limit.stop, stop_call{limits->wait});
  return is_raised(signal, k_done);
}

void async_wait::drop_limits() noexcept {
  limits->~async_limits();
  coro_free(std::exchange(limits, nullptr));
}

void async_wait::leave(void *p) noexcept {
  auto &self = *static_cast<async_wait *>(p);
  runnable &goes_on = *self.goes_on;
  note_wait(self, {place_of(self).what, self.object, may_be_stopped(self.limit)});
  if (!wait_for_signal(self.signal, goes_on))
    enqueue_ready(goes_on);
}

void async_in_list::enter() noexcept { (void)take_or_enter(); }

void async_in_list::withdraw() noexcept { rt::withdraw(object, *list, *this); }

void async_notification::leave_unlocked(void *p) noexcept {
  auto &self = *static_cast<async_notification *>(p);
  note_wait(self, {waits_for::notification, self.object, may_be_stopped(self.limit)});
  if (!wait_for_signal(self.signal, *self.goes_on))
    async_lock_wait::take_or_leave(&self.again);
}

void async_lock_wait::take_or_leave(void *p) noexcept {
  auto &self = *static_cast<async_lock_wait *>(p);
  runnable &goes_on = *self.goes_on;
  using node_type = lock_waiter<runnable>;
  static_assert(sizeof(node_type) <= sizeof(self.node));
  note_wait(self, {waits_for::lock, self.lock});
  auto *const node = ::new (static_cast<void *>(self.node)) node_type;
  if (take_or_wait(*self.lock, *node, goes_on))
    enqueue_ready(goes_on);
}

// ---- tasks, and time

void async_group::leave(void *p) noexcept {
  auto &self = *static_cast<async_group *>(p);
  auto &waiting = *static_cast<task *>(self.goes_on);
  group_state &g = self.group->internals();
  note_wait(self, {waits_for::group, &g});
  if (!enter_waiter(task_scope(g), waiting))
    enqueue_ready(waiting);
}

bool async_children::await_ready() noexcept {
  const task &t = *this_worker_or_null()->current;
  return t.children.done(t.owned_children);
}

void async_children::leave(void *p) noexcept {
  auto &self = *static_cast<async_children *>(p);
  auto &waiting = *static_cast<task *>(self.goes_on);
  note_wait(self, {waits_for::children, &waiting});
  if (!enter_waiter(task_scope(waiting), waiting))
    enqueue_ready(waiting);
}

void async_children::await_resume() {
  task &t = *this_worker_or_null()->current;
  end_wait_for_children(t);
  rethrow_children_error(t);
}

bool limited_children::await_ready() const {
  return group ? async_group(*group).await_ready() : async_children::await_ready();
}

bool limited_children::await_resume() {
  if (limits)
    disarm();
  if (how != wait_end::granted)
    return false;
  group ? async_group(*group).await_resume() : async_children::await_resume();
  return true;
}

void async_sleep::prepare() {
  auto *const made = ::new (coro_allocate(sizeof(timer::call))) timer::call;
  call = made;
  try {
    the_runtime().clock.prepare(*made);
  } catch (...) {
    await_resume();
    throw;
  }
  made->context = goes_on;
  made->f = [](void *waiting) { enqueue_ready(*static_cast<runnable *>(waiting)); };
}

void async_sleep::leave(void *p) noexcept {
  auto &self = *static_cast<async_sleep *>(p);
  the_runtime().clock.at(self.until_ns, *static_cast<timer::call *>(self.call));
}

void async_sleep::await_resume() noexcept {
  std::destroy_at(static_cast<timer::call *>(call));
  coro_free(call);
}

void async_turn::leave(void *p) noexcept {
  enqueue(this_worker_or_null(), *static_cast<async_turn *>(p)->goes_on, origin::yielded);
}

} // namespace detail

wait_reason rt::reason_of_leaving(const detail::coro_root &root) noexcept {
  return detail::coro_waits::of(root);
}

} // namespace weft::inline v0
