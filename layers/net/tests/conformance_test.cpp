// SPDX-License-Identifier: Apache-2.0
// What each engine promises, through a transport (weft/net/transport.hpp). A new engine is a new
// line in the list at the end.
#include "oracle.hpp"
#include "ranks.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <deque>
#include <fstream>
#include <numeric>
#include <random>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace net_test;
using net::action;
using net::outcome;

class engine_promises : public testing::TestWithParam<engine_kind> {};

TEST_P(engine_promises, memory_is_written_and_read) {
  test_job job(GetParam(), 3);
  std::vector<int> there(100, 0), here(100), back(100, -1);
  std::iota(here.begin(), here.end(), 1);
  const net::memory_key key = job.at(1).add_memory(there.data(), there.size() * sizeof(int));
  test_operation write, border, read;
  put(write, 1, key, 40, here.data() + 10, 20 * sizeof(int));
  job.at(0).submit(write);
  only(border, action::flush, 1);
  job.at(0).submit(border);
  job.finish(border);
  EXPECT_EQ(write.result, outcome::done);
  EXPECT_EQ(border.result, outcome::done);
  EXPECT_EQ(there[9], 0);
  EXPECT_EQ(there[10], 11);
  EXPECT_EQ(there[29], 30);
  EXPECT_EQ(there[30], 0);
  get(read, 1, key, 0, back.data(), back.size() * sizeof(int));
  job.at(2).submit(read);
  job.finish(read);
  EXPECT_EQ(read.result, outcome::done);
  EXPECT_EQ(back, there);
  EXPECT_EQ(write.times + border.times + read.times, 3);
}

TEST_P(engine_promises, a_child_of_fork_is_refused) {
  test_job job(GetParam(), 2);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    net::transport &copy = job.at(0);
    long memory = 0;
    net::memory_key key;
    const std::string text = "rank 0 is the process " + std::to_string(parent) +
                             ", and this one is a child of fork()";
    const auto is_refused = [&](const auto &call) {
      try {
        call();
      } catch (const weft::error &e) {
        return e.code() == weft::errc::not_supported && std::string(e.what()).find(text) == 0;
      }
      return false;
    };
    const bool all = !copy.is_own() &&
                     is_refused([&] { static_cast<void>(copy.add_memory(&memory, sizeof memory)); }) &&
                     is_refused([&] { static_cast<void>(copy.add_fresh_memory(8, key)); }) &&
                     is_refused([&] { static_cast<void>(copy.path_to(1)); });
    _exit(all ? 0 : 1);
  }
  EXPECT_TRUE(job.at(0).is_own());
  EXPECT_FALSE(job.at(0).path_to(1).empty());
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_P(engine_promises, a_rank_reaches_its_own_memory) {
  test_job job(GetParam(), 2);
  std::uint64_t there[2] = {5, 7}, from = 9;
  const net::memory_key key = job.at(0).add_memory(there, sizeof there);
  test_operation write, border, add, hello;
  put(write, 0, key, 8, &from, 8);
  job.at(0).submit(write);
  only(border, action::fence, 0);
  job.at(0).submit(border);
  add.what = action::fetch_add;
  add.key = key;
  add.offset = 8;
  add.value = 3;
  job.at(0).submit(add);
  const std::string text = "self";
  message(hello, 0, 4, text);
  job.at(0).submit(hello);
  job.until([&] { return add.is_over() && hello.is_over() && job[0].messages().size() == 1; });
  EXPECT_EQ(add.value, 9U);
  EXPECT_EQ(there[1], 12U);
  EXPECT_EQ(there[0], 5U);
  EXPECT_EQ(job[0].messages()[0].text, "self");
}

TEST_P(engine_promises, atomic_operations_return_what_was_there) {
  test_job job(GetParam(), 2);
  std::uint64_t word = 10;
  const net::memory_key key = job.at(1).add_memory(&word, sizeof word);
  const auto atomic = [&](action what, std::uint64_t value, std::uint64_t expected) {
    test_operation op;
    op.what = what;
    op.rank = 1;
    op.key = key;
    op.value = value;
    op.expected = expected;
    job.at(0).submit(op);
    job.finish(op);
    EXPECT_EQ(op.result, outcome::done);
    return op.value;
  };
  EXPECT_EQ(atomic(action::fetch_add, 5, 0), 10U);
  EXPECT_EQ(atomic(action::compare_swap, 99, 14), 15U);
  EXPECT_EQ(word, 15U);
  EXPECT_EQ(atomic(action::compare_swap, 99, 15), 15U);
  EXPECT_EQ(atomic(action::fetch_add, static_cast<std::uint64_t>(-9), 0), 99U);
  EXPECT_EQ(word, 90U);
}

