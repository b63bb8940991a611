// SPDX-License-Identifier: Apache-2.0
// Programs of tasks that hang, each in its own way: all are reported, with the cause. And programs
// that only wait for long: there is no report.
#include "os/thread_state.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"
#include "unit/worker/hang_corpus.hpp"

#include <weft/layer/task.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using test::must;
using test::sick_program;
using test::why;

/// Two that hold one thing each and wait for the other's.
void opposite_order() {
  static weft::mutex a, b;
  static std::atomic<int> have{0};
  const auto both = [](weft::mutex &first, weft::mutex &second) {
    first.lock();
    ++have;
    must(test::eventually([] { return have == 2; }));
    second.lock();
  };
  weft::spawn([=] { both(a, b); }, weft::label("left"));
  weft::spawn([=] { both(b, a); }, weft::label("right"));
  weft::taskwait();
}

void three_mutexes() {
  static std::array<weft::mutex, 3> m;
  static std::atomic<int> have{0};
  static const char *const k_names[] = {"one", "two", "three"};
  for (unsigned i = 0; i < 3; ++i)
    weft::spawn(
        [i] {
          m[i].lock();
          ++have;
          must(test::eventually([] { return have == 3; }));
          m[(i + 1) % 3].lock();
        },
        weft::label(k_names[i]));
  weft::taskwait();
}

void mutex_twice() {
  static weft::mutex m;
  weft::spawn([] { m.lock(), m.lock(); }, weft::label("forgetful"));
  weft::taskwait();
}

void parent_holds() {
  static weft::mutex m;
  weft::spawn(
      [] {
        m.lock();
        weft::spawn([] { weft::spawn([] { m.lock(); }, weft::label("grandchild")); },
                    weft::label("child"));
        weft::taskwait();
      },
      weft::label("parent"));
  weft::taskwait();
}

void handle_of_a_successor() {
  static int x;
  static weft::handle<int> later;
  static test::gate go;
  weft::spawn([] { must(go.pass()), x = later.get(); }, weft::label("producer"), weft::out(x));
  later = weft::spawn([] { return x; }, weft::label("consumer"), weft::in(x));
  go.open();
  weft::taskwait();
}

void own_handle() {
  static weft::handle<int> own;
  static test::gate go;
  own = weft::spawn([] { return must(go.pass()), own.get() + 1; }, weft::label("ouroboros"));
  go.open();
  weft::taskwait();
}

void two_handles() {
  static weft::handle<int> left, right;
  static test::gate go;
  left = weft::spawn([] { return must(go.pass()), right.get(); }, weft::label("left"));
  right = weft::spawn([] { return must(go.pass()), left.get(); }, weft::label("right"));
  go.open();
  weft::taskwait();
}

void lost_event() {
  weft::spawn([] { weft::this_task::increase_events(); }, weft::label("transfer"));
  weft::taskwait();
}

void never_unblocked() {
  static int x;
  weft::spawn([] { weft::this_task::block(); }, weft::label("sleeper"), weft::out(x));
  weft::spawn([] { x = 1; }, weft::label("heir"), weft::inout(x));
  weft::taskwait();
}

void event_behind_itself() {
  static int x;
  static weft::task_ref held;
  weft::spawn([] { held = weft::this_task::self(), weft::this_task::increase_events(); },
              weft::label("held"), weft::out(x));
  weft::spawn([] { weft::decrease_events(held); }, weft::label("releaser"), weft::in(x));
  weft::taskwait();
}

void reduction_that_needs_a_mutex() {
  static weft::mutex m;
  static int sum;
  m.lock();
  weft::spawn([] { m.lock(), weft::reduction_local(sum) += 1; }, weft::label("adds"),
              weft::reduction(sum, weft::sum));
  weft::spawn([] { return sum; }, weft::label("total"), weft::in(sum)).wait();
}

void mutex_taken_twice() {
  static weft::mutex m;
  static test::gate taken;
  weft::spawn([] { m.lock(), taken.open(), m.lock(); }, weft::label("takes it twice"));
  must(taken.pass());
  for (int i = 0; i != 4; ++i)
    weft::spawn([] { m.lock(), m.unlock(); }, weft::label("wants it"));
  weft::taskwait();
}

