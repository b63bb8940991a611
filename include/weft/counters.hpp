// SPDX-License-Identifier: Apache-2.0
// Counters: what the runtime and the program have counted, read while it runs. Not part of <weft/weft.hpp>.
//
//   const auto before = weft::counters::take();
//   work();
//   const auto spent = weft::counters::take() - before;
//   std::printf("%g tasks of %g ns\n", spent.value("/threads/count/cumulative"), spent.value("/threads/time/average"));
//
// Counts only grow, and nothing resets them. A reader that wants the counts of an interval
// subtracts two snapshots, and so several readers never disturb each other. Names are those of HPX,
// /object{instance}/counter: without an instance of the whole program, {worker#3} of one worker,
// {worker#*} of each; '*' and '?' are wildcards. docs/user/counters.md lists them.
#pragma once

#include <weft/config.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace rt {
struct reading;
struct user_counter;
} // namespace rt

namespace counters {

/// Says how a counter behaves over time.
enum class kind {
  count, ///< only grows
  level, ///< rises and falls, or follows from others
  histogram, ///< numbers by size; its value is how many there are
};

/// Describes a counter. If it is `absent`, this system does not have it, and `help` says why.
struct info {
  std::string name; ///< as value() takes it
  std::string unit; ///< empty: a number
  std::string help; ///< a sentence
  kind what = kind::count; ///< how it behaves over time
  bool per_worker = false; ///< whether there is one for each worker, too
  bool absent = false; ///< whether it cannot be had here
};

/// Holds one counter of a snapshot.
struct value {
  std::string name; ///< with its instance
  std::string unit; ///< empty: a number
  double number = 0; ///< NaN: nothing to tell, such as a mean over no tasks, or an absent counter
};

/// Holds a part of a histogram: values from `least` on, up to the `least` of the next bucket.
struct bucket {
  double least = 0; ///< the first value that falls into it
  std::uint64_t count = 0; ///< how many there are in it
};

/// Selects what text() writes.
enum class format { text, csv, json };

/// Holds all counters at one moment, or the difference of two snapshots. Copies share what they
/// hold. The program runs on while a snapshot is taken, so counts of one snapshot may be some
/// microseconds apart; totals are the sums of the counts that the snapshot shows.
///
/// Threads. Any may call the const members.
class WEFT_API snapshot {
 public:
  /// Returns one number; NaN where there is nothing to tell.
  ///
  /// Errors. invalid_argument for an unknown name (the message names the nearest one), a name of
  /// several counters, a worker that does not exist, and an absent counter (the message says why).
  [[nodiscard]] double value(std::string_view name) const;
  /// Returns the counters that a list of names, separated by commas, selects. Wildcards may find
  /// nothing, and an absent counter is NaN. Formulas (/arithmetics/divide@/a/b,/c/d) are computed
  /// from this snapshot.
  ///
  /// Errors. As value(), but for those two cases.
  [[nodiscard]] std::vector<counters::value> values(std::string_view names) const;
  /// Returns the buckets of a histogram (/threads/time/duration: tasks by how long they ran), the
  /// smallest first; empty buckets are left out.
  ///
  /// Errors. As value(), and invalid_argument for a name that is not a histogram's.
  [[nodiscard]] std::vector<bucket> histogram(std::string_view name) const;
  /// Returns the counters of values() as text; JSON has histograms bucket by bucket.
  [[nodiscard]] std::string text(std::string_view names, format form = format::text) const;
  /// Returns all counters in the exposition format of OpenMetrics.
  [[nodiscard]] std::string open_metrics() const;
  /// Returns the length of the time in which the counts grew.
  [[nodiscard]] std::chrono::nanoseconds span() const noexcept;
  [[nodiscard]] int pid() const noexcept; ///< the program that the counts are of
  /// Returns false for a snapshot of a program that had ended.
  [[nodiscard]] bool running() const noexcept;

  /// Returns what was counted between two snapshots; levels are those of the later one.
  ///
  /// Errors. weft::error for snapshots of different programs.
  friend WEFT_API snapshot operator-(const snapshot &later, const snapshot &earlier);