TEST_P(engine_promises, wrong_memory_is_refused_and_nothing_else_changes) {
  test_job job(GetParam(), 2);
  std::vector<char> there(64, 'x');
  const char from[65] = "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
  const net::memory_key key = job.at(1).add_memory(there.data(), there.size());
  net::memory_key other = key;
  other.words[0] += 1000;
  const auto outcome_of = [&](const net::memory_key &k, std::uint64_t offset, std::size_t bytes,
                              action what = action::put) {
    test_operation op;
    put(op, 1, k, offset, from, bytes);
    op.what = what;
    job.at(0).submit(op);
    job.finish(op);
    return op.result;
  };
  EXPECT_EQ(outcome_of(key, 0, 65), outcome::bad_memory);
  EXPECT_EQ(outcome_of(key, 64, 1), outcome::bad_memory);
  EXPECT_EQ(outcome_of(key, UINT64_MAX, 2), outcome::bad_memory);
  EXPECT_EQ(outcome_of(other, 0, 1), outcome::bad_memory);
  EXPECT_EQ(outcome_of(key, 4, 0, action::fetch_add), outcome::bad_memory) << "not aligned";
  EXPECT_EQ(outcome_of(key, 60, 0, action::fetch_add), outcome::bad_memory);
  EXPECT_EQ(outcome_of(key, 64, 1, action::put_notify), outcome::bad_memory);
  EXPECT_EQ(there, std::vector<char>(64, 'x'));
  EXPECT_EQ(outcome_of(key, 63, 1), outcome::done);
  const auto flush = [&job] {
    test_operation op;
    only(op, action::flush, 1);
    job.at(0).submit(op);
    job.finish(op);
  };
  flush();
  EXPECT_EQ(there[63], 'y');
  job.at(1).remove_memory(key);
  outcome after = outcome_of(key, 0, 1);
  if (!job.at(0).caps().refuses_removed) // the owner's word is under way
    while (after == outcome::done)
      after = outcome_of(key, 0, 1);
  EXPECT_EQ(after, outcome::bad_memory);
  flush(); // what such an engine did not refuse arrives while the memory is there
  EXPECT_EQ(job[1].notifications(0), 0U);
}

TEST_P(engine_promises, fresh_memory_is_zero_and_shared) {
  test_job job(GetParam(), 2);
  net::memory_key key;
  auto *const there = static_cast<std::uint64_t *>(job.at(1).add_fresh_memory(800, key));
  if (!there)
    GTEST_SKIP() << "this engine has no memory of its own";
  EXPECT_TRUE(std::all_of(there, there + 100, [](std::uint64_t word) { return word == 0; }));
  const std::uint64_t from[2] = {1, 2};
  test_operation write, border;
  put(write, 1, key, 784, from, sizeof from);
  job.at(0).submit(write);
  only(border, action::flush, 1);
  job.at(0).submit(border);
  job.finish(border);
  EXPECT_EQ(write.result, outcome::done);
  EXPECT_EQ(there[97], 0U);
  EXPECT_EQ(there[98], 1U);
  EXPECT_EQ(there[99], 2U);
  job.at(1).remove_memory(key);
}

TEST_P(engine_promises, long_data_come_before_their_notification) {
  constexpr std::uint32_t k_rounds = 20;
  constexpr std::size_t k_words = 100'000;
  test_job job(GetParam(), 2);
  std::vector<std::uint32_t> there(k_words, 0), from(k_words);
  const net::memory_key key = job.at(1).add_memory(there.data(), k_words * 4);
  std::size_t wrong = 0;
  job[1].on_arrival = [&](std::uint32_t id) {
    wrong += there != std::vector<std::uint32_t>(k_words, id) ? 1U : 0U;
  };
  for (std::uint32_t i = 1; i <= k_rounds; ++i) {
    std::ranges::fill(from, i);
    test_operation all;
    put(all, 1, key, 0, from.data(), k_words * 4);
    all.what = action::put_notify;
    all.id = i;
    all.count = 1;
    job.at(0).submit(all);
    job.until([&] { return job[1].notifications(i) == 1 && all.is_over(); });
    EXPECT_EQ(all.result, outcome::done);
  }
  EXPECT_EQ(wrong, 0U);
}

