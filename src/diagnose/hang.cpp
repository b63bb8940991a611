// SPDX-License-Identifier: Apache-2.0
#include "diagnose/hang.hpp"

#include "atomic/atomic.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "deps/messages.hpp"
#include "diagnose/describe.hpp"
#include "diagnose/external.hpp"
#include "diagnose/last_dump.hpp"
#include "diagnose/outside.hpp"
#include "diagnose/task_dump.hpp"
#include "observe/store.hpp"
#include "os/source_lines.hpp"
#include "os/thread_state.hpp"
#include "publish/reporting.hpp"
#include "services/dispatcher.hpp"
#include "trace/session.hpp"
#include "tune/policies.hpp"
#include "worker/last_thread.hpp"
#include "worker/runtime.hpp"
#include "worker/safepoint.hpp"

#include <weft/layer/external_report.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_lines = 40; // of a report
constexpr std::uint64_t k_walk_share = 64; // walks that find nothing take 1/64 of the time at most

void say_some(const wait_graph &graph, const std::vector<std::size_t> &edges) {
  std::vector<std::pair<std::string, std::size_t>> lines; // tasks of one label have the same line
  std::unordered_map<std::string, std::size_t> places;
  std::size_t left = 0;
  for (const std::size_t e : edges) {
    std::string text = graph.text(graph.edges()[e]);
    if (const auto known = places.find(text); known != places.end()) {
      ++lines[known->second].second;
    } else if (lines.size() < k_lines) {
      places.emplace(text, lines.size());
      lines.emplace_back(std::move(text), 1);
    } else {
      ++left;
    }
  }
  for (const auto &[text, times] : lines)
    if (times == 1)
      warn("  %s", text.c_str());
    else
      warn("  %s (%zu times)", text.c_str(), times);
  if (left)
    warn("  and %zu more", left);
}

/// Prints where the tasks of the cycle are suspended and were spawned; without a cycle, the first
/// suspended tasks.
void say_where(const wait_graph &graph, const std::vector<std::size_t> &cycle) {
  constexpr std::size_t k_nodes = 8;
  std::vector<std::size_t> listed;
  for (const std::size_t e : cycle)
    listed.push_back(graph.edges()[e].from);
  if (listed.empty())
    for (std::size_t n = 0; n < graph.nodes().size(); ++n)
      if (!graph.nodes()[n].stack.empty())
        listed.push_back(n);
  listed.resize(std::min(listed.size(), k_nodes));
  std::erase_if(listed, [&graph](std::size_t n) {
    return graph.nodes()[n].stack.empty() && graph.nodes()[n].spawned.empty();
  });
  if (!listed.empty())
    warn("  where they are:");
  for (const std::size_t n : listed) {
    const wait_graph::node &node = graph.nodes()[n];
    warn("  %s%s%s", wait_graph::text(node).c_str(), node.spawned.empty() ? "" : ", ",
         node.spawned.c_str());
    for (const std::string &f : node.stack)
      warn("    in %s", f.c_str());
  }
}

/// Adds source lines to the functions in the report.
void find_lines(wait_graph &graph) {
  std::vector<std::string *> texts;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    texts.push_back(&graph.at(n).spawned);
    for (std::string &f : graph.at(n).stack)
      texts.push_back(&f);
  }
  add_source_lines(texts);
}

/// Prints the report. `limit`: watch.limit, if there is no cycle and a thread of the program may
/// still act; else 0.
void say(const wait_graph &graph, const std::vector<std::size_t> &cycle,
         std::chrono::microseconds limit) {
  if (limit.count() != 0)
    warn(
        "nothing has gone on for %lld ms (watch.limit): all workers idle, tasks wait, and only a thread of the program or of a library could end that",
        static_cast<long long>(limit.count() / 1000));
  else
    warn(
        "nothing goes on: all workers idle, tasks wait, and nothing is pending that could end that (watch.hang); %s",
        cycle.empty() ? "there is no cycle, but no thread is left to do what they wait for"
                      : "these wait for each other:");
  say_some(graph, cycle);
  const std::set<std::size_t> in_cycle(cycle.begin(), cycle.end());
  std::vector<std::size_t> others;
  for (std::size_t e = 0; e < graph.edges().size(); ++e)
    if (!in_cycle.count(e))
      others.push_back(e);
  if (!cycle.empty() && !others.empty())
    warn("  and behind them:");
  say_some(graph, others);
  say_where(graph, cycle);
}

} // namespace

