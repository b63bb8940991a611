// SPDX-License-Identifier: Apache-2.0
// How a process reaches the others: streams of bytes that belong to a superstep, reads of memory, and
// failures.
#pragma once

#include <weft/layer/outside_wait.hpp>
#include <weft/net/message_trace.hpp>
#include <weft/net/stall.hpp>
#include <weft/net/transport.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace weft_lpf {

inline constexpr int k_any_process = -1; ///< in traces
inline constexpr std::size_t k_batch = 64; ///< most messages that one look at the transport ends

/// Names a superstep: the context, and the number of the superstep in it.
struct superstep {
  std::uint64_t context = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const superstep &, const superstep &) = default;
};

/// Returns the number of a superstep for people, who count from 1.
[[nodiscard]] constexpr std::uint32_t traced_number(const superstep &step) noexcept {
  return static_cast<std::uint32_t>(step.number) + 1;
}

/// Returns what names a superstep in traces: its number in 24 bits, and above them a mark of its context, because
/// contexts that were made in each other count by themselves. Readers: tools/weft/trace/rank_traces.cpp.
[[nodiscard]] std::uint32_t traced_step(std::uint64_t context, std::uint32_t number) noexcept;

/// Is what a process sends to another one in a superstep, each at most once. They are also the numbers of
/// the messages.
enum class stream : std::uint32_t {
  requests, ///< puts, and what gets ask for
  answers, ///< of gets
  thanks, ///< "I have read your memory": without bytes
  order, ///< of process 0 to one that waits for orders; it belongs to no superstep
};
inline constexpr std::size_t k_streams = 4;

/// Holds what comes in a superstep.
struct mail {
  explicit mail(std::size_t ranks) : reads_of(ranks) {
    for (auto &s : from)
      s.resize(ranks);
  }
  struct letter {
    std::vector<std::byte> bytes;
    std::size_t come = 0; // bytes
    bool is_whole = false;
  };
  std::vector<letter> from[k_streams]; // by stream and process
  std::size_t whole[k_streams] = {}; // letters that are complete
  std::size_t reads = 0; // that are under way
  std::vector<std::size_t> reads_of; // of these, by process
  bool has_failed_read = false;
};

/// Takes what arrives for the task-aware part of a context (steps.hpp). No lock of the link is held.
class step_listener {
 public:
  /// Takes a message of a superstep: `what` is as its sender wrote it.
  virtual void has_come(int from, std::uint64_t what) noexcept = 0;
  /// Takes what send_step() has sent.
  virtual void message(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept = 0;
  /// Learns that the context has failed. `lost` is the process whose loss it is, or -1.
  virtual void failed(int lost) noexcept = 0;
  /// Learns that a process has failed in it, and that none of its messages is under way any more.
  virtual void has_ended(int process) noexcept = 0;
  /// Learns that this process exits: the context has failed, and nothing waits any more.
  virtual void exits() noexcept = 0;
  /// Says what is listed: what supersteps wait for, or also what messages do.
  enum class waits : std::uint8_t { of_supersteps, of_messages_too };
  /// Says whether the caller waits for locks. Their owners may stand still.
  enum class locks : std::uint8_t { taken, tried };
  /// Appends what is waited for.
  virtual void add_waits(std::vector<weft::layer::outside_wait> &to, waits which, locks how) = 0;

 protected:
  ~step_listener() = default;
};

/// Joins one process with the others of its job, and serves all of its contexts.
///
/// Threads. One at a time, the process's; what arrives is handled by any thread.
class link final : weft::net::listener,
                   weft::net::stall_watched,
                   weft::layer::outside_waits {
 public:
  /// Says whether the messages are recorded where a trace is written. Those of processes within a process of
  /// another link are not, because a number of a process is to mean one process in a trace.
  enum class messages : std::uint8_t { traced, within_a_process };
  /// `places` says where processes are, or is empty. Errors. Those of net::transport.
  link(std::unique_ptr<weft::net::engine> below, messages how,
       std::vector<std::string> places = {});
  link(const link &) = delete;
  link &operator=(const link &) = delete;
  ~link(); ///< waits until what was sent is on its way

  /// Returns whether this process has made it. A child of fork() has a copy, whose threads and network are its parent's.
  [[nodiscard]] bool is_own() const noexcept { return m_below.is_own(); }
  /// Says in a child of fork() whose the link is.
  [[nodiscard]] std::string refusal() const;
  [[nodiscard]] int rank() const noexcept { return m_below.rank(); }
  [[nodiscard]] int size() const noexcept { return m_below.size(); }
  [[nodiscard]] weft::net::transport &below() noexcept { return m_below; }
  /// Returns the number of a process, and where it is, if that is known.
  [[nodiscard]] std::string name_of(int process) const;

  /// Returns the place of what comes in a superstep, until drop().
  [[nodiscard]] mail &mail_of(const superstep &step);
  void drop(const superstep &step) noexcept;

  /// Sends a stream, of which `data` bytes are those of puts and gets. Returns the number of messages. Errors.
  /// std::bad_alloc.
  std::size_t send(int to, const superstep &step, stream what, std::span<const std::byte> bytes,
                   std::size_t data = 0);
  /// Sends an order to the processes 1 to `count` - 1: to all of them or, without memory, to none. Errors. std::bad_alloc.
  void send_order(std::uint64_t name, int count, std::span<const std::byte> bytes);
  /// Starts to read memory of another process, in a superstep, in parts. Returns how many. Errors.
  /// std::bad_alloc.
  std::size_t read(const superstep &step, int from, const weft::net::memory_key &key,
                   std::uint64_t offset, void *to, std::size_t bytes);
  /// @{ Waits until the streams of a kind have come from some processes, or until no read is under way. Returns
  /// false if the context has failed before. `processes` is the number of those that it has.
  [[nodiscard]] bool wait_for(const superstep &step, int processes, stream what,
                              const std::vector<bool> &from);
  [[nodiscard]] bool wait_for_reads(const superstep &step, int processes);
  /// @}

  /// Waits for an order, and returns it; nothing if process 0 is lost.
  [[nodiscard]] std::optional<std::vector<std::byte>> wait_for_order();
  /// Reports that a process is lost, from outside of the engine. Any thread.
  void report_lost(int which) noexcept { m_below.report_lost(which); }

  // ---- the task-aware part of contexts
  /// Returns what names a context in notifications.
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t context) noexcept;
  /// Hands what arrives for a context to `to`, until forget(): also what has come before, a failure included. Errors.
  /// std::bad_alloc; std::runtime_error if the tag is taken.
  void listen(std::uint64_t context, int processes, std::shared_ptr<step_listener> to);
  /// Sends a message of at most most_step_bytes(), which has a name and a superstep in traces. Errors.
  /// std::bad_alloc.
  void send_step(int to, std::uint64_t context, std::uint32_t id, std::span<const std::byte> bytes,
                 const char *name, std::uint32_t step);
  [[nodiscard]] std::size_t most_step_bytes() const noexcept { return m_most_bytes; }
  /// Starts an operation of the caller.
  void start(weft::net::operation &op) noexcept { submit(op); }
  /// Lets the contexts of all links fail here when the process exits, before Weft waits for its tasks: what these wait for may
  /// not come any more. Called in a task: the runtime has its handler for exit() then, which runs behind this one. If the
  /// process is in exit() already, they fail at once.
  static void fail_at_exit();
  /// @{ Keeps the link, whose end waits, and lets it end: the last use of the link.
  void keep() noexcept { ++m_sending; }
  void let_end() noexcept { --m_sending; }
  /// @}
  /// Notes that an operation of start() has ended; inside the engine.
  void note_end() noexcept { note_arrival(); }

