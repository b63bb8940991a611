// SPDX-License-Identifier: Apache-2.0
// White-box: what the end of a link waits for.
#include "weft_lpf/link.hpp"
#include "weft_lpf/slot_table.hpp"
#include "weft_lpf/steps.hpp"

#include <weft/net/inproc.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace net = weft::net;
using weft_lpf::link;
using weft_lpf::slot_kind;
using weft_lpf::slot_table;
using weft_lpf::steps;

constexpr std::uint64_t k_context = 1;
constexpr int k_late = 100; // calls of progress()

struct flushes {
  int ended = 0, lost = 0; // lost: their engine was closed before
  std::atomic<bool> is_held{false}; // none ends
};

/// Is an engine whose operations outlive the registration of their memory, and whose flushes take long.
class late_engine final : public net::engine {
 public:
  late_engine(std::unique_ptr<net::engine> below, flushes &of)
      : m_below(std::move(below)), m_flushes(of), m_caps(m_below->caps()) {
    m_caps.refuses_removed = false;
  }
  const net::capabilities &caps() const noexcept override { return m_caps; }
  int rank() const noexcept override { return m_below->rank(); }
  int size() const noexcept override { return m_below->size(); }
  void attach(net::engine_events *to) noexcept override {
    if (!to && m_late) {
      ++m_flushes.lost;
      m_events->end(*std::exchange(m_late, nullptr), net::outcome::closed);
    }
    m_events = to;
    m_below->attach(to);
  }
  net::memory_key add_memory(void *begin, std::size_t bytes) override {
    return m_below->add_memory(begin, bytes);
  }
  void remove_memory(const net::memory_key &key) noexcept override { m_below->remove_memory(key); }
  void lose(int rank) noexcept override { m_below->lose(rank); }
  bool begin(net::operation &op) noexcept override {
    if (op.what != net::action::flush)
      return m_below->begin(op);
    if (m_late)
      return false;
    m_late = &op;
    m_left = k_late;
    return true;
  }
  std::size_t progress(std::size_t budget) noexcept override {
    if (m_late && !m_flushes.is_held && --m_left == 0) {
      ++m_flushes.ended;
      m_events->end(*std::exchange(m_late, nullptr), net::outcome::done);
    }
    return m_below->progress(budget);
  }

 private:
  const std::unique_ptr<net::engine> m_below;
  flushes &m_flushes;
  net::capabilities m_caps;
  net::engine_events *m_events = nullptr;
  net::operation *m_late = nullptr;
  int m_left = 0;
};

