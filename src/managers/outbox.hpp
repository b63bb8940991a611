// SPDX-License-Identifier: Apache-2.0
// The outbox of a worker: the messages that the worker has posted to the managers.
#pragma once

#include "managers/message_queue.hpp"
#include "managers/push_policy.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Holds a task and what a manager does about it, in one word.
class request {
 public:
  enum class kind : std::uintptr_t {
    fresh,         // enter the accesses of the task
    end, // release them; the task has no children. The later of manager and deleter drops it
    end_of_parent, // release them; the task has children and is complete after them
    deletion, // drop the task
  };
  request() noexcept = default;
  request(task &t, kind what) noexcept
      : m_word(reinterpret_cast<std::uintptr_t>(&t) | static_cast<std::uintptr_t>(what)) {}
  [[nodiscard]] task &about() const noexcept {
    return *reinterpret_cast<task *>(m_word & ~k_kinds);
  }
  [[nodiscard]] kind what() const noexcept { return static_cast<kind>(m_word & k_kinds); }

 private:
  static constexpr std::uintptr_t k_kinds = 3;
  std::uintptr_t m_word;
};
static_assert(alignof(task) > 3);

// 512: a creator gets at most some 64 KiB of tasks ahead of its managers, and these tasks stay in
// the second cache. The owner of a full queue loses nothing: it does the work itself that it wanted
// to post.
inline constexpr std::size_t k_messages = 512;
// 64: a worker applies the ends that it has posted itself before the tasks leave its first cache.
// 64 tasks of four cache lines fill half of it.
inline constexpr std::size_t k_ends_at_once = 64;

struct alignas(k_apart) outbox {
  explicit outbox(unsigned worker) : id(worker) {}
  const unsigned id; // of the worker that posts here
  message_queue<request> ordered{k_messages}; // new tasks; of a central manager everything
  message_queue<request> others{k_messages};
  bool may_manage = true; // whether the worker may manage, too
  // The worker alone uses these.
  end_policy ends;
  std::uint64_t ends_sent = 0;
  // A central manager writes this; the worker reads it.
  alignas(k_apart) std::atomic<std::uint64_t> ends_applied{0};

  [[nodiscard]] bool empty() const noexcept { return ordered.empty() && others.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return ordered.size() + others.size(); }
};

} // namespace rt
} // namespace weft::inline v0
