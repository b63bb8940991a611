// SPDX-License-Identifier: Apache-2.0
// A thread of the process that looks whether something arrives at its teams, and reports what they
// wait for when nothing has for a while (net.stall).
#pragma once

#include <weft/net/stall.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weft_net {

using weft::net::stall_watched;

class stall_watch {
 public:
  static stall_watch &of_process();
  /// Looks at a team from now on, until remove(). Without a thread for it, there are no reports.
  void add(stall_watched &one) noexcept;
  void remove(stall_watched &one) noexcept;
  /// Says where a report of the only rank of this process goes; nothing: to standard error.
  void set_sink(std::function<void(const std::string &)> sink);
  /// Returns what the rank that is alone in this process waits for.
  [[nodiscard]] std::string report_alone();

 private:
  using clock = std::chrono::steady_clock;
  void run();
  void look(clock::time_point now);
  void report(const stall_watched &first);

  std::mutex m_lock;
  std::condition_variable m_changed;
  std::vector<stall_watched *> m_all;
  std::function<void(const std::string &)> m_sink;
  std::chrono::microseconds m_limit{};
  std::thread m_thread; // while there are teams
};

} // namespace weft_net
