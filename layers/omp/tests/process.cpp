/* SPDX-License-Identifier: Apache-2.0
   What happens to a process that has OpenMP threads: fork, exit inside a region, exceptions, big
   stacks, no memory for threads, regions in static destructors.
   Each case runs in a process of its own, which is this program started again. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int omp_get_thread_num(void);
extern "C" int omp_get_num_threads(void);
extern "C" void omp_set_max_active_levels(int);

namespace {

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "process: %s\n", what);
  _exit(1);
}

int count_threads(int asked) {
  int threads = 0;
#pragma omp parallel num_threads(asked) reduction(+ : threads)
  threads++;
  return threads;
}

int status_of(pid_t child) {
  int status = 0;
  require(waitpid(child, &status, 0) == child, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void fork_after_region() {
  require(count_threads(4) == 4, "a region before the fork");
  const pid_t child = fork();
  if (child == 0) {
    const bool right = count_threads(4) == 4;
    const pid_t second = fork();
    if (second == 0)
      _exit(count_threads(3) == 3 ? 0 : 1);
    _exit(right && status_of(second) == 0 ? 0 : 1);
  }
  require(count_threads(4) == 4, "a region of the parent after the fork");
  require(status_of(child) == 0, "regions of the child, and of its child");
}

void fork_inside_region() {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    const pid_t child = fork();
    if (child == 0)
      _exit(count_threads(4) == 1 ? 0
                                  : 1); // serial, because the other threads stayed in the parent
    require(status_of(child) == 0, "a region in a child that was made inside of a region");
  }
}

void fork_inside_region_of_one() {
  require(count_threads(3) == 3, "a region before the fork");
  pid_t child = -1;
#pragma omp parallel num_threads(1)
  child = fork();
  if (child == 0)
    _exit(count_threads(3) == 3 && count_threads(4) == 4 ? 0 : 1);
  require(status_of(child) == 0,
          "regions of a child that was made inside of a region of one thread");
}

void exit_inside_region(int who) {
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == who)
      std::exit(17);
#pragma omp barrier
  }
  require(false, "a region that ended though exit() was called");
}

void exit_inside_task() {
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task firstprivate(i)
      if (i == 7)
        std::exit(17);
    }
  }
}

void exceptions() {
  omp_set_max_active_levels(2);
  int caught = 0;
#pragma omp parallel num_threads(6) reduction(+ : caught)
  for (int round = 0; round < 50; ++round) {
    try {
      try {
        throw std::runtime_error(std::to_string(omp_get_thread_num()));
      } catch (const std::exception &e) {
        require(e.what() == std::to_string(omp_get_thread_num()),
                "the exception is the thread's own");
#pragma omp taskyield
        int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
          try {
            throw 3;
          } catch (int n) {
            sum += n;
          }
        }
        require(sum == 6, "exceptions in a region inside of a handler");
        throw; // the handled exception, after another thread may have run here
      }
    } catch (const std::runtime_error &e) {
      require(e.what() == std::to_string(omp_get_thread_num()) && std::uncaught_exceptions() == 0,
              "the exception that is thrown again");
      ++caught;
    }
#pragma omp barrier
  }
  require(caught == 300, "every exception was caught");
}

[[gnu::noinline]] int use_stack(int mebibytes) {
  volatile char room[1 << 20];
  for (std::size_t i = 0; i < sizeof room; i += 4096)
    room[i] = static_cast<char>(i >> 12);
  const int below = mebibytes > 1 ? use_stack(mebibytes - 1) : 0;
  return below + room[4096];
}

void big_stacks() { // with OMP_STACKSIZE=64M
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  if (omp_get_thread_num() != 0) // its stack is the process's
    sum += use_stack(48);
  require(sum == 96, "48 MiB of stack");
}

/// Limits the address space to what is in use and this much more.
void leave_memory(rlim_t bytes) {
  rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  long pages = 0;
  if (FILE *const f = std::fopen("/proc/self/statm", "r")) {
    require(std::fscanf(f, "%ld", &pages) == 1, "statm");
    std::fclose(f);
  }
  limit.rlim_cur = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  require(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
}

void no_memory() { // with OMP_STACKSIZE=1G
  require(count_threads(2) >= 1, "a region"); // makes what the runtime needs once
  leave_memory(rlim_t{1500} << 20);
  const int threads = count_threads(16);
  require(threads >= 1 && threads < 16, "a region goes on with the threads that can be had");
}

void no_memory_for_more() { // with OMP_STACKSIZE=1G
  require(count_threads(6) == 6, "a region");
  leave_memory(rlim_t{500} << 20);
  for (int i = 0; i < 3; ++i)
    require(count_threads(16) == 6 && count_threads(4) == 4,
            "regions of the threads that are there");
}

struct late {
  bool wanted = false;
  ~late() {
    if (wanted)
      require(count_threads(4) >= 1, "a region in a static destructor");
  }
};
late g_late;

void destructors() {
  g_late.wanted = true;
  require(count_threads(4) == 4, "a region");
}

struct test_case {
  const char *name;
  void (*run)();
  int status;
  const char *stack_bytes;
};
const test_case k_cases[] = {
    {"fork after a region", fork_after_region, 0, nullptr},
    {"fork inside of a region", fork_inside_region, 0, nullptr},
    {"fork inside of a region of one thread", fork_inside_region_of_one, 0, nullptr},
    {"exit in the first thread", [] { exit_inside_region(0); }, 17, nullptr},
    {"exit in another thread", [] { exit_inside_region(2); }, 17, nullptr},
    {"exit in a task", exit_inside_task, 17, nullptr},
    {"exceptions", exceptions, 0, nullptr},
    {"big stacks", big_stacks, 0, "64M"},
    {"no memory for threads", no_memory, 0, "1G"},
    {"no memory for more threads", no_memory_for_more, 0, "1G"},
    {"static destructors", destructors, 0, nullptr},
};

} // namespace

int main(int argc, char **argv) {
  if (argc > 1) {
    for (const test_case &c : k_cases)
      if (std::strcmp(argv[1], c.name) == 0)
        c.run();
    return 0;
  }
  for (const test_case &c : k_cases) {
    const pid_t child = fork();
    if (child == 0) {
      if (c.stack_bytes)
        setenv("OMP_STACKSIZE", c.stack_bytes, 1);
      alarm(20); // a hang fails
      execl(argv[0], argv[0], c.name, static_cast<char *>(nullptr));
      _exit(127);
    }
    const int status = status_of(child);
    if (status != c.status) {
      std::fprintf(stderr, "process: %s: status %d, not %d\n", c.name, status, c.status);
      return 1;
    }
  }
  std::puts("process: ok");
}
