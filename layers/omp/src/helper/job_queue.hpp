// SPDX-License-Identifier: Apache-2.0
// A queue between jobs and runners. A runner is a lightweight thread of no team that waits for a
// job.
// A job waits in the queue until a runner comes.
#pragma once

#include "thread/thread.hpp"

#include <mutex>
#include <utility>

namespace weft_omp {

/// Holds waiting jobs, linked by `newer`, or waiting runners.
template <class Job>
class job_queue {
 public:
  struct runner {
    thread *is;
    Job *given = nullptr;
    runner *next_idle = nullptr;
  };

  /// Returns the next job. The caller waits until there is one.
  Job &next(runner &r) {
    {
      std::lock_guard lock(m_lock);
      if (Job *const x = take_first())
        return *x;
      r.next_idle = std::exchange(m_idle, &r);
    }
    for (;;) {
      r.is->own_parker.wait(*r.is, 0);
      std::lock_guard lock(m_lock);
      if (Job *const x = std::exchange(r.given, nullptr))
        return *x;
    }
  }

  /// Gives the job to a runner that waits. False: no runner waits. `me` is null on a thread inside
  /// of Weft.
  [[nodiscard]] bool give_to_idle(thread *me, Job &x) noexcept { return hand_over(me, x, false); }
  /// Gives the job to a runner that waits, or keeps it for the runner that comes next.
  void give(thread *me, Job &x) noexcept { (void)hand_over(me, x, true); }

 private:
  bool hand_over(thread *me, Job &x, bool or_keep) noexcept {
    runner *r = nullptr;
    {
      std::lock_guard lock(m_lock);
      r = m_idle;
      if (r) {
        m_idle = r->next_idle;
        r->given = &x;
      } else if (or_keep) {
        append(x);
      }
    }
    if (r)
      r->is->own_parker.signal(me);
    return r != nullptr;
  }
  void append(Job &x) noexcept {
    x.newer = nullptr;
    (m_last ? m_last->newer : m_first) = &x;
    m_last = &x;
  }
  Job *take_first() noexcept {
    Job *const x = m_first;
    if (x && !(m_first = x->newer))
      m_last = nullptr;
    return x;
  }

  spin_lock m_lock;
  runner *m_idle = nullptr;
  Job *m_first = nullptr, *m_last = nullptr;
};

} // namespace weft_omp
