// SPDX-License-Identifier: Apache-2.0
// The task-aware part of a context (lpf/talpf.h): messages that are issued at once, and the ends of their
// supersteps, of which several may be under way.
#pragma once

#include "weft_lpf/link.hpp"
#include "weft_lpf/place.hpp"
#include "weft_lpf/slot_table.hpp"
#include "weft_lpf/sync/completion_count.hpp"
#include "weft_lpf/sync/issue_count.hpp"

#include <lpf/core.h>

#include <weft/block.hpp>
#include <weft/net/transport.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft_lpf {

/// Says which senders wait for an acknowledgement of their receivers, where a superstep ends without a
/// barrier (lpf.acknowledge).
enum class acknowledge : std::uint8_t { one_way, all, never };

/// Is what ends with a message or a superstep: an event of a task, or the wait of a thread.
struct holder {
  struct wait {
    weft::event over;
    bool good = false;
  };
  weft::task_ref task{};
  bool is_task = false;
  std::shared_ptr<wait> thread;
};

struct tail;

/// Holds the messages and supersteps of one process in one context.
///
/// Threads. Any. No lock is held over a call of the transport, because it may call back.
class steps final : public step_listener, public std::enable_shared_from_this<steps> {
 public:
  /// `below` is null where there is one process. `slots` and `slots_lock` outlive close().
  steps(link *below, std::uint64_t context, const place &where, slot_table &slots,
        std::mutex &slots_lock);
  ~steps();
  /// Begins to take what arrives, from now on and from before. Errors. std::bad_alloc, std::runtime_error.
  void open();

  enum class kind : std::uint8_t { put, get, fetch_add, compare_swap };
  /// Is a message as its caller describes it. For a put, `own` is the source, for the others the target.
  struct request {
    kind what = kind::put;
    std::size_t own_slot = 0, own_offset = 0;
    unsigned pid = 0;
    std::size_t slot = 0, offset = 0, bytes = 0;
    std::uint64_t value = 0, expected = 0;
    bool is_counted = false; // by slots, and in no superstep
    const char *name = nullptr; // in messages; null: that of talpf.h
  };
  /// Issues a message; the running task ends behind it. Returns false after a failure. Errors.
  /// std::bad_alloc.
  bool issue(const request &asked);
  /// Ends the superstep: the running task ends behind it, and a thread waits. Returns false after a
  /// failure. Errors. std::bad_alloc, weft::error.
  bool sync(std::uint32_t attributes);
  /// Returns the number of the superstep that messages belong to now.
  [[nodiscard]] std::uint64_t now();
  [[nodiscard]] bool has_failed() const noexcept { return m_has_failed; }

  /// Counts the messages of a slot of this process, or of all, that are counted by slots.
  struct slot_counts {
    std::uint64_t begun = 0; ///< puts from the memory, and gets and atomic operations into it
    std::uint64_t sent = 0, got = 0; ///< of these, the puts and the others that have ended
    std::uint64_t received = 0; ///< puts of other processes that have come
  };
  static constexpr std::size_t k_all_slots = SIZE_MAX;
  [[nodiscard]] slot_counts counts_of(std::size_t slot);
  /// Waits until all have ended that were begun, and so many puts were sent and received. `what` says so in reports.
  /// Returns false after a failure. Errors. std::bad_alloc, weft::error.
  bool wait_for_counts(const std::string &what, std::size_t slot, std::uint64_t sent,
                       std::uint64_t received, bool all_begun);
  /// Waits until all that are counted by slots have arrived, and have been counted there. Returns and errors. As
  /// wait_for_counts().
  bool settle();
  /// Takes what has come, or much of it.
  void progress() noexcept;

  /// Names, while it lives, a lock for which the one thread that waits for counts tries again and again.
  class lock_wait {
   public:
    /// Errors. std::bad_alloc, weft::error.
    lock_wait(steps &of, std::size_t slot, unsigned pid);
    lock_wait(const lock_wait &) = delete;
    lock_wait &operator=(const lock_wait &) = delete;
    ~lock_wait();
    /// Lets others run, longer from time to time.
    void pause() noexcept;

   private:
    friend class steps;
    steps &m_of;
    weft::event m_never; // so that the pause has a name
    std::string m_what, m_owner, m_who;
    int m_pauses = 0;
  };

  /// Waits until all messages of this process have arrived. Returns false after a failure.
  bool finish() noexcept;
  /// Waits, in a context that has failed, until no message to or from memory of this process is under way: the caller may free
  /// it next. Returns false.
  bool wait_for_calm() noexcept;
  /// Ends all: nothing is listened to any more.
  void close() noexcept;
  /// Forgets where slot of other processes are, because it is registered no more.
  void forget_slot(std::size_t slot) noexcept;
  /// Forgets where a slot of another process is, because it may be registered anew.
  void forget_remote(std::size_t slot) noexcept;
  /// Returns whether this is a child of fork(), and the context has failed then, with a message.
  bool is_in_child() noexcept;

