// SPDX-License-Identifier: Apache-2.0
// Unstable: the transport, which is what the layers of communication share, and the engines below
// it. Programs use weft/net.hpp. Changes with any version.
#pragma once

#include <weft/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weft::inline v0 {
namespace net {

/// Names registered memory of a rank to all ranks of the job. A value of bytes, which may be sent; no
/// memory has zeros.
struct memory_key {
  std::uint64_t words[4] = {}; ///< for the engine that made it
  friend bool operator==(const memory_key &,
                         const memory_key &) noexcept = default; ///< the same memory
};

/// Says what an operation does.
enum class action : std::uint8_t {
  put, ///< copies `local` to the memory of the rank
  get, ///< copies the memory of the rank to `local`
  fetch_add, ///< adds `value` to 8 bytes of the rank; `value` is then what was there before
  compare_swap, ///< stores `value` in 8 bytes of the rank if they are `expected`; `value` as above
  put_notify, ///< a put, and behind it `count` notifications `id`; without `bytes` only these
  message, ///< an active message: the listener of the rank gets `id` and a copy of `local`
  fence, ///< what comes later arrives at the rank after what came before
  flush, ///< ends when all that came before has arrived at the rank
};

/// Says how an operation has ended.
enum class outcome : std::uint8_t {
  pending, ///< it has not
  done, ///< the source may be used again; a get or an atomic operation has its result
  rank_lost, ///< the rank is lost, or the caller's own
  bad_memory, ///< outside of registered memory, no longer registered, or not aligned
  too_long, ///< a message of more bytes than capabilities::most_message
  closed, ///< the transport ended first
};

/// Describes one operation. The caller owns it, and leaves it alone from submit() to the call of
/// `ended`, which is the transport's last use of it.
struct operation {
  action what = action::fence; ///< what it does
  outcome result = outcome::pending; ///< how it ended
  std::uint32_t id = 0; ///< of the notification or the message
  int rank = 0; ///< the other rank; the caller's own is allowed
  void *local = nullptr; ///< the caller's memory; for an active message, what is sent
  std::size_t bytes = 0; ///< its size
  memory_key key; ///< memory of the other rank
  std::uint64_t offset = 0; ///< bytes from its begin
  std::uint64_t value = 0; ///< of an atomic operation: operand, then result
  std::uint64_t expected = 0; ///< of a compare_swap
  std::uint64_t count = 0; ///< notifications
  /// Is called once, by a thread inside the engine: it may submit, but not wait or throw.
  void (*ended)(operation &self) noexcept = nullptr;
  operation *next = nullptr; ///< for the transport
};

/// Says what an engine can do.
struct capabilities {
  const char *name = ""; ///< of the engine, as in `weft info`
  bool native_notify = false; ///< a notification needs no message of its own
  bool needs_target_progress = false; ///< puts and gets arrive only while the target polls
  bool ordered = false; ///< operations arrive in the order of submission, also without a fence
  bool detects_loss = false; ///< the engine reports lost ranks
  bool refuses_removed = false; ///< memory is out of reach as soon as remove_memory() has returned
  bool wakes = false; ///< a thread of the engine calls engine_events::serve() when something comes
  std::size_t most_message = 0; ///< bytes of an active message
};

/// Receives what arrives at a rank. All calls but expect() come from a thread inside the engine:
/// they may submit, but not wait or throw.
class listener {
 public:
  /// Takes an active message. `payload` is valid during the call.
  virtual void arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept = 0;
  /// Takes `count` notifications. The data that they came with are there. Each put_notify makes one call,
  /// with its count.
  virtual void notified(int from, std::uint32_t id, std::uint64_t count) noexcept = 0;
  /// Learns that a rank is lost, once for each. Its operations have ended before.
  virtual void lost(int rank) noexcept = 0;

 protected:
  ~listener() = default;
};

/// Is what an engine reports to.
class engine_events : public listener {
 public:
  /// Ends an operation that engine::begin() has taken.
  virtual void end(operation &op, outcome how) noexcept = 0;
  /// Notes that engine::progress() of this rank will find something. Any thread.
  virtual void expect() noexcept = 0;
  /// Notes that one thing was found that expect() has announced. Any thread.
  virtual void found() noexcept = 0;
  /// Goes inside, unless another thread is there, and calls engine::progress(). For a thread of the
  /// engine that waits for its network while no other thread polls.
  virtual void serve() noexcept = 0;

