// SPDX-License-Identifier: Apache-2.0
// Random programs of futures: graphs of tasks, continuations and promises against their values computed one after the other, and
// races of waiters, thieves, clocks, stop requests and plain threads for the same results. Each callable runs as often as it should,
// and no closure is left.
//
// usage: weft_stress_futures                         every policy with 1, 2 and 8 workers, a few seconds each
//        weft_stress_futures --seconds N --seed S    this configuration (of the environment)
#include "support/random_programs.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using test::dice;
using test::require;

/// Counts the copies that are alive: every closure holds one.
class witness {
 public:
  witness() noexcept { ++s_alive; }
  witness(const witness &) noexcept { ++s_alive; }
  witness(witness &&) noexcept { ++s_alive; }
  witness &operator=(const witness &) noexcept = default;
  ~witness() { --s_alive; }
  static long alive() noexcept { return s_alive; }

 private:
  inline static std::atomic<long> s_alive{0};
};

/// Runs callables on threads of the program, which use Weft for nothing else. The main thread joins them: ThreadSanitizer loses
/// threads that a task joins which has moved to another thread.
class threads {
 public:
  threads() = default;
  threads(const threads &) = delete;
  threads &operator=(const threads &) = delete;
  ~threads() { finish(); }
  template <class F>
  void start(F f) {
    ++m_running;
    const std::lock_guard lock(s_mutex);
    s_all.emplace_back([this, f = std::move(f)]() mutable {
      f();
      --m_running;
    });
  }
  /// Waits until the callables have returned.
  void finish() const {
    while (m_running != 0) {
      weft::taskyield();
      std::this_thread::yield();
    }
  }
  static void join_all() {
    for (std::thread &t : s_all)
      t.join();
    s_all.clear();
  }

 private:
  inline static std::mutex s_mutex;
  inline static std::vector<std::thread> s_all;
  std::atomic<int> m_running{0};
};

/// Runs `f` as a task: on a thread's own stack nothing runs in place.
template <class F>
void in_task(F f) {
  weft::task_group group;
  group.spawn(std::move(f));
  group.wait();
}

// ---- graphs of futures against their values

struct fault {
  std::uint64_t of;
};

/// Is what a node ends with.
struct outcome {
  bool failed = false;
  std::uint64_t value = 0; // or the node that failed
  friend bool operator==(const outcome &, const outcome &) = default;
};

using result = weft::shared_future<std::uint64_t>;

outcome outcome_of(const result &r) {
  try {
    return {false, r.get()};
  } catch (const fault &f) {
    return {true, f.of};
  }
}

struct node {
  enum class kind {
    async,
    then_value,
    then_future,
    dataflow,
    promise,
    nested,
    collected,
    count
  } how;
  weft::launch policy = weft::launch::async;
  std::vector<std::size_t> inputs;
  bool fails = false;
  bool yields = false;

  /// Computes the result from those of the inputs.
  [[nodiscard]] std::uint64_t run(std::uint64_t number, const std::vector<outcome> &from) const {
    if (fails)
      throw fault{number};
    std::uint64_t v = number * 2654435761u;
    for (const outcome &o : from)
      v = v * 31 + o.value + (o.failed ? 7 : 0);
    return v;
  }
  /// Returns whether a failing input is the result, without a call.
  [[nodiscard]] bool passes_faults() const { return how == kind::then_value; }
};

std::vector<node> draw_graph(dice &d) {
  constexpr weft::launch policies[] = {weft::launch::async, weft::launch::deferred,
                                       weft::launch::fork, weft::launch::sync,
                                       weft::launch::async | weft::launch::deferred};
  std::vector<node> graph(1 + d(40));
  for (std::size_t i = 0; i != graph.size(); ++i) {
    node &n = graph[i];
    n.how = static_cast<node::kind>(d(static_cast<std::uint64_t>(node::kind::count)));
    n.policy = policies[d(5)];
    n.fails = d(8) == 0;
    n.yields = d(4) == 0;
    const std::uint64_t least = n.how == node::kind::async || n.how == node::kind::promise ? 0 : 1;
    const std::uint64_t most =
        n.how == node::kind::then_value || n.how == node::kind::then_future ? 1 : 3;
    if (i == 0 && least != 0)
      n.how = node::kind::async;
    else if (least != 0)
      for (std::uint64_t k = 1 + d(most); k != 0; --k)
        n.inputs.push_back(d(i));
  }
  return graph;
}

