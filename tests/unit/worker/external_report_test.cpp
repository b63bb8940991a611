// SPDX-License-Identifier: Apache-2.0
// Tasks that a layer runs on threads of its own, in reports of hangs and in dumps.
#include "diagnose/external.hpp"
#include "diagnose/outside.hpp"
#include "diagnose/task_dump.hpp"
#include "diagnose/wait_graph.hpp"
#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "os/file.hpp"
#include "os/thread_state.hpp"
#include "support/case_process.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"
#include "support/text.hpp"
#include "worker/runtime.hpp"
#include "worker/safepoint.hpp"

#include <weft/layer/external_report.hpp>
#include <weft/layer/outside_wait.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <semaphore.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace weft::rt;
using namespace std::chrono_literals;
using weft::layer::external_report;

/// Is a source whose report a test writes.
class written_report : weft::layer::external_reports {
 public:
  explicit written_report(external_report from) : m_from(std::move(from)) { announce(); }
  ~written_report() { withdraw(); }
  std::atomic<int> refusals{0}; // as where another thread has the lock

 private:
  bool list_tasks(external_report &to) override {
    if (refusals.load() != 0 && refusals.fetch_sub(1) > 0)
      return false;
    to = m_from;
    return true;
  }
  const external_report m_from;
};

/// Is a source that does not answer until the test lets it.
class slow_report : weft::layer::external_reports, weft::layer::outside_waits {
 public:
  slow_report() {
    external_reports::announce();
    outside_waits::announce();
  }
  ~slow_report() {
    external_reports::withdraw();
    outside_waits::withdraw();
  }
  std::atomic<int> asked{0};
  std::atomic<bool> may_answer{false};

 private:
  bool answer() {
    ++asked;
    return test::soon([this] { return may_answer.load(); });
  }
  bool list_tasks(external_report &) override { return answer(); }
  void list_waits(std::vector<weft::layer::outside_wait> &to) override {
    EXPECT_TRUE(answer());
    to.push_back({&asked, "a thing", "somebody", "slow"});
  }
};

/// Asks both lists of sources, each on a thread of its own, and holds them in the middle of a slow
/// answer until it ends.
class looks_that_go_on {
 public:
  looks_that_go_on()
      : m_tasks([] { EXPECT_TRUE(look_at_externals()); }),
        m_waits([] { EXPECT_TRUE(all_outside_waits()); }) {
    EXPECT_TRUE(test::soon([this] { return source.asked == 2; }));
  }
  ~looks_that_go_on() {
    source.may_answer = true;
    m_tasks.join();
    m_waits.join();
  }
  slow_report source;

 private:
  std::thread m_tasks, m_waits;
};

const int k_ids[4]{};

external_report::task reported(int n, const char *name) {
  return {&k_ids[n], nullptr, nullptr, name, "does something", "written at a.py:7", "f at a.py:9"};
}
external_report circle() {
  return {{reported(0, "left"), reported(1, "right"), reported(2, "third")},
          {{&k_ids[0], &k_ids[1], "waits for the end of"},
           {&k_ids[1], &k_ids[0], "waits for the end of"},
           {&k_ids[2], &k_ids[1], "may wait for the place of", false}},
          {{getpid(), &k_ids[0], true}}};
}

int own_tid() { return static_cast<int>(syscall(SYS_gettid)); }

test::environment ends_at_a_hang() {
  return {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "abort"}, {"WEFT_WATCH_PATIENCE", "20ms"}};
}

/// Rests until the watcher has looked so often.
bool rests_for_looks(std::uint64_t times) {
  weft::layer::begin_rest();
  const std::uint64_t before = the_runtime().hangs.examinations();
  const bool looked = test::soon([&] {
    weft::layer::ask_for_examination();
    return the_runtime().hangs.examinations() >= before + times;
  });
  weft::layer::end_rest();
  return looked;
}

