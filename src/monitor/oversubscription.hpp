// SPDX-License-Identifier: Apache-2.0
// Who is in the way: threads of the program that take no part in what the workers do (external threads, of layers) and compute, while others take part and the
// process uses all of its cpus. These are asked to suspend themselves; layers decide who does (those that spin). Plain code of the watcher's thread.
//
// Nobody is kept for longer than he agreed to. All are recalled as soon as no external thread takes part any more; else one for each slice of a cpu that the
// process has left idle.
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
    bool presses = false; // somebody was asked, or is suspended: look again after half a slice
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
  std::uint64_t m_preemptions = 0; // by then
  std::uint64_t m_idle_ns = 0;
  std::uint64_t m_rest_ns = 0; // longer and longer while nobody is asked, though some are inside and some outside
  std::vector<layer::external_thread *> m_outside, m_suspended; // of this look
};

} // namespace rt
} // namespace weft::inline v0
