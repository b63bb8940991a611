// SPDX-License-Identifier: Apache-2.0
// Parallel regions and leagues that a thread of a watched process begins.
#pragma once

#include "tool/events.hpp"

namespace weft_omp {

/// The part that open and closed regions share.
class region_report {
 public:
  /// `asked`: the threads that the program asks for; 0: none in particular.
  omp_team &begin(thread &self, unsigned asked, unsigned threads, unsigned flags);
  void launch(thread &self, omp_team &team, const region_body &body, region_entry entry);

 protected:
  using caller = void (*)(const region_body &, ompt::data *exit);
  region_report(const region_body &body, caller call, const call_site &at, unsigned flags,
                ompt::work_kind first_work) noexcept;
  void enter_task(thread &self);

  watched_region m_region;
  watched_task m_task;

 private:
  const call_site m_at;
};

/// A region that ends in the call in which it begins.
class closed_region : public region_report {
 public:
  closed_region(const region_body &body, const call_site &at,
                ompt::work_kind first_work = ompt::work_kind::none,
                caller call = &call_with_frame) noexcept
      : region_report(body, call, at, ompt::k_by_runtime | ompt::k_team, first_work) {}
  void run(thread &self, const region_body &body);
  void end(thread &self) { finish_region(self, m_task); }
};

/// A region that ends in another call than that in which it begins. The program runs its body.
class open_region : public region_report {
 public:
  static open_region &make(const region_body &body, const call_site &at, caller call);
  /// Makes the caller's code that of the region's first implicit task. `frame`: the frame that runs
  /// it.
  void enter(thread &self, void *frame);
  /// Ends the region that the thread is in.
  static void close(thread &self);

 private:
  using region_report::region_report;
};

/// Runs a league as run_league() does.
void run_watched_league(thread &self, const region_body &body,
                        void (*call)(const region_body &, ompt::data *exit), unsigned teams,
                        unsigned limit, const call_site &at);

} // namespace weft_omp
