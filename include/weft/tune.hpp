// SPDX-License-Identifier: Apache-2.0
// Adaptation: a session finds good values for the program's knobs while the program runs, and a policy
// is a function that looks at counters and sets knobs. Not part of <weft/weft.hpp>.
//
//   weft::tune::knob size("heat.block", 1000, weft::tune::range{100, 1'000'000, weft::tune::steps::logarithmic});
//   weft::tune::session tuned(size);
//   for (int step = 0; step < steps; ++step) {
//     weft::tune::trial one(tuned, points); // this step does `points` units of work
//     run_step(size.value());
//   }
//
// Knobs move with the setting tune=on only. docs/user/tuning.md says what happens then.
#pragma once

#include <weft/counters.hpp>
#include <weft/knob.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace rt {
struct entered_policy;
struct policy_event;
struct policy_moment;
struct program_knob;
} // namespace rt

namespace tune {

/// Is something that happens in the program, to which policies may listen. It outlives its policies.
class WEFT_API event {
 public:
  event(); ///< makes an event that has not happened
  ~event(); ///< after all policies on it have ended
  event(const event &) = delete;
  event &operator=(const event &) = delete;
  /// Says that the event has happened. Policies on it are called soon, once for events that come
  /// together.
  ///
  /// Cost. One load without a policy; otherwise an addition and a wake-up.
  /// Threads. Any, and tasks.
  void fire() noexcept;

  [[nodiscard]] rt::policy_event &inner() noexcept { return *m_event; } ///< for the library

 private:
  friend class policy;
  std::unique_ptr<rt::policy_event> m_event;
};

/// Says how a session works.
struct plan {
  /// What a unit of work is to cost little of: time, a counter, a sum, difference or product of
  /// counters (/arithmetics/add@/a,/b), or several: "/power/estimate * time^2", or with bounds
  /// "/power/estimate subject to time <= 1.05x" (docs/user/tuning.md); nothing: time.
  std::string objective{};
  /// The name under which the finding is kept; nothing: the name of the first knob.
  std::string site{};
  double budget = 0.02; ///< part of the run time that trials may lose
  /// How values are sought: line, law, simplex, exhaustive, random, nlopt:cobyla, nlopt:direct,
  /// nlopt:nelder-mead, nlopt:sbplx; nothing: line for one knob, simplex for several.
  std::string search{};
};

/// Is a point of a search that no other one beats: none costs as little in each term of the objective,
/// and less in one.
struct compromise {
  std::string values; ///< of the knobs, as "rows=64 columns=8"
  /// The terms of the objective, and what a unit of work costs of each: as a part of what it cost
  /// with the values with which the search began.
  std::vector<std::pair<std::string, double>> costs;
};

/// Finds values of knobs for which a unit of work costs least. A knob belongs to one session, outlives
/// it, and is not changed by others meanwhile: a session ends when one was set. A call reads its knobs
/// between begin() and end(); between calls they have the best values so far.
///
/// Cost. Without tune=on a call is one load. Otherwise two looks at the clock per call, and a reading
/// of all counters if there is an objective.
/// Threads. begin() and end() of one call by one thread. Calls that overlap with one of another thread
/// are not measured. The destructor comes after all calls.
/// Errors. invalid_argument, and the message says what to name. Constructor: for no knob, the same knob
/// twice, a search that is not known or goes along one knob only, or an objective that is badly written
/// or a quotient. begin(), each time: for an objective that is another ratio, a level or not known.
class WEFT_API session {
 public:
  explicit session(any_knob &knob, const plan &how = {}); ///< for one knob
  explicit session(const std::vector<any_knob *> &knobs, const plan &how = {}); ///< for several
  session(rt::program_knob *const *knobs, std::size_t count,
          const plan &how); ///< for the library
  ~session(); ///< keeps what was found
  session(const session &) = delete;
  session &operator=(const session &) = delete;

  /// Begins a call: gives the knobs their values. Returns whether the call is measured.
  bool begin() { return m_is_on.load(std::memory_order_relaxed) && begin_call(); }
  /// Ends a call that begin() measures, and that has done `work` units; 0: it does not count.
  void end(double work);
  /// Says whether the search is over.
  [[nodiscard]] bool settled() const;
  /// Returns how many values have been tried.
  [[nodiscard]] std::size_t trials() const;
  /// Returns what was decided last, as a sentence; empty before the first decision.
  [[nodiscard]] std::string decision() const;
  /// Returns the points of the last search that no other one beats; none for an objective of one term.
  [[nodiscard]] std::vector<compromise> compromises() const;
  /// Returns the event that happens at the end of each call that is measured: policies on it are
  /// called at this place of the program.
  [[nodiscard]] event &calls() noexcept;

