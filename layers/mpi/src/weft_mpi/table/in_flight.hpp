// SPDX-License-Identifier: Apache-2.0
// What tasks wait for: calls of suspended tasks, and requests that are bound to tasks.
//
// Roles       Any thread adds. The poller, one thread at a time, asks MPI and ends what is over.
// Invariants  I1  What is added is either in the list of additions or in the poller's own lists.
//             I2  A call or a binding is ended once, by the poller, when it is in neither.
//             I3  count() is the number of what was announced and has not ended. It is changed
//                 under the lock, before an addition and after the end.
// Progress    Blocking: one spin lock, held for a few instructions.
// Reclamation A call is on the stack of its task, which goes on when the poller resumes it. The
//             poller frees bindings.
// Checked by  layers/mpi/tests/in_flight_test.cpp, also under ThreadSanitizer
#pragma once

#include "weft_mpi/table/atomics.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft_mpi {

/// Names a task that waits, for reports.
struct waiter {
  const void *what = nullptr; // null: not known
  std::string name;
};

/// Is a call of a suspended task.
class call {
 public:
  explicit call(const char *name) noexcept : m_name(name) {}
  call(const call &) = delete;
  call &operator=(const call &) = delete;
  [[nodiscard]] const char *name() const noexcept { return m_name; }

 protected:
  ~call() = default;

 private:
  template <class Mpi>
  friend class in_flight;
  /// Asks MPI whether the call may end.
  virtual bool has_ended() noexcept = 0;
  /// Lets the task go on: the last use of the object.
  virtual void resume() noexcept = 0;
  /// Says what the call waits for, for people.
  [[nodiscard]] virtual std::string describe() const { return m_name; }
  /// Says which task waits.
  [[nodiscard]] virtual waiter who() const { return {}; }

  const char *m_name;
  call *m_next = nullptr;
};

/// Holds calls and bindings. `Mpi` has
///   request, status, owner     types: of MPI, and the task that a request is bound to
///   origin                     type: what is known of the call that began a request
///   test_some(n, requests, indices, statuses) -> found    the completed ones, which are now over
///   end(owner, name, status of the request, where the user wants it)
///   `text(origin)`, `who(owner)`   in words: "" where nothing is known; the task
template <class Mpi>
class in_flight {
 public:
  using request = typename Mpi::request;
  using status = typename Mpi::status;
  using owner = typename Mpi::owner;
  using origin = typename Mpi::origin;

  /// Is a request whose end takes back an event of a task.
  struct binding {
    request handle;
    status *wanted; ///< null: the user wants none
    owner task;
    origin began{};
  };

  /// Says what one round found, and whether anything is left.
  struct round {
    std::size_t ended = 0;
    bool is_fresh = false; ///< something was added since the last round
    bool is_empty = false; ///< nothing was asked about; what is in flight is announced alone
  };

  /// Announces `n` additions. Returns how many were in flight before.
  std::size_t announce(std::size_t n) noexcept {
    const std::lock_guard lock(m_lock);
    return std::exchange(m_count, m_count + n);
  }
  /// Takes back what was announced and not added.
  void withdraw(std::size_t n) noexcept {
    const std::lock_guard lock(m_lock);
    m_count -= n;
  }
  [[nodiscard]] std::size_t count() noexcept {
    const std::lock_guard lock(m_lock);
    return m_count;
  }

  /// Adds a call, which was announced. The poller may resume it before this function returns.
  void add(call &added) noexcept {
    const std::lock_guard lock(m_lock);
    added.m_next = std::exchange(m_new_calls, &added);
  }
  /// Adds bindings, which were announced.
  ///
  /// Errors. std::bad_alloc; nothing was added.
  void add(std::span<const binding> list, const char *name) {
    auto made = std::make_unique<addition>();
    made->list.assign(list.begin(), list.end());
    made->name = name;
    const std::lock_guard lock(m_lock);
    made->next = m_new_bindings;
    m_new_bindings = made.release();
  }

  /// Asks about `most` calls and `most` bindings. Threads. The poller.
  round poll(std::size_t most) {
    round r;
    r.is_fresh = take_additions();
    r.is_empty = m_calls.empty() && m_requests.empty();
    r.ended = poll_calls(most) + poll_bindings(most);
    if (r.ended != 0)
      withdraw(r.ended);
    return r;
  }

