// SPDX-License-Identifier: Apache-2.0
// Tasks and handles of C: arguments, accesses, options, failures.
#include "support/gate.hpp"
#include "task/in_place_task.hpp"
#include "tune/in_place_types.hpp"
#include "worker/runtime.hpp"

#include <weft.h>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int fail_with(void *arg) { return *static_cast<int *>(arg); }
int succeed(void *) { return 0; }
int count_up(void *arg) {
  ++*static_cast<std::atomic<int> *>(arg);
  return 0;
}

/// Copies of every size arrive whole and aligned, on the block and on the heap.
template <std::size_t Size>
struct payload {
  int *good;
  std::array<unsigned char, Size> bytes;
  static int check(void *arg) {
    const auto *self = static_cast<payload *>(arg);
    bool right = reinterpret_cast<std::uintptr_t>(arg) % 16 == 0;
    for (std::size_t i = 0; i < Size; ++i)
      right = right && self->bytes[i] == static_cast<unsigned char>(i * 7 + Size);
    *self->good += right;
    return 0;
  }
};

template <std::size_t Size>
int passes() {
  int good = 0;
  {
    payload<Size> p;
    p.good = &good;
    for (std::size_t i = 0; i < Size; ++i)
      p.bytes[i] = static_cast<unsigned char>(i * 7 + Size);
    EXPECT_EQ(weft_spawn(&payload<Size>::check, &p, sizeof p, nullptr, 0, nullptr, nullptr), 0);
    std::memset(&p, 0, sizeof p);
  }
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  return good;
}

/// Notes where it runs, in what its argument points to, and changes its own argument.
struct small_body {
  int *in_place, *cost;
  const char *label;
  int calls;
  static int run(void *arg) {
    auto *self = static_cast<small_body *>(arg);
    *self->in_place += weft::rt::is_in_place(*weft::rt::this_worker().current) ? 1 : 100;
    *self->cost = static_cast<int>(weft_task_cost());
    EXPECT_STREQ(weft_task_label(), self->label);
    return self->calls++;
  }
};