/// Is the steps of a process, and sees which of the others have said that their messages have ended.
struct watched_steps final : weft_lpf::step_listener {
  explicit watched_steps(std::shared_ptr<steps> all) : of(std::move(all)) {}
  void has_come(int from, std::uint64_t what) noexcept override { of->has_come(from, what); }
  void message(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override {
    of->message(from, id, payload);
  }
  void failed(int lost) noexcept override { of->failed(lost); }
  void has_ended(int process) noexcept override {
    has_ended_of = process;
    of->has_ended(process);
  }
  void exits() noexcept override { of->exits(); }
  void add_waits(std::vector<weft::layer::outside_wait> &to, waits which, locks how) override {
    of->add_waits(to, which, how);
  }
  const std::shared_ptr<steps> of;
  int has_ended_of = -1;
};

/// Is a process of a job of two.
struct process {
  process(const net::inproc_world &world, unsigned pid, flushes &of)
      : connected(std::make_unique<link>(
            std::make_unique<late_engine>(world.make_engine(static_cast<int>(pid)), of),
            link::messages::traced)),
        slots(pid), memory(4, static_cast<int>(pid)),
        all(std::make_shared<steps>(connected.get(), k_context, weft_lpf::place{pid, 2, 2, 0}, slots,
                                    slots_lock)),
        listener(std::make_shared<watched_steps>(all)) {
    slots.reserve(1);
    slot = slots.add(slot_kind::global, memory.data(), sizeof memory[0] * memory.size());
    connected->listen(k_context, 2, listener);
  }
  std::unique_ptr<link> connected;
  slot_table slots;
  std::mutex slots_lock;
  std::vector<int> memory;
  std::size_t slot = 0;
  std::shared_ptr<steps> all;
  std::shared_ptr<watched_steps> listener;
};

TEST(Link, WaitsForTheLastFlushOfAContextThatFailsWhenItIsClosed) {
  flushes of_sender, of_receiver;
  const net::inproc_world world(2);
  process sender(world, 0, of_sender), receiver(world, 1, of_receiver);
  steps::request put;
  put.own_slot = put.slot = sender.slot;
  put.pid = 1;
  put.bytes = sizeof(int);
  ASSERT_TRUE(sender.all->issue(put));
  while (receiver.memory[0] != 0) {
    receiver.connected->below().progress(1);
    sender.connected->below().progress(1);
  }
  ASSERT_TRUE(sender.all->finish());
  EXPECT_EQ(of_sender.ended, 1);
  sender.all->close();
  sender.all->failed(-1); // as when another process fails then
  EXPECT_EQ(of_sender.ended, 1) << "the last flush is under way";
  sender.connected.reset();
  EXPECT_EQ(of_sender.lost, 0);
  EXPECT_EQ(of_sender.ended, 2);
  for (int i = 0; i != k_late; ++i)
    receiver.connected->below().progress(1);
  EXPECT_EQ(receiver.listener->has_ended_of, 0) << "the notice has not come";
  receiver.all->close();
}

// With one worker, which another task needs so that the last message can arrive.
TEST(Link, LeavesTheWorkerToOthersAtTheEndOfAFunction) {
  flushes of_sender, of_receiver;
  const net::inproc_world world(2);
  process sender(world, 0, of_sender), receiver(world, 1, of_receiver);
  of_sender.is_held = true;
  steps::request put;
  put.own_slot = put.slot = sender.slot;
  put.pid = 1;
  put.bytes = sizeof(int);
  ASSERT_TRUE(sender.all->issue(put));
  while (receiver.memory[0] != 0) {
    receiver.connected->below().progress(1);
    sender.connected->below().progress(1);
  }
  bool is_whole = false;
  weft::spawn([&] {
    weft::spawn([&] { of_sender.is_held = false; });
    is_whole = sender.all->finish();
    weft::taskwait();
  });
  weft::taskwait();
  EXPECT_TRUE(is_whole);
  EXPECT_EQ(of_sender.ended, 1);
  sender.all->close();
  receiver.all->close();
}

/// Returns another context with the same tag.
std::uint64_t with_the_tag_of(std::uint64_t context) {
  constexpr std::uint64_t k_factor = 0xff51afd7ed558ccdU; // of link::tag_of()
  std::uint64_t inverse = k_factor; // Newton's method: the bits that are right double
  for (int i = 0; i != 6; ++i)
    inverse *= 2 - k_factor * inverse;
  const std::uint64_t hash = (context ^ (context >> 33)) * k_factor;
  const std::uint64_t other = (hash ^ (std::uint64_t{1} << 31)) * inverse;
  return other ^ (other >> 33);
}

/// Counts what comes.
struct counting_listener final : weft_lpf::step_listener {
  void has_come(int, std::uint64_t) noexcept override { ++come; }
  void message(int, std::uint32_t, std::span<const std::byte>) noexcept override { ++come; }
  void failed(int) noexcept override {}
  void has_ended(int) noexcept override {}
  void exits() noexcept override {}
  void add_waits(std::vector<weft::layer::outside_wait> &, waits, locks) override {}
  int come = 0;
};

TEST(Link, DropsWhatComesLateForAContextThatHasFailed) {
  const net::inproc_world world(2);
  link sender(world.make_engine(0), link::messages::traced);
  link receiver(world.make_engine(1), link::messages::traced);
  const auto send = [&](std::uint64_t context) {
    sender.send_step(1, context, 0, {}, "test", 0);
    net::operation notification;
    notification.what = net::action::put_notify;
    notification.rank = 1;
    notification.id = link::tag_of(context);
    notification.count = 1;
    notification.ended = [](net::operation &) noexcept {};
    sender.start(notification);
    while (notification.result == net::outcome::pending || receiver.below().in_flight() != 0) {
      sender.below().progress(8);
      receiver.below().progress(8);
    }
  };
  const auto come = [&](std::uint64_t context) {
    const auto counts = std::make_shared<counting_listener>();
    receiver.listen(context, 2, counts);
    receiver.forget(context);
    return counts->come;
  };
  // What comes before a context is open is kept, unless it has failed and is over.
  send(7);
  EXPECT_EQ(come(7), 2);
  receiver.fail(7, 2, link::reads::none);
  send(7);
  EXPECT_EQ(come(7), 2) << "it may be opened yet";
  send(7);
  EXPECT_EQ(come(7), 0);
  // The next one with its tag could not tell what is its own.
  const std::uint64_t other = with_the_tag_of(7);
  ASSERT_NE(other, 7U);
  ASSERT_EQ(link::tag_of(other), link::tag_of(7));
  EXPECT_THROW(come(other), std::runtime_error);
  send(8);
  EXPECT_EQ(come(8), 2);
}

} // namespace
