// SPDX-License-Identifier: Apache-2.0
// Senders: records that are posted without an exception, and bulk operations.
#include "base/error.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/run_loop.hpp>
#include <weft/detail/sender.hpp>
#include <weft/sync/event.hpp>

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

std::exception_ptr run_bulk(const bulk_request &request) noexcept {
  loop_request loop;
  loop.size = request.count;
  loop.grain = request.each ? 1 : 0;
  loop.context = const_cast<bulk_request *>(&request);
  loop.body = loop_body::may_wait;
  if (request.site)
    loop.site = &site_of_function(request.site);
  loop.participate = [](void *context, loop_blocks &blocks) {
    const bulk_request &r = *static_cast<const bulk_request *>(context);
    for (std::uint64_t first = 0, count = 0; blocks.next(first, count);) {
      if (!r.each) {
        r.call(r.context, first, first + count);
        continue;
      }
      for (std::uint64_t i = first; i != first + count; ++i)
        r.call(r.context, i, i + 1);
    }
  };
  try {
    run_loop(loop);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void require_wait() {
  if (const rt::callback *const c = rt::this_worker().in_callback)
    rt::refuse_wait_in(*c);
}

void wait_surely(const event &awaited) noexcept {
  try {
    awaited.wait();
  } catch (const error &) {
    while (!awaited.is_set())
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
