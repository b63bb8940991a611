// SPDX-License-Identifier: Apache-2.0
// A team of ranks: operations on each other's memory, notifications, and what all do together.
#pragma once

#include <weft/error.hpp>
#include <weft/future.hpp>
#include <weft/net/memory.hpp>
#include <weft/net/transport.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace net {

/// Reports that a rank is lost, and what therefore cannot end. Its code is errc::rank_lost.
class WEFT_API lost_rank : public error {
 public:
  lost_rank(int rank, const std::string &what); ///< allocates
  lost_rank(const lost_rank &) noexcept = default; ///< copies share the text
  lost_rank &operator=(const lost_rank &) noexcept = default; ///< the same
  ~lost_rank() override;
  [[nodiscard]] int rank() const noexcept { return m_rank; } ///< the rank that is lost

 private:
  int m_rank;
};

/// Stands for every rank, where a notification may come from any.
inline constexpr int any_rank = -1;

/// Is one rank of a job, and how it reaches the others. Each rank has a team object of its own;
/// run_ranks() makes them.
///
/// An operation comes in two forms:
///
/// - `put(...)` ties it to the running task: the task's accesses are released, and the task is
///   complete, when its body has ended and the operation has. So tasks that depend on the data run
///   when the data are there. A failure of the operation is a failure of the task.
/// - `async_put(...)` returns a future, for threads, for waits within a task, and for `co_await`.
///
/// An operation to another rank waits for a place if `net.queue` of them are in flight to that rank:
/// the caller is suspended then. Operations of one task to one rank are started in order; they may
/// arrive in another one unless flush() or fence() is between them.
///
/// Cost. An allocation for each operation, and an event or a promise.
/// Threads. Any task or thread of the rank.
/// Blocks. While the queue of the rank is full; the collective calls that return no future.
/// Errors. All operations: lost_rank, from the task or the future, when the other rank is lost;
/// invalid_argument from the call, for spans of different sizes and ranks that do not exist, and from
/// the task or the future, for memory that is no longer shared; not_a_task from the first form
/// outside of tasks; no_block in a service or an onready function while the queue is full;
/// out_of_resources; shut_down. After out_of_resources or shut_down from the call, the operation may
/// be under way.
/// Source. Task-aware LPF (2023), of which the operations are; GASPI, of which the notifications are.
class WEFT_API team {
 public:
  /// Joins the job as the rank of the engine. `names` says where each rank is, for messages: "pid 12 on
  /// node3".
  ///
  /// Errors. bad_setting; out_of_resources.
  explicit team(std::unique_ptr<engine> below, std::vector<std::string> names = {});
  team(const team &) = delete;
  team &operator=(const team &) = delete;
  /// Leaves the job. Operations that are in flight fail. No task is in a call of the team.
  ~team();

  [[nodiscard]] int rank() const noexcept; ///< the number of this rank, from 0
  [[nodiscard]] int size() const noexcept; ///< the number of ranks
  [[nodiscard]] const capabilities &caps() const noexcept; ///< what the engine can do
  /// Returns whether a rank was reported as lost.
  ///
  /// Errors. invalid_argument for a rank that does not exist.
  [[nodiscard]] bool is_lost(int rank) const;
  /// Reports that a rank is lost, for what notices it beside the engine. Any thread.
  ///
  /// Errors. invalid_argument for a rank that does not exist.
  void report_lost(int rank) const;
  /// Returns by what a rank is reached, as the engine calls it: "inproc", "posix+cma".
  ///
  /// Errors. invalid_argument for a rank that does not exist.
  [[nodiscard]] std::string path_to(int rank) const;

  /// @{ Makes an array at each rank: of `count` elements that are zero, or of the caller's. All ranks
  /// call it, as barrier(); counts may differ.
  ///
  /// Cost. A registration, and an allreduce of 40 bytes for each rank.
  /// Blocks. Until all ranks have called it.
  /// Errors. As barrier(); out_of_resources at all ranks, if one of them has no memory for its array, or
  /// its engine does not register it.
  template <transferable T>
  [[nodiscard]] shared_array<T> allocate(std::size_t count) {
    return shared_array<T>(share_memory(memory::fresh, nullptr, count * sizeof(T)));
  }
  template <transferable T, std::size_t Count>
  [[nodiscard]] shared_array<T> share(std::span<T, Count> own) {
    return shared_array<T>(share_memory(memory::given, own.data(), own.size_bytes()));
  }
  /// @}

  /// @{ Copies `from` to the memory of a rank. It ends when `from` may be used again; flush() says when
  /// the data are there.
  template <transferable T>
  void put(const remote_span<T> &to, std::span<const std::type_identity_t<T>> from) {
    start(transfer(action::put, to, from));
  }
  template <transferable T>
  [[nodiscard]] future<void> async_put(const remote_span<T> &to,
                                       std::span<const std::type_identity_t<T>> from) {
    return start_future(transfer(action::put, to, from));
  }
  /// @}