TEST_P(engine_promises, messages_arrive_once_and_whole) {
  test_job job(GetParam(), 2);
  const std::size_t most = job.at(0).caps().most_message;
  std::vector<std::string> texts = {"", "a", std::string(most, 'm')};
  std::deque<test_operation> all(texts.size() + 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    message(all[i], 1, static_cast<std::uint32_t>(i), texts[i]);
    job.at(0).submit(all[i]);
  }
  const std::string longer(most + 1, 'l');
  message(all.back(), 1, 77, longer);
  job.at(0).submit(all.back());
  job.until([&] { return job[1].messages().size() == texts.size(); });
  job.finish_all(all);
  EXPECT_EQ(all.back().result, outcome::too_long);
  auto got = job[1].messages();
  std::ranges::sort(got, {}, &test_rank::message::id);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(got[i].text, texts[i]);
    EXPECT_EQ(got[i].from, 0);
    EXPECT_EQ(got[i].id, i);
  }
}

TEST_P(engine_promises, data_come_before_their_notification) {
  constexpr int k_rounds = 300;
  test_job job(GetParam(), 2);
  std::vector<std::uint64_t> there(k_rounds, 0), from(k_rounds);
  const net::memory_key key = job.at(1).add_memory(there.data(), there.size() * 8);
  std::vector<std::uint32_t> without_data;
  job[1].on_arrival = [&](std::uint32_t id) {
    if (there[id] != id + 1U)
      without_data.push_back(id);
  };
  std::deque<test_operation> all(k_rounds);
  for (std::uint32_t i = 0; i < k_rounds; ++i) {
    from[i] = i + 1;
    put(all[i], 1, key, i * 8, &from[i], 8);
    all[i].what = action::put_notify;
    all[i].id = i;
    all[i].count = i % 3 + 1;
    job.at(0).submit(all[i]);
  }
  job.until([&] {
    for (std::uint32_t i = 0; i < k_rounds; ++i)
      if (job[1].notifications(i) < i % 3 + 1)
        return false;
    return true;
  });
  job.finish_all(all);
  EXPECT_TRUE(without_data.empty());
  for (std::uint32_t i = 0; i < k_rounds; ++i) {
    EXPECT_EQ(job[1].notifications(i), i % 3 + 1);
    EXPECT_EQ(all[i].result, outcome::done);
  }
}

TEST_P(engine_promises, a_fence_keeps_the_order) {
  constexpr std::uint32_t k_rounds = 100;
  test_job job(GetParam(), 2);
  std::vector<std::uint64_t> there(k_rounds, 0), from(k_rounds);
  const net::memory_key key = job.at(1).add_memory(there.data(), k_rounds * 8);
  std::uint64_t early = 0;
  std::uint32_t next = 0;
  job[1].on_arrival = [&](std::uint32_t id) {
    early += there[id] != id + 1U || id != next ? 1U : 0U;
    ++next;
  };
  std::deque<test_operation> all(4 * k_rounds);
  for (std::uint32_t i = 0; i < k_rounds; ++i) {
    from[i] = i + 1;
    put(all[4 * i], 1, key, i * 8, &from[i], 8);
    only(all[4 * i + 1], action::fence, 1);
    message(all[4 * i + 2], 1, i, "");
    only(all[4 * i + 3], action::fence, 1);
    for (std::uint32_t k = 0; k < 4; ++k)
      job.at(0).submit(all[4 * i + k]);
  }
  job.until([&] { return job[1].messages().size() == k_rounds; });
  job.finish_all(all);
  EXPECT_EQ(early, 0U);
  EXPECT_EQ(there, from);
}