  /// Says what is in flight, `most` calls and what is known of as many bound requests. Threads. The poller.
  [[nodiscard]] std::vector<std::string> describe(std::size_t most) const {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < m_calls.size() && made.size() < most; ++i)
      made.push_back(m_calls[i]->describe());
    if (m_calls.size() > most)
      made.push_back(std::to_string(m_calls.size() - most) + " other calls");
    if (!m_names.empty())
      made.push_back(std::to_string(m_names.size()) +
                     (m_names.size() == 1 ? " request" : " requests") + " by " + m_names[0] +
                     known_requests(most));
    return made;
  }

  /// Calls `f(waiter, text)` for what is in flight, but for additions on whose list another thread is at work.
  /// Threads. Any, while the poller is kept out: so no task goes on.
  template <class F>
  void try_list(F &&f) {
    for (const call *one : m_calls)
      f(one->who(), one->describe());
    for (std::size_t i = 0; i < m_names.size(); ++i)
      f(Mpi::who(m_ends[i].task), text_of_binding(m_names[i], m_ends[i].began));
    const std::unique_lock lock(m_lock, std::try_to_lock);
    if (!lock)
      return;
    for (const call *one = m_new_calls; one; one = one->m_next)
      f(one->who(), one->describe());
    for (const addition *one = m_new_bindings; one; one = one->next)
      for (const binding &b : one->list)
        f(Mpi::who(b.task), text_of_binding(one->name, b.began));
  }

  /// Calls `visit(name)` for what is in flight, at most `most` times, if no other thread is at work
  /// on the lists of additions. For a signal handler, while the poller is not inside.
  template <class Visit>
  void try_visit(std::size_t most, Visit &&visit) noexcept {
    for (std::size_t i = 0; i < m_calls.size() && most != 0; ++i, --most)
      visit(m_calls[i]->m_name);
    for (std::size_t i = 0; i < m_names.size() && most != 0; ++i, --most)
      visit(m_names[i]);
    if (!m_lock.try_lock())
      return;
    for (call *c = m_new_calls; c && most != 0; c = c->m_next, --most)
      visit(c->m_name);
    m_lock.unlock();
  }

 private:
  struct addition {
    addition *next = nullptr;
    std::vector<binding> list;
    const char *name = nullptr;
  };

  bool take_additions() {
    call *calls;
    addition *bindings;
    {
      const std::lock_guard lock(m_lock);
      calls = std::exchange(m_new_calls, nullptr);
      bindings = std::exchange(m_new_bindings, nullptr);
    }
    const bool any = calls || bindings;
    for (; calls; calls = calls->m_next)
      m_calls.push_back(calls);
    while (bindings) {
      const std::unique_ptr<addition> now(std::exchange(bindings, bindings->next));
      for (const binding &b : now->list) {
        m_requests.push_back(b.handle);
        m_ends.push_back({b.wanted, b.task, b.began});
        m_names.push_back(now->name);
      }
    }
    return any;
  }

  std::size_t poll_calls(std::size_t most) noexcept {
    std::size_t ended = 0;
    for (std::size_t looks = std::min(most, m_calls.size()); looks != 0; --looks) {
      if (m_next_call >= m_calls.size())
        m_next_call = 0;
      call *const now = m_calls[m_next_call];
      if (!now->has_ended()) {
        ++m_next_call;
        continue;
      }
      m_calls[m_next_call] = m_calls.back();
      m_calls.pop_back();
      ++ended;
      now->resume();
    }
    return ended;
  }

  std::size_t poll_bindings(std::size_t most) {
    if (m_requests.empty())
      return 0;
    if (m_next_binding >= m_requests.size())
      m_next_binding = 0;
    const std::size_t first = m_next_binding, n = std::min(most, m_requests.size() - first);
    m_indices.resize(n);
    m_statuses.resize(n);
    const std::size_t found =
        Mpi::test_some(n, m_requests.data() + first, m_indices.data(), m_statuses.data());
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t at = first + static_cast<std::size_t>(m_indices[i]);
      Mpi::end(m_ends[at].task, m_names[at], m_statuses[i], m_ends[at].wanted);
      m_names[at] = nullptr;
    }
    m_next_binding = first + n;
    if (found != 0)
      forget_ended(first, n, found);
    return found;
  }

  /// Fills the places of the ended bindings, which have no name, with the last ones.
  void forget_ended(std::size_t first, std::size_t n, std::size_t found) noexcept {
    for (std::size_t at = first + n; at-- > first;) {
      if (m_names[at])
        continue;
      m_requests[at] = m_requests.back();
      m_ends[at] = m_ends.back();
      m_names[at] = m_names.back();
      m_requests.pop_back();
      m_ends.pop_back();
      m_names.pop_back();
    }
    m_next_binding -= found;
  }

  static std::string text_of_binding(const char *name, const origin &began) {
    const std::string known = Mpi::text(began);
    return (known.empty() ? "a request" : known) + " (" + name + ")";
  }
  /// Returns ": MPI_Irecv from rank 1, tag 7, ...", "" where nothing is known of any.
  [[nodiscard]] std::string known_requests(std::size_t most) const {
    std::string all;
    for (const binding_end &end : m_ends) {
      const std::string one = Mpi::text(end.began);
      if (one.empty())
        continue;
      if (most-- == 0)
        return all + ", and others";
      all += (all.empty() ? ": " : ", ") + one;
    }
    return all;
  }

  struct binding_end {
    status *wanted;
    owner task;
    origin began;
  };

  spin_lock m_lock;
  std::size_t m_count = 0;
  call *m_new_calls = nullptr;
  addition *m_new_bindings = nullptr;

  // Of the poller.
  std::vector<call *> m_calls;
  std::size_t m_next_call = 0;
  std::vector<request> m_requests; // one beside the other, as MPI takes them
  std::vector<binding_end> m_ends;
  std::vector<const char *> m_names;
  std::size_t m_next_binding = 0;
  std::vector<int> m_indices;
  std::vector<status> m_statuses;
};

} // namespace weft_mpi