std::vector<outcome> compute(const std::vector<node> &graph) {
  std::vector<outcome> all;
  for (std::size_t i = 0; i != graph.size(); ++i) {
    std::vector<outcome> from;
    for (const std::size_t k : graph[i].inputs)
      from.push_back(all[k]);
    try {
      if (graph[i].passes_faults() && from[0].failed)
        all.push_back(from[0]);
      else
        all.push_back({false, graph[i].run(i, from)});
    } catch (const fault &f) {
      all.push_back({true, f.of});
    }
  }
  return all;
}

/// Makes the futures of a graph.
class builder {
 public:
  builder(const std::vector<node> &graph, std::vector<std::atomic<int>> &calls, threads &outside)
      : m_graph(graph), m_calls(calls), m_outside(outside) {}

  result make(std::size_t i, const std::vector<result> &made) {
    const node &n = m_graph[i];
    const auto call = [this, &n, i, w = witness()](const std::vector<outcome> &from) {
      ++m_calls[i];
      if (n.yields)
        weft::taskyield();
      return n.run(i, from);
    };
    switch (n.how) {
    case node::kind::async:
      return weft::async(n.policy, [call] { return call({}); });
    case node::kind::then_value:
      return made[n.inputs[0]].then(
          [call](std::uint64_t value) { return call({outcome{false, value}}); });
    case node::kind::then_future:
      return made[n.inputs[0]].then([call](const result &r) { return call({outcome_of(r)}); });
    case node::kind::dataflow:
      return weft::dataflow(
          [call](const std::vector<result> &from) { return call(outcomes_of(from)); },
          inputs_of(n, made));
    case node::kind::collected:
      return weft::when_all(inputs_of(n, made)).then([call](std::vector<result> from) {
        return call(outcomes_of(from));
      });
    case node::kind::nested: // a future of a future is one of its value
      return made[n.inputs[0]].then([call, from = inputs_of(n, made)](const result &) {
        return weft::when_all(from).then(
            [call](std::vector<result> all) { return call(outcomes_of(all)); });
      });
    case node::kind::promise:
    case node::kind::count:
      break;
    }
    weft::promise<std::uint64_t> p;
    result r = p.get_future();
    m_outside.start([call, p = std::move(p), yields = n.yields]() mutable {
      if (yields)
        std::this_thread::yield();
      keep(p, call);
    });
    return r;
  }

 private:
  template <class Call>
  static void keep(weft::promise<std::uint64_t> &p, const Call &call) {
    try {
      p.set_value(call({}));
    } catch (...) {
      p.set_exception(std::current_exception());
    }
  }
  static std::vector<outcome> outcomes_of(const std::vector<result> &from) {
    std::vector<outcome> all;
    for (const result &r : from)
      all.push_back(outcome_of(r));
    return all;
  }
  static std::vector<result> inputs_of(const node &n, const std::vector<result> &made) {
    std::vector<result> all;
    for (const std::size_t k : n.inputs)
      all.push_back(made[k]);
    return all;
  }

  const std::vector<node> &m_graph;
  std::vector<std::atomic<int>> &m_calls;
  threads &m_outside;
};