std::uint64_t hang_patience_ns(const settings &cfg) noexcept {
  const auto patience = cfg.watch_limit.count() != 0 ? std::min(cfg.watch_patience, cfg.watch_limit)
                                                     : cfg.watch_patience;
  return static_cast<std::uint64_t>(patience.count()) * 1000u;
}

namespace {

/// Returns the thread in a slot of the table of workers; 0 for none.
int tid_in(runtime &rt, unsigned slot) noexcept {
  const worker *const w = rt.slots[slot].load(std::memory_order_acquire); // O4
  return w ? w->tid.load(std::memory_order_relaxed) : 0;
}

} // namespace

gate_guard::gate_guard() noexcept : m_gate(nullptr) {
  if (this_thread_context())
    return;
  if (runtime *rt = runtime_or_null())
    (m_gate = &rt->gate)->enter();
}

/// Says whether the timer may let something go on. Asked before work_is_left(): if the timer rests,
/// the look at the work sees what the timer's last call made ready.
bool hang_check::time_may_act() const { return timer_has_services() || m_runtime.clock.is_busy(); }

/// Says whether work is left that goes on by itself: the worker that has run it asks anew.
bool hang_check::work_is_left() const {
  return m_runtime.producers.holds_any() || m_runtime.spare_threads.has_work() ||
         m_runtime.confined.has_work();
}

/// Says whether some thread that Weft or a layer knows does not sleep for want of work. While the
/// gate is closed, no thread can leave that sleep, but one that sleeps in the kernel.
bool hang_check::any_thread_active(const seen_externals &externals) const {
  if (externals.report.goes_on || m_runtime.gate.readers() || m_runtime.manage.is_active())
    return true;
  for (unsigned i = 0; i < m_runtime.spare_threads.slots(); ++i)
    if (is_active(m_runtime, i) && !externals.in_kernel.count(tid_in(m_runtime, i)))
      return true;
  return false;
}

/// Says whether the process has threads that are neither Weft's nor known to Weft or to a layer, or
/// policies of the program, which a thread of Weft's calls.
bool hang_check::others_may_act(const seen_externals &externals) const {
  if (policies_may_act())
    return true;
  std::set<int> of_layers;
  for (const layer::external_report::thread &one : externals.report.threads)
    of_layers.insert(one.tid);
  for (unsigned i = 0; i < m_runtime.spare_threads.slots(); ++i)
    of_layers.erase(tid_in(m_runtime, i));
  const unsigned all = process_threads();
  return all == 0 || all > known_threads(m_runtime) + of_layers.size();
}

std::uint64_t hang_check::progress() const {
  std::uint64_t sum = 1;
  for (unsigned i = 0; i < m_runtime.spare_threads.slots(); ++i)
    if (worker *w = m_runtime.slots[i].load(std::memory_order_acquire)) { // O4
      const counter_block &c = *w->counts;
      sum += peek(c.executed) + peek(c.rounds) + created(c) + peek(c.suspended);
    }
  return sum;
}

bool hang_check::limit_is_over() const {
  const auto limit = static_cast<std::uint64_t>(m_runtime.cfg.watch_limit.count()) * 1000u;
  return limit != 0 && now_ns() - m_quiet_since >= limit;
}

/// Notes since when nothing has gone on.
void hang_check::note_quiet() {
  const std::uint64_t now = progress();
  if (std::exchange(m_quiet, now) != now)
    m_quiet_since = now_ns();
}

/// Notes a walk that has found nothing to report.
void hang_check::note_fruitless(std::uint64_t walked, std::uint64_t began) {
  const std::uint64_t now = now_ns();
  m_harmless = walked;
  m_walk_again_at = now + k_walk_share * (now - began);
  m_fruitless.fetch_add(1, std::memory_order_relaxed); // counts
  m_fruitless_ns.fetch_add(now - began, std::memory_order_relaxed);
}

