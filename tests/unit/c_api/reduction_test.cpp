// SPDX-License-Identifier: Apache-2.0
// Reductions of C: every operation and type, an operation of one's own, misuse.
#include <weft.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace {

template <class T>
struct addend {
  T *target;
  T value;
  int op;
  static int add(void *arg) {
    const auto *self = static_cast<addend *>(arg);
    void *mine = nullptr;
    if (int status = weft_reduction_local(self->target, sizeof(T), &mine))
      return status;
    T &x = *static_cast<T *>(mine);
    const T v = self->value;
    switch (self->op) {
    case WEFT_SUM:
      x = static_cast<T>(x + v);
      break;
    case WEFT_PRODUCT:
      x = static_cast<T>(x * v);
      break;
    case WEFT_MINIMUM:
      x = v < x ? v : x;
      break;
    case WEFT_MAXIMUM:
      x = x < v ? v : x;
      break;
    case WEFT_LOGICAL_AND:
      x = static_cast<T>(x != 0 && v != 0);
      break;
    case WEFT_LOGICAL_OR:
      x = static_cast<T>(x != 0 || v != 0);
      break;
    default:
      return 1;
    }
    return 0;
  }
};

template <class T>
T reduced(int type, int op, T start, T a, T b) {
  T x = start;
  weft_reduction r;
  EXPECT_EQ(weft_reduction_builtin(&r, &x, 1, type, op), 0);
  const weft_access access = weft_reduce(&r);
  for (T v : {a, b}) {
    const addend<T> one{&x, v, op};
    EXPECT_EQ(weft_spawn(&addend<T>::add, &one, sizeof one, &access, 1, nullptr, nullptr), 0);
  }
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  return x;
}

template <class T>
void all_operations(int type) {
  EXPECT_EQ(reduced<T>(type, WEFT_SUM, 1, 2, 3), T(6));
  EXPECT_EQ(reduced<T>(type, WEFT_PRODUCT, 2, 3, 4), T(24));
  EXPECT_EQ(reduced<T>(type, WEFT_MINIMUM, 5, 7, 3), T(3));
  EXPECT_EQ(reduced<T>(type, WEFT_MAXIMUM, 5, 7, 3), T(7));
  EXPECT_EQ(reduced<T>(type, WEFT_LOGICAL_AND, 1, 1, 0), T(0));
  EXPECT_EQ(reduced<T>(type, WEFT_LOGICAL_OR, 0, 0, 2), T(1));
}

TEST(c_reduction, every_type_has_its_operations) {
  all_operations<std::int32_t>(WEFT_INT32);
  all_operations<std::uint32_t>(WEFT_UINT32);
  all_operations<std::int64_t>(WEFT_INT64);
  all_operations<std::uint64_t>(WEFT_UINT64);
  all_operations<float>(WEFT_FLOAT);
  all_operations<double>(WEFT_DOUBLE);
}

