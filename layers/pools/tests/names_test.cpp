// SPDX-License-Identifier: Apache-2.0
// The names of threads that are made by threads of Weft's: this program attaches itself in Weft's
// place, and gives threads of its own the names that Weft's have.
#include <weft/layer/pool_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

namespace {

std::atomic<bool> g_makes_own{false};
std::atomic<bool> g_delays_names{false};

using weft::layer::pool_thread;

constexpr weft::layer::pool_thread_calls k_calls{
    weft::layer::k_pool_thread_version, [](pool_thread &) noexcept {},
    [](pool_thread &) noexcept {}, [](pool_thread &) noexcept {},
    []() noexcept { return g_makes_own.load(); }, [](sigset_t &) noexcept { return false; }};

thread_local bool t_names_itself = false;

void name_forking_thread(const char *name) {
  if (!t_names_itself)
    return;
  alarm(60); // ends a process that hangs; a child's begins here
  pthread_setname_np(pthread_self(), name);
}

/// Runs before the constructors of libraries: so the child's handler is called before that of
/// libweft-pools.so, and the others are called around it.
void register_handlers() {
  pthread_atfork([] { name_forking_thread("prepares"); }, [] { name_forking_thread("parent"); },
                 [] { name_forking_thread("child"); });
}
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const g_before_libraries)() = &register_handlers;

[[gnu::constructor]] void attach() { weft_attach_pool_threads(&k_calls); }

std::string own_name() {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return name;
}

void set_own_name(const char *name) { prctl(PR_SET_NAME, name); }

/// Runs `body` on a thread that has a name before it begins.
template <class Body>
void on_thread_named(const char *name, Body body) {
  std::thread([&] {
    set_own_name(name);
    body();
    EXPECT_EQ(own_name(), name) << "the maker keeps its name";
  }).join();
}

std::string name_of_new_thread() {
  std::string name;
  std::thread([&] { name = own_name(); }).join();
  return name;
}

struct names : testing::Test {
  void SetUp() override { set_own_name("program"); }
};

TEST_F(names, of_threads_that_wefts_threads_make_are_the_programs) {
  for (const char *const maker : {"weft-worker-0", "weft-spare-12345", "weft-tuner"})
    on_thread_named(std::string(maker).substr(0, 15).c_str(),
                    [] { EXPECT_EQ(name_of_new_thread(), "program"); });
}

TEST_F(names, of_threads_of_c11_are_the_programs) {
  on_thread_named("weft-worker-1", [] {
    std::string name;
    thrd_t id;
    ASSERT_EQ(thrd_create(
                  &id,
                  [](void *p) {
                    *static_cast<std::string *>(p) = own_name();
                    return 0;
                  },
                  &name),
              thrd_success);
    thrd_join(id, nullptr);
    EXPECT_EQ(name, "program");
  });
}

TEST_F(names, follow_the_first_threads) {
  set_own_name("new name, 15 by");
  on_thread_named("weft-spare-1", [] { EXPECT_EQ(name_of_new_thread(), "new name, 15 by"); });
}

TEST_F(names, of_other_threads_are_inherited) {
  for (const char *const maker : {"mine", "weft", "my weft-spare-1", "x"})
    on_thread_named(maker, [=] { EXPECT_EQ(name_of_new_thread(), maker); });
}

TEST_F(names, of_wefts_own_threads_are_left_alone) {
  on_thread_named("weft-worker-1", [] {
    g_makes_own = true;
    EXPECT_EQ(name_of_new_thread(), "weft-worker-1");
    g_makes_own = false;
  });
}

/// Returns in how many of 30 rounds a new thread has the name that its maker gave it at once.
int names_that_are_kept() {
  int kept = 0;
  g_delays_names = true;
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> named{false};
    std::string seen;
    std::thread made([&] {
      while (!named)
        std::this_thread::yield();
      seen = own_name();
    });
    const int failure = pthread_setname_np(made.native_handle(), "given");
    named = true;
    made.join();
    kept += failure == 0 && seen == "given";
  }
  g_delays_names = false;
  return kept;
}

TEST_F(names, that_the_maker_gives_are_kept) {
  on_thread_named("weft-spare-2", [] { EXPECT_EQ(names_that_are_kept(), 30); });
}

TEST_F(names, may_be_given_by_what_forks_call_and_are_kept_afterwards) {
  std::thread([] {
    t_names_itself = true;
    const pid_t child = fork();
    t_names_itself = false;
    const std::string name = own_name();
    set_own_name("weft-spare-3");
    const int kept = names_that_are_kept();
    if (child == 0)
      _exit(name == "child" && kept == 30 ? 0 : 1);
    alarm(0);
    EXPECT_EQ(name, "parent");
    EXPECT_EQ(kept, 30);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }).join();
}

TEST_F(names, that_are_too_long_are_refused_as_ever) {
  EXPECT_EQ(pthread_setname_np(pthread_self(), "a name of sixteen"), ERANGE);
  EXPECT_EQ(own_name(), "program");
}

TEST_F(names, of_children_of_forks_are_the_programs) {
  on_thread_named("weft-worker-3", [] {
    const pid_t child = fork();
    if (child == 0)
      _exit(own_name() == std::string(program_invocation_short_name).substr(0, 15) &&
                    name_of_new_thread() == own_name()
                ? 0
                : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
}

TEST_F(names, of_children_of_forks_of_other_threads_are_kept) {
  on_thread_named("mine", [] {
    const pid_t child = fork();
    if (child == 0)
      _exit(own_name() == "mine" ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
}

} // namespace

/// The library reads the program's name by this function: a thread stays between the look at its
/// own name and the change of it.
extern "C" long syscall(long number, ...) noexcept {
  static auto *const next = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long given[6];
  for (long &argument : given)
    argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_openat && g_delays_names)
    usleep(2000);
  return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