/// Says whether a walk would find what the last one found, or comes too soon after it: it stops the
/// program as long as it takes. Without a limit that is over, only a circle would be reported while
/// others may act.
bool hang_check::walk_is_needless(const seen_externals &externals) const {
  if (limit_is_over() || !others_may_act(externals))
    return false;
  return now_ns() < m_walk_again_at ||
         (progress() == m_harmless && externals.report.tasks.empty()); // these change uncounted
}

/// Is what a look at the live tasks has seen: copies alone, which stay true of tasks that never end.
struct hang_check::sight {
  wait_graph graph;
  std::uint64_t progress, began; // when the look began: ns
  bool others; // may act
  bool asleep; // are all workers that have announced it
  std::map<int, std::uint64_t> in_kernel; // threads of layers that sleep there
};

/// Examines the live tasks, with the gate closed. Returns true if it must be called again. If they
/// wait, `seen` is to be judged when the gate is open: no thread waits for names, files and output.
bool hang_check::look(std::optional<sight> &seen) {
  const std::uint64_t now = progress(), began = now_ns();
  if (now == m_reported)
    return false;
  if (time_may_act())
    return true;
  if (work_is_left())
    return false;
  const bool asleep = all_sleep(); // first: a worker that goes on in the meantime is active below
  const std::optional<seen_externals> externals = look_at_externals();
  if (!externals || any_thread_active(*externals))
    return true;
  const bool others = others_may_act(*externals);
  wait_graph g;
  if (others && !externals->in_kernel.empty())
    add_to_graph(externals->report, g); // another thread may wake one that then changes tasks
  else if (std::optional<wait_graph> all = take_task_dump(m_runtime, externals->report))
    g = *std::move(all);
  else
    return true;
  if (g.edges().empty())
    return false;
  seen.emplace(sight{std::move(g), now, began, others, asleep, externals->in_kernel});
  return true;
}

/// Says whether each worker that has announced its sleep sleeps in the kernel: one that gets no
/// processor between its announcement and its sleep may hold a task. True where /proc does not tell.
bool hang_check::all_sleep() const {
  if (process_threads() == 0)
    return true;
  for (unsigned i = 0; i < m_runtime.spare_threads.slots(); ++i)
    if (m_runtime.idle.announced(i) || m_runtime.apart.announced(i))
      if (const int tid = tid_in(m_runtime, i); tid > 0 && !thread_sleeps(tid))
        return false;
  return true;
}

/// Leaves the dump of what a look has seen, and reports it if nothing can end it. Returns true if
/// there must be another look.
bool hang_check::judge(sight &seen) {
  if (seen.progress != m_left) // else the dump in the file is still true, and may have names
    write_dump_file(seen.graph, seen.progress);
  else
    renew_decisions_in_dump();
  m_left = seen.progress;
  std::vector<std::size_t> cycle = seen.graph.cycle(m_told);
  const bool certain = !cycle.empty() || !seen.others;
  if (!certain && !limit_is_over()) {
    note_fruitless(seen.progress, seen.began);
    return true;
  }
  // A worker about to sleep may hold a task: it goes on when the gate opens, and gets a processor. So may
  // a thread of a layer that was asked before another one woke it.
  const bool is_new = std::exchange(m_doubted, seen.progress) != seen.progress;
  if (std::exchange(m_asleep, seen.in_kernel) != seen.in_kernel || is_new || !seen.asleep)
    return true;
  report(seen, certain, std::move(cycle));
  return false;
}

void hang_check::report(sight &seen, bool certain, std::vector<std::size_t> cycle) {
  m_reported = seen.progress;
  wait_graph &g = seen.graph;
  if (cycle.empty()) // but perhaps a known one
    cycle = g.cycle();
  for (const std::size_t e : cycle)
    m_told.insert(g.nodes()[g.edges()[e].from].id);
  describe(g);
  find_lines(g);
  say(g, cycle, certain ? std::chrono::microseconds(0) : m_runtime.cfg.watch_limit);
  write_dump_file(g, seen.progress);
  if (m_runtime.cfg.watch_hang == hang_kind::abort)
    fatal("the program hangs, and watch.hang is abort");
}

