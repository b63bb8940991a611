// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/machine.hpp"

#include "weft_lpf/processes.hpp"
#include "weft_lpf/report.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/net/inproc.hpp>
#include <weft/sync/latch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace weft_lpf {

namespace {

unsigned processes_of_machine() {
  const std::string size = weft::layer::setting("net.size");
  const int count = size.empty() ? weft::layer::effective_cpus() : std::stoi(size);
  return static_cast<unsigned>(std::max(count, 1));
}

void report_threads(std::size_t which, std::size_t all, const char *why) noexcept {
  try {
    report("lpf_exec cannot start thread " + std::to_string(which) + " of " + std::to_string(all) +
           ": " + why + "; ask for fewer processes");
  } catch (const std::bad_alloc &) { // without memory there is no text
  }
}

/// Is an SPMD function with its threads. Process 0 is the caller's.
class threads_of_spmd {
 public:
  threads_of_spmd(const place &where, unsigned count, lpf_spmd_t spmd, const lpf_args_t &args,
                  link::messages how)
      : m_spmd(spmd), m_args(args) {
    if (count > 1)
      try {
        const weft::net::inproc_world world(static_cast<int>(count));
        for (unsigned pid = 0; pid != count; ++pid)
          m_links.emplace_back(new link(world.make_engine(static_cast<int>(pid)), how));
      } catch (const weft::error &e) {
        if (e.code() == weft::errc::out_of_resources)
          throw std::bad_alloc(); // nothing has begun
        throw;
      }
    for (unsigned pid = 0; pid != count; ++pid)
      m_contexts.emplace_back(count > 1 ? m_links[pid].get() : nullptr, 1,
                              place{pid, count, where.all, part_of(where.free, pid, count)});
  }

  bool run() {
    const std::size_t others = m_contexts.size() - 1;
    weft::latch over(static_cast<std::ptrdiff_t>(others));
    std::vector<std::thread> threads;
    threads.reserve(others);
    std::atomic<start> how{start::waits}; // none runs before all are there: a call without room has done nothing
    lpf_args_t rest{};
    rest.f_symbols = m_args.f_symbols;
    rest.f_size = m_args.f_size;
    try {
      while (threads.size() != others)
        threads.emplace_back([this, &over, &how, rest, one = &m_contexts[threads.size() + 1]] {
          how.wait(start::waits);
          if (how == start::goes)
            end(*one, rest);
          over.count_down();
        });
    } catch (const std::exception &e) { // system_error or bad_alloc
      how = start::leaves;
      how.notify_all();
      for (std::thread &t : threads)
        t.join();
      report_threads(threads.size() + 1, others, e.what());
      throw std::bad_alloc();
    }
    how = start::goes;
    how.notify_all();
    end(m_contexts[0], m_args);
    if (others != 0 && !m_links[0]->is_own()) { // the threads are the parent's
      for (std::thread &t : threads)
        t.detach();
      return false;
    }
    try {
      over.wait(); // a worker may do something else meanwhile; a join would hold it
    } catch (const weft::error &) { // the process ends, and the runtime has; or the caller may not suspend
    }
    for (std::thread &t : threads)
      t.join();
    return !m_has_failed;
  }

 private:
  enum class start : std::uint8_t { waits, goes, leaves };
  void end(context &one, const lpf_args_t &args) {
    if (!run_spmd(one, m_spmd, args))
      m_has_failed = true;
  }