TEST_P(engine_promises, a_flush_ends_when_all_before_has_arrived) {
  constexpr std::size_t k_puts = 500;
  test_job job(GetParam(), 3);
  std::vector<std::uint64_t> there(k_puts, 0), from(k_puts, 1);
  const net::memory_key key = job.at(2).add_memory(there.data(), k_puts * 8);
  std::deque<test_operation> all(k_puts);
  for (std::size_t i = 0; i < k_puts; ++i) {
    put(all[i], 2, key, i * 8, &from[i], 8);
    job.at(0).submit(all[i]);
  }
  test_operation border;
  only(border, action::flush, 2);
  job.at(0).submit(border);
  job.finish(border);
  EXPECT_EQ(there, from);
  job.finish_all(all);
}

// The target makes no progress when the second flush begins, and the first one has asked it for the data.
TEST_P(engine_promises, a_flush_behind_another_one_waits_for_the_same_data) {
  test_job job(GetParam(), 2);
  if (!job.made().hold)
    GTEST_SKIP() << "this engine holds no rank";
  std::uint64_t there = 0;
  const std::uint64_t from[2] = {1, 2};
  const net::memory_key key = job.at(1).add_memory(&there, sizeof there);
  test_operation known, flushed, data;
  put(known, 1, key, 0, &from[0], sizeof there);
  job.at(0).submit(known);
  only(flushed, action::flush, 1);
  job.at(0).submit(flushed);
  job.finish(flushed);
  job.made().hold(1, true);
  put(data, 1, key, 0, &from[1], sizeof there);
  data.what = action::put_notify;
  data.count = 1;
  job.at(0).submit(data);
  std::deque<test_operation> borders(3);
  for (auto &border : borders) {
    only(border, action::flush, 1);
    job.at(0).submit(border);
  }
  for (int i = 0; i < 200; ++i)
    job.at(0).progress(64);
  for (const auto &border : borders)
    if (border.is_over()) {
      EXPECT_EQ(there, 2U);
    }
  job.made().hold(1, false);
  job.finish_all(borders);
  EXPECT_EQ(there, 2U);
  job.until([&] { return data.is_over() && job[1].notifications(0) == 1; });
}

/// Returns the bytes that this process has mapped to share them.
std::size_t shared_bytes() {
  std::size_t all = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) { // 7f00-7f10 rw-s ...
    std::size_t begin = 0, end = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%zx-%zx %4s", &begin, &end, access) == 3 && access[3] == 's')
      all += end - begin;
  }
  return all;
}

TEST_P(engine_promises, memory_that_was_removed_is_mapped_no_longer) {
  constexpr std::size_t k_rounds = 20, k_bytes = 1 << 20;
  test_job job(GetParam(), 2);
  std::size_t before = 0;
  for (std::size_t round = 0; round != k_rounds; ++round) {
    net::memory_key key;
    auto *const there = static_cast<std::uint64_t *>(job.at(1).add_fresh_memory(k_bytes, key));
    if (!there)
      GTEST_SKIP() << "this engine has no memory of its own";
    const std::uint64_t from = round + 1;
    const auto outcome_of = [&](action what) {
      test_operation op;
      put(op, 1, key, 0, &from, sizeof from);
      op.what = what;
      job.at(0).submit(op);
      job.finish(op);
      return op.result;
    };
    EXPECT_EQ(outcome_of(action::put), outcome::done);
    EXPECT_EQ(outcome_of(action::flush), outcome::done);
    EXPECT_EQ(*there, from);
    job.at(1).remove_memory(key);
    for (const std::size_t nth : {1U, 2U}) { // the owner's word is on its way before the second one
      test_operation word;
      message(word, 0, 1, "removed");
      job.at(1).submit(word);
      job.until([&] { return word.is_over() && job[0].messages().size() == 2 * round + nth; });
    }
    EXPECT_EQ(outcome_of(action::put), outcome::bad_memory);
    if (round == 0)
      before = shared_bytes();
  }
  EXPECT_LT(shared_bytes(), before + k_rounds / 2 * k_bytes);
}

