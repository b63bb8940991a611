// SPDX-License-Identifier: Apache-2.0
// The graph of a taskiter: recorded from spawns, then run round after round.
#pragma once

#include "deps/regions/regions.hpp"
#include "deps/sharing/cohort.hpp"
#include "iter/cycle.hpp"
#include "task/groups/group.hpp"

#include <weft/access.hpp>

#include <compare>
#include <map>
#include <memory>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Describes a member of a chain: nodes of which each follows the one before alone, within the round,
/// and follows nothing else. Only its runner, and the runner of the one before, use it.
struct chain_member {
  std::uint32_t began : 24 = 0; // when it is measured: in 16 ns
  std::uint32_t looks : 3 = 0; // rounds that were measured alone, and took too long
  std::uint32_t goes_on : 1 = 0; // a member follows
  std::uint32_t tiny : 1 = 0; // so short that what comes between it and the one before counts
  std::uint32_t is_always : 1 = 0; // taken for tiny whatever it takes
};

/// Represents a recorded task for the scheduler. Its extent is the number of accesses of the body
/// that reduce, see known_accesses(), and k_in_chain.
struct recorded_node : cycle_node<real_atomics> {
  chain_member chain;
  task *body = nullptr;
  iteration *whole = nullptr;
};
static_assert(sizeof(recorded_node) == 64, "a node is one cache line");

struct region_entry;

class iteration : public cycle<real_atomics> {
 public:
  /// Begins the recording of the children that `owner` is about to spawn.
  explicit iteration(task &owner) noexcept;
  iteration(const iteration &) = delete;
  iteration &operator=(const iteration &) = delete;
  ~iteration(); // with the recorded tasks

  /// Keeps a task instead of entering its accesses. Throws weft::error if the task cannot be run
  /// again, or std::bad_alloc.
  void record(task &t, const access *first, std::size_t first_count, const access *second,
              std::size_t second_count, const region_entry *regions, std::size_t region_count);
  [[nodiscard]] bool empty() const noexcept { return m_tasks.empty(); }

  /// Names copies to be combined behind one of the tasks that reduce, before others touch the
  /// object.
  struct combination {
    reduction_store *copies;
    const void *address;
    std::uint32_t behind; // the number of a task
  };
  /// Returns a combination for each place where tasks that reduce an object in one way give way to
  /// others. `controlled`: they give way at the end of a round, too.
  [[nodiscard]] std::vector<combination> combinations(bool controlled) const;
  /// Puts the task that is recorded next behind the task of this number.
  void record_behind(std::uint32_t number) noexcept { m_behind = number; }
  [[nodiscard]] task &owner() const noexcept { return m_owner; }

  /// Makes the graph. `controlled`: the last task comes after all others, and before their next
  /// round. Throws std::bad_alloc.
  void build_edges(std::uint64_t rounds, bool controlled);
  /// Gives away the nodes of the first round. The graph may be over afterwards.
  void start() noexcept;

  /// Returns whether a thread has cancelled the group of the taskiter.
  [[nodiscard]] bool cancelled() const noexcept {
    return m_cancelled.load(std::memory_order_relaxed);
  }
  void fail(const task &t, std::exception_ptr error) noexcept;
  /// Ends the graph, and with it the taskiter's last event.
  void finish() noexcept;

  /// Returns whether the node writes this address; for recorded_as_writer().
  [[nodiscard]] bool writes(const recorded_node &node, const void *address) const noexcept;

 private:
  struct recorded {
    task *body;
    std::size_t first_use, uses; // of m_uses
    std::uint32_t reductions; // of the uses
    std::uint32_t number;
    std::uint32_t behind; // number of the task that this one follows; its own: none
  };
  /// Says how a task shares an address. Consecutive tasks of one kind are not ordered; all other
  /// tasks that use the address are.
  enum class sharing : std::uint8_t { none, readers, concurrent, reduction };
  /// Holds the tasks that reduce one object in one way. Their accesses belong to a cohort that is
  /// in no chain and has no members.
  struct team {
    cohort stands_for{rt::sharing::reduction};
    std::unique_ptr<reduction_store>
        own; // null: the taskiter itself reduces the object, and its copies serve
  };
  struct use {
    const void *address;
    std::size_t bytes; // read only when there are regions
    sharing how;
    team *reducing = nullptr; // of a reduction, which may have been made sharing::none
    bool weak = false;
    [[nodiscard]] bool shares_with(const use &other) const noexcept {
      return how == other.how && reducing == other.reducing;
    }
    auto operator<=>(const use &) const = default;
  };
  [[nodiscard]] static sharing sharing_of(access_mode mode) noexcept;
  void add_use(const task &t, const access &a);
  void add_uses(const task &t, const region_entry &entry);
  void switch_to_regions(const task &t);
  void cut_into_fragments();
  team &team_of(const detail::reduction_spec &how);
  std::uint32_t fill_reductions(task &t, const use *first, std::size_t count) noexcept;
  void put_in_place();
  void combine_the_rest() noexcept;
  [[nodiscard]] bool defer_end() noexcept;
  void end_all() noexcept;
  struct edge {
    std::uint32_t from, to;
    bool to_next_round;
    auto operator<=>(const edge &) const = default;
  };
  std::size_t merge_uses(const task &t, std::size_t begin);
  [[nodiscard]] std::vector<edge> conflicts();
  [[nodiscard]] std::vector<edge> under_control();
  void connect(const std::vector<edge> &edges);
  void find_chains(const std::vector<edge> &edges) noexcept;

  task &m_owner;
  const std::atomic<bool> &m_cancelled;
  std::vector<recorded> m_tasks;
  std::vector<use> m_uses;
  bool m_regional; // uses are ordered where their bytes overlap
  std::multimap<const void *, team> m_teams; // by object
  static constexpr std::uint32_t k_itself = ~std::uint32_t{0};
  std::uint32_t m_behind = k_itself;
  std::unique_ptr<recorded_node[]> m_nodes;
  std::unique_ptr<cycle_node<real_atomics> *[]> m_successors;
  std::vector<recorded_node *> m_first; // of the first round
  std::atomic<bool> m_failing{false};
  std::exception_ptr m_error;
};

/// Runs a round of a recorded task, or skips it, and does all that follows from its end; in a chain
/// also the rounds of the next members, while these are tiny. Returns a node that the caller must run
/// or enqueue, or null.
[[nodiscard]] runnable *execute_recorded(thread_context &here, recorded_node &node) noexcept;
/// Does the same for one round.
[[nodiscard]] runnable *execute_recorded_alone(thread_context &here, recorded_node &node) noexcept;
/// Does the same on the stack of a frame of the current task.
[[nodiscard]] runnable *execute_recorded_in_place(thread_context &here,
                                                  recorded_node &node) noexcept;

} // namespace rt
} // namespace weft::inline v0
