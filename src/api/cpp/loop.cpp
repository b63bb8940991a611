// SPDX-License-Identifier: Apache-2.0
// Cutting loops into chunks, and sharing the chunks of one task.
#include "base/error.hpp"
#include "task/chunk_counter.hpp"
#include "worker/runtime.hpp"

#include <weft/join.hpp>
#include <weft/runtime.hpp>
#include <weft/taskfor.hpp>
#include <weft/taskloop.hpp>

#include <algorithm>
#include <cxxabi.h>
#include <utility>

namespace weft::inline v0 {
namespace detail {

using namespace rt;

namespace {

// With so many chunks one slow chunk delays the end by an eighth of a worker's share at most, and
// spawning costs little beside the chunks.
constexpr std::uint64_t k_chunks_per_worker = 8;
constexpr std::uint64_t k_most_participants =
    1024; // of a taskloop: each takes a stack when it waits

std::uint64_t default_chunks() {
  return k_chunks_per_worker * static_cast<std::uint64_t>(worker_count());
}

loop_plan cut_by_grain(std::uint64_t size, std::uint64_t grain) noexcept {
  return {size / grain + (size % grain != 0), grain, 0, size};
}

loop_plan cut_into(std::uint64_t size, std::uint64_t chunks) noexcept {
  chunks = std::min(chunks, size);
  return {chunks, size / chunks, size % chunks, size};
}

} // namespace

void refuse_step() {
  throw_error(errc::invalid_argument,
              "the step of a range is 0; give a positive or a negative one");
}

void refuse_blocks(std::uint64_t grain, std::uint64_t rows, std::uint64_t columns) {
  if (grain == 0)
    throw_error(errc::invalid_argument,
                "a grain of blocks is 0; give the number of rows and of columns of a block");
  throw_error(errc::invalid_argument, "%llu by %llu blocks are more than 2^64; give larger grains",
              static_cast<unsigned long long>(rows), static_cast<unsigned long long>(columns));
}

void check_grain(const loop_options &options) {
  if (options.has_grain && options.grain == 0)
    throw_error(
        errc::invalid_argument,
        "grain_size(0): a chunk has at least one iteration; leave the clause out for the default");
}

loop_plan plan_chunks(std::uint64_t size, const loop_options &options) {
  check_grain(options);
  if (options.has_tasks && options.tasks == 0)
    throw_error(errc::invalid_argument,
                "num_tasks(0): a loop has at least one task; leave the clause out for the default");
  if (size == 0)
    return {};
  return options.has_grain ? cut_by_grain(size, options.grain)
                           : cut_into(size, options.has_tasks ? options.tasks : default_chunks());
}

unsigned taskloop_participants() {
  return static_cast<unsigned>(std::min<std::uint64_t>(default_chunks(), k_most_participants));
}

loop_plan plan_shared(std::uint64_t size, const loop_options &options) {
  if (size == 0)
    return {};
  if (!options.has_grain)
    return cut_into(size, default_chunks());
  return cut_by_grain(size, size > chunk_counter<>::k_most
                                ? std::max<std::uint64_t>(options.grain, 2)
                                : options.grain);
}

namespace {

/// Holds one run of a taskfor, on the stack of its task.
struct shared_loop {
  const loop_plan &plan;
  void (*const run)(void *, std::uint64_t, std::uint64_t);
  void *const context;
  chunk_counter<> chunks{plan.chunks};
  std::uint64_t helpers_left; // of the newest participant
  std::atomic<bool> failing{false};
  std::exception_ptr error; // the first one; the task reads it when all participants have ended
};

void keep_first(shared_loop &loop) noexcept {
  if (!loop.failing.exchange(
          true, std::memory_order_relaxed)) // the end of this participant publishes the error
    loop.error = std::current_exception();
}

void work(shared_loop &loop) {
  for (std::uint64_t k = 0; loop.chunks.take(k);) {
    if (this_task::cancelled())
      return loop.chunks.close();
    try {
      loop.run(loop.context, loop.plan.first(k), loop.plan.count(k));
    } catch (abi::__forced_unwind &) {
      throw;
    } catch (...) {
      keep_first(loop);
      return loop.chunks.close();
    }
  }
}

/// Works on chunks, while another worker may take the part of the next helper, and so on.
void take_part(shared_loop &loop) {
  if (loop.chunks.exhausted() || loop.helpers_left == 0)
    return work(loop);
  --loop.helpers_left;
  join([&loop] { work(loop); },
       [&loop] {
         if (!loop.chunks.exhausted())
           take_part(loop);
       });
}

} // namespace

void share_chunks(const loop_plan &plan, void (*run)(void *, std::uint64_t, std::uint64_t),
                  void *context, bool alone) {
  if (plan.chunks == 0)
    return;
  // With one worker there is a helper as well: the helper goes on while a chunk waits.
  const auto others = alone ? 0 : static_cast<std::uint64_t>(std::max(worker_count() - 1, 1));
  shared_loop loop{
      plan,  run,    context, chunk_counter<>(plan.chunks), std::min(others, plan.chunks - 1),
      false, nullptr};
  take_part(loop);
  if (loop.error)
    std::rethrow_exception(std::move(loop.error));
}

} // namespace detail
} // namespace weft::inline v0