TEST(c_spawn, a_task_that_may_run_in_place_does_so_by_its_options) {
  EXPECT_EQ(weft_taskwait(nullptr), 0); // starts Weft
  const auto before = weft::rt::g_in_place_mode.exchange(weft::rt::in_place_mode::always);
  int in_place = 0, cost = 0, data = 0;
  small_body body{&in_place, &cost, "small", 0};
  weft_spawn_options may = WEFT_SPAWN_OPTIONS_INIT;
  may.flags = WEFT_TASK_MAY_INLINE;
  may.cost = 7;
  may.label = "small";
  const auto spawn = [&](const weft_spawn_options &options, bool region = false,
                         weft_handle **handle = nullptr) {
    in_place = cost = 0;
    weft_access named[] = {{&data, WEFT_INOUT}};
    weft_region part = weft_region_span(&data, sizeof data, 0, 1, WEFT_IN);
    EXPECT_EQ(region ? weft_spawn_regions(&small_body::run, &body, sizeof body, &part, 1, nullptr, 0,
                                          &options, handle)
                     : weft_spawn(&small_body::run, &body, sizeof body, named, 1, &options, handle),
              0);
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    EXPECT_EQ(cost, static_cast<int>(options.cost));
    return in_place;
  };
  EXPECT_EQ(spawn(may), 1);
  EXPECT_EQ(body.calls, 0) << "the body changes its copy";
  weft_handle *handle = nullptr;
  EXPECT_EQ(spawn(may, false, &handle), 100);
  EXPECT_EQ(weft_handle_destroy(handle), 0);
  EXPECT_EQ(spawn(may, true), 100);
  weft_spawn_options other = may;
  other.cost = 0;
  EXPECT_EQ(spawn(other), 100);
  other = may;
  other.priority = 1;
  EXPECT_EQ(spawn(other), 100);
  other = may;
  other.flags |= WEFT_TASK_WAIT;
  EXPECT_EQ(spawn(other), 100);
  other = may;
  other.stack_bytes = 1 << 16;
  EXPECT_EQ(spawn(other), 100);
  other = may;
  other.onready = [](void *) {};
  EXPECT_EQ(spawn(other), 100);
  // An argument that is too long for the stack of the creator.
  struct {
    small_body small;
    char more[512];
  } longer{body, {}};
  in_place = 0;
  EXPECT_EQ(weft_spawn(&small_body::run, &longer, sizeof longer, nullptr, 0, &may, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(in_place, 100);
  // A failure goes where that of a task goes.
  int code = 0, three = 3;
  EXPECT_EQ(weft_spawn(&fail_with, &three, sizeof three, nullptr, 0, &may, nullptr), 0);
  EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 3);
  // The body of a task that is apart is measured, until it is known to be small.
  weft::rt::g_in_place_mode = weft::rt::in_place_mode::by_time;
  in_place = 0;
  for (int i = 0; i < 100'000 && in_place % 100 == 0; ++i) {
    EXPECT_EQ(weft_spawn(&small_body::run, &body, sizeof body, nullptr, 0, &may, nullptr), 0);
    EXPECT_EQ(weft_taskwait(nullptr), 0);
  }
  EXPECT_NE(in_place % 100, 0);
  weft::rt::g_in_place_mode = before;
  weft_spawn_options loop = may;
  EXPECT_EQ(weft_taskiter(1, nullptr, &succeed, nullptr, 0, nullptr, 0, &loop, nullptr),
            WEFT_ERR_INVALID_ARGUMENT)
      << "of weft_spawn alone";
}

TEST(c_spawn, the_argument_is_copied_whatever_its_size) {
  EXPECT_EQ(passes<1>(), 1);
  EXPECT_EQ(passes<8>(), 1);
  EXPECT_EQ(passes<24>(), 1);
  EXPECT_EQ(passes<25>(), 1);
  EXPECT_EQ(passes<500>(), 1);
  EXPECT_EQ(passes<1016>(), 1);
  EXPECT_EQ(passes<1017>(), 1);
  EXPECT_EQ(passes<4096>(), 1);
  EXPECT_EQ(passes<100'000>(), 1);
}

/// The same, written where the task keeps it.
template <std::size_t Size>
int passes_in_two_steps() {
  int good = 0;
  weft_prepared task;
  EXPECT_EQ(weft_task_prepare(&task, &payload<Size>::check, sizeof(payload<Size>), 0, nullptr), 0);
  auto *const p = ::new (task.arg) payload<Size>;
  p->good = &good;
  for (std::size_t i = 0; i < Size; ++i)
    p->bytes[i] = static_cast<unsigned char>(i * 7 + Size);
  EXPECT_EQ(weft_task_submit(&task, nullptr, 0), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  return good;
}

TEST(c_prepare, the_caller_writes_the_argument_whatever_its_size) {
  EXPECT_EQ(passes_in_two_steps<1>(), 1);
  EXPECT_EQ(passes_in_two_steps<24>(), 1);
  EXPECT_EQ(passes_in_two_steps<25>(), 1);
  EXPECT_EQ(passes_in_two_steps<1016>(), 1);
  EXPECT_EQ(passes_in_two_steps<1017>(), 1);
  EXPECT_EQ(passes_in_two_steps<100'000>(), 1);
}

TEST(c_prepare, accesses_and_regions_order_the_tasks) {
  int x = 0;
  struct step {
    int *value;
    int factor, summand;
    static int run(void *arg) {
      const auto *s = static_cast<step *>(arg);
      *s->value = *s->value * s->factor + s->summand;
      return 0;
    }
  };
  const weft_access list[] = {weft_inout(&x), weft_in(nullptr)};
  const weft_region whole[] = {weft_region_span(&x, sizeof x, 0, 1, WEFT_INOUT),
                               weft_region_span(&x, sizeof x, 0, 1, WEFT_IN)};
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
    x = 1;
    for (int i = 0; i < 48; ++i) {
      weft_prepared task;
      ASSERT_EQ(weft_task_prepare(&task, &step::run, sizeof(step), count, nullptr), 0);
      *static_cast<step *>(task.arg) = {&x, i % 2 ? -1 : 1, 1};
      ASSERT_EQ(weft_task_submit(&task, list, count), 0);
      EXPECT_EQ(task.task, nullptr);
    }
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    EXPECT_EQ(x, 1);
    for (int i = 0; i < 48; ++i) {
      weft_prepared task;
      ASSERT_EQ(weft_task_prepare(&task, &step::run, sizeof(step), 0, nullptr), 0);
      *static_cast<step *>(task.arg) = {&x, i % 2 ? -1 : 1, 1};
      ASSERT_EQ(weft_task_submit_regions(&task, whole, count, nullptr, 0), 0);
    }
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    EXPECT_EQ(x, 1);
  }
}

TEST(c_prepare, onready_gets_the_argument_unless_it_has_a_context) {
  struct asked {
    int *ready, *run;
  };
  int ready = 0, ran = 0, other = 0;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.onready = [](void *context) { ++**static_cast<int **>(context); };
  const auto body = [](void *arg) {
    const auto *const a = static_cast<asked *>(arg);
    *a->run += *a->ready;
    return 0;
  };
  int *context = &other;
  for (const bool own : {true, false}) {
    options.onready_context = own ? nullptr : &context;
    weft_prepared task;
    ASSERT_EQ(weft_task_prepare(&task, body, sizeof(asked), 0, &options), 0);
    *static_cast<asked *>(task.arg) = {&ready, &ran};
    ASSERT_EQ(weft_task_submit(&task, nullptr, 0), 0);
    EXPECT_EQ(weft_taskwait(nullptr), 0);
  }
  EXPECT_EQ(ready, 1);
  EXPECT_EQ(other, 1);
  EXPECT_EQ(ran, 2);
}

TEST(c_prepare, what_is_discarded_or_refused_never_runs) {
  std::atomic<int> n = 0;
  const auto count = [](void *arg) { return count_up(*static_cast<void **>(arg)); };
  const auto prepare = [&](weft_prepared &task, std::size_t accesses, std::size_t bytes) {
    ASSERT_EQ(weft_task_prepare(&task, count, bytes, accesses, nullptr), 0);
    *static_cast<void **>(task.arg) = &n;
  };
  weft_prepared task;
  for (const std::size_t bytes : {sizeof(void *), std::size_t{5000}}) {
    prepare(task, 1, bytes);
    EXPECT_EQ(weft_task_discard(&task), 0);
    EXPECT_EQ(weft_task_discard(&task), 0);
    prepare(task, 1, bytes);
    EXPECT_EQ(weft_task_submit(&task, nullptr, 0), WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_STREQ(weft_last_error_message(),
                 "weft_task_submit: the list has 0 accesses, and weft_task_prepare announced 1");
    prepare(task, 1, bytes);
    EXPECT_EQ(weft_task_submit(&task, nullptr, 1), WEFT_ERR_INVALID_ARGUMENT);
    const weft_access wrong = weft_access_make(&n, 99);
    prepare(task, 1, bytes);
    EXPECT_EQ(weft_task_submit(&task, &wrong, 1), WEFT_ERR_INVALID_ARGUMENT);
    weft_region part = weft_region_span(&n, sizeof n, 0, 1, WEFT_IN);
    part.dimensions = 4;
    prepare(task, 0, bytes);
    EXPECT_EQ(weft_task_submit_regions(&task, &part, 1, nullptr, 0), WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(task.task, nullptr);
  }
  EXPECT_EQ(weft_task_submit(&task, nullptr, 0), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(weft_last_error_message(),
               "weft_task_submit: no task is prepared; call weft_task_prepare first");
  EXPECT_EQ(weft_task_submit(nullptr, nullptr, 0), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_task_prepare(nullptr, count, 8, 0, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_task_prepare(&task, nullptr, 8, 0, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(task.arg, nullptr);
  EXPECT_EQ(weft_task_discard(nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(n, 0);
}

TEST(c_spawn, an_argument_of_no_bytes_is_passed_as_it_is) {
  std::atomic<int> n = 0;
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(n, 1);
}

TEST(c_spawn, accesses_order_the_tasks) {
  struct step {
    int *value;
    int factor, summand;
    static int run(void *arg) {
      const auto *s = static_cast<step *>(arg);
      *s->value = *s->value * s->factor + s->summand;
      return 0;
    }
  };
  int x = 0, expected = 0;
  for (int i = 0; i < 50; ++i) {
    const step s{&x, i % 3, i};
    const weft_access a = weft_inout(&x);
    ASSERT_EQ(weft_spawn(&step::run, &s, sizeof s, &a, 1, nullptr, nullptr), 0);
    expected = expected * (i % 3) + i;
  }
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(x, expected);
}

TEST(c_spawn, a_list_of_many_accesses_is_read_before_the_call_returns) {
  std::array<int, 40> cells{};
  for (int &cell : cells) {
    int *p = &cell;
    const weft_access a = weft_out(p);
    ASSERT_EQ(weft_spawn(
                  [](void *arg) {
                    **static_cast<int **>(arg) = 1;
                    return 0;
                  },
                  &p, sizeof p, &a, 1, nullptr, nullptr),
              0);
  }
  struct sum {
    std::array<int, 40> *cells;
    int *into;
  };
  int total = 0;
  const sum s{&cells, &total};
  std::vector<weft_access> list;
  for (int &cell : cells)
    list.push_back(weft_in(&cell));
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  const auto *s = static_cast<sum *>(arg);
                  for (int cell : *s->cells)
                    *s->into += cell;
                  return 0;
                },
                &s, sizeof s, list.data(), list.size(), nullptr, nullptr),
            0);
  list.assign(list.size(), weft_access{nullptr, -1});
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(total, 40);
}

TEST(c_spawn, taskwait_on_waits_for_the_data) {
  int x = 0;
  const weft_access a = weft_out(&x), b = weft_in(&x);
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  weft_task_sleep_for(1'000'000);
                  *static_cast<int *>(arg) = 3;
                  return 0;
                },
                &x, 0, &a, 1, nullptr, nullptr),
            0);
  EXPECT_EQ(weft_taskwait_on(&b, 1), 0);
  EXPECT_EQ(x, 3);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

TEST(c_spawn, tasks_of_c_and_of_cxx_order_each_other) {
  int x = 0;
  weft::spawn([&] { x = 4; }, weft::out(x));
  const weft_access a = weft_inout(&x);
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  *static_cast<int *>(arg) *= 10;
                  return 0;
                },
                &x, 0, &a, 1, nullptr, nullptr),
            0);
  weft::spawn([&] { x += 2; }, weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(x, 42);
}

TEST(c_spawn, a_task_gets_the_stack_that_it_asks_for) {
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.stack_bytes = 1 << 20;
  weft_handle *handle = nullptr;
  ASSERT_EQ(weft_spawn(
                [](void *) {
                  volatile char large[600 << 10];
                  for (std::size_t at = sizeof large; at >= 4096; at -= 4096)
                    large[at - 1] = 0;
                  return 0;
                },
                nullptr, 0, nullptr, 0, &o, &handle),
            0);
  EXPECT_EQ(weft_handle_wait(handle, nullptr),
            0); // a waiter for a handle runs no task on its own stack
  EXPECT_EQ(weft_handle_destroy(handle), 0);
}

TEST(c_spawn, options_reach_the_task) {
  struct seen {
    std::string label;
    int final = -1;
    std::atomic<int> ready = 0;
  } s;
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.label = "a label";
  o.priority = 7;
  o.flags = WEFT_TASK_FINAL | WEFT_TASK_UNDEFERRED;
  o.stack_bytes = 1 << 20;
  o.onready = [](void *context) { ++*static_cast<std::atomic<int> *>(context); };
  o.onready_context = &s.ready;
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  auto *s = static_cast<seen *>(arg);
                  s->label = weft_task_label();
                  s->final = weft_task_in_final();
                  volatile char large[600 << 10];
                  large[0] = 0;
                  return static_cast<int>(large[0]);
                },
                &s, 0, nullptr, 0, &o, nullptr),
            0);
  EXPECT_EQ(s.label, "a label"); // undeferred: it has run
  EXPECT_EQ(s.final, 1);
  EXPECT_EQ(s.ready, 1);
  EXPECT_EQ(weft_task_in_final(), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

TEST(c_spawn, options_of_another_version_are_read_as_far_as_both_know_them) {
  struct later {
    weft_spawn_options known;
    void *unknown;
  };
  std::atomic<int> n = 0;
  later o{WEFT_SPAWN_OPTIONS_INIT, nullptr};
  o.known.size = sizeof o;
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 0, &o.known, nullptr), 0);
  o.unknown = &n;
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 0, &o.known, nullptr), WEFT_ERR_NOT_SUPPORTED);

  weft_spawn_options earlier = WEFT_SPAWN_OPTIONS_INIT;
  earlier.size = offsetof(weft_spawn_options, flags);
  earlier.flags = 0xffff; // is not read
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 0, &earlier, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(n, 2);
}

