// SPDX-License-Identifier: Apache-2.0
// What taskloop, taskfor and taskiter have in common: their clauses, and how a body is called.
#pragma once

#include <weft/group.hpp>
#include <weft/range.hpp>

#include <atomic>

namespace weft::inline v0 {

/// Sets the iterations per chunk; the last chunk may have fewer.
struct grain_size {
  explicit constexpr grain_size(std::uint64_t n) noexcept : iterations(n) {}
  std::uint64_t iterations;
};
/// Sets the number of tasks (fewer when there are fewer iterations); their sizes differ by one at
/// most.
struct num_tasks {
  explicit constexpr num_tasks(std::uint64_t n) noexcept : count(n) {}
  std::uint64_t count;
};
/// Keeps a loop without accesses from waiting for its tasks: they are children of the current task,
/// and taskwait() waits for them.
struct nogroup_clause {};
inline constexpr nogroup_clause nogroup{};
/// Puts the loop's tasks into this group, which waits for them; the loop does not.
struct in_group {
  explicit constexpr in_group(task_group &waits) noexcept : group(&waits) {}
  task_group *group;
};
/// Gives the accesses of a chunk's task: f(chunk) returns an access or a region access, or a
/// contiguous container of one of them.
template <class F>
struct chunk_accesses {
  explicit constexpr chunk_accesses(F list) noexcept(std::is_nothrow_move_constructible_v<F>)
      : f(static_cast<F &&>(list)) {}
  F f;
};

namespace detail {

template <class Clause>
inline constexpr bool is_chunk_accesses = false;
template <class F>
inline constexpr bool is_chunk_accesses<chunk_accesses<F>> = true;
template <class Clause>
inline constexpr bool is_loop_clause =
    std::is_same_v<Clause, grain_size> || std::is_same_v<Clause, num_tasks> ||
    std::is_same_v<Clause, nogroup_clause> || std::is_same_v<Clause, in_group> ||
    is_chunk_accesses<Clause>;

/// Says whether a clause may say that the task of a loop reduces data, or has weak accesses.
template <class Clause>
inline constexpr bool may_be_for_one_worker =
    is_access<Clause> || is_list<Clause> || is_region<Clause> || is_region_list<Clause>;

template <class What, class... Clauses>
inline constexpr int count_of = (0 + ... + int{std::is_same_v<Clauses, What>});

template <class Clause>
inline constexpr bool names_data = is_access<Clause> || is_list<Clause> || is_region<Clause> ||
                                   is_region_list<Clause> || is_chunk_accesses<Clause>;

/// Says whether a loop waits. The rule for all loops: a loop with accesses is ordered by them and
/// does not wait; a loop without accesses waits, unless something else is to wait for it.
template <class... Clauses>
inline constexpr bool loop_waits =
    !((names_data<Clauses> || std::is_same_v<Clauses, nogroup_clause> ||
       std::is_same_v<Clauses, in_group> || std::is_same_v<Clauses, tracked_clause>) ||
      ...);

/// Returns what spawn() gets for a loop's clause: nothing.
template <class Clause>
decltype(auto) spawn_clause(const Clause &clause) noexcept {
  if constexpr (is_loop_clause<Clause>)
    return if_(true);
  else
    return (clause);
}

/// Holds what the clauses say of the cut into chunks, and of the group.
struct loop_options {
  std::uint64_t grain = 0, tasks = 0;
  bool has_grain = false, has_tasks = false;
  task_group *group = nullptr;
  unsigned participants = 0; // of a loop that chooses its chunks, at most; 0: one per worker
  bool reduces = false; // the task adds to data, by an access of that mode
  bool weak = false; // the task has a weak access
};
[[nodiscard]] constexpr bool is_weak(access_mode mode) noexcept {
  using enum access_mode;
  return (mode >= weak_in && mode <= weak_inout) || mode == weak_concurrent ||
         mode == weak_commutative || mode == weak_reduction;
}
constexpr void put_mode(loop_options &options, access_mode mode) noexcept {
  options.reduces |= mode == access_mode::reduction;
  options.weak |= is_weak(mode);
}
template <class Clause>
void put_loop_clause(loop_options &options, const Clause &clause) noexcept {
  if constexpr (std::is_same_v<Clause, grain_size>) {
    options.grain = clause.iterations;
    options.has_grain = true;
  } else if constexpr (std::is_same_v<Clause, num_tasks>) {
    options.tasks = clause.count;
    options.has_tasks = true;
  } else if constexpr (std::is_same_v<Clause, in_group>) {
    options.group = clause.group;
  } else if constexpr (access_source<Clause>) {
    put_mode(options, clause.as_access().mode);
  } else if constexpr (is_access<Clause> || is_region<Clause>) {
    put_mode(options, clause.mode);
  } else if constexpr (is_list<Clause> || is_region_list<Clause>) {
    for (const auto &named : clause.list)
      put_mode(options, named.mode);
  }
}
template <class... Clauses>
loop_options loop_options_of(const Clauses &...clauses) noexcept {
  loop_options o;
  (put_loop_clause(o, clauses), ...);
  return o;
}

/// Spawns the one task of a loop; `Clauses` are those of the loop.
template <class... Clauses, class Body, class... Spawned>
auto spawn_loop(task_group *group, Body &&body, const Spawned &...clauses) {
  if constexpr (loop_waits<Clauses...>) {
    task_group own;
    spawn_in(&own, static_cast<Body &&>(body), clauses...);
    own.wait();
  } else {
    return spawn_in(group, static_cast<Body &&>(body), clauses...);
  }
}

template <class F, class Index>
inline constexpr bool takes_index = std::is_invocable_v<F &, Index>;
template <class F, class Index>
inline constexpr bool is_loop_body =
    takes_index<F, Index> || std::is_invocable_v<F &, range<Index>>;

/// Calls f for a chunk: with each index, or with the chunk.
template <class F, class Index>
void call_body(F &f, const range<Index> &chunk) {
  if constexpr (!takes_index<F, Index>) {
    f(chunk);
  } else if (chunk.step() == 1) {
    for (Index i = chunk.first(); i < chunk.limit(); ++i)
      f(i);
  } else {
    for (const Index i : chunk)
      f(i);
  }
}

/// Holds the cut of a space into `chunks` chunks of `grain`, with one more iteration in the first
/// `longer` of them.
struct loop_plan {
  std::uint64_t chunks = 0, grain = 0, longer = 0, size = 0;
  [[nodiscard]] std::uint64_t first(std::uint64_t chunk) const noexcept {
    return chunk * grain + (chunk < longer ? chunk : longer);
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t chunk) const noexcept {
    const std::uint64_t begin = first(chunk), most = grain + (chunk < longer ? 1 : 0);
    return size - begin < most ? size - begin : most;
  }
};
/// Plans the chunks of a taskloop. Throws weft::error (invalid_argument) for a grain or a number of
/// 0.
WEFT_API loop_plan plan_chunks(std::uint64_t size, const loop_options &options);
/// Plans the chunks of a taskfor, whose options were checked.
WEFT_API loop_plan plan_shared(std::uint64_t size, const loop_options &options);
WEFT_API void check_grain(const loop_options &options);

/// Holds a callable that the tasks of a loop share; small plain ones are copied instead.
template <class F>
class shared_body {
  struct holder {
    template <class G>
    explicit holder(G &&callable) : f(static_cast<G &&>(callable)) {}
    F f;
    std::atomic<std::uint64_t> users{1};
  };