void reduction_that_waits_for_its_total() {
  static int sum;
  static weft::handle<int> total;
  static test::gate go;
  weft::spawn([] { must(go.pass()), weft::reduction_local(sum) += total.get(); },
              weft::label("adds"), weft::reduction(sum, weft::sum));
  total = weft::spawn([] { return sum; }, weft::label("total"), weft::in(sum));
  go.open();
  weft::taskwait();
}

/// What the member took part in is over when its child hangs, and the memory of that is used again.
void child_of_an_ended_member() {
  static int x, y;
  static std::atomic<bool> over{false};
  weft::spawn([] { weft::spawn([] { weft::this_task::block(); }, weft::label("child")); },
              weft::label("member"), weft::commutative(x));
  weft::spawn([] { over = true; }, weft::label("heir"), weft::inout(x));
  must(test::eventually([] { return over.load(); }));
  for (int i = 0; i < 200; ++i)
    weft::spawn([] { ++y; }, weft::label("later"), weft::inout(y));
  weft::taskwait();
}

/// Held back again and again, and let go; then all there is waits for what it holds.
void full_throttle() {
  static weft::mutex m;
  weft::spawn(
      [] {
        m.lock();
        std::array<char, 512> load{};
        for (int i = 0; i < 2000; ++i)
          weft::spawn([load] { m.lock(), static_cast<void>(load); }, weft::label("consumer"));
        must(weft::stats().throttled > 0);
        weft::taskwait();
      },
      weft::label("producer"));
  weft::taskwait();
}

void commutative_pair() {
  static int x;
  static weft::handle<int> second;
  static test::gate taken, go;
  weft::spawn([] { taken.open(), must(go.pass()), second.wait(); }, weft::label("has_turn"),
              weft::commutative(x));
  must(taken.pass());
  second = weft::spawn([] { return ++x; }, weft::label("wants_turn"), weft::commutative(x));
  go.open();
  weft::taskwait();
}

void concurrent_and_its_heir() {
  static int x;
  static weft::handle<int> heir;
  static test::gate go;
  weft::spawn([] { must(go.pass()), heir.wait(); }, weft::label("shares"), weft::concurrent(x));
  heir = weft::spawn([] { return ++x; }, weft::label("heir"), weft::inout(x));
  go.open();
  weft::taskwait();
}

void groups_in_a_circle() {
  static weft::handle<int> first, second;
  static test::gate go;
  const auto waits_in_a_group = [](weft::handle<int> &other, const char *member) {
    must(go.pass());
    weft::task_group g;
    g.spawn([&] { other.wait(); }, weft::label(member));
    g.wait();
    return 0;
  };
  second = weft::spawn([=] { return waits_in_a_group(first, "of the second"); },
                       weft::label("second"));
  first =
      weft::spawn([=] { return waits_in_a_group(second, "of the first"); }, weft::label("first"));
  go.open();
  weft::taskwait();
}

void region_and_its_heir() {
  static std::array<int, 8> x;
  static weft::handle<int> whole;
  static test::gate go;
  weft::spawn([] { must(go.pass()), whole.wait(); }, weft::label("left half"),
              weft::out(weft::region(x.data(), 4)));
  whole = weft::spawn([] { return x[0]; }, weft::label("all of it"),
                      weft::inout(weft::region(x.data(), 8)));
  go.open();
  weft::taskwait();
}

void stream_behind_a_mutex() {
  static weft::mutex m;
  weft::function_stream s("line");
  m.lock();
  weft::spawn_function([](void *) { m.lock(); }, nullptr, nullptr, nullptr, {"needs", 0, &s});
  s.wait();
}

void stream_behind_an_event() {
  weft::function_stream s("line");
  weft::spawn_function([](void *) { weft::this_task::increase_events(); }, nullptr, nullptr,
                       nullptr, {"first", 0, &s});
  weft::spawn_function([](void *) {}, nullptr, nullptr, nullptr, {"second", 0, &s});
  s.wait();
}

void round_of_a_loop() {
  static int x;
  weft::taskiter(
      3,
      [] { weft::spawn([] { weft::this_task::block(); }, weft::label("round"), weft::inout(x)); },
      weft::label("iterates"), weft::nogroup);
  weft::taskwait();
}

