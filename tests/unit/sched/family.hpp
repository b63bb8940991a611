// SPDX-License-Identifier: Apache-2.0
// Tasks that never run, for tests of which worker gets which task.
#pragma once

#include "support/scale.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <deque>

namespace test {

/// Children of one root, unrelated tasks, grandchildren: numbered as they were made.
class family {
 public:
  using task = weft::rt::task;

  task &root() { return m_root; }
  task &child(int priority = 0) { return child_of(m_root, priority); }
  task &unrelated(int priority = 0) { return child_of(m_other_root, priority); }
  task &child_of(task &parent, int priority = 0) {
    task &t = m_tasks.emplace_back(weft::detail::k_no_body, &parent, nullptr);
    t.priority = static_cast<std::int16_t>(priority);
    return t;
  }
  task &operator[](int i) { return m_tasks[static_cast<std::size_t>(i)]; }

 private:
  task m_root{"root"}, m_other_root{"other root"};
  std::deque<task> m_tasks;
};

} // namespace test