TEST(external_report, a_circle_is_reported_while_its_threads_rest) {
  const auto end = test::in_process(ends_at_a_hang(), [] {
    weft::start();
    const written_report source(circle());
    (void)rests_for_looks(1'000'000);
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("these wait for each other:")) << end;
  EXPECT_TRUE(end.printed("task 'left' waits for the end of task 'right'")) << end;
  EXPECT_TRUE(end.printed("task 'third' may wait for the place of task 'right'")) << end;
  EXPECT_TRUE(end.printed("task 'left', written at a.py:7")) << end;
  EXPECT_TRUE(end.printed("    in f at a.py:9")) << end;
}

TEST(external_report, sources_that_cannot_be_asked_now_are_not_taken_for_none) {
  {
    const looks_that_go_on others;
    EXPECT_FALSE(look_at_externals());
    EXPECT_FALSE(all_outside_waits());
    wait_graph named;
    add_named_waits(named);
    EXPECT_TRUE(named.edges().empty());
  }
  slow_report now;
  now.may_answer = true;
  EXPECT_TRUE(look_at_externals());
  EXPECT_EQ(all_outside_waits().value().size(), 1u);
  wait_graph named;
  add_named_waits(named);
  EXPECT_EQ(named.edges().size(), 1u);
}

TEST(external_report, a_dump_waits_for_sources_or_says_that_they_were_not_asked) {
  const auto end =
      test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "off"}}, [] {
        weft::start();
        weft::event go;
        std::atomic<bool> runs{false};
        std::thread other([&] {
          EXPECT_TRUE(test::soon([&] { return runs.load(); }));
          const auto looks = [] {
            runtime &rt = the_runtime();
            EXPECT_TRUE(test::soon([&rt] { return try_stop_workers(rt, 1'000'000'000); }));
            const bool at_rest = take_task_dump(rt, {}).has_value();
            const std::size_t notes = take_running_dump(rt, {}).notes.size();
            resume_workers(rt);
            return std::make_pair(at_rest, notes);
          };
          {
            const looks_that_go_on others;
            EXPECT_EQ(looks(), std::make_pair(false, std::size_t{1}));
          }
          EXPECT_EQ(looks(), std::make_pair(true, std::size_t{0}));
          go.set();
        });
        weft::spawn([&] { runs = true, go.wait(); });
        weft::taskwait();
        other.join();
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(external_report, the_child_of_a_fork_amid_a_look_adds_and_removes_sources) {
  const auto end = test::in_process({}, [] {
    looks_that_go_on others;
    const pid_t child = fork();
    if (child == 0) {
      alarm(100); // a lock that a thread of the parent holds is never given back
      others.source.may_answer = true;
      {
        slow_report fresh;
        fresh.may_answer = true;
        if (!look_at_externals() || all_outside_waits().value().size() != 2)
          _exit(1);
      }
      _exit(all_outside_waits().value().size() == 1 ? 0 : 2);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(external_report, a_thread_that_does_not_rest_may_end_a_circle) {
  const auto end = test::in_process(ends_at_a_hang(), [] {
    weft::start();
    const written_report source(circle());
    EXPECT_TRUE(test::soon([] { // the main thread is awake
      weft::layer::ask_for_examination();
      return the_runtime().hangs.examinations() >= 5;
    }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("nothing goes on")) << end;
}

TEST(external_report, what_goes_on_by_itself_and_a_source_that_cannot_look_keep_a_report_back) {
  const auto end = test::in_process(ends_at_a_hang(), [] {
    weft::start();
    {
      external_report going = circle();
      going.goes_on = true;
      const written_report source(going);
      EXPECT_TRUE(rests_for_looks(5));
    }
    {
      external_report runs = circle();
      runs.threads.push_back({own_tid(), nullptr, false}); // not in the kernel for good: it asks
      const written_report source(runs);
      EXPECT_TRUE(rests_for_looks(5));
    }
    written_report busy(circle());
    busy.refusals = 1'000'000;
    EXPECT_TRUE(rests_for_looks(5));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("nothing goes on")) << end;
}

TEST(external_report, a_thread_asleep_in_the_kernel_waits_for_a_thread_outside) {
  if (test::k_thread_sanitized || process_threads() == 0)
    GTEST_SKIP() << "a sanitizer's thread, or an unknown number of threads: nothing is certain";
  const auto end = test::in_process(ends_at_a_hang(), [] {
    weft::start();
    static sem_t never;
    sem_init(&never, 0, 0);
    std::atomic<int> sleeper{0};
    std::thread asleep([&] {
      sleeper = own_tid();
      while (sem_wait(&never) != 0) {
      }
    });
    EXPECT_TRUE(test::soon([&] {
      return sleeper != 0 && wait_of_thread(sleeper).for_word && wait_of_thread(sleeper).in_process;
    }));
    const written_report source({{reported(0, "consumer")}, {}, {{sleeper, &k_ids[0], false}}});
    (void)rests_for_looks(1'000'000);
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("no thread is left to do what they wait for")) << end;
  EXPECT_TRUE(end.printed("task 'consumer' sleeps in the kernel, and can only be woken by a thread "
                          "outside of Weft"))
      << end;
}

/// Two threads of which one has the ball at any time, and is awake, while the other one sleeps in the kernel.
class ball {
 public:
  ball() {
    for (sem_t &side : m_sides)
      sem_init(&side, 0, 0);
    for (std::size_t n = 0; n != 2; ++n)
      m_threads[n] = std::thread([this, n] { play(n); });
    sem_post(&m_sides[0]);
    EXPECT_TRUE(test::soon([this] { return m_tids[0] != 0 && m_tids[1] != 0; }));
  }
  ~ball() {
    m_over = true;
    for (std::thread &one : m_threads)
      one.join();
  }
  [[nodiscard]] int tid(std::size_t n) const { return m_tids[n]; }

 private:
  void play(std::size_t n) {
    m_tids[n] = own_tid();
    while (!m_over) {
      while (sem_wait(&m_sides[n]) != 0) {
      }
      std::this_thread::sleep_for(200us); // with a deadline, so a look sees that it goes on
      sem_post(&m_sides[1 - n]);
    }
  }
  sem_t m_sides[2];
  std::atomic<bool> m_over{false};
  std::atomic<int> m_tids[2]{};
  std::thread m_threads[2];
};

// A look asks one thread after the other, so it may find each asleep while the other one is awake. To make that likely,
// it has many others to ask between the two.
TEST(external_report, threads_that_hand_work_to_each_other_between_two_looks_are_not_reported) {
  if (test::k_thread_sanitized || process_threads() == 0)
    GTEST_SKIP() << "a sanitizer's thread, or an unknown number of threads: nothing is certain";
  test::environment often = ends_at_a_hang();
  often.back() = {"WEFT_WATCH_PATIENCE", "1ms"};
  const auto end = test::in_process(often, [] {
    constexpr int k_sleepers = 60;
    weft::start();
    static sem_t never;
    sem_init(&never, 0, 0);
    std::atomic<int> sleepers[k_sleepers]{};
    std::vector<std::thread> asleep;
    for (std::atomic<int> &sleeper : sleepers)
      asleep.emplace_back([&sleeper] {
        sleeper = own_tid();
        while (sem_wait(&never) != 0) {
        }
      });
    {
      const ball between;
      external_report report{{reported(0, "left"), reported(1, "right")},
                             {{&k_ids[0], &k_ids[1], "waits for the end of"},
                              {&k_ids[1], &k_ids[0], "waits for the end of"}},
                             {{between.tid(0), &k_ids[0], false}}};
      for (std::atomic<int> &sleeper : sleepers) {
        EXPECT_TRUE(test::soon([&] { return sleeper != 0 && wait_of_thread(sleeper).for_word; }));
        report.threads.push_back({sleeper, nullptr, false});
      }
      report.threads.push_back({between.tid(1), &k_ids[1], false});
      const written_report source(report);
      EXPECT_TRUE(rests_for_looks(200));
    }
    for (int i = 0; i != k_sleepers; ++i)
      sem_post(&never);
    for (std::thread &one : asleep)
      one.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("nothing goes on")) << end;
}

TEST(external_report, a_thread_asleep_for_another_process_waits_for_nothing_known) {
  sem_t shared;
  sem_init(&shared, 1, 0);
  std::atomic<int> sleeper{0};
  std::thread asleep([&] {
    sleeper = own_tid();
    while (sem_wait(&shared) != 0) {
    }
  });
  EXPECT_TRUE(test::soon([&] { return sleeper != 0 && wait_of_thread(sleeper).for_word; }));
  {
    const written_report source({{reported(0, "consumer")}, {}, {{sleeper, &k_ids[0], false}}});
    std::optional<seen_externals> seen;
    EXPECT_TRUE(test::soon([&] { return (seen = look_at_externals()).has_value(); }));
    EXPECT_TRUE(seen->report.goes_on);
    EXPECT_TRUE(seen->in_kernel.empty());
  }
  sem_post(&shared);
  asleep.join();
}

TEST(external_report, a_thread_that_has_ended_is_left_out) {
  int ended = 0;
  std::thread([&ended] { ended = own_tid(); }).join();
  EXPECT_TRUE(test::soon([&] { return thread_is_gone(ended); }));
  EXPECT_FALSE(thread_is_gone(own_tid()));
  const written_report source({{reported(0, "of another")}, {}, {{ended, &k_ids[0], false}}});
  const auto seen = look_at_externals();
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->report.threads.empty());
  EXPECT_FALSE(seen->report.goes_on);
}

TEST(external_report, waits_that_are_not_certain_are_left_out_while_something_goes_on) {
  external_report going = circle();
  going.goes_on = true;
  const written_report source(going);
  const auto seen = look_at_externals();
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->report.waits.size(), 2u);
}

TEST(external_report, states_are_those_of_tasks_that_wait_for_nothing) {
  external_report report = circle();
  report.tasks.push_back(reported(3, "free"));
  wait_graph graph;
  add_to_graph(report, graph);
  EXPECT_EQ(graph.find(&k_ids[3]), graph.nodes().size());
  EXPECT_TRUE(add_states(report, graph).empty());
  ASSERT_EQ(graph.nodes().size(), 4u);
  EXPECT_EQ(graph.at(graph.find(&k_ids[3])).state, "does something");
  EXPECT_EQ(graph.at(graph.find(&k_ids[0])).state, "");
  external_report many;
  const std::string ids(10'003, ' ');
  for (const char &id : ids)
    many.tasks.push_back({&id, nullptr, nullptr, "one", "is ready", "", ""});
  wait_graph large;
  const auto notes = add_states(many, large);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "3 more tasks of a layer are ready or run");
}

/// What the program has left for a request.
std::string answer_of_watcher() {
  static std::uint64_t ticket = 0;
  segment_request &r = store_request();
  __atomic_store_n(&r.asked, ++ticket, __ATOMIC_RELEASE);
  std::string text;
  EXPECT_TRUE(test::soon([&] { return __atomic_load_n(&r.answered, __ATOMIC_ACQUIRE) == ticket; }));
  return read_file(segment_path(getpid()) + ".waits").value_or("");
}

TEST(external_report, a_dump_names_tasks_whose_order_is_that_of_regions) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "report"}}, [] {
    weft::start();
    using weft::layer::external_task;
    static char data[64];
    external_task *parent = nullptr, *before = nullptr, *behind = nullptr;
    weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &parent);
    const weft::detail::region_dimension run[1] = {{64, 0, 64, 1}};
    const weft::region_access all{weft::region(data, 1, 1, run), weft::access_mode::inout};
    EXPECT_TRUE(weft::layer::enter_external_regions(*parent, &all, 1, "x", nullptr, nullptr, &before));
    EXPECT_FALSE(weft::layer::enter_external_regions(
        *parent, &all, 1, "x", [](void *) {}, nullptr, &behind));
    external_report report{{reported(0, "first"), reported(1, "second"), reported(2, "third")}, {}, {}};
    report.tasks[0].order = before;
    report.tasks[1].order = behind;
    report.tasks[2].former_order = before; // whose memory is another task's by now
    std::string seen;
    {
      written_report source(report);
      source.refusals = 3; // it asks again
      std::thread other([&] {
        EXPECT_TRUE(test::soon([&] {
          seen = answer_of_watcher();
          return test::contains(seen, "waits, with a region that both touch, for");
        }));
      });
      weft::layer::begin_rest();
      other.join();
      weft::layer::end_rest();
    }
    EXPECT_TRUE(test::contains(seen, "\tfirst\n")) << seen;
    EXPECT_TRUE(test::contains(seen, "\tsecond\n")) << seen;
    EXPECT_FALSE(test::contains(seen, "\tx\n")) << seen;
    {
      const weft::layer::external_change here;
      weft::layer::end_external_task(*before);
      weft::layer::end_external_task(*behind);
      weft::layer::end_external_task(*parent);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(external_report, a_dump_lists_tasks_of_layers_where_a_worker_does_not_stop) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "report"}}, [] {
    weft::start();
    const written_report source(circle());
    std::string seen;
    std::atomic<bool> over{false};
    std::thread other([&] {
      EXPECT_TRUE(test::soon([&] {
        seen = answer_of_watcher();
        return test::contains(seen, "but those of a layer");
      }));
      over = true;
    });
    while (!over) // awake, and no task
      std::this_thread::sleep_for(1ms);
    other.join();
    EXPECT_TRUE(test::contains(seen, "\tthird\n")) << seen;
    EXPECT_TRUE(test::contains(seen, "waits for the end of")) << seen;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(external_report, a_change_keeps_the_watcher_from_looking) {
  weft::start();
  runtime &rt = the_runtime();
  {
    const weft::layer::external_change here;
    EXPECT_EQ(rt.gate.readers(), 1u);
  }
  EXPECT_EQ(rt.gate.readers(), 0u);
}

TEST(external_report, only_a_thread_that_uses_weft_rests) {
  weft::start();
  runtime &rt = the_runtime();
  EXPECT_TRUE(is_active(rt, 0));
  weft::layer::begin_rest();
  EXPECT_FALSE(is_active(rt, 0));
  std::thread([] {
    weft::layer::begin_rest();
    weft::layer::end_rest();
  }).join();
  EXPECT_FALSE(is_active(rt, 0));
  weft::layer::end_rest();
  EXPECT_TRUE(is_active(rt, 0));
  EXPECT_GT(weft::layer::rest_patience(), 0u);
}

} // namespace
