// SPDX-License-Identifier: Apache-2.0
// The signal masks of threads and processes that are made by threads of Weft's: this program attaches
// itself in Weft's place, and gives threads of its own the mask that Weft's have.
#include <weft/layer/pool_thread.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

namespace {

using weft::layer::pool_thread;

thread_local bool t_is_wefts = false;
thread_local bool t_makes_own = false;
std::atomic<int> g_records{0};

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals)
    sigaddset(&set, signal);
  return set;
}

bool program_mask(sigset_t &mask) noexcept {
  if (t_is_wefts)
    mask = set_of({SIGUSR2});
  return t_is_wefts;
}

constexpr weft::layer::pool_thread_calls k_calls{
    weft::layer::k_pool_thread_version,
    [](pool_thread &) noexcept {},
    [](pool_thread &) noexcept {},
    [](pool_thread &) noexcept { ++g_records; },
    []() noexcept { return t_makes_own; },
    &program_mask};

[[gnu::constructor]] void attach() { weft_attach_pool_threads(&k_calls); }

/// The blocked ones of a few signals, as the kernel has it.
std::string blocked_here() {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  std::string text;
  for (const auto &[signal, name] :
       {std::pair{SIGTERM, "term "}, std::pair{SIGUSR1, "usr1 "}, std::pair{SIGUSR2, "usr2 "}})
    if (sigismember(&now, signal))
      text += name;
  return text;
}
const std::string k_all = "term usr1 usr2 ", k_of_program = "usr2 ";

/// Runs `body` on a thread with the mask of Weft's threads.
template <class Body>
void on_thread_of_wefts(Body body) {
  std::thread([&] {
    const sigset_t all = set_of({SIGTERM, SIGUSR1, SIGUSR2});
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    t_is_wefts = true;
    body();
    EXPECT_EQ(blocked_here(), k_all) << "the maker keeps its mask";
    t_is_wefts = false;
  }).join();
}

std::string mask_of_new_thread(const pthread_attr_t *attributes = nullptr) {
  std::string mask;
  pthread_t id;
  const int failure = pthread_create(
      &id, attributes,
      [](void *p) -> void * {
        *static_cast<std::string *>(p) = blocked_here();
        return nullptr;
      },
      &mask);
  EXPECT_EQ(failure, 0);
  pthread_join(id, nullptr);
  return mask;
}

/// Ends by SIGTERM, unless that is blocked: then with 7.
constexpr const char *k_shell_ends = "kill -TERM $$; exit 7";

TEST(masks, of_threads_that_wefts_threads_make_are_the_programs) {
  on_thread_of_wefts([] { EXPECT_EQ(mask_of_new_thread(), k_of_program); });
}

TEST(masks, of_threads_of_c11_are_the_programs) {
  on_thread_of_wefts([] {
    std::string mask;
    thrd_t id;
    ASSERT_EQ(thrd_create(
                  &id,
                  [](void *p) {
                    *static_cast<std::string *>(p) = blocked_here();
                    return 0;
                  },
                  &mask),
              thrd_success);
    thrd_join(id, nullptr);
    EXPECT_EQ(mask, k_of_program);
  });
}

TEST(masks, that_the_program_names_for_a_thread_are_kept) {
  auto *const set_mask = reinterpret_cast<int (*)(pthread_attr_t *, const sigset_t *)>(
      dlsym(RTLD_DEFAULT, "pthread_attr_setsigmask_np"));
  if (!set_mask)
    GTEST_SKIP() << "this C library has no pthread_attr_setsigmask_np()";
  on_thread_of_wefts([&] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    EXPECT_EQ(mask_of_new_thread(&attributes), k_of_program) << "attributes without a mask";
    const sigset_t mine = set_of({SIGTERM});
    set_mask(&attributes, &mine);
    EXPECT_EQ(mask_of_new_thread(&attributes), "term ");
    pthread_attr_destroy(&attributes);
  });
}

TEST(masks, of_wefts_own_threads_are_left_alone) {
  on_thread_of_wefts([] {
    t_makes_own = true;
    EXPECT_EQ(mask_of_new_thread(), k_all);
    t_makes_own = false;
  });
}

TEST(masks, of_what_other_threads_make_are_inherited) {
  std::thread([] {
    const sigset_t mine = set_of({SIGTERM, SIGUSR1});
    pthread_sigmask(SIG_SETMASK, &mine, nullptr);
    EXPECT_EQ(mask_of_new_thread(), "term usr1 ");
    const int before = g_records;
    EXPECT_EQ(WEXITSTATUS(std::system(k_shell_ends)), 7);
    FILE *const pipe = popen(k_shell_ends, "r");
    EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 7);
    EXPECT_EQ(g_records, before) << "no thread is made for these calls";
  }).join();
}

