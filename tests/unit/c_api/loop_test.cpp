// SPDX-License-Identifier: Apache-2.0
// Loops in two steps, whose workers may have arguments of their own, and how many chunks a loop has.
#include <weft.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace {

constexpr int k_n = 60;

/// Is an argument that points into itself. Its workers change it, so no two may use one at once.
struct owned {
  int *at; // `here` of this one
  int here;
  std::atomic<int> *runs; // of the test: how often each iteration ran
  std::atomic<int> *wrong;
  std::atomic<int> *copies;

  void check() const {
    if (at != &here)
      ++*wrong;
  }
  static int run(const weft_range *chunk, void *arg) {
    auto *const self = static_cast<owned *>(arg);
    self->check();
    for (std::int64_t i = chunk->first; i != chunk->limit; i += chunk->step) {
      const int before = *self->at;
      *self->at = before + 1;
      if (i % 7 == 0)
        weft_task_sleep_for(20'000); // another worker runs a chunk meanwhile
      else
        weft_taskyield();
      if (*self->at != before + 1)
        ++*self->wrong;
      ++self->runs[i];
    }
    // A descendant of the task may use the argument, which lives as long as the task.
    return weft_spawn(
        [](void *p) {
          static_cast<owned *>(p)->check();
          return 0;
        },
        self, 0, nullptr, 0, nullptr, nullptr);
  }
  static void copy(void *to, const void *from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    auto *const made = static_cast<owned *>(to);
    made->at = &made->here;
    ++*made->copies;
  }
};

TEST(c_prepared_loop, runs_each_iteration_once_with_arguments_of_its_workers) {
  std::atomic<int> runs[k_n] = {}, wrong = 0, copies = 0;
  int x = 0;
  const weft_access inout = weft_inout(&x);
  const weft_region part = weft_region_span(&x, sizeof x, 0, 1, WEFT_INOUT);
  for (const bool by_region : {false, true})
    for (const std::uint64_t grain : {0, 1, 7, 1000})
      for (const std::size_t bytes : {sizeof(owned), std::size_t{5000}}) {
        copies = 0;
        weft_prepared loop;
        ASSERT_EQ(weft_taskfor_prepare(&loop, {0, k_n, 1}, &owned::run, bytes, grain, &owned::copy,
                                       by_region ? 0 : 1, nullptr),
                  0);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(loop.arg) % 16, 0U);
        auto *const arg = ::new (loop.arg) owned{nullptr, 5, runs, &wrong, &copies};
        arg->at = &arg->here;
        ASSERT_EQ(by_region ? weft_task_submit_regions(&loop, &part, 1, nullptr, 0)
                            : weft_task_submit(&loop, &inout, 1),
                  0);
        EXPECT_EQ(loop.task, nullptr);
        ASSERT_EQ(weft_taskwait(nullptr), 0);
        EXPECT_GE(copies, 1);
        EXPECT_LE(copies, grain == 1000 ? 1 : k_n);
        for (auto &ran : runs)
          EXPECT_EQ(ran.exchange(0), 1);
      }
  EXPECT_EQ(wrong, 0);
}

TEST(c_prepared_loop, shares_its_argument_without_copies_and_is_ordered) {
  struct shared {
    std::atomic<int> *sum;
    int last;
    static int run(const weft_range *chunk, void *arg) {
      auto *const self = static_cast<shared *>(arg);
      for (std::int64_t i = chunk->first; i > chunk->limit; i += chunk->step) {
        if (*self->sum < self->last)
          return 1; // the loop before has not ended
        *self->sum += static_cast<int>(i);
      }
      return 0;
    }
  };
  std::atomic<int> sum = 0;
  const weft_access inout = weft_inout(&sum);
  int expected = 0;
  for (int round = 0; round < 30; ++round) {
    weft_prepared loop;
    ASSERT_EQ(weft_taskfor_prepare(&loop, {20, 0, -2}, &shared::run, sizeof(shared), 1 + round % 3,
                                   nullptr, 1, nullptr),
              0);
    *static_cast<shared *>(loop.arg) = {&sum, expected};
    ASSERT_EQ(weft_task_submit(&loop, &inout, 1), 0);
    expected += 110;
  }
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(sum, expected);
}

