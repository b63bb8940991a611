// SPDX-License-Identifier: Apache-2.0
#include "tool/tasks.hpp"

#include "config/message.hpp"
#include "team/hooks.hpp"
#include "thread/event.hpp"
#include "tool/events.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft_omp {

namespace {

void drop(watched_task &task) noexcept {
  if (task.references.fetch_sub(1, std::memory_order_acq_rel) == 1) // O1 of watched.hpp
    delete &task;
}

} // namespace

/// Knows for the children of a task, and each place in memory, which of them the next one follows.
/// The dependency system of the core orders the tasks; this only says so to a tool that asks.
//
// A place has groups: tasks that have written it, alone, or tasks of one other kind, side by side.
// A task follows those of the group before its own that are not over. A task that names all memory
// (omp_all_memory) writes each place, those that are named later, too.
class sibling_order {
 public:
  /// Reports which siblings a new task follows. `is_kept`: later siblings may follow it.
  void enter(thread &self, watched_task &task, const watched_creation &creation, bool is_kept) {
    const guard locked(m_lock, self);
    for (std::size_t i = 0; i < creation.count; ++i)
      enter_one(task, creation.dependences[i], is_kept);
    m_told.clear();
  }
  /// Notes that a task is over. Afterwards no report names it.
  void leave(thread &self, watched_task &task) {
    const guard locked(m_lock, self);
    task.is_over = true;
  }

 private:
  struct reference {
    watched_task *task;
    explicit reference(watched_task &of) noexcept : task(&of) {
      task->references.fetch_add(1, std::memory_order_relaxed);
    }
    reference(reference &&other) noexcept : task(std::exchange(other.task, nullptr)) {}
    reference &operator=(reference &&other) noexcept {
      std::swap(task, other.task);
      return *this;
    }
    ~reference() {
      if (task)
        drop(*task);
    }
  };
  struct place {
    std::vector<reference> before, now;
    ompt::dependence_kind kind = ompt::dependence_kind::out; // of `now`
  };
  class guard {
   public:
    guard(word_lock &lock, thread &self) noexcept : m_lock(lock), m_self(self) {
      m_lock.lock(m_self);
    }
    ~guard() { m_lock.unlock(m_self); }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;

   private:
    word_lock &m_lock;
    thread &m_self;
  };

  static bool names_all_memory(ompt::dependence_kind kind) noexcept {
    using enum ompt::dependence_kind;
    return kind == out_all_memory || kind == inout_all_memory;
  }
  static bool writes(ompt::dependence_kind kind) noexcept {
    using enum ompt::dependence_kind;
    return kind == out || kind == inout;
  }
  void enter_all(watched_task &task, bool is_kept) {
    for (const auto &[pointer, at] : m_places)
      for (const reference &r : at.now)
        tell(*r.task, task);
    for (const reference &r : m_everywhere)
      tell(*r.task, task);
    if (!is_kept)
      return;
    m_places.clear();
    m_everywhere.clear();
    m_everywhere.emplace_back(task);
  }
  place &place_of(void *pointer) {
    const auto [found, is_new] = m_places.try_emplace(pointer);
    if (is_new)
      for (const reference &r : m_everywhere)
        found->second.now.emplace_back(*r.task);
    return found->second;
  }
  void enter_one(watched_task &task, const ompt::dependence &dependence, bool is_kept) {
    if (names_all_memory(dependence.kind))
      return enter_all(task, is_kept);
    place &at = place_of(dependence.variable.pointer);
    const bool joins = !writes(dependence.kind) && dependence.kind == at.kind;
    for (const reference &r : joins ? at.before : at.now)
      tell(*r.task, task);
    if (!is_kept)
      return;
    if (!joins) {
      at.before = std::move(at.now);
      at.now.clear();
      at.kind = dependence.kind;
    }
    std::erase_if(at.now, [](const reference &r) { return r.task->is_over; });
    at.now.emplace_back(task);
  }
  void tell(watched_task &first, watched_task &second) {
    if (first.is_over || &first == &second ||
        std::find(m_told.begin(), m_told.end(), &first) != m_told.end())
      return;
    m_told.push_back(&first);
    report(ompt::event::task_dependence, &first.data, &second.data);
  }