TEST(c_spawn, bad_arguments_are_refused_and_nothing_runs) {
  std::atomic<int> n = 0;
  weft_access bad = {&n, 12};
  weft_spawn_options no_size = {}, bad_flags = WEFT_SPAWN_OPTIONS_INIT;
  bad_flags.flags = 8;
  weft_handle *handle = reinterpret_cast<weft_handle *>(&n);
  EXPECT_EQ(weft_spawn(nullptr, &n, 0, nullptr, 0, nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_spawn(count_up, nullptr, 8, nullptr, 0, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 1, nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_spawn(count_up, &n, 0, &bad, 1, nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(weft_last_error_message(), "access 0 has mode 12"), nullptr)
      << weft_last_error_message();
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 0, &no_size, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_spawn(count_up, &n, 0, nullptr, 0, &bad_flags, &handle),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(weft_taskwait_on(nullptr, 2), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(n, 0);
}

TEST(c_spawn, more_accesses_than_a_task_has_are_refused) {
  weft_access one = {nullptr, WEFT_IN};
  weft_region part = {};
  constexpr std::size_t many = std::size_t{1} << 60;
  EXPECT_EQ(weft_spawn([](void *) { return 0; }, nullptr, 0, &one, many, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(weft_last_error_message(), "accesses is longer than any task's"), nullptr)
      << weft_last_error_message();
  EXPECT_EQ(weft_spawn_regions([](void *) { return 0; }, nullptr, 0, &part, many, nullptr, 0,
                               nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskwait_on(&one, many), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_release(&one, many), WEFT_ERR_INVALID_ARGUMENT);
}

TEST(c_taskwait, gives_the_code_of_a_failed_child_once) {
  int code = 5;
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.label = "loader";
  ASSERT_EQ(weft_spawn(fail_with, &code, sizeof code, nullptr, 0, &o, nullptr), 0);
  EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 5);
  EXPECT_STREQ(weft_last_error_message(), "the task 'loader' returned 5");
  EXPECT_EQ(weft_taskwait(&code), 0);
  EXPECT_EQ(code, 0);
}

TEST(c_taskwait, a_cxx_exception_becomes_a_code_and_its_text) {
  int code = 0;
  weft::spawn([] { throw std::runtime_error("the disk is full"); });
  EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, WEFT_ERR_EXCEPTION);
  EXPECT_STREQ(weft_last_error_message(), "the disk is full");

  weft::spawn([] { throw 1; });
  EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, WEFT_ERR_EXCEPTION);
}

TEST(c_taskwait, a_failure_of_c_is_an_exception_for_cxx) {
  const int code = -3;
  ASSERT_EQ(weft_spawn(fail_with, &code, sizeof code, nullptr, 0, nullptr, nullptr), 0);
  std::string said;
  try {
    weft::taskwait();
  } catch (const std::runtime_error &e) {
    said = e.what();
  }
  EXPECT_NE(said.find("returned -3"), std::string::npos) << said;
}

TEST(c_taskwait, an_error_of_weft_keeps_its_code) {
  weft::spawn([] { throw weft::error(weft::errc::cancelled, "called off"); });
  EXPECT_EQ(weft_taskwait(nullptr), WEFT_ERR_CANCELLED);
  EXPECT_STREQ(weft_last_error_message(), "called off");
}

TEST(c_handle, waiting_twice_gives_the_same_answer) {
  int code = 9;
  weft_handle *handle = nullptr;
  ASSERT_EQ(weft_spawn(fail_with, &code, sizeof code, nullptr, 0, nullptr, &handle), 0);
  ASSERT_NE(handle, nullptr);
  for (int i = 0; i < 2; ++i) {
    code = 0;
    EXPECT_EQ(weft_handle_wait(handle, &code), WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, 9);
  }
  EXPECT_EQ(weft_handle_destroy(handle), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0) << "the failure belongs to the handle";
}

TEST(c_handle, is_ready_when_the_body_has_ended_and_not_before) {
  test::gate gate;
  weft_handle *handle = nullptr;
  ASSERT_EQ(weft_spawn([](void *arg) { return static_cast<test::gate *>(arg)->pass() ? 0 : 1; },
                       &gate, 0, nullptr, 0, nullptr, &handle),
            0);
  EXPECT_EQ(weft_handle_ready(handle), 0);
  gate.open();
  EXPECT_EQ(weft_handle_wait(handle, nullptr), 0);
  EXPECT_EQ(weft_handle_ready(handle), 1);
  EXPECT_EQ(weft_handle_destroy(handle), 0);
}

TEST(c_handle, may_be_given_back_before_the_task_ends) {
  test::gate gate;
  weft_handle *handle = nullptr;
  ASSERT_EQ(weft_spawn([](void *arg) { return static_cast<test::gate *>(arg)->pass() ? 0 : 1; },
                       &gate, 0, nullptr, 0, nullptr, &handle),
            0);
  EXPECT_EQ(weft_handle_destroy(handle), 0);
  gate.open();
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

TEST(c_handle, null_is_refused_but_may_be_destroyed) {
  EXPECT_EQ(weft_handle_wait(nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_handle_ready(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_handle_destroy(nullptr), 0);
}

TEST(c_task, yield_and_sleep_return) {
  EXPECT_EQ(weft_spawn(succeed, nullptr, 0, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskyield(), 0);
  EXPECT_EQ(weft_task_sleep_for(1000), 0);
  EXPECT_EQ(weft_task_sleep_for(-1), 0);
  EXPECT_EQ(weft_task_cancelled(), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

struct tally {
  std::atomic<int> done = 0;
  std::atomic<bool> open = true;
};

int add_chunk(const weft_range *chunk, void *arg) {
  auto *t = static_cast<tally *>(arg);
  while (!t->open)
    weft_taskyield();
  t->done += static_cast<int>(chunk->limit - chunk->first);
  return 0;
}
int record_one(void *arg) {
  return weft_spawn(
      [](void *p) {
        const weft_range one = {0, 1, 1};
        return add_chunk(&one, p);
      },
      arg, 0, nullptr, 0, nullptr, nullptr);
}

TEST(c_loops, without_accesses_wait_and_with_accesses_do_not) {
  tally t;
  const weft_range ten = {0, 10, 1};
  EXPECT_EQ(weft_taskloop(ten, add_chunk, &t, 0, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(t.done, 10);
  EXPECT_EQ(weft_taskfor(ten, add_chunk, &t, 0, 0, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(t.done, 20);
  EXPECT_EQ(weft_taskiter(10, nullptr, record_one, &t, 0, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(t.done, 30);
  EXPECT_EQ(weft_taskfor(
                ten, [](const weft_range *, void *) { return 3; }, nullptr, 0, 0, nullptr, 0,
                nullptr, nullptr),
            WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(weft_taskwait(nullptr), 0);

  const weft_access inout = {&t, WEFT_INOUT};
  weft_loop_options by_data = WEFT_LOOP_OPTIONS_INIT;
  by_data.accesses = [](const weft_range *, void *arg, weft_access *list) -> size_t {
    return *list = {arg, WEFT_INOUT}, 1;
  };
  by_data.most_accesses = 1;
  weft_spawn_options nogroup = WEFT_SPAWN_OPTIONS_INIT;
  nogroup.flags = WEFT_TASK_NOGROUP;
  t.open = false;
  EXPECT_EQ(weft_taskloop(ten, add_chunk, &t, 0, &by_data, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskfor(ten, add_chunk, &t, 0, 0, &inout, 1, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskiter(10, nullptr, record_one, &t, 0, &inout, 1, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskfor(ten, add_chunk, &t, 0, 0, nullptr, 0, &nogroup, nullptr), 0);
  EXPECT_EQ(weft_taskiter(10, nullptr, record_one, &t, 0, nullptr, 0, &nogroup, nullptr), 0);
  EXPECT_EQ(t.done, 30);
  t.open = true;
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(t.done, 80);
  EXPECT_EQ(weft_spawn(count_up, &t, 0, nullptr, 0, &nogroup, nullptr), WEFT_ERR_INVALID_ARGUMENT)
      << "of loops alone";
}

} // namespace
