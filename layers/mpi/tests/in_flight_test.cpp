// SPDX-License-Identifier: Apache-2.0
// The table of calls and bindings over requests of the test: each ends once, whatever threads add
// meanwhile.
#include "weft_mpi/table/in_flight.hpp"
#include "weft_mpi/table/stall_clock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

using weft_mpi::call;
using weft_mpi::in_flight;

/// Is an MPI whose requests are numbers: they are complete when the test says so.
struct fake_mpi {
  using request = int;
  struct status {
    int request = -1;
  };
  using owner = std::atomic<int> *; // the events of a task
  using origin = int; // 0: not known

  static inline std::array<std::atomic<bool>, 20000> complete;
  static inline std::atomic<int> calls{0}, longest{0};

  static std::size_t test_some(std::size_t n, int *requests, int *indices, status *statuses) {
    ++calls;
    for (int seen = longest;
         seen < static_cast<int>(n) && !longest.compare_exchange_weak(seen, static_cast<int>(n));) {
    }
    std::size_t found = 0;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_GE(requests[i], 0) << "a request was asked about after its end";
      if (!complete[static_cast<std::size_t>(requests[i])])
        continue;
      indices[found] = static_cast<int>(i);
      statuses[found].request = requests[i];
      requests[i] = -1;
      ++found;
    }
    return found;
  }
  static std::string text(int began) { return began != 0 ? "call " + std::to_string(began) : ""; }
  static weft_mpi::waiter who(owner events) { return {events, "bound"}; }
  static void end(owner events, const char *name, const status &s, status *wanted) {
    EXPECT_STREQ(name, "bind");
    if (wanted) {
      EXPECT_EQ(wanted->request, -1) << "ended twice";
      *wanted = s;
    }
    events->fetch_sub(1);
  }
};
using table = in_flight<fake_mpi>;

struct waiting final : call {
  explicit waiting(int request) : call("wait"), request(request) {}
  bool has_ended() noexcept override {
    return fake_mpi::complete[static_cast<std::size_t>(request)];
  }
  void resume() noexcept override { ++resumed; }
  const int request;
  std::atomic<int> resumed{0};
};

void forget_all() {
  for (auto &c : fake_mpi::complete)
    c = false;
  fake_mpi::calls = 0;
  fake_mpi::longest = 0;
}

TEST(mpi_in_flight, ends_what_is_complete_and_nothing_else) {
  forget_all();
  table all;
  waiting first(0), second(1);
  std::atomic<int> events{3};
  std::array<fake_mpi::status, 3> statuses;
  EXPECT_EQ(all.announce(2), 0U);
  all.add(first);
  all.add(second);
  EXPECT_EQ(all.announce(3), 2U);
  const std::array<table::binding, 3> bound = {
      {{10, &statuses[0], &events}, {11, nullptr, &events}, {12, &statuses[2], &events}}};
  all.add(bound, "bind");
  EXPECT_TRUE(all.poll(100).is_fresh);
  EXPECT_EQ(all.poll(100).ended, 0U);
  fake_mpi::complete[1] = fake_mpi::complete[10] = fake_mpi::complete[12] = true;
  const auto round = all.poll(100);
  EXPECT_EQ(round.ended, 3U);
  EXPECT_FALSE(round.is_fresh);
  EXPECT_EQ(second.resumed, 1);
  EXPECT_EQ(first.resumed, 0);
  EXPECT_EQ(events, 1);
  EXPECT_EQ(statuses[0].request, 10);
  EXPECT_EQ(statuses[2].request, 12);
  EXPECT_EQ(all.count(), 2U);
  std::multiset<std::string> names;
  all.try_visit(10, [&](const char *name) { names.insert(name); });
  EXPECT_EQ(names, (std::multiset<std::string>{"bind", "wait"}));
  fake_mpi::complete[0] = fake_mpi::complete[11] = true;
  EXPECT_EQ(all.poll(100).ended, 2U);
  EXPECT_EQ(all.count(), 0U);
  fake_mpi::calls = 0;
  all.poll(100);
  EXPECT_EQ(fake_mpi::calls, 0) << "MPI was asked about nothing";
}