namespace {

constexpr std::uint64_t k_safepoint_limit_ns =
    500'000'000; // how long workers may be kept from beginning bodies while others do not stop

/// Lists the workers that are active. Does not read their tasks, because these may end meanwhile.
std::vector<std::string> who_is_about(runtime &rt, const seen_externals &externals) {
  const std::string known =
      externals.report.tasks.empty() ? "" : " but those of a layer, which follow";
  std::vector<std::string> notes;
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i)
    if (is_active(rt, i))
      notes.push_back(
          "worker " + std::to_string(i) + " has begun no task for " +
          std::to_string(k_safepoint_limit_ns / 1'000'000) +
          " ms: it runs a long one, or the program's own code; so nothing is known of tasks" +
          known);
  if (notes.empty())
    notes.emplace_back("the workers did not stop at one time; ask again");
  return notes;
}

/// Looks at the tasks of layers until no thread is amid a change of them.
seen_externals surely_look_at_externals() {
  constexpr int k_tries = 2000;
  for (int i = 0; i != k_tries; ++i) {
    if (std::optional<seen_externals> seen = look_at_externals())
      return *std::move(seen);
    const timespec pause{0, 100'000};
    nanosleep(&pause, nullptr);
  }
  return {};
}

/// Lists the tasks of layers alone, with the reasons.
running_dump dump_of_externals(const seen_externals &seen, std::vector<std::string> why) {
  running_dump all;
  all.notes = std::move(why);
  add_to_graph(seen.report, all.graph);
  for (std::string &note : add_states(seen.report, all.graph))
    all.notes.push_back(std::move(note));
  return all;
}

running_dump dump_while_running(runtime &rt) {
  if (has_managers())
    return dump_of_externals(
        surely_look_at_externals(),
        {"with managers (manage.mode) what is posted passes through states that are not looked at"});
  if (timer_has_services()) {
    running_dump all = dump_of_externals(surely_look_at_externals(),
                                         {"services run that may continue tasks at any time"});
    add_named_waits(all.graph);
    return all;
  }
  if (!try_stop_workers(rt, k_safepoint_limit_ns)) {
    const seen_externals seen = surely_look_at_externals();
    return dump_of_externals(seen, who_is_about(rt, seen));
  }
  running_dump all;
  try {
    all = take_running_dump(rt, surely_look_at_externals().report);
  } catch (const std::bad_alloc &) {
    all.notes.emplace_back("no memory to look at all tasks");
  }
  resume_workers(rt);
  return all;
}

} // namespace

void hang_check::answer() noexcept try {
  segment_request &r = store_request();
  const std::uint64_t asked =
      __atomic_load_n(&r.asked, __ATOMIC_ACQUIRE); // O5: pairs with the asking process
  if (asked == __atomic_load_n(&r.answered, __ATOMIC_RELAXED))
    return;
  running_dump all = dump_while_running(m_runtime);
  describe(all.graph);
  const std::uint64_t now = progress();
  if (!all.graph.nodes().empty() ||
      now != m_left) // else the last dump is still true, and says more
    write_dump_file(all.graph, now, asked, all.notes);
  else
    renew_decisions_in_dump();
  m_left = now;
  __atomic_store_n(&r.answered, asked,
                   __ATOMIC_RELEASE); // O5: pairs with the reader's load: the file is there
} catch (const std::bad_alloc &) { // the next look tries again
}

bool hang_check::examine() {
  m_examinations.fetch_add(1, std::memory_order_relaxed); // a count
  if (time_may_act())
    return true;
  if (work_is_left())
    return false;
  bool again = true;
  try {
    const auto externals = look_at_externals();
    if (!externals || any_thread_active(*externals))
      return true;
    note_quiet();
    if (walk_is_needless(*externals)) {
      if (m_quiet == m_left)
        renew_decisions_in_dump();
      return true;
    }
  } catch (const std::bad_alloc &) {
    return true;
  }
  std::optional<sight> seen;
  m_runtime.gate.close();
  try {
    again = look(seen);
  } catch (const std::bad_alloc &) { // no memory for a report
  }
  m_runtime.gate.open();
  try {
    return seen ? judge(*seen) : again;
  } catch (const std::bad_alloc &) {
    return true;
  }
}

} // namespace rt
} // namespace weft::inline v0