/// The child's data belong to a task that waits for the child's parent.
void child_of_a_weak_task() {
  static int x;
  static weft::handle<int> outer;
  static test::gate go;
  weft::spawn([] { must(go.pass()), outer.wait(); }, weft::label("first"), weft::inout(x));
  outer = weft::spawn(
      [] {
        return weft::spawn([] { ++x; }, weft::label("child"), weft::inout(x)), weft::taskwait(), 0;
      },
      weft::label("outer"), weft::weak_inout(x));
  go.open();
  weft::taskwait();
}

void branch_of_a_join() {
  static weft::mutex m;
  static test::gate locked, began;
  weft::spawn(
      [] {
        weft::join([] { m.lock(), locked.open(), must(began.pass()); },
                   [] { must(locked.pass()), began.open(), m.lock(); });
      },
      weft::label("joins"));
  weft::taskwait();
}

void runs_again_without_end() {
  weft::spawn([] { weft::layer::run_again(weft::layer::again::when_unblocked); },
              weft::label("again"));
  weft::taskwait();
}

void lost_event_under_a_trace() { lost_event(); }

const sick_program k_sick[] = {
    {"two_mutexes_in_opposite_order",
     why::circle,
     &opposite_order,
     {"task 'left' waits for mutex", "task 'right' waits for mutex", "is held by task 'left'",
      "is held by task 'right'"}},
    {"three_mutexes_in_a_circle",
     why::circle,
     &three_mutexes,
     {"task 'one' waits for mutex", "task 'two' waits for mutex", "task 'three' waits for mutex",
      "is held by task 'three'"}},
    {"a_mutex_locked_twice",
     why::circle,
     &mutex_twice,
     {"task 'forgetful' waits for mutex", "is held on the stack of task 'forgetful'"}},
    {"a_parent_holds_what_its_grandchild_needs",
     why::circle,
     &parent_holds,
     {"task 'parent' ", "task 'grandchild' waits for mutex",
      "is held by task 'parent'|is held on the stack of task 'grandchild'"}},
    {"the_handle_of_a_successor",
     why::circle,
     &handle_of_a_successor,
     {"task 'producer' waits for the end of task 'consumer'", "task 'consumer' waits, with in(0x"}},
    {"the_own_handle",
     why::circle,
     &own_handle,
     {"task 'ouroboros' waits for the end of task 'ouroboros'"}},
    {"the_handles_of_each_other",
     why::circle,
     &two_handles,
     {"task 'left' waits for the end of task 'right'",
      "task 'right' waits for the end of task 'left'"}},
    {"an_event_that_was_lost",
     why::nobody_left,
     &lost_event,
     {"task 'transfer' has ended, but for external events"}},
    {"an_event_that_was_lost_under_a_trace",
     why::nobody_left,
     &lost_event_under_a_trace,
     {"task 'transfer' has ended, but for external events"},
     {{"WEFT_TRACE_LEVEL", "graph"}}},
    {"a_block_that_nobody_undoes",
     why::nobody_left,
     &never_unblocked,
     {"task 'sleeper' is blocked and can only be unblocked by",
      "task 'heir' waits, with inout(0x"}},
    {"an_event_taken_back_behind_itself",
     why::nobody_left,
     &event_behind_itself,
     {"task 'held' has ended, but for external events", "task 'releaser' waits, with in(0x"}},
    {"a_reduction_needs_a_mutex",
     why::circle,
     &reduction_that_needs_a_mutex,
     {"task 'adds' waits for mutex", "task 'total' waits, with in(0x",
      ", for the tasks with reduction(0x", ") are over only after task 'adds'"}},
    {"a_reduction_waits_for_its_total",
     why::circle,
     &reduction_that_waits_for_its_total,
     {"task 'adds' waits for the end of task 'total'", "task 'total' waits, with in(0x",
      ", for the tasks with reduction(0x", ") are over only after task 'adds'"}},
    {"a_mutex_that_its_holder_takes_again",
     why::circle,
     &mutex_taken_twice,
     {"task 'takes it twice' waits for mutex 0x", "task 'wants it' waits for mutex 0x",
      "is held on the stack of task 'takes it twice'"}},
    {"a_child_of_an_ended_member",
     why::nobody_left,
     &child_of_an_ended_member,
     {"task 'member' waits for its child task 'child'",
      "task 'child' is blocked and can only be unblocked by"}},
    {"a_full_throttle",
     why::circle,
     &full_throttle,
     {"task 'consumer' waits for mutex",
      "is held by task 'producer'|is held on the stack of task 'consumer'", "task 'producer'",
      " times)"},
     {{"WEFT_THROTTLE_BYTES", "256KiB"}, {"WEFT_THROTTLE_SOFT", "64KiB"}}},
    {"a_commutative_pair",
     why::circle,
     &commutative_pair,
     {"task 'has_turn' waits for the end of task 'wants_turn'",
      "task 'wants_turn' waits, with commutative(0x", "for task 'has_turn'"}},
    {"a_concurrent_task_and_its_heir",
     why::circle,
     &concurrent_and_its_heir,
     {"task 'shares' waits for the end of task 'heir'", "task 'heir' waits, with inout(0x",
      ", for the tasks with concurrent(0x", ") are over only after task 'shares'"}},
    {"groups_that_wait_for_each_other",
     why::circle,
     &groups_in_a_circle,
     {"task 'of the first' waits for the end of task 'second'",
      "task 'of the second' waits for the end of task 'first'"}},
    {"groups_that_wait_for_each_other_on_one_stack",
     why::circle,
     &groups_in_a_circle,
     {"task 'first' waits in its group for task 'of the first'",
      "task 'of the first' waits for the end of task 'second'",
      "task 'second' waits in its group for task 'of the second'",
      "task 'of the second' waits for the end of task 'first'"},
     {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}},
    {"a_region_and_its_heir",
     why::circle,
     &region_and_its_heir,
     {"task 'left half' waits for the end of task 'all of it'",
      "task 'all of it' waits, with a region that both touch, for task 'left half'"}},
    {"a_stream_behind_a_mutex",
     why::circle,
     &stream_behind_a_mutex,
     {"task 'line' waits in stream 'line' for task 'needs'", "task 'needs' waits for mutex"}},
    {"a_stream_behind_an_event",
     why::nobody_left,
     &stream_behind_an_event,
     {"task 'first' has ended, but for external events",
      "task 'second' waits in stream 'line' for task 'first'"}},
    {"a_round_of_a_loop",
     why::nobody_left,
     &round_of_a_loop,
     {"task 'iterates' waits in its rounds for task 'round'",
      "task 'round' is blocked and can only be unblocked by"}},
    {"a_child_of_a_weak_task",
     why::circle,
     &child_of_a_weak_task,
     {"task 'first' waits for the end of task 'outer'", "task 'outer' ",
      "task 'child' waits, with inout(0x"}},
    {"a_child_of_a_weak_task_on_one_stack",
     why::circle,
     &child_of_a_weak_task,
     {"task 'first' waits for the end of task 'outer'",
      "task 'outer' waits for its child task 'child'", "task 'child' waits, with inout(0x"},
     {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}},
    {"a_branch_of_a_join",
     why::circle,
     &branch_of_a_join,
     {"waits in join for", "is held by task 'joins'"}},
    {"a_task_that_runs_again",
     why::nobody_left,
     &runs_again_without_end,
     {"task 'again' is blocked and can only be unblocked by"}},
};

