// SPDX-License-Identifier: Apache-2.0
// Floods: producers that never stop, producers that make producers, and very many tasks that only block. Each case is a
// process of its own, which checks how much memory it took. --short for fewer tasks; no argument: 100 million.
#include "support/process.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr long k_mib = 1024; // in units of /proc
constexpr long k_gib = 1024 * k_mib;

/// A line of /proc/self/status, in KiB.
long status(const char *key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0)
      return std::atol(line.c_str() + std::strlen(key) + 1);
  return 0;
}

long count_lines(const char *path) {
  std::ifstream file(path);
  long n = 0;
  for (std::string line; std::getline(file, line);)
    ++n;
  return n;
}

int g_wrong = 0;

void expect(bool good, const char *what, long value) {
  std::printf("%s%s: %ld\n", good ? "" : "WRONG: ", what, value);
  g_wrong += !good;
}

/// Memory limits hold for the library, not for a sanitizer's shadow.
void expect_at_most(long value, long limit, const char *what) {
  expect(test::k_sanitized || value <= limit, what, value);
}

// ---- a producer ----------------------------------------------------------------------------------------------------

std::atomic<long> g_ran{0};

int producer(long n) {
  for (long i = 0; i != n; ++i)
    weft::spawn([] { g_ran.fetch_add(1, std::memory_order_relaxed); });
  weft::taskwait();
  expect(g_ran == n, "tasks run", g_ran);
  expect_at_most(status("VmHWM"), 64 * k_mib, "resident KiB at most");
  // At full speed: each time it is held back, hundreds of its tasks have run since the last time.
  expect(weft::stats().throttled <= static_cast<std::uint64_t>(n) / 100 + 10, "times held back",
         static_cast<long>(weft::stats().throttled));
  expect(weft::stats().live_bytes <= 2u << 20, "bytes still counted by the throttle",
         static_cast<long>(weft::stats().live_bytes));
  return g_wrong;
}

// ---- producers that make producers ---------------------------------------------------------------------------------

int g_data[8];

void nest(int depth, bool waits) {
  ++g_ran;
  if (depth == 0)
    return;
  for (int i = 0; i != 5; ++i) {
    if (i % 2)
      weft::spawn([depth, waits] { nest(depth - 1, waits); });
    else
      weft::spawn([depth, waits] { nest(depth - 1, waits); }, weft::weak_inout(g_data[i]));
  }
  if (waits)
    weft::taskwait();
}

int nested(int depth, bool waits) {
  long expected = 0, level = 1;
  for (int d = depth; d >= 0; --d, level *= 5)
    expected += level;
  weft::spawn([=] { nest(depth, waits); });
  weft::taskwait();
  expect(g_ran == expected, "tasks run", g_ran);
  std::printf("throttled: %llu\n", static_cast<unsigned long long>(weft::stats().throttled));
  return g_wrong;
}

/// Children of weak accesses, each of which makes the next: many creators at once, and each makes one task.
void descend(int depth, int &x) {
  ++g_ran;
  if (depth > 0)
    weft::spawn([depth, &x] { descend(depth - 1, x); }, weft::weak_inout(x));
}

/// Runs creators of few tasks each: a suspended creator keeps a stack, which takes more memory than
/// the tasks that it would have created.
int small_producers(const std::string &what, long n) {
  if (what == "lines")
    for (long i = 0; i != n / 9; ++i)
      weft::spawn([] { descend(8, g_data[0]); }, weft::weak_inout(g_data[0]));
  else
    weft::spawn([n] { nest(static_cast<int>(n), false); });
  weft::taskwait();
  const long ran = g_ran;
  std::printf("tasks run: %ld\n", ran);
  expect_at_most(status("VmHWM"), 64 * k_mib, "resident KiB at most");
  expect(weft::stats().throttled <= static_cast<std::uint64_t>(ran) / 100 + 10, "times held back",
         static_cast<long>(weft::stats().throttled));
  return g_wrong;
}