  word_lock m_lock;
  std::unordered_map<void *, place> m_places;
  std::vector<reference> m_everywhere; // the last task that has named all memory
  std::vector<const watched_task *> m_told; // that the new task follows
};

namespace {

/// Ends a task for its siblings, before the tool learns of its end.
void leave_siblings(thread &self, watched_task &task) {
  if (task.among_siblings)
    task.among_siblings->leave(self, task);
}

void report_schedule(watched_task &from, ompt::task_status status, watched_task *to) {
  report(ompt::event::task_schedule, &from.data, static_cast<int>(status),
         to ? &to->data : static_cast<ompt::data *>(nullptr));
}

void report_creation(thread &self, watched_task &task, const watched_creation &creation,
                     bool is_kept = true) {
  watched_thread &me = watched_self(self);
  report(ompt::event::task_create, &me.task->data,
         static_cast<const ompt::frame *>(&me.task->frame), &task.data,
         static_cast<int>(task.flags), creation.count != 0 ? 1 : 0, creation.return_address);
  if (creation.count == 0)
    return;
  report(ompt::event::dependences, &task.data, creation.dependences,
         static_cast<int>(creation.count));
  if (!callback_for<ompt::function>(ompt::event::task_dependence))
    return;
  if (!me.task->among_children)
    me.task->among_children = std::make_shared<sibling_order>();
  if (is_kept)
    task.among_siblings = me.task->among_children;
  me.task->among_children->enter(self, task, creation, is_kept);
}

/// Makes `task` the one that the thread runs, and returns the one before.
watched_task &switch_to(watched_thread &me, const thread &self, watched_task &task) {
  watched_task &before = *me.task;
  task.below = &before;
  task.region = before.region;
  task.number = self.number;
  report_schedule(before, me.yields ? ompt::task_status::yield : ompt::task_status::switched,
                  &task);
  me.yields = false;
  me.task = &task;
  return before;
}

void switch_back(watched_thread &me, watched_task &task, ompt::task_status status) {
  watched_task *const before = task.below;
  me.task = before;
  report_schedule(task, status, before);
}

/// Ends the record of a task that has been left as detached, or as discarded.
void end_late(thread &self, watched_task &task) {
  if (!task.is_discarded) {
    leave_siblings(self, task);
    report_schedule(task, ompt::task_status::late_fulfill, nullptr);
  }
  drop(task);
}

/// Ends the body of the task that the thread runs, and goes back to the task before.
void end_body(thread &self, watched_task &task) {
  watched_thread &me = watched_self(self);
  if (task.has_event && !task.is_discarded && !task.ends.is_fulfilled()) {
    switch_back(me, task, ompt::task_status::detach); // before another thread may end the record
    if (task.ends.end_body())
      end_late(self, task); // the event was fulfilled meanwhile
    return;
  }
  leave_siblings(self, task);
  switch_back(me, task,
              is_cancelled(*self.task) ? ompt::task_status::cancel : ompt::task_status::complete);
  if (!task.is_discarded || !task.has_event || task.ends.end_body())
    drop(task); // else its event may be fulfilled later
}

watched_task *new_task(const omp_task &task, const watched_creation &creation) {
  auto *const made = new (std::nothrow) watched_task;
  if (!made)
    fatal("no memory for what a tool watches");
  made->flags = ompt::k_explicit | (task.undeferred ? ompt::k_undeferred : 0u) |
                (creation.is_untied || task.body == &untied_mark ? ompt::k_untied : 0u) |
                (task.is_final ? ompt::k_final : 0u);
  made->has_event = task.detachable;
  made->bytes = creation.bytes;
  made->memory = task.argument;
  made->is_chunk = creation.is_chunk;
  made->first = creation.first;
  made->iterations = creation.iterations;
  return made;
}

} // namespace

void untied_mark(void *) noexcept {}

watched_task *watched_part(const omp_task &task) noexcept {
  return task.body == &run_watched_task ? static_cast<watched_task *>(task.argument) : nullptr;
}

