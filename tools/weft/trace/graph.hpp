// SPDX-License-Identifier: Apache-2.0
// The graph of tasks that a trace of level graph holds: what each body did, and what each task
// waited for. A body that runs in parts, as that of a coroutine does, is one body. Each round of a
// recorded task is a task of its own.
#pragma once

#include "tools/weft/support/paged_table.hpp"
#include "tools/weft/trace/reader.hpp"
#include "tools/weft/trace/slices.hpp"

#include <compare>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

namespace weft_tool {

inline constexpr std::uint32_t k_nobody = UINT32_MAX;

/// Is one step of a body: it computes for `ns`, then it creates a child, waits, or ends.
struct action {
  static constexpr std::uint32_t k_awaits = std::uint32_t{1} << 31; // with the task whose end it waits for
  static constexpr std::uint32_t k_waits = UINT32_MAX - 1, k_ends = UINT32_MAX; // k_waits: for its children
  float ns = 0;
  std::uint32_t what = k_ends; // or the child that it creates
  [[nodiscard]] bool creates() const noexcept { return what < k_awaits; }
  [[nodiscard]] bool awaits_one() const noexcept { return what >= k_awaits && what < k_waits; }
  [[nodiscard]] std::uint32_t awaited() const noexcept { return what - k_awaits; }
};
static_assert(sizeof(action) == 8, "there are two per task, and ten million tasks");

struct graph_task {
  std::uint32_t id = 0, parent = k_nobody; // parent: an index
  std::uint16_t type = 0, slot = 0, ready_slot = 0; // ready_slot: of the worker that made it ready
  std::uint16_t at = 0; // the slot that has its body, unless that stands still
  /// is_join: no task; it is between two groups of tasks, or is a promise, or the result of several futures. That
  /// with a parent is a promise, which has its result where the parent's body says.
  bool is_root = false, is_join = false;
  bool is_round = false; // of a recorded task: what follows it waits for its children, too
  bool has_ready_event = false; // else `ready` follows from the graph
  std::uint32_t first_action = 0, actions = 0;
  std::uint32_t first_edge = 0, edges = 0, predecessors = 0;
  std::int64_t ready = -1, begun = -1, ended = -1; // ns in the trace; -1: not seen
  std::int64_t exec = 0;
};

class trace_graph {
 public:
  /// Reads the graph. Throws weft::error where the trace is of a lower level.
  explicit trace_graph(trace_reader &reader);

  std::vector<graph_task> tasks;
  std::vector<action> actions; // of a task in a row
  std::vector<std::uint32_t> edges; // of a task in a row: its successors
  std::uint64_t executed = 0;
  std::uint64_t unfinished = 0; // tasks that had been created, and had not ended
  std::int64_t work = 0; // ns in bodies of tasks
  std::int64_t first = 0, last = 0;
  /// Median ns until a worker without work began what another one had made ready; -1: too few
  /// cases.
  std::int64_t wake = -1;
  std::int64_t overhead = 0; // mean ns between two tasks, where a worker was not idle
  [[nodiscard]] std::int64_t duration() const noexcept { return last - first; }

