// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/log.hpp"
#include "worker/runtime.hpp"

#include <new>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace rt {

void group_failed(group_state &g, const task &, std::exception_ptr error) noexcept {
  const bool cancels = g.policy == exception_policy::first_cancels;
  g.lock.lock();
  if (!g.errors)
    g.errors = new std::vector<std::exception_ptr>;
  if (!cancels || g.errors->empty())
    g.errors->push_back(std::move(error));
  g.lock.unlock();
  if (!cancels)
    return;
  g.cancelled.store(true, std::memory_order_relaxed); // a hint to skip; what the failed task wrote travels with the group's word
  g.lock.lock();
  std::stop_source *stop = g.stop ? new std::stop_source(*g.stop) : nullptr;
  g.lock.unlock();
  if (stop)
    stop->request_stop();
  delete stop;
}

} // namespace rt

task_group::task_group(exception_policy policy) {
  static_assert(sizeof(state) <= sizeof(m_state));
  worker &w = this_worker();
  auto *s = ::new (static_cast<void *>(m_state)) state;
  s->owner = w.current;
  s->policy = policy == exception_policy::by_setting ? default_exception_policy() : policy;
}

namespace {

void forget_errors(group_state &s) noexcept {
  delete s.errors;
  s.errors = nullptr;
}


} // namespace

task_group::~task_group() {
  state &s = internals();
  try {
    if (s.owner->label != k_parent_process) [[likely]] // else its tasks run in the parent process
      wait_for_group(s);
  } catch (const error &e) {
    fatal("a task group cannot be waited for: %s", e.what());
  }
  if (s.errors)
    for (const std::exception_ptr &error : *s.errors)
      report_lost("of a group", error);
  forget_errors(s);
  delete s.stop;
  s.~state();
}

void task_group::wait() {
  state &s = internals();
  if (this_worker().current != s.owner)
    throw_error(errc::invalid_argument, "task_group::wait() is called by task '%s', but the group belongs to task '%s'; "
                "wait where the group was made", label_of(*this_worker().current), label_of(*s.owner));
  wait_for_group(s);
  s.cancelled.store(false, std::memory_order_relaxed);
  if (s.stop && s.stop->stop_requested())
    *s.stop = std::stop_source();
  if (!s.errors)
    return;
  std::vector<std::exception_ptr> errors = std::move(*s.errors);
  forget_errors(s);
  if (errors.empty())
    return;
  if (s.policy == exception_policy::collect_all)
    throw exception_list(errors.data(), errors.size());
  std::rethrow_exception(std::move(errors.front()));
}

void task_group::cancel() noexcept {
  state &s = internals();
  s.cancelled.store(true, std::memory_order_relaxed); // a hint to skip; orders nothing
  s.lock.lock();
  std::stop_source stop(std::nostopstate);
  if (s.stop)
    stop = *s.stop;
  s.lock.unlock();
  stop.request_stop();
}

bool task_group::cancelled() const noexcept {
  return const_cast<task_group *>(this)->internals().cancelled.load(std::memory_order_relaxed);
}

std::stop_token task_group::stop_token() {
  state &s = internals();
  auto fresh = std::make_unique<std::stop_source>();
  s.lock.lock();
  if (!s.stop)
    s.stop = fresh.release();
  std::stop_token token = s.stop->get_token();
  s.lock.unlock();
  return token;
}

// ---- exception_list ------------------------------------------------------------------------------------------------

struct exception_list::shared {
  std::atomic<int> references{1};
  std::vector<std::exception_ptr> errors;
};

exception_list::exception_list(std::exception_ptr *first, std::size_t count) : m_shared(new shared) {
  m_shared->errors.assign(first, first + count);
}
exception_list::exception_list(const exception_list &other) noexcept : std::exception(other), m_shared(other.m_shared) {
  m_shared->references.fetch_add(1, std::memory_order_relaxed);
}
exception_list::~exception_list() {
  if (m_shared->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete m_shared;
}
const char *exception_list::what() const noexcept { return "tasks of a group have thrown; look into the exception_list"; }
std::size_t exception_list::size() const noexcept { return m_shared->errors.size(); }
const std::exception_ptr &exception_list::operator[](std::size_t i) const noexcept { return m_shared->errors[i]; }
const std::exception_ptr *exception_list::begin() const noexcept { return m_shared->errors.data(); }
const std::exception_ptr *exception_list::end() const noexcept { return begin() + size(); }

} // namespace weft::inline v0
