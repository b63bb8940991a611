// SPDX-License-Identifier: Apache-2.0
#include "arch/context.hpp"

#include "support/death_test.hpp"
#include "unit/arch/fiber.hpp"

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <execinfo.h>
#include <unwind.h>

namespace {

using test::fiber;

void *pointer(std::uintptr_t n) { return reinterpret_cast<void *>(n); }

TEST(context, values_go_both_ways) {
  fiber f([](fiber &self) {
    auto n = reinterpret_cast<std::uintptr_t>(self.received);
    for (;;)
      n = reinterpret_cast<std::uintptr_t>(self.yield(pointer(n * 2)));
  });
  for (std::uintptr_t n = 1; n < 10; ++n)
    EXPECT_EQ(f.resume(pointer(n)), pointer(n * 2));
}

TEST(context, a_hundred_thousand_turns_count_right) {
  std::uintptr_t turns = 0;
  fiber f([&](fiber &self) {
    for (;; self.yield())
      ++turns;
  });
  for (int i = 0; i < 100'000; ++i)
    f.resume();
  EXPECT_EQ(turns, 100'000u);
}

/// Leaves other values in every register that a callee must keep.
inline void scribble() {
#if defined(__x86_64__)
  asm volatile(
      "movq $-1, %%rbx\n\tmovq $-2, %%r12\n\tmovq $-3, %%r13\n\tmovq $-4, %%r14\n\tmovq $-5, %%r15"
      :
      :
      : "rbx", "r12", "r13", "r14", "r15");
#elif defined(__aarch64__)
  asm volatile(
      "mov x19, #-1\n\tmov x20, #-2\n\tmov x21, #-3\n\tmov x22, #-4\n\tmov x23, #-5\n\tmov x24, #-6\n\t"
      "mov x25, #-7\n\tmov x26, #-8\n\tmov x27, #-9\n\tmov x28, #-10\n\t"
      "fmov d8, xzr\n\tfmov d9, xzr\n\tfmov d10, xzr\n\tfmov d11, xzr\n\t"
      "fmov d12, xzr\n\tfmov d13, xzr\n\tfmov d14, xzr\n\tfmov d15, xzr"
      :
      :
      : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "d8", "d9", "d10",
        "d11", "d12", "d13", "d14", "d15");
#endif
}

[[gnu::noinline]] std::vector<double> live_across_a_switch(fiber &f, const std::uint64_t *in,
                                                           const double *real) {
  // More values than a processor has callee-saved registers, live at the call.
  std::uint64_t a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], g = in[5], h = in[6],
                i = in[7], j = in[8], k = in[9], l = in[10], m = in[11];
  double r = real[0], s = real[1], t = real[2], u = real[3], v = real[4], w = real[5], x = real[6],
         y = real[7];
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  asm volatile("" : "+r"(e), "+r"(g), "+r"(h), "+r"(i));
  asm volatile("" : "+r"(j), "+r"(k), "+r"(l), "+r"(m));
  f.resume();
  return {double(a), double(b), double(c), double(d), double(e), double(g), double(h),
          double(i), double(j), double(k), double(l), double(m), r,         s,
          t,         u,         v,         w,         x,         y};
}

TEST(context, keeps_the_registers_that_a_callee_must_keep) {
  fiber f([](fiber &self) {
    for (;; self.yield())
      scribble();
  });
  std::uint64_t in[12];
  double real[8];
  std::iota(std::begin(in), std::end(in), 1000);
  std::iota(std::begin(real), std::end(real), 0.5);
  for (int round = 0; round < 3; ++round) {
    const std::vector<double> out = live_across_a_switch(f, in, real);
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_EQ(out[i], 1000.0 + static_cast<double>(i));
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_EQ(out[12 + i], 0.5 + static_cast<double>(i));
  }
}

/// Depends on the rounding mode; `Real` double uses the vector unit's, long double the x87's on x86-64.
template <class Real>
[[gnu::noinline]] Real third() {
  volatile Real one = 1, three = 3;
  return one / three;
}

TEST(context, each_stack_has_its_own_rounding_mode) {
  const double nearest = third<double>();
  const long double nearest_long = third<long double>();
  double inside = 0;
  long double inside_long = 0;
  fiber f([&](fiber &self) {
    std::fesetround(FE_UPWARD);
    self.yield();
    inside = third<double>();
    inside_long = third<long double>();
  });
  f.resume();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(third<double>(), nearest);
  EXPECT_EQ(third<long double>(), nearest_long);
  f.resume();
  EXPECT_GT(inside, nearest);
  EXPECT_GE(inside_long, nearest_long);
  EXPECT_EQ(third<double>(), nearest);
}

TEST(context, a_new_stack_begins_with_its_makers_rounding_mode) {
  int mode = -1;
  std::fesetround(FE_DOWNWARD);
  fiber f([&](fiber &) { mode = std::fegetround(); });
  std::fesetround(FE_TONEAREST);
  f.resume();
  EXPECT_EQ(mode, FE_DOWNWARD);
}

TEST(context, the_stack_is_aligned_as_the_abi_asks) {
  alignas(64) char here = 0;
  std::uintptr_t there = 1;
  fiber f([&](fiber &) {
    alignas(32) volatile double four[4] = {1, 2, 3, 4}; // aligned stores would fault
    there = reinterpret_cast<std::uintptr_t>(&four) % 32;
    std::string text =
        std::to_string(four[2]); // as would those of the library's variadic functions
    EXPECT_EQ(text.substr(0, 3), "3.0");
  });
  f.resume();
  EXPECT_EQ(there, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&here) % 64, 0u);
}

TEST(context, exceptions_are_thrown_and_caught_on_a_fiber) {
  std::string caught;
  int unwound = 0;
  fiber f([&](fiber &self) {
    struct guard {
      int &n;
      ~guard() { ++n; }
    };
    for (int i = 0; i < 3; ++i) {
      try {
        guard g{unwound};
        self.yield();
        throw std::runtime_error("number " + std::to_string(i));
      } catch (const std::exception &e) {
        caught += e.what();
        caught += ';';
      }
      self.yield();
    }
  });
  while (!f.done)
    f.resume();
  EXPECT_EQ(caught, "number 0;number 1;number 2;");
  EXPECT_EQ(unwound, 3);
}

TEST(context, a_fiber_runs_within_a_fiber) {
  std::string order;
  fiber inner([&](fiber &self) {
    order += 'b';
    self.yield();
    order += 'd';
  });
  fiber outer([&](fiber &self) {
    order += 'a';
    inner.resume();
    order += 'c';
    self.yield();
    inner.resume();
    order += 'e';
  });
  outer.resume();
  outer.resume();
  EXPECT_EQ(order, "abcde");
}

TEST(context, a_thousand_stacks_in_turn_keep_their_own_variables) {
  std::vector<std::unique_ptr<fiber>> fibers;
  int wrong = 0;
  for (int i = 0; i < 1000; ++i)
    fibers.push_back(std::make_unique<fiber>(
        [i, &wrong](fiber &self) {
          volatile int mine = i;
          for (int round = 0; round < 5; ++round) {
            self.yield();
            wrong += mine != i + round;
            mine = mine + 1;
          }
        },
        16 << 10));
  for (int round = 0; round < 6; ++round)
    for (auto &f : fibers)
      f->resume();
  EXPECT_EQ(wrong, 0);
  for (auto &f : fibers)
    EXPECT_TRUE(f->done);
}

[[gnu::noinline]] void suspend_deep(fiber &self, int depth) {
  volatile char local[100];
  local[depth] = static_cast<char>(depth);
  if (depth == 0)
    self.yield();
  else
    suspend_deep(self, depth - 1);
  EXPECT_EQ(local[depth], depth);
}

[[gnu::noinline]] int sum_of_a_large_array() {
  volatile int numbers[4000];
  for (int i = 0; i < 4000; ++i)
    numbers[i] = 1;
  int sum = 0;
  for (int i = 0; i < 4000; ++i)
    sum += numbers[i];
  return sum;
}

TEST(context, the_memory_of_an_abandoned_stack_is_used_again) {
  constexpr std::size_t bytes = 64 << 10;
  auto memory = std::make_unique<char[]>(bytes);
  fiber abandoned([](fiber &self) { suspend_deep(self, 40); }, memory.get(), bytes);
  abandoned.resume();
  int sum = 0;
  fiber next([&](fiber &) { sum = sum_of_a_large_array(); }, memory.get(), bytes);
  next.resume();
  EXPECT_EQ(sum, 4000);
}

struct walk {
  int frames = 0;
  _Unwind_Reason_Code end = _URC_NO_REASON;
};

[[gnu::noinline]] void unwind_from_here(walk &w) {
  w.end = _Unwind_Backtrace(
      [](_Unwind_Context *, void *p) {
        return ++static_cast<walk *>(p)->frames < 1000 ? _URC_NO_REASON : _URC_NORMAL_STOP;
      },
      &w);
}

TEST(context, unwinding_stops_at_the_base_of_the_stack) {
  walk w;
  int traced = 0;
  fiber f([&](fiber &) {
    unwind_from_here(w);
    void *frames[1000];
    traced = backtrace(frames, 1000);
  });
  f.resume();
  EXPECT_EQ(w.end, _URC_END_OF_STACK);
  EXPECT_GT(w.frames, 2);
  EXPECT_LT(w.frames, 50);
  EXPECT_GT(traced, 2);
  EXPECT_LT(traced, 50);
}

TEST(context, unwinding_stops_at_the_base_after_switches) {
  walk first, second;
  fiber f([&](fiber &self) {
    unwind_from_here(first);
    self.yield();
    unwind_from_here(second);
    self.yield(); // or the call above would be the last, and its frame this one's
  });
  f.resume();
  f.resume();
  EXPECT_EQ(first.frames, second.frames);
  EXPECT_EQ(second.end, _URC_END_OF_STACK);
}

void throw_out_of_a_fiber() {
  fiber f([](fiber &) { throw std::runtime_error("out of the base"); });
  f.resume();
}

TEST(context_death_test, an_exception_that_nobody_catches_terminates) {
  test::use_a_process_for_each_death();
  EXPECT_DEATH(throw_out_of_a_fiber(), "out of the base");
}

} // namespace
