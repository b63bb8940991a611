// SPDX-License-Identifier: Apache-2.0
// What a watched process keeps of its threads, tasks and regions for the tool (tool.hpp). Only the
// thread itself uses its record; what the record refers to lives until the thread has left it.
//
// Roles       Dropper: the end of a task (task_ends.hpp), or a later sibling whose order names it.
// Orders      O1  references fetch_sub acq_rel: the last dropper sees what all others did.
// Reclamation The last reference deletes a task: that of its life, or one of a sibling order.
// Checked by  weft_omp_ompt_*
#pragma once

#include "team/team.hpp"
#include "tool/task_ends.hpp"
#include "tool/tool.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace weft_omp {

struct watched_task;
class sibling_order;

/// The call by which a task has entered this layer.
struct call_site {
  const void *return_address = nullptr;
  void *frame = nullptr; // of the entry point
  void *caller = nullptr; // the frame of the code that has called it, if that has a frame pointer
};

/// A parallel region or a league. It ends at the region's last barrier, and so does each member's
/// use of it.
struct watched_region {
  ompt::data data;
  region_body body; // what a member runs
  void (*call)(const region_body &, ompt::data *exit) = nullptr; // and how: it notes its frame
  const void *return_address = nullptr;
  watched_task *creator = nullptr;
  unsigned size = 1, flags = 0;
  ompt::work_kind first_work = ompt::work_kind::none; // which members are in from their begin on
  std::uint64_t first_count = 0;
};

/// A worksharing region that a task is in.
struct watched_work {
  ompt::work_kind kind = ompt::work_kind::none;
  std::uint64_t count = 0;
};

/// A task. An implicit one belongs to its thread or to a function of this layer; an explicit one
/// lies on the heap, from its creation to its end.
struct watched_task {
  ompt::data data;
  ompt::frame frame;
  unsigned flags = 0, number = 0; // number: of the thread in its region
  watched_region *region = nullptr; // null: it is over
  watched_task *below = nullptr; // what the thread ran before, or the creator of the region
  watched_work work;
  void *owner = nullptr; // of an implicit task: the region that another call ends

  // Of an explicit task: what the compiler has given, and how it ends.
  void (*body)(void *) = nullptr;
  int (*entry)(int, kmp_task *) = nullptr;
  void *argument = nullptr;
  void *memory = nullptr; // of its private variables
  std::size_t bytes = 0;
  bool is_copied = false, has_event = false;
  bool is_discarded = false; // written before its body is noted as over
  task_ends ends; // only with an event
  std::uint64_t first = 0, iterations = 0; // of a taskloop
  bool is_chunk = false;
  // Where the tool asks which tasks depend on each other:
  std::shared_ptr<sibling_order> among_siblings, among_children;
  std::atomic<unsigned> references{1};
  bool is_over = false; // with the lock of among_siblings

  watched_task() = default;
  watched_task(const watched_task &) = delete;
  watched_task &operator=(const watched_task &) = delete;
};

/// A thread of a watched process.
struct watched_thread {
  ompt::data data;
  watched_task *task = nullptr; // that runs
  ompt::state state = ompt::state::work_serial;
  std::uint64_t wait_id = 0;
  bool yields = false; // the next task runs at a taskyield
  bool is_initial = false;
  watched_region own_region; // of an initial thread
  watched_task own_task; // of an initial thread, or of a member
};

/// Returns what the tool's part keeps of a thread; null before the thread has begun.
[[nodiscard]] inline watched_thread *watched(const thread &who) noexcept {
  return static_cast<watched_thread *>(who.watched);
}
[[nodiscard]] inline watched_thread &watched_self(const thread &who) noexcept {
  return *watched(who);
}

[[nodiscard]] inline ompt::data *data_of(watched_region *region) noexcept {
  return region ? &region->data : nullptr;
}

/// Begin and end an implicit task of the calling thread.
void begin_implicit(watched_thread &me, watched_task &task, watched_region &region,
                    unsigned number);
void end_implicit(watched_thread &me, watched_task &task, unsigned size, watched_task *next);

/// Ends what the tool knows of the program's first thread and of its members, at the end of the
/// program.
void end_all_watched(thread &self);

/// Begins and ends a region of the calling thread. `asked`: the threads that it asks for.
void begin_region(watched_thread &me, watched_region &region, unsigned asked, const call_site &at);
void end_region(watched_thread &me, watched_region &region);
/// Waits at the end of the region whose implicit task the calling thread runs, and ends both.
void finish_region(thread &self, watched_task &task);
/// Calls a region's body as GCC compiles it, and notes the frame.
void call_with_frame(const region_body &body, ompt::data *exit);

/// A change of the thread's state, for as long as this object lives.
class state_change {
 public:
  state_change(watched_thread &me, ompt::state to, std::uint64_t wait_id = 0) noexcept
      : m_me(me), m_before(me.state) {
    me.state = to;
    me.wait_id = wait_id;
  }
  ~state_change() {
    m_me.state = m_before;
    m_me.wait_id = 0;
  }
  state_change(const state_change &) = delete;
  state_change &operator=(const state_change &) = delete;

 private:
  watched_thread &m_me;
  const ompt::state m_before;
};

} // namespace weft_omp
