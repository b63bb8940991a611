// SPDX-License-Identifier: Apache-2.0
// Settings and the program's knobs, changed while tasks run.
#include "config/settings.hpp"
#include "support/case_process.hpp"
#include "tune/knobs.hpp"
#include "tune/mailbox.hpp"
#include "worker/runtime.hpp"

#include <weft/counters.hpp>
#include <weft/knob.hpp>
#include <weft/taskfor.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;
namespace tune = weft::tune;

template <class F>
weft::error error_of(F f) {
  try {
    f();
  } catch (const weft::error &e) {
    return e;
  }
  return {weft::errc::invalid_argument, "nothing was thrown"};
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

unsigned parked() { return the_runtime().room.stepped_back(); }

template <class Holds>
bool soon(Holds holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (holds())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

long run_tasks(int count) {
  std::atomic<long> sum{0};
  for (int i = 0; i < count; ++i)
    weft::spawn([&sum, i] { sum += i; });
  weft::taskwait();
  return sum;
}

TEST(knobs, a_setting_is_set_before_the_start_as_by_configure) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    tune::set("workers", "3");
    tune::set("spin.us", "7");
    weft::start();
    EXPECT_EQ(weft::worker_count(), 3);
    EXPECT_EQ(tune::get("spin.us"), "7us");
    EXPECT_EQ(the_runtime().spin_ns.load(), 7000u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, each_refusal_has_a_message_of_its_own) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    weft::error e = error_of([] { tune::set("spin.uss", "1us"); });
    EXPECT_EQ(e.code(), weft::errc::bad_setting);
    EXPECT_STREQ(e.what(), "there is no setting and no knob 'spin.uss'; did you mean 'spin.us'?");
    e = error_of([] { tune::set("spin.us", "-1"); });
    EXPECT_EQ(e.code(), weft::errc::bad_setting);
    EXPECT_TRUE(contains(e.what(), "setting spin.us cannot be '-1': it must be a duration"))
        << e.what();
    for (const char *at_start : {"workers", "counters.port"}) {
      e = error_of([&] { tune::set(at_start, "1"); });
      EXPECT_EQ(e.code(), weft::errc::already_started);
      EXPECT_TRUE(contains(e.what(), std::string("setting ") + at_start +
                                         " is read at start only, and Weft has started"))
          << e.what();
    }
    e = error_of([] { static_cast<void>(tune::get("zzzzzzzzzzz")); });
    EXPECT_EQ(e.code(), weft::errc::bad_setting);
    EXPECT_TRUE(contains(e.what(), "`weft set PID` lists")) << e.what();
    EXPECT_EQ(knob_changes(), 0u);
    weft::shutdown();
    e = error_of([] { tune::set("spin.us", "1us"); });
    EXPECT_EQ(e.code(), weft::errc::shut_down);
    EXPECT_EQ(tune::get("spin.us"), "20us");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, a_setting_counts_how_often_others_have_set_it) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    constexpr auto k_which = setting_index::sched_workers;
    tune::set("sched.workers", "2"); // before the start: its value there
    weft::start();
    EXPECT_EQ(times_set(k_which), 0u);
    tune::set("sched.workers", "1");
    tune::set("sched.workers", "1"); // also where nothing changes
    EXPECT_THROW(tune::set("sched.workers", "x"), weft::error);
    EXPECT_EQ(times_set(k_which), 2u);
    EXPECT_FALSE(replace_setting(k_which, 0, "2"));
    EXPECT_EQ(tune::get("sched.workers"), "1");
    EXPECT_TRUE(replace_setting(k_which, 2, "2"));
    EXPECT_EQ(tune::get("sched.workers"), "2");
    EXPECT_EQ(times_set(k_which), 2u);
    EXPECT_EQ(times_set(setting_index::spin_us), 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, every_setting_that_can_change_is_applied) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    int changed = 0;
    for (const auto &info : setting_table())
      if (is_knob(info)) {
        const std::string before = tune::get(info.key);
        tune::set(info.key, before);
        EXPECT_EQ(tune::get(info.key), before);
        ++changed;
      }
    EXPECT_GE(changed, 12);
    EXPECT_EQ(knob_changes(), static_cast<std::uint64_t>(changed));
    EXPECT_EQ(weft::counters::take().value("/knobs/count/changed"), changed);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, values_reach_those_that_read_them) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    const runtime &rt = the_runtime();
    tune::set("sched.immediate_successor", "0.5");
    EXPECT_EQ(rt.successor_odds.load(), UINT32_MAX / 2);
    EXPECT_EQ(rt.plain_odds.load(), UINT32_MAX / 2);
    weft::spawn([] {}, weft::priority(1)); // from now on priorities are compared first
    weft::taskwait();
    tune::set("sched.immediate_successor", "1");
    EXPECT_EQ(rt.successor_odds.load(), UINT32_MAX);
    EXPECT_EQ(rt.plain_odds.load(), 0u);
    tune::set("spin.us", "0");
    EXPECT_EQ(rt.spin_ns.load(), 0u);
    EXPECT_EQ(run_tasks(100), 4950);
    tune::set("pools.least_workers", "2");
    EXPECT_EQ(rt.room.least_workers(), 2u);
    tune::set("sched.workers", "1");
    EXPECT_EQ(rt.room.most_workers(), 1u);
    tune::set("sched.workers", "9");
    EXPECT_EQ(rt.room.most_workers(), 2u) << "no more than there are";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, loops_take_blocks_of_the_time_asked) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] { // alone, so no block is stolen
    weft::start();
    const auto blocks = [] {
      constexpr std::int64_t k_size = 2'000'000;
      std::vector<char> seen(k_size);
      std::atomic<int> count{0};
      for (int round = 0; round < 5; ++round) {
        count = 0;
        weft::taskfor(weft::range(k_size), [&](weft::range<std::int64_t> block) {
          ++count;
          for (const std::int64_t i : block)
            ++seen[static_cast<std::size_t>(i)];
        });
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](char n) { return n == 5; }));
      return count.load();
    };
    tune::set("loop.block", "1us");
    const int many = blocks();
    tune::set("loop.block", "100ms");
    const int few = blocks();
    EXPECT_LT(4 * few, many);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, workers_beyond_the_number_park_and_come_back) {
  const auto end = test::in_process({{"WEFT_WORKERS", "4"}, {"WEFT_WATCH_HANG", "abort"}}, [] {
    weft::start();
    for (int round = 0; round < 3; ++round) {
      tune::set("sched.workers", "1");
      EXPECT_TRUE(soon([] { return parked() == 3; }));
      EXPECT_EQ(run_tasks(2000), 1999L * 1000);
      EXPECT_EQ(parked(), 3u);
      tune::set("sched.workers", "3");
      EXPECT_TRUE(soon([] { return parked() == 1; }));
      EXPECT_EQ(run_tasks(2000), 1999L * 1000);
      tune::set("sched.workers", "all");
      EXPECT_TRUE(soon([] { return parked() == 0; }));
      EXPECT_EQ(run_tasks(2000), 1999L * 1000);
    }
    EXPECT_EQ(weft::worker_count(), 4) << "parked, not ended";
    EXPECT_EQ(the_runtime().room.in_pools(), 0u);
    tune::set("sched.workers", "1");
    EXPECT_TRUE(soon([] { return parked() == 3; }));
    EXPECT_EQ(the_runtime().room.in_pools(), 0u) << "they do not make room for other pools";
    const std::uint64_t looks = the_runtime().watch.looks();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_LT(the_runtime().watch.looks(), looks + 20) << "the watcher rests although workers park";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, changes_amid_bursts_of_tasks_lose_none) {
  const auto end = test::in_process({{"WEFT_WORKERS", "4"}, {"WEFT_WATCH_HANG", "abort"}}, [] {
    weft::start();
    std::atomic<bool> over{false};
    std::thread changer([&over] {
      const char *const numbers[] = {"1", "all", "2", "3"};
      const char *const limits[] = {"64KiB", "off", "1MiB", "16MiB"};
      const char *const spins[] = {"0", "20us"};
      for (unsigned i = 0; !over; ++i) {
        tune::set("sched.workers", numbers[i % 4]);
        tune::set("throttle.bytes", limits[i % 4]);
        tune::set("spin.us", spins[i % 2]);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    });
    for (int round = 0; round < 30; ++round)
      EXPECT_EQ(run_tasks(5000), 4999L * 2500);
    over = true;
    changer.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, the_number_of_workers_at_the_start_parks_the_others) {
  const auto end = test::in_process({{"WEFT_WORKERS", "3"}, {"WEFT_SCHED_WORKERS", "1"}}, [] {
    weft::start();
    EXPECT_TRUE(soon([] { return parked() == 2; }));
    EXPECT_EQ(run_tasks(100), 4950);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(knobs, without_a_watcher_no_worker_parks) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"},
                                     {"WEFT_SCHED_WORKERS", "1"},
                                     {"WEFT_WATCH_HANG", "off"},
                                     {"WEFT_WATCH_MAX_SPARES", "0"}},
                                    [] {
                                      weft::start();
                                      const weft::error e =
                                          error_of([] { tune::set("sched.workers", "1"); });
                                      EXPECT_EQ(e.code(), weft::errc::not_supported);
                                      EXPECT_TRUE(contains(e.what(), "the watcher")) << e.what();
                                      tune::set("sched.workers", "2");
                                      EXPECT_EQ(tune::get("sched.workers"), "2");
                                    });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "setting sched.workers = 1 cannot be followed")) << end;
}

TEST(knobs, a_child_of_fork_begins_with_the_values_of_the_start) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    tune::knob tile("test.tile", 8, tune::range{1, 64});
    weft::start();
    tune::set("spin.us", "3us");
    tile.set(16);
    const pid_t child = fork();
    if (child == 0) {
      const bool good = tune::get("spin.us") == "20us" && tile.value() == 16 &&
                        knob_changes() == 0 && run_tasks(100) == 4950 &&
                        the_runtime().spin_ns.load() == 20'000;
      tune::set("spin.us", "4us");
      _exit(good && the_runtime().spin_ns.load() == 4000 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(tune::get("spin.us"), "3us");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// ---- knobs of the program

TEST(program_knobs, have_the_three_kinds_of_values) {
  tune::knob size("grid.size", 100, tune::range{1, 1000, tune::steps::logarithmic},
                  tune::takes_hold::next_loop, "points of a partition");
  tune::knob part("grid.part", 160, std::vector<std::int64_t>{320, 160});
  tune::real_knob share("grid.share", 0.5, tune::real_range{0, 1});
  tune::choice_knob order("grid.order", "column", {"row", "column"}, tune::takes_hold::when_quiet);
  EXPECT_EQ(size.value(), 100);
  size.set(7);
  EXPECT_EQ(tune::get("grid.size"), "7");
  tune::set("grid.part", "320");
  EXPECT_EQ(part.value(), 320);
  share.set_text("0.75");
  EXPECT_EQ(share.value(), 0.75);
  EXPECT_EQ(order.index(), 1u);
  order.set(0);
  EXPECT_EQ(tune::get("grid.order"), "row");
  EXPECT_EQ(size.name(), "grid.size");
  for (const auto &wrong : {std::pair("grid.size", "1001"),
                            {"grid.part", "161"},
                            {"grid.share", "1.01"},
                            {"grid.order", "diagonal"}}) {
    const std::string before = tune::get(wrong.first);
    const weft::error e = error_of([&] { tune::set(wrong.first, wrong.second); });
    EXPECT_EQ(e.code(), weft::errc::bad_setting);
    EXPECT_TRUE(contains(e.what(), std::string("knob ") + wrong.first + " cannot be '" +
                                       wrong.second + "': it must be "))
        << e.what();
    EXPECT_EQ(tune::get(wrong.first), before);
  }
  EXPECT_EQ(error_of([&] { size.set(0); }).code(), weft::errc::bad_setting);
  EXPECT_EQ(error_of([&] { order.set(2); }).code(), weft::errc::bad_setting);
}

TEST(program_knobs, are_listed_behind_the_settings_until_they_end) {
  const auto last_names = [] {
    std::vector<std::string> names;
    for (const auto &line : tune::list())
      if (line.of_program)
        names.push_back(line.name);
      else
        EXPECT_TRUE(names.empty()) << line.name;
    return names;
  };
  tune::knob b("test.b", 1, tune::range{1, 2, tune::steps::logarithmic},
               tune::takes_hold::when_quiet, "of the test");
  {
    tune::knob a("test.a", 1, tune::range{1, 2});
    EXPECT_EQ(last_names(), (std::vector<std::string>{"test.a", "test.b"}));
  }
  EXPECT_EQ(last_names(), std::vector<std::string>{"test.b"});
  b.set(2);
  const auto line = tune::list().back();
  EXPECT_EQ(line.value, "2");
  EXPECT_EQ(line.first, "1");
  EXPECT_EQ(line.type, "int");
  EXPECT_EQ(line.help, "of the test");
  EXPECT_EQ(line.allowed, "an integer from 1 to 2");
  EXPECT_EQ(line.when, tune::takes_hold::when_quiet);
  EXPECT_EQ(line.in, tune::steps::logarithmic);
  EXPECT_EQ(error_of([] { tune::set("test.a", "1"); }).code(), weft::errc::bad_setting);
}

TEST(program_knobs, with_bad_names_or_values_are_refused) {
  const auto refused = [](const char *name, std::int64_t first, tune::range allowed) {
    const weft::error e = error_of([&] { tune::knob k(name, first, allowed); });
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    return std::string(e.what());
  };
  EXPECT_TRUE(contains(refused("Tile.x", 1, {1, 2}), "other characters"));
  EXPECT_TRUE(contains(refused("tile", 1, {1, 2}), "object.property"));
  EXPECT_TRUE(contains(refused(".tile", 1, {1, 2}), "object.property"));
  EXPECT_TRUE(contains(refused("tile.", 1, {1, 2}), "object.property"));
  EXPECT_TRUE(contains(refused("", 1, {1, 2}), "object.property"));
  EXPECT_TRUE(contains(refused("spin.us", 1, {1, 2}), "a setting of Weft"));
  EXPECT_TRUE(
      contains(refused(("x." + std::string(63, 'y')).c_str(), 1, {1, 2}), "longer than 64"));
  EXPECT_TRUE(contains(refused("test.x", 1, {2, 1}), "above its most"));
  EXPECT_TRUE(contains(refused("test.x", 3, {1, 2}), "first value"));
  EXPECT_TRUE(contains(refused("test.x", 1, {-1, 2, tune::steps::logarithmic}), "negative"));
  tune::knob taken("test.x", 1, tune::range{1, 2});
  EXPECT_TRUE(contains(refused("test.x", 1, {1, 2}), "already"));
  EXPECT_TRUE(contains(
      error_of([] { tune::knob k("test.y", 1, std::vector<std::int64_t>{}); }).what(), "no value"));
  EXPECT_TRUE(contains(error_of([] { tune::choice_knob k("test.y", "a", {}); }).what(), "no word"));
  EXPECT_TRUE(contains(error_of([] {
                         tune::real_knob k("test.y", 1,
                                           tune::real_range{0, 2, tune::steps::logarithmic});
                       }).what(),
                       "positive"));
}

// ---- what another process asks

TEST(mailbox, answers_requests_and_refuses_what_it_does_not_know) {
  tune::knob tile("test.tile", 8, tune::range{1, 64}, tune::takes_hold::next_call, "a\tb\nc");
  std::uint32_t status = 9;
  EXPECT_EQ(answer_to("set test.tile=9", status), "9");
  EXPECT_EQ(status, 0u);
  EXPECT_EQ(tile.value(), 9);
  EXPECT_TRUE(contains(answer_to("set test.tile=", status), "cannot be ''"));
  EXPECT_EQ(status, static_cast<std::uint32_t>(weft::errc::bad_setting));
  EXPECT_TRUE(contains(answer_to("set test.tile=1=2", status), "cannot be '1=2'"));
  for (const char *wrong : {"", "set", "set ", "set x", "=1", "put test.tile=3"}) {
    EXPECT_TRUE(contains(answer_to(wrong, status), "does not know the request")) << wrong;
    EXPECT_EQ(status, static_cast<std::uint32_t>(weft::errc::invalid_argument));
  }
  const std::string list = answer_to("list", status);
  EXPECT_EQ(status, 0u);
  EXPECT_TRUE(list.ends_with("test.tile\t9\t8\tnext call\tprogram\tan integer from 1 to 64\n"))
      << list;
  EXPECT_TRUE(contains(list, "spin.us\t20us\t"));
}

TEST(mailbox, a_list_that_is_too_long_comes_in_parts) {
  std::vector<std::unique_ptr<tune::knob>> many;
  for (int i = 0; i < 600; ++i)
    many.push_back(std::make_unique<tune::knob>("many." + std::to_string(1000 + i), 1,
                                                tune::range{1, 1'000'000'000'000}));
  std::uint32_t status = 0;
  std::string request = "list", all;
  int parts = 0;
  for (; !request.empty(); ++parts) {
    const std::string list = answer_to(request, status);
    EXPECT_EQ(status, 0u);
    EXPECT_LT(list.size(), sizeof(settings_mailbox::reply));
    const auto more = list.find("\n\t"); // a line without a name
    request = more == std::string::npos ? "" : "list " + list.substr(more + 2, list.size() - more - 3);
    all += list.substr(0, more == std::string::npos ? more : more + 1);
  }
  EXPECT_GE(parts, 3);
  EXPECT_TRUE(all.starts_with("sched.workers\t"));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), static_cast<long>(list_knobs().size()));
  for (int i = 0; i < 600; ++i)
    EXPECT_TRUE(contains(all, "\nmany." + std::to_string(1000 + i) + "\t")) << i;
  EXPECT_EQ(answer_to("list 100000", status), "");
  EXPECT_EQ(status, 0u);
  for (const char *wrong : {"list ", "list x", "list 1x", "list -1", "list1", "lists"}) {
    EXPECT_TRUE(contains(answer_to(wrong, status), "does not know the request")) << wrong;
    EXPECT_EQ(status, static_cast<std::uint32_t>(weft::errc::invalid_argument));
  }
}

TEST(mailbox, a_list_has_room_for_a_knob_of_long_words) {
  std::vector<std::string> words;
  for (const char letter : {'a', 'b', 'c'})
    words.emplace_back(20'000, letter);
  const tune::choice_knob wide("test.wide", words[0], words);
  const tune::knob last("test.xlast", 1, tune::range{1, 2});
  std::uint32_t status = 0;
  const std::string list = answer_to("list", status);
  EXPECT_TRUE(contains(list, "\ntest.wide\t" + std::string(2000, 'a') + "...\t")) << list;
  EXPECT_TRUE(contains(list, "...\ntest.xlast\t1\t")) << list;
}

TEST(knobs, a_session_replaces_only_what_it_has_set) {
  program_knob knob;
  knob.word = 4;
  EXPECT_TRUE(replace_program_knob(knob, 4, 8));
  EXPECT_EQ(knob.word, 8);
  EXPECT_EQ(knob.sets, 0u);
  EXPECT_FALSE(replace_program_knob(knob, 4, 16)) << "others have set it";
  EXPECT_EQ(knob.word, 8);
}

} // namespace