  // ---- traces
  [[nodiscard]] bool is_traced() const noexcept {
    return m_messages == messages::traced && weft::layer::traces_messages();
  }
  [[nodiscard]] weft::net::message_trace &trace() noexcept { return m_trace; }
  /// Makes the calling thread one that records, if messages are traced.
  void begin_trace() noexcept;

  /// Says whether this process may be reading memory of others for the lpf_sync() of a context.
  enum class reads : std::uint8_t { none, under_way };
  /// Makes a context fail at all of its processes. Where reads are under way, end_reads() follows.
  void fail(std::uint64_t context, int processes, reads own) noexcept;
  /// Tells the processes of a context that has failed that this one reads their memory no more.
  void end_reads(std::uint64_t context, int processes) noexcept { fail(context, processes, reads::none); }
  /// Tells them that no message of its tasks is under way any more.
  void end_messages(std::uint64_t context, int processes) noexcept {
    send_notice(context, 0, processes, notice::messages_ended);
  }
  /// Waits until some processes read the memory of this one no more, in a context that has failed: they have sent their
  /// thanks, have said so, or are lost.
  void wait_for_readers(const superstep &step, int processes, const std::vector<bool> &who);
  /// Forgets a context that has ended. What still comes for it is dropped if it has failed.
  void forget(std::uint64_t context) noexcept;
  /// Returns a process among the first `processes` that is lost; -1 if there is none.
  [[nodiscard]] int lost_among(int processes);