/// Each task makes its successor and many more, so that producers are held back at every depth of a long chain.
void chain(int length) {
  ++g_ran;
  if (length == 0)
    return;
  for (int i = 0; i != 20; ++i)
    weft::spawn([] { ++g_ran; });
  weft::spawn([length] { chain(length - 1); });
}

int chained(int length) {
  chain(length);
  weft::taskwait();
  expect(g_ran == 21L * length + 1, "tasks run", g_ran);
  if (weft::worker_count() == 1) // others may run the tasks as fast as they are made
    expect(weft::stats().throttled > 0, "producers held back",
           static_cast<long>(weft::stats().throttled));
  return g_wrong;
}

void limit(__rlimit_resource what, std::size_t bytes) {
  rlimit l{};
  getrlimit(what, &l);
  l.rlim_cur = std::min(static_cast<rlim_t>(bytes), l.rlim_max);
  setrlimit(what, &l);
}

// ---- blocked tasks -------------------------------------------------------------------------------------------------

struct blocked {
  explicit blocked(long n) : refs(static_cast<std::size_t>(n)) {}
  std::vector<std::atomic<weft::task_ref *>> refs;
  std::atomic<long> blocking{0}, refused{0}, woken{0};

  void body(std::size_t i) {
    weft::task_ref self = weft::this_task::self();
    refs[i] = &self;
    ++blocking;
    try {
      weft::this_task::block();
      ++woken;
    } catch (const weft::error &) {
      refs[i] = nullptr;
      ++refused;
    } catch (const std::bad_alloc &) {
      refs[i] = nullptr;
      ++refused;
    }
  }
};

int block_all(long n, bool all_must) {
  auto tasks = std::make_unique<blocked>(n);
  blocked &b = *tasks;
  long taken = 0;
  for (long i = 0; i != n; ++i) {
    try {
      weft::spawn([&b, i] { b.body(static_cast<std::size_t>(i)); });
      ++taken;
    } catch (const weft::error &) {
    } catch (const std::bad_alloc &) {
    }
  }
  while (b.blocking < taken) {
    weft::taskyield();
    std::this_thread::sleep_for(100us);
  }
  limit(RLIMIT_AS, RLIM_INFINITY); // to read files takes memory
  limit(RLIMIT_DATA, RLIM_INFINITY);
  expect_at_most(status("VmSize"), 16 * k_gib, "address space in KiB");
  expect_at_most(status("VmHWM"), k_gib + k_gib / 5, "resident KiB at most");
  expect(count_lines("/proc/self/maps") < 65530 * 4 / 5, "mappings",
         count_lines("/proc/self/maps"));
  for (auto &ref : b.refs)
    if (weft::task_ref *r = ref.load())
      weft::unblock(*r);
  weft::taskwait();
  std::printf("refused: %ld\n", b.refused.load());
  expect(b.woken + b.refused == taken, "tasks that went on", b.woken + b.refused);
  expect(!all_must || b.woken == n, "tasks that blocked", b.woken);
  expect(b.woken > 0, "tasks that could block", b.woken);
  return g_wrong;
}

/// From now on the kernel does not know guards by advice.
bool pretend_old_kernel() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 102, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

int child(const std::string &what, long n) {
  if (what == "producer")
    return producer(n);
  if (what == "waiting-tree" || what == "tree")
    return nested(static_cast<int>(n), what == "waiting-tree");
  if (what == "lines" || what == "wide-tree")
    return small_producers(what, n);
  if (what == "chain")
    return chained(static_cast<int>(n));
  if (what == "old-kernel" && !pretend_old_kernel())
    return 77;
  if (what == "address-space")
    limit(RLIMIT_AS, std::size_t{1} << 30);
  if (what == "data-segment")
    limit(RLIMIT_DATA, std::size_t{1} << 30);
  return block_all(n, what == "blocked" || what == "old-kernel");
}

