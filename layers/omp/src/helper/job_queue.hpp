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
  Job &next(runner &own) {
    {
      std::lock_guard lock(m_lock);
      if (Job *const job = take_first())
        return *job;
      own.next_idle = std::exchange(m_idle, &own);
    }
    for (;;) {
      own.is->own_parker.wait(*own.is, 0);
      std::lock_guard lock(m_lock);
      if (Job *const job = std::exchange(own.given, nullptr))
        return *job;
    }
  }

  /// Gives the job to a runner that waits. False: no runner waits. `self` is null on a thread inside
  /// of Weft.
  [[nodiscard]] bool give_to_idle(thread *self, Job &job) noexcept {
    return hand_over(self, job, if_none_waits::refuse);
  }
  /// Gives the job to a runner that waits, or keeps it for the runner that comes next.
  void give(thread *self, Job &job) noexcept { (void)hand_over(self, job, if_none_waits::keep); }

 private:
  enum class if_none_waits : bool { refuse, keep };
  bool hand_over(thread *self, Job &job, if_none_waits then) noexcept {
    runner *r = nullptr;
    {
      std::lock_guard lock(m_lock);
      r = m_idle;
      if (r) {
        m_idle = r->next_idle;
        r->given = &job;
      } else if (then == if_none_waits::keep) {
        append(job);
      }
    }
    if (r)
      r->is->own_parker.signal(self);
    return r != nullptr;
  }
  void append(Job &job) noexcept {
    job.newer = nullptr;
    (m_last ? m_last->newer : m_first) = &job;
    m_last = &job;
  }
  Job *take_first() noexcept {
    Job *const job = m_first;
    if (job && !(m_first = job->newer))
      m_last = nullptr;
    return job;
  }

  spin_lock m_lock;
  runner *m_idle = nullptr;
  Job *m_first = nullptr, *m_last = nullptr;
};

} // namespace weft_omp
