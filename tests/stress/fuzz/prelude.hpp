// SPDX-License-Identifier: Apache-2.0
// What printed programs begin with.
#pragma once

namespace fuzz {

inline constexpr const char *k_basics = R"(std::atomic<int> wrong{0};

void expect(bool right, const char *what) {
  if (!right) {
    std::printf("%s\n", what);
    ++wrong;
  }
}

struct failed {};

template <class F>
[[maybe_unused]] void expect_throw(const char *what, F f) {
  bool threw = false;
  try {
    f();
  } catch (const failed &) {
    threw = true;
  } catch (const weft::exception_list &) {
    threw = true;
  }
  expect(threw, what);
}

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}
[[maybe_unused]] void read(const std::uint64_t &cell, std::uint64_t &digest) { digest = mix(digest, cell); }
[[maybe_unused]] void write(std::uint64_t &cell, const std::uint64_t &digest, std::uint64_t task) { cell = mix(digest, task); }
[[maybe_unused]] void update(std::uint64_t &cell, std::uint64_t &digest, std::uint64_t task) {
  digest = cell = mix(mix(cell, digest), task);
}
[[maybe_unused]] void count(void *counter) { ++*static_cast<std::atomic<int> *>(counter); }

)";
inline constexpr const char *k_adding =
    R"(std::uint64_t combined(int way, std::uint64_t a, std::uint64_t b) {
  return way == 0 ? a + b : way == 1 ? a ^ b : way == 2 ? a * b : a < b ? b : a;
}
[[maybe_unused]] void add_atomically(std::uint64_t &cell, int way, std::uint64_t value) {
  std::atomic_ref<std::uint64_t> shared(cell);
  std::uint64_t before = shared.load();
  while (!shared.compare_exchange_weak(before, combined(way, before, value))) {
  }
}
[[maybe_unused]] void add(std::uint64_t &cell, int way, std::uint64_t value, bool yields) {
  const std::uint64_t before = cell;
  if (yields)
    weft::taskyield();
  cell = combined(way, before, value);
}

)";
inline constexpr const char *k_outside = R"(// Threads that Weft does not know.
std::mutex outside_mutex;
std::vector<std::thread> outside_threads;

template <class F>
void outside(F f) {
  std::lock_guard lock(outside_mutex);
  outside_threads.emplace_back(f);
}

)";
inline constexpr const char *k_locks = R"(struct {
  weft::mutex mutex;
  std::atomic<int> holders{0};
} locks[4];

void under_lock(int which, bool yields) {
  std::lock_guard guard(locks[which].mutex, std::adopt_lock);
  expect(++locks[which].holders == 1, "two tasks hold one mutex");
  if (yields)
    weft::taskyield();
  --locks[which].holders;
}

)";
inline constexpr const char *k_eager = R"(// A coroutine that begins in its creator.
template <class F>
weft::future<std::uint64_t> eager(F f) {
  co_return co_await f();
}

)";
inline constexpr const char *k_several = R"(template <class Future, class... Futures>
std::vector<Future> gathered(Futures &&...futures) {
  std::vector<Future> all;
  (all.push_back(std::forward<Futures>(futures)), ...);
  return all;
}

)";
inline constexpr const char *k_chaos = R"(void chaos() {
  weft::task_group group(weft::exception_policy::first_cancels);
  std::vector<int> order[2];
  for (int i = 0; i != 8; ++i) {
    auto &mine = order[i % 2];
    group.spawn(
        [&mine, i] {
          if (i % 3 == 0)
            weft::taskyield();
          mine.push_back(i);
          if (i == 4)
            throw failed();
        },
        weft::inout(weft::object(mine)));
  }
  expect_throw("the wait of a cancelled group lost an exception", [&] { group.wait(); });
  expect(order[0] == std::vector<int>({0, 2, 4}), "a task ran after an exception before it had cancelled it");
  for (std::size_t i = 0; i != order[1].size(); ++i)
    expect(order[1][i] == static_cast<int>(2 * i + 1), "a cancelled group broke the order of its tasks");
}

)";

inline constexpr const char *k_parting = R"(std::atomic<int> partings{0};

// In a task's callable: its destructor calls.
class parting {
 public:
  explicit parting(int task) : m_task(task) {}
  parting(parting &&other) noexcept : m_task(std::exchange(other.m_task, -1)) {}
  parting(const parting &) = delete;
  parting &operator=(const parting &) = delete;
  ~parting() {
    if (m_task < 0)
      return;
    ++partings;
    weft::spawn([] {
      weft::taskyield();
      --partings;
    });
    if (m_task % 3 == 0)
      weft::taskwait();
    else if (m_task % 3 == 1)
      weft::join([] { weft::taskyield(); }, [] {});
  }

 private:
  int m_task;
};

)";

} // namespace fuzz
