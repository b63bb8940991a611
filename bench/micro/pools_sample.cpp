// SPDX-License-Identifier: Apache-2.0
// Measures workers beside a pool of threads that is not Weft's. libweft-pools.so is preloaded.
//
//     weft-pools-sample tasks POOL TASKS STEPS   processor time of a task of STEPS iterations
//     weft-pools-sample watch POOL MS            the watcher's share of a cpu, in percent, for MS
//     weft-pools-sample react WAIT TIMES         when workers step back and return, in nanoseconds
//
// POOL none: there is no pool. idles: all threads wait. naps: each sleeps for 1 ms again and again.
// computes: all threads compute. wakes: two threads wake each other by a futex.
// WAIT how the threads of the pool wait: condition, futex, sleep, read, mutex. relay: as condition,
// and the last of them wakes a thread that wakes a thread that returns in a worker's place: what the
// kernel alone takes for the two wake-ups.
#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::int64_t clock_of(clockid_t which) {
  timespec t;
  clock_gettime(which, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
std::int64_t now() { return clock_of(CLOCK_MONOTONIC); }

void body(long steps) {
  for (long i = 0; i < steps; ++i)
    asm volatile("" ::: "memory");
}

void run_tasks(long n, long steps) {
  for (long i = 0; i < n; ++i)
    weft::spawn([steps] { body(steps); });
  weft::taskwait();
}

unsigned cpus() { return std::max(1u, std::thread::hardware_concurrency()); }

/// A pool that does one thing until it ends.
class steady_pool {
 public:
  explicit steady_pool(const std::string &does) {
    const unsigned count = does == "none" ? 0 : does == "idles" ? 4 * cpus() : cpus();
    for (unsigned i = 0; i < (does == "wakes" ? 2 : count); ++i)
      m_threads.emplace_back([this, does, i] { run(does, i); });
  }
  ~steady_pool() {
    {
      const std::lock_guard lock(m_lock);
      m_ends = true;
    }
    m_changed.notify_all();
    ++m_turn;
    syscall(SYS_futex, &m_turn, FUTEX_WAKE_PRIVATE, 2, nullptr, nullptr, 0);
    for (auto &t : m_threads)
      t.join();
  }

 private:
  void run(const std::string &does, unsigned own) {
    if (does == "idles") {
      std::unique_lock lock(m_lock);
      m_changed.wait(lock, [this] { return m_ends.load(); });
    }
    while (!m_ends)
      if (does == "naps")
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      else if (does == "wakes")
        take_turn(own);
  }
  void take_turn(unsigned own) {
    const std::uint32_t turn = m_turn;
    const timespec long_enough{0, 50'000'000};
    if (turn % 2 != own) {
      syscall(SYS_futex, &m_turn, FUTEX_WAIT_PRIVATE, turn, &long_enough, nullptr, 0);
      return;
    }
    ++m_turn;
    syscall(SYS_futex, &m_turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  std::mutex m_lock;
  std::condition_variable m_changed;
  std::atomic<bool> m_ends{false};
  std::atomic<std::uint32_t> m_turn{0};
  std::vector<std::thread> m_threads;
};

void measure_tasks(const std::string &does, long tasks, long steps) {
  const steady_pool pool(does);
  run_tasks(tasks / 10, steps); // warms up
  const std::int64_t thread = clock_of(CLOCK_THREAD_CPUTIME_ID),
                     process = clock_of(CLOCK_PROCESS_CPUTIME_ID);
  run_tasks(tasks, steps);
  const auto each = [&](std::int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(tasks);
  };
  std::printf("thread_ns %.3f\n", each(clock_of(CLOCK_THREAD_CPUTIME_ID) - thread));
  std::printf("process_ns %.3f\n", each(clock_of(CLOCK_PROCESS_CPUTIME_ID) - process));
}

void measure_watch(const std::string &does, long ms) {
  const steady_pool pool(does);
  run_tasks(1000, 1000);
  const auto before = weft::counters::take();
  const std::int64_t begin = now(), end = begin + ms * 1'000'000;
  while (now() < end)
    run_tasks(200, 10'000);
  const auto spent = weft::counters::take() - before;
  std::printf("watcher_percent %.4f\n",
              100 * spent.value("/watcher/time/cpu") / static_cast<double>(now() - begin));
  std::printf("looks_per_second %.1f\n",
              spent.value("/watcher/count/looks") * 1e9 / static_cast<double>(now() - begin));
}

// ---- reactions ------------------------------------------------------------------------------------------------------

/// What the workers but the main thread's do: when one of them was last seen in a task, and first.
std::atomic<std::int64_t> g_last{0}, g_first{0};
pid_t g_main;

void stamped_task() {
  thread_local const pid_t own = gettid();
  if (own != g_main) {
    const std::int64_t at = now();
    g_last.store(at, std::memory_order_relaxed);
    std::int64_t none = 0;
    g_first.compare_exchange_strong(none, at, std::memory_order_relaxed);
  }
  body(20'000);
}

void run_stamped() {
  for (int i = 0; i < 256; ++i)
    weft::spawn([] { stamped_task(); });
  weft::taskwait();
}

/// Two threads that sleep: the first wakes the second, which is seen at once.
class relay {
 public:
  relay() {
    for (unsigned i = 0; i < 2; ++i)
      m_threads.emplace_back([this, i] { run(i); });
  }
  ~relay() {
    m_ends = true;
    start();
    for (auto &t : m_threads)
      t.join();
  }
  void start() { wake(0); }

 private:
  void wake(unsigned which) {
    ++m_turns[which];
    syscall(SYS_futex, &m_turns[which], FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void run(unsigned own) {
    for (std::uint32_t seen = 0; !m_ends; ++seen) {
      while (m_turns[own] == seen)
        syscall(SYS_futex, &m_turns[own], FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      if (own == 0)
        wake(1);
      else
        g_first = now();
    }
  }
  std::atomic<bool> m_ends{false};
  std::atomic<std::uint32_t> m_turns[2]{0, 0};
  std::vector<std::thread> m_threads;
};

/// A pool whose threads compute and wait on demand, and note when they begin to.
class moody_pool {
 public:
  explicit moody_pool(std::string how) : m_how(std::move(how)) {
    if (m_how == "mutex") {
      m_mutex.lock();
      m_held = true;
    }
    if (pipe(m_pipe) != 0)
      std::exit(1);
    if (m_how == "relay")
      m_relay.emplace();
    for (unsigned i = 0; i < cpus(); ++i)
      m_threads.emplace_back([this] { run(); });
  }
  ~moody_pool() {
    m_ends = true;
    compute();
    for (auto &t : m_threads)
      t.join();
  }
  void compute() {
    m_computing = 0;
    m_waits = 0;
    if (m_held)
      m_mutex.unlock();
    m_held = false;
    {
      const std::lock_guard lock(m_lock);
    }
    m_changed.notify_all();
    syscall(SYS_futex, &m_waits, FUTEX_WAKE_PRIVATE, 1024, nullptr, nullptr, 0);
    if (m_how == "read")
      for (unsigned i = 0; i < cpus(); ++i)
        if (write(m_pipe[1], "x", 1) != 1)
          std::exit(1);
  }
  void wait() {
    if (m_how == "mutex") {
      m_mutex.lock();
      m_held = true;
    }
    m_waiting = 0;
    m_arrived = 0;
    m_waits = 1;
  }
  [[nodiscard]] std::int64_t computes_since() const { return m_computing; }
  [[nodiscard]] std::int64_t waits_since() const {
    return m_arrived == cpus() ? m_waiting.load() : 0;
  }

 private:
  static void note_first(std::atomic<std::int64_t> &at) {
    std::int64_t none = 0;
    at.compare_exchange_strong(none, now());
  }
  void run() {
    wait_once(); // a pool waits until there is work
    while (!m_ends) {
      note_first(m_computing);
      while (m_waits == 0 && !m_ends) {
      }
      if (m_ends)
        return;
      m_waiting = now(); // of the last one
      if (++m_arrived == cpus() && m_relay)
        m_relay->start();
      wait_once();
    }
  }
  void wait_once() {
    if (m_how == "condition" || m_how == "relay") {
      std::unique_lock lock(m_lock);
      m_changed.wait(lock, [this] { return m_waits == 0; });
    } else if (m_how == "futex") {
      while (m_waits != 0)
        syscall(SYS_futex, &m_waits, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
    } else if (m_how == "sleep") {
      while (m_waits != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    } else if (m_how == "read") {
      char c;
      if (read(m_pipe[0], &c, 1) != 1)
        std::exit(1);
    } else {
      const std::lock_guard lock(m_mutex);
    }
  }

  const std::string m_how;
  std::mutex m_lock, m_mutex;
  bool m_held = false;
  std::condition_variable m_changed;
  std::atomic<std::uint32_t> m_waits{1};
  std::atomic<unsigned> m_arrived{0};
  std::atomic<bool> m_ends{false};
  std::atomic<std::int64_t> m_computing{0}, m_waiting{0};
  int m_pipe[2];
  std::optional<relay> m_relay;
  std::vector<std::thread> m_threads;
};

constexpr std::int64_t k_ms = 1'000'000, k_quiet = 40 * k_ms, k_patience = 500 * k_ms;

/// Runs tasks until `holds`, or for half a second.
template <class Holds>
void run_until(Holds holds) {
  const std::int64_t end = now() + k_patience;
  do
    run_stamped();
  while (!holds() && now() < end);
}

void measure_reactions(const std::string &how, long times) {
  g_main = gettid();
  moody_pool pool(how);
  if (how != "relay")
    run_until([] { return g_first != 0; });
  for (long i = 0; i < times; ++i) {
    pool.compute();
    run_until([&] {
      return pool.computes_since() != 0 &&
             now() - std::max(g_last.load(), pool.computes_since()) > k_quiet;
    });
    std::printf("step_back_ns %ld\n", std::max(0L, g_last.load() - pool.computes_since()));
    g_first = 0;
    pool.wait();
    run_until([&] { return pool.waits_since() != 0 && g_first != 0; });
    if (pool.waits_since() == 0)
      continue; // the kernel has not run all threads of the pool
    std::printf("return_ns %ld\n",
                g_first == 0 ? k_patience : std::max(0L, g_first.load() - pool.waits_since()));
  }
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t at) { return std::atol(words[at].c_str()); };
  if (words.size() == 4 && words[0] == "tasks")
    measure_tasks(words[1], number(2), number(3));
  else if (words.size() == 3 && words[0] == "watch")
    measure_watch(words[1], number(2));
  else if (words.size() == 3 && words[0] == "react")
    measure_reactions(words[1], number(2));
  else
    return std::fputs("see bench/micro/pools_sample.cpp\n", stderr), 2;
}
