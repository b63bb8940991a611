// SPDX-License-Identifier: Apache-2.0
// What layers have announced to be asked for reports.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Holds sources with the functions that ask them. Never destroyed: threads may end late.
template <class Function>
class sources {
 public:
  /// Throws std::bad_alloc.
  void add(void *source, Function *ask) {
    const std::lock_guard guard(m_lock);
    m_all.emplace_back(source, ask);
  }
  /// No call of the function goes on afterwards.
  void remove(const void *source) noexcept {
    const std::lock_guard guard(m_lock);
    std::erase_if(m_all, [source](const auto &one) { return one.first == source; });
  }
  /// Calls f(source, function) until it returns false, which it then returns, too. Calls nothing
  /// where a fork has left the lock to a thread of the parent.
  template <class F>
  [[nodiscard]] bool visit(F f) {
    const std::unique_lock guard(m_lock, std::try_to_lock);
    if (guard)
      for (const auto &[source, ask] : m_all)
        if (!f(source, ask))
          return false;
    return true;
  }

 private:
  std::mutex m_lock;
  std::vector<std::pair<void *, Function *>> m_all;
};

} // namespace rt
} // namespace weft::inline v0