  explicit snapshot(std::shared_ptr<const rt::reading> taken) noexcept
      : m_reading(std::move(taken)) {} ///< for the library
 private:
  std::shared_ptr<const rt::reading> m_reading;
};

/// Takes a snapshot of this program now, and starts Weft if it has not started.
///
/// Cost. Some 10 us, and it allocates.
/// Threads. Any, also after shutdown().
[[nodiscard]] WEFT_API snapshot take();
/// Takes a snapshot of another program of this user, also of one that was killed.
///
/// Errors. weft::error, which says why there is nothing to read.
[[nodiscard]] WEFT_API snapshot take_from(int pid);
/// Returns the counters whose names match.
[[nodiscard]] WEFT_API std::vector<info> list(std::string_view pattern = "*");

/// Evaluates and resets as HPX does, on the reader's side: each reader has a baseline of its own.
class reader {
 public:
  reader() : m_since(take()) {}
  /// Returns what was counted since the construction or the last reset.
  [[nodiscard]] snapshot evaluate() const { return take() - m_since; }
  /// Sets the baseline to now.
  void reset() { m_since = take(); }
  /// Evaluates and resets at one moment: nothing is counted twice or lost.
  [[nodiscard]] snapshot evaluate_and_reset() {
    snapshot now = take(), spent = now - m_since;
    m_since = std::move(now);
    return spent;
  }

 private:
  snapshot m_since;
};

/// Calls a function at intervals, on a thread of its own that is not a worker, and once more when
/// the object is destroyed, so that the function sees the last counts, too. The function gets the
/// snapshot of now and that of the interval, and must not throw.
///
/// Errors. invalid_argument for a period below 1 ms; out_of_resources when no thread can be made.
class WEFT_API at_intervals {
 public:
  /// Names the function that is called.
  using function = void (*)(const snapshot &now, const snapshot &interval, void *context);
  at_intervals(std::chrono::nanoseconds period, function f, void *context); ///< begins at once
  ~at_intervals(); ///< waits for a call that is under way
  at_intervals(const at_intervals &) = delete;
  at_intervals &operator=(const at_intervals &) = delete;

 private:
  struct state;
  std::unique_ptr<state> m_state;
};

/// Counts something of the program under a name, /object/name, beside Weft's own counters. It is a
/// static object. The same name may be defined in several source files.
///
/// Errors. invalid_argument for a bad name or one of Weft's; out_of_resources beyond 64.
class WEFT_API counter {
 public:
  /// Defines the counter: `name` is "/object/name", `help` is a sentence, and `unit` is empty for a
  /// number.
  explicit counter(const char *name, const char *help = "", const char *unit = "");
  /// Adds `by` to the counter.
  ///
  /// Cost. One addition on a worker, an atomic one elsewhere.
  /// Threads. Any.
  void add(std::uint64_t by = 1) noexcept;
  /// Adds 1.
  counter &operator++() noexcept {
    add();
    return *this;
  }
  counter(const counter &) = delete;
  counter &operator=(const counter &) = delete;

 private:
  rt::user_counter &m_counter;
};

/// Measures a level of the program whenever counters are read: for each snapshot, and a few times
/// per second by the watcher. Any thread may call the function, one at a time. The function must be
/// short, and must neither throw nor use Weft.
class WEFT_API level {
 public:
  /// Defines the level that `f(context)` returns; the other arguments are those of counter.
  level(const char *name, double (*f)(void *), void *context, const char *help = "",
        const char *unit = "");
  ~level(); ///< waits for a call that is under way; the last value stays
  level(const level &) = delete;
  level &operator=(const level &) = delete;

 private:
  rt::user_counter &m_counter;
};

} // namespace counters

using counter [[deprecated("use weft::counters::counter")]] =
    counters::counter; ///< the former name, until 1.0
using level [[deprecated("use weft::counters::level")]] =
    counters::level; ///< the former name, until 1.0

} // namespace weft::inline v0