struct healthy_program {
  const char *name;
  friend std::ostream &operator<<(std::ostream &to, const healthy_program &p) {
    return to << p.name;
  }
  void (*run)();
};

constexpr auto k_long = 250ms; // twelve times the patience

void sleeps() {
  weft::spawn([] { weft::this_task::sleep_for(k_long); });
  weft::spawn([] { static_cast<void>(weft::this_task::block_for(k_long)); });
  weft::taskwait();
}

void waits_for_a_device() {
  static weft::task_ref task;
  static test::gate known;
  static std::thread device;
  device = std::thread([] {
    while (!known.is_open())
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(k_long);
    weft::decrease_events(task);
  });
  weft::spawn(
      [] { task = weft::this_task::self(), weft::this_task::increase_events(), known.open(); });
  weft::taskwait();
  device.join();
}

void reads_a_pipe() {
  static int ends[2];
  must(pipe(ends) == 0);
  static int got;
  weft::spawn(
      [] {
        char c = 0;
        must(read(ends[0], &c, 1) == 1);
      },
      weft::out(got));
  weft::spawn([] { ++got; }, weft::inout(got));
  weft::spawn([] { weft::this_task::sleep_for(k_long), must(write(ends[1], "x", 1) == 1); });
  weft::taskwait();
}