TEST(mpi_in_flight, is_empty_until_what_is_announced_is_added) {
  forget_all();
  table all;
  all.announce(2);
  EXPECT_TRUE(all.poll(100).is_empty);
  waiting call(0);
  all.add(call);
  EXPECT_FALSE(all.poll(100).is_empty);
  fake_mpi::complete[0] = true;
  EXPECT_FALSE(all.poll(100).is_empty) << "a call was asked about";
  EXPECT_TRUE(all.poll(100).is_empty);
  std::atomic<int> events{1};
  all.add(std::array<table::binding, 1>{{{1, nullptr, &events}}}, "bind");
  EXPECT_FALSE(all.poll(100).is_empty);
}

TEST(mpi_in_flight, a_stall_is_reported_once_and_begins_with_what_is_added) {
  weft_mpi::stall_clock clock(100), never(0);
  using round = table::round;
  const round none{.is_empty = true}, added{.is_fresh = true}, found{.ended = 1}, nothing{};
  EXPECT_FALSE(clock.note(none, 1000)) << "nothing is asked about";
  EXPECT_FALSE(clock.note(added, 2000));
  EXPECT_EQ(clock.active_ns(), 2000U);
  EXPECT_FALSE(clock.note(nothing, 2099));
  EXPECT_TRUE(clock.note(nothing, 2100));
  EXPECT_FALSE(clock.note(nothing, 3000)) << "it is reported";
  EXPECT_FALSE(clock.note(found, 3000));
  EXPECT_EQ(clock.active_ns(), 3000U);
  EXPECT_FALSE(clock.note(none, 3200)) << "it ended, and the next one is announced alone";
  EXPECT_TRUE(clock.note(nothing, 3200));
  EXPECT_FALSE(never.note(nothing, 1'000'000));
}

TEST(mpi_in_flight, describes_calls_up_to_a_number_and_counts_the_rest) {
  forget_all();
  table all;
  using texts = std::vector<std::string>;
  EXPECT_EQ(all.describe(2), texts{});
  waiting first(0), second(1), third(2);
  std::atomic<int> events{2};
  const std::array<table::binding, 1> bound = {{{10, nullptr, &events}}};
  all.announce(4);
  all.add(first);
  all.add(second);
  all.poll(1);
  EXPECT_EQ(all.describe(2), (texts{"wait", "wait"}));
  all.add(third);
  all.add(bound, "bind");
  all.poll(1);
  EXPECT_EQ(all.describe(2), (texts{"wait", "wait", "1 other calls", "1 request by bind"}));
  all.announce(1);
  all.add(bound, "bind");
  all.poll(1);
  EXPECT_EQ(all.describe(3), (texts{"wait", "wait", "wait", "2 requests by bind"}));
  fake_mpi::complete[0] = fake_mpi::complete[1] = fake_mpi::complete[2] = true;
  fake_mpi::complete[10] = true;
  EXPECT_EQ(all.poll(100).ended, 5U);
}