// ---- the parent ----------------------------------------------------------------------------------------------------

int g_failed = 0;

test::ending run(const std::string &what, long n, test::environment settings) {
  std::string text = what + " " + std::to_string(n);
  for (const auto &[key, value] : settings)
    text += " " + key + "=" + value;
  test::ending end = test::run({test::program_path(), what, std::to_string(n)}, settings, 500s);
  const bool good = end.exited(0) || end.exited(77);
  g_failed += !good;
  std::printf("%s %s\n", good ? "ok    " : "FAILED", text.c_str());
  if (!good)
    std::printf("%.20000s\n", end.output.c_str());
  else if (what != "chain" && what != "tree" && what != "waiting-tree")
    std::printf("%.400s", end.output.c_str());
  std::fflush(stdout);
  return end;
}

constexpr const char *k_policies[] = {"stealing", "delegated", "local-fifo", "central"};
constexpr const char *k_workers[] = {"1", "2", "8"};

void producers(bool brief) {
  run("producer", brief ? test::scaled(2'000'000) : 100'000'000, {});
  for (const char *policy : k_policies)
    for (const char *workers : k_workers)
      run("producer", test::scaled(brief ? 200'000 : 2'000'000),
          {{"WEFT_SCHED_POLICY", policy}, {"WEFT_WORKERS", workers}});
}

void nested_producers(bool brief) {
  int turn = 0;
  for (const char *policy : k_policies)
    for (const char *workers : k_workers)
      for (const char *what : {"tree", "waiting-tree", "chain"})
        run(what,
            what[0] == 'c'               ? test::scaled(brief ? 500 : 5000, 300)
            : brief || test::k_sanitized ? 5
                                         : 7,
            {{"WEFT_SCHED_POLICY", policy},
             {"WEFT_WORKERS", workers},
             {"WEFT_THROTTLE_BYTES", "64KiB"},
             {"WEFT_DEPS_SYSTEM", turn++ % 2 ? "locks" : "wait-free"}});
}

void producers_of_few(bool brief) {
  for (const char *policy : k_policies)
    for (const char *workers : {"1", "2"}) {
      run("lines", test::scaled(brief ? 200'000 : 2'000'000),
          {{"WEFT_SCHED_POLICY", policy}, {"WEFT_WORKERS", workers}});
      run("wide-tree",
          test::k_sanitized ? 5
          : brief           ? 8
                            : 9,
          {{"WEFT_SCHED_POLICY", policy}, {"WEFT_WORKERS", workers}});
    }
}

void blocked_tasks() {
  const long n = test::scaled(100'000);
  run("blocked", n, {});
  run("blocked", n, {{"WEFT_WORKERS", "8"}, {"WEFT_SCHED_POLICY", "central"}});
  const test::ending old = run("old-kernel", n, {});
  const std::string warning = "no more guard pages";
  const auto first = old.output.find(warning);
  if (!test::k_sanitized && old.exited(0) &&
      (first == std::string::npos || old.output.find(warning, first + 1) != std::string::npos)) {
    std::printf("FAILED: stacks without guards are to be said once\n%.2000s\n", old.output.c_str());
    ++g_failed;
  }
  if (test::k_sanitized)
    return; // a shadow takes more than these limits
  run("address-space", 50'000, {{"WEFT_WORKERS", "2"}});
  run("data-segment", 50'000, {{"WEFT_WORKERS", "2"}});
}

} // namespace

int main(int count, char **words) {
  if (count == 3)
    return child(words[1], std::atol(words[2]));
  const bool brief = count == 2 && std::strcmp(words[1], "--short") == 0;
  producers(brief);
  nested_producers(brief);
  producers_of_few(brief);
  blocked_tasks();
  std::printf("floods: %d failed\n", g_failed);
  return g_failed == 0 ? 0 : 1;
}