void computes() {
  static weft::mutex m;
  for (int i = 0; i < 4; ++i)
    weft::spawn([] {
      std::scoped_lock own(m);
      for (const auto end = std::chrono::steady_clock::now() + k_long / 4;
           std::chrono::steady_clock::now() < end;)
        ;
    });
  weft::taskwait();
}

void main_is_elsewhere() {
  static weft::task_ref task;
  static test::gate known;
  weft::spawn([] { task = weft::this_task::self(), known.open(), weft::this_task::block(); });
  must(known.pass());
  std::this_thread::sleep_for(k_long);
  weft::unblock(task);
  weft::taskwait();
}

void a_service_helps() {
  static weft::task_ref task;
  static test::gate known;
  static std::chrono::steady_clock::time_point since;
  static std::atomic<bool> did{false};
  weft::service s(
      "helps", weft::poll_point::idle,
      [](void *) {
        if (did || !known.is_open() || std::chrono::steady_clock::now() - since < k_long)
          return false;
        did = true;
        weft::unblock(task);
        return true;
      },
      nullptr);
  weft::spawn([] {
    task = weft::this_task::self(), since = std::chrono::steady_clock::now(), known.open(),
    weft::this_task::block();
  });
  weft::taskwait();
}

const healthy_program k_healthy[] = {{"sleeps", &sleeps},
                                     {"waits_for_a_device", &waits_for_a_device},
                                     {"reads_a_pipe", &reads_a_pipe},
                                     {"computes", &computes},
                                     {"main_is_elsewhere", &main_is_elsewhere},
                                     {"a_service_helps", &a_service_helps}};

bool printed_one_of(const test::ending &end, std::string_view causes) {
  for (;;) {
    const auto bar = causes.find('|');
    if (end.printed(std::string(causes.substr(0, bar))))
      return true;
    if (bar == std::string_view::npos)
      return false;
    causes.remove_prefix(bar + 1);
  }
}

using sick = test::sick;
struct healthy : testing::TestWithParam<healthy_program> {};

TEST_P(sick, is_reported_with_its_cause) {
  const sick_program &p = GetParam();
  if (p.because == why::nobody_left &&
      (test::k_thread_sanitized || weft::rt::process_threads() == 0))
    GTEST_SKIP()
        << "the threads of the process cannot be counted, or the sanitizer has one of its own";
  test::environment settings{
      {"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "abort"}, {"WEFT_WATCH_PATIENCE", "50ms"}};
  settings.insert(settings.end(), p.settings.begin(), p.settings.end());
  char folder[] = "/tmp/weft-sick-XXXXXX"; // for a trace
  if (!test::is_child()) {
    ASSERT_NE(mkdtemp(folder), nullptr);
    settings.emplace_back("WEFT_TRACE_DIR", folder);
  }
  const auto end = test::in_process(settings, p.run);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_EQ(end.printed("these wait for each other:"), p.because == why::circle) << end;
  EXPECT_EQ(end.printed("no thread is left to do what they wait for"),
            p.because == why::nobody_left)
      << end;
  for (const std::string &cause : p.causes)
    EXPECT_TRUE(printed_one_of(end, cause)) << cause << "\n" << end;
}

TEST_P(healthy, is_left_alone) {
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "abort"}, {"WEFT_WATCH_PATIENCE", "20ms"}},
      GetParam().run);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("nothing goes on")) << end;
}

INSTANTIATE_TEST_SUITE_P(corpus, sick, testing::ValuesIn(k_sick),
                         [](const auto &p) { return std::string(p.param.name); });
INSTANTIATE_TEST_SUITE_P(corpus, healthy, testing::ValuesIn(k_healthy),
                         [](const auto &p) { return std::string(p.param.name); });

} // namespace