  /// @{ Copies the memory of a rank to `to`. It ends when the data are there.
  template <transferable T>
  void get(const remote_span<T> &from, std::span<std::type_identity_t<T>> to) {
    start(transfer(action::get, from, std::span<const T>(to)));
  }
  template <transferable T>
  [[nodiscard]] future<void> async_get(const remote_span<T> &from,
                                       std::span<std::type_identity_t<T>> to) {
    return start_future(transfer(action::get, from, std::span<const T>(to)));
  }
  /// @}

  /// @{ Adds to the first element of `at`, as one step for all ranks. The result is the value before;
  /// the first form writes it to `*before`, if that is not null, when the operation ends.
  template <std::integral T>
    requires(sizeof(T) == 8)
  void fetch_add(const remote_span<T> &at, std::type_identity_t<T> value,
                 std::type_identity_t<T> *before = nullptr) {
    start(atomic(action::fetch_add, at, value, T{}), before);
  }
  template <std::integral T>
    requires(sizeof(T) == 8)
  [[nodiscard]] future<std::uint64_t> async_fetch_add(const remote_span<T> &at,
                                                      std::type_identity_t<T> value) {
    return start_fetch(atomic(action::fetch_add, at, value, T{}));
  }
  /// @}

  /// @{ Stores `value` in the first element of `at` if it is `expected`, as one step for all ranks. The
  /// result is the value before, as with fetch_add().
  template <std::integral T>
    requires(sizeof(T) == 8)
  void compare_swap(const remote_span<T> &at, std::type_identity_t<T> expected,
                    std::type_identity_t<T> value, std::type_identity_t<T> *before = nullptr) {
    start(atomic(action::compare_swap, at, value, expected), before);
  }
  template <std::integral T>
    requires(sizeof(T) == 8)
  [[nodiscard]] future<std::uint64_t> async_compare_swap(const remote_span<T> &at,
                                                         std::type_identity_t<T> expected,
                                                         std::type_identity_t<T> value) {
    return start_fetch(atomic(action::compare_swap, at, value, expected));
  }
  /// @}

  /// @{ Copies as put(), and notifies the rank: it gets `count` notifications `id` when the data are
  /// there. An `id` is any number that both ranks agree on.
  template <transferable T>
  void put_notify(const remote_span<T> &to, std::span<const std::type_identity_t<T>> from,
                  std::uint32_t id, std::uint64_t count = 1) {
    start(transfer(action::put_notify, to, from, id, count));
  }
  template <transferable T>
  [[nodiscard]] future<void> async_put_notify(const remote_span<T> &to,
                                              std::span<const std::type_identity_t<T>> from,
                                              std::uint32_t id, std::uint64_t count = 1) {
    return start_future(transfer(action::put_notify, to, from, id, count));
  }
  /// @}

  /// @{ Notifies a rank without data.
  void notify(int rank, std::uint32_t id, std::uint64_t count = 1) {
    start({action::put_notify, rank, id, count});
  }
  [[nodiscard]] future<void> async_notify(int rank, std::uint32_t id, std::uint64_t count = 1) {
    return start_future({action::put_notify, rank, id, count});
  }
  /// @}

  /// @{ Takes `count` notifications `id` that have come or will come: expect() holds the completion of
  /// the running task until then, async_expect() returns a future, and wait_notified() suspends the
  /// caller. Those that ask for the same id get notifications in the order of their calls.
  ///
  /// If the rank `from` is lost before enough have come, the result is lost_rank; with any_rank, if
  /// any rank is lost.
  void expect(std::uint32_t id, std::uint64_t count = 1, int from = any_rank);
  [[nodiscard]] future<void> async_expect(std::uint32_t id, std::uint64_t count = 1,
                                          int from = any_rank);
  void wait_notified(std::uint32_t id, std::uint64_t count = 1, int from = any_rank);
  /// @}

  /// @{ Ends when all operations that this rank has started before to the rank have arrived there.
  void flush(int rank) { start({action::flush, rank}); }
  [[nodiscard]] future<void> async_flush(int rank) { return start_future({action::flush, rank}); }
  /// @}
  /// Makes operations to the rank that are started later arrive after those that were started
  /// before.
  void fence(int rank) { start_alone({action::fence, rank}); }

  /// Waits until all ranks have called it. All ranks make the same collective calls (barrier,
  /// allreduce, broadcast, their async_ forms, allocate, share) in the same order. The calls that suspend
  /// the caller are made one at a time, and wait for those that were started before.
  ///
  /// Cost. Messages: the logarithm of the ranks, for each rank.
  /// Blocks. Yes: the worker runs other tasks meanwhile.
  /// Errors. lost_rank if a rank of the team is lost, before or meanwhile; the team has no collective
  /// calls any more then. invalid_argument while another task of this rank is in a collective call.
  /// As taskwait().
  void barrier();

  /// Starts the same. The collective calls that a rank starts run one after another, in the order in
  /// which it starts them; the caller goes on meanwhile.
  ///
  /// Cost. An allocation and a promise; a task for the calls that follow each other without a pause.
  /// Blocks. No.
  /// Errors. From the future: those of barrier(), and invalid_argument if the team ends first.
  /// From the call: out_of_resources.
  [[nodiscard]] future<void> async_barrier();