TEST(c_reduction, bit_operations_are_for_integers) {
  weft_reduction r;
  std::uint32_t copy = 0, x = 0x3C;
  const std::uint32_t y = 0xF0;
  const std::uint32_t expected[] = {0x30, 0xFC, 0xCC}, identity[] = {0xFFFFFFFF, 0, 0};
  for (int i : {0, 1, 2}) {
    ASSERT_EQ(weft_reduction_builtin(&r, &x, 1, WEFT_UINT32, WEFT_BIT_AND + i), 0);
    r.init(&copy, 1, nullptr);
    EXPECT_EQ(copy, identity[i]);
    copy = 0x3C;
    r.combine(&copy, &y, 1, nullptr);
    EXPECT_EQ(copy, expected[i]);
    EXPECT_EQ(weft_reduction_builtin(&r, &x, 1, WEFT_DOUBLE, WEFT_BIT_AND + i),
              WEFT_ERR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(weft_reduction_builtin(&r, &x, 1, 6, WEFT_SUM), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_reduction_builtin(&r, &x, 1, WEFT_INT32, 9), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_reduction_builtin(nullptr, &x, 1, WEFT_INT32, 0), WEFT_ERR_INVALID_ARGUMENT);
}

struct point {
  long x, y;
};

TEST(c_reduction, of_ones_own_elements) {
  static point all[2];
  std::memset(all, 0, sizeof all);
  const weft_reduction r{
      all,
      2,
      sizeof(point),
      [](void *copy, size_t n, void *) { std::memset(copy, 0, n * sizeof(point)); },
      [](void *into, const void *copy, size_t n, void *factor) {
        for (size_t i = 0; i != n; ++i) {
          static_cast<point *>(into)[i].x += static_cast<const point *>(copy)[i].x;
          static_cast<point *>(into)[i].y +=
              *static_cast<long *>(factor) * static_cast<const point *>(copy)[i].y;
        }
      },
      nullptr};
  weft_reduction mine = r;
  long factor = 2;
  mine.context = &factor;
  const weft_access access = weft_reduce(&mine);
  for (int i = 0; i != 10; ++i)
    weft_spawn(
        [](void *) {
          void *copy = nullptr;
          const int status = weft_reduction_local(all, sizeof all, &copy);
          ++static_cast<point *>(copy)[0].x;
          ++static_cast<point *>(copy)[1].y;
          return status;
        },
        nullptr, 0, &access, 1, nullptr, nullptr);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(all[0].x, 10);
  EXPECT_EQ(all[1].y, 20);
}

int nothing(void *) { return 0; }

TEST(c_reduction, of_one_object_by_two_operations_is_refused) {
  int x = 0;
  weft_reduction sum, most;
  ASSERT_EQ(weft_reduction_builtin(&sum, &x, 1, WEFT_INT32, WEFT_SUM), 0);
  ASSERT_EQ(weft_reduction_builtin(&most, &x, 1, WEFT_INT32, WEFT_MAXIMUM), 0);
  const weft_access both[] = {weft_reduce(&sum), weft_reduce(&most)};
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.label = "torn";
  EXPECT_EQ(weft_spawn(nothing, nullptr, 0, both, 2, &options, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(weft_last_error_message()).find("task 'torn' reduces"), std::string::npos)
      << weft_last_error_message();
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

TEST(c_reduction, misuse_is_refused) {
  int x = 0;
  weft_reduction r;
  weft_reduction_builtin(&r, &x, -1, WEFT_INT32, WEFT_SUM);
  weft_access access = weft_reduce(&r);
  EXPECT_EQ(weft_spawn(nothing, nullptr, 0, &access, 1, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  r.count = 1;
  r.init = nullptr;
  EXPECT_EQ(weft_spawn(nothing, nullptr, 0, &access, 1, nullptr, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(weft_last_error_message()).find("init or combine"), std::string::npos);
  void *local = &x;
  EXPECT_EQ(weft_reduction_local(&x, sizeof x, &local), WEFT_ERR_NOT_A_TASK);
  EXPECT_EQ(local, nullptr);
  EXPECT_EQ(weft_reduction_local(&x, sizeof x, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  access = weft_reduce(nullptr);
  EXPECT_EQ(weft_spawn(nothing, nullptr, 0, &access, 1, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

/// Adds in a loop, and notes whether two workers are in the object itself at once.
struct looped {
  std::int64_t sum;
  std::atomic<int> inside, met;
  static int add(const weft_range *part, void *arg) {
    auto *self = *static_cast<looped **>(arg);
    void *mine = nullptr;
    if (int status = weft_reduction_local(&self->sum, sizeof self->sum, &mine))
      return status;
    const bool in_place = mine == &self->sum;
    if (in_place && self->inside.fetch_add(1) != 0)
      self->met = 1;
    if (int status = weft_task_sleep_for(300'000))
      return status;
    for (std::int64_t i = part->first; i != part->limit; i += part->step)
      *static_cast<std::int64_t *>(mine) += i;
    if (in_place)
      self->inside.fetch_sub(1);
    return 0;
  }
};

TEST(c_reduction, loops_add_up_also_among_regions) {
  for (const bool among_regions : {false, true}) {
    looped x{};
    looped *const all = &x;
    weft_reduction r;
    ASSERT_EQ(weft_reduction_builtin(&r, &x.sum, 1, WEFT_INT64, WEFT_SUM), 0);
    const weft_access reduces = weft_reduce(&r);
    std::int64_t other[2] = {};
    const weft_region part = weft_region_span(other, sizeof other[0], 0, 2, WEFT_OUT);
    if (among_regions) {
      ASSERT_EQ(weft_spawn_regions([](void *) { return 0; }, nullptr, 0, &part, 1, nullptr, 0,
                                   nullptr, nullptr),
                0);
    }
    for (const std::uint64_t grain : {0, 1})
      EXPECT_EQ(weft_taskfor({1, 21, 1}, &looped::add, &all, sizeof all, grain, &reduces, 1,
                             nullptr, nullptr),
                0);
    EXPECT_EQ(weft_taskwait(nullptr), 0);
    EXPECT_EQ(x.sum, 420);
    EXPECT_EQ(x.met, 0) << "two workers added to the object itself";
  }
}

struct iterated {
  std::int64_t x, reads, wrong;
  static int add(void *arg) {
    void *mine = nullptr;
    auto *self = *static_cast<iterated **>(arg);
    if (int status = weft_reduction_local(&self->x, sizeof self->x, &mine))
      return status;
    *static_cast<std::int64_t *>(mine) += 2;
    return 0;
  }
  static int read(void *arg) {
    auto *self = *static_cast<iterated **>(arg);
    self->wrong += self->x != 8 * ++self->reads;
    return 0;
  }
  static int record(void *arg) {
    auto *self = *static_cast<iterated **>(arg);
    weft_reduction r;
    if (int status = weft_reduction_builtin(&r, &self->x, 1, WEFT_INT64, WEFT_SUM))
      return status;
    const weft_access reduces = weft_reduce(&r),
                      reads[] = {weft_in(&self->x), weft_inout(&self->reads)};
    for (int i = 0; i != 4; ++i)
      if (int status = weft_spawn(&add, &self, sizeof self, &reduces, 1, nullptr, nullptr))
        return status;
    return weft_spawn(&read, &self, sizeof self, reads, 2, nullptr, nullptr);
  }
};

TEST(c_reduction, of_every_round_of_a_taskiter) {
  iterated all{0, 0, 0};
  iterated *const self = &all;
  ASSERT_EQ(weft_taskiter(25, nullptr, &iterated::record, &self, sizeof self, nullptr, 0, nullptr,
                          nullptr),
            0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(all.x, 200);
  EXPECT_EQ(all.reads, 25);
  EXPECT_EQ(all.wrong, 0);
}

TEST(c_reduction, by_two_operations_in_one_list_is_refused) {
  std::int32_t x = 0;
  weft_reduction sum, product;
  ASSERT_EQ(weft_reduction_builtin(&sum, &x, 1, WEFT_INT32, WEFT_SUM), 0);
  ASSERT_EQ(weft_reduction_builtin(&product, &x, 1, WEFT_INT32, WEFT_PRODUCT), 0);
  const weft_access both[] = {weft_reduce(&sum), weft_reduce(&product)};
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.label = "both";
  EXPECT_EQ(weft_spawn([](void *) { return 0; }, nullptr, 0, both, 2, &o, nullptr),
            WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(weft_last_error_message()).find("task 'both' reduces"), std::string::npos)
      << weft_last_error_message();
  EXPECT_EQ(weft_taskwait(nullptr), 0);
}

} // namespace