/// Spawns a shell that ends by SIGTERM, and returns its status.
template <class Spawn>
int status_of(Spawn spawn, const char *path, const posix_spawnattr_t *attributes) {
  const char *const arguments[] = {"sh", "-c", k_shell_ends, nullptr};
  pid_t child = -1;
  EXPECT_EQ(spawn(&child, path, nullptr, attributes, const_cast<char *const *>(arguments), environ),
            0);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(masks, of_processes_that_are_spawned_are_the_programs) {
  on_thread_of_wefts([] {
    EXPECT_EQ(WTERMSIG(status_of(&posix_spawn, "/bin/sh", nullptr)), SIGTERM);
    EXPECT_EQ(WTERMSIG(status_of(&posix_spawnp, "sh", nullptr)), SIGTERM);
  });
}

TEST(masks, that_the_program_names_for_a_process_are_kept) {
  on_thread_of_wefts([] {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    const sigset_t mine = set_of({SIGTERM});
    posix_spawnattr_setsigmask(&attributes, &mine);
    EXPECT_EQ(WTERMSIG(status_of(&posix_spawn, "/bin/sh", &attributes)), SIGTERM)
        << "a mask that no flag asks for";
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    EXPECT_EQ(WEXITSTATUS(status_of(&posix_spawn, "/bin/sh", &attributes)), 7);
    EXPECT_EQ(WEXITSTATUS(status_of(&posix_spawnp, "sh", &attributes)), 7);
  });
}

TEST(masks, leave_the_other_attributes_of_a_process) {
  on_thread_of_wefts([] {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const char *const arguments[] = {"sleep", "60", nullptr};
    pid_t child = -1;
    ASSERT_EQ(posix_spawnp(&child, "sleep", nullptr, &attributes,
                           const_cast<char *const *>(arguments), environ),
              0);
    EXPECT_EQ(getpgid(child), child);
    kill(child, SIGTERM);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
    short flags = 0;
    posix_spawnattr_getflags(&attributes, &flags);
    EXPECT_EQ(flags, POSIX_SPAWN_SETPGROUP) << "the program's object stays as it is";
  });
}

TEST(masks, of_commands_are_the_programs) {
  on_thread_of_wefts([] {
    EXPECT_EQ(WTERMSIG(std::system(k_shell_ends)), SIGTERM);
    EXPECT_EQ(WEXITSTATUS(std::system("exit 5")), 5);
    EXPECT_NE(std::system(nullptr), 0);
    FILE *const pipe = popen("echo $((6 * 7)); kill -TERM $$; exit 7", "r");
    ASSERT_NE(pipe, nullptr);
    char line[16] = "";
    EXPECT_STREQ(std::fgets(line, sizeof line, pipe), "42\n");
    EXPECT_EQ(WTERMSIG(pclose(pipe)), SIGTERM);
    errno = 0;
    EXPECT_EQ(popen("true", "neither"), nullptr);
    EXPECT_EQ(errno, EINVAL);
  });
}

std::atomic<int> g_handled{0};

TEST(masks, stay_while_a_command_runs) {
  std::signal(SIGUSR1, [](int) { ++g_handled; });
  on_thread_of_wefts([] {
    pthread_kill(pthread_self(), SIGUSR1); // stays pending
    EXPECT_EQ(WEXITSTATUS(std::system("exit 3")), 3);
    EXPECT_EQ(mask_of_new_thread(), k_of_program);
    EXPECT_EQ(WTERMSIG(status_of(&posix_spawn, "/bin/sh", nullptr)), SIGTERM);
    EXPECT_EQ(g_handled, 0);
  });
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(masks, a_thread_that_is_cancelled_meanwhile_ends_behind_the_command) {
  std::atomic<int> status{-1};
  std::atomic<bool> read{false};
  pthread_t id;
  struct results {
    std::atomic<int> &status;
    std::atomic<bool> &read;
  } to{status, read};
  const auto body = [](void *p) -> void * {
    auto &into = *static_cast<results *>(p);
    t_is_wefts = true;
    pthread_cancel(pthread_self()); // acts at the next call that waits
    into.status = std::system("exit 3");
    FILE *const pipe = popen("exit 4", "r");
    into.read = pipe != nullptr;
    int before = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); // pclose() waits
    EXPECT_EQ(before, PTHREAD_CANCEL_ENABLE);
    if (pipe)
      pclose(pipe);
    pthread_setcancelstate(before, nullptr);
    pthread_testcancel();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&id, nullptr, body, &to), 0);
  void *end = nullptr;
  pthread_join(id, &end);
  EXPECT_EQ(end, PTHREAD_CANCELED);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(read);
}

} // namespace