TEST(mpi_in_flight, describes_what_is_known_of_bound_requests) {
  forget_all();
  table all;
  using texts = std::vector<std::string>;
  std::atomic<int> events{4};
  const std::array<table::binding, 4> bound = {{{10, nullptr, &events, 3},
                                                {11, nullptr, &events},
                                                {12, nullptr, &events, 5},
                                                {13, nullptr, &events, 7}}};
  all.announce(4);
  all.add(bound, "bind");
  const auto listed = [&all] {
    std::multiset<std::string> found;
    all.try_list([&](const weft_mpi::waiter &who, const std::string &what) {
      found.insert(who.name + (who.what ? " waits for " : " without a task: ") + what);
    });
    return found;
  };
  const std::multiset<std::string> each{
      "bound waits for a request (bind)", "bound waits for call 3 (bind)",
      "bound waits for call 5 (bind)", "bound waits for call 7 (bind)"};
  EXPECT_EQ(listed(), each) << "as an addition";
  all.poll(1);
  EXPECT_EQ(listed(), each);
  EXPECT_EQ(all.describe(9), (texts{"4 requests by bind: call 3, call 5, call 7"}));
  EXPECT_EQ(all.describe(2), (texts{"4 requests by bind: call 3, call 5, and others"}));
  fake_mpi::complete[10] = true;
  while (all.poll(100).ended == 0) { // a round goes on where the last one has ended
  }
  EXPECT_EQ(all.describe(9), (texts{"3 requests by bind: call 7, call 5"}))
      << "the last takes its place";
  waiting call(1);
  all.announce(1);
  all.add(call);
  EXPECT_EQ(listed().count(" without a task: wait"), 1U);
  all.poll(1);
  EXPECT_EQ(listed().count(" without a task: wait"), 1U);
  EXPECT_EQ(listed().size(), 4U);
  for (const std::size_t i : {1U, 11U, 12U, 13U})
    fake_mpi::complete[i] = true;
  while (all.count() != 0)
    all.poll(100);
  EXPECT_TRUE(listed().empty());
}

TEST(mpi_in_flight, a_round_has_a_bound_and_reaches_all) {
  forget_all();
  table all;
  constexpr int n = 1000;
  std::atomic<int> events{n};
  std::vector<table::binding> bound;
  for (int i = 0; i < n; ++i)
    bound.push_back({i, nullptr, &events});
  all.announce(n);
  all.add(bound, "bind");
  all.poll(7);
  EXPECT_LE(fake_mpi::longest, 7);
  std::mt19937 random(1);
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i)
    order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), random);
  for (int done = 0; done < n; ++done) {
    fake_mpi::complete[static_cast<std::size_t>(order[static_cast<std::size_t>(done)])] = true;
    std::size_t ended = 0;
    for (int rounds = 0; ended == 0 && rounds <= 2 * n / 7 + 2; ++rounds)
      ended = all.poll(7).ended;
    ASSERT_EQ(ended, 1U) << "after " << done;
  }
  EXPECT_EQ(events, 0);
  EXPECT_LE(fake_mpi::longest, 7);
}

TEST(mpi_in_flight, threads_add_while_the_poller_ends) {
  forget_all();
  table all;
  constexpr int threads = 4, each = 1500;
  std::atomic<int> events{threads * each / 2}, adding{threads};
  std::vector<std::unique_ptr<waiting>> calls(threads * each);
  std::vector<fake_mpi::status> statuses(threads * each);
  std::vector<std::thread> adders;
  for (int t = 0; t < threads; ++t)
    adders.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < each; ++i) {
        const int request = t * each + i;
        const auto at = static_cast<std::size_t>(request);
        all.announce(1);
        const bool early = random() % 2;
        if (early)
          fake_mpi::complete[at] = true;
        if (i % 2 == 0) {
          calls[at] = std::make_unique<waiting>(request);
          all.add(*calls[at]);
        } else {
          const table::binding b{request, &statuses[at], &events};
          all.add({&b, 1}, "bind");
        }
        if (!early)
          fake_mpi::complete[at] = true;
      }
      --adding;
    });
  while (adding != 0 || all.count() != 0)
    all.poll(64);
  for (auto &t : adders)
    t.join();
  EXPECT_EQ(events, 0);
  for (int request = 0; request < threads * each; ++request) {
    const auto at = static_cast<std::size_t>(request);
    if (calls[at]) {
      EXPECT_EQ(calls[at]->resumed, 1);
    } else {
      EXPECT_EQ(statuses[at].request, request);
    }
  }
}

} // namespace
