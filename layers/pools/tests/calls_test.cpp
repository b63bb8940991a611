// SPDX-License-Identifier: Apache-2.0
// What the preloaded library says of each thread: this program attaches itself in Weft's place.
#include <weft/layer/pool_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

namespace {

std::atomic<int> g_added{0}, g_waits{0}, g_runs{0};
std::atomic<bool> g_makes_own{false};
std::atomic<weft::layer::pool_thread *> g_last{nullptr};

using weft::layer::pool_thread;

void waits(pool_thread &thread) noexcept {
  EXPECT_EQ(thread.waits, 1u);
  ++g_waits;
  g_last = &thread;
  errno = EDOM; // the caller's errno must survive
}
void runs(pool_thread &thread) noexcept {
  EXPECT_EQ(thread.waits, 0u);
  ++g_runs;
  g_last = &thread;
  errno = EDOM;
}

constexpr int k_kept = 1024;
std::atomic<pool_thread *> g_records[k_kept];

void add(pool_thread &thread) noexcept { g_records[g_added++ % k_kept] = &thread; }

constexpr weft::layer::pool_thread_calls k_calls{weft::layer::k_pool_thread_version, &add, &waits,
                                                 &runs,
                                                 []() noexcept { return g_makes_own.load(); },
                                                 [](sigset_t &) noexcept { return false; }};

/// Does in the child of a fork what Weft does there, before libweft-pools.so does its part: these
/// handlers are registered before the constructors of libraries run.
void register_handler() {
  pthread_atfork(nullptr, nullptr, [] {
    for (auto &r : g_records)
      if (r)
        r.load()->tid = 0;
  });
}
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const g_before_libraries)() = &register_handler;

[[gnu::constructor]] void attach() { weft_attach_pool_threads(&k_calls); }

constexpr timespec k_short{0, 1'000'000};