TEST_P(engine_promises, a_flood_to_a_held_rank_waits_and_arrives) {
  test_job job(GetParam(), 2);
  if (!job.made().hold)
    GTEST_SKIP() << "this engine holds no rank";
  constexpr std::size_t k_flood = 5000;
  const std::string text = "flood";
  test_operation first; // engines may need both ranks to connect them
  message(first, 1, k_flood, text);
  job.at(0).submit(first);
  job.until([&] { return first.is_over() && job[1].messages().size() == 1; });
  job.made().hold(1, true);
  std::deque<test_operation> all(k_flood);
  for (std::size_t i = 0; i < k_flood; ++i) {
    message(all[i], 1, static_cast<std::uint32_t>(i), text);
    job.at(0).submit(all[i]);
  }
  while (!all[0].is_over()) // another thread may be inside until then
    job.at(0).progress(64);
  for (int i = 0; i < 200; ++i)
    job.at(0).progress(64);
  const auto over = std::ranges::count_if(all, &test_operation::is_over);
  EXPECT_LE(static_cast<std::size_t>(over), GetParam().queue) << "the queue has a bound";
  EXPECT_EQ(job[1].messages().size(), 1U);
  // The other way is open meanwhile.
  test_operation back;
  message(back, 0, 1, text);
  job.at(1).submit(back);
  job.made().hold(1, false);
  job.until([&] { return job[1].messages().size() == k_flood + 1 && back.is_over(); });
  job.finish_all(all);
  auto got = job[1].messages();
  got.erase(got.begin());
  EXPECT_EQ(std::ranges::is_sorted(got, {}, &test_rank::message::id) || !job.at(0).caps().ordered,
            true);
  std::ranges::sort(got, {}, &test_rank::message::id);
  for (std::size_t i = 0; i < k_flood; ++i)
    ASSERT_EQ(got[i].id, i);
  job.until([&] { return job.at(0).in_flight() + job.at(1).in_flight() == 0; });
}

TEST_P(engine_promises, operations_of_a_lost_rank_end) {
  test_job job(GetParam(), 3);
  if (!job.made().lose || !job.made().hold)
    GTEST_SKIP() << "this engine loses no rank on request";
  std::uint64_t there = 1, from = 2;
  const net::memory_key key = job.at(2).add_memory(&there, 8);
  const net::memory_key alive = job.at(1).add_memory(&there, 8);
  job.made().hold(2, true);
  std::deque<test_operation> all(2000);
  for (auto &op : all) {
    message(op, 2, 1, "x");
    job.at(0).submit(op);
  }
  EXPECT_FALSE(all.back().is_over());
  EXPECT_FALSE(job.at(0).is_lost(2));
  job.made().lose(2);
  job.made().lose(2);
  job.until([&] {
    // Listeners hear of it behind is_lost().
    return std::ranges::all_of(all, &test_operation::is_over) && !job[0].lost_ranks().empty() &&
           !job[1].lost_ranks().empty() && job.at(2).is_lost(2);
  });
  EXPECT_EQ(all.back().result, outcome::rank_lost);
  EXPECT_EQ(job[0].lost_ranks(), std::vector<int>{2});
  EXPECT_EQ(job[1].lost_ranks(), std::vector<int>{2});
  for (const auto &op : all)
    ASSERT_EQ(op.times, 1);
  const auto ends = [&](int caller, int rank, const net::memory_key &k) {
    test_operation op;
    put(op, rank, k, 0, &from, 8);
    job.at(caller).submit(op);
    job.finish(op);
    return op.result;
  };
  EXPECT_EQ(ends(0, 2, key), outcome::rank_lost);
  EXPECT_EQ(ends(2, 0, key), outcome::rank_lost) << "the lost rank's own";
  EXPECT_EQ(there, 1U);
  EXPECT_EQ(ends(0, 1, alive), outcome::done) << "the others go on";
  EXPECT_EQ(there, 2U);
  EXPECT_FALSE(job.at(0).is_lost(1));
  EXPECT_TRUE(job[2].messages().empty());
  job.until(
      [&] { return job.at(0).in_flight() + job.at(1).in_flight() + job.at(2).in_flight() == 0; });
}

