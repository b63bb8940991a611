// SPDX-License-Identifier: Apache-2.0
// A program that uses Weft's tasks in every way once, and knows which of them were taken. What it is refused it does without. Accesses of all
// kinds are in data.hpp, loops and functions in loops.hpp.
#pragma once

#include <weft.h>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace exhaustion {

using namespace std::chrono_literals;

inline std::atomic<int> g_taken{0}, g_ran{0}, g_refused{0}, g_wrong{0};
inline bool g_fails_for_ever = false; // what fails does not come back

inline void wrong(const char *what) {
  std::fprintf(stderr, "exhaustion: %s\n", what);
  ++g_wrong;
}

/// Calls f; true unless something was refused. What else it throws is a fault of Weft's.
template <class F>
bool attempt(F f) {
  try {
    f();
    return true;
  } catch (const weft::error &e) {
    if (e.code() != weft::errc::out_of_resources)
      wrong(e.what());
    else if (std::strlen(e.what()) < 20)
      wrong("an error without a sentence");
  } catch (const std::bad_alloc &) {
  } catch (const std::system_error &) { // a thread of the program's own
  } catch (const std::exception &e) {
    wrong(e.what());
  }
  ++g_refused;
  return false;
}

/// Spawns, or is refused: a task that was taken runs.
template <class F, class... Clauses>
bool try_spawn(F f, const Clauses &...clauses) {
  return attempt([&] {
    weft::spawn(
        [f] {
          ++g_ran;
          f();
        },
        clauses...);
    ++g_taken;
  });
}

/// Until it could wait: everything spawned here is complete.
inline void taskwait() {
  for (int i = 0; i != 1000; ++i) {
    if (attempt([] { weft::taskwait(); }) || g_taken == 0) // it did not even start
      return;
    std::this_thread::sleep_for(100us);
  }
  wrong("taskwait() fails for ever");
}

inline void chain() {
  static int value = 0, expected = 0;
  for (int i = 0; i != 40; ++i)
    expected += try_spawn([] { ++value; }, weft::inout(value));
  taskwait();
  if (value != expected)
    wrong("a chain has lost a link");
}

inline void many_accesses() {
  static std::array<int, 64> data;
  static std::atomic<int> ran{0};
  int expected = 0;
  for (int i = 0; i != 20; ++i) {
    std::array<weft::access, 40> list;
    for (int j = 0; j != 40; ++j)
      list[static_cast<std::size_t>(j)] =
          weft::inout(data[static_cast<std::size_t>((i * 7 + j * 3) % 64)]);
    expected += try_spawn([] { ++ran; }, weft::accesses{list});
  }
  taskwait();
  if (ran != expected)
    wrong("a task of many accesses was lost");
}

inline void tree(int depth) {
  for (int i = 0; depth > 0 && i != 3; ++i)
    try_spawn([depth] { tree(depth - 1); });
  attempt([] { weft::taskwait(); });
}

inline void wide() {
  for (int i = 0; i != 600; ++i)
    try_spawn([] {}, weft::priority{i % 50 == 0 ? i / 50 - 6 : 0});
  taskwait();
}

inline void group_of_failures() {
  std::atomic<int> ran{0}, taken{0};
  attempt([&] {
    weft::task_group group(weft::exception_policy::collect_all);
    for (int i = 0; i != 6; ++i)
      attempt([&] {
        group.spawn([&] {
          ++ran;
          throw std::domain_error("meant");
        });
        ++taken;
      });
    try {
      group.wait();
      if (taken != 0)
        wrong("a group has forgotten its exceptions");
    } catch (const weft::exception_list &) {
    } catch (const std::domain_error &) { // no memory for the list
    }
  });
  if (ran != taken)
    wrong("a group's destructor did not wait");
}

inline void cancelled_group() {
  attempt([] {
    std::atomic<int> ran{0};
    weft::task_group group;
    for (int i = 0; i != 20; ++i)
      attempt([&] {
        group.spawn([&, i] {
          ++ran;
          if (i == 3)
            throw std::domain_error("meant");
        });
      });
    try {
      group.wait();
    } catch (const std::domain_error &) {
    }
  });
}

inline void handles() {
  for (int i = 0; i != 6; ++i)
    attempt([i] {
      auto h = weft::spawn([i] {
        if (i % 2)
          throw std::domain_error("meant");
        return i;
      });
      try {
        if (h.get() != i || i % 2)
          wrong("a handle gives something else");
      } catch (const std::domain_error &) {
        if (i % 2 == 0)
          wrong("a handle threw and its task had not");
      }
    });
}