timespec soon(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += 1'000'000;
  if (t.tv_nsec >= 1'000'000'000)
    ++t.tv_sec, t.tv_nsec -= 1'000'000'000;
  return t;
}

struct numbers {
  int waits, runs;
};

/// Returns what the library says while `body` runs on a new thread.
numbers said_of(const std::function<void()> &body) {
  numbers n{};
  std::thread([&] {
    const numbers before{g_waits, g_runs};
    body();
    n = {g_waits - before.waits, g_runs - before.runs};
  }).join();
  return n;
}

struct wait_call {
  const char *name;
  std::function<void()> call;
};

std::ostream &operator<<(std::ostream &out, const wait_call &w) { return out << w.name; }

class each_wait : public testing::TestWithParam<wait_call> {};

TEST_P(each_wait, is_noted_with_its_end) {
  const numbers said = said_of(GetParam().call);
  EXPECT_EQ(said.waits, 1);
  EXPECT_EQ(said.runs, 1);
  const int before = g_waits;
  GetParam().call(); // on a thread that the library has not made known
  EXPECT_EQ(g_waits, before);
}

constexpr int k_answer = -42;

template <class F>
void with_condition(F wait) {
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(wait(condition, mutex), ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
}

/// Another thread posts, by a call that is no wait.
void wait_for_post() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  EXPECT_EQ(sem_wait(&semaphore), 0);
}

void wait_for_signal() {
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  struct both {
    pthread_cond_t *condition;
    pthread_mutex_t *mutex;
  } of{&condition, &mutex};
  g_makes_own = true; // this helper is none of the counted threads
  pthread_t helper;
  pthread_create(
      &helper, nullptr,
      [](void *p) -> void * {
        auto &b = *static_cast<both *>(p);
        pthread_mutex_lock(b.mutex); // when the other waits
        pthread_cond_signal(b.condition);
        pthread_mutex_unlock(b.mutex);
        return nullptr;
      },
      &of);
  g_makes_own = false;
  EXPECT_EQ(pthread_cond_wait(&condition, &mutex), 0);
  pthread_mutex_unlock(&mutex);
  pthread_detach(helper);
}

void wait_for_signal_of_c11() {
  struct both {
    cnd_t condition;
    mtx_t mutex;
  } of;
  cnd_init(&of.condition);
  mtx_init(&of.mutex, mtx_plain);
  mtx_lock(&of.mutex);
  g_makes_own = true; // this helper is none of the counted threads
  thrd_t helper;
  thrd_create(
      &helper,
      [](void *p) {
        auto &b = *static_cast<both *>(p);
        mtx_lock(&b.mutex); // when the other waits
        cnd_signal(&b.condition);
        mtx_unlock(&b.mutex);
        return 0;
      },
      &of);
  g_makes_own = false;
  EXPECT_EQ(cnd_wait(&of.condition, &of.mutex), thrd_success);
  mtx_unlock(&of.mutex);
  g_makes_own = true;
  pthread_t waits_for_helper; // its join is none of the counted waits
  pthread_create(
      &waits_for_helper, nullptr,
      [](void *p) -> void * {
        thrd_join(*static_cast<thrd_t *>(p), nullptr);
        return nullptr;
      },
      &helper);
  g_makes_own = false;
  while (pthread_tryjoin_np(waits_for_helper, nullptr) != 0)
    sched_yield();
}

const wait_call k_waits[] = {
    {"pthread_cond_wait", &wait_for_signal},
    {"pthread_cond_timedwait",
     [] {
       with_condition([](pthread_cond_t &condition, pthread_mutex_t &mutex) {
         const timespec until = soon(CLOCK_REALTIME);
         return pthread_cond_timedwait(&condition, &mutex, &until);
       });
     }},
    {"pthread_cond_clockwait",
     [] {
       with_condition([](pthread_cond_t &condition, pthread_mutex_t &mutex) {
         const timespec until = soon(CLOCK_MONOTONIC);
         return pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
       });
     }},
    {"sem_wait", &wait_for_post},
    {"sem_timedwait",
     [] {
       sem_t semaphore;
       sem_init(&semaphore, 0, 0);
       const timespec until = soon(CLOCK_REALTIME);
       EXPECT_EQ(sem_timedwait(&semaphore, &until), -1);
       EXPECT_EQ(errno, ETIMEDOUT);
     }},
    {"sem_clockwait",
     [] {
       sem_t semaphore;
       sem_init(&semaphore, 0, 0);
       const timespec until = soon(CLOCK_MONOTONIC);
       EXPECT_EQ(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), -1);
       EXPECT_EQ(errno, ETIMEDOUT);
     }},
    {"nanosleep", [] { EXPECT_EQ(nanosleep(&k_short, nullptr), 0); }},
    {"clock_nanosleep",
     [] { EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &k_short, nullptr), 0); }},
    {"usleep", [] { EXPECT_EQ(usleep(1000), 0); }},
    {"sleep", [] { EXPECT_EQ(sleep(0), 0u); }},
    {"poll", [] { EXPECT_EQ(poll(nullptr, 0, 1), 0); }},
    {"ppoll", [] { EXPECT_EQ(ppoll(nullptr, 0, &k_short, nullptr), 0); }},
    {"select",
     [] {
       timeval t{0, 1000};
       EXPECT_EQ(select(0, nullptr, nullptr, nullptr, &t), 0);
     }},
    {"pselect", [] { EXPECT_EQ(pselect(0, nullptr, nullptr, nullptr, &k_short, nullptr), 0); }},
    {"epoll_wait",
     [] {
       const int file = epoll_create1(EPOLL_CLOEXEC);
       epoll_event event;
       EXPECT_EQ(epoll_wait(file, &event, 1, 1), 0);
       close(file);
     }},
    {"epoll_pwait",
     [] {
       const int file = epoll_create1(EPOLL_CLOEXEC);
       epoll_event event;
       EXPECT_EQ(epoll_pwait(file, &event, 1, 1, nullptr), 0);
       close(file);
     }},
    {"pthread_join",
     [] {
       pthread_t id;
       g_makes_own = true;
       pthread_create(&id, nullptr, [](void *p) { return p; }, &g_added);
       g_makes_own = false;
       void *result = nullptr;
       EXPECT_EQ(pthread_join(id, &result), 0);
       EXPECT_EQ(result, &g_added);
     }},
    {"cnd_wait", &wait_for_signal_of_c11},
    {"cnd_timedwait",
     [] {
       cnd_t condition;
       mtx_t mutex;
       cnd_init(&condition);
       mtx_init(&mutex, mtx_plain);
       mtx_lock(&mutex);
       const timespec until = soon(CLOCK_REALTIME);
       EXPECT_EQ(cnd_timedwait(&condition, &mutex, &until), thrd_timedout);
       mtx_unlock(&mutex);
     }},
    {"thrd_sleep", [] { EXPECT_EQ(thrd_sleep(&k_short, nullptr), 0); }},
    {"thrd_join",
     [] {
       thrd_t id;
       g_makes_own = true;
       thrd_create(&id, [](void *) { return k_answer; }, nullptr);
       g_makes_own = false;
       int result = 0;
       EXPECT_EQ(thrd_join(id, &result), thrd_success);
       EXPECT_EQ(result, k_answer);
     }},
    {"futex",
     [] {
       std::uint32_t word = 7;
       EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &k_short, nullptr, 0), -1);
       EXPECT_EQ(errno, ETIMEDOUT);
     }},
    {"futex_bitset",
     [] {
       std::uint32_t word = 7;
       EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 8, &k_short,
                         nullptr, FUTEX_BITSET_MATCH_ANY),
                 -1);
       EXPECT_EQ(errno, EAGAIN);
     }},
};

