// SPDX-License-Identifier: Apache-2.0
// The dispatcher's own promises, without workers: the order of calls, concurrent callbacks, changes in the
// middle of a round.
#include "services/dispatcher.hpp"
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace weft::rt;
using weft::poll_point;

struct named : registration<> {
  named(char name, int priority, callable_by callers = callable_by::one)
      : registration(priority, callers), name(name) {}
  const char name;
};

template <class F>
std::string calls_of(registry<> &list, caller_gets which, F &&f) {
  std::string names;
  auto round = list.begin_round();
  while (auto *e = list.begin_next(round, which)) {
    names += static_cast<named *>(e)->name;
    if (!f(static_cast<named &>(*e)))
      list.end(*e);
  }
  return names;
}
std::string calls_of(registry<> &list, caller_gets which = caller_gets::all) {
  return calls_of(list, which, [](named &) { return false; });
}

TEST(registry, calls_higher_priorities_first_and_equals_as_they_came) {
  registry<> list;
  named a('a', 0), b('b', 5), c('c', 0), d('d', -1), e('e', 5), f('f', INT_MAX), g('g', INT_MIN);
  for (named *each : {&a, &b, &c, &d, &e, &f, &g})
    list.add(*each);
  EXPECT_EQ(calls_of(list), "fbeacdg");
  list.remove(b, 0);
  list.remove(d, 0);
  EXPECT_EQ(calls_of(list), "feacg");
  named h('h', 5);
  list.add(h);
  EXPECT_EQ(calls_of(list), "fehacg");
  for (named *each : {&a, &c, &e, &f, &g, &h})
    list.remove(*each, 0);
  EXPECT_EQ(calls_of(list), "");
}

TEST(registry, who_is_not_alone_gets_the_concurrent_ones) {
  registry<> list;
  named a('a', 0), b('b', 0, callable_by::several), c('c', 0);
  for (named *each : {&a, &b, &c})
    list.add(*each);
  EXPECT_EQ(calls_of(list, caller_gets::concurrent), "b");
  EXPECT_EQ(calls_of(list, caller_gets::all), "abc");
}

TEST(registry, a_round_goes_on_when_its_neighbours_change) {
  registry<> list;
  named a('a', 3), b('b', 2), c('c', 1), late('l', 0), early('e', 9);
  for (named *each : {&a, &b, &c})
    list.add(*each);
  EXPECT_EQ(calls_of(list, caller_gets::all,
                     [&](named &n) {
                       if (&n != &b)
                         return false;
                       list.remove(a, 0); // was called
                       list.remove(c, 0); // was to be called
                       list.add(late);
                       list.add(early);
                       list.remove(b, 1); // itself
                       return true;
                     }),
            "ab");
  EXPECT_EQ(calls_of(list), "el");
}

TEST(registry, a_round_ends_although_every_call_adds_one) {
  registry<> list;
  std::vector<std::unique_ptr<named>> all;
  const auto add = [&] { list.add(*all.emplace_back(std::make_unique<named>('x', 0))); };
  add();
  for (std::size_t calls : {1u, 2u, 4u}) {
    EXPECT_EQ(calls_of(list, caller_gets::all, [&](named &) { return add(), false; }).size(),
              calls);
  }
}

TEST(registry, what_a_thread_was_calling_at_a_fork_is_forgotten_in_the_child) {
  registry<> list;
  named a('a', 0);
  list.add(a);
  auto round = list.begin_round();
  ASSERT_EQ(list.begin_next(round, caller_gets::all), &a); // by a thread that is not in the child
  list.forget_calls();
  list.remove(a, 0); // would wait for ever
  EXPECT_EQ(calls_of(list), "");
}

TEST(dispatcher, nobody_polls_for_what_is_called_on_demand) {
  static service_entry asked(
      "asked", poll_point::idle, 0, [](void *) { return true; }, nullptr, called::on_demand);
  services(poll_point::idle).add(asked);
  EXPECT_FALSE(has_services_at(poll_point::idle));
  static service_entry polled("polled", poll_point::idle, 0, [](void *) { return true; }, nullptr);
  services(poll_point::idle).add(polled);
  EXPECT_TRUE(has_services_at(poll_point::idle));
  services(poll_point::idle).remove(asked);
  EXPECT_TRUE(has_services_at(poll_point::idle));
  services(poll_point::idle).remove(polled);
  EXPECT_FALSE(has_services_at(poll_point::idle));
}

// On a busy machine they get no cpu for long, and users have made no such service.
TEST(dispatcher, no_thread_of_the_runtime_is_a_service_that_could_be_reported) {
  const auto end =
      test::in_process({{"WEFT_MANAGE_MODE", "central"}, {"WEFT_POLL_SLOW", "1ms"}}, [] {
        std::atomic<bool> ran{false};
        weft::spawn([&] {
          weft::this_task::sleep_for(std::chrono::milliseconds(5)); // the timer runs, too
          ran = true;
        });
        weft::taskwait();
        EXPECT_TRUE(ran);
        for (const poll_point where : {poll_point::idle, poll_point::timer, poll_point::taskwait,
                                       poll_point::scheduling_point})
          services(where).for_each([](service_entry &e) noexcept {
            EXPECT_TRUE(e.concurrent) << e.name;
            return false;
          });
      });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output.find("service '"), std::string::npos) << end;
}

} // namespace
