// SPDX-License-Identifier: Apache-2.0
// The functionality dispatcher: callbacks of modules and users, run where time is to spare.
#pragma once

#include <weft/service.hpp>

#include <atomic>
#include <mutex>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// The services of one place. One thread polls at a time; a second one that comes does not wait.
class service_list {
public:
  struct entry {
    const char *name;
    bool (*f)(void *);
    void *context;
    place where;
  };

  void add(entry *e);
  /// Returns when no call of `e` is running. Not from inside a service of the same place.
  void remove(entry *e);
  /// True when a service did something.
  bool poll();
  [[nodiscard]] bool empty() const noexcept {
    return m_count.load(std::memory_order_relaxed) == 0; // a hint: a late look polls one round later
  }

private:
  std::mutex m_mutex;
  std::vector<entry *> m_entries;
  std::atomic<std::size_t> m_count{0};
};

service_list &services(place where) noexcept;

} // namespace rt
} // namespace weft::inline v0
