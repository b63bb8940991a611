// SPDX-License-Identifier: Apache-2.0
// Sessions of a program: what moves knobs, and what leaves them alone. Costs are counted, not timed.
#include "managers/managers.hpp"
#include "managers/mode_chooser.hpp"
#include "support/case_process.hpp"
#include "support/scale.hpp"
#include "tune/decisions.hpp"
#include "tune/nlopt_search.hpp"
#include "unit/tune/session_sites.hpp"

#include <weft/c/tune.h>
#include <weft/taskfor.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

namespace tune = weft::tune;
using namespace test::sessions;

const test::environment k_on{
    {"WEFT_WORKERS", "2"}, {"WEFT_TUNE", "on"}, {"WEFT_TUNE_HISTORY", "none"}};

TEST(session, finds_the_best_value_of_a_knob_and_says_so) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site at(4, 256);
    at.calls(2000);
    EXPECT_TRUE(at.tuned.settled());
    EXPECT_EQ(at.size.value(), 256);
    EXPECT_GE(at.tuned.trials(), 3u);
    EXPECT_EQ(at.tuned.decision(), "keeps app.size=256: better than the default");
    EXPECT_EQ(tune::decisions().back(), "app.size: " + at.tuned.decision());
    const auto now = weft::counters::take();
    EXPECT_EQ(now.value("/tuner/count/trials"), static_cast<double>(at.tuned.trials()));
    EXPECT_EQ(now.value("/tuner/count/decisions"), static_cast<double>(tune::decisions().size()));
    EXPECT_EQ(now.value("/tuner/count/reverts"), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, of_c_finds_the_best_values_and_says_so) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    weft_knob *size = nullptr, *order = nullptr;
    const char *const orders[] = {"row", "column"};
    ASSERT_EQ(weft_knob_define("c.size", 4, 1, 1024, WEFT_STEPS_LOGARITHMIC,
                               WEFT_HOLDS_FROM_NEXT_CALL, "", &size),
              WEFT_OK);
    ASSERT_EQ(weft_knob_define_choice("c.order", 0, orders, 2, WEFT_HOLDS_FROM_NEXT_CALL, "",
                                      &order),
              WEFT_OK);
    weft_knob *const both[] = {size, order};
    weft_session *tuned = nullptr;
    ASSERT_EQ(weft_session_create(both, 2, "/app/cost", "c.site", 1.0, &tuned), WEFT_OK);
    for (int i = 0; i < 2000 && !weft_session_settled(tuned); ++i) {
      int measured = 0, of_another = 1;
      ASSERT_EQ(weft_session_begin(tuned, &measured), WEFT_OK);
      EXPECT_EQ(weft_session_begin(tuned, &of_another), WEFT_OK);
      EXPECT_EQ(of_another, 0);
      const double away = std::abs(std::log2(static_cast<double>(weft_knob_value(size)) / 256));
      site::cost().add(static_cast<std::uint64_t>(
          100'000 * (1 + 0.2 * away) * (weft_knob_value(order) == 1 ? 1 : 1.5)));
      if (measured) {
        ASSERT_EQ(weft_session_end(tuned, 100), WEFT_OK);
      }
    }
    EXPECT_EQ(weft_session_settled(tuned), 1);
    EXPECT_EQ(weft_knob_value(size), 256);
    EXPECT_EQ(weft_knob_value(order), 1);
    EXPECT_GE(weft_session_trials(tuned), 3u);
    char said[128];
    std::size_t needed = 0;
    EXPECT_EQ(weft_session_decision(tuned, said, sizeof said, &needed), WEFT_OK);
    EXPECT_STREQ(said, "keeps c.size=256 c.order=column: better than the default");
    std::string last;
    EXPECT_EQ(weft_decisions_list(
                  [](const char *decision, void *to) { *static_cast<std::string *>(to) = decision; },
                  &last),
              WEFT_OK);
    EXPECT_EQ(last, std::string("c.site: ") + said);
    weft_session_destroy(tuned);
    weft_knob_withdraw(size);
    weft_knob_withdraw(order);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, an_unknown_objective_is_refused_at_each_call_from_c) {
  const auto end = test::in_process(k_on, [] {
    weft_knob *size = nullptr;
    ASSERT_EQ(weft_knob_define("c.size", 4, 1, 1024, WEFT_STEPS_LINEAR, WEFT_HOLDS_FROM_NEXT_CALL,
                               "", &size),
              WEFT_OK);
    weft_session *tuned = nullptr;
    ASSERT_EQ(weft_session_create(&size, 1, "/app/nothing", nullptr, 0.02, &tuned), WEFT_OK);
    for (int i = 0; i < 3; ++i) {
      int measured = 1;
      EXPECT_EQ(weft_session_begin(tuned, &measured), WEFT_ERR_INVALID_ARGUMENT) << i;
      EXPECT_EQ(measured, 0);
      EXPECT_TRUE(contains(weft_last_error_message(), "/app/nothing")) << weft_last_error_message();
    }
    static weft::counters::counter later("/app/nothing", "made up");
    int measured = 0;
    EXPECT_EQ(weft_session_begin(tuned, &measured), WEFT_OK) << "it is known now";
    EXPECT_EQ(measured, 1);
    EXPECT_EQ(weft_session_end(tuned, 0), WEFT_OK);
    weft_session_destroy(tuned);
    weft_knob_withdraw(size);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, moves_nothing_unless_it_is_told_to) {
  for (const char *mode : {"off", "granularity"}) {
    const auto end = test::in_process({{"WEFT_TUNE", mode}}, [] {
      site::cost();
      site at(4, 256);
      for (int i = 0; i < 200; ++i)
        at.call();
      EXPECT_EQ(at.size.value(), 4);
      EXPECT_EQ(at.tuned.trials(), 0u);
      EXPECT_TRUE(tune::decisions().empty());
    });
    EXPECT_TRUE(end.exited(0)) << mode << end;
  }
}

TEST(session, blocks_depend_on_no_clock_where_runs_are_repeatable) {
  for (const char *mode : {"off", "replay:/nothing"}) {
    const auto end = test::in_process({{"WEFT_TUNE", mode}, {"WEFT_WORKERS", "2"}}, [] {
      for (int i = 0; i < 3; ++i) {
        std::mutex lock;
        std::vector<std::uint64_t> sizes;
        weft::taskfor(weft::range(1600), [&](const weft::range<int> &part) {
          const std::lock_guard guard(lock);
          sizes.push_back(part.size());
        });
        EXPECT_EQ(sizes, std::vector<std::uint64_t>(16, 100)) << "8 per worker";
      }
    });
    EXPECT_TRUE(end.exited(0)) << mode << end;
  }
}

TEST(session, a_value_that_others_set_wins) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site at(4, 256);
    for (int i = 0; i < 4; ++i)
      at.call();
    at.size.set(7);
    for (int i = 0; i < 100; ++i)
      at.call();
    EXPECT_EQ(at.size.value(), 7);
    EXPECT_EQ(at.tuned.decision(), "leaves the knobs alone: app.size was set to 7 by others");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_value_that_others_set_during_a_call_wins) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site at(4, 256);
    {
      tune::trial one(at.tuned, 100);
      site::cost().add(1000);
      tune::set("app.size", "7"); // as `weft set` does
    }
    EXPECT_EQ(at.tuned.decision(), "leaves the knobs alone: app.size was set to 7 by others");
    EXPECT_TRUE(at.tuned.settled());
    for (int i = 0; i < 100; ++i)
      at.call();
    EXPECT_EQ(at.size.value(), 7);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_value_that_others_set_while_it_is_tried_wins) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    tune::knob first("app.first", 4, sizes()), other("app.other", 4, sizes());
    tune::session tuned({&first, &other}, {"/app/cost", "", 1.0, "exhaustive"});
    std::int64_t tried = 4;
    for (int i = 0; i < 100 && tried == 4; ++i) {
      tune::trial one(tuned, 100);
      site::cost().add(1000);
      if (first.value() != 4 && other.value() != 4) {
        tried = first.value();
        first.set(tried);
      }
    }
    ASSERT_NE(tried, 4);
    for (int i = 0; i < 100; ++i) {
      tune::trial one(tuned, 100);
      site::cost().add(1000);
    }
    EXPECT_EQ(first.value(), tried);
    EXPECT_EQ(other.value(), 4) << "the one that the program has not set is given back";
    EXPECT_EQ(tuned.decision(), "leaves the knobs alone: app.first was set to " +
                                    std::to_string(tried) + " by others");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_value_that_another_thread_sets_is_not_lost) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    site::cost();
    for (int round = 0; round < 100; ++round) {
      site at(16, 16); // so its neighbours are tried and left
      std::atomic<int> calls{0};
      std::atomic<bool> is_set{false};
      std::thread other([&] {
        while (calls < round) {
        }
        at.size.set(7);
        is_set = true;
      });
      while (!is_set) {
        at.call();
        ++calls;
      }
      at.call();
      other.join();
      EXPECT_EQ(at.size.value(), 7) << round;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, gives_the_default_back_when_it_gives_up) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    static weft::counters::counter credit("/app/credit", "made up");
    tune::knob size("app.size", 4, sizes());
    tune::session tuned(size, {"/arithmetics/subtract@/app/cost,/app/credit", "", 1.0});
    const auto call = [&](std::uint64_t less) {
      tune::trial one(tuned, 100);
      const double away = std::abs(std::log2(static_cast<double>(size.value()) / 256));
      site::cost().add(static_cast<std::uint64_t>(100'000 * (1 + 0.2 * away)));
      credit.add(less);
    };
    for (int i = 0; i < 2000 && !tuned.settled(); ++i)
      call(0);
    ASSERT_EQ(size.value(), 256);
    for (int i = 0; i < 100; ++i)
      call(1'000'000);
    EXPECT_EQ(tuned.decision(),
              "gives up: calls have no time, no work or no objective; the default stays");
    EXPECT_EQ(size.value(), 4);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_cost_of_nothing_wins) {
  const auto end = test::in_process(k_on, [] {
    static weft::counters::counter misses("/app/none", "made up");
    tune::knob size("app.size", 4, tune::range{1, 8});
    tune::session tuned(size, {"/app/none", "", 1.0, "exhaustive"});
    for (int i = 0; i < 2000 && !tuned.settled(); ++i) {
      tune::trial one(tuned, 1);
      misses.add(static_cast<std::uint64_t>(std::abs(size.value() - 6)));
    }
    EXPECT_EQ(size.value(), 6);
    EXPECT_EQ(tuned.decision(), "keeps app.size=6: better than the default");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, between_calls_a_knob_has_the_value_that_has_won) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site at(16, 16);
    int tried = 0;
    for (int i = 0; i < 200; ++i) {
      try {
        tune::trial one(at.tuned, 100);
        tried += at.size.value() != 16;
        site::cost().add(at.size.value() == 16 ? 1000 : 2000);
        if (at.size.value() != 16 && i % 2 == 0)
          throw std::runtime_error("a call");
      } catch (const std::runtime_error &) {
      }
      EXPECT_EQ(at.size.value(), 16);
    }
    EXPECT_GT(tried, 3);
    EXPECT_GE(at.tuned.trials(), 2u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, gives_the_value_back_of_a_call_that_never_ends) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    tune::knob size("app.size", 16, sizes());
    auto tuned = std::make_unique<tune::session>(size, tune::plan{"/app/cost", "", 1.0});
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(tuned->begin());
      if (size.value() != 16)
        break;
      site::cost().add(1000);
      tuned->end(100);
    }
    ASSERT_NE(size.value(), 16);
    tuned.reset();
    EXPECT_EQ(size.value(), 16);
    site other(4, 256, "app.other");
    other.calls(2000);
    EXPECT_EQ(other.size.value(), 256) << "the turn is free";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, one_that_is_not_called_any_more_holds_up_no_other) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    for (const int more : {0, 1}) { // it waits for its trial, or to be compared
      site left(4, 256, "app.left"), other(4, 64, "app.other");
      for (int i = 0; i < 1 + more; ++i)
        left.call();
      other.calls(2000);
      EXPECT_EQ(other.size.value(), 64) << more;
      EXPECT_EQ(left.size.value(), 4) << more;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, no_other_knob_moves_while_a_value_is_tried_or_compared) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site outer(16, 16, "app.outer"), inner(16, 16, "app.inner");
    int tried = 0, moved = 0;
    bool was_tried = false;
    for (int i = 0; i < 400; ++i) {
      tune::trial one(outer.tuned, 100);
      site::cost().add(static_cast<std::uint64_t>(1000 + 100 * std::abs(outer.size.value() - 16)));
      const bool is_tried = outer.size.value() != 16;
      {
        tune::trial two(inner.tuned, 100);
        site::cost().add(1000);
        EXPECT_FALSE((is_tried || was_tried) && inner.size.value() != 16) << i;
        moved += inner.size.value() != 16;
      }
      tried += is_tried;
      was_tried = is_tried;
    }
    EXPECT_GT(tried, 2);
    EXPECT_GT(moved, 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, one_knob_moves_at_a_time) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site one(4, 256, "app.one"), two(4, 64, "app.two");
    for (int i = 0; i < 3000 && !(one.tuned.settled() && two.tuned.settled()); ++i) {
      const std::int64_t before_one = one.size.value(), before_two = two.size.value();
      one.call();
      two.call();
      EXPECT_FALSE(one.size.value() != before_one && two.size.value() != before_two &&
                   one.tuned.trials() == 0);
    }
    EXPECT_EQ(one.size.value(), 256);
    EXPECT_EQ(two.size.value(), 64);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, several_knobs_are_searched_together) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    tune::knob x("app.x", 1, tune::range{0, 8}), y("app.y", 1, tune::range{0, 8});
    tune::session both({&x, &y}, {"/app/cost", "app.both", 1.0});
    for (int i = 0; i < 5000 && !both.settled(); ++i) {
      tune::trial one(both, 10);
      const auto dx = x.value() - 5, dy = y.value() - 6;
      site::cost().add(static_cast<std::uint64_t>(10'000 + 1000 * (dx * dx + dy * dy)));
    }
    EXPECT_LE(std::abs(x.value() - 5), 1);
    EXPECT_LE(std::abs(y.value() - 6), 1);
    EXPECT_TRUE(contains(both.decision(), "app.x=")) << both.decision();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_call_that_throws_or_overlaps_does_not_count) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site at(4, 256);
    for (int i = 0; i < 200; ++i)
      try {
        tune::trial one(at.tuned, 100);
        throw std::runtime_error("a call");
      } catch (const std::runtime_error &) {
      }
    EXPECT_EQ(at.tuned.trials(), 0u);
    EXPECT_TRUE(at.tuned.begin());
    EXPECT_FALSE(at.tuned.begin()) << "a second one at once";
    at.tuned.end(0);
    EXPECT_TRUE(at.tuned.begin());
    at.tuned.end(1);
    at.tuned.end(1); // without begin()
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, refuses_what_cannot_be) {
  const auto end = test::in_process(k_on, [] {
    tune::knob size("app.size", 4, sizes());
    const auto error_of = [&](const std::vector<tune::any_knob *> &knobs, const tune::plan &how) {
      try {
        tune::session tuned(knobs, how);
        if (tuned.begin())
          tuned.end(1);
      } catch (const weft::error &e) {
        return std::string(e.what());
      }
      return std::string();
    };
    EXPECT_TRUE(contains(error_of({}, {}), "got no knob"));
    EXPECT_TRUE(contains(error_of({nullptr}, {}), "a knob that is null"));
    EXPECT_TRUE(contains(error_of({&size, &size}, {}), "the knob 'app.size' twice"));
    EXPECT_TRUE(contains(error_of({&size}, {"", "", 1.5}), "budget is 1.5"));
    for (const char *ratio :
         {"/threads/idle-rate", "/threads/time/average", "/threadqueue/length",
          "/arithmetics/divide@/threads/time/cumulative,/threads/count/cumulative"})
      EXPECT_TRUE(contains(error_of({&size}, {ratio}), "is a ratio or a level")) << ratio;
    EXPECT_TRUE(contains(error_of({&size}, {"/threads/nothing"}), "/threads/nothing"));
    EXPECT_TRUE(contains(error_of({&size}, {"time subject to time"}), "a bound without '<='"));
    EXPECT_TRUE(contains(error_of({&size}, {"time * /threads/idle-rate"}),
                         "'time * /threads/idle-rate' is a ratio or a level"));
    EXPECT_EQ(
        error_of({&size}, {"/arithmetics/add@/threads/count/suspended,/threads/count/sleeps"}), "");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Returns the newest decision that begins so; empty if there is none. Policies may note others.
std::string said_of(const std::string &beginning) {
  std::string said;
  for (const std::string &one : tune::decisions())
    if (one.starts_with(beginning))
      said = one;
  return said;
}

TEST(session, has_the_least_of_one_cost_within_a_bound_of_another) {
  const auto end = test::in_process(k_on, [] {
    site_of_two at("/app/cost subject to /app/misses <= 100"); // a unit of work
    at.run();
    EXPECT_EQ(at.size.value(), 128) << "the least one with 800 of 10 units";
    EXPECT_EQ(at.tuned.decision(), "keeps app.size=128: better than the default");
    const auto all = at.tuned.compromises();
    ASSERT_EQ(all.size(), 11u) << "of each size, as less of one is more of the other";
    EXPECT_EQ(all.front().values, "app.size=1");
    ASSERT_EQ(all.front().costs.size(), 2u);
    EXPECT_EQ(all.front().costs[0].first, "/app/cost");
    EXPECT_NEAR(all.front().costs[0].second, 10'010.0 / 10'160, 1e-6);
    EXPECT_EQ(all.front().costs[1].first, "/app/misses");
    EXPECT_NEAR(all.front().costs[1].second, 16, 1e-6);
    const std::string said = said_of("app.size: not beaten in all costs: ");
    EXPECT_TRUE(contains(said, ": app.size=1 (/app/cost 0.99x, /app/misses 16.00x); app.size=2 (/app/"
                               "cost "))
        << said;
    EXPECT_TRUE(said.ends_with("x)")) << "all are named: " << said;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, has_a_bound_as_a_part_of_the_default) {
  const auto end = test::in_process(k_on, [] {
    site_of_two at("/app/misses subject to /app/cost <= 1.5x");
    at.run();
    EXPECT_EQ(at.size.value(), 512);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, makes_a_product_of_costs_small) {
  const auto end = test::in_process(k_on, [] {
    site_of_two at("/app/cost^4 * /app/misses");
    at.run();
    EXPECT_EQ(at.size.value(), 256) << "(1000 + s)^4 / s is least there";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, says_that_no_value_keeps_the_bounds) {
  const auto end = test::in_process(k_on, [] {
    {
      site_of_two at("/app/cost subject to /app/misses <= 5");
      at.run();
      EXPECT_EQ(at.size.value(), 1024);
      EXPECT_EQ(at.tuned.decision(), "keeps app.size=1024: better than the default; what it keeps is "
                                     "beyond a bound");
    }
    site_of_two best("/app/cost subject to /app/misses <= 5", 1024);
    best.run();
    EXPECT_EQ(best.tuned.decision(), "keeps the default, app.size=1024: nothing was 2 % better; what "
                                     "it keeps is beyond a bound");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, leaves_a_value_that_has_passed_its_bound_and_searches_again) {
  const auto end = test::in_process(k_on, [] {
    site_of_two at("/app/misses subject to /app/cost <= 1.5x");
    at.run();
    ASSERT_EQ(at.size.value(), 512);
    at.slope = 30; // 512 costs 2.4 times what the default does; it misses as before
    const auto was_said = [&](const char *text) {
      for (int i = 0; i < 1000 && at.tuned.decision() != text; ++i)
        at.call();
      return at.tuned.decision() == text;
    };
    EXPECT_TRUE(was_said("back to the default, app.size=16: the value that had won does not keep the "
                         "bounds"))
        << at.tuned.decision();
    EXPECT_EQ(at.size.value(), 16);
    EXPECT_EQ(weft::counters::take().value("/tuner/count/reverts"), 1);
    EXPECT_TRUE(was_said("searches again: a unit of work costs something else now, or a bound was "
                         "passed"))
        << at.tuned.decision();
    at.run();
    EXPECT_EQ(at.size.value(), 128);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, names_sixteen_compromises_and_says_how_many_more_there_are) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site_of_two::misses();
    for (const int all : {16, 17, 20}) {
      tune::knob size("app.size", 4, tune::range{1, all});
      tune::session tuned(size, {"/app/cost * /app/misses", "", 1.0, "exhaustive"});
      for (int i = 0; i < 3000 && !tuned.settled(); ++i) {
        tune::trial one(tuned, 1);
        site::cost().add(static_cast<std::uint64_t>(10'000 + 1000 * size.value()));
        site_of_two::misses().add(static_cast<std::uint64_t>(720'720 / size.value()));
      }
      EXPECT_EQ(tuned.compromises().size(), static_cast<std::size_t>(all));
      const std::string said = said_of("app.size: not beaten");
      EXPECT_TRUE(contains(said, "app.size=16 (")) << said;
      EXPECT_FALSE(contains(said, "app.size=17 (")) << said;
      EXPECT_TRUE(said.ends_with(all == 16   ? "x)"
                                 : all == 17 ? "x); and 1 more"
                                             : "x); and 4 more"))
          << said;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, of_one_cost_has_no_compromises) {
  const auto end = test::in_process(k_on, [] {
    site::cost();
    site at(4, 256);
    EXPECT_TRUE(at.tuned.compromises().empty());
    at.calls(2000);
    EXPECT_TRUE(at.tuned.compromises().empty());
    for (const std::string &said : tune::decisions())
      EXPECT_FALSE(contains(said, "not beaten")) << said;
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, of_c_tells_its_compromises) {
  const auto end = test::in_process(k_on, [] {
    site_of_two::misses();
    site::cost();
    weft_knob *size = nullptr;
    ASSERT_EQ(weft_knob_define("c.size", 16, 1, 1024, WEFT_STEPS_LOGARITHMIC,
                               WEFT_HOLDS_FROM_NEXT_CALL, "", &size),
              WEFT_OK);
    weft_session *tuned = nullptr;
    ASSERT_EQ(weft_session_create_with(&size, 1, "/app/cost subject to /app/misses <= 100", nullptr,
                                       1.0, "exhaustive", &tuned),
              WEFT_OK);
    for (int i = 0; i < 3000 && !weft_session_settled(tuned); ++i) {
      int measured = 0;
      ASSERT_EQ(weft_session_begin(tuned, &measured), WEFT_OK);
      site::cost().add(static_cast<std::uint64_t>(10'000 + 10 * weft_knob_value(size)));
      site_of_two::misses().add(static_cast<std::uint64_t>(102'400 / weft_knob_value(size)));
      ASSERT_EQ(weft_session_end(tuned, 10), WEFT_OK);
    }
    EXPECT_EQ(weft_knob_value(size), 128);
    std::vector<std::string> all;
    EXPECT_EQ(weft_session_compromises(
                  tuned,
                  [](const char *values, const char *const *terms, const double *costs,
                     std::size_t count, void *to) {
                    std::string text(values);
                    for (std::size_t i = 0; i < count; ++i)
                      text += std::string(" ") + terms[i] + (costs[i] <= 1 ? " less" : " more");
                    static_cast<std::vector<std::string> *>(to)->push_back(text);
                  },
                  &all),
              WEFT_OK);
    ASSERT_EQ(all.size(), 11u);
    EXPECT_EQ(all.front(), "c.size=1 /app/cost less /app/misses more");
    EXPECT_EQ(all.back(), "c.size=1024 /app/cost more /app/misses less");
    weft_session_destroy(tuned);
    weft_knob_withdraw(size);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, the_setting_names_what_is_allowed) {
  const auto end = test::in_process({{"WEFT_TUNE", "fast"}}, [] {
    try {
      weft::start();
      ADD_FAILURE() << "it has started";
    } catch (const weft::error &e) {
      EXPECT_STREQ(e.what(), "setting tune cannot be 'fast': it must be off, granularity, on, or "
                             "replay:FILE");
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Returns where `weft` is; empty if it was not built (WEFT_TOOLS is OFF).
std::string path_of_weft() {
  const auto program = test::program_path();
  const auto tests = program.substr(0, program.rfind('/'));
  const auto weft = tests.substr(0, tests.rfind('/')) + "/bin/weft";
  return access(weft.c_str(), X_OK) == 0 ? weft : "";
}

/// Returns a trace as CSV.
std::string csv_of(const std::string &folder) {
  const std::string weft = path_of_weft();
  auto end = test::run({weft, "trace", "check", folder}, {{"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(0)) << end;
  end = test::run({weft, "trace", "export", "--format", "csv", folder}, {{"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(0)) << end;
  return end.output;
}

/// Runs a program with a trace. Returns the trace as CSV; empty where there is no `weft`.
template <class Body>
std::string traced(test::environment settings, Body body) {
  if (path_of_weft().empty())
    return "";
  const std::string folder = "/tmp/weft-tuned-" + std::to_string(getpid());
  settings.push_back({"WEFT_TRACE_LEVEL", "switch"});
  settings.push_back({"WEFT_TRACE_DIR", folder});
  const auto end = test::in_process(settings, body);
  EXPECT_TRUE(end.exited(0)) << end;
  const std::string csv = csv_of(folder);
  std::filesystem::remove_all(folder);
  return csv;
}

TEST(session, searches_as_it_is_told) {
  const auto end = test::in_process(k_on, [] {
    const auto tried = [](const char *search) {
      tune::knob size("app.size", 16, tune::range{1, 16});
      tune::session tuned(size, {"/app/cost", "", 1.0, search});
      std::vector<std::int64_t> values;
      for (int i = 0; i < 2000 && !tuned.settled(); ++i) {
        tune::trial one(tuned, 100);
        if (std::find(values.begin(), values.end(), size.value()) == values.end())
          values.push_back(size.value());
        site::cost().add(1000 + static_cast<std::uint64_t>(200 * std::abs(size.value() - 5)));
      }
      return values;
    };
    weft::start();
    site::cost();
    EXPECT_EQ(tried("exhaustive").size(), 16u);
    EXPECT_LT(tried("").size(), 12u);
    EXPECT_EQ(tried("line"), tried(""));
    if (weft::rt::nlopt_here().is_here) {
      EXPECT_NE(tried("nlopt:sbplx"), tried("line"));
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(contains(end.output, "NLopt")) << end;
}

TEST(session, goes_on_without_nlopt) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    site::cost();
    tune::knob x("app.x", 1, tune::range{1, 4}), y("app.y", 1, tune::range{1, 4});
    tune::session both({&x, &y}, {"/app/cost", "tiles", 1.0, "nlopt:sbplx"});
    for (int i = 0; i < 3000 && !both.settled(); ++i) {
      tune::trial one(both, 100);
      site::cost().add(1000 + static_cast<std::uint64_t>(100 * (std::abs(x.value() - 3) +
                                                                std::abs(y.value() - 2))));
    }
    EXPECT_EQ(both.decision(), "keeps app.x=3 app.y=2: better than the default");
    std::puts(weft::rt::nlopt_here().text.c_str());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  if (!weft::rt::nlopt_here().is_here) {
    const auto said = end.output.find("session 'tiles' cannot search by 'nlopt:sbplx': ");
    EXPECT_NE(said, std::string::npos) << end;
    EXPECT_EQ(end.output.find("cannot search", said + 60), std::string::npos) << "once: " << end;
  }
}

TEST(session, refuses_searches_that_cannot_be) {
  const auto end = test::in_process({}, [] {
    tune::knob x("app.x", 1, tune::range{1, 4}), y("app.y", 1, tune::range{1, 4});
    tune::choice_knob word("app.word", "a", {"a", "b"});
    const auto why = [](auto &&make) -> std::string {
      try {
        make();
      } catch (const weft::error &e) {
        EXPECT_EQ(e.code(), weft::errc::invalid_argument);
        return e.what();
      }
      return "";
    };
    EXPECT_TRUE(contains(why([&] { tune::session s(x, {.search = "simples"}); }),
                         "the search 'simples' of a session is not known; there are line, law,"));
    EXPECT_TRUE(contains(why([&] { tune::session s({&x, &y}, {.search = "line"}); }),
                         "the search 'line' of a session goes along one knob"));
    EXPECT_TRUE(contains(why([&] { tune::session s(word, {.search = "law"}); }),
                         "the knob 'app.word' has no whole numbers"));
    EXPECT_EQ(why([&] { tune::session s(x, {.search = "law"}); }), "");
    EXPECT_EQ(why([&] { tune::session s({&x, &y}, {.search = "nlopt:direct"}); }), "");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Runs calls of `tasks` tasks of 20 us each for a session that begins by the law, until it has tried
/// a value. Returns that value.
std::int64_t first_by_law(int tasks) {
  tune::knob grain("app.grain", 1'000'000, tune::range{1, 1'000'000, tune::steps::logarithmic});
  tune::session tuned(grain, {"/app/cost", "", 1.0, "law"});
  for (int i = 0; i < 100; ++i) {
    tune::trial one(tuned, 1000.0 * std::max(tasks, 1)); // 1000 units of 20 ns in a task
    if (grain.value() != 1'000'000)
      return grain.value();
    site::cost().add(1000);
    for (int t = 0; t < tasks; ++t)
      weft::spawn([] {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
        while (std::chrono::steady_clock::now() < until) {
        }
      });
    weft::taskwait();
  }
  return 0;
}

TEST(session, begins_by_the_law_where_it_is_told) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    site::cost();
    // A unit takes 20 ns: an overhead between 25 ns and 3 us is a twentieth of 25 to 3000 units.
    const std::int64_t guess = first_by_law(5000);
    EXPECT_GT(guess, 1);
    EXPECT_LT(guess, 20'000);
    // The way of `line` has steps of an eighth of the values: it would begin near the default.
    EXPECT_GT(first_by_law(0), 20'000) << "a call without tasks has no guess";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, each_decision_is_a_record_of_the_trace) {
  const std::string csv = traced(k_on, [] {
    weft::start();
    site::cost();
    site at(4, 256);
    at.calls(2000);
  });
  if (csv.empty())
    GTEST_SKIP() << "weft was not built (WEFT_TOOLS is OFF)";
  const std::string kept = ",9998,decided,0,app.size: keeps app.size=256: better than the default,";
  const auto at = csv.find(kept);
  ASSERT_NE(at, std::string::npos) << csv;
  const int ratio = std::atoi(csv.c_str() + at + kept.size());
  EXPECT_GT(ratio, 0);
  EXPECT_LT(ratio, 1000) << "in thousandths of the default's cost";
}

TEST(session, decisions_of_policies_are_records_without_a_ratio) {
  for (const char *mode : {"stream", "flight"}) {
    auto settings = k_on;
    settings.push_back({"WEFT_TRACE_MODE", mode});
    const std::string csv = traced(settings, [] {
      weft::start();
      tune::event happens;
      tune::policy one("one", tune::when::at(happens),
                       [](const tune::policy_call &call) { EXPECT_TRUE(call.set("spin.us", "7")); });
      happens.fire();
      while (one.calls() == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    if (csv.empty())
      GTEST_SKIP() << "weft was not built (WEFT_TOOLS is OFF)";
    EXPECT_TRUE(contains(csv, ",9998,decided,0,one: spin.us=7us (was 20us),0,0\n")) << csv;
  }
}

TEST(session, a_change_of_the_managers_mode_is_a_record) {
  const std::string csv = traced({{"WEFT_MANAGE_MODE", "auto"}, {"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    weft::rt::mode_chooser chooser; // the program's own one rests, because no task runs
    for (int i = 0; i < 1000; ++i) {
      const bool is_direct = chooser.now() == weft::rt::mode_chooser::mode::direct;
      const std::uint64_t ns = chooser.window_ns();
      weft::rt::managers::end_window(chooser, (is_direct ? 500 : 600) * ns / 1'000'000, ns);
    }
  });
  if (csv.empty())
    GTEST_SKIP() << "weft was not built (WEFT_TOOLS is OFF)";
  EXPECT_TRUE(contains(csv, ",9998,decided,0,manage.mode: distributed: more tasks began per second "
                            "than with direct,0,0\n"))
      << csv;
}

TEST(session, texts_of_decisions_leave_room_for_the_types_of_tasks) {
  const std::string csv = traced(k_on, [] {
    weft::start();
    for (int i = 0; i < 6000; ++i)
      weft::rt::note_decision("one", "app.size=" + std::to_string(i), 0.5);
    weft::rt::note_decision("one", "app.size=3", 0.5); // is known
    weft::spawn([] {}, weft::label("later"));
    weft::taskwait();
  });
  if (csv.empty())
    GTEST_SKIP() << "weft was not built (WEFT_TOOLS is OFF)";
  EXPECT_TRUE(contains(csv, ",decided,0,one: app.size=1023,500,0\n"));
  EXPECT_FALSE(contains(csv, "app.size=1024,"));
  EXPECT_TRUE(contains(csv, ",decided,0,one: one more (the trace has no room for its text),500,0\n"));
  const auto known = csv.find(",decided,0,one: app.size=3,500,0\n");
  EXPECT_NE(csv.find(",decided,0,one: app.size=3,500,0\n", known + 1), std::string::npos);
  EXPECT_TRUE(contains(csv, ",later,"));
}

TEST(session, a_child_of_fork_measures_calls_of_its_own) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer ends a child of fork that begins a thread";
  const auto end = test::in_process(k_on, [] {
    weft::start();
    site::cost();
    site at(4, 256), other(4, 64, "app.other");
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(at.tuned.begin());
      if (at.size.value() != 4)
        break;
      site::cost().add(100'000);
      at.tuned.end(100);
    }
    ASSERT_NE(at.size.value(), 4) << "a value is tried, and its call is open";
    const std::int64_t tried = at.size.value();
    const pid_t child = fork();
    if (child == 0) {
      if (at.size.value() != 4)
        _exit(2);
      at.tuned.end(100); // the parent's call
      if (at.tuned.trials() != 0)
        _exit(3);
      other.calls(2000);
      at.calls(2000);
      _exit(other.size.value() == 64 && at.size.value() == 256 ? 0 : 4);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(at.size.value(), tried);
    site::cost().add(100'000);
    at.tuned.end(100);
    at.calls(2000);
    EXPECT_EQ(at.size.value(), 256);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_child_of_fork_does_not_wait_for_calls_of_its_parent_s_threads) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer ends a child of fork that begins a thread";
  const auto end = test::in_process(k_on, [] {
    weft::start();
    site::cost();
    site at(16, 16);
    std::atomic<bool> ends{false};
    std::thread caller([&] {
      while (!ends)
        at.call();
    });
    for (int i = 0; i < 20; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        if (at.size.value() != 16 || !at.tuned.begin())
          _exit(1);
        at.tuned.end(0);
        static_cast<void>(at.tuned.settled());
        _exit(0);
      }
      int status = 1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << i;
    }
    ends = true;
    caller.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(session, a_child_of_fork_has_decisions_in_its_own_trace) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer ends a child of fork that begins a thread";
  if (path_of_weft().empty())
    GTEST_SKIP() << "weft was not built (WEFT_TOOLS is OFF)";
  const std::string base = "/tmp/weft-tuned-" + std::to_string(getpid());
  std::filesystem::create_directory(base);
  auto settings = k_on;
  settings.push_back({"WEFT_TRACE_LEVEL", "switch"});
  settings.push_back({"WEFT_TRACE_DIR", base + "/%p"});
  const auto end = test::in_process(settings, [] {
    weft::start();
    weft::rt::note_decision("parent", "a");
    const pid_t child = fork();
    weft::rt::note_decision(child == 0 ? "child" : "parent", "b"); // the child has no runtime yet
    weft::spawn([] {});
    weft::taskwait();
    weft::rt::note_decision(child == 0 ? "child" : "parent", "c");
    weft::shutdown();
    if (child == 0)
      _exit(0);
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  std::string of_parent, of_child;
  for (const auto &folder : std::filesystem::directory_iterator(base)) {
    const std::string csv = csv_of(folder.path());
    (contains(csv, "parent: a") ? of_parent : of_child) += csv;
  }
  EXPECT_TRUE(contains(of_parent, "parent: b") && contains(of_parent, "parent: c")) << of_parent;
  EXPECT_FALSE(contains(of_parent, "child: ")) << of_parent;
  EXPECT_TRUE(contains(of_child, "child: c")) << of_child;
  EXPECT_FALSE(contains(of_child, "parent: ")) << of_child;
  std::filesystem::remove_all(base);
}

} // namespace