// More messages than the queue to a held rank has places: the last one is in flight for certain.
TEST_P(engine_promises, an_ended_transport_closes_what_is_in_flight) {
  const std::size_t queue =
      GetParam().queue != 0 ? GetParam().queue : std::stoul(weft::layer::setting("net.queue"));
  std::deque<test_operation> all(queue + 500);
  test_job job(GetParam(), 2);
  if (!job.made().hold)
    GTEST_SKIP() << "this engine holds no rank";
  job.made().hold(1, true);
  for (auto &op : all) {
    message(op, 1, 1, "x");
    job.at(0).submit(op);
  }
  for (int i = 0; i < 200; ++i)
    job.at(0).progress(64);
  ASSERT_FALSE(all.back().is_over());
  job[0].end();
  for (const auto &op : all) {
    ASSERT_EQ(op.times, 1);
    ASSERT_TRUE(op.result == outcome::closed || op.result == outcome::done);
  }
  EXPECT_EQ(all.back().result, outcome::closed);
  job[1].end();
}

// Rank 0 has asked for memory, and closes before it has looked for the answer.
TEST_P(engine_promises, an_answer_that_comes_as_the_transport_ends_is_left) {
  test_job job(GetParam(), 2);
  if (!job.made().hold)
    GTEST_SKIP() << "this engine holds no rank";
  test_operation there_and_back[2]; // engines may need both ranks to connect them
  for (const int from : {0, 1}) {
    message(there_and_back[from], 1 - from, 1, "hello");
    job.at(from).submit(there_and_back[from]);
  }
  job.until([&] { return job[0].messages().size() + job[1].messages().size() == 2; });
  std::uint64_t word = 0;
  const std::uint64_t from = 1;
  const net::memory_key key = job.at(1).add_memory(&word, sizeof word);
  job.made().hold(0, true);
  test_operation asks;
  put(asks, 1, key, 0, &from, sizeof from);
  job.at(0).submit(asks);
  for (int i = 0; i < 1000; ++i)
    job.at(1).progress(16);
  job[0].end();
  EXPECT_EQ(asks.times, 1);
  EXPECT_TRUE(asks.result == outcome::closed || asks.result == outcome::done);
  job[1].end();
}

// As the job does for one whose function has thrown: its engine ends in order, and the job loses it.
TEST_P(engine_promises, a_rank_that_has_left_may_be_lost) {
  test_job job(GetParam(), 2);
  if (job.made().lose)
    GTEST_SKIP() << "the ranks of this engine are lost by their world";
  test_operation first;
  message(first, 1, 1, "hello");
  job.at(0).submit(first);
  job.until([&] { return job[1].messages().size() == 1 && first.is_over(); });
  job[1].end();
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (outcome last = outcome::done; last == outcome::done;) {
    test_operation op;
    message(op, 1, 1, "x");
    job.at(0).submit(op);
    while (!op.is_over()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      job.at(0).progress(16);
    }
    last = op.result;
    EXPECT_TRUE(last == outcome::done || last == outcome::rank_lost);
  }
  for (int i = 0; i != 2; ++i)
    job.at(0).report_lost(1);
  while (!job.at(0).is_lost(1) || job[0].lost_ranks().empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    job.at(0).progress(16);
  }
  EXPECT_EQ(job[0].lost_ranks(), std::vector<int>{1});
}

TEST_P(engine_promises, a_rank_that_does_not_exist_is_refused) {
  test_job job(GetParam(), 2);
  for (const int rank : {-1, 2}) {
    test_operation op;
    only(op, action::flush, rank);
    try {
      job.at(0).submit(op);
      ADD_FAILURE() << rank;
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("no rank " + std::to_string(rank)), std::string::npos);
    }
    EXPECT_EQ(op.times, 0);
  }
}

TEST_P(engine_promises, threads_share_a_transport) {
  constexpr int k_threads = 4;
  constexpr std::size_t k_each = 500;
  test_job job(GetParam(), 2);
  std::uint64_t word = 0;
  const net::memory_key key = job.at(1).add_memory(&word, 8);
  std::vector<std::deque<test_operation>> all;
  for (int t = 0; t < k_threads; ++t)
    all.emplace_back(k_each);
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t)
    threads.emplace_back([&, t] {
      for (auto &op : all[static_cast<std::size_t>(t)]) {
        op.what = action::fetch_add;
        op.rank = 1;
        op.key = key;
        op.value = 1;
        job.at(0).submit(op);
      }
    });
  for (auto &t : threads)
    t.join();
  std::vector<bool> seen(k_threads * k_each, false);
  for (auto &ops : all)
    for (auto &op : ops) {
      job.finish(op);
      ASSERT_EQ(op.times, 1);
      ASSERT_LT(op.value, seen.size());
      ASSERT_FALSE(seen[op.value]) << "each value is returned once";
      seen[op.value] = true;
    }
  EXPECT_EQ(word, k_threads * k_each);
  job.until([&] { return job.at(0).in_flight() == 0; });
}

