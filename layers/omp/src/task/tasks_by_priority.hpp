// SPDX-License-Identifier: Apache-2.0
// Ready tasks by priority: larger ones first, and the oldest first among equals. There is a list for
// each priority that a task has, so the cost of entering a task grows with the logarithm of their
// number. Not for several threads at once.
//
// Checked by  tests/unit/omp/tasks_by_priority_test.cpp
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace weft_omp {

/// Holds tasks, linked by `newer` and `older`. Their priorities are 0 or more.
template <class Task>
class tasks_by_priority {
 public:
  void add(Task &task) {
    list &with = task.priority == 0 ? m_plain : list_of(task.priority);
    task.newer = nullptr;
    task.older = with.newest;
    (with.newest ? with.newest->newer : with.oldest) = &task;
    with.newest = &task;
  }
  /// Returns the task that goes before all others. Null: there is none.
  [[nodiscard]] const Task *first() const noexcept {
    return m_others.empty() ? m_plain.oldest : m_others.begin()->second.oldest;
  }
  /// Takes the first task that suits. Null: none does.
  template <class F>
  [[nodiscard]] Task *take(F suits) {
    for (auto at = m_others.begin(); at != m_others.end(); ++at)
      if (Task *const task = take_from(at->second, suits)) {
        if (!at->second.oldest)
          m_unused.push_back(m_others.extract(at));
        return task;
      }
    return take_from(m_plain, suits);
  }

 private:
  struct list {
    Task *oldest = nullptr, *newest = nullptr;
  };
  using lists = std::map<int, list, std::greater<>>;

  list &list_of(int priority) {
    const auto at = m_others.lower_bound(priority);
    if (at != m_others.end() && at->first == priority)
      return at->second;
    if (m_unused.empty())
      return m_others.emplace_hint(at, priority, list())->second;
    auto fresh = std::move(m_unused.back());
    m_unused.pop_back();
    fresh.key() = priority;
    return m_others.insert(at, std::move(fresh))->second;
  }
  template <class F>
  static Task *take_from(list &from, F &suits) {
    Task *task = from.oldest;
    while (task && !suits(*task))
      task = task->newer;
    if (task) {
      (task->newer ? task->newer->older : from.newest) = task->older;
      (task->older ? task->older->newer : from.oldest) = task->newer;
    }
    return task;
  }

  list m_plain;   // of priority 0
  lists m_others; // none is empty
  std::vector<typename lists::node_type> m_unused;
};

} // namespace weft_omp