  const lpf_spmd_t m_spmd;
  const lpf_args_t m_args;
  std::vector<link_ptr> m_links;
  std::deque<context> m_contexts;
  std::atomic<bool> m_has_failed{false};
};

// ---- what the machine can do

constexpr std::size_t k_classes = k_size_classes;
constexpr std::size_t k_sizes[k_classes] = {8, 4096, 262144}; // bytes of a message
constexpr std::size_t k_least_bytes = 32768; // to each process: enough for the clock
constexpr int k_rounds = 5;
constexpr unsigned k_most_peers = 16; // of a process: all to all would take the square of the number of processes

std::mutex g_machine_lock;
machine_numbers g_machine, g_hooked;
std::once_flag g_is_measured;

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/// Returns how many processes each one sends to. They are spread over all, the sender is the first.
unsigned peers_of(const context &self) { return std::min(self.where().processes, k_most_peers); }

/// Returns the median of some supersteps in which each process sends `count` messages to each of its peers.
double time_of_exchange(context &self, std::size_t from, std::size_t to, std::size_t bytes,
                        std::size_t count) {
  const std::uint64_t processes = self.where().processes;
  const unsigned peers = peers_of(self);
  double taken[k_rounds];
  for (double &t : taken) {
    const auto begin = clock_type::now();
    for (std::size_t i = 0; i != count; ++i)
      for (unsigned peer = 0; peer != peers; ++peer)
        self.queue(context::direction::put, from, 0,
                   static_cast<unsigned>((self.where().pid + peer * processes / peers) % processes), to,
                   peer * bytes, bytes);
    static_cast<void>(self.sync(context::ending::superstep));
    t = seconds_since(begin);
  }
  std::sort(std::begin(taken), std::end(taken));
  return taken[k_rounds / 2];
}

machine_numbers numbers_of(context &self) {
  self.hide_copies();
  const std::size_t most = k_sizes[k_classes - 1];
  std::vector<std::byte> source(most), target(most * peers_of(self));
  const std::size_t from = self.add(slot_kind::local, source.data(), source.size());
  const std::size_t to = self.add(slot_kind::global, target.data(), target.size());
  static_cast<void>(self.sync(context::ending::superstep));
  const double empty = time_of_exchange(self, from, to, 0, 0);
  double gaps[k_classes];
  for (std::size_t i = 0; i != k_classes; ++i) {
    const std::size_t count = std::max<std::size_t>(k_least_bytes / k_sizes[i], 1);
    gaps[i] = (time_of_exchange(self, from, to, k_sizes[i], count) - empty) /
              static_cast<double>(k_sizes[i] * count * peers_of(self));
  }
  constexpr double k_least = 1e-12; // the results are positive, whatever the clock says
  machine_numbers found;
  found.latency = std::max(empty, k_least);
  for (std::size_t i = 0; i != k_classes; ++i)
    found.gap[i] = std::max(gaps[i], k_least);
  return found;
}

void measure_spmd(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  context &self = *static_cast<context *>(ctx);
  const machine_numbers found = numbers_of(self);
  if (pid != 0 || self.has_failed())
    return;
  const std::lock_guard guard(g_machine_lock);
  g_machine = found;
}

void measure_hooked_spmd(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t) {
  context &self = *static_cast<context *>(ctx);
  machine_numbers found = numbers_of(self);
  const std::size_t slot = self.add(slot_kind::global, &found, sizeof found);
  for (unsigned peer = 1; pid == 0 && peer < nprocs; ++peer)
    self.queue(context::direction::put, slot, 0, peer, slot, 0, sizeof found);
  if (!self.sync(context::ending::superstep))
    return;
  const std::lock_guard guard(g_machine_lock);
  g_hooked = found;
}

} // namespace

context &root_context() {
  static auto *const root = new context(nullptr, 0, [] { // never destroyed: threads may use it while the process exits
    process_job *const job = job_of_process();
    const unsigned all = job ? job->processes() : processes_of_machine();
    return place{0, 1, all, all};
  }());
  return *root;
}

bool run_in_threads(const place &where, unsigned count, lpf_spmd_t spmd, const lpf_args_t &args) {
  return threads_of_spmd(where, count, spmd, args, link::messages::within_a_process).run();
}

bool run_for_root(unsigned count, lpf_spmd_t spmd, const lpf_args_t &args) {
  process_job *const job = job_of_process();
  if (job && count != 1)
    return run_in_processes(*job, count, spmd, args);
  return threads_of_spmd(root_context().where(), count, spmd, args, link::messages::traced).run();
}

void measure() {
  std::call_once(g_is_measured, [] {
    static_cast<void>(run_for_root(root_context().where().all, &measure_spmd, {}));
  });
}

machine_numbers measured() noexcept {
  const std::lock_guard guard(g_machine_lock);
  return g_machine;
}

void set_measured(const machine_numbers &numbers) {
  std::call_once(g_is_measured, [] {});
  const std::lock_guard guard(g_machine_lock);
  g_machine = numbers;
}

void measure_hooked(context &self) noexcept { static_cast<void>(run_spmd(self, &measure_hooked_spmd, {})); }

double gap(machine of, std::size_t bytes) noexcept {
  std::size_t i = k_classes - 1;
  while (i != 0 && bytes < k_sizes[i])
    --i;
  const std::lock_guard guard(g_machine_lock);
  return (of == machine::hooked ? g_hooked : g_machine).gap[i];
}

double latency(machine of) noexcept {
  const std::lock_guard guard(g_machine_lock);
  return (of == machine::hooked ? g_hooked : g_machine).latency;
}

} // namespace weft_lpf