TEST_P(engine_promises, random_work_in_epochs_does_what_an_oracle_says) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr std::size_t k_ranks = 3;
    oracle all(seed, k_ranks);
    constexpr std::size_t k_words = oracle::k_cells + oracle::k_counters;
    oracle::memory expected(k_ranks, std::vector<std::uint64_t>(k_words, 0)), there = expected;
    test_job job(GetParam(), k_ranks);
    std::vector<net::memory_key> keys;
    for (std::size_t r = 0; r < k_ranks; ++r)
      keys.push_back(job.at(static_cast<int>(r)).add_memory(there[r].data(), k_words * 8));
    std::uint64_t wrong = 0;
    for (std::size_t e = 0; e < oracle::k_epochs; ++e) {
      const oracle::memory before = expected;
      const auto steps = all.epoch(expected);
      std::vector<std::thread> ranks;
      std::atomic<std::uint64_t> wrong_here{0};
      for (int r = 0; r < static_cast<int>(k_ranks); ++r)
        ranks.emplace_back([&, r] {
          std::deque<test_operation> ops;
          std::deque<std::vector<std::uint64_t>> buffers;
          std::vector<const oracle::step *> done;
          for (const auto &s : steps) {
            if (s.from != r)
              continue;
            auto &op = ops.emplace_back();
            auto &data = buffers.emplace_back(s.cells);
            for (std::size_t i = 0; i < s.cells; ++i)
              data[i] = s.value + i;
            put(op, s.to, keys[static_cast<std::size_t>(s.to)], s.cell * 8, data.data(),
                s.cells * 8);
            op.what = s.what;
            op.value = s.value;
            op.expected = s.expected;
            done.push_back(&s);
            job.at(r).submit(op);
          }
          for (int to = 0; to < static_cast<int>(k_ranks); ++to) {
            only(ops.emplace_back(), action::flush, to);
            job.at(r).submit(ops.back());
          }
          job.until([&] { return std::ranges::all_of(ops, &test_operation::is_over); });
          for (std::size_t i = 0; i < done.size(); ++i) {
            const auto &old = before[static_cast<std::size_t>(done[i]->to)];
            bool right = ops[i].result == outcome::done && ops[i].times == 1;
            if (done[i]->what == action::get)
              right = right && std::ranges::equal(buffers[i], std::span(old).subspan(
                                                                  done[i]->cell, done[i]->cells));
            if (done[i]->what == action::compare_swap)
              right = right && ops[i].value == old[done[i]->cell];
            wrong_here += right ? 0 : 1;
          }
        });
      for (auto &t : ranks)
        t.join();
      wrong += wrong_here;
      ASSERT_EQ(there, expected) << "after epoch " << e;
    }
    EXPECT_EQ(wrong, 0U);
  }
}

/// Returns the kinds of this build: an engine that cannot be loaded is left out, and says so.
std::vector<engine_kind> all_kinds() {
  std::vector<engine_kind> made = {inproc_kind("inproc", with(256, 0, false)),
                                   inproc_kind("inproc_one_message", with(1, 0, false)),
                                   inproc_kind("inproc_delayed", with(64, 5, false)),
                                   inproc_kind("inproc_reordered", with(64, 3, true))};
  if (has_engine("ucx")) {
    made.push_back(port_kind("ucx_shm", "ucx", {"shm,self", "", 256}));
    made.push_back(port_kind("ucx_shm_one_message", "ucx", {"shm,self", "", 1}));
    made.push_back(port_kind("ucx_tcp", "ucx", {"tcp,self", "lo", 256}));
  }
  return made;
}

INSTANTIATE_TEST_SUITE_P(all, engine_promises, testing::ValuesIn(all_kinds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