  // ---- of the link
  void has_come(int from, std::uint64_t what) noexcept override;
  void message(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override;
  void failed(int lost) noexcept override;
  void has_ended(int process) noexcept override;
  void exits() noexcept override;
  void add_waits(std::vector<weft::layer::outside_wait> &to, waits which, locks how) override;

 private:
  enum class mode : std::uint8_t { standard, cached, counted };
  enum class phase : std::uint8_t { open, counts, data, thanks, barrier };
  struct record;
  struct counts_cache;
  enum class own_part : std::uint8_t { under_way, is_flushed, is_over };
  struct own_message;
  struct last_flush : weft::net::operation {
    std::shared_ptr<steps> owner; // while it is under way
  };
  struct remote;
  using record_ref = std::shared_ptr<record>;
  /// Collects, with the lock, what is to be done without it.
  struct agenda {
    struct letter {
      unsigned to;
      std::uint32_t id;
      std::vector<std::byte> bytes;
    };
    std::vector<letter> letters;
    std::vector<holder> over;
    std::shared_ptr<holder::wait> counter; // the thread that waits for counts is to look; that needs no memory
    std::vector<own_message *> found;
    std::string failure;
    std::size_t waits_over = 0;
  };

  // With the lock:
  void hide_memory() noexcept;
  [[nodiscard]] bool is_calm() const noexcept;
  record_ref &record_of(std::uint64_t step);
  /// Returns the record for what arrives with a number; null if the superstep is over.
  record_ref arriving(std::uint32_t sent);
  void list(own_message &one) noexcept;
  void unlist(own_message &one) noexcept;
  void add_waits_of(const record &one, std::vector<weft::layer::outside_wait> &to) const;
  void come_with_lock(const record_ref &one, unsigned from, std::uint64_t what, agenda &to_do);
  [[nodiscard]] bool has_surplus(const record &one, unsigned first, unsigned last,
                                 agenda &to_do) const;
  void begin_counts(const record_ref &one, agenda &to_do);
  void send_round(const record_ref &one, agenda &to_do);
  void advance_counts(const record_ref &one, agenda &to_do);
  void know_counts(const record_ref &one, agenda &to_do);
  void have_counts(const record_ref &one, agenda &to_do);
  void send_thanks(const record_ref &one, agenda &to_do);
  void have_data(const record_ref &one, agenda &to_do);
  void have_thanks(const record_ref &one, agenda &to_do);
  void send_beat(const record_ref &one, agenda &to_do);
  void advance_barrier(const record_ref &one, agenda &to_do);
  void end(const record_ref &one, agenda &to_do);
  void take_counts(std::span<const std::byte> payload, agenda &to_do);
  void count(std::size_t slot, std::uint64_t slot_counts::*which, agenda &to_do);
  void take_slot(unsigned from, std::span<const std::byte> payload, agenda &to_do);
  void answer_slot(unsigned from, std::span<const std::byte> payload, agenda &to_do);
  [[nodiscard]] std::string name_of(const record &one) const;

  void act(agenda &to_do) noexcept;
  void fail(const std::string &why) noexcept;
  void fail_all(int lost) noexcept;
  void end_in_flight() noexcept;
  void end_own_part() noexcept;
  void flush_next() noexcept;
  void look_for_calm() noexcept;
  void look_for_end() noexcept; // with the lock
  void wait_for_end() noexcept;
  void wait_until(const weft::event &over) noexcept;
  static void flush_ended(weft::net::operation &self) noexcept;
  [[nodiscard]] std::exception_ptr failure() const;
  void release(const holder &held, bool good) noexcept;
  void end_own(own_message *one) noexcept;
  void copy_own(own_message &one);
  void start(own_message *one) noexcept;
  void submit(weft::net::operation &op) noexcept;
  void send_count(const request &sent) noexcept;
  void submit_flush(unsigned to, std::unique_ptr<tail> behind) noexcept;
  void wake_counter(agenda &to_do) noexcept;
  static void part_ended(weft::net::operation &self) noexcept;
  static void tail_ended(weft::net::operation &self) noexcept;
  [[nodiscard]] unsigned rounds() const noexcept;
  [[nodiscard]] bool is_traced() const noexcept { return m_link && m_link->is_traced(); }
  [[nodiscard]] std::string who() const { return "process " + std::to_string(m_where.pid); }

  link *const m_link;
  const std::uint64_t m_context;
  const place m_where;
  const std::size_t m_chunk;
  const acknowledge m_acknowledge;
  const bool m_checks;
  slot_table &m_slots;
  std::mutex &m_slots_lock;

  std::deque<issue_count<>> m_issued; // by process
  std::atomic<std::size_t> m_in_flight{0}; // messages of this process, and what follows them
  std::atomic<bool> m_has_failed{false};
  std::atomic<bool> m_awaits_end{false}; // finish() was called
  std::atomic<int> m_lost{-1}; // the process whose loss was the failure
  std::vector<std::atomic<bool>> m_is_used; // by process: messages were sent to it
  // Of the thread of the process:
  std::vector<bool> m_is_put_to; // by process: counted puts were, since settle()
  bool m_has_counted = false; // messages, since settle()

  std::mutex m_lock; // of what follows
  std::uint64_t m_now = 1; // the superstep of messages that are issued
  std::map<std::uint64_t, record_ref> m_records; // of supersteps that are not over
  std::shared_ptr<counts_cache> m_cache;
  std::map<std::pair<std::size_t, unsigned>, remote> m_remotes; // by slot and process
  own_message *m_first_own = nullptr; // those that have not ended
  std::map<std::size_t, slot_counts> m_counts; // by slot
  std::shared_ptr<holder::wait> m_count_wait; // of the one thread that waits for counts
  std::string m_count_wait_for;
  const lock_wait *m_lock_wait = nullptr; // of the same thread
  weft::event *m_end = nullptr; // of the caller of finish(), while it waits
  bool m_is_closed = false, m_is_broken = false;
  // Of a context that has failed, until it is calm:
  const bool m_outlives; // an engine's operations outlive the registration of their memory
  bool m_exits = false, m_was_calm = false;
  own_part m_own_part = own_part::under_way; // messages of this process
  std::vector<bool> m_knows, m_has_ended; // by process: it may send to memory of this one; it sends nothing more
  std::map<std::uint64_t, record_ref> m_failed_records;
  own_message *m_first_failed = nullptr; // those whose tasks wait for calm
  weft::event m_calm;
  last_flush m_flush;
  unsigned m_flush_next = 0; // process
};

} // namespace weft_lpf
