// SPDX-License-Identifier: Apache-2.0
#include "tune/policies.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "observe/name.hpp"
#include "observe/views.hpp"
#include "os/thread.hpp"
#include "tune/decisions.hpp"
#include "tune/hooks.hpp"
#include "tune/knobs.hpp"
#include "tune/schedule.hpp"
#include "tune/watts_band.hpp"
#include "tune/worker_cap.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct entered_policy {
  entered_policy(policy_plan what, std::uint64_t now)
      : plan(std::move(what)), at(std::max<std::uint64_t>(plan.period_ns, 1), now),
        edge(plan.limit, plan.above) {
    if (!plan.counter.empty())
      counter = parse_counter_name(plan.counter);
  }
  policy_plan plan;
  interval_schedule at;
  threshold_edge edge;
  std::optional<counter_name> counter;
  std::uint64_t seen_fired = 0;
  std::shared_ptr<const reading> called; ///< at the last call, or the first look
  std::shared_ptr<const reading> looked; ///< at the last look at a counter
  std::atomic<std::uint64_t> calls{0};
  std::atomic<bool> threw{false};
  std::atomic<bool> may_act{true};
};

namespace {

constexpr std::uint64_t k_least_period_ns = 1'000'000;
constexpr std::uint64_t k_long_call_ns = 1'000'000'000;
constexpr std::uint64_t k_patience_at_end_ns = 2'000'000'000;
constexpr char k_worker_cap[] = "worker cap";
constexpr char k_unit_of_work[] = "/threads/count/cumulative";

/// Says what the setting tune.workers asks for.
struct cap_plan {
  worker_goal goal = worker_goal::off;
  unsigned workers = 0; ///< at most
  watts band{};
};

struct caller {
  std::mutex mutex;
  std::vector<entered_policy *> policies;
  contradictions fights;
  cap_plan cap; // goal: off if there is none
  bool runs = false; ///< the runtime does, and calls are wanted
  bool has_thread = false;
  thread os_thread;
  called_policy<entered_policy> call;
  int called_by = 0; ///< the thread of the call that is under way
};

caller &all_policies() {
  static auto *const those = new caller; // never destroyed: threads may ask while we exit
  return *those;
}

policy_bell<> g_bell;
std::atomic<std::uint64_t> g_call_began{0}, g_reported{0};
std::atomic<bool> g_thread_runs{false};
std::atomic<unsigned> g_may_act{0}; // how many policies may be called

/// Notes that a policy was withdrawn, or has thrown; perhaps both.
void end_acting(entered_policy &of) noexcept {
  if (of.may_act.exchange(false, std::memory_order_relaxed))
    g_may_act.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<const reading> read_now() {
  return std::make_shared<const reading>(read_counters_now());
}
/// Reads the counters for all policies that look at one. Returns nothing where that fails.
std::shared_ptr<const reading> read_for_all() noexcept try {
  return read_now();
} catch (const std::exception &) {
  return nullptr;
}

/// Returns a level, a ratio of the time since the last look, or what a count has grown per second.
double value_at(const entered_policy &of, const reading &now) {
  const reading grown = difference(now, *of.looked);
  const double value = value_of(grown, *of.counter);
  for (const counter_info &about : all_counters(now))
    if (about.name == of.counter->base && about.kind != counter_kind::level)
      return value * 1e9 / static_cast<double>(std::max<std::uint64_t>(grown.span_ns, 1));
  return value;
}

/// Says whether a policy will look at a counter now.
bool awaits_reading(const entered_policy &of, std::uint64_t now) noexcept {
  return of.counter && of.at.next() <= now && !of.threw.load(std::memory_order_relaxed);
}

/// Says whether a policy is to be called. `seen`: counters, if awaits_reading() was true.
bool is_due(entered_policy &of, std::uint64_t now, const std::shared_ptr<const reading> &seen) {
  if (of.plan.event)
    return of.plan.event->has_happened(of.seen_fired);
  if (!of.at.is_due(now))
    return false;
  if (!of.counter)
    return true;
  if (!seen)
    return false; // it could not be taken
  if (!of.called)
    of.called = seen;
  if (!of.looked) {
    of.looked = seen;
    return false;
  }
  const double value = value_at(of, *seen);
  of.looked = seen;
  return of.edge.passes(value);
}

/// Says what a policy has thrown, and ends its calls. Only a handler may call it.
void end_thrower(entered_policy &of) noexcept {
  of.threw.store(true, std::memory_order_relaxed);
  end_acting(of);
  const char *what = "something that is no std::exception";
  try {
    throw;
  } catch (const std::exception &e) {
    warn("policy '%s' has thrown (%s); it is not called again", of.plan.name.c_str(), e.what());
    return;
  } catch (...) {
  }
  warn("policy '%s' has thrown (%s); it is not called again", of.plan.name.c_str(), what);
}

void call(caller &those, entered_policy &of, std::shared_ptr<const reading> seen,
          std::unique_lock<std::mutex> &hold) {
  those.call.begin(of);
  those.called_by = this_thread_id();
  hold.unlock(); // I1
  g_call_began.store(now_ns(), std::memory_order_relaxed);
  try {
    seen = seen ? seen : read_now();
    const auto interval =
        std::make_shared<const reading>(difference(*seen, of.called ? *of.called : *seen));
    of.plan.call(of.plan.context, {of.plan.name, seen, interval});
  } catch (...) {
    end_thrower(of);
  }
  g_call_began.store(0, std::memory_order_relaxed);
  count_policy_call();
  hold.lock();
  if (those.call.end()) {
    of.called = std::move(seen);
    of.calls.fetch_add(1, std::memory_order_relaxed);
    const auto at = std::find(those.policies.begin(), those.policies.end(), &of);
    if (at != those.policies.end()) // the others come first now
      std::rotate(at, at + 1, those.policies.end());
  } else {
    delete &of; // it has withdrawn itself
  }
}

/// Returns the name of a counter of energy: that of the meter, or else the estimate.
counter_name energy_counter(const reading &now) {
  for (const counter_info &about : all_counters(now))
    if (about.name == "/power/package" && !about.absent)
      return parse_counter_name("/power/package");
  return parse_counter_name("/power/estimate");
}

/// Is the built-in policy of tune.workers: windows of work and energy, as its decider asks for them.
class cap_of_workers {
 public:
  explicit cap_of_workers(const cap_plan &plan)
      : m_goal(plan.goal),
        m_cap(plan.workers, plan.goal == worker_goal::energy ? cap_goal::energy : cap_goal::work),
        m_band(plan.workers, plan.band) {
    if (m_goal != worker_goal::work)
      m_energy = energy_counter(read_counters_now());
  }
  /// Returns when the window ends.
  [[nodiscard]] std::uint64_t end() const noexcept { return m_end; }
  /// Looks at the window if it has ended. Returns false, after a decision, when others have set
  /// sched.workers since the start: an explicit value wins, also the one that was there.
  [[nodiscard]] bool look(std::uint64_t now) {
    if (now < m_end && m_end - now <= window_ns())
      return true;
    if (times_set(setting_index::sched_workers) != 0)
      return end_for_others();
    const reading seen = read_counters_now();
    const totals all{value_of(seen, m_work), m_energy ? value_of(seen, *m_energy) : 0};
    const unsigned before = workers();
    if (m_began != 0)
      take({all.work - m_last.work, all.energy - m_last.energy}, now - m_began);
    if (workers() != before &&
        !replace_setting(setting_index::sched_workers, 0, std::to_string(workers())))
      return end_for_others();
    m_last = all;
    m_began = now_ns();
    m_end = m_began + window_ns();
    return true;
  }

 private:
  struct totals {
    double work = 0, energy = 0;
  };

  [[nodiscard]] bool has_band() const noexcept { return m_goal == worker_goal::watts; }
  [[nodiscard]] std::uint64_t window_ns() const noexcept {
    return has_band() ? watts_band::k_window_ns : m_cap.window_ns();
  }
  [[nodiscard]] unsigned workers() const noexcept {
    return has_band() ? m_band.now() : m_cap.now();
  }
  void take(const totals &spent, std::uint64_t ns) {
    if (has_band()) {
      if (m_band.take(spent.energy, ns))
        note(m_band.now(), "with the others the power left tune.watts: " +
                               std::to_string(std::lround(m_band.last_watts())) + " W");
      return;
    }
    const unsigned before = m_cap.kept();
    if (m_cap.take(spent.work, ns, spent.energy))
      note(m_cap.kept(), why(m_cap.kept() > before));
  }
  [[nodiscard]] const char *why(bool more) const noexcept {
    if (m_goal == worker_goal::energy)
      return more ? "with fewer a task took more energy, or too few tasks ended per second"
                  : "a task takes less energy than with the number before";
    return more ? "each adds enough to the tasks that end per second"
                : "the others added too little to the tasks that end per second";
  }
  static void note(unsigned kept, const std::string &why) {
    note_decision(k_worker_cap, std::string(k_knob) + "=" + std::to_string(kept) + ": " + why);
  }
  static bool end_for_others() {
    note_decision(k_worker_cap, "ends: " + std::string(k_knob) + " was set to " +
                                    knob_text(k_knob) + " by others");
    return false;
  }

  static constexpr char k_knob[] = "sched.workers";

  const worker_goal m_goal;
  worker_cap m_cap;
  watts_band m_band;
  const counter_name m_work = parse_counter_name(k_unit_of_work);
  std::optional<counter_name> m_energy;
  totals m_last;
  std::uint64_t m_began = 0, m_end = 0;
};

void run(caller &those) {
  std::optional<cap_of_workers> workers;
  std::unique_lock hold(those.mutex);
  for (;;) {
    const std::uint32_t heard = g_bell.listen();
    if (g_bell.stops())
      break;
    const std::uint64_t now = now_ns();
    std::uint64_t next = 0;
    const auto not_after = [&next](std::uint64_t at) {
      next = next == 0 ? at : std::min(next, at);
    };
    // The cap comes first: some policy may be due whenever the thread looks.
    if (const cap_plan cap = those.cap; cap.goal != worker_goal::off) {
      hold.unlock();
      bool goes_on = false;
      try {
        if (!workers)
          workers.emplace(cap);
        goes_on = workers->look(now);
      } catch (const std::exception &e) {
        warn("the cap of workers (tune.workers) has ended: %s", e.what());
      }
      hold.lock();
      if (!goes_on) {
        those.cap = {};
        continue;
      }
      not_after(workers->end());
    }
    std::shared_ptr<const reading> seen;
    if (std::any_of(those.policies.begin(), those.policies.end(),
                    [now](const entered_policy *of) { return awaits_reading(*of, now); })) {
      hold.unlock(); // functions of the program are called
      seen = read_for_all();
      hold.lock();
    }
    bool called = false;
    for (entered_policy *const of : those.policies) {
      if (of->threw.load(std::memory_order_relaxed)) // I2
        continue;
      bool due = false;
      try {
        due = is_due(*of, now, seen);
      } catch (...) {
        end_thrower(*of); // the counter is not known
      }
      if (due) {
        call(those, *of, seen, hold); // the list may have changed
        called = true;
        break;
      }
      if (!of->plan.event)
        not_after(of->at.next());
    }
    if (called)
      continue;
    hold.unlock();
    g_bell.wait(heard, next);
    hold.lock();
  }
  hold.unlock();
  g_bell.end();
}

/// Starts the thread if there is something to call. The caller holds the lock.
void ensure_thread(caller &those) {
  if (!those.runs || those.has_thread || (those.policies.empty() && those.cap.goal == worker_goal::off))
    return;
  g_bell.begin();
  if (const int e = those.os_thread.start(
          "weft-tuner", [](void *p) { run(*static_cast<caller *>(p)); }, &those))
    throw_error(errc::out_of_resources,
                "the thread that calls policies cannot be started (%s); raise the limit of threads",
                std::strerror(e));
  those.has_thread = true;
  g_thread_runs.store(true, std::memory_order_relaxed); // a number to compare
}

void check(const caller &those, const policy_plan &plan) {
  const char *const name = plan.name.c_str();
  if (plan.name.empty())
    throw_error(errc::invalid_argument, "a policy has no name; give it one, which messages show");
  for (const entered_policy *of : those.policies)
    if (of->plan.name == plan.name)
      throw_error(errc::invalid_argument, "there is a policy '%s' already: give each its own name",
                  name);
  if (!plan.event && plan.period_ns < k_least_period_ns)
    throw_error(errc::invalid_argument, "policy '%s' has a period of %llu ns; the least is 1 ms",
                name, static_cast<unsigned long long>(plan.period_ns));
}

} // namespace

void fire(policy_event &event) noexcept {
  event.fire(g_bell);
}

entered_policy *enter_policy(policy_plan plan) {
  caller &those = all_policies();
  const std::lock_guard hold(those.mutex);
  check(those, plan);
  auto fresh = std::make_unique<entered_policy>(std::move(plan), now_ns());
  if (fresh->plan.event) {
    fresh->seen_fired = fresh->plan.event->fired.load(std::memory_order_relaxed);
    fresh->plan.event->listeners.fetch_add(1, std::memory_order_relaxed);
  }
  those.policies.push_back(fresh.get());
  try {
    ensure_thread(those);
  } catch (...) {
    those.policies.pop_back();
    if (fresh->plan.event)
      fresh->plan.event->listeners.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  g_may_act.fetch_add(1, std::memory_order_relaxed);
  g_bell.ring();
  return fresh.release();
}

bool withdraw_policy(entered_policy *policy) noexcept {
  caller &those = all_policies();
  std::unique_lock hold(those.mutex);
  std::erase(those.policies, policy);
  end_acting(*policy);
  those.fights.forget(policy->plan.name);
  if (policy->plan.event)
    policy->plan.event->listeners.fetch_sub(1, std::memory_order_relaxed);
  if (those.call.called() == policy && those.called_by == this_thread_id()) {
    those.call.withdraw_itself(); // call() touches `plan` no more, and frees the memory
    return true;
  }
  if (!those.call.wait_until_over(*policy, hold))
    return false; // what the call uses stays
  delete policy;
  return true;
}

std::uint64_t calls_of(const entered_policy &policy) noexcept {
  return policy.calls.load(std::memory_order_relaxed);
}
bool has_thrown(const entered_policy &policy) noexcept {
  return policy.threw.load(std::memory_order_relaxed);
}

bool set_knob_for_policy(std::string_view policy, std::string_view knob, std::string_view text) {
  const std::string before = knob_text(knob); // throws for an unknown name
  caller &those = all_policies();
  std::unique_lock hold(those.mutex);
  const auto lost = those.fights.note(std::string(knob), std::string(policy), std::string(text));
  hold.unlock();
  if (lost && lost->is_first)
    warn(
        "policies '%s' and '%.*s' contradict each other: they set %.*s to %s and %.*s in turn; '%s' came first and keeps it; let one "
        "policy decide on a knob",
        lost->winner.c_str(), static_cast<int>(policy.size()), policy.data(),
        static_cast<int>(knob.size()), knob.data(), lost->winners_value.c_str(),
        static_cast<int>(text.size()), text.data(), lost->winner.c_str());
  if (lost)
    return false;
  change_knob(knob, text);
  if (const std::string now = knob_text(knob); now != before)
    note_decision(policy, std::string(knob) + "=" + now + " (was " + before + ")");
  return true;
}

void check_policies(const settings &chosen) {
  if (chosen.tune_workers == worker_goal::watts)
    static_cast<void>(parse_watts(chosen.tune_watts));
}

void begin_policies(const settings &chosen, unsigned workers) {
  caller &those = all_policies();
  const std::lock_guard hold(those.mutex);
  those.runs = true;
  const bool has_limit = chosen.sched_workers != 0;
  const unsigned most =
      has_limit ? std::min(static_cast<unsigned>(chosen.sched_workers), workers) : workers;
  if (most > 1)
    those.cap = {chosen.tune_workers, most,
                 chosen.tune_workers == worker_goal::watts ? parse_watts(chosen.tune_watts)
                                                           : watts()};
  try {
    ensure_thread(those);
  } catch (const std::exception &e) {
    warn("policies are not called: %s", e.what());
  }
}

void end_policies() noexcept {
  caller &those = all_policies();
  {
    const std::lock_guard hold(those.mutex);
    those.runs = false;
    if (!those.has_thread)
      return;
    if (those.call.called() && those.called_by == this_thread_id()) { // exit() in a policy
      those.os_thread.forget();
      those.has_thread = false;
      return g_thread_runs.store(false, std::memory_order_relaxed);
    }
  }
  g_bell.stop();
  if (!g_bell.wait_for_end(now_ns() + k_patience_at_end_ns)) {
    const std::lock_guard hold(those.mutex);
    const entered_policy *const stuck = those.call.called();
    warn("policy '%s' has not returned; the program ends without it",
         stuck ? stuck->plan.name.c_str() : k_worker_cap);
    those.call.give_up();
    those.os_thread.forget();
    those.has_thread = false;
    g_thread_runs.store(false, std::memory_order_relaxed);
    return;
  }
  those.os_thread.join();
  const std::lock_guard hold(those.mutex);
  those.has_thread = false;
  those.cap = {};
  g_thread_runs.store(false, std::memory_order_relaxed);
}

unsigned policy_threads() noexcept { return g_thread_runs.load(std::memory_order_relaxed) ? 1 : 0; }
bool policies_may_act() noexcept {
  return policy_threads() != 0 && (g_may_act.load(std::memory_order_relaxed) != 0 ||
                                   g_call_began.load(std::memory_order_relaxed) != 0);
}

void report_overdue_policy(std::uint64_t now) noexcept {
  const std::uint64_t began = g_call_began.load(std::memory_order_relaxed);
  if (began == 0 || now < began + k_long_call_ns ||
      g_reported.load(std::memory_order_relaxed) == began)
    return;
  caller &those = all_policies();
  const std::unique_lock hold(those.mutex, std::try_to_lock);
  if (!hold || !those.call.called() || g_call_began.load(std::memory_order_relaxed) != began)
    return;
  g_reported.store(began, std::memory_order_relaxed);
  warn(
      "policy '%s' has not returned for %llu ms, and other policies wait for it; let it neither wait nor compute for long",
      those.call.called()->plan.name.c_str(), static_cast<unsigned long long>((now - began) / 1'000'000));
}

void policies_before_fork() {
  sessions_before_fork();
  all_policies().mutex.lock();
  decisions_before_fork();
}
void policies_after_fork_in_parent() {
  decisions_after_fork_in_parent();
  all_policies().mutex.unlock();
  sessions_after_fork_in_parent();
}
void policies_after_fork_in_child() {
  decisions_after_fork_in_child();
  caller &those = all_policies();
  those.os_thread.forget();
  those.has_thread = those.runs = false;
  those.call.forget();
  for (entered_policy *const of : those.policies)
    of->called.reset(), of->looked.reset(); // the child counts from its own start
  those.cap = {};
  g_thread_runs.store(false, std::memory_order_relaxed);
  g_call_began.store(0, std::memory_order_relaxed);
  those.mutex.unlock();
  sessions_after_fork_in_child();
}

} // namespace rt
} // namespace weft::inline v0