inline int fib(int n) {
  if (n < 2)
    return n;
  int a = 0, b = 0;
  weft::join([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

inline void joins() {
  attempt([] {
    if (fib(12) != 144)
      wrong("join has computed something else");
  });
}

/// Holds a task that blocks, and its waker, unless the waker comes too late.
struct blocked_task {
  enum { fresh, blocks, given_up };
  std::atomic<int> state{fresh};
  weft::task_ref self;

  void run() {
    self = weft::this_task::self();
    if (state.exchange(blocks) == fresh)
      attempt([] { weft::this_task::block(); });
  }
  void end() {
    for (int i = 0; i != 100 && state != blocks; ++i)
      attempt([] { weft::this_task::sleep_for(10us); });
    if (state.exchange(given_up) != blocks)
      return;
    for (int i = 0; i != 3 && !attempt([&] { weft::unblock(self); }); ++i) {
    }
  }
};

inline void blocked_tasks() {
  static std::array<blocked_task, 12> all;
  std::array<bool, all.size()> taken{};
  for (std::size_t i = 0; i != all.size(); ++i)
    taken[i] = try_spawn([i] { all[i].run(); });
  for (std::size_t i = 0; i != all.size(); ++i)
    if (taken[i])
      all[i].end();
  taskwait();
}

inline void sleepers() {
  for (int i = 0; i != 4; ++i)
    try_spawn([] {
      attempt([] { weft::this_task::sleep_for(50us); });
      attempt([] { static_cast<void>(weft::this_task::block_for(50us)); });
    });
  taskwait();
}

inline void threads() {
  for (int i = 0; i != 3; ++i)
    attempt([] {
      std::thread([] {
        const bool first = try_spawn([] {}), second = try_spawn([] {});
        if (first || second) // else Weft may not even know the thread
          taskwait();
      }).join();
    });
}

inline void critical_sections() {
  static int inside = 0;
  static std::atomic<int> entered{0};
  for (int i = 0; i != 16; ++i)
    try_spawn([] {
      attempt([] {
        static weft::mutex m;
        std::lock_guard lock(m);
        if (++inside != 1)
          wrong("two tasks hold one mutex");
        ++entered;
        attempt([] { weft::taskyield(); });
        --inside;
      });
      attempt(
          [] { weft::critical("a name that is long enough to need memory", [] { ++entered; }); });
    });
  taskwait();
}

inline void large_stack() {
  attempt([] {
    std::atomic<bool> ran{false};
    auto h = weft::spawn([&] { ran = true; }, weft::stack_bytes{300'000}, weft::tracked);
    h.get(); // throws when no such stack was to be had
    if (!ran)
      wrong("a task with a large stack was lost");
  });
}

inline void events() {
  for (int i = 0; i != 4; ++i)
    try_spawn([] {
      const weft::task_ref self = weft::this_task::self();
      if (!attempt([] { weft::this_task::increase_events(1); }))
        return;
      if (!try_spawn([self] { attempt([&] { weft::decrease_events(self); }); }))
        attempt([&] { weft::decrease_events(self); });
    });
  taskwait();
}

inline void finals_and_undeferred() {
  static int x = 0;
  try_spawn(
      [] {
        try_spawn([] {
          try_spawn([] { attempt([] { weft::this_task::sleep_for(10us); }); }, weft::inout(x));
        });
      },
      weft::final(true));
  for (int i = 0; i != 6; ++i) {
    try_spawn([] { attempt([] { weft::this_task::sleep_for(10us); }); }, weft::inout(x));
    try_spawn([] {}, weft::inout(x), weft::if_(false));
  }
  taskwait();
}

inline void services() {
  attempt([] {
    std::atomic<int> calls{0};
    weft::service timer(
        "timer", weft::poll_point::timer,
        [](void *p) { return ++*static_cast<std::atomic<int> *>(p), false; }, &calls);
    weft::service idle("idle", weft::poll_point::idle, [](void *) { return false; }, nullptr);
    attempt([] { weft::this_task::sleep_for(200us); });
  });
}

inline void c_functions() {
  const auto check = [](int code) {
    if (code != WEFT_OK && code != WEFT_ERR_OUT_OF_RESOURCES)
      wrong(weft_error_string(code));
    return code == WEFT_OK;
  };
  static const auto body = [](void *arg) {
    ++g_ran;
    return *static_cast<char *>(arg) == 'x' ? 0 : 7;
  };
  static char argument[1500] = "x";
  for (std::size_t bytes : {0u, 100u, 1500u})
    g_taken += check(weft_spawn(body, argument, bytes, nullptr, 0, nullptr, nullptr));
  for (int i = 0; i != 100 && !check(weft_taskwait(nullptr)); ++i) {
  }
}

inline void all_of_tasks() {
  chain();
  many_accesses();
  try_spawn([] { tree(3); });
  taskwait();
  wide();
  group_of_failures();
  cancelled_group();
  handles();
  joins();
  sleepers();
  blocked_tasks();
  threads();
  critical_sections();
  large_stack();
  events();
  finals_and_undeferred();
  services();
  c_functions();
}

/// 0 when nothing was lost.
inline int run(void (*act)()) {
  act();
  taskwait();
  if (g_taken != g_ran) {
    std::fprintf(stderr, "exhaustion: %d tasks were taken and %d have run\n", g_taken.load(),
                 g_ran.load());
    ++g_wrong;
  }
  return g_wrong == 0 ? 0 : 1;
}

} // namespace exhaustion