 public:
  template <class G>
    requires(!std::is_same_v<std::remove_cvref_t<G>, shared_body>)
  explicit shared_body(G &&callable) : m_holder(new holder(static_cast<G &&>(callable))) {}
  shared_body(const shared_body &other) noexcept : m_holder(other.m_holder) {
    m_holder->users.fetch_add(1, std::memory_order_relaxed);
  }
  shared_body &operator=(const shared_body &) = delete;
  ~shared_body() {
    if (m_holder->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete m_holder;
  }
  F &get() const noexcept { return m_holder->f; }

 private:
  holder *m_holder;
};

inline constexpr std::size_t k_copied_body =
    64; // as much as a cache line: the block of the task has room for it

template <class F>
  requires(std::is_trivially_copyable_v<F> && sizeof(F) <= k_copied_body)
class shared_body<F> {
 public:
  explicit shared_body(const F &f) noexcept : m_f(f) {}
  F &get() const noexcept { return m_f; }

 private:
  mutable F m_f;
};

/// Calls a callable that outlives the loop.
template <class F>
struct borrowed_call {
  F *f;
  template <class Part>
    requires std::is_invocable_v<F &, Part>
  void operator()(Part &&part) const {
    (*f)(static_cast<Part &&>(part));
  }
};
/// Returns how many participants of a taskloop may wait at once.
WEFT_API unsigned taskloop_participants();

/// Refers to a callable that outlives the loop's tasks.
template <class F>
class borrowed_body {
 public:
  explicit borrowed_body(F &f) noexcept : m_f(&f) {}
  F &get() const noexcept { return *m_f; }

 private:
  F *m_f;
};

} // namespace detail
} // namespace weft::inline v0