 private:
  struct running {
    std::uint32_t task;
    std::int64_t computed = 0; // since its last action
    std::int64_t before_others = -1; // of `computed`, until other tasks ran on its frame
  };
  struct logged {
    std::uint32_t task;
    action what;
  };
  /// Is a task that a taskiter has recorded.
  struct recorded_task {
    std::uint32_t taskiter; // an index
    std::uint16_t type = 0;
    struct use {
      std::uint64_t address, extent;
    };
    std::vector<use> uses;
    std::vector<std::uint32_t> rounds; // indices
  };
  /// Is what a taskiter has recorded.
  struct recording {
    std::vector<std::uint32_t> tasks; // of m_recorded
    std::int64_t over = 0;
    std::uint16_t slot = 0;
  };
  struct worker {
    std::vector<running> stack;
    std::int64_t since = 0, free_since = -1, idle_since = -1;
  };
  /// Is an access in the chain of accesses to the same data by children of the same task.
  struct access_entry {
    std::uint32_t task, next;
    std::uint8_t how;
    bool begins_group; // tasks of a group may run at the same time
  };
  struct chain {
    std::uint32_t first, last, last_group; // entries
    std::uint32_t group_before = k_nobody; // the last_group before that
  };
  /// Is the siblings that are ordered by bytes and may run at the same time on the same bytes.
  struct group {
    std::vector<std::uint32_t> members;
    std::uint8_t how = 0;
  };
  struct segment {
    std::uint64_t end;
    std::vector<group> groups;
  };
  using segments = std::map<std::uint64_t, segment>;
  struct place {
    std::uint32_t parent;
    std::uint64_t address;
    bool operator==(const place &) const = default;
  };
  struct place_hash {
    std::size_t operator()(const place &at) const noexcept {
      return static_cast<std::size_t>(
          (at.address ^ (std::uint64_t{at.parent} << 32)) * 0x9e3779b97f4a7c15u >> 17);
    }
  };
  void take(trace_reader &reader, const trace_item &item);
  void begin_root(worker &w, const trace_record &record, std::int64_t now, unsigned slot);
  void create(worker &w, const trace_record &record, std::int64_t now, unsigned slot);
  static void make_ready(graph_task &task, std::int64_t now, unsigned slot);
  void begin_body(worker &w, const trace_record &record, std::int64_t now, unsigned slot);
  void end_body(worker &w, const trace_record &record, std::int64_t now);
  void pause_body(worker &w);
  void leave(const trace_record &record);
  [[nodiscard]] std::uint32_t awaited_by(const trace_record &suspend) const;
  void begin_branch(std::uint32_t branch, std::uint32_t joiner, std::int64_t now);
  running *find_body(std::uint32_t task, std::int64_t now);
  void end_wait(worker &w, const trace_record &record);
  void order_after(const trace_record &record);
  void give(worker &w, const trace_record &record, std::int64_t now, unsigned slot);
  void move_ends();
  void infer_joins();
  void release_successors(const graph_task &from, std::int64_t when, unsigned slot);
  void record_task(const trace_record &record, std::int64_t now, unsigned slot);
  std::uint32_t begin_round(recorded_task &of, std::uint32_t id);
  [[nodiscard]] recorded_task *find_recorded(std::uint32_t id);
  void use(std::uint32_t task, std::uint64_t address, std::uint64_t extent);
  void use_rounds();
  std::uint32_t index_of(std::uint32_t id);
  void advance(worker &w, std::int64_t now);
  void act(worker &w, std::uint32_t what);
  void add_access(std::uint32_t task, std::uint8_t mode, std::uint64_t address);
  static void cut(segments &all, std::uint64_t at);
  void add_bytes(std::uint32_t task, std::uint8_t mode, std::uint64_t low, std::uint64_t bytes);
  void link_all();
  void link_chain(std::uint64_t address, const chain &link);
  void link_bytes(std::uint64_t low, const segment &area);
  void link(const std::vector<std::uint32_t> &before, const std::vector<std::uint32_t> &after);
  [[nodiscard]] bool is_reading(std::uint32_t entry) const;
  /// Is a task whose children are to be looked at, as to the bytes from low to end.
  struct visit {
    std::uint32_t task;
    std::uint64_t low, end;
    bool reading;
    auto operator<=>(const visit &) const = default;
  };
  void exits(std::uint32_t task, std::uint64_t low, std::uint64_t end, bool reading,
             std::vector<std::uint32_t> &out);
  void add_last_children(const visit &at);
  void store(const logged &entry);
  void store_rounds(const logged &end);
  void store_actions();
  void infer_readiness();
  void measure_moves();
  void store_edges();

  std::vector<worker> m_workers;
  paged_table<std::uint32_t> m_index; // plus one
  std::unordered_map<std::uint32_t, std::vector<running>> m_suspended;
  std::unordered_map<std::uint32_t, std::int64_t> m_paused; // tasks that run again: computed since the last action
  std::unordered_map<std::uint32_t, std::uint32_t> m_left; // coroutines: the action that their wait is
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> m_branches; // that a task has not waited for
  std::vector<recorded_task> m_recorded;
  std::unordered_map<std::uint32_t, std::uint32_t> m_recorded_index; // by number of the task
  std::map<std::uint32_t, recording> m_recordings; // by taskiter
  live_tasks m_live;
  std::vector<logged> m_log;
  std::vector<std::pair<std::uint32_t, std::int64_t>>
      m_woken; // tasks, and since when their workers had nothing
  std::unordered_map<place, chain, place_hash> m_chains;
  std::unordered_map<std::uint32_t, segments> m_segments; // by parent
  std::vector<access_entry> m_accesses;
  std::vector<std::uint32_t> m_before, m_after; // of the groups that are being linked
  std::vector<visit> m_to_visit;
  std::set<visit> m_visited; // that have children
  std::vector<std::uint32_t> m_beside; // of readers that do not wait for them: what the next group waits for as well
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_edges;
  std::map<std::uint32_t, std::uint32_t> m_ends; // of tasks that end with another one: the join that is their end
  std::uint64_t m_gaps = 0;
  std::int64_t m_gap_ns = 0;
};

} // namespace weft_tool