void watched_creation::created(thread &self, omp_task &task, const task_clauses &) const {
  watched_task &made = *new_task(task, *this);
  made.body = task.body;
  made.entry = task.kmp_entry;
  made.argument = task.argument;
  made.is_copied = task.is_copied;
  task.body = &run_watched_task;
  task.kmp_entry = nullptr;
  task.argument = &made;
  task.is_copied = true; // run_watched_task() looks whether the task is cancelled
  report_creation(self, made, *this);
}

void watched_creation::created_chunk(thread &self, omp_task &task, const task_clauses &clauses,
                                     std::uint64_t first_value,
                                     std::uint64_t count_of_iterations) const {
  watched_creation chunk = *this;
  chunk.is_chunk = true;
  chunk.first = first_value;
  chunk.iterations = count_of_iterations;
  chunk.created(self, task, clauses);
}

void run_watched_task(void *p) {
  auto &task = *static_cast<watched_task *>(p);
  thread &self = weft_omp::self();
  watched_thread &me = watched_self(self);
  omp_task &running = *self.task;
  switch_to(me, self, task);
  const state_change change(me, ompt::state::work_parallel);
  task.is_discarded = !task.is_copied && is_cancelled(running) &&
                      !(task.entry && has_begun(static_cast<const kmp_task *>(task.argument)));
  if (task.is_discarded) {
    report(ompt::event::cancel, &task.data, ompt::k_taskgroup | ompt::k_discarded,
           static_cast<const void *>(nullptr));
    if (running.destroys)
      destroy_unused(self, static_cast<kmp_task *>(task.argument));
    note_discard(running);
  } else {
    if (task.is_chunk)
      report_chunk(me, ompt::dispatch_kind::taskloop_chunk, task.first, task.iterations);
    task.frame.exit.pointer = __builtin_frame_address(0);
    do {
      running.again = false;
      if (task.entry)
        task.entry(static_cast<int>(self.gtid), static_cast<kmp_task *>(task.argument));
      else
        task.body(task.argument);
    } while (running.again && running.undeferred);
    task.frame.exit.pointer = nullptr;
  }
  if (running.again) // an untied task, at the end of a part
    return switch_back(me, task, ompt::task_status::switched);
  end_body(self, task);
}

void begin_watched_here(thread &self, omp_task &task, const watched_creation &creation,
                        void *frame_of_program) {
  watched_thread &me = watched_self(self);
  task.undeferred = true;
  watched_task &made = *new_task(task, creation);
  // The compiled code runs the task, so the frame that runs it is the program's, and so is the one
  // by which the task before came here.
  made.frame.exit.pointer = frame_of_program;
  made.frame.exit_flags = ompt::k_application | ompt::k_frame_pointer;
  me.task->frame.enter.pointer = frame_of_program;
  me.task->frame.enter_flags = ompt::k_application | ompt::k_frame_pointer;
  task.body = &run_watched_task; // for report_fulfillment()
  task.argument = &made;
  report_creation(self, made, creation);
  switch_to(me, self, made);
}

void end_watched_here(thread &self) {
  watched_thread &me = watched_self(self);
  end_body(self, *me.task);
  me.task->frame.enter.pointer = nullptr;
}

void report_fulfillment(thread &self, omp_task &task) {
  watched_task *const part = watched_part(task);
  if (!part || !part->has_event)
    return;
  if (!part->ends.is_body_over()) {
    report_schedule(*part, ompt::task_status::early_fulfill, nullptr);
    if (!part->ends.fulfil())
      return; // else the body ended meanwhile, as one that is detached or discarded
  }
  end_late(self, *part);
}

void report_wait_begin(thread &self, watched_task &task, const watched_creation &creation) {
  task.flags = ompt::k_taskwait | ompt::k_undeferred | ompt::k_mergeable;
  report_creation(self, task, creation, false);
}
void report_wait_end(watched_thread &me, watched_task &task) {
  report_schedule(task, ompt::task_status::taskwait_complete, me.task);
}

} // namespace weft_omp
