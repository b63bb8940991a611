// SPDX-License-Identifier: Apache-2.0
// The graph of a taskiter: recorded from spawns, then run round after round.
#pragma once

#include "iter/cycle.hpp"
#include "task/group.hpp"

#include <weft/access.hpp>

#include <compare>
#include <memory>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// A recorded task as the scheduler sees it.
struct recorded_node : cycle_node<real_atomics> {
  task *body = nullptr;
  iteration *whole = nullptr;
};
static_assert(sizeof(recorded_node) == 64, "a node is one cache line");

class iteration : public cycle<real_atomics> {
public:
  /// For the children that `owner` is about to spawn.
  explicit iteration(task &owner) noexcept;
  iteration(const iteration &) = delete;
  iteration &operator=(const iteration &) = delete;
  ~iteration(); // with the recorded tasks

  /// Keeps a task instead of entering it. Throws weft::error when it cannot be run again, or std::bad_alloc.
  void record(task &t, const access *first, std::size_t first_count, const access *second, std::size_t second_count);
  [[nodiscard]] bool empty() const noexcept { return m_tasks.empty(); }

  /// Makes the graph. `controlled`: the last task comes after all others and before their next round. Throws std::bad_alloc.
  void link(std::uint64_t rounds, bool controlled);
  /// Gives the first round away; may be over afterwards.
  void start() noexcept;

  /// Somebody has cancelled the group that the whole belongs to.
  [[nodiscard]] bool cancelled() const noexcept { return m_cancelled.load(std::memory_order_relaxed); }
  void fail(const task &t, std::exception_ptr error) noexcept;
  /// The graph ends, and with it the taskiter's last event.
  void finish() noexcept;

private:
  struct recorded {
    task *body;
    std::size_t first_use, uses; // of m_uses
  };
  /// Tasks of one sharing kind that come one after the other are not ordered; all others that use the address are.
  enum class sharing : std::uint8_t { none, readers, concurrent };
  struct use {
    const void *address;
    sharing how;
    auto operator<=>(const use &) const = default;
  };
  [[nodiscard]] static sharing sharing_of(access_mode mode) noexcept;
  struct edge {
    std::uint32_t from, to;
    bool to_next_round;
    auto operator<=>(const edge &) const = default;
  };
  std::size_t merge_uses(std::size_t begin);
  [[nodiscard]] std::vector<edge> conflicts();
  [[nodiscard]] std::vector<edge> under_control();
  void connect(const std::vector<edge> &edges);

  task &m_owner;
  const std::atomic<bool> &m_cancelled;
  std::vector<recorded> m_tasks;
  std::vector<use> m_uses;
  std::unique_ptr<recorded_node[]> m_nodes;
  std::unique_ptr<cycle_node<real_atomics> *[]> m_successors;
  std::vector<recorded_node *> m_first; // of the first round
  std::atomic<bool> m_failing{false};
  std::exception_ptr m_error;
};

/// Runs a round of a recorded task, or skips it, and all that follows from its end. Returns a node that the caller must run or enqueue.
[[nodiscard]] runnable *execute_recorded(executor &here, recorded_node &n) noexcept;
/// On the stack of a frame of the current task.
[[nodiscard]] runnable *execute_recorded_in_place(executor &here, recorded_node &n) noexcept;

} // namespace rt
} // namespace weft::inline v0
