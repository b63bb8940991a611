// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/wait_limits.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "deps/domain.hpp"
#include "deps/sharing/cohort.hpp"
#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/parent_process.hpp"
#include "task/groups/thread_groups.hpp"
#include "worker/functions.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/async.hpp>

#include <memory>
#include <new>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace rt {

namespace {

/// Has tasks that have not begun skipped, and tells the others by their token. What a failed task wrote
/// travels with the group's word, so `cancelled` orders nothing.
void cancel_group(group_state &group) noexcept {
  std::stop_source stop(std::nostopstate);
  group.lock.lock();
  group.cancelled.store(true, std::memory_order_relaxed);
  if (group.stop)
    stop = *group.stop;
  group.lock.unlock();
  stop.request_stop(); // callbacks of the user: without the lock
}

/// Makes a cancelled group usable again. Other threads may cancel it and ask for its token meanwhile.
/// A canceller holds the lock before, and stops the source that goes, or later, and stops the next one,
/// which stop_token() makes.
WEFT_COLD void end_cancellation(group_state &group) noexcept {
  group.lock.lock();
  group.cancelled.store(false, std::memory_order_relaxed);
  const std::unique_ptr<std::stop_source> stopped(std::exchange(group.stop, nullptr));
  group.lock.unlock();
}

/// Keeps an exception; the caller holds the lock. False: the group keeps it already, or has no
/// memory to keep it.
bool keep_error(group_state &group, std::exception_ptr &error) noexcept {
  if (!group.first_error) {
    group.first_error = std::move(error);
    return true;
  }
  if (group.policy == exception_policy::first_cancels)
    return true;
  try {
    if (!group.errors)
      group.errors = new std::vector<std::exception_ptr>;
    group.errors->push_back(error);
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

} // namespace

void group_failed(group_state &group, const task &t, std::exception_ptr error) noexcept {
  group.lock.lock();
  const bool kept = keep_error(group, error);
  group.lock.unlock();
  if (!kept)
    report_lost(label_of(t), error);
  if (group.policy == exception_policy::first_cancels)
    cancel_group(group);
}

bool report_kept(group_state &group) noexcept {
  const std::exception_ptr first = std::exchange(group.first_error, nullptr);
  if (!first)
    return false; // there are no further ones either
  report_lost("of a group", first);
  if (const std::vector<std::exception_ptr> *const others = std::exchange(group.errors, nullptr)) {
    for (const std::exception_ptr &error : *others)
      report_lost("of a group", error);
    delete others;
  }
  return true;
}

} // namespace rt

task_group::task_group(exception_policy policy) {
  static_assert(sizeof(listed_group) <= sizeof(m_state));
  worker &w = this_worker();
  auto *s = ::new (static_cast<void *>(m_state)) listed_group;
  s->owner = w.current;
  s->policy = policy == exception_policy::by_setting ? g_default_policy : policy;
  if (s->owner == &w.root)
    enter_group(*s);
}

namespace {

void forget_errors(group_state &group) noexcept {
  delete group.errors;
  group.errors = nullptr;
}

/// Throws all exceptions of the group. Without memory for the list it throws the first one and
/// reports the others.
void throw_all(group_state &group, const std::exception_ptr &first) {
  std::vector<std::exception_ptr> none, &more = group.errors ? *group.errors : none;
  try {
    more.insert(more.begin(), first);
    exception_list all(more.data(), more.size());
    forget_errors(group);
    throw all;
  } catch (const std::bad_alloc &) {
    for (const std::exception_ptr &other : more)
      if (other != first)
        report_lost("of a group", other);
    forget_errors(group);
  }
}

} // namespace

namespace {

WEFT_NOINLINE void wait_at_end(group_state &group) noexcept {
  try {
    if (group.owner->label != k_parent_process) // otherwise its tasks run in the parent process
      wait_for_group(group, exhausted::goes_on);
  } catch (const error &e) {
    fatal("a task group cannot be waited for: %s", e.what());
  }
}

WEFT_COLD void end_extras(group_state &group) noexcept {
  static_cast<void>(report_kept(group));
  forget_errors(group);
  delete group.stop;
}

} // namespace

namespace {

/// Ends a group in another task than the one that made it, or in none. The maker may be gone, so this
/// function reads nothing of it.
WEFT_NOINLINE void end_by_another(const group_state &group, const task *by) {
  if (group.word.done(group.owned) ||
      (functions_generation() != 0 &&
       is_of_parent_process(*group.owner))) // the latter: its tasks run in the parent process
    return;
  if (is_shut_down())
    fatal(
        "a task group outlives Weft, and its tasks are not complete, nor can they end any more; wait for it before shutdown()");
  fatal(
      "a task group is destroyed by %s%s%s, which did not make it, while its tasks are not complete; let the task that made it wait for them",
      by ? "task '" : "a thread of no task", by ? label_of(*by) : "", by ? "'" : "");
}

} // namespace

task_group::~task_group() {
  state &s = internals();
  const thread_context *const e = this_thread_context();
  const task *const by = e ? e->current : nullptr;
  if (by != s.owner) [[unlikely]]
    end_by_another(s, by);
  else if (!s.word.done(s.owned)) [[unlikely]]
    wait_at_end(s);
  else if (s.owner->children_domain) [[unlikely]]
    end_cohorts(*s.owner);
  if (s.first_error || s.errors || s.stop) [[unlikely]]
    end_extras(s);
  auto &listed = static_cast<listed_group &>(s);
  remove_group(listed);
  listed.~listed_group();
}

namespace {

void refuse_wait_of_another(const group_state &group) {
  if (this_worker().current != group.owner)
    throw_error(errc::invalid_argument,
                "task_group::wait() is called by task '%s', but the group belongs to task '%s'; "
                "wait where the group was made",
                label_of(*this_worker().current), label_of(*group.owner));
}

/// Prepares the group for its next use, and throws what its policy kept.
void deliver(group_state &group) {
  if (group.cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    end_cancellation(group);
  if (!group.first_error) [[likely]]
    return;
  std::exception_ptr first = std::exchange(group.first_error, nullptr);
  if (group.policy == exception_policy::collect_all)
    throw_all(group, first);
  std::rethrow_exception(std::move(first));
}

} // namespace

void task_group::wait() {
  state &s = internals();
  refuse_wait_of_another(s);
  if (const callback *const c = this_worker().in_callback) [[unlikely]]
    refuse_wait_in(*c);
  wait_for_group(s);
  deliver(s);
}

bool task_group::wait_within(const detail::wait_limit &limit) {
  state &s = internals();
  refuse_wait_of_another(s);
  if (const callback *const c = this_worker().in_callback) [[unlikely]]
    refuse_wait_in(*c);
  if (!rt::wait_within(task_scope(s), limit))
    return false;
  end_wait_for_group(s);
  deliver(s);
  return true;
}

namespace detail {

bool async_group::await_ready() const {
  const group_state &s = group->internals();
  refuse_wait_of_another(s);
  return s.word.done(s.owned);
}

void async_group::await_resume() const {
  group_state &s = group->internals();
  end_wait_for_group(s);
  deliver(s);
}

} // namespace detail

void task_group::cancel() noexcept { cancel_group(internals()); }

bool task_group::cancelled() const noexcept {
  return const_cast<task_group *>(this)->internals().cancelled.load(std::memory_order_relaxed);
}

std::stop_token task_group::stop_token() {
  state &s = internals();
  auto fresh = std::make_unique<std::stop_source>();
  s.lock.lock();
  if (!s.stop) {
    if (s.cancelled.load(std::memory_order_relaxed))
      fresh->request_stop(); // it has no callback yet
    s.stop = fresh.release();
  }
  std::stop_token token = s.stop->get_token();
  s.lock.unlock();
  return token;
}

// ---- exception_list ------------------------------------------------------------------------------------------------

struct exception_list::shared {
  std::atomic<int> references{1};
  std::vector<std::exception_ptr> errors;
};

exception_list::exception_list(std::exception_ptr *first, std::size_t count) {
  std::vector<std::exception_ptr> errors(first, first + count);
  m_shared = new shared;
  m_shared->errors = std::move(errors);
}
exception_list::exception_list(const exception_list &other) noexcept
    : std::exception(other), m_shared(other.m_shared) {
  m_shared->references.fetch_add(1, std::memory_order_relaxed);
}
exception_list::~exception_list() {
  if (m_shared->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete m_shared;
}
const char *exception_list::what() const noexcept {
  return "tasks of a group have thrown; look into the exception_list";
}
std::size_t exception_list::size() const noexcept { return m_shared->errors.size(); }
const std::exception_ptr &exception_list::operator[](std::size_t i) const noexcept {
  return m_shared->errors[i];
}
const std::exception_ptr *exception_list::begin() const noexcept { return m_shared->errors.data(); }
const std::exception_ptr *exception_list::end() const noexcept { return begin() + size(); }

} // namespace weft::inline v0
