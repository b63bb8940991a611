// SPDX-License-Identifier: Apache-2.0
// Channels between tasks and threads.
#include "support/scale.hpp"

#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using weft::channel_status;

/// Waits, as a task does that has other work, until `condition` holds.
template <class Condition>
void until(Condition condition) {
  while (!condition())
    weft::taskyield();
}

TEST(channel, carries_each_value_once_in_order) {
  for (const std::size_t capacity :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, weft::channel<int>::unbounded}) {
    weft::channel<std::pair<int, int>> c(capacity);
    EXPECT_EQ(c.capacity(), capacity);
    const int n = test::scaled(600, 60);
    std::atomic<int> senders{4};
    auto send = [&](int from) {
      for (int i = 0; i != n; ++i)
        EXPECT_EQ(c.push({from, i}), channel_status::success);
      if (--senders == 0)
        c.close();
    };
    std::atomic<long> received{0}, sum{0}, disorder{0};
    auto receive = [&] {
      int last[4] = {-1, -1, -1, -1};
      while (auto v = c.pop()) {
        disorder += v->second <= last[v->first];
        last[v->first] = v->second;
        ++received;
        sum += v->second;
      }
    };
    std::vector<std::jthread> threads;
    threads.emplace_back(send, 0);
    threads.emplace_back(receive);
    for (int t = 1; t != 4; ++t)
      weft::spawn([&, t] { send(t); });
    for (int t = 0; t != 3; ++t)
      weft::spawn(receive);
    weft::taskwait();
    threads.clear();
    EXPECT_EQ(received, 4L * n) << capacity;
    EXPECT_EQ(sum, 4L * n * (n - 1) / 2) << capacity;
    EXPECT_EQ(disorder, 0) << capacity;
    EXPECT_EQ(c.size(), 0u);
  }
}

