// SPDX-License-Identifier: Apache-2.0
// What one worker has posted to the managers.
#pragma once

#include "managers/message_queue.hpp"
#include "managers/push_policy.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// A task and what is to be done about it, in one word.
class request {
 public:
  enum class kind : std::uintptr_t {
    fresh,         // its accesses are to be entered
    end,           // they are to be released; it has no children, and is dropped by who comes last: the manager, or who deletes
    end_of_parent, // it has children: they are waited for
    deletion,      // it is to be dropped
  };
  request() noexcept = default;
  request(task &t, kind k) noexcept : m_word(reinterpret_cast<std::uintptr_t>(&t) | static_cast<std::uintptr_t>(k)) {}
  [[nodiscard]] task &about() const noexcept { return *reinterpret_cast<task *>(m_word & ~k_kinds); }
  [[nodiscard]] kind what() const noexcept { return static_cast<kind>(m_word & k_kinds); }

 private:
  static constexpr std::uintptr_t k_kinds = 3;
  std::uintptr_t m_word;
};
static_assert(alignof(task) > 3);

// 512: a creator gets at most 64 KiB or so of tasks ahead of its managers, which stay in their second cache; a full
// queue only costs its owner the work that it wanted to post.
inline constexpr std::size_t k_messages = 512;
// What a worker has posted of its ends it applies itself before they leave its first cache: 64 tasks of four lines are half of one.
inline constexpr std::size_t k_ends_at_once = 64;

struct alignas(k_apart) outbox {
  explicit outbox(unsigned worker) : id(worker) {}
  const unsigned id; // of its worker
  message_queue<request> ordered{k_messages}; // new tasks; of a central manager everything
  message_queue<request> others{k_messages};
  bool may_manage = true; // its worker
  // of its worker
  end_policy ends;
  std::uint64_t ends_sent = 0;
  // of a central manager, read by the worker
  alignas(k_apart) std::atomic<std::uint64_t> ends_applied{0};

  [[nodiscard]] bool empty() const noexcept { return ordered.empty() && others.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return ordered.size() + others.size(); }
};

} // namespace rt
} // namespace weft::inline v0