void graph(dice &d) {
  const std::vector<node> nodes = draw_graph(d);
  const std::vector<outcome> expected = compute(nodes);
  std::vector<std::atomic<int>> calls(nodes.size());
  const std::uint64_t seed = d(1'000'000), lookers = d(3);
  in_task([&] {
    threads outside;
    builder b(nodes, calls, outside);
    std::vector<result> made;
    for (std::size_t i = 0; i != nodes.size(); ++i)
      made.push_back(b.make(i, made));
    const auto look = [&made, &expected](std::uint64_t from) {
      dice order(from);
      for (int k = 0; k != 10; ++k) {
        const std::size_t i = order(made.size());
        require(outcome_of(result(made[i])) == expected[i], "a looker saw another result");
      }
    };
    weft::task_group inside;
    for (std::uint64_t k = 0; k != lookers; ++k)
      inside.spawn([&look, seed, k] { look(seed + k); });
    for (std::size_t i = made.size(); i-- != 0;)
      require(outcome_of(made[i]) == expected[i], "a node has another result");
    inside.wait();
    outside.finish();
  });
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    const bool passed = nodes[i].passes_faults() && expected[nodes[i].inputs[0]].failed;
    require(calls[i] == (passed ? 0 : 1), "a callable ran more or less often than once");
  }
}

// ---- races for one result

/// Many waiters and thieves for the same tasks.
void claims(dice &d) {
  const std::size_t tasks = 1 + d(20), waiters = 1 + d(4);
  const bool deferred = d(3) == 0;
  std::vector<std::atomic<int>> runs(tasks);
  const std::uint64_t seed = d(1'000'000);
  in_task([&] {
    std::vector<weft::shared_future<std::size_t>> all;
    for (std::size_t i = 0; i != tasks; ++i)
      all.push_back(weft::async(deferred ? weft::launch::deferred : weft::launch::async,
                                [&runs, i, w = witness()] {
                                  if (i % 3 == 0)
                                    weft::taskyield();
                                  ++runs[i];
                                  return i;
                                }));
    const auto wait_for_all = [&all, tasks](std::uint64_t from) {
      dice order(from);
      for (std::size_t k = 0; k != 2 * tasks; ++k) {
        const std::size_t i = order(tasks);
        require(weft::shared_future<std::size_t>(all[i]).get() == i, "a task has another value");
      }
    };
    threads outside;
    weft::task_group inside;
    for (std::size_t k = 0; k != waiters; ++k)
      inside.spawn([&wait_for_all, seed, k] { wait_for_all(seed + k); });
    outside.start([&wait_for_all, seed] { wait_for_all(seed); });
    for (std::size_t i = tasks; i-- != 0;)
      require(all[i].get() == i, "a task has another value");
    inside.wait();
    outside.finish();
  });
  for (const auto &r : runs)
    require(r == 1, "a task ran more or less often than once");
}

/// Deferred tasks of which none was waited for, and futures that go early.
void unwanted(dice &d) {
  std::atomic<int> runs{0};
  const int tasks = 1 + static_cast<int>(d(10));
  in_task([&] {
    for (int i = 0; i != tasks; ++i) {
      static_cast<void>(
          weft::async(weft::launch::deferred, [&runs, w = witness()] { runs += 100; }));
      static_cast<void>(weft::async([&runs, w = witness()] { ++runs; }));
      weft::promise<int> p;
      static_cast<void>(p.get_future().then([&runs, w = witness()](int) { ++runs; }));
      p.set_value(1);
    }
    weft::taskwait();
  });
  require(runs == 2 * tasks, "what no caller waits for ran too often or was lost");
}

