// SPDX-License-Identifier: Apache-2.0
#include "tool/regions.hpp"

#include "config/message.hpp"

#include <new>

namespace weft_omp {

region_report::region_report(const region_body &body, caller call, const call_site &at,
                             unsigned flags, ompt::work_kind first_work) noexcept
    : m_at(at) {
  m_region.body = body;
  m_region.call = call;
  m_region.flags = flags;
  m_region.first_work = first_work;
}

omp_team &region_report::begin(thread &self, unsigned asked, unsigned threads, unsigned flags) {
  begin_region(watched_self(self), m_region,
               asked ? asked : static_cast<unsigned>(self.task->settings->threads), m_at);
  return begin_team(self, threads, flags);
}

void region_report::launch(thread &self, omp_team &team, const region_body &body,
                           region_entry entry) {
  if (entry == region_entry::in_workshare) {
    const workshare &s = team.workshares[1 % k_open_workshares];
    m_region.first_count = s.total;
    if (m_region.first_work == ompt::work_kind::loop)
      m_region.first_work = work_of(s.schedule);
  }
  m_region.size = team.size;
  weft_omp::launch(self, team, {body.call, body.f, &m_region, 0}, entry);
}

void region_report::enter_task(thread &self) {
  watched_thread &me = watched_self(self);
  begin_implicit(me, m_task, m_region, 0);
  if (m_region.first_work != ompt::work_kind::none)
    begin_work(me, m_region.first_work, m_region.first_count, m_region.return_address);
}

void closed_region::run(thread &self, const region_body &body) {
  enter_task(self);
  m_region.call(body, &m_task.frame.exit);
}

open_region &open_region::make(const region_body &body, const call_site &at, caller call) {
  auto *const made = new (std::nothrow)
      open_region(body, call, at, ompt::k_by_program | ompt::k_team, ompt::work_kind::none);
  if (!made)
    fatal("no memory for what a tool watches");
  return *made;
}

void open_region::enter(thread &self, void *frame) {
  m_task.owner = this;
  enter_task(self);
  m_task.frame.exit.pointer = frame;
  m_task.frame.exit_flags = ompt::k_application | ompt::k_frame_pointer;
}

void open_region::close(thread &self) {
  watched_task *const task = watched_self(self).task;
  auto *const region = static_cast<open_region *>(task->owner);
  finish_region(self, *task);
  delete region;
}

// ---- leagues --------------------------------------------------------------------------------------

namespace {

/// What the body of a watched league needs for each of its teams.
struct league_part {
  watched_region region;
  const region_body body;
  void (*const call)(const region_body &, ompt::data *exit);
  unsigned teams;
};

void run_team_of_league(const region_body &body) {
  auto &part = *static_cast<league_part *>(body.arguments);
  thread &self = weft_omp::self();
  watched_thread &me = watched_self(self);
  watched_task mine;
  mine.flags = ompt::k_initial;
  mine.number = 0;
  mine.region = &part.region;
  mine.below = part.region.creator;
  me.task = &mine;
  const unsigned number = self.teams_number;
  report(ompt::event::implicit_task, static_cast<int>(ompt::endpoint::begin), &part.region.data,
         &mine.data, part.teams, number, static_cast<int>(ompt::k_initial));
  part.call(part.body, &mine.frame.exit);
  end_work(me, part.region.return_address);
  report(ompt::event::implicit_task, static_cast<int>(ompt::endpoint::end),
         static_cast<ompt::data *>(nullptr), &mine.data, 0u, number,
         static_cast<int>(ompt::k_initial));
  me.task = part.region.creator;
}

} // namespace

void run_watched_league(thread &self, const region_body &body,
                        void (*call)(const region_body &, ompt::data *exit), unsigned teams,
                        unsigned limit, const call_site &at) {
  watched_thread &me = watched_self(self);
  league_part part{{}, body, call, teams};
  part.region.flags = ompt::k_by_runtime | ompt::k_league;
  begin_region(me, part.region, teams, at);
  run_league(self, {&run_team_of_league, nullptr, &part, 0}, teams, limit);
  end_region(me, part.region);
}

} // namespace weft_omp
