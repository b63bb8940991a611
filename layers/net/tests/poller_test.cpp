// SPDX-License-Identifier: Apache-2.0
// The polling service exists while something is awaited, and only then.
#include "weft_net/engine/poller.hpp"

#include <weft/layer/task.hpp>
#include <weft/net/transport.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

struct awaiting : weft_net::polled {
  virtual ~awaiting() { leave(); }
  std::size_t poll() noexcept override {
    ++polls;
    if (to_find == 0)
      return 0;
    --to_find;
    found_one();
    return 1;
  }
  std::atomic<int> polls{0}, to_find{0};
};

template <class Holds>
void until(Holds &&holds) {
  while (!holds())
    weft::this_task::sleep_for_ns(100'000);
}

TEST(net_poller, polls_while_something_is_awaited_and_sleeps_after) {
  weft_net::poller &poller = weft_net::poller::of_process();
  EXPECT_FALSE(poller.has_service());
  for (int round = 0; round < 3; ++round) {
    awaiting one, other;
    one.begin_wait();
    until([&] { return one.polls >= 20; });
    EXPECT_TRUE(poller.has_service());
    EXPECT_EQ(other.polls, 0) << "it awaits nothing";
    one.begin_wait();
    other.begin_wait();
    EXPECT_EQ(one.awaited(), 2U);
    one.to_find = 1;
    until([&] { return one.awaited() == 1; });
    const int before = one.polls;
    until([&] { return one.polls > before && other.polls > 0; });
    one.to_find = 1;
    other.to_find = 1;
    until([&] { return !poller.has_service(); });
    EXPECT_EQ(one.awaited() + other.awaited(), 0U);
    const int after = one.polls;
    for (int i = 0; i < 20; ++i)
      weft::this_task::sleep_for_ns(100'000);
    EXPECT_EQ(one.polls, after);
  }
}

struct woken final : awaiting {
  [[nodiscard]] bool is_woken() const noexcept override { return true; }
};

TEST(net_poller, leaves_what_its_engine_wakes) {
  weft_net::poller &poller = weft_net::poller::of_process();
  woken one;
  for (int round = 0; round < 3; ++round) {
    const int before = one.polls; // it may be left to what wakes it as soon as it awaits something
    one.begin_wait();
    until([&] { return one.polls > before; });
    until([&] { return !poller.has_service(); });
    EXPECT_EQ(one.awaited(), 1U);
    one.to_find = 1; // something comes, and the thread that it wakes has the service back
    one.be_watched();
    until([&] { return one.awaited() == 0; });
  }
  awaiting other; // not so: the service stays
  other.begin_wait();
  until([&] { return other.polls >= 200; });
  EXPECT_TRUE(poller.has_service());
  other.to_find = 1;
  until([&] { return other.awaited() == 0; });
}

TEST(net_poller, an_object_leaves_while_it_is_awaited) {
  for (int round = 0; round < 200; ++round) {
    awaiting one;
    one.begin_wait();
    if (round % 2)
      until([&] { return one.polls > 0; });
  }
  until([] { return !weft_net::poller::of_process().has_service(); });
}

TEST(net_poller, the_thread_of_an_engine_makes_no_service) {
  weft_net::poller &poller = weft_net::poller::of_process();
  until([&] { return !poller.has_service(); });
  woken one;
  awaiting keeps; // the service, once it is there
  std::thread([&] {
    weft_net::poller::note_thread_of_engine();
    one.begin_wait();
    EXPECT_FALSE(poller.has_service());
    EXPECT_EQ(weft::layer::who_calls(), weft::layer::caller::unadopted);
  }).join();
  EXPECT_EQ(one.awaited(), 1U);
  keeps.begin_wait(); // by another thread
  EXPECT_TRUE(poller.has_service());
  std::thread([&] { // which is there now
    weft_net::poller::note_thread_of_engine();
    awaiting other;
    other.begin_wait();
    while (other.polls == 0)
      std::this_thread::yield();
    EXPECT_EQ(weft::layer::who_calls(), weft::layer::caller::unadopted);
  }).join();
  one.to_find = 1;
  one.be_watched();
  until([&] { return one.awaited() == 0; });
  keeps.to_find = 1;
  until([&] { return !poller.has_service(); });
  EXPECT_EQ(keeps.awaited(), 0U);
}

// A rank of another engine, whose progress no thread makes.
TEST(net_poller, the_thread_of_an_engine_makes_one_for_what_no_thread_wakes) {
  weft_net::poller &poller = weft_net::poller::of_process();
  until([&] { return !poller.has_service(); });
  awaiting one;
  std::thread([&] {
    weft_net::poller::note_thread_of_engine();
    one.begin_wait();
  }).join();
  EXPECT_TRUE(poller.has_service());
  until([&] { return one.polls >= 2; });
  one.to_find = 1;
  until([&] { return !poller.has_service(); });
  EXPECT_EQ(one.awaited(), 0U);
}

/// Is an engine whose own thread announces something as the transport detaches it. Counts how often it is asked
/// what it can do, as the service does of a transport in which nothing comes.
class late_engine final : public weft::net::engine {
 public:
  explicit late_engine(std::atomic<int> &asked, bool wakes) : m_asked(asked) {
    m_caps.wakes = wakes;
  }
  const weft::net::capabilities &caps() const noexcept override {
    ++m_asked;
    return m_caps;
  }
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  void attach(weft::net::engine_events *to) noexcept override {
    if (!to)
      std::thread([this] { m_events->expect(); }).join();
    m_events = to;
  }
  weft::net::memory_key add_memory(void *, std::size_t) override { return {}; }
  void remove_memory(const weft::net::memory_key &) noexcept override {}
  bool begin(weft::net::operation &) noexcept override { return false; }
  std::size_t progress(std::size_t) noexcept override { return 0; }

 private:
  std::atomic<int> &m_asked;
  weft::net::capabilities m_caps;
  weft::net::engine_events *m_events = nullptr;
};

struct : weft::net::listener {
  void arrived(int, std::uint32_t, std::span<const std::byte>) noexcept override {}
  void notified(int, std::uint32_t, std::uint64_t) noexcept override {}
  void lost(int) noexcept override {}
} g_nobody;

TEST(net_poller, a_transport_that_has_closed_is_polled_no_more) {
  weft_net::poller &poller = weft_net::poller::of_process();
  until([&] { return !poller.has_service(); });
  awaiting keeps; // the service
  keeps.begin_wait();
  std::atomic<int> asked{0};
  const auto poll_often = [&keeps] { // as often as it is asked what it can do
    const int before = keeps.polls;
    until([&] { return keeps.polls >= before + 200; });
  };
  {
    weft::net::transport one(std::make_unique<late_engine>(asked, true), g_nobody);
    asked = 0; // before it is polled: it may be left to what wakes it soon
    one.begin_wait();
    poll_often();
    EXPECT_GT(asked, 0) << "it is polled before";
    one.close();
    EXPECT_EQ(one.in_flight(), 2U);
    asked = 0;
    poll_often();
    EXPECT_EQ(asked, 0);
  }
  { // What is submitted later has it watched again, until it ends.
    weft::net::transport one(std::make_unique<late_engine>(asked, false), g_nobody);
    one.close();
    weft::net::operation late;
    late.ended = [](weft::net::operation &) noexcept {};
    one.submit(late);
    EXPECT_EQ(late.result, weft::net::outcome::closed);
    poll_often();
  }
  poll_often();
  keeps.to_find = 1;
  for (int i = 0; i < 600'000 && poller.has_service(); ++i)
    weft::this_task::sleep_for_ns(100'000);
  EXPECT_FALSE(poller.has_service()) << "its list is empty";
}

/// Is an engine without room for the operations to some ranks. It notes what it begins.
class full_engine final : public weft::net::engine {
 public:
  struct notes {
    std::array<std::atomic<bool>, 4> is_full{};
    std::atomic<int> losses{0}; // calls of lose()
    std::atomic<int> looks{0}; // calls of progress()
    std::mutex lock;
    std::vector<std::uint32_t> begun;
  };
  explicit full_engine(notes &to, bool wakes = false) : m_notes(to) { m_caps.wakes = wakes; }
  const weft::net::capabilities &caps() const noexcept override { return m_caps; }
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 4; }
  void attach(weft::net::engine_events *to) noexcept override { m_events = to; }
  weft::net::memory_key add_memory(void *, std::size_t) override { return {}; }
  void remove_memory(const weft::net::memory_key &) noexcept override {}
  void lose(int) noexcept override { ++m_notes.losses; } // and reports it later, or never
  bool begin(weft::net::operation &op) noexcept override {
    if (m_notes.is_full[static_cast<std::size_t>(op.rank)])
      return false;
    {
      const std::lock_guard guard(m_notes.lock);
      m_notes.begun.push_back(op.id);
    }
    m_events->end(op, weft::net::outcome::done);
    return true;
  }
  std::size_t progress(std::size_t) noexcept override { return ++m_notes.looks, 0; }

 private:
  notes &m_notes;
  weft::net::capabilities m_caps;
  weft::net::engine_events *m_events = nullptr;
};

struct one_operation : weft::net::operation {
  one_operation(int to, std::uint32_t number) {
    rank = to;
    id = number;
    ended = [](weft::net::operation &self) noexcept {
      static_cast<one_operation &>(self).is_over = true;
    };
  }
  std::atomic<bool> is_over{false};
};

TEST(net_transport, operations_wait_for_room_at_their_rank_alone) {
  full_engine::notes notes;
  weft::net::transport one(std::make_unique<full_engine>(notes), g_nobody);
  for (int round = 0; round != 3; ++round) { // a rank waits again
    notes.begun.clear();
    notes.is_full[1] = notes.is_full[2] = true;
    std::deque<one_operation> all;
    const auto submit = [&](int rank) {
      one.submit(all.emplace_back(rank, static_cast<std::uint32_t>(all.size())));
    };
    for (const int rank : {1, 2, 1, 3, 2, 1})
      submit(rank);
    until([&] { return all[3].is_over.load(); });
    EXPECT_FALSE(all[0].is_over || all[1].is_over || all[2].is_over);
    notes.is_full[2] = false;
    until([&] { return all[4].is_over.load(); });
    submit(2); // waits no more
    until([&] { return all[6].is_over.load(); });
    submit(1);
    EXPECT_FALSE(all[7].is_over);
    notes.is_full[1] = false;
    until([&] { return all[7].is_over.load(); });
    EXPECT_EQ(notes.begun, (std::vector<std::uint32_t>{3, 1, 4, 6, 0, 2, 5, 7}));
  }
}

/// What has come to an engine that wakes a thread need not wait for a submitter.
TEST(net_transport, submitters_look_now_and_then_where_a_thread_wakes) {
  for (const bool wakes : {false, true}) {
    full_engine::notes notes;
    weft::net::transport one(std::make_unique<full_engine>(notes, wakes), g_nobody);
    const auto looks_of = [&](std::uint32_t count) {
      const int before = notes.looks;
      for (std::uint32_t i = 0; i != count; ++i) {
        one_operation op(3, i);
        one.submit(op);
        EXPECT_TRUE(op.is_over) << "the engine ends it at once";
        EXPECT_EQ(one.in_flight(), 0U);
      }
      return notes.looks - before;
    };
    EXPECT_EQ(looks_of(16), wakes ? 2 : 16);
    EXPECT_EQ(looks_of(5), wakes ? 0 : 5);
    EXPECT_EQ(one.progress(1), 0U);
    EXPECT_EQ(looks_of(7), wakes ? 0 : 7) << "the look of progress() counts";
    EXPECT_EQ(looks_of(1), 1);
    notes.is_full[1] = true;
    one_operation waits(1, 99);
    one.submit(waits);
    EXPECT_EQ(one.in_flight(), 1U);
    if (wakes) // then the service leaves it, and no other thread looks
      until([] { return !weft_net::poller::of_process().has_service(); });
    const int before = notes.looks;
    one_operation op(3, 0);
    one.submit(op);
    if (wakes) { // else each has looked above, and the service may be about to
      EXPECT_GT(notes.looks, before) << "an operation waits, so every submitter looks";
    }
    notes.is_full[1] = false;
    until([&] {
      one.progress(1);
      return one.in_flight() == 0;
    });
    EXPECT_TRUE(waits.is_over);
  }
}

TEST(net_transport, a_loss_is_handed_to_the_engine_once) {
  full_engine::notes notes;
  weft::net::transport one(std::make_unique<full_engine>(notes), g_nobody);
  one.report_lost(2);
  until([&] { return notes.losses == 1; });
  for (std::uint32_t i = 0; i != 10; ++i) {
    one_operation op(1, i);
    one.submit(op);
    until([&] { return op.is_over.load(); });
  }
  EXPECT_EQ(notes.losses, 1) << "later operations look for losses";
}

TEST(net_poller, threads_come_and_go) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([] {
      awaiting own;
      for (int i = 0; i < 300; ++i) {
        own.begin_wait();
        own.to_find = 1;
        while (own.awaited() != 0)
          std::this_thread::yield();
      }
    });
  for (auto &t : threads)
    t.join();
  until([] { return !weft_net::poller::of_process().has_service(); });
}

TEST(net_poller, a_child_of_fork_has_a_service_of_its_own) {
  awaiting one;
  one.begin_wait();
  until([&] { return one.polls > 0; });
  const pid_t child = fork();
  if (child == 0) {
    const int before = one.polls;
    one.begin_wait(); // enters nothing
    awaiting own;
    own.begin_wait();
    until([&] { return own.polls >= 20; });
    own.to_find = 1;
    until([&] { return own.awaited() == 0 && !weft_net::poller::of_process().has_service(); });
    _exit(one.polls == before ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const int before = one.polls;
  until([&] { return one.polls > before; });
  one.to_find = 1;
  until([&] { return one.awaited() == 0; });
}

} // namespace
