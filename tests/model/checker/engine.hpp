// SPDX-License-Identifier: Apache-2.0
// Explores what a few model threads can do to each other: every interleaving of their atomic
// operations, and every value that the memory model of tests/model/README.md lets a load return.
// One exploration runs a model again and again. A trail of choices fixes each execution, so an
// execution can be replayed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft_model {

inline constexpr int k_max_threads = 5; // 0 is the thread that builds, starts, joins and checks
inline constexpr int k_max_locations = 512;
inline constexpr int k_max_steps = 2000;

/// Holds what a thread knows, or what a message brings: how far every thread has come
/// (happens-before), and which store of every location is the oldest that the thread may still read
/// (coherence).
struct knowledge {
  std::array<std::uint32_t, k_max_threads> clock{};
  std::vector<std::uint16_t> view;
  void join_view(const std::vector<std::uint16_t> &other);
  void join(const knowledge &other);
  void clear();
};

struct message {
  std::uint64_t value = 0;
  knowledge carried; // what an acquiring reader learns
  std::uint64_t digest = 0;
};

struct location {
  std::vector<message> history; // in modification order; only the first `count` are live
  int count = 0;
  int last_seq_cst = 0;
  int creator = 0;
  std::uint32_t created_at = 0;
  bool alive = false;
  std::array<std::uint32_t, k_max_threads> used{}; // each thread's clock at its last operation
  knowledge parked; // what wakers of this futex word knew
};

enum class op : std::uint8_t {
  none,
  load,
  store,
  rmw,
  light,
  heavy,
  sleep,
  asleep,
  wake,
  await,
  pause
};

struct pending {
  op kind = op::none;
  int where = -1;
  std::source_location source;
  bool (*wanted)(void *, std::uint64_t) = nullptr; // await
  void *argument = nullptr;
  bool seq_cst = false; // await
};

/// The path of a source below the root of the repository. A compiler cache may have made the front of it relative,
/// and in some objects of a program only.
std::string below_root(const std::string &file);

/// Names one place in the source whose order (or barrier) a mutant takes away.
struct site {
  std::string file; // below the root
  unsigned line = 0, column = 0;
  char part = 0; // 'o' order, 'f' order of a failed compare-exchange, 'l' and 'h' barriers
  std::memory_order order = std::memory_order_relaxed;
};

enum class search : std::uint8_t {
  exhaustive, // depth first
  random, // every choice uniformly
  pct, // by priorities, with a few changes of them (Burckhardt et al., ASPLOS 2010)
};

/// Lists what an exhaustive search leaves out. None of it can change a verdict.
enum class reduction : std::uint8_t {
  none,
  sleep_sets, // executions that differ in the order of independent steps only (Godefroid)
  states, // and what follows a state that was seen before
};

/// Returns the processor time of this process: a busy machine shortens no search.
struct computing_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<computing_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};

struct limits {
  int preemptions = -1; // -1: any number; bounded searches know no reduction
  search how = search::exhaustive;
  reduction reduce = reduction::states;
  int depth = 3; // pct: of the bug, that is the changes of priority and one
  std::uint64_t seed = 1;
  std::uint64_t executions = UINT64_MAX;
  computing_clock::time_point until = computing_clock::time_point::max();
};

struct outcome {
  bool failed = false;
  bool exhausted = false;
  std::uint64_t executions = 0;
  std::uint64_t pruned = 0; // executions that were cut, because the rest was known
  std::uint64_t steps = 0; // of all of them together
  std::string failure;
  std::string replay;
  std::string trace;
  std::set<std::uint64_t> observed;
};

/// Is a model: a fixed number of threads over an object that is built anew for every execution.
struct program {
  const char *name;
  int threads;
  void *(*make)();
  void (*run)(void *, int thread);
  void (*check)(void *);
  void (*destroy)(void *);
};

class engine {
 public:
  outcome explore(const program &p, const limits &l);
  outcome replay(const program &p, const std::string &trail);

  // Called by the policy.
  int new_location(std::uint64_t value);
  void end_location(int &where);
  std::uint64_t load(int where, std::memory_order order, const std::source_location &at);
  void store(int where, std::uint64_t value, std::memory_order order,
             const std::source_location &at);
  template <class F>
  std::uint64_t rmw(int where, F change, std::memory_order order, const std::source_location &at) {
    const std::uint64_t old = begin_rmw(where, order, at); // makes `order` the one in force
    end_rmw(where, change(old), order, at);
    return old;
  }
  bool compare_exchange(int where, std::uint64_t &expected, std::uint64_t desired,
                        std::memory_order success, std::memory_order failure, bool weak,
                        const std::source_location &at);
  std::uint64_t await(int where, bool (*wanted)(void *, std::uint64_t), void *argument,
                      std::memory_order order, const std::source_location &at);
  void pause(const std::source_location &at);
  void light_barrier(const std::source_location &at);
  void heavy_barrier(const std::source_location &at);
  bool futex_wait(int where, std::uint64_t expected, bool has_deadline,
                  const std::source_location &at);
  void futex_wake(int where, int count, const std::source_location &at);

  struct access {
    int writer = 0;
    std::uint32_t written = 0;
    std::array<std::uint32_t, k_max_threads> read{};
    std::uint64_t value = 0, id = 0, digest = 0;
  };
  void start_var(access &a, std::uint64_t value);
  void read_var(access &a, const std::source_location &at);
  void write_var(access &a, std::uint64_t value, const std::source_location &at);
  void end_var(access &a);

  // Called by models.
  [[noreturn]] void fail(const std::string &why);
  void observe(std::uint64_t value) { m_outcome.observed.insert(value); }
  int self() const { return m_current; }

