// SPDX-License-Identifier: Apache-2.0
// Futures in every way once, for a program whose memory fails: see program.hpp. What was made has its value, its own exception, or says
// that memory was gone; no wait lasts for ever, and no callable runs twice.
#pragma once

#include "stress/exhaustion/program.hpp"

#include <weft/future.hpp>

#include <cstdint>
#include <vector>

namespace exhaustion {

/// A wait in a task is refused while no stack is to be had (get_by() in wait.cpp: nothing waits for
/// a thread's own code, but tasks wait for tasks). With one worker that lasts as long as memory fails.
inline bool g_in_task = false;

/// Waits until that is possible.
template <class Future>
bool wait_for_future(Future &f) {
  const bool may_be_refused = g_in_task && g_fails_for_ever;
  for (int i = 0; i != (may_be_refused ? 20 : 1000); ++i) {
    if (attempt([&] { f.wait(); }))
      return true;
    std::this_thread::sleep_for(100us);
  }
  if (!may_be_refused)
    wrong("a wait for a future fails for ever");
  return false;
}

/// Takes the value, which is `expected` unless memory was refused below.
template <class Future, class T>
void expect_value(Future &f, const T &expected) {
  if (!f.valid() || !wait_for_future(f))
    return;
  attempt([&] {
    if (f.get() != expected)
      wrong("a future has another value");
  });
}

inline void launches() {
  static std::atomic<int> runs;
  runs = 0;
  int made = 0;
  using weft::launch;
  for (const launch policy : {launch::async, launch::deferred, launch::fork, launch::sync,
                              launch::async | launch::deferred}) {
    weft::future<int> f;
    if (!attempt([&] { f = weft::async(policy, [] { return ++runs, 5; }); }))
      continue;
    ++made;
    expect_value(f, 5);
  }
  if (runs > made)
    wrong("a callable of async() ran without a future, or twice");
}

inline void promises() {
  for (int i = 0; i != 4; ++i)
    attempt([&] {
      weft::promise<std::vector<int>> p;
      weft::future<std::vector<int>> f = p.get_future();
      weft::future<std::size_t> size;
      attempt([&] { size = f.then([](std::vector<int> v) { return v.size(); }); });
      if (i == 3) {
        p.set_exception(std::make_exception_ptr(std::bad_alloc()));
      } else {
        bool is_set = false;
        for (int n = 0; n != 100 && !is_set && i < 2; ++n) // else it is broken
          is_set = attempt([&] { p.set_value(std::vector<int>(7)); });
        if (is_set)
          return expect_value(size, std::size_t{7});
      }
      weft::promise<std::vector<int>> gone = std::move(p);
    });
}

inline void continuations() {
  static std::atomic<int> runs;
  runs = 0;
  int made = 0;
  attempt([&] {
    weft::promise<int> p;
    weft::shared_future<int> f = p.get_future();
    std::vector<weft::future<int>> all;
    all.reserve(40);
    for (int i = 0; i != 10; ++i) {
      attempt([&] {
        all.push_back(f.then([i](int v) { return ++runs, v + i; }));
        ++made;
      });
      attempt([&] {
        all.push_back(f.then([](weft::shared_future<int> v) {
          ++runs;
          return weft::async([v] { return v.get(); });
        }));
        ++made;
      });
      attempt([&] {
        static int shared;
        all.push_back(f.then([](int v) { return ++runs, v; }, weft::inout(shared)));
        ++made;
      });
      attempt([&] {
        all.push_back(
            weft::dataflow(weft::unwrapping([](int a, int b) { return ++runs, a + b; }), f, i));
        ++made;
      });
    }
    p.set_value(1);
    for (auto &one : all)
      if (wait_for_future(one))
        attempt([&] {
          if (const int v = one.get(); v < 1 || v > 10)
            wrong("a continuation has another value");
        });
  });
  if (runs > made)
    wrong("a continuation ran without a future, or twice");
}

inline void combinations() {
  attempt([] {
    std::vector<weft::promise<int>> promises(6);
    std::vector<weft::shared_future<int>> inputs;
    for (auto &p : promises)
      inputs.push_back(p.get_future());
    weft::future<std::vector<weft::shared_future<int>>> all;
    weft::future<weft::when_any_result<std::vector<weft::shared_future<int>>>> any;
    weft::future<weft::when_some_result<std::vector<weft::shared_future<int>>>> some;
    weft::future<void> each;
    static std::atomic<int> calls;
    calls = 0;
    attempt([&] { all = weft::when_all(inputs); });
    attempt([&] { any = weft::when_any(inputs); });
    attempt([&] { some = weft::when_some(3, inputs); });
    attempt([&] { each = weft::when_each([](weft::shared_future<int>) { ++calls; }, inputs); });
    for (std::size_t i = 0; i != promises.size(); ++i)
      while (!attempt([&] { promises[i].set_value(static_cast<int>(i)); })) {
      }
    if (all.valid() && wait_for_future(all) && all.get().size() != 6)
      wrong("when_all has lost a future");
    if (any.valid() && wait_for_future(any))
      attempt([&] {
        if (any.get().index > 5)
          wrong("when_any has chosen nothing");
      });
    if (some.valid() && wait_for_future(some) && some.get().indices.size() != 3)
      wrong("when_some has chosen too few");
    if (each.valid() && wait_for_future(each) && attempt([&] { each.get(); }) && calls != 6)
      wrong("when_each has left out a call");
  });
}

inline void limits() {
  attempt([] {
    weft::promise<void> p;
    weft::future<void> f = p.get_future();
    attempt([&] {
      if (f.wait_for(1ms) == weft::future_status::ready)
        wrong("a promise was kept by nobody");
    });
    std::stop_source stop;
    attempt([&] {
      stop.request_stop();
      try {
        f.get(stop.get_token());
        wrong("a wait went on after its stop");
      } catch (const weft::error &e) {
        if (e.code() != weft::errc::cancelled)
          throw;
      }
    });
    attempt([&] { f.request_stop(); });
    p.set_value();
    wait_for_future(f);
  });
}

inline void all_of_futures() {
  launches();
  promises();
  continuations();
  combinations();
  limits();
  attempt([] { // in a task, where waits run tasks in place
    weft::task_group group;
    group.spawn([] {
      g_in_task = true;
      launches();
      continuations();
      combinations();
      g_in_task = false;
    });
    for (int i = 0; i != 1000 && !attempt([&] { group.wait(); }); ++i)
      std::this_thread::sleep_for(100us);
  });
}

} // namespace exhaustion