TEST(c_prepared_loop, waits_for_nothing_without_accesses) {
  static std::atomic<bool> open;
  static std::atomic<int> done;
  open = false, done = 0;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  for (const unsigned flags : {0U, unsigned{WEFT_TASK_NOGROUP}}) {
    options.flags = flags;
    weft_prepared loop;
    ASSERT_EQ(weft_taskfor_prepare(
                  &loop, {0, 8, 1},
                  [](const weft_range *chunk, void *arg) {
                    while (!open)
                      weft_taskyield();
                    done += arg ? 1000 : static_cast<int>(chunk->limit - chunk->first);
                    return 0;
                  },
                  0, 0, nullptr, 0, &options),
              0);
    EXPECT_EQ(loop.arg, nullptr);
    ASSERT_EQ(weft_task_submit(&loop, nullptr, 0), 0);
  }
  EXPECT_EQ(done, 0);
  open = true;
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(done, 16);
}

TEST(c_prepared_loop, is_ready_before_its_argument_is_copied) {
  struct asked {
    int ready;
    std::atomic<int> *good;
  };
  std::atomic<int> good = 0;
  int other = 0;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.onready = [](void *context) { ++*static_cast<int *>(context); };
  for (const bool own : {true, false}) {
    options.onready_context = own ? nullptr : &other;
    weft_prepared loop;
    ASSERT_EQ(
        weft_taskfor_prepare(
            &loop, {0, 4, 1},
            [](const weft_range *, void *arg) {
              const auto *const a = static_cast<asked *>(arg);
              *a->good += a->ready;
              return 0;
            },
            sizeof(asked), 1,
            [](void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }, 0,
            &options),
        0);
    *static_cast<asked *>(loop.arg) = {0, &good};
    ASSERT_EQ(weft_task_submit(&loop, nullptr, 0), 0);
    EXPECT_EQ(weft_taskwait(nullptr), 0);
  }
  EXPECT_EQ(good, 4);
  EXPECT_EQ(other, 1);
}

TEST(c_prepared_loop, fails_with_its_body_and_skips_the_rest) {
  static std::atomic<int> began;
  for (const std::uint64_t grain : {0, 1}) {
    began = 0;
    weft_prepared loop;
    ASSERT_EQ(
        weft_taskfor_prepare(
            &loop, {0, 100'000, 1},
            [](const weft_range *, void *) {
              ++began;
              return 9;
            },
            8, grain,
            [](void *to, const void *from, std::size_t bytes) { std::memcpy(to, from, bytes); }, 0,
            nullptr),
        0);
    ASSERT_EQ(weft_task_submit(&loop, nullptr, 0), 0);
    int code = 0;
    EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, 9);
    EXPECT_LE(began, 2 * weft_worker_count());
  }
}

