// SPDX-License-Identifier: Apache-2.0
// Counters: what the runtime and the program have counted, read while it runs. Not part of <weft/weft.hpp>.
//
//   const auto before = weft::counters::take();
//   work();
//   const auto spent = weft::counters::take() - before;
//   std::printf("%g tasks of %g ns\n", spent.value("/threads/count/cumulative"), spent.value("/threads/time/average"));
//
// Counts only grow, and nothing resets them: who wants those of an interval subtracts, and so several readers never disturb each
// other. Names are those of HPX, /object{instance}/counter: without an instance of the whole program, {worker#3} of one worker,
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

/// How a counter behaves over time.
enum class kind {
  count,     ///< only grows
  level,     ///< rises and falls, or follows from others
  histogram, ///< numbers by size; its value is how many there are
};

/// What can be asked for. `absent`: it cannot be had here, and `help` says why.
struct info {
  std::string name; ///< as value() takes it
  std::string unit; ///< empty: a number
  std::string help; ///< a sentence
  kind what = kind::count; ///< how it behaves over time
  bool per_worker = false; ///< whether there is one for each worker, too
  bool absent = false; ///< whether it cannot be had here
};

/// One counter of a snapshot.
struct value {
  std::string name; ///< with its instance
  std::string unit; ///< empty: a number
  double number = 0; ///< NaN: nothing to tell, such as a mean over no tasks, or an absent counter
};

/// A part of a histogram: values from `least` on, up to the `least` of the next.
struct bucket {
  double least = 0; ///< the first value that falls into it
  std::uint64_t count = 0; ///< how many there are in it
};

/// What text() writes.
enum class format { text, csv, json };

/// All counters at one moment, or the difference of two. Copies share what they hold; const members from any thread. What runs meanwhile
/// is not stopped, so counts of one snapshot may be some microseconds apart; totals are the sums of what it shows.
class WEFT_API snapshot {
 public:
  /// One number; NaN where there is nothing to tell. Throws weft::error (invalid_argument): an unknown name (with the nearest), one that
  /// names several, a worker that is not there, a counter that is absent (and why).
  [[nodiscard]] double value(std::string_view name) const;
  /// All that a list of names, separated by commas, stands for. Throws weft::error as value() does, but wildcards may find nothing and
  /// what is absent is NaN. Formulas (/arithmetics/divide@/a/b,/c/d) are of this snapshot.
  [[nodiscard]] std::vector<counters::value> values(std::string_view names) const;
  /// What is in a histogram (/threads/time/duration: tasks by how long they ran), the smallest first; buckets that are empty are left out.
  /// Throws weft::error as value() does, and where the name is of none.
  [[nodiscard]] std::vector<bucket> histogram(std::string_view name) const;
  /// The same as text; JSON has histograms bucket by bucket.
  [[nodiscard]] std::string text(std::string_view names, format f = format::text) const;
  /// Everything in the exposition format of OpenMetrics.
  [[nodiscard]] std::string open_metrics() const;
  /// The time that the counts are of.
  [[nodiscard]] std::chrono::nanoseconds span() const noexcept;
  [[nodiscard]] int pid() const noexcept; ///< the program that the counts are of
  /// False for a snapshot of a program that had ended.
  [[nodiscard]] bool running() const noexcept;

  /// What was counted in between; levels are those of the later one. Throws weft::error where they are of different programs.
  friend WEFT_API snapshot operator-(const snapshot &later, const snapshot &earlier);

  explicit snapshot(std::shared_ptr<const rt::reading> r) noexcept : m_reading(std::move(r)) {} ///< for the library
 private:
  std::shared_ptr<const rt::reading> m_reading;
};

/// Now, of this program; starts Weft if it has not started. Any thread, also after shutdown(). Cost: some 10 us, and it allocates.
[[nodiscard]] WEFT_API snapshot take();
/// Of another program of this user, also of one that was killed. Throws weft::error that says why there is nothing to read.
[[nodiscard]] WEFT_API snapshot take_from(int pid);
/// What can be asked for, of names that match.
[[nodiscard]] WEFT_API std::vector<info> list(std::string_view pattern = "*");

/// HPX's evaluate and reset, on the reader's side: each reader has a baseline of its own.
class reader {
 public:
  reader() : m_since(take()) {}
  /// What was counted since the construction or the last reset.
  [[nodiscard]] snapshot evaluate() const { return take() - m_since; }
  /// The baseline is now.
  void reset() { m_since = take(); }
  /// Both at one moment: nothing is counted twice or lost.
  [[nodiscard]] snapshot evaluate_and_reset() {
    snapshot now = take(), spent = now - m_since;
    m_since = std::move(now);
    return spent;
  }

 private:
  snapshot m_since;
};

/// Calls a function at intervals, on a thread of its own that is no worker, and once more when it is destroyed: nothing at the end is
/// missed. The function gets the snapshot of now and that of the interval, and must not throw. Throws weft::error (invalid_argument) where
/// the period is below 1 ms, (out_of_resources) where there is no thread.
class WEFT_API at_intervals {
 public:
  /// What is called.
  using function = void (*)(const snapshot &now, const snapshot &interval, void *context);
  at_intervals(std::chrono::nanoseconds period, function f, void *context); ///< begins at once
  ~at_intervals(); ///< waits for a call that is under way
  at_intervals(const at_intervals &) = delete;
  at_intervals &operator=(const at_intervals &) = delete;

 private:
  struct state;
  std::unique_ptr<state> m_state;
};

} // namespace counters

/// A counter of the program, /object/name, that shows up wherever Weft's own do. A static object; the same name may be defined in several
/// places. Throws weft::error: invalid_argument for a bad name or one of Weft's, out_of_resources beyond 64.
class WEFT_API counter {
 public:
  /// `name` is "/object/name"; `help` is a sentence; `unit` is empty for a number.
  explicit counter(const char *name, const char *help = "", const char *unit = "");
  /// Any thread. Cost: one addition on a worker, an atomic one elsewhere.
  void add(std::uint64_t n = 1) noexcept;
  /// As add(1).
  counter &operator++() noexcept {
    add();
    return *this;
  }
  counter(const counter &) = delete;
  counter &operator=(const counter &) = delete;

 private:
  rt::user_counter &m_counter;
};

/// A level of the program, asked for when counters are read: for each snapshot, and a few times per second by the watcher. The function
/// is called by any thread, one at a time; it must be short, and neither throw nor use Weft.
class WEFT_API level {
 public:
  /// `f(context)` tells the level; the other arguments are those of counter.
  level(const char *name, double (*f)(void *), void *context, const char *help = "", const char *unit = "");
  ~level(); ///< waits for a call that is under way; the last value stays
  level(const level &) = delete;
  level &operator=(const level &) = delete;

 private:
  rt::user_counter &m_counter;
};

} // namespace weft::inline v0
