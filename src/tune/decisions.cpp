// SPDX-License-Identifier: Apache-2.0
#include "tune/decisions.hpp"

#include "trace/session.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_set>

namespace weft::inline v0 {
namespace rt {
namespace {

std::atomic<std::uint64_t> g_trials{0}, g_decisions{0}, g_reverts{0}, g_lost_ns{0}, g_calls{0};

// Each text takes a place in the trace's table of types, where the program's tasks need room, too.
constexpr std::size_t k_most_texts = k_trace_types / 4;

struct log_of_decisions {
  std::mutex mutex;
  std::deque<std::string> newest;
  tracer *trace = nullptr; ///< the thread that has the lock uses it
  std::unordered_set<std::string> traced; ///< texts that the trace knows
};
log_of_decisions &kept() {
  static auto *const those =
      new log_of_decisions; // never destroyed: threads may note while we exit
  return *those;
}

void count(std::atomic<std::uint64_t> &number, std::uint64_t by = 1) noexcept {
  number.fetch_add(by, std::memory_order_relaxed); // a count
}

void put_into_trace(log_of_decisions &those, const std::string &text, std::string_view who,
                    double of_default) {
  if (!those.trace)
    return;
  const bool has_room = those.traced.size() < k_most_texts || those.traced.contains(text);
  if (has_room)
    those.traced.insert(text);
  const std::uint16_t type =
      add_type(has_room ? text : std::string(who) + ": one more (the trace has no room for its text)",
               named_by::label);
  // 0 says that there was no trial.
  const double part = of_default > 0 ? std::clamp(of_default * 1000, 1.0, 1e9) : 0;
  those.trace->ring.put(trace_event::decided, type, 0, static_cast<std::uint64_t>(part));
}

} // namespace

tuner_totals totals_of_tuner() noexcept {
  const auto number = [](const std::atomic<std::uint64_t> &of) {
    return of.load(std::memory_order_relaxed);
  };
  return {number(g_trials), number(g_decisions), number(g_reverts), number(g_lost_ns),
          number(g_calls)};
}

void count_trials(std::uint64_t trials, double lost_ns) noexcept {
  count(g_trials, trials);
  count(g_lost_ns, lost_ns > 0 ? static_cast<std::uint64_t>(lost_ns) : 0);
}
void count_revert() noexcept { count(g_reverts); }
void count_policy_call() noexcept { count(g_calls); }

void note_decision(std::string_view who, std::string_view what, double of_default) {
  std::string text = std::string(who) + ": " + std::string(what);
  auto &those = kept();
  const std::lock_guard hold(those.mutex);
  put_into_trace(those, text, who, of_default);
  if (those.newest.size() == k_kept_decisions)
    those.newest.pop_front();
  those.newest.push_back(std::move(text));
  count(g_decisions); // a reader that sees it finds the text
}

void trace_decisions() {
  auto &those = kept();
  const std::lock_guard hold(those.mutex);
  those.trace = tracer_of_decisions();
}

std::vector<std::string> newest_decisions() {
  auto &those = kept();
  const std::lock_guard hold(those.mutex);
  return {those.newest.begin(), those.newest.end()};
}

void decisions_before_fork() { kept().mutex.lock(); }
void decisions_after_fork_in_parent() { kept().mutex.unlock(); }
void decisions_after_fork_in_child() {
  kept().newest.clear();
  kept().traced.clear();
  kept().trace = nullptr; // the parent's
  for (auto *number : {&g_trials, &g_decisions, &g_reverts, &g_lost_ns, &g_calls})
    number->store(0, std::memory_order_relaxed);
  kept().mutex.unlock();
}

} // namespace rt
} // namespace weft::inline v0