INSTANTIATE_TEST_SUITE_P(calls, each_wait, testing::ValuesIn(k_waits),
                         [](const auto &param) { return std::string(param.param.name); });

TEST(pools, other_calls_of_syscall_are_no_waits) {
  const numbers said = said_of([] {
    EXPECT_EQ(syscall(SYS_gettid), gettid());
    std::uint32_t word = 0;
    EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0), 0);
    EXPECT_EQ(syscall(-1), -1);
    EXPECT_EQ(errno, ENOSYS);
  });
  EXPECT_EQ(said.waits, 0);
}

TEST(pools, system_calls_get_all_six_arguments) {
  void *const p = reinterpret_cast<void *>(syscall(SYS_mmap, nullptr, 4096L, 3L /* read, write */,
                                                   0x22L /* private, anonymous */, -1L, 0L));
  ASSERT_NE(p, reinterpret_cast<void *>(-1L));
  *static_cast<int *>(p) = 1;
  EXPECT_EQ(syscall(SYS_munmap, p, 4096L), 0);
}

TEST(pools, yields_are_counted) {
  std::uint32_t yields = 0;
  std::thread([&] {
    usleep(1); // shows which record is ours
    auto *const own = g_last.load();
    const std::uint32_t before = own->yields;
    for (int i = 0; i < 5; ++i)
      sched_yield();
    for (int i = 0; i < 3; ++i)
      thrd_yield();
    yields = own->yields - before;
  }).join();
  EXPECT_EQ(yields, 8u);
}

TEST(pools, a_thread_has_its_number_until_it_ends) {
  weft::layer::pool_thread *own = nullptr;
  int tid = 0;
  std::thread([&] {
    usleep(1);
    own = g_last;
    tid = own->tid;
    EXPECT_EQ(tid, gettid());
  }).join();
  ASSERT_NE(own, nullptr);
  EXPECT_NE(tid, 0);
  EXPECT_EQ(own->tid, 0);
}

TEST(pools, records_are_used_again) {
  std::thread([] {}).join();
  const int before = g_added;
  for (int i = 0; i < 2000; ++i)
    std::thread([] {}).join();
  EXPECT_LE(g_added - before, 1) << "one thread at a time";
}

TEST(pools, a_thread_of_wefts_own_is_not_known) {
  const int added = g_added, runs = g_runs;
  pthread_t id;
  g_makes_own = true;
  pthread_create(
      &id, nullptr,
      [](void *) -> void * {
        usleep(1);
        return nullptr;
      },
      nullptr);
  g_makes_own = false;
  pthread_join(id, nullptr);
  EXPECT_EQ(g_added, added);
  EXPECT_EQ(g_runs, runs);
}

