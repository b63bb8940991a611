// SPDX-License-Identifier: Apache-2.0
// Processes that the program starts from a thread of Weft's begin with the program's signal mask
// (program_mask.hpp), and not with that of the kernel thread. Children of fork() get theirs from Weft.
//
// posix_spawn() takes a mask. system() and popen() read that of the caller, inside of the C library;
// they run on a thread that is made for the call, which begins with the program's mask. To change the
// caller's mask instead would let the program's signals come to a worker meanwhile.
#include "next_function.hpp"
#include "program_mask.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <spawn.h>

namespace {

using weft_pools::program_mask;
using weft_pools::real;

using spawn_function = int(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const[], char *const[]) noexcept;

/// Holds what a process is spawned with: the program's mask, unless the caller names one.
class attributes_with_mask {
 public:
  explicit attributes_with_mask(const posix_spawnattr_t *given) noexcept : m_used(given) {
    short flags = 0;
    if (given)
      posix_spawnattr_getflags(given, &flags);
    sigset_t mask;
    if ((flags & POSIX_SPAWN_SETSIGMASK) || !program_mask(mask))
      return;
    if (given)
      m_own = *given; // the C library's has no pointers
    else
      posix_spawnattr_init(&m_own);
    posix_spawnattr_setsigmask(&m_own, &mask);
    posix_spawnattr_setflags(&m_own, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK));
    m_used = &m_own;
  }
  attributes_with_mask(const attributes_with_mask &) = delete;
  attributes_with_mask &operator=(const attributes_with_mask &) = delete;
  const posix_spawnattr_t *get() const noexcept { return m_used; }

 private:
  posix_spawnattr_t m_own{};
  const posix_spawnattr_t *m_used;
};

/// Returns call(), which a thread with the program's mask makes. Without such a thread the caller
/// does. A caller that is cancelled meanwhile ends later.
template <class Result, class Call>
Result call_under_program_mask(Call call) {
  struct request {
    Call &call;
    Result result{};
    int error = 0;
  } r{call};
  const auto body = [](void *p) -> void * {
    auto &mine = *static_cast<request *>(p);
    mine.result = mine.call();
    mine.error = errno;
    return nullptr;
  };
  int cancellable = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable); // the helper writes to this frame
  pthread_t helper;
  sigset_t mask;
  const bool has_helper =
      program_mask(mask) && pthread_create(&helper, nullptr, body, &r) == 0;
  if (has_helper)
    pthread_join(helper, nullptr);
  pthread_setcancelstate(cancellable, nullptr);
  if (!has_helper)
    return call();
  errno = r.error;
  return r.result;
}

spawn_function *g_posix_spawn = nullptr, *g_posix_spawnp = nullptr;
int (*g_system)(const char *) = nullptr;
FILE *(*g_popen)(const char *, const char *) = nullptr;

[[gnu::constructor]] void find_functions() {
  real(g_posix_spawn, "posix_spawn");
  real(g_posix_spawnp, "posix_spawnp");
  real(g_system, "system");
  real(g_popen, "popen");
}

} // namespace

WEFT_EXPORT int posix_spawn(pid_t *id, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *given, char *const arguments[],
                            char *const environment[]) noexcept {
  const attributes_with_mask with(given);
  return real(g_posix_spawn, "posix_spawn")(id, path, actions, with.get(), arguments, environment);
}

WEFT_EXPORT int posix_spawnp(pid_t *id, const char *file, const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *given, char *const arguments[],
                             char *const environment[]) noexcept {
  const attributes_with_mask with(given);
  return real(g_posix_spawnp, "posix_spawnp")(id, file, actions, with.get(), arguments,
                                              environment);
}

WEFT_EXPORT int system(const char *command) {
  auto *const f = real(g_system, "system");
  return call_under_program_mask<int>([=] { return f(command); });
}

WEFT_EXPORT FILE *popen(const char *command, const char *mode) {
  auto *const f = real(g_popen, "popen");
  return call_under_program_mask<FILE *>([=] { return f(command, mode); });
}
