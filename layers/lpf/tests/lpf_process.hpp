// SPDX-License-Identifier: Apache-2.0
// Processes of LPF in tests: their contexts, with functions that check the codes, and how they begin.
#pragma once

#include <lpf/core.h>
#include <lpf/cost.h>
#include <lpf/pthread.h>

#include <weft/sync/latch.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace test {

inline constexpr lpf_pid_t k_processes = 5;

/// Is the context of a process, with functions that check the codes.
struct process {
  lpf_t ctx;
  lpf_pid_t pid, count;

  void resize(std::size_t slots, std::size_t messages) const {
    ASSERT_EQ(lpf_resize_memory_register(ctx, slots), LPF_SUCCESS);
    ASSERT_EQ(lpf_resize_message_queue(ctx, messages), LPF_SUCCESS);
    sync();
  }
  void sync() const { ASSERT_EQ(lpf_sync(ctx, LPF_SYNC_DEFAULT), LPF_SUCCESS); }
  template <class T>
  [[nodiscard]] lpf_memslot_t global(std::vector<T> &memory) const {
    lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
    EXPECT_EQ(lpf_register_global(ctx, memory.data(), memory.size() * sizeof(T), &slot),
              LPF_SUCCESS);
    return slot;
  }
  template <class T>
  [[nodiscard]] lpf_memslot_t local(std::vector<T> &memory) const {
    lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
    EXPECT_EQ(lpf_register_local(ctx, memory.data(), memory.size() * sizeof(T), &slot),
              LPF_SUCCESS);
    return slot;
  }
  void put(lpf_memslot_t from, std::size_t from_offset, lpf_pid_t to_pid, lpf_memslot_t to,
           std::size_t to_offset, std::size_t bytes) const {
    ASSERT_EQ(lpf_put(ctx, from, from_offset, to_pid, to, to_offset, bytes, LPF_MSG_DEFAULT),
              LPF_SUCCESS);
  }
  void get(lpf_pid_t from_pid, lpf_memslot_t from, std::size_t from_offset, lpf_memslot_t to,
           std::size_t to_offset, std::size_t bytes) const {
    ASSERT_EQ(lpf_get(ctx, from_pid, from, from_offset, to, to_offset, bytes, LPF_MSG_DEFAULT),
              LPF_SUCCESS);
  }
  [[nodiscard]] weft_lpf_cost_t cost() const {
    weft_lpf_cost_t c{};
    EXPECT_EQ(weft_lpf_cost(ctx, &c), LPF_SUCCESS);
    return c;
  }
};

using body = std::function<void(const process &)>;

inline void call(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  const body &f = *reinterpret_cast<const body *>(args.f_symbols);
  f({ctx, pid, nprocs});
}
inline lpf_args_t args_of(const body &f) {
  lpf_args_t args = LPF_NO_ARGS;
  args.f_symbols = reinterpret_cast<const lpf_func_t *>(&f);
  return args;
}
inline lpf_err_t run(lpf_pid_t count, const body &f, lpf_t ctx = LPF_ROOT) {
  return lpf_exec(ctx, count, &call, args_of(f));
}

/// Runs a function in threads that lpf_hook() joins, of which the caller is the first: processes that have seen no failure
/// before, and whose failure is not the program's.
inline lpf_err_t hook_threads(lpf_pid_t count, lpf_spmd_t function, lpf_args_t args) {
  std::atomic<int> failed{0};
  const auto join = [&](lpf_pid_t pid) {
    lpf_init_t init = LPF_INIT_NONE;
    EXPECT_EQ(lpf_pthread_initialize(pid, count, &init), LPF_SUCCESS);
    failed += lpf_hook(init, function, args) != LPF_SUCCESS;
    EXPECT_EQ(lpf_pthread_finalize(init), LPF_SUCCESS);
  };
  weft::latch over(count - 1);
  std::vector<std::thread> threads;
  for (lpf_pid_t pid = 1; pid != count; ++pid)
    threads.emplace_back([&, pid] {
      join(pid);
      over.count_down();
    });
  join(0);
  over.wait(); // runs tasks meanwhile
  for (std::thread &t : threads)
    t.join();
  return failed == 0 ? LPF_SUCCESS : LPF_ERR_FATAL;
}
inline lpf_err_t run_apart(lpf_pid_t count, const body &f) {
  return hook_threads(count, &call, args_of(f));
}

inline void expect_in(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

} // namespace test
