// SPDX-License-Identifier: Apache-2.0
// The backend of the parallel scheduler (layers/execution), compiled against a library of ours.
#include "p2300_fake.hpp"

#include "arch/sanitizer.hpp"

#include <weft/detail/parallel_backend.hpp>
#include <weft/stop.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

// A sanitizer has its own.
#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN)
namespace {
std::atomic<bool> g_counts{false};
std::atomic<std::size_t> g_allocations{0};
} // namespace

// Not inlined: GCC would match malloc() with delete.
[[gnu::noinline]] void *operator new(std::size_t bytes) {
  if (g_counts.load(std::memory_order_relaxed))
    ++g_allocations;
  if (void *p = std::malloc(bytes))
    return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  if (g_counts.load(std::memory_order_relaxed))
    ++g_allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void *p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void *p, std::size_t) noexcept { std::free(p); }

#define WEFT_COUNTS_ALLOCATIONS 1
#endif

namespace {

namespace replaced = p2300_fake::parallel_scheduler_replacement;

replaced::parallel_scheduler_backend &backend() {
  static const auto g_backend = replaced::query_parallel_scheduler_backend();
  return *g_backend;
}

enum class end { none, value, error, stopped };

/// Notes how an operation has ended.
template <class Proxy>
struct noted : Proxy {
  void set_value() noexcept override { finish(end::value); }
  void set_error(std::exception_ptr e) noexcept override {
    error = std::move(e);
    finish(end::error);
  }
  void set_stopped() noexcept override { finish(end::stopped); }
  std::optional<p2300_fake::inplace_stop_token> token() const noexcept override {
    return stop ? std::optional(stop->get_token()) : std::nullopt;
  }
  void finish(end how) {
    on_worker = weft::worker_id();
    ended = how;
    done.set();
  }
  end wait() {
    done.wait();
    return ended;
  }
  weft::inplace_stop_source *stop = nullptr;
  weft::event done;
  end ended = end::none;
  int on_worker = -1;
  std::exception_ptr error;
};

using item = noted<replaced::receiver_proxy>;

/// Counts the calls for each index. As a library's receiver it keeps what a call throws.
struct bulk_item : noted<replaced::bulk_item_receiver_proxy> {
  explicit bulk_item(std::size_t n) : calls(n) {}
  void execute(std::size_t first, std::size_t last) noexcept override {
    ++executions;
    if (last - first > longest)
      longest = last - first;
    for (std::size_t i = first; i != last; ++i) {
      ++calls[i];
      if (f)
        f(i);
    }
  }
  bool each_once() const {
    for (const auto &n : calls)
      if (n != 1)
        return false;
    return true;
  }
  std::vector<std::atomic<int>> calls;
  std::atomic<std::size_t> executions{0}, longest{0};
  std::function<void(std::size_t)> f;
};

struct lent_memory {
  alignas(8) std::byte bytes[152];
  std::span<std::byte> first(std::size_t n) { return std::span(bytes).first(n); }
};

TEST(parallel_backend, is_one_for_all_queries) {
  EXPECT_NE(replaced::query_parallel_scheduler_backend(), nullptr);
  EXPECT_EQ(replaced::query_parallel_scheduler_backend(),
            replaced::query_parallel_scheduler_backend());
}

TEST(parallel_backend, schedules_on_a_worker) {
  item i;
  lent_memory m;
  backend().schedule(i, m.first(72));
  EXPECT_EQ(i.wait(), end::value);
  EXPECT_GE(i.on_worker, 0);
}

TEST(parallel_backend, takes_memory_of_any_size_and_alignment) {
  for (std::size_t bytes : {0, 1, 8, 31, 32, 40, 72})
    for (std::size_t skip : {0, 1, 4}) {
      if (skip > bytes)
        continue;
      item i;
      lent_memory m;
      backend().schedule(i, m.first(bytes).subspan(skip));
      EXPECT_EQ(i.wait(), end::value);
      bulk_item b(10);
      backend().schedule_bulk_chunked(10, b, m.first(bytes).subspan(skip));
      EXPECT_EQ(b.wait(), end::value);
      EXPECT_TRUE(b.each_once());
    }
  item i;
  backend().schedule(i, {});
  EXPECT_EQ(i.wait(), end::value);
}

TEST(parallel_backend, fits_into_what_stdexec_lends) {
  struct library {
    using backend = replaced::parallel_scheduler_backend;
    using receiver = replaced::receiver_proxy;
    using bulk_receiver = replaced::bulk_item_receiver_proxy;
    static bool stopped(const receiver &) noexcept { return false; }
  };
  EXPECT_LE(weft::detail::parallel_backend<library>::k_schedule_bytes, 72u);
  EXPECT_LE(weft::detail::parallel_backend<library>::k_bulk_bytes, 152u);
}

TEST(parallel_backend, is_stopped_if_that_was_requested_before) {
  weft::inplace_stop_source stop;
  lent_memory m;
  item goes_on;
  goes_on.stop = &stop;
  backend().schedule(goes_on, m.first(72));
  EXPECT_EQ(goes_on.wait(), end::value);
  stop.request_stop();
  item i;
  i.stop = &stop;
  backend().schedule(i, m.first(72));
  EXPECT_EQ(i.wait(), end::stopped);
  for (const bool chunked : {true, false}) {
    bulk_item b(100);
    b.stop = &stop;
    if (chunked)
      backend().schedule_bulk_chunked(100, b, m.first(152));
    else
      backend().schedule_bulk_unchunked(100, b, m.first(152));
    EXPECT_EQ(b.wait(), end::stopped);
    EXPECT_EQ(b.executions, 0u);
  }
}

TEST(parallel_backend, bulk_calls_each_index_once) {
  for (std::size_t n : {0, 1, 2, 7, 1000, 100000}) {
    lent_memory m;
    bulk_item chunked(n), each(n);
    backend().schedule_bulk_chunked(n, chunked, m.first(152));
    EXPECT_EQ(chunked.wait(), end::value);
    EXPECT_TRUE(chunked.each_once());
    EXPECT_LE(chunked.executions, n);
    backend().schedule_bulk_unchunked(n, each, m.first(152));
    EXPECT_EQ(each.wait(), end::value);
    EXPECT_TRUE(each.each_once());
    EXPECT_EQ(each.executions, n);
    EXPECT_LE(each.longest, 1u);
  }
}

TEST(parallel_backend, bulk_goes_through_chunks) {
  constexpr std::size_t n = 1000000;
  lent_memory m;
  bulk_item b(n);
  for (int round = 0; round != 3; ++round) { // the loop learns what an index takes
    b.executions = 0;
    b.done.reset();
    backend().schedule_bulk_chunked(n, b, m.first(152));
    EXPECT_EQ(b.wait(), end::value);
  }
  EXPECT_LT(b.executions, n / 2);
  EXPECT_GT(b.longest, 2u);
}

TEST(parallel_backend, work_may_wait_for_other_work) {
  lent_memory m, n;
  weft::event both;
  struct waiting : item {
    void set_value() noexcept override {
      first->wait();
      item::set_value();
    }
    weft::event *first;
  } i;
  i.first = &both;
  struct setting : item {
    void set_value() noexcept override {
      both->set();
      item::set_value();
    }
    weft::event *both;
  } j;
  j.both = &both;
  backend().schedule(i, m.first(72));
  backend().schedule(j, n.first(72));
  EXPECT_EQ(i.wait(), end::value);
  EXPECT_EQ(j.wait(), end::value);
}

TEST(parallel_backend, an_index_may_wait_for_a_later_one) {
  lent_memory m;
  bulk_item b(2);
  weft::event second;
  b.f = [&](std::size_t i) {
    if (i == 0)
      second.wait();
    else
      second.set();
  };
  backend().schedule_bulk_unchunked(2, b, m.first(152));
  EXPECT_EQ(b.wait(), end::value);
}

TEST(parallel_backend, work_may_spawn_tasks) {
  lent_memory m;
  std::atomic<int> ran{0};
  struct spawning : item {
    void set_value() noexcept override {
      for (int i = 0; i != 10; ++i)
        weft::spawn([this] { ++*ran; });
      weft::taskwait();
      item::set_value();
    }
    std::atomic<int> *ran;
  } i;
  i.ran = &ran;
  backend().schedule(i, m.first(72));
  EXPECT_EQ(i.wait(), end::value);
  EXPECT_EQ(ran, 10);
}

TEST(parallel_backend, an_exception_of_the_loop_is_an_error) {
  // A library's execute() throws nothing; the loop itself may fail, as run_bulk() is to tell.
  weft::detail::bulk_request r;
  r.count = 100;
  r.call = [](void *, std::size_t first, std::size_t end) {
    if (first <= 50 && 50 < end)
      throw std::runtime_error("50");
  };
  for (const bool each : {false, true}) {
    r.each = each;
    const std::exception_ptr error = weft::detail::run_bulk(r);
    ASSERT_NE(error, nullptr);
    EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
  }
}

TEST(parallel_backend, a_thread_of_the_program_may_schedule) {
  item i;
  lent_memory m;
  std::thread([&] { backend().schedule(i, m.first(72)); }).join();
  EXPECT_EQ(i.wait(), end::value);
}

#ifdef WEFT_COUNTS_ALLOCATIONS
TEST(parallel_backend, a_million_schedules_allocate_nothing) {
  if (std::getenv("WEFT_SCHED_SEED"))
    GTEST_SKIP() << "the queue of policy seeded takes blocks of the heap";
  constexpr int n = 1000000;
  // Each completion schedules the next: the memory is lent again when the operation has ended.
  struct chain : item {
    void set_value() noexcept override {
      if (--left == 0)
        return item::set_value();
      backend().schedule(*this, memory->first(72));
    }
    int left = n;
    lent_memory *memory;
  };
  lent_memory m;
  const auto run = [&](int count) {
    chain c;
    c.memory = &m;
    c.left = count;
    backend().schedule(c, m.first(72));
    EXPECT_EQ(c.wait(), end::value);
    EXPECT_EQ(c.left, 0);
  };
  run(1000); // stacks and queues
  g_allocations = 0;
  g_counts = true;
  run(n);
  g_counts = false;
  EXPECT_LT(g_allocations, n / 10'000u) << "a spare that the watcher adds on a full machine takes some";
}
#endif

} // namespace
