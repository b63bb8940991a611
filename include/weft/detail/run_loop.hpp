// SPDX-License-Identifier: Apache-2.0
// The loop that taskfor, taskloop and the parallel algorithms share: blocks whose sizes choose
// themselves. docs/design/loops.md describes it.
#pragma once

#include <weft/detail/loop_blocks.hpp>
#include <weft/group.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace weft::inline v0 {
namespace detail {

/// Remembers what the calls of one site have taken. Hints: the words order nothing.
struct loop_site {
  std::atomic<float> ns{0}; // that an iteration takes; 0: unknown
  std::atomic<float> least_ns{0}; // that one has taken lately in a call that was not shared
  std::atomic<std::uint16_t> losses{0}; // shared calls that took longer than one alone, less those that gained
  std::atomic<std::uint16_t> alone{0}; // so many calls are not shared because of that
};
/// Is the site of a type: a lambda has one of its own, so a call site has.
template <class Tag>
inline constinit loop_site site_of{};

/// Gives a participant its blocks of iterations.
class loop_blocks {
 public:
  struct state;
  explicit loop_blocks(state &loop) noexcept : m_state(&loop) {}
  /// Takes the next block. Returns false when there is none.
  WEFT_API bool next(std::uint64_t &first, std::uint64_t &count);
  /// Leaves out the iterations behind the last block that this participant would have run next.
  WEFT_API void skip() noexcept;

 private:
  state *m_state;
};

/// Gives all iterations at once, to a caller that is alone.
class one_block {
 public:
  explicit one_block(std::uint64_t size) noexcept : m_left(size) {}
  bool next(std::uint64_t &first, std::uint64_t &count) noexcept {
    first = 0;
    count = m_left;
    m_left = 0;
    return count != 0;
  }
  void skip() noexcept {}

 private:
  std::uint64_t m_left;
};

/// Says what the body of a loop may do.
enum class loop_body : std::uint8_t {
  computes, ///< an algorithm's: it waits for nothing that another iteration does
  may_wait, ///< a task's: workers take other blocks meanwhile; a cancelled task skips the rest
};

struct loop_request {
  std::uint64_t size = 0;
  std::uint64_t grain = 0; // iterations of a block; 0: the loop chooses
  void (*participate)(void *context, loop_blocks &blocks) = nullptr; // may throw
  void *context = nullptr;
  loop_site *site = nullptr; // null: nothing is remembered
  loop_body body = loop_body::computes;
  exception_policy errors = exception_policy::first_cancels;
  unsigned participants = 0; // at most; 0: one per worker
};

/// Calls `participate` here, and on workers that have nothing else to do if that pays, until all
/// iterations have been given out and their blocks have ended. Rethrows what was thrown.
WEFT_API void run_loop(const loop_request &request);
/// Calls `participate` here alone, until all iterations have been given out or sharing the others
/// pays. Returns how many were given out. Rethrows what was thrown.
[[nodiscard]] WEFT_API std::uint64_t run_alone(const loop_request &request);
/// Says whether work that takes so long is worth sharing now.
[[nodiscard]] WEFT_API bool sharing_pays(double predicted_ns);
/// Returns the number of workers that share a loop.
[[nodiscard]] WEFT_API unsigned loop_workers();
/// Returns the nanoseconds of a clock that never goes back.
[[nodiscard]] WEFT_API std::uint64_t loop_clock() noexcept;
/// Says whether sizes of blocks depend on no clock: settings sched.seed, tune=off and
/// tune=replay ask for it.
[[nodiscard]] WEFT_API bool blocks_ignore_time();
/// Keeps what an iteration has taken at a call site, in a call that was not shared.
WEFT_API void remember(loop_site &site, std::uint64_t ns, double iterations) noexcept;
/// Lowers what a call site has kept to the most that an iteration of a shared call can have taken,
/// which ended after `ns`: else a first call that was slow would have all later ones shared. Where many
/// shared calls took longer than one alone, the next calls stay with their callers.
WEFT_API void remember_shared(loop_site &site, std::uint64_t ns, double iterations) noexcept;
/// Says whether this call stays with its caller, because shared ones have taken longer.
[[nodiscard]] inline bool is_left_alone(loop_site &site) noexcept {
  const std::uint16_t calls = site.alone.load(std::memory_order_relaxed);
  if (calls == 0) [[likely]]
    return false;
  site.alone.store(static_cast<std::uint16_t>(calls - 1), std::memory_order_relaxed);
  return true;
}
/// Returns the iterations of a block when one is to be given to each worker.
WEFT_API std::uint64_t static_grain(std::uint64_t size);
/// Throws the exception that is being handled as run_loop() does.
[[noreturn]] WEFT_API void rethrow_current(exception_policy errors);
/// Does the same where loops have run: the list that one of them has thrown stays as it is.
[[noreturn]] WEFT_API void rethrow_current_of_loops(exception_policy errors);
/// Reads a clock that is cheap to read. The value is good for took_long() and remember_since() alone.
[[nodiscard]] WEFT_API std::uint64_t tick_clock() noexcept;
/// Keeps what iterations have taken that began then, by that clock, in a call that was not shared.
WEFT_API void remember_since(loop_site &site, std::uint64_t began, std::uint64_t iterations) noexcept;
/// Says whether this call of a tiny loop is to be timed.
[[nodiscard]] inline bool samples_this_call() noexcept {
  static thread_local std::uint32_t chance = 0; // no count: sites that take turns would all keep theirs
  chance = chance * 1664525u + 1013904223u;
  return (chance >> 16) % k_sample == 0;
}
/// Says whether a loop is too short for a look at the clock between its blocks.
[[nodiscard]] inline bool is_short(const loop_site &site, std::uint64_t size) noexcept {
  const float ns = site.ns.load(std::memory_order_relaxed);
  return ns > 0 && static_cast<double>(ns) * static_cast<double>(size) < k_blind_ns;
}
/// Says whether the caller runs the loop by itself without timing its blocks.
[[nodiscard]] inline bool runs_blindly(const loop_site &site, std::uint64_t size) noexcept {
  return is_short(site, size) && !samples_this_call();
}
/// Times one call in k_sample of those that run as one block, from here to ends(), which no exception
/// passes.
class sampled_call {
 public:
  explicit sampled_call(loop_site &site) noexcept
      : m_site(site), m_began(samples_this_call() ? tick_clock() : 0) {}
  void ends(std::uint64_t iterations) noexcept {
    if (m_began != 0) [[unlikely]]
      remember_since(m_site, m_began, iterations);
  }

 private:
  loop_site &m_site;
  std::uint64_t m_began; // 0: this call is not timed
};
/// Says whether iterations that began then have taken longer than a whole loop may that its caller runs
/// blindly. Then the site remembers what they took.
[[nodiscard]] WEFT_API bool took_long(loop_site &site, std::uint64_t began,
                                      std::uint64_t iterations) noexcept;
/// Returns a site for what has no type of its own: a function of the C interface.
WEFT_API loop_site &site_of_function(const void *function) noexcept;

} // namespace detail
} // namespace weft::inline v0
