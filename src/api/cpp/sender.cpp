// SPDX-License-Identifier: Apache-2.0
// Senders: records that are posted without an exception, and bulk operations.
#include "base/error.hpp"
#include "ult/stack_switch.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/loop.hpp>
#include <weft/detail/run_loop.hpp>
#include <weft/detail/sender.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <cstdint>
#include <sched.h>

namespace weft::inline v0 {
namespace detail {

std::exception_ptr try_post(call_record &call) noexcept {
  try {
    post(call);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

namespace {

struct counted_bulk {
  const bulk_request &request;
  std::atomic<std::uint64_t> called{0}; // indices; the end of the loop orders
};

} // namespace

std::exception_ptr run_bulk(const bulk_request &request) noexcept {
  counted_bulk bulk{request};
  loop_request loop;
  loop.size = request.count;
  loop.grain = request.each ? 1 : 0;
  loop.context = &bulk;
  loop.body = loop_body::may_wait;
  if (request.site)
    loop.site = &site_of_function(request.site);
  loop.participate = [](void *context, loop_blocks &blocks) {
    counted_bulk &all = *static_cast<counted_bulk *>(context);
    const bulk_request &r = all.request;
    std::uint64_t called = 0;
    for (std::uint64_t first = 0, count = 0; blocks.next(first, count); called += count) {
      if (!r.each) {
        r.call(r.context, first, first + count);
        continue;
      }
      for (std::uint64_t i = first; i != first + count; ++i)
        r.call(r.context, i, i + 1);
    }
    all.called.fetch_add(called, std::memory_order_relaxed);
  };
  try {
    if (request.each)
      loop.participants = taskloop_participants();
    run_loop(loop);
    if (const std::uint64_t called = bulk.called.load(std::memory_order_relaxed);
        called != request.count)
      rt::throw_error(errc::cancelled,
                      "bulk called its function for %zu of %zu indices: its task is cancelled",
                      static_cast<std::size_t>(called), request.count);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

bool is_cancellation(const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const weft::error &e) {
    return e.code() == errc::cancelled;
  } catch (...) {
    return false;
  }
}

void require_wait() {
  rt::worker &w = rt::this_worker();
  if (const rt::callback *const c = w.in_callback)
    rt::refuse_wait_in(*c);
  rt::require_stack(w);
}

void wait_surely(const event &awaited) noexcept {
  bool may_suspend = true;
  while (!awaited.is_set()) {
    try {
      if (may_suspend)
        return awaited.wait();
    } catch (const error &e) {
      may_suspend = e.code() == errc::out_of_resources; // until there is a stack
    }
    sched_yield();
  }
}

std::exception_ptr stopped_sender() noexcept {
  try {
    rt::throw_error(errc::cancelled, "a future was made of a sender that was stopped");
  } catch (...) {
    return std::current_exception();
  }
}

} // namespace detail
} // namespace weft::inline v0
