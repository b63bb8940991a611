// SPDX-License-Identifier: Apache-2.0
// Threads, regions and implicit tasks of a watched process.
#include "tool/watched.hpp"

#include "team/barrier.hpp"
#include "tool/events.hpp"

#include <new>

namespace weft_omp {
namespace {

void report_thread(watched_thread &me, ompt::thread_kind kind) {
  report(ompt::event::thread_begin, static_cast<int>(kind), &me.data);
}

void begin_initial_task(watched_thread &me) {
  me.is_initial = true;
  me.own_task.flags = ompt::k_initial;
  me.own_task.region = &me.own_region;
  me.task = &me.own_task;
  report(ompt::event::implicit_task, static_cast<int>(ompt::endpoint::begin), &me.own_region.data,
         &me.own_task.data, 1u, 1u, static_cast<int>(ompt::k_initial));
}

void report_end(watched_thread &me) {
  if (me.is_initial)
    report(ompt::event::implicit_task, static_cast<int>(ompt::endpoint::end),
           static_cast<ompt::data *>(nullptr), &me.own_task.data, 0u, 1u,
           static_cast<int>(ompt::k_initial));
  report(ompt::event::thread_end, &me.data);
}

} // namespace

void begin_watched(thread &self, watched_as how) {
  auto *const me = new (std::nothrow) watched_thread;
  if (!me)
    fatal("no memory for what a tool watches");
  self.watched = me;
  if (how == watched_as::member) {
    me->state = ompt::state::idle;
    return report_thread(*me, ompt::thread_kind::worker);
  }
  report_thread(*me,
                how == watched_as::initial ? ompt::thread_kind::initial : ompt::thread_kind::other);
  begin_initial_task(*me);
}

void end_watched(thread &self) noexcept {
  watched_thread *const me = watched(self);
  if (!me)
    return;
  report_end(*me);
  self.watched = nullptr;
  delete me;
}

void end_all_watched(thread &self) {
  if (forget_threads(self))
    wait_for_leaving_members(&self);
  report_end(watched_self(self)); // a call that is under way may still use the record
}

void begin_implicit(watched_thread &me, watched_task &task, watched_region &region,
                    unsigned number) {
  task.data.value = 0;
  task.frame = {};
  task.flags = ompt::k_implicit | (region.size == 1 ? ompt::k_undeferred : 0u);
  task.number = number;
  task.region = &region;
  task.below = region.creator;
  task.among_children.reset();
  me.task = &task;
  me.state = ompt::state::work_parallel;
  report(ompt::event::implicit_task, static_cast<int>(ompt::endpoint::begin), &region.data,
         &task.data, region.size, number, static_cast<int>(ompt::k_implicit));
}

void end_implicit(watched_thread &me, watched_task &task, unsigned size, watched_task *next) {
  report(ompt::event::implicit_task, static_cast<int>(ompt::endpoint::end),
         static_cast<ompt::data *>(nullptr), &task.data, size, task.number,
         static_cast<int>(ompt::k_implicit));
  me.task = next;
}

void run_watched(thread &self, const region_body &body, bool in_workshare) {
  watched_thread &me = watched_self(self);
  auto &region = *static_cast<watched_region *>(body.arguments);
  begin_implicit(me, me.own_task, region, self.number);
  if (in_workshare && region.first_work != ompt::work_kind::none)
    begin_work(me, region.first_work, region.first_count, region.return_address);
  region.call(region.body, &me.own_task.frame.exit);
}

void wait_watched(thread &self) {
  watched_thread &me = watched_self(self);
  watched_task &task = me.own_task;
  const unsigned size = task.region->size;
  wait_at_end(me, nullptr, [&self] { final_barrier(self); });
  end_implicit(me, task, size, nullptr);
  me.state = ompt::state::idle;
}

// ---- regions that the calling thread begins -------------------------------------------------------

void begin_region(watched_thread &me, watched_region &region, unsigned asked, const call_site &at) {
  region.return_address = at.return_address;
  region.creator = me.task;
  me.task->frame.enter.pointer = at.frame;
  me.task->frame.enter_flags = ompt::k_runtime | ompt::k_frame_pointer;
  report(ompt::event::parallel_begin, &me.task->data,
         static_cast<const ompt::frame *>(&me.task->frame), &region.data, asked,
         static_cast<int>(region.flags), region.return_address);
}

void end_region(watched_thread &me, watched_region &region) {
  me.task = region.creator;
  me.state = me.task->below || !(me.task->flags & ompt::k_initial) ? ompt::state::work_parallel
                                                                   : ompt::state::work_serial;
  report(ompt::event::parallel_end, &region.data, &me.task->data, static_cast<int>(region.flags),
         region.return_address);
  me.task->frame.enter.pointer = nullptr;
}

void finish_region(thread &self, watched_task &task) {
  watched_thread &me = watched_self(self);
  watched_region &region = *task.region;
  wait_at_end(me, region.return_address, [&self] { end_team(self); });
  end_implicit(me, task, region.size, region.creator);
  end_region(me, region);
}

void call_with_frame(const region_body &body, ompt::data *exit) {
  exit->pointer = __builtin_frame_address(0);
  reinterpret_cast<void (*)(void *)>(body.f)(body.arguments);
  exit->pointer = nullptr;
}

} // namespace weft_omp