TEST(pools, a_thread_that_is_cancelled_in_a_wait_leaves) {
  std::atomic<weft::layer::pool_thread *> own{nullptr};
  pthread_t id;
  pthread_create(
      &id, nullptr,
      [](void *p) -> void * {
        usleep(1);
        *static_cast<std::atomic<weft::layer::pool_thread *> *>(p) = g_last.load();
        for (;;)
          pause();
      },
      &own);
  while (!own)
    std::this_thread::yield();
  pthread_cancel(id);
  void *result = nullptr;
  pthread_join(id, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(own.load()->tid, 0);
  const int balance = g_waits - g_runs; // equal again when the next thread has ended
  std::atomic<bool> sleeps{false};
  pthread_create(
      &id, nullptr,
      [](void *p) -> void * {
        *static_cast<std::atomic<bool> *>(p) = true;
        for (;;)
          sleep(1000);
      },
      &sleeps);
  while (!sleeps)
    std::this_thread::yield();
  pthread_cancel(id);
  pthread_join(id, nullptr);
  EXPECT_EQ(g_waits - g_runs, balance);
}

thread_local sigjmp_buf *t_return = nullptr;

/// Leaves a wait by a jump out of a handler, and then waits again.
void leave_wait(void (*wait)()) {
  sigjmp_buf back;
  t_return = &back;
  if (sigsetjmp(back, 1) == 0)
    wait();
  t_return = nullptr;
}

/// Runs `then(record)` on a thread that has left a wait by a jump, and returns the thread's result.
void *after_a_jump(void (*wait)(), void *(*then)(pool_thread &)) {
  struct request {
    void (*wait)();
    void *(*then)(pool_thread &);
    std::atomic<pool_thread *> waits{nullptr};
    std::atomic<bool> is_back{false};
  } r{wait, then};
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {
    if (t_return)
      siglongjmp(*t_return, 1);
  };
  sigaction(SIGUSR1, &action, &before);
  pthread_t id;
  pthread_create(
      &id, nullptr,
      [](void *p) -> void * {
        auto &mine = *static_cast<request *>(p);
        usleep(1);
        mine.waits = g_last.load();
        leave_wait(mine.wait);
        mine.is_back = true;
        return mine.then(*mine.waits);
      },
      &r);
  while (!r.waits)
    std::this_thread::yield();
  while (!r.is_back) {
    if (r.waits.load()->waits != 0)
      pthread_kill(id, SIGUSR1);
    std::this_thread::yield();
  }
  void *result = nullptr;
  pthread_join(id, &result);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(r.waits.load()->tid, 0) << "the thread has left";
  return result;
}

int g_nothing = 0;
void wait_in_sleep() { sleep(1000); }
void wait_in_futex() {
  syscall(SYS_futex, &g_nothing, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}

TEST(pools, a_thread_that_leaves_a_wait_by_a_jump_computes) {
  for (auto *const wait : {&wait_in_sleep, &wait_in_futex})
    EXPECT_EQ(after_a_jump(wait,
                           [](pool_thread &own) -> void * {
                             return own.waits == 0 ? &g_nothing : nullptr;
                           }),
              &g_nothing);
}

TEST(pools, a_thread_that_has_left_a_wait_by_a_jump_may_exit_and_be_cancelled) {
  for (auto *const wait : {&wait_in_sleep, &wait_in_futex}) {
    EXPECT_EQ(after_a_jump(wait, [](pool_thread &) -> void * { pthread_exit(&g_nothing); }),
              &g_nothing);
    EXPECT_EQ(after_a_jump(wait,
                           [](pool_thread &) -> void * {
                             pthread_cancel(pthread_self());
                             for (;;)
                               usleep(1000);
                           }),
              PTHREAD_CANCELED);
  }
}

TEST(pools, pthread_exit_ends_a_thread_as_a_return_does) {
  weft::layer::pool_thread *own = nullptr;
  pthread_t id;
  pthread_create(
      &id, nullptr,
      [](void *p) -> void * {
        usleep(1);
        *static_cast<weft::layer::pool_thread **>(p) = g_last;
        pthread_exit(p);
      },
      &own);
  void *result = nullptr;
  pthread_join(id, &result);
  EXPECT_EQ(result, &own);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->tid, 0);
}

TEST(pools, a_thread_of_c11_is_known_until_it_ends) {
  struct seen {
    weft::layer::pool_thread *own;
    bool is_known;
  } of{};
  for (const bool exits : {false, true}) {
    static bool g_exits;
    g_exits = exits;
    of = {};
    thrd_t id;
    EXPECT_EQ(thrd_create(
                  &id,
                  [](void *p) {
                    usleep(1);
                    auto *const own = g_last.load();
                    *static_cast<seen *>(p) = {own, own && own->tid == gettid()};
                    if (g_exits)
                      thrd_exit(k_answer);
                    return k_answer;
                  },
                  &of),
              thrd_success);
    int result = 0;
    EXPECT_EQ(thrd_join(id, &result), thrd_success);
    EXPECT_EQ(result, k_answer);
    EXPECT_TRUE(of.is_known);
    ASSERT_NE(of.own, nullptr);
    EXPECT_EQ(of.own->tid, 0);
  }
}

TEST(pools, the_child_of_a_fork_on_a_pool_thread_has_its_new_number) {
  std::thread([] {
    usleep(1);
    auto *const own = g_last.load();
    const pid_t child = fork();
    if (child == 0)
      _exit(own->tid == gettid() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }).join();
}

/// Starts a thread, and returns its record.
weft::layer::pool_thread *record_of(std::thread &thread, std::atomic<bool> &ends) {
  std::atomic<weft::layer::pool_thread *> own{nullptr};
  thread = std::thread([&] {
    usleep(1);
    own = g_last.load();
    while (!ends)
      usleep(1000);
  });
  while (!own)
    std::this_thread::yield();
  return own;
}

TEST(pools, the_child_of_a_fork_uses_the_records_of_the_parents_threads_again) {
  std::atomic<bool> ends{false};
  std::thread other;
  auto *const record = record_of(other, ends);
  const pid_t child = fork();
  if (child == 0) {
    const int before = g_added;
    const bool forgotten = record->tid == 0;
    std::thread([] {}).join();
    _exit(forgotten && g_added == before ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(record->tid, 0) << "the parent's thread goes on";
  ends = true;
  other.join();
}

TEST(pools, an_error_of_pthread_create_comes_back) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  cpu_set_t none;
  CPU_ZERO(&none);
  pthread_attr_setaffinity_np(&attributes, sizeof none, &none);
  pthread_t id;
  EXPECT_EQ(pthread_create(&id, &attributes, [](void *p) { return p; }, nullptr), EINVAL);
  pthread_attr_destroy(&attributes);
}

} // namespace