TEST(channel, says_why_it_does_not_wait) {
  weft::channel<std::unique_ptr<int>> c(1);
  std::unique_ptr<int> v;
  EXPECT_EQ(c.try_pop(v), channel_status::empty);
  EXPECT_EQ(c.pop_for(v, 1ms), channel_status::timeout);
  EXPECT_EQ(c.pop_until(v, std::chrono::system_clock::now() + 1ms), channel_status::timeout);
  EXPECT_EQ(c.try_push(std::make_unique<int>(1)), channel_status::success);
  EXPECT_EQ(c.size(), 1u);
  auto more = std::make_unique<int>(2);
  EXPECT_EQ(c.try_push(std::move(more)), channel_status::full);
  EXPECT_EQ(c.push_for(std::move(more), 1ms), channel_status::timeout);
  EXPECT_EQ(c.push_until(std::move(more), std::chrono::system_clock::now() + 1ms),
            channel_status::timeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(c.push(std::move(more), stop.get_token()), channel_status::stopped);
  ASSERT_TRUE(more) << "a value that was not sent is where it was";
  EXPECT_FALSE(c.is_closed());
  c.close();
  c.close();
  EXPECT_TRUE(c.is_closed());
  EXPECT_EQ(c.push(std::move(more)), channel_status::closed);
  EXPECT_EQ(c.try_push(std::move(more)), channel_status::closed);
  ASSERT_TRUE(more);
  EXPECT_EQ(c.pop(v, stop.get_token()), channel_status::success) << "what is left comes out";
  EXPECT_EQ(*v, 1);
  EXPECT_EQ(c.pop(v), channel_status::closed);
  EXPECT_EQ(c.try_pop(v), channel_status::closed);
  EXPECT_FALSE(c.pop());
  weft::channel<std::unique_ptr<int>> open;
  EXPECT_EQ(open.pop(v, stop.get_token()), channel_status::stopped);
}

TEST(channel, close_ends_all_waits) {
  weft::channel<int> empty, full(0);
  std::atomic<int> closed{0}, waiting{0};
  for (int t = 0; t != 3; ++t) {
    weft::spawn([&] {
      ++waiting;
      closed += !empty.pop();
    });
    weft::spawn([&, t] {
      ++waiting;
      closed += full.push(int(t)) == channel_status::closed;
    });
  }
  until([&] { return waiting == 6; });
  weft::this_task::sleep_for(1ms);
  EXPECT_EQ(closed, 0);
  empty.close();
  full.close();
  weft::taskwait();
  EXPECT_EQ(closed, 6);
}

TEST(channel, is_a_range) {
  weft::channel<int> c(2);
  weft::spawn([&] {
    for (int i = 1; i <= 100; ++i)
      (void)c.push(i);
    c.close();
  });
  int sum = 0;
  for (int v : c)
    sum += v;
  EXPECT_EQ(sum, 5050);
  weft::taskwait();
}

/// Throws when it is moved when the countdown is over, or when it has the value that stays.
struct fragile {
  int value = 0;
  static inline std::atomic<int> countdown{-1}, staying{-2};
  explicit fragile(int v) : value(v) {}
  fragile(fragile &&other) : value(move_out(other)) {} // NOLINT: it may throw
  fragile &operator=(fragile &&other) { // NOLINT: it may throw
    value = move_out(other);
    return *this;
  }
  static int move_out(fragile &from) {
    if (countdown.fetch_sub(1) == 0 || from.value == staying)
      throw std::runtime_error("moved");
    return std::exchange(from.value, -1);
  }
};

TEST(channel, a_move_that_throws_loses_no_value) {
  weft::channel<fragile> c(1);
  fragile f(1), out(0);
  fragile::countdown = 0;
  EXPECT_THROW((void)c.push(std::move(f)), std::runtime_error);
  EXPECT_EQ(c.size(), 0u);
  EXPECT_EQ(f.value, 1);
  fragile::countdown = -1;
  EXPECT_EQ(c.push(std::move(f)), channel_status::success);
  fragile::countdown = 0;
  EXPECT_THROW((void)c.pop(out), std::runtime_error);
  EXPECT_EQ(c.size(), 1u);
  fragile::countdown = -1;

  // A receiver whose value cannot be moved to it keeps waiting, and its deadline holds.
  weft::channel<fragile> direct(0);
  std::atomic<int> waiting{0};
  channel_status first{}, second{};
  weft::spawn([&] {
    fragile v(0);
    ++waiting;
    first = direct.pop_for(v, 5ms);
  });
  until([&] { return waiting == 1; });
  fragile g(7);
  while (fragile::countdown == -1) { // until the receiver waits
    fragile::countdown = 0;
    try {
      if (direct.try_push(std::move(g)) == channel_status::full)
        fragile::countdown = -1;
    } catch (const std::runtime_error &) {
      break;
    }
    if (first == channel_status::timeout)
      break;
  }
  fragile::countdown = -1;
  weft::taskwait();
  EXPECT_EQ(first, channel_status::timeout);
  EXPECT_EQ(g.value, 7);
  weft::spawn([&] {
    fragile v(0);
    second = direct.pop(v);
    EXPECT_EQ(v.value, 7);
  });
  EXPECT_EQ(direct.push(std::move(g)), channel_status::success);
  weft::taskwait();
  EXPECT_EQ(second, channel_status::success);
}

/// Looks for senders that wait.
struct channel_probe : weft::detail::channel_base {
  template <class T>
  static bool has_sender(weft::channel<T> &c) {
    auto &base = (weft::detail::channel_base &)c; // NOLINT: the base is private
    return (base.*&channel_probe::m_senders).oldest.load() != nullptr;
  }
};

/// Calls f(channel, sent) with a channel that has its only value, 1, and a sender, of 2, that waits for
/// room; `sent` is how the sender's call has ended.
template <class F>
void with_waiting_sender(F f) {
  weft::channel<fragile> c(1);
  ASSERT_EQ(c.push(fragile(1)), channel_status::success);
  std::atomic<channel_status> sent{channel_status::empty};
  weft::spawn([&] { sent = c.push(fragile(2)); });
  until([&] { return channel_probe::has_sender(c); });
  f(c, sent);
  fragile::countdown = -1;
  c.close();
  weft::taskwait();
}

TEST(channel, a_failed_receive_lets_no_sender_in) {
  with_waiting_sender([](weft::channel<fragile> &c, auto &sent) {
    for (int way = 0; way != 3; ++way) {
      fragile out(0);
      fragile::staying = 1;
      if (way == 0)
        EXPECT_THROW((void)c.pop(), std::runtime_error);
      else if (way == 1)
        EXPECT_THROW((void)c.pop(out), std::runtime_error);
      else
        EXPECT_THROW((void)c.begin(), std::runtime_error);
      fragile::staying = -2;
      EXPECT_EQ(c.size(), 1u);
      EXPECT_EQ(sent, channel_status::empty) << "it waits";
    }
    EXPECT_EQ(c.pop()->value, 1);
    until([&] { return sent == channel_status::success; });
    EXPECT_EQ(c.pop()->value, 2);
  });
}

TEST(channel, a_sender_that_cannot_be_let_in_waits_for_the_next_receiver) {
  with_waiting_sender([](weft::channel<fragile> &c, auto &sent) {
    fragile::countdown = 1; // the receiver's move does not throw, the sender's does
    EXPECT_EQ(c.pop()->value, 1);
    fragile::countdown = -1;
    EXPECT_EQ(c.size(), 0u);
    EXPECT_EQ(sent, channel_status::empty);
    EXPECT_EQ(c.pop()->value, 2);
    until([&] { return sent == channel_status::success; });
  });
}

TEST(channel, a_sender_that_cannot_be_let_in_stays_before_later_ones) {
  with_waiting_sender([](weft::channel<fragile> &c, auto &sent) {
    fragile::countdown = 1;
    EXPECT_EQ(c.pop()->value, 1);
    fragile later(3);
    fragile::countdown = 0;
    EXPECT_EQ(c.try_push(std::move(later)), channel_status::full);
    fragile::countdown = -1;
    EXPECT_EQ(later.value, 3);
    EXPECT_EQ(sent, channel_status::empty);
    EXPECT_EQ(c.try_push(std::move(later)), channel_status::full) << "the one before took it";
    until([&] { return sent == channel_status::success; });
    EXPECT_EQ(c.pop()->value, 2);
  });
}

TEST(channel, a_sender_whose_time_is_over_keeps_no_room) {
  weft::channel<fragile> c(1);
  ASSERT_EQ(c.push(fragile(1)), channel_status::success);
  std::atomic<channel_status> sent{channel_status::empty};
  weft::spawn([&] {
    fragile f(2);
    sent = c.push_for(std::move(f), 1ms);
  });
  until([&] { return sent == channel_status::timeout; });
  EXPECT_EQ(c.pop()->value, 1);
  EXPECT_EQ(c.try_push(fragile(3)), channel_status::success);
  weft::taskwait();
}

TEST(channel, an_iterator_that_cannot_go_on_loses_no_value) {
  weft::channel<fragile> c;
  ASSERT_EQ(c.push(fragile(1)), channel_status::success);
  ASSERT_EQ(c.push(fragile(2)), channel_status::success);
  auto it = c.begin();
  EXPECT_EQ(it->value, 1);
  fragile::countdown = 0;
  EXPECT_THROW(++it, std::runtime_error);
  fragile::countdown = 0; // one move takes the value out, and none follows
  EXPECT_THROW(++it, std::runtime_error);
  fragile::countdown = 1;
  ++it;
  fragile::countdown = -1;
  EXPECT_EQ(it->value, 2);
  EXPECT_EQ(c.size(), 0u);
}

} // namespace
