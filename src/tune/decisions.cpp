// SPDX-License-Identifier: Apache-2.0
#include "tune/decisions.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

namespace weft::inline v0 {
namespace rt {
namespace {

std::atomic<std::uint64_t> g_trials{0}, g_decisions{0}, g_reverts{0}, g_lost_ns{0}, g_calls{0};

struct log_of_decisions {
  std::mutex mutex;
  std::deque<std::string> newest;
};
log_of_decisions &kept() {
  static auto *const those =
      new log_of_decisions; // never destroyed: threads may note while we exit
  return *those;
}

void count(std::atomic<std::uint64_t> &number, std::uint64_t by = 1) noexcept {
  number.fetch_add(by, std::memory_order_relaxed); // a count
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

void note_decision(std::string_view who, std::string_view what) {
  count(g_decisions);
  auto &those = kept();
  const std::lock_guard hold(those.mutex);
  if (those.newest.size() == k_kept_decisions)
    those.newest.pop_front();
  those.newest.push_back(std::string(who) + ": " + std::string(what));
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
  for (auto *number : {&g_trials, &g_decisions, &g_reverts, &g_lost_ns, &g_calls})
    number->store(0, std::memory_order_relaxed);
  kept().mutex.unlock();
}

} // namespace rt
} // namespace weft::inline v0
