// SPDX-License-Identifier: Apache-2.0
// What the versions whose kernels and messages are tasks of Weft have in common.
#pragma once

#include "../apps/meter.hpp"
#include "../apps/run.hpp"
#include "../apps/uses.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

namespace net_bench {

class task_version {
 public:
  explicit task_version(meter &times) : m_times(times) {}

  template <class F>
  void run(std::size_t group, const uses &used, int priority, F f) {
    static_cast<void>(group);
    spawn(used, "kernel", priority, [this, f] {
      m_times.kernel(1);
      f();
      m_times.kernel(-1);
    });
  }
  [[nodiscard]] traffic sent() const { return {m_messages, m_bytes}; }

 protected:
  template <class F>
  void spawn(const uses &used, const char *label, int priority, F f) {
    std::array<weft::access, 10> list;
    std::size_t count = 0;
    for (const uses::one &u : used)
      list[count++] = {u.what, u.mode == how::in      ? weft::access_mode::in
                               : u.mode == how::out   ? weft::access_mode::out
                               : u.mode == how::inout ? weft::access_mode::inout
                                                      : weft::access_mode::concurrent};
    const weft::accesses all(std::span<const weft::access>(list.data(), count));
    if (priority != 0)
      weft::spawn(f, all, weft::label(label), weft::priority(priority));
    else
      weft::spawn(f, all, weft::label(label));
  }
  void clear() noexcept {
    m_messages = 0;
    m_bytes = 0;
  }
  void count(std::size_t messages, std::size_t bytes) noexcept {
    m_messages += messages;
    m_bytes += bytes;
  }
  /// Notes, when what `token` stands for has come, that it is awaited no more.
  void note_arrival(const token &come) {
    spawn(uses().in(come), "arrival", 0, [this] { m_times.awaited(-1); });
  }

  meter &m_times;

 private:
  std::atomic<std::size_t> m_messages{0}, m_bytes{0};
};

} // namespace net_bench