  /// Combines the values of all ranks, element by element, and gives the result to all. `combine(a,
  /// b)` is associative; it gets values in the order of the ranks, so that all ranks and all runs have
  /// the same result. All ranks have the same number of values.
  ///
  /// Cost. Messages: twice the logarithm of the ranks, for each rank and for each 4 KiB or so.
  /// Blocks. Yes. Errors. As barrier(), and what `combine` throws.
  template <transferable T, std::size_t Count, class Combine = std::plus<>>
  void allreduce(std::span<T, Count> values, Combine combine = {}) {
    reduce_all(values.data(), sizeof(T), values.size(), &combine_values<T, Combine>, &combine);
  }
  /// Combines one value of each rank, and returns the result.
  template <transferable T, class Combine = std::plus<>>
  [[nodiscard]] T allreduce(T value, Combine combine = {}) {
    allreduce(std::span<T>(&value, 1), std::move(combine));
    return value;
  }
  /// Starts the same, as async_barrier(). The values are the team's until the future is ready; a task of
  /// the library calls `combine`.
  ///
  /// Blocks. No. Errors. As async_barrier(); what `combine` throws, from the future.
  template <transferable T, std::size_t Count, class Combine = std::plus<>>
  [[nodiscard]] future<void> async_allreduce(std::span<T, Count> values, Combine combine = {}) {
    return start_reduce(values.data(), sizeof(T), values.size(), &combine_values<T, Combine>,
                        kept(std::move(combine)));
  }

  /// Copies the values of rank `root` to all ranks. All ranks have the same number of values.
  ///
  /// Blocks. Yes. Errors. As barrier(); invalid_argument for a rank that does not exist.
  template <transferable T, std::size_t Count>
  void broadcast(std::span<T, Count> values, int root = 0) {
    broadcast_bytes(values.data(), values.size_bytes(), root);
  }
  /// Starts the same, as async_barrier(). The values are the team's until the future is ready.
  ///
  /// Blocks. No. Errors. As async_barrier(); invalid_argument from the call, for a rank that does not
  /// exist.
  template <transferable T, std::size_t Count>
  [[nodiscard]] future<void> async_broadcast(std::span<T, Count> values, int root = 0) {
    return start_broadcast(values.data(), values.size_bytes(), root);
  }

 private:
  using memory = detail::shared_memory::origin;
  struct request {
    action what;
    int rank = 0;
    std::uint32_t id = 0;
    std::uint64_t count = 0;
    memory_key key{};
    std::uint64_t offset = 0;
    void *local = nullptr;
    std::size_t bytes = 0;
    std::uint64_t value = 0, expected = 0;
  };
  using combine_function = void(void *context, void *into, const void *from, std::size_t count);

  template <class T>
  static request transfer(action what, const remote_span<T> &there, std::span<const T> here,
                          std::uint32_t id = 0, std::uint64_t count = 0) {
    if (there.size() != here.size())
      throw_sizes(there.size(), here.size());
    return {what,
            there.rank(),
            id,
            count,
            there.key(),
            there.offset(),
            const_cast<T *>(here.data()),
            here.size_bytes()};
  }
  template <class T>
  static request atomic(action what, const remote_span<T> &at, T value, T expected) {
    const auto one = at.at(0);
    return {what,
            at.rank(),
            0,
            0,
            one.key(),
            one.offset(),
            nullptr,
            0,
            static_cast<std::uint64_t>(value),
            static_cast<std::uint64_t>(expected)};
  }
  [[noreturn]] static void throw_sizes(std::size_t there, std::size_t here);
  [[noreturn]] static void throw_no_memory();

  /// Is the combine_function for a callable at `context`.
  template <class T, class Combine>
  static void combine_values(void *context, void *into, const void *from, std::size_t count) {
    auto &f = *static_cast<Combine *>(context);
    auto *const left = static_cast<T *>(into);
    const auto *const right = static_cast<const T *>(from);
    for (std::size_t i = 0; i != count; ++i)
      left[i] = f(left[i], right[i]);
  }
  template <class Combine>
  static std::shared_ptr<void> kept(Combine &&combine) {
    try {
      return std::make_shared<Combine>(std::move(combine));
    } catch (const std::bad_alloc &) {
      throw_no_memory();
    }
  }

  void start(const request &what, void *before = nullptr);
  void start_alone(const request &what);
  [[nodiscard]] future<void> start_future(const request &what);
  [[nodiscard]] future<std::uint64_t> start_fetch(const request &what);
  [[nodiscard]] std::shared_ptr<detail::shared_memory> share_memory(memory which, void *own,
                                                                    std::size_t bytes);
  void reduce_all(void *values, std::size_t size, std::size_t count, combine_function *combine,
                  void *context);
  void broadcast_bytes(void *values, std::size_t bytes, int root);
  [[nodiscard]] future<void> start_reduce(void *values, std::size_t size, std::size_t count,
                                          combine_function *combine, std::shared_ptr<void> context);
  [[nodiscard]] future<void> start_broadcast(void *values, std::size_t bytes, int root);

  friend struct detail::team_state;
  std::shared_ptr<detail::team_state> m_state;
};

} // namespace net
} // namespace weft::inline v0