 protected:
  ~engine_events() = default;
};

/// Moves the data of one rank. The transport calls begin(), progress() and attach() from one thread
/// at a time; the others may be called by any thread at any time. None waits.
class engine {
 public:
  virtual ~engine() = default;
  /// Returns what the engine can do. It does not change.
  [[nodiscard]] virtual const capabilities &caps() const noexcept = 0;
  [[nodiscard]] virtual int rank() const noexcept = 0; ///< the number of this rank
  [[nodiscard]] virtual int size() const noexcept = 0; ///< the number of ranks
  /// Sets where events go, before all else. Null: ends the operations that were begun, as closed;
  /// afterwards the engine reports nothing.
  virtual void attach(engine_events *to) noexcept = 0;
  /// Registers memory. Errors. out_of_resources.
  virtual memory_key add_memory(void *begin, std::size_t bytes) = 0;
  /// Ends a registration. No operation of another rank uses the memory afterwards.
  virtual void remove_memory(const memory_key &key) noexcept = 0;
  /// Returns fresh memory that is registered, which remove_memory() frees; null if the engine has no
  /// memory of its own that is faster than the caller's. The bytes are zero.
  ///
  /// Errors. out_of_resources.
  virtual void *add_fresh_memory(std::size_t bytes, memory_key &key) {
    static_cast<void>(bytes);
    static_cast<void>(key);
    return nullptr;
  }
  /// Names the ranks that share this process: it is the same for all of them. Null: this one is alone.
  [[nodiscard]] virtual const void *world() const noexcept { return nullptr; }
  /// Returns by what a rank is reached, for people. The caller is inside.
  [[nodiscard]] virtual std::string path_to(int rank) {
    static_cast<void>(rank);
    return caps().name;
  }
  /// Learns from outside that a rank is lost. The engine ends the operations to it that were begun, and
  /// reports the loss, once, also of a rank that has ended its engine in order. The caller is inside.
  virtual void lose(int rank) noexcept { static_cast<void>(rank); }
  /// Begins an operation; it may end during the call. Returns false, and has done nothing, while
  /// there is no room for it.
  virtual bool begin(operation &op) noexcept = 0;
  /// Ends operations and receives what has arrived, at most `budget` of each. Returns how much has
  /// arrived.
  virtual std::size_t progress(std::size_t budget) noexcept = 0;
};

/// Lets all threads of a rank use an engine, of which one thread at a time is inside. The other
/// threads leave their operations to that thread, and go on.
///
/// - Operations of one thread to one rank are begun in their order. They arrive in any order,
///   unless the engine is `ordered` or a fence is between them.
/// - An operation for which the engine has no room waits in a queue of its rank, which needs no
///   memory; later ones to the same rank wait behind it.
/// - While operations are in flight, or something is expected, one polling service of the process
///   makes progress for all transports. It ends when nothing is left, or when nothing has come for a
///   while and the engines wake by themselves.
///
/// Threads. Any, but for constructor and destructor.
/// Processes. A child of fork() has a copy, which does nothing: operations end as closed, memory and paths are refused
/// (not_supported), and the network stays the parent's.
class WEFT_API transport {
 public:
  /// Takes the engine over. `to` outlives the transport.
  transport(std::unique_ptr<engine> below, listener &to);
  transport(const transport &) = delete;
  transport &operator=(const transport &) = delete;
  ~transport(); ///< closes it
  /// Ends what is in flight, as closed, and what is submitted later. The listener learns of nothing
  /// more. No thread is in a call of the transport.
  void close() noexcept;

  [[nodiscard]] bool is_own() const noexcept; ///< whether this process has made it, and not a parent
  [[nodiscard]] int rank() const noexcept; ///< the number of this rank
  [[nodiscard]] int size() const noexcept; ///< the number of ranks
  [[nodiscard]] const capabilities &caps() const noexcept; ///< of the engine
  [[nodiscard]] bool is_lost(int rank) const noexcept; ///< whether a rank was reported as lost

  /// Registers memory for operations of all ranks, until remove_memory(). The caller tells the other
  /// ranks the key.
  ///
  /// Errors. out_of_resources.
  [[nodiscard]] memory_key add_memory(void *begin, std::size_t bytes);
  /// Registers memory that the engine allocates; null if it has none of its own. As
  /// engine::add_fresh_memory().
  [[nodiscard]] void *add_fresh_memory(std::size_t bytes, memory_key &key);
  /// Ends a registration. Operations on the memory that come later end with bad_memory if the engine
  /// `refuses_removed`; with others, no operation on it is in flight any more.
  void remove_memory(const memory_key &key) noexcept;

  /// Returns by what a rank is reached, as the engine calls it: "inproc", "posix/memory".
  [[nodiscard]] std::string path_to(int rank);

  /// Reports that a rank is lost, from outside of the engine: what started the ranks has noticed it.
  /// Any thread; more than once is harmless.
  void report_lost(int rank) noexcept;

  /// Starts an operation, whose arguments are set. Never waits; `ended` may be called before it
  /// returns. An operation to a lost rank ends at once.
  ///
  /// Cost. An atomic operation, and what the engine takes if no thread is inside.
  /// Errors. invalid_argument for a rank that does not exist; then `ended` is not called.
  /// out_of_resources and shut_down when the polling service cannot be made; the operation is in
  /// flight then.
  void submit(operation &op);

  /// Makes progress: ends operations and receives, some `budget` of each. Returns how many of both; 0
  /// while another thread is inside.
  std::size_t progress(std::size_t budget) noexcept;

  /// Keeps the polling service going until end_wait(): the caller waits for something that a listener
  /// will be given.
  ///
  /// Errors. out_of_resources and shut_down; then it is as before.
  void begin_wait();
  void end_wait() noexcept; ///< ends what begin_wait() has begun

  /// Returns how many operations, waits and arrivals are in flight at this rank.
  [[nodiscard]] std::size_t in_flight() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> m_state;
};

} // namespace net
} // namespace weft::inline v0
