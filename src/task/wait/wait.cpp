// SPDX-License-Identifier: Apache-2.0
#include "task/wait/wait.hpp"

#include "base/error.hpp"
#include "deps/domain.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "deps/registration.hpp"
#include "deps/sharing/cohort.hpp"
#include "task/hooks.hpp"
#include "task/parent_process.hpp"
#include "task/poll_hook.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/signal_word.hpp"
#include "task/wait/wait_policy.hpp"
#include "task/wait/waiters.hpp"
#include "trace/session.hpp"

#include <pthread.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Suspends the current frame. Returns false if no stack was to be had; then `publish` has not been
/// called.
bool try_suspend(left_function publish, void *context, exhausted how, wait_reason why) {
  try {
    suspend(publish, context, why);
    return true;
  } catch (const error &e) {
    if (e.code() != errc::out_of_resources)
      throw;
    // No task waits for a thread's own code, so whatever runs on top of that code cannot wait for
    // what is below.
    const bool is_task = this_thread_context()->current->parent != nullptr;
    if (how == exhausted::throws && is_task)
      throw;
    get_by();
    return false;
  }
}

/// Marks a thread of the user that runs tasks while it waits. These tasks are not its own code:
/// pthread_cancel() takes effect afterwards. One mark serves all waits that are nested on the
/// thread's stack.
class hosting {
 public:
  hosting() noexcept {
    thread_context &e = *this_thread_context();
    if (e.pool_stack || e.hosts)
      return;
    m_home = &e;
    e.hosts = true;
    enter_overall(*e.counts);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m_before);
  }
  ~hosting() {
    if (!m_home)
      return;
    leave_overall(*m_home->counts, m_home->time);
    m_home->hosts = false; // the thread's own stack is continued by the thread only
    pthread_setcancelstate(m_before, nullptr);
  }
  hosting(const hosting &) = delete;
  hosting &operator=(const hosting &) = delete;

 private:
  thread_context *m_home = nullptr;
  int m_before = 0;
};

/// Settles the scope for a frame that has been left.
void settle_after(frame &suspended, void *of) {
  if (!enter_waiter(*static_cast<const task_scope *>(of), suspended))
    make_ready(suspended);
}

void settle_and_work(thread_context &, frame &suspended, void *of) { settle_after(suspended, of); }
void settle_and_nap(thread_context &here, frame &suspended, void *of) {
  nap(here, suspended, &settle_after, of);
}

/// Waits as wait_in() does, by a policy other than help.
WEFT_COLD void wait_by_policy(const task_scope &within, const lineage &waited_for,
                              exhausted how) {
  for (std::uint32_t helped = 0; !within.is_over();) {
    const wait_policy &policy = wait_policy_in_use();
    if (policy.helps(helped) && help(waited_for, within.word, within.owned)) {
      ++helped;
      continue;
    }
    if (has_managers() && apply_messages(*this_thread_context(), poll_point::taskwait))
      continue;
    const left_function leave =
        policy.sleeps() && prepare_nap() ? &settle_and_nap : &settle_and_work;
    if (try_suspend(leave, const_cast<task_scope *>(&within), how, within.reason()))
      break;
  }
}

WEFT_NOINLINE void wait_in(const task_scope &within, exhausted how) {
  const traced_wait traced(within);
  const hosting host;
  const lineage waited_for{within.parent, within.group};
  if (const std::uint32_t here = services_at(poll_point::taskwait)) [[unlikely]] {
    if (here != k_has_wait_policy)
      poll_services_now(poll_point::taskwait);
    if (here & k_has_wait_policy)
      return wait_by_policy(within, waited_for, how);
  }
  while (!within.is_over()) {
    if (help(waited_for, within.word, within.owned))
      continue;
    if (has_managers() && apply_messages(*this_thread_context(), poll_point::taskwait)) [[unlikely]]
      continue;
    if (try_suspend(&settle_and_work, const_cast<task_scope *>(&within), how, within.reason()))
      break;
  }
}

/// Waits until the word is raised. Returns false when no stack was to be had.
bool wait_on_word(std::atomic<void *> &word, exhausted how, wait_reason why) {
  struct waiting : frame_waiter {
    std::atomic<void *> *word = nullptr;
  } mine;
  mine.word = &word;
  return try_suspend(
      [](thread_context &, frame &suspended, void *p) {
        auto &w = *static_cast<waiting *>(p);
        w.left = &suspended;
        if (!task_waiters::attach(*w.word, w))
          make_ready(suspended);
      },
      &mine, how, why);
}

} // namespace

bool enter_waiter(const task_scope &within, runnable &waiter) noexcept {
  runnable *&slot = within.waiter; // *&within may be on the stack of the waiter
  slot = &waiter;
  if (!within.word.settle(within.owned))
    return true;
  slot = nullptr;
  return false;
}

bool withdraw_waiter(const task_scope &within) noexcept {
  if (!within.word.withdraw(within.owned))
    return false;
  within.waiter = nullptr;
  return true;
}

traced_wait::traced_wait(const task_scope &within) noexcept : m_group(within.group) {
  if (traces(trace_level::graph)) [[unlikely]]
    m_since = read_ticks();
}

void traced_wait::put() noexcept {
  if (tracer *x = this_thread_context()->trace)
    x->ring.put(trace_event::waited, 0, x->ring.running, m_since,
                reinterpret_cast<std::uintptr_t>(m_group));
}

void wait_for_children(task &t, exhausted how) {
  if (!t.children.done(t.owned_children))
    wait_in(task_scope(t), how);
  end_wait_for_children(t);
}

void end_wait_for_children(task &t) {
  t.children.reset();
  t.owned_children = 0;
  children_are_complete(t);
}

void wait_for_group(group_state &group, exhausted how) {
  if (!group.word.done(group.owned))
    wait_in(task_scope(group), how);
  end_wait_for_group(group);
}

void end_wait_for_group(group_state &group) {
  group.word.reset();
  group.owned = 0;
  end_cohorts(*group.owner);
}

void refuse_task_of_parent(const task &t) {
  if (is_of_parent_process(t))
    throw_error(
        errc::invalid_argument,
        "task '%s' was spawned before fork(): only the parent process runs it; wait for it there",
        label_of(t));
}

void suspend_until_done(task &t, exhausted how) {
  while (!is_raised(t.done_word, k_done))
    if (wait_on_word(t.done_word, how, {waits_for::end_of_task, &t}))
      break;
}

void wait_until_runnable(task &t) {
  while (!is_raised(t.done_word, k_runnable_now))
    if (wait_on_word(t.done_word, exhausted::goes_on, {waits_for::start_of_task, &t}))
      break;
  t.done_word.store(nullptr, std::memory_order_relaxed); // not shared until it runs
}

void rethrow_children_error(task &t) {
  task_extra *x = peek_extra(t);
  if (!x || !x->children_error)
    return;
  std::exception_ptr error = std::exchange(x->children_error, nullptr);
  x->failing.store(false,
                   std::memory_order_release); // O4: pairs with the exchange of the next failure
  std::rethrow_exception(std::move(error));
}

} // namespace rt
} // namespace weft::inline v0