  // Mutants.
  const std::vector<site> &sites() const { return m_sites; }
  /// Begins to note anew which sites come up.
  void forget_reached() { m_reached.clear(); }
  /// Returns, by site, whether it has come up since; the last ones may be missing.
  const std::vector<char> &reached() const { return m_reached; }
  void weaken(int index, std::memory_order order) {
    m_weak_site = index;
    m_weak_order = order;
  }

 private:
  struct thread {
    knowledge knows;
    pending next;
    bool finished = false;
    bool woken = false;
    bool may_time_out = false;
    bool read_stale = false; // since the last pause
    std::uint64_t own_stores = 0;
    std::uint64_t stores_at_pause = UINT64_MAX; // of the others
    std::uint64_t stores_at_idle_resume = UINT64_MAX;
    bool may_fail_spuriously = true;
    std::array<std::uint8_t, k_max_locations>
        stale_reads{}; // how often the message in stale_at was read
    std::array<std::uint16_t, k_max_locations> stale_at{};
    std::vector<std::uint16_t> flushed; // view at the last light barrier
    std::uint64_t history = 0; // digest of all that it has done and seen: where it is
    void *stack_pointer = nullptr;
  };
  struct choice {
    std::uint8_t taken, count;
  };
  enum class ending : std::uint8_t { finished, failed, pruned };

  ending run_once(const program &p);
  void reset();
  void be_main_thread();
  void run_threads();
  static void fiber_entry();
  [[noreturn]] void leave(ending how);
  void switch_to(int next);
  int choose(int count);
  int choose_thread(const int *order, int count);
  int take(int taken, int count);
  std::uint64_t draw(std::uint64_t below);
  void plan_priorities();
  void fall_behind();
  bool uses_sleep_sets() const;
  bool seen_before();
  std::uint64_t state() const;
  void remember(std::uint64_t fact);
  void set_var(access &a, std::uint64_t value);
  void digest_var(access &a);
  std::uint64_t digest_of(const message &m) const;
  std::uint64_t stores_of_others(const thread &th) const { return m_stores - th.own_stores; }
  bool enabled(int t) const;
  int oldest_readable(int t, int where, bool seq_cst) const;
  bool satisfiable(int t) const;
  bool blocked_for_good(int t) const;
  [[noreturn]] void report_deadlock();
  int pick();
  void step(op kind, int where, const std::source_location &at);
  void reschedule();
  bool next_trail();
  template <class Wanted>
  int choose_message(int where, bool seq_cst, Wanted wanted);
  std::uint64_t read_message(int where, int index, std::memory_order order);
  std::uint64_t begin_rmw(int where, std::memory_order &order, const std::source_location &at);
  void end_rmw(int where, std::uint64_t value, std::memory_order order,
               const std::source_location &at);
  void append(int where, std::uint64_t value, std::memory_order order, bool continues);
  void must_be_visible(int where);
  void must_be_alive(const access &a);
  void must_be_past(const std::array<std::uint32_t, k_max_threads> &clocks);
  std::memory_order effective(std::memory_order order, char part, const std::source_location &at);
  void note(const char *what, int where, std::uint64_t value, const std::source_location &at,
            const char *more = "");
  std::string trail_text() const;
  thread &me() { return m_threads[static_cast<std::size_t>(m_current)]; }
  location &place(int where) { return m_locations[static_cast<std::size_t>(where)]; }
  const location &place(int where) const { return m_locations[static_cast<std::size_t>(where)]; }

  std::array<thread, k_max_threads> m_threads;
  std::vector<location> m_locations;
  int m_location_count = 0;
  std::vector<std::uint16_t> m_heavy_view;
  std::uint64_t m_stores = 0;

  int m_current = 0;
  int m_thread_count = 0; // with the main thread
  bool m_running = false;
  bool m_starting = false;
  unsigned m_sleep_set = 0;
  int m_preemptions = 0;
  int m_steps = 0;
  ending m_ending = ending::finished;

  limits m_limits;
  const program *m_program = nullptr;
  void *m_object = nullptr;
  void *m_host = nullptr; // where explore() is
  bool m_dying =
      false; // the object is being taken down after a cut execution: nothing is checked any more
  std::vector<choice> m_trail;
  std::size_t m_position = 0;
  std::uint64_t m_random = 1;
  bool m_replaying = false;

  std::array<int, k_max_threads> m_priority{}; // pct
  std::vector<int> m_changes; // pct: the steps at which the running thread falls behind
  bool m_newest_only = false; // pct: loads read the newest store in this execution
  int m_lowest = 0;
  int m_longest = 0;

  bool m_digests = false; // kept only where states are compared
  std::unordered_map<std::uint64_t, std::uint8_t>
      m_seen; // state, and the sleep set with which it was explored
  std::uint64_t m_vars = 0; // digest of plain memory
  std::uint64_t m_var_count = 0;
  bool m_tracing = false;
  std::vector<std::string> m_trace;
  outcome m_outcome;

  std::vector<site> m_sites;
  std::map<std::string, int> m_site_of;
  struct cached_site {
    const char *file = nullptr;
    unsigned line = 0, column = 0;
    char part = 0;
    int index = 0;
  };
  std::array<cached_site, 1024> m_site_cache;
  std::vector<char> m_reached; // by site
  int m_weak_site = -1;
  std::memory_order m_weak_order = std::memory_order_relaxed;
};

engine &the_engine();

inline void expect(bool holds, const char *what) {
  if (!holds)
    the_engine().fail(std::string("expectation broken: ") + what);
}

} // namespace weft_model