TEST(c_prepared_loop, adds_up_in_one_worker_where_reductions_are_in_place) {
  struct summed {
    std::int64_t *sum;
    std::atomic<int> *inside, *met;
    static int add(const weft_range *chunk, void *arg) {
      const auto *const self = static_cast<summed *>(arg);
      void *mine = nullptr;
      if (const int status = weft_reduction_local(self->sum, sizeof *self->sum, &mine))
        return status;
      const bool in_place = mine == self->sum;
      if (in_place && ++*self->inside > 1)
        ++*self->met;
      for (std::int64_t i = chunk->first; i < chunk->limit; ++i) {
        weft_task_sleep_for(10'000);
        *static_cast<std::int64_t *>(mine) += i;
      }
      if (in_place)
        --*self->inside;
      return 0;
    }
  };
  for (const bool among_regions : {false, true}) {
    std::int64_t sum = 0, other[2] = {};
    std::atomic<int> inside = 0, met = 0;
    weft_reduction r;
    ASSERT_EQ(weft_reduction_builtin(&r, &sum, 1, WEFT_INT64, WEFT_SUM), 0);
    const weft_access reduces = weft_reduce(&r);
    const weft_region part = weft_region_span(other, sizeof other[0], 0, 2, WEFT_OUT);
    for (const std::uint64_t grain : {0, 1}) {
      weft_prepared loop;
      ASSERT_EQ(weft_taskfor_prepare(&loop, {1, 21, 1}, &summed::add, sizeof(summed), grain,
                                     nullptr, 1, nullptr),
                0);
      *static_cast<summed *>(loop.arg) = {&sum, &inside, &met};
      ASSERT_EQ(among_regions ? weft_task_submit_regions(&loop, &part, 1, &reduces, 1)
                              : weft_task_submit(&loop, &reduces, 1),
                0);
    }
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    EXPECT_EQ(sum, 420);
    EXPECT_EQ(met, 0) << "two workers added to the object itself";
  }
}

/// Is the argument of a loop whose iterations spawn a task each, which must come in the order of the iterations.
struct in_order {
  int *x;
  std::atomic<int> *inside, *wrong;
  bool by_region;
};
/// Is the argument of such a task.
struct one_in_order {
  in_order of;
  std::int64_t i;
};

int run_in_order(void *arg) {
  const auto *const mine = static_cast<one_in_order *>(arg);
  *mine->of.wrong += ++*mine->of.inside != 1;
  *mine->of.wrong += (*mine->of.x)++ != mine->i;
  weft_task_sleep_for(50'000);
  --*mine->of.inside;
  return 0;
}

int spawn_in_order(const weft_range *chunk, void *arg) {
  const auto *const all = static_cast<in_order *>(arg);
  const weft_access inout = weft_inout(all->x);
  const weft_region part = weft_region_span(all->x, sizeof(int), 0, 1, WEFT_INOUT);
  for (std::int64_t i = chunk->first; i < chunk->limit; ++i) {
    weft_task_sleep_for(100'000); // another worker would take the next chunk meanwhile
    const one_in_order child{*all, i};
    const int status = all->by_region ? weft_spawn_regions(&run_in_order, &child, sizeof child, &part,
                                                           1, nullptr, 0, nullptr, nullptr)
                                      : weft_spawn(&run_in_order, &child, sizeof child, &inout, 1,
                                                   nullptr, nullptr);
    if (status != WEFT_OK)
      return status;
  }
  return 0;
}

TEST(c_loop, with_weak_accesses_orders_what_it_spawns) {
  int x = 0, y = 0;
  std::atomic<int> inside = 0, wrong = 0;
  const weft_access weak[] = {weft_weak_inout(&x), weft_in(&y)};
  const weft_region weak_part = weft_region_span(&x, sizeof x, 0, 1, WEFT_WEAK_INOUT);
  const auto ended = [&](const char *how) {
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    EXPECT_EQ(x, 20) << how;
    EXPECT_EQ(wrong, 0) << how;
    x = 0;
  };
  for (const std::uint64_t grain : {0, 1}) {
    in_order arg{&x, &inside, &wrong, false};
    ASSERT_EQ(weft_taskfor({0, 20, 1}, &spawn_in_order, &arg, sizeof arg, grain, weak, 2, nullptr,
                           nullptr),
              0);
    ended("weft_taskfor");
    for (const std::size_t count : {1, 2}) { // one access has a way of its own
      weft_prepared loop;
      ASSERT_EQ(weft_taskfor_prepare(&loop, {0, 20, 1}, &spawn_in_order, sizeof arg, grain,
                                     nullptr, count, nullptr),
                0);
      *static_cast<in_order *>(loop.arg) = arg;
      ASSERT_EQ(weft_task_submit(&loop, weak, count), 0);
      ended("weft_task_submit");
    }
    arg.by_region = true;
    ASSERT_EQ(weft_taskfor_regions({0, 20, 1}, &spawn_in_order, &arg, sizeof arg, grain,
                                   &weak_part, 1, nullptr, 0, nullptr, nullptr),
              0);
    ended("weft_taskfor_regions");
    weft_prepared loop;
    ASSERT_EQ(weft_taskfor_prepare(&loop, {0, 20, 1}, &spawn_in_order, sizeof arg, grain, nullptr,
                                   0, nullptr),
              0);
    *static_cast<in_order *>(loop.arg) = arg;
    ASSERT_EQ(weft_task_submit_regions(&loop, &weak_part, 1, nullptr, 0), 0);
    ended("weft_task_submit_regions");
  }
}

TEST(c_loop, refuses_a_list_that_is_missing) {
  EXPECT_EQ(weft_taskfor({0, 1, 1}, &spawn_in_order, nullptr, 0, 0, nullptr, 1, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskfor_regions({0, 1, 1}, &spawn_in_order, nullptr, 0, 0, nullptr, 1, nullptr,
                                 0, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
}

TEST(c_prepared_loop, that_is_discarded_or_refused_never_runs) {
  std::atomic<int> runs[4] = {}, wrong = 0, copies = 0;
  const auto prepare = [&](weft_prepared &loop) {
    ASSERT_EQ(weft_taskfor_prepare(&loop, {0, 4, 1}, &owned::run, sizeof(owned), 1, &owned::copy, 1,
                                   nullptr),
              0);
    ::new (loop.arg) owned{nullptr, 0, runs, &wrong, &copies};
  };
  weft_prepared loop;
  prepare(loop);
  EXPECT_EQ(weft_task_discard(&loop), 0);
  prepare(loop);
  EXPECT_EQ(weft_task_submit(&loop, nullptr, 0), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(loop.task, nullptr);

  const auto refused = [&](const weft_range &range, weft_loop_body body, std::size_t bytes,
                           decltype(&owned::copy) copy, const weft_spawn_options *options) {
    EXPECT_EQ(weft_taskfor_prepare(&loop, range, body, bytes, 1, copy, 0, options),
              WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(loop.arg, nullptr);
    EXPECT_EQ(loop.task, nullptr);
    return std::string(weft_last_error_message());
  };
  EXPECT_EQ(refused({0, 4, 1}, nullptr, 8, nullptr, nullptr),
            "weft_taskfor_prepare: the function to call is NULL");
  EXPECT_EQ(refused({0, 4, 0}, &owned::run, 8, nullptr, nullptr),
            "the step of a range is 0; give a positive or a negative one");
  EXPECT_EQ(refused({0, 4, 1}, &owned::run, 0, &owned::copy, nullptr),
            "weft_taskfor_prepare: there is a function that copies the argument, but no argument; "
            "give its bytes, or leave the function NULL");
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.flags = 64;
  EXPECT_NE(refused({0, 4, 1}, &owned::run, 8, nullptr, &options).find("0x40"), std::string::npos);
  EXPECT_EQ(weft_taskfor_prepare(nullptr, {0, 4, 1}, &owned::run, 8, 1, nullptr, 0, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(copies, 0);
}

/// Is the argument of a prepared taskiter: its address is what the tasks of all rounds see.
struct sweeps {
  sweeps *at;
  int *x;
  int left;
  std::atomic<int> *wrong, *recorded;

  static int add(void *p) {
    auto *const self = *static_cast<sweeps **>(p);
    *self->wrong += self->at != self;
    *self->x = *self->x * 2 + 1;
    return 0;
  }
  static int record(void *p) {
    auto *self = static_cast<sweeps *>(p);
    ++*self->recorded;
    const weft_access inout = weft_inout(self->x);
    return weft_spawn(&add, &self, sizeof self, &inout, 1, nullptr, nullptr);
  }
  static int more(void *p) { return static_cast<sweeps *>(p)->left-- > 0; }
};

TEST(c_prepared_taskiter, runs_its_tasks_in_every_round_ordered_by_objects_and_regions) {
  std::atomic<int> wrong = 0, recorded = 0;
  int x = 0;
  const weft_access inout = weft_inout(&x);
  const weft_region part = weft_region_span(&x, sizeof x, 0, 1, WEFT_INOUT);
  int expected = 0;
  for (const bool by_region : {false, true})
    for (const bool asks : {false, true})
      for (const std::size_t bytes : {sizeof(sweeps), std::size_t{5000}}) {
        x = expected = recorded = 0;
        for (int rounds : {3, 1, 0}) { // the second loop waits for the first one
          weft_prepared loop;
          ASSERT_EQ(weft_taskiter_prepare(&loop, asks ? 0 : static_cast<std::uint64_t>(rounds),
                                          asks ? &sweeps::more : nullptr, &sweeps::record, bytes,
                                          by_region ? 0 : 1, nullptr),
                    0);
          ASSERT_EQ(reinterpret_cast<std::uintptr_t>(loop.arg) % 16, 0U);
          auto *const arg = static_cast<sweeps *>(loop.arg);
          *arg = {arg, &x, rounds, &wrong, &recorded};
          ASSERT_EQ(by_region ? weft_task_submit_regions(&loop, &part, 1, nullptr, 0)
                              : weft_task_submit(&loop, &inout, 1),
                    0);
          EXPECT_EQ(loop.task, nullptr);
          for (; rounds > 0; --rounds)
            expected = expected * 2 + 1;
        }
        ASSERT_EQ(weft_taskwait(nullptr), 0);
        EXPECT_EQ(x, expected);
        EXPECT_EQ(recorded, 2);
      }
  EXPECT_EQ(wrong, 0);
}

TEST(c_prepared_taskiter, waits_for_nothing_and_asks_with_its_argument) {
  static std::atomic<bool> open;
  static std::atomic<int> ready, done;
  open = false, ready = done = 0;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.onready = [](void *p) { ready += *static_cast<int *>(p); };
  int other = 500;
  for (const unsigned flags : {0U, unsigned{WEFT_TASK_NOGROUP}, unsigned{WEFT_TASK_WAIT}}) {
    options.flags = flags;
    options.onready_context = flags == WEFT_TASK_WAIT ? &other : nullptr;
    weft_prepared loop;
    ASSERT_EQ(weft_taskiter_prepare(
                  &loop, 4, nullptr,
                  [](void *p) {
                    return weft_spawn(
                        [](void *arg) {
                          while (!open)
                            weft_taskyield();
                          done += *static_cast<int *>(arg);
                          return 0;
                        },
                        p, 0, nullptr, 0, nullptr, nullptr);
                  },
                  sizeof(int), 0, &options),
              0);
    *static_cast<int *>(loop.arg) = 7;
    ASSERT_EQ(weft_task_submit(&loop, nullptr, 0), 0);
  }
  EXPECT_EQ(done, 0);
  open = true;
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(done, 3 * 4 * 7);
  EXPECT_EQ(ready, 7 + 7 + 500);
}

TEST(c_prepared_taskiter, gives_the_code_of_what_fails) {
  for (const bool in_record : {true, false}) {
    weft_prepared loop;
    ASSERT_EQ(weft_taskiter_prepare(
                  &loop, 3, nullptr,
                  in_record ? [](void *p) { return p ? 1 : 11; }
                            : [](void *) {
                                return weft_spawn([](void *) { return 12; }, nullptr, 0, nullptr, 0,
                                                  nullptr, nullptr);
                              },
                  0, 0, nullptr),
              0);
    EXPECT_EQ(loop.arg, nullptr);
    ASSERT_EQ(weft_task_submit(&loop, nullptr, 0), 0);
    int code = 0;
    EXPECT_EQ(weft_taskwait(&code), WEFT_ERR_TASK_FAILED);
    EXPECT_EQ(code, in_record ? 11 : 12);
  }
}

TEST(c_prepared_taskiter, that_is_discarded_or_refused_never_records) {
  std::atomic<int> wrong = 0, recorded = 0;
  int x = 0;
  const auto prepare = [&](weft_prepared &loop, std::size_t bytes) {
    ASSERT_EQ(weft_taskiter_prepare(&loop, 2, nullptr, &sweeps::record, bytes, 1, nullptr), 0);
    *static_cast<sweeps *>(loop.arg) = {nullptr, &x, 0, &wrong, &recorded};
  };
  weft_prepared loop;
  prepare(loop, sizeof(sweeps));
  EXPECT_EQ(weft_task_discard(&loop), 0);
  prepare(loop, 5000);
  EXPECT_EQ(weft_task_submit(&loop, nullptr, 0), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(loop.task, nullptr);

  const auto refused = [&](weft_body record, std::size_t accesses, unsigned flags) {
    weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
    options.flags = flags;
    EXPECT_EQ(weft_taskiter_prepare(&loop, 2, nullptr, record, 8, accesses, &options),
              WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(loop.arg, nullptr);
    EXPECT_EQ(loop.task, nullptr);
    return std::string(weft_last_error_message());
  };
  EXPECT_EQ(refused(nullptr, 0, 0), "weft_taskiter_prepare: the function to call is NULL");
  for (const unsigned flag : {unsigned{WEFT_TASK_FINAL}, unsigned{WEFT_TASK_UNDEFERRED}})
    EXPECT_EQ(refused(&sweeps::record, 0, flag),
              "weft_taskiter_prepare: options->flags is 0x" + std::to_string(flag) +
                  "; a taskiter is neither final nor undeferred");
  EXPECT_NE(refused(&sweeps::record, 0, 64).find("0x40"), std::string::npos);
  EXPECT_NE(refused(&sweeps::record, std::size_t{1} << 40, 0).find("accesses"), std::string::npos);
  EXPECT_EQ(weft_taskiter_prepare(nullptr, 2, nullptr, &sweeps::record, 8, 0, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(recorded, 0);
}

/// Counts iterations, and how many of them had the options of `c_taskloop`.
struct tally {
  static constexpr int k_n = 20'000;
  std::atomic<int> runs[k_n] = {}, kept = 0, inside = 0;
  static int run(const weft_range *chunk, void *arg) {
    auto *const self = static_cast<tally *>(arg);
    const char *const label = weft_task_label();
    const bool is_kept = label && label == std::string("part") && weft_task_cost() == 7;
    for (std::int64_t i = chunk->first; i != chunk->limit; i += chunk->step) {
      ++self->runs[i];
      self->kept += is_kept;
    }
    return 0;
  }
  static int wait_together(const weft_range *chunk, void *arg) {
    auto *const self = *static_cast<tally **>(arg);
    for (std::int64_t i = chunk->first; i != chunk->limit; i += chunk->step) {
      ++self->inside;
      while (self->inside < 7)
        weft_taskyield();
    }
    return 0;
  }
};
std::uint64_t spawned() {
  weft_statistics all = {};
  all.size = sizeof all;
  EXPECT_EQ(weft_stats(&all), 0);
  return all.spawned;
}

TEST(c_taskloop, without_options_for_each_task_is_one_task) {
  const auto all = std::make_unique<tally>();
  const weft_range range = {0, tally::k_n, 1};
  weft_loop_options nogroup = WEFT_LOOP_OPTIONS_INIT;
  nogroup.flags = WEFT_LOOP_NOGROUP;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.label = "part";
  options.cost = 7;
  const std::uint64_t before = spawned();
  EXPECT_EQ(weft_taskloop(range, &tally::run, all.get(), 0, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(all->kept, 0);
  EXPECT_EQ(weft_taskloop(range, &tally::run, all.get(), 0, nullptr, &options, nullptr), 0);
  EXPECT_EQ(all->kept, tally::k_n) << "it has waited";
  options.priority = 2;
  EXPECT_EQ(weft_taskloop(range, &tally::run, all.get(), 0, &nogroup, &options, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(all->kept, 2 * tally::k_n);
  weft_group *group = nullptr;
  ASSERT_EQ(weft_group_create(WEFT_POLICY_FIRST_CANCELS, &group), 0);
  options.group = group;
  EXPECT_EQ(weft_taskloop(range, &tally::run, all.get(), 0, nullptr, &options, nullptr), 0);
  EXPECT_EQ(weft_group_wait(group, nullptr), 0);
  weft_group_destroy(group);
  EXPECT_EQ(all->kept, 3 * tally::k_n);
  EXPECT_EQ(spawned() - before, 4U);
  for (auto &times : all->runs)
    EXPECT_EQ(times, 4);
}

TEST(c_taskloop, that_is_one_task_copies_its_argument_and_lets_many_chunks_wait) {
  const auto all = std::make_unique<tally>();
  weft_loop_options nogroup = WEFT_LOOP_OPTIONS_INIT;
  nogroup.flags = WEFT_LOOP_NOGROUP;
  {
    tally *copied = all.get();
    ASSERT_EQ(weft_taskloop({0, 9, 1}, &tally::wait_together, &copied, sizeof copied, &nogroup,
                            nullptr, nullptr),
              0);
    copied = nullptr;
  }
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(all->inside, 9);
  int code = 0;
  EXPECT_EQ(weft_taskloop({0, 9, 1}, [](const weft_range *, void *) { return 3; }, nullptr, 0,
                          nullptr, nullptr, &code),
            WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(weft_taskloop({0, 9, 0}, &tally::run, all.get(), 0, nullptr, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_taskloop({9, 9, 1}, &tally::run, nullptr, 0, nullptr, nullptr, nullptr), 0);
}

TEST(c_loop_chunks, are_those_of_a_taskloop_that_has_several_tasks) {
  static std::atomic<std::uint64_t> tasks;
  const auto chunks = [](std::uint64_t n, const weft_loop_options *loop) {
    std::uint64_t count = 77;
    EXPECT_EQ(weft_taskloop_chunks(n, loop, &count), 0);
    tasks = 0;
    weft_spawn_options each = WEFT_SPAWN_OPTIONS_INIT; // for the task of each chunk
    each.flags = WEFT_TASK_WAIT;
    EXPECT_EQ(weft_taskloop(
                  {0, static_cast<std::int64_t>(n), 1},
                  [](const weft_range *, void *) { return ++tasks, 0; }, nullptr, 0, loop, &each,
                  nullptr),
              0);
    EXPECT_EQ(tasks, count);
    return count;
  };
  const auto most = 8 * static_cast<std::uint64_t>(weft_worker_count());
  EXPECT_EQ(chunks(0, nullptr), 0U);
  EXPECT_EQ(chunks(3, nullptr), 3U);
  EXPECT_EQ(chunks(100'000, nullptr), most);
  weft_loop_options loop = WEFT_LOOP_OPTIONS_INIT;
  loop.grain_size = 7;
  EXPECT_EQ(chunks(50, &loop), 8U);
  loop.grain_size = 0;
  loop.num_tasks = 5;
  EXPECT_EQ(chunks(50, &loop), 5U);
  std::uint64_t count = 77;
  loop.grain_size = 1;
  EXPECT_EQ(weft_taskloop_chunks(50, &loop, &count), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(weft_taskloop_chunks(50, nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(weft_last_error_message(),
               "weft_taskloop_chunks: 'chunks' is NULL; it must point to an object");
}

} // namespace