/// A choice among promises that plain threads keep meanwhile; those that were not chosen are kept later.
void choices(dice &d) {
  const std::size_t inputs = 1 + d(8), needed = 1 + d(inputs), early = d(inputs + 1);
  const bool any = d(2) == 0, cancels = d(2) == 0;
  in_task([&] {
    std::vector<weft::promise<std::size_t>> promises(inputs);
    std::vector<weft::shared_future<std::size_t>> futures;
    for (auto &p : promises)
      futures.push_back(p.get_future());
    threads outside;
    const std::size_t half = early / 2;
    outside.start([&promises, half] {
      for (std::size_t i = 0; i != half; ++i)
        promises[i].set_value(i);
    });
    outside.start([&promises, half, early] {
      for (std::size_t i = half; i != early; ++i)
        promises[i].set_value(i);
    });
    std::vector<std::size_t> chosen;
    const auto take = [&] {
      outside.finish();
      for (std::size_t i = early; i != inputs; ++i)
        promises[i].set_value(i);
    };
    if (any) {
      auto first = cancels ? weft::when_any(weft::cancel_rest, futures) : weft::when_any(futures);
      take();
      chosen.push_back(first.get().index);
    } else {
      auto some = cancels ? weft::when_some(weft::cancel_rest, needed, futures)
                          : weft::when_some(needed, futures);
      take();
      chosen = some.get().indices;
      require(chosen.size() == needed, "another number of futures was chosen");
    }
    for (const std::size_t i : chosen)
      require(i < inputs && futures[i].is_ready() && futures[i].get() == i,
              "a future was chosen that is not ready");
    std::sort(chosen.begin(), chosen.end());
    require(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end(),
            "a future was chosen twice");
    for (std::size_t i = 0; i != inputs; ++i)
      require(futures[i].get() == i, "a leftover lost its value");
  });
}

/// Waits with a limit against the end that they wait for.
void limits(dice &d) {
  const auto most = std::chrono::nanoseconds(d(200'000));
  const std::uint64_t steps = d(2000);
  const bool stops = d(2) == 0, task = d(2) == 0;
  in_task([&] {
    threads outside;
    const auto work = [steps] {
      std::atomic<std::uint64_t> sum{0};
      for (std::uint64_t i = 0; i != steps; ++i)
        sum += i;
      return sum.load();
    };
    weft::promise<std::uint64_t> p;
    weft::future<std::uint64_t> f = task ? weft::async(work) : p.get_future();
    if (!task)
      outside.start([&p, &work] { p.set_value(work()); });
    std::stop_source source;
    if (stops)
      outside.start([&source] { source.request_stop(); });
    bool over = false;
    if (stops)
      try {
        require(f.get(source.get_token()) == work(), "another value");
        over = true;
      } catch (const weft::error &e) {
        require(e.code() == weft::errc::cancelled && f.valid(),
                "a wait that was given up took the future");
      }
    else
      over = f.wait_for(most) == weft::future_status::ready && !f.is_ready();
    if (stops)
      require(over != f.valid(), "a future is there and gone");
    else
      require(!over, "a wait ended ready before its task");
    if (f.valid())
      require(f.get() == work(), "another value");
    outside.finish();
  });
}

/// Tasks that are asked to stop while they begin.
void stops(dice &d) {
  const std::size_t tasks = 1 + d(10);
  std::atomic<std::size_t> ran{0};
  in_task([&] {
    std::vector<weft::shared_future<void>> all;
    for (std::size_t i = 0; i != tasks; ++i)
      all.push_back(weft::async([&ran, w = witness()] { ++ran; }));
    threads outside;
    outside.start([&all] {
      for (const auto &f : all)
        f.request_stop();
    });
    std::size_t ended = 0, skipped = 0;
    for (const auto &f : all)
      try {
        f.get();
        ++ended;
      } catch (const weft::error &e) {
        require(e.code() == weft::errc::cancelled, "another error");
        ++skipped;
      }
    outside.finish();
    require(ended + skipped == tasks && ended == ran, "a body ran and was skipped");
  });
}

void program(std::uint64_t seed) {
  constexpr void (*parts[])(dice &) = {graph, graph, claims, unwanted, choices, limits, stops};
  dice d(seed);
  parts[d(std::size(parts))](d);
  threads::join_all();
  weft::taskwait();
  require(witness::alive() == 0, "a closure is left");
}

} // namespace

int main(int argc, char **argv) { return test::run_programs(argc, argv, program); }