 private:
  struct waiter {
    superstep step;
    int processes;
    const mail *in;
    stream what;
    std::size_t count; // of streams; k_reads: until there are no reads; k_readers: until there are no readers
    const std::vector<bool> *from; // the processes that send these, or read
    weft::event is_over;
  };
  static constexpr std::size_t k_reads = SIZE_MAX, k_readers = SIZE_MAX - 1;
  /// Is what is known of a context that has failed.
  struct failure {
    std::vector<bool> reads_no_more; // by process; empty: none has said so
    bool is_over = false; // it was forgotten
  };
  using failures = std::map<std::uint64_t, failure>; // by context
  /// Is what processes say to each other about a context.
  enum class notice : std::uint64_t {
    failed, // and the sender reads no memory for its lpf_sync()
    failed_and_reads,
    messages_ended,
  };
  /// Is notices for which there was no memory: one process after the other gets them, by one message.
  struct unsent_notice {
    std::uint64_t context = 0;
    int first = 0, last = 0; // processes
    int next = 0; // of these
    unsigned what = 0; // a bit for each notice
    unsent_notice *behind = nullptr;
    bool is_listed = false;
    bool is_left = false; // to the list: its context is forgotten
  };
  struct own_message;
  struct own_read;
  struct reserve_message;
  struct listening {
    std::uint64_t context;
    int processes;
    std::shared_ptr<step_listener> to;
    failures::node_type its_failure; // so that its failure needs no memory
    std::unique_ptr<unsent_notice> unsent; // so that its notices do not, either
  };
  struct early {
    int from;
    std::uint32_t id; // k_notified: a notification
    std::uint64_t what;
    std::vector<std::byte> payload;
  };

  void append_listeners(std::vector<std::shared_ptr<step_listener>> &to);
  static void fail_all_here();
  void send_notice(std::uint64_t context, int first, int last, notice what) noexcept;
  void send_later(std::uint64_t context, int first, int last, notice what) noexcept;
  void send_unsent() noexcept;
  static void reserve_sent(weft::net::operation &self) noexcept;
  [[nodiscard]] int own() const noexcept override { return rank(); }
  [[nodiscard]] const void *world() const noexcept override { return m_world; }
  [[nodiscard]] std::string waits() override;
  void list_waits(std::vector<weft::layer::outside_wait> &to) override;
  void add_waits(std::vector<weft::layer::outside_wait> &to, step_listener::waits which,
                 step_listener::locks how);
  /// Returns the listener of a tag; null, and what has come is kept for it, if there is none yet.
  std::shared_ptr<step_listener> listener_of(std::uint32_t tag, int from, std::uint32_t id,
                                             std::uint64_t what, std::span<const std::byte> payload);
  void take_notice(std::uint64_t context, int from, notice what) noexcept;

  void arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override;
  void notified(int from, std::uint32_t id, std::uint64_t count) noexcept override;
  void lost(int rank) noexcept override;
  static void message_ended(weft::net::operation &self) noexcept;
  static void read_ended(weft::net::operation &self) noexcept;

  // With the lock:
  mail &mail_with_lock(const superstep &step);
  void take(int from, stream what, const superstep &step, std::uint64_t total, std::uint64_t offset,
            std::span<const std::byte> bytes);
  [[nodiscard]] bool is_failure(std::uint64_t context, int processes) const;
  [[nodiscard]] bool is_tag_of_past(std::uint32_t tag, std::uint64_t but) const noexcept;
  failure *note_failure(std::uint64_t context) noexcept;
  [[nodiscard]] std::map<std::uint32_t, listening>::iterator open_context(std::uint64_t context);
  [[nodiscard]] int lost_with_lock(int processes) const; // as lost_among()
  [[nodiscard]] bool reads_no_more(const waiter &waiting, std::size_t which) const;
  [[nodiscard]] bool has_all(const waiter &waiting) const;
  [[nodiscard]] bool is_over(const waiter &waiting) const;
  void wake();
  void add_own_wait(std::vector<weft::layer::outside_wait> &to, step_listener::waits which) const;

  [[nodiscard]] std::unique_ptr<own_message> make_part(int to, const superstep &step, stream what,
                                                       std::span<const std::byte> bytes,
                                                       std::size_t offset);
  bool wait(waiter &waiting);
  void submit(weft::net::operation &op) noexcept;

  const int m_process = getpid();
  const std::size_t m_most_bytes; // of a stream in one message
  const void *const m_world;
  const std::vector<std::string> m_places; // of processes, or none
  std::mutex m_lock;
  std::map<superstep, mail> m_mail;
  failures m_failed;
  bool m_has_missed = false; // of a context that is not open here, without memory: all that are opened from now on fail
  std::vector<bool> m_lost; // by process
  bool m_has_lost = false;
  waiter *m_waiter = nullptr;
  std::map<std::uint32_t, listening> m_listening; // by tag
  std::map<std::uint32_t, std::vector<early>> m_early; // by tag
  std::deque<std::vector<std::byte>> m_orders;
  std::atomic<std::size_t> m_sending{0}; // messages, and what keep() has counted
  const std::unique_ptr<reserve_message> m_reserve;
  unsent_notice *m_first_unsent = nullptr;
  unsent_notice m_unsent; // of a context that is not open here
  bool m_uses_reserve = false; // m_reserve is under way
  const messages m_messages;
  weft::net::message_trace m_trace;
  link *m_next = nullptr, *m_before = nullptr; // in the list of all links
  weft::net::transport m_below; // the last: messages come from its construction on
};

/// Ends a link; a child of fork() leaves its copy alone.
struct link_end {
  void operator()(link *one) const noexcept {
    if (one->is_own())
      delete one;
  }
};
using link_ptr = std::unique_ptr<link, link_end>;

} // namespace weft_lpf
