// SPDX-License-Identifier: Apache-2.0
// The backend of the standard's parallel scheduler ([exec.parschedrepl]) on Weft, for any library that has its interface.
// Not for users: it changes with the version.
#pragma once

#include <weft/detail/sender.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace weft::inline v0 {
namespace detail {

/// Keeps an operation in the memory that the library lends, or, if that is too small, on the heap.
template <class Operation>
struct lent {
  static_assert(std::is_trivially_destructible_v<Operation>);

  /// Returns null without memory.
  template <class... Args>
  [[nodiscard]] static Operation *make(std::span<std::byte> memory, Args &&...args) noexcept {
    void *place = memory.data();
    std::size_t bytes = memory.size();
    const bool fits = place && std::align(alignof(Operation), sizeof(Operation), place, bytes);
    if (!fits)
      place = ::operator new(sizeof(Operation), std::nothrow);
    return place ? ::new (place) Operation(!fits, static_cast<Args &&>(args)...) : nullptr;
  }
  /// Ends the operation. Completing the receiver may end the lent memory, so this comes before.
  static void end(Operation &op) noexcept {
    if (op.is_on_heap)
      ::operator delete(&op);
  }
};

/// Implements Library::backend: the three functions of parallel_scheduler_backend. Library::stopped(r)
/// returns whether a stop was requested of a receiver.
template <class Library>
class parallel_backend final : public Library::backend {
  using receiver = typename Library::receiver;
  using bulk_receiver = typename Library::bulk_receiver;

  struct schedule_call : call_record {
    schedule_call(bool on_heap, receiver &answered) noexcept
        : call_record(&run), is_on_heap(on_heap), to(&answered) {}
    static void run(call_record *self) noexcept {
      auto &mine = *static_cast<schedule_call *>(self);
      receiver &r = *mine.to;
      lent<schedule_call>::end(mine);
      if (Library::stopped(r))
        r.set_stopped();
      else
        r.set_value();
    }
    bool is_on_heap;
    receiver *to;
  };

  struct bulk_call : call_record {
    bulk_call(bool on_heap, bulk_receiver &answered, std::size_t n, bool one_by_one) noexcept
        : call_record(&run), is_on_heap(on_heap), each(one_by_one), to(&answered), count(n) {}
    static void run(call_record *self) noexcept {
      auto &mine = *static_cast<bulk_call *>(self);
      bulk_receiver &r = *mine.to;
      bulk_request request;
      request.count = mine.count;
      request.each = mine.each;
      request.context = &r;
      request.call = [](void *context, std::size_t first, std::size_t end) {
        static_cast<bulk_receiver *>(context)->execute(first, end);
      };
#ifdef __cpp_rtti
      request.site = &typeid(r); // one type for each function that a program passes to bulk
#endif
      lent<bulk_call>::end(mine);
      if (Library::stopped(r))
        return r.set_stopped();
      if (std::exception_ptr error = run_bulk(request))
        r.set_error(std::move(error));
      else
        r.set_value();
    }
    bool is_on_heap, each;
    bulk_receiver *to;
    std::size_t count;
  };

  template <class Call, class Receiver, class... Args>
  static void start(Receiver &receiver, std::span<std::byte> memory, Args... args) noexcept {
    Call *const call = lent<Call>::make(memory, receiver, args...);
    if (!call)
      return receiver.set_error(std::make_exception_ptr(std::bad_alloc()));
    if (std::exception_ptr error = try_post(*call)) {
      lent<Call>::end(*call);
      receiver.set_error(std::move(error));
    }
  }

 public:
  static constexpr std::size_t k_schedule_bytes = sizeof(schedule_call); ///< of lent memory
  static constexpr std::size_t k_bulk_bytes = sizeof(bulk_call); ///< of lent memory

  void schedule(receiver &to, std::span<std::byte> memory) noexcept override {
    start<schedule_call>(to, memory);
  }
  void schedule_bulk_chunked(std::size_t count, bulk_receiver &to,
                             std::span<std::byte> memory) noexcept override {
    start<bulk_call>(to, memory, count, false);
  }
  void schedule_bulk_unchunked(std::size_t count, bulk_receiver &to,
                               std::span<std::byte> memory) noexcept override {
    start<bulk_call>(to, memory, count, true);
  }
};

} // namespace detail
} // namespace weft::inline v0
