// SPDX-License-Identifier: Apache-2.0
// Suspends external threads of layers that compute, but take no part in the workers' tasks, while
// other external threads take part and the process uses all of its cpus. The watcher asks such
// threads to suspend themselves; layers decide which threads obey (those that spin). Only the
// watcher's thread runs this code.
//
// No thread is suspended for longer than it agreed to. The watcher recalls
// - all threads as soon as no external thread takes part any more;
// - else one thread for each slice of a cpu that the process has left idle.
#pragma once

#include "monitor/stall_detector.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class oversubscription_policy {
 public:
  explicit oversubscription_policy(watched &world) : m_world(world) {}

  struct assessment {
    bool presses = false; // a thread was asked, or is suspended: look again after half a slice
    bool unsure = false; // the last look was too long ago to tell: look again soon
    std::uint64_t rest_ns = 0; // look again after so long at most; 0: not before there is work
  };
  assessment look(std::uint64_t now);

 private:
  [[nodiscard]] assessment assess_all(std::uint64_t now);
  [[nodiscard]] std::size_t sort();
  void find_computing(std::uint64_t since);
  [[nodiscard]] bool ask(std::size_t surplus);
  void recall(std::size_t most);
  void note_idle_time(std::uint64_t since);

  watched &m_world;
  std::uint64_t m_at = 0, m_process_ns = 0; // of the last look
  std::uint64_t m_preemptions = 0; // by the last look
  std::uint64_t m_idle_ns = 0;
  std::uint64_t m_rest_ns =
      0; // grows while no thread is asked, though some take part and some do not
  std::vector<layer::external_thread *> m_outside, m_suspended; // of this look
};

} // namespace rt
} // namespace weft::inline v0