 private:
  struct state;
  void make(const std::vector<rt::program_knob *> &knobs, const plan &how);
  bool begin_call();
  std::atomic<bool> m_is_on{true}; // false once it is known that nothing moves
  std::unique_ptr<state> m_state;
};

/// Measures a call of a session, from its constructor to its destructor. A call that an exception
/// ends does not count.
class WEFT_API trial {
 public:
  /// Begins a call that does `work` units.
  trial(session &of, double work) : m_session(of), m_work(work), m_measures(of.begin()) {
    if (m_measures)
      note_exceptions();
  }
  ~trial() {
    if (m_measures)
      finish();
  }
  trial(const trial &) = delete;
  trial &operator=(const trial &) = delete;

 private:
  void note_exceptions() noexcept;
  void finish() noexcept;
  session &m_session;
  double m_work;
  bool m_measures;
  int m_exceptions = 0;
};

/// Is what the function of a policy gets.
class WEFT_API policy_call {
 public:
  /// Returns the policy's name.
  [[nodiscard]] std::string_view name() const noexcept;
  /// Returns all counters now.
  [[nodiscard]] counters::snapshot now() const;
  /// Returns what was counted since the last call.
  [[nodiscard]] counters::snapshot interval() const;
  /// Sets a knob or a setting, as tune::set() does, and notes the decision. Returns false if another
  /// policy has set it first to something else, again and again: the two contradict each other.
  ///
  /// Errors. As tune::set().
  bool set(std::string_view knob, std::string_view value) const;

  explicit policy_call(const rt::policy_moment &moment) noexcept
      : m_moment(&moment) {} ///< for the library
 private:
  const rt::policy_moment *m_moment;
};

/// Says when a policy is called.
class WEFT_API when {
 public:
  /// Calls it again and again; the least interval is 1 ms.
  [[nodiscard]] static when every(std::chrono::nanoseconds interval);
  /// Calls it when a counter rises above a limit: a level, or the growth of a count per second.
  /// It is called again after the counter has come back.
  [[nodiscard]] static when above(std::string counter, double limit,
                                  std::chrono::nanoseconds look = std::chrono::milliseconds(100));
  /// Calls it when a counter falls below a limit.
  [[nodiscard]] static when below(std::string counter, double limit,
                                  std::chrono::nanoseconds look = std::chrono::milliseconds(100));
  /// Calls it when an event has happened: one of the program's, or session::calls().
  [[nodiscard]] static when at(event &happens);

 private:
  friend class policy;
  std::chrono::nanoseconds m_interval{0};
  std::string m_counter;
  double m_limit = 0;
  bool m_above = true;
  event *m_event = nullptr;
};

/// Calls a function of the program that looks at counters and sets knobs. The function is called by
/// one thread for all policies, which is no worker. With tune=on only; otherwise never. It must be
/// short and must not wait for tasks. If it throws, a message says so, and it is not called again.
///
/// Cost. A reading of all counters per call, some 10 us, on a thread beside the workers.
/// Threads. Any.
/// Blocks. The destructor, for a call that is under way.
/// Errors. invalid_argument for a name that is empty or taken, or an interval below 1 ms;
/// out_of_resources when no thread can be made.
class WEFT_API policy {
 public:
  /// Calls `f(const policy_call &)` from now on, or from the start of Weft.
  template <class F>
  policy(std::string_view name, const when &moment, F f) {
    auto kept = std::make_unique<holder<F>>(std::move(f));
    enter(
        name, moment,
        [](holder_base &p, const policy_call &now) { static_cast<holder<F> &>(p).f(now); }, *kept);
    m_holder = std::move(kept);
  }
  ~policy(); ///< ends the calls; not by the function itself
  policy(const policy &) = delete;
  policy &operator=(const policy &) = delete;
  /// Returns how often the function was called.
  [[nodiscard]] std::uint64_t calls() const noexcept;
  /// Returns whether the function has thrown, and is not called any more.
  [[nodiscard]] bool has_thrown() const noexcept;

 private:
  struct holder_base {
    virtual ~holder_base() = default;
  };
  template <class F>
  struct holder final : holder_base {
    explicit holder(F from) : f(std::move(from)) {}
    F f;
  };
  using caller = void (*)(holder_base &, const policy_call &);
  struct bound;
  struct WEFT_API end_bound {
    void operator()(bound *) const noexcept;
  };
  void enter(std::string_view name, const when &moment, caller call, holder_base &with);

  std::unique_ptr<holder_base> m_holder;
  std::unique_ptr<bound, end_bound> m_bound;
};

/// Returns what sessions and policies have decided, as sentences, the oldest first; the newest 64.
///
/// Threads. Any.
[[nodiscard]] WEFT_API std::vector<std::string> decisions();

} // namespace tune
} // namespace weft::inline v0
