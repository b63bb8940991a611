// SPDX-License-Identifier: Apache-2.0
// Programs of LPF whose processes are those of a job. The first argument says what to do.
#include "../../net/tests/short_memory.hpp"

#include <lpf/abort.h>
#include <lpf/core.h>
#include <lpf/cost.h>
#include <lpf/pthread.h>
#include <lpf/talpf.h>

#include <weft/layer/runtime_phase.hpp>
#include <weft/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
lpf_err_t lpf_mpi_initialize_over_tcp(const char *server, const char *port, int timeout,
                                      lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t *init);
lpf_err_t lpf_mpi_finalize(lpf_init_t init);
#ifdef HOOKS
extern const int LPF_MPI_AUTO_INITIALIZE;
const int LPF_MPI_AUTO_INITIALIZE = 0;
#endif
}

namespace {

/// Is built before main(), at every process.
const std::vector<int> g_made{4, 5, 6};

void check(bool good, const char *what, int line) {
  if (good)
    return;
  std::fprintf(stderr, "line %d: %s\n", line, what);
  std::_Exit(3);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

void some_function() {}

void inner(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

lpf_t g_used_late = LPF_NONE; // a context

/// Uses LPF behind all handlers of exit() that the library and main() have registered.
struct late_user {
  ~late_user() {
    if (g_used_late == LPF_ROOT) {
      std::uint64_t from = 3, to = 0;
      lpf_memslot_t source, target;
      CHECK(lpf_resize_message_queue(LPF_ROOT, 100) == LPF_SUCCESS);
      CHECK(lpf_register_local(LPF_ROOT, &from, 8, &source) == LPF_SUCCESS);
      CHECK(lpf_register_global(LPF_ROOT, &to, 8, &target) == LPF_SUCCESS);
      CHECK(lpf_put(LPF_ROOT, source, 0, 0, target, 0, 8, LPF_MSG_DEFAULT) == LPF_SUCCESS);
      CHECK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT) == LPF_SUCCESS && to == 3);
      CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, LPF_NO_ARGS) == LPF_SUCCESS); // in threads
    } else if (g_used_late) {
      static_cast<void>(lpf_flush_received(g_used_late)); // goes to the network, or does nothing if the job has failed
    } else {
      return;
    }
    std::puts("used late");
    std::fflush(stdout);
  }
} g_late_user;

/// Copies by puts and gets, short and long ones, among all processes.
void copy(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  CHECK(g_made.size() == 3 && g_made[2] == 6);
  CHECK(args.f_size == 0 || args.f_symbols[0] == &some_function);
  CHECK((pid == 0) == (args.input_size != 0) || args.input_size == 0);
  CHECK(lpf_resize_memory_register(ctx, 3) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 8 * nprocs) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  for (const std::size_t words : {1, 500, 3000, 1 << 18}) {
    std::vector<std::uint64_t> from(words), put(words * nprocs), got(words * nprocs);
    for (std::size_t i = 0; i != words; ++i)
      from[i] = pid * 1000000000ULL + i;
    lpf_memslot_t source, target, own;
    CHECK(lpf_register_global(ctx, from.data(), 8 * from.size(), &source) == LPF_SUCCESS);
    CHECK(lpf_register_global(ctx, put.data(), 8 * put.size(), &target) == LPF_SUCCESS);
    CHECK(lpf_register_local(ctx, got.data(), 8 * got.size(), &own) == LPF_SUCCESS);
    CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
    for (int round = 0; round != 3; ++round) {
      for (lpf_pid_t peer = 0; peer != nprocs; ++peer) {
        CHECK(lpf_put(ctx, source, 0, peer, target, 8 * pid * words, 8 * words, LPF_MSG_DEFAULT) ==
              LPF_SUCCESS);
        CHECK(lpf_get(ctx, peer, source, 0, own, 8 * peer * words, 8 * words, LPF_MSG_DEFAULT) ==
              LPF_SUCCESS);
      }
      CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
      for (std::size_t i = 0; i != put.size(); ++i)
        CHECK(put[i] == i / words * 1000000000ULL + i % words && got[i] == put[i]);
      std::fill(put.begin(), put.end(), 0);
      std::fill(got.begin(), got.end(), 0);
      CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
    }
    CHECK(lpf_deregister(ctx, source) == LPF_SUCCESS);
    CHECK(lpf_deregister(ctx, target) == LPF_SUCCESS);
    CHECK(lpf_deregister(ctx, own) == LPF_SUCCESS);
  }
  lpf_machine_t machine;
  CHECK(lpf_probe(ctx, &machine) == LPF_SUCCESS);
  CHECK(machine.p >= nprocs && machine.g(nprocs, 8, LPF_SYNC_DEFAULT) > 0);
  if (args.output_size != 0)
    *static_cast<int *>(args.output) = 7;
}

/// Has the same numbers from lpf_probe() as its neighbour: they are of all processes together, and not of what each has alone.
void probe_together(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t) {
  lpf_machine_t machine = LPF_INVALID_MACHINE;
  CHECK(lpf_probe(ctx, &machine) == LPF_SUCCESS);
  CHECK(machine.p == nprocs);
  std::vector<double> own, other;
  for (const std::size_t bytes : {8, 4096, 262144})
    own.push_back(machine.g(nprocs, bytes, LPF_SYNC_DEFAULT));
  own.push_back(machine.l(nprocs, 0, LPF_SYNC_DEFAULT));
  CHECK(own[0] > 0 && own[1] > 0 && own[2] > 0 && own[3] > 0);
  other.resize(own.size());
  const std::size_t bytes = own.size() * sizeof(double);
  lpf_memslot_t from, to;
  CHECK(lpf_resize_memory_register(ctx, 2) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 2) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, own.data(), bytes, &from) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, other.data(), bytes, &to) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_put(ctx, from, 0, (pid + 1) % nprocs, to, 0, bytes, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(own == other);
}

/// Writes the pid of each process to process 0.
void tell_pids(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  long own = getpid();
  lpf_memslot_t from, to;
  CHECK(lpf_resize_memory_register(ctx, 2) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, nprocs) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, &own, sizeof own, &from) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, args.output, args.output_size, &to) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_put(ctx, from, 0, 0, to, pid * sizeof own, sizeof own, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

/// Process 1 is killed in a superstep; the others learn it.
void lose(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  // Process 1 may be gone while another one is still in the first superstep.
  const bool met = lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS;
  CHECK(met || pid != 1);
  if (pid == 1)
    raise(SIGKILL);
  CHECK(!met || lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
  std::printf("process %u knows\n", pid);
  std::fflush(stdout);
}

/// Has supersteps until one fails.
void rounds(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  if (lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS && pid == 0)
    std::printf("all processes meet\n");
  std::fflush(stdout);
  while (lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS)
    std::this_thread::yield();
  std::printf("process %u knows\n", pid);
  std::fflush(stdout);
}

/// Waits for a put of process 1, which is lost before the context is there.
void count_on_lost(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  std::uint64_t word = 0;
  lpf_memslot_t slot;
  CHECK(lpf_register_global(ctx, &word, 8, &slot) == LPF_SUCCESS);
  CHECK(lpf_counting_sync_per_slot(ctx, LPF_SYNC_DEFAULT, slot, 0, 1) == LPF_ERR_FATAL);
  std::printf("process %u counts on none\n", pid);
  std::fflush(stdout);
}

void another_function() {}

/// One process calls exit(), where others are in lpf_sync, and a task waits for them: from before, or from then on.
void leave_by_exit(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t args) {
  using weft::layer::phase_of_runtime;
  using weft::layer::runtime_phase;
  const bool is_second = args.f_symbols[0] == &some_function;
  const bool is_late = args.f_symbols[0] == &another_function;
  const bool leaves = pid == (is_second ? 1U : 0U);
  const bool met = lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS;
  CHECK(met || !leaves); // the one that exits may be gone
  if (leaves) {
    std::atomic<bool> waits{is_second || is_late};
    if (is_late)
      weft::spawn([=] {
        while (phase_of_runtime() != runtime_phase::exits)
          weft::taskyield();
        CHECK(talpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
        std::printf("a late task ends\n");
      });
    else if (!is_second) // a task that waits for the others
      weft::spawn([&] {
        static_cast<void>(talpf_sync(ctx, LPF_SYNC_DEFAULT));
        waits = true;
      });
    while (!waits)
      weft::taskyield();
    g_used_late = ctx;
    std::exit(5);
  }
  CHECK(!met || lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}

/// Process 1 finds a put of process 2 that is wrong, and uses its memory again at once. Process 0 may be reading that memory,
/// and has the right bytes if its superstep succeeds. `args.output` counts these.
void overwrite(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t args) {
  constexpr std::size_t k_words = 4 << 20;
  std::vector<std::uint64_t> memory(pid == 2 ? 1 : k_words, pid);
  lpf_memslot_t slot;
  CHECK(lpf_resize_memory_register(ctx, 1) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 2) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, memory.data(), 8 * memory.size(), &slot) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  for (const bool is_last : {false, true}) { // in the first superstep, keys are exchanged
    if (pid == 1)
      CHECK(lpf_put(ctx, slot, 0, 0, slot, 0, 8 * memory.size(), LPF_MSG_DEFAULT) == LPF_SUCCESS);
    if (pid == 2 && is_last)
      CHECK(lpf_put(ctx, slot, 0, 1, slot, 8 * k_words, 8, LPF_MSG_DEFAULT) == LPF_SUCCESS); // outside
    const lpf_err_t code = lpf_sync(ctx, LPF_SYNC_DEFAULT);
    CHECK(is_last || code == LPF_SUCCESS);
    if (pid == 1)
      std::fill(memory.begin(), memory.end(), 99);
    if (pid == 1 && !is_last)
      std::fill(memory.begin(), memory.end(), 1);
    if (pid != 0 || code != LPF_SUCCESS)
      continue;
    for (std::uint64_t &word : memory) {
      CHECK(word == 1);
      word = 0;
    }
    if (is_last)
      ++*static_cast<int *>(args.output);
  }
}

/// Tasks of the other processes put to process 0, which fails the context meanwhile and uses its memory again as soon as it
/// knows that: by its own call, or as a task or a thread learns it. `args.output` counts the rounds in which puts have come.
void overwrite_by_tasks(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  constexpr std::size_t k_words = 1 << 20, k_puts = 8;
  std::vector<std::uint64_t> memory(pid == 0 ? k_words : k_words / k_puts, pid);
  const std::size_t bytes = 8 * (k_words / k_puts);
  lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
  int step = 0;
  CHECK(lpf_resize_memory_register(ctx, 1) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, memory.data(), 8 * memory.size(), &slot) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  const auto put_all = [&] {
    for (std::size_t i = 0; i != k_puts; ++i)
      if (talpf_put(ctx, slot, 0, 0, slot, i * bytes, bytes, LPF_MSG_DEFAULT) != LPF_SUCCESS)
        return;
  };
  if (pid != 0) {
    put_all();
    static_cast<void>(talpf_sync(ctx, LPF_SYNC_DEFAULT)); // process 0 has met it, or fails
    for (;;) {
      put_all();
      if (lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_SUCCESS)
        return;
    }
  }
  static_cast<void>(talpf_sync(ctx, LPF_SYNC_DEFAULT)); // keys are known, and puts have come
  const volatile std::uint64_t *const seen = memory.data();
  std::fill(memory.begin(), memory.end(), 0);
  for (int i = 0; i != 1000000 && seen[0] == 0; ++i) // the next ones come
    if (i % 1000 == 0)
      std::this_thread::yield();
  const bool have_come = seen[0] != 0;
  lpf_err_t code = LPF_SUCCESS;
  if (args.f_symbols[0] == &some_function) { // a task fails, and its successor uses the memory
    weft::spawn([&] { code = talpf_put(ctx, slot, 0, nprocs, slot, 0, 8, LPF_MSG_DEFAULT); },
                weft::out(step));
    weft::taskwait();
  } else if (args.f_symbols[0] == &another_function) { // a thread learns it in its superstep
    std::thread other([&] { static_cast<void>(talpf_put(ctx, slot, 0, nprocs, slot, 0, 8, LPF_MSG_DEFAULT)); });
    code = talpf_sync(ctx, LPF_SYNC_DEFAULT);
    other.join();
  } else {
    code = talpf_put(ctx, slot, 0, nprocs, slot, 0, 8, LPF_MSG_DEFAULT); // there is no such process
  }
  CHECK(code == LPF_ERR_FATAL);
  std::fill(memory.begin(), memory.end(), 99);
  for (int i = 0; i != 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(std::count(memory.begin(), memory.end(), 99U) == static_cast<long>(k_words));
  }
  *static_cast<int *>(args.output) += have_come;
}

/// Ends the want of memory of process 0.
void stop_failing(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  if (pid == 0)
    static_cast<void>(test::has_failed_allocation());
  static_cast<void>(lpf_sync(ctx, LPF_SYNC_DEFAULT)); // what came early may have found no memory
}

void early(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  if (pid != 1)
    CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}

void stop(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  if (pid == 1)
    static_cast<void>(lpf_abort(ctx));
  static_cast<void>(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

void nested(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  CHECK(lpf_exec(ctx, LPF_MAX_P, &inner, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_rehook(ctx, &inner, LPF_NO_ARGS) == LPF_SUCCESS);
}

/// Has a superstep of a context within that of `traced`, which has superstep 1 as well.
void within(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

/// Has copies of all kinds for a trace: to the next process, and from it.
void traced(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t) {
  std::vector<std::uint64_t> from(1000, pid), to(1000), got(1000);
  const lpf_pid_t next = (pid + 1) % nprocs, before = (pid + nprocs - 1) % nprocs;
  lpf_memslot_t source, target, own;
  CHECK(lpf_resize_memory_register(ctx, 3) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 4) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, from.data(), 8000, &source) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, to.data(), 8000, &target) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, got.data(), 8000, &own) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_put(ctx, source, 0, next, target, 0, 64, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_put(ctx, source, 0, next, target, 0, 8000, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_put(ctx, source, 0, pid, target, 0, 8, LPF_MSG_DEFAULT) == LPF_SUCCESS); // no message
  CHECK(lpf_get(ctx, next, source, 0, own, 0, 800, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(to[999] == before && got[99] == next);
  weft::spawn(
      [&] { CHECK(talpf_put(ctx, source, 0, next, target, 80, 40, LPF_MSG_DEFAULT) == LPF_SUCCESS); },
      weft::label("puts"));
  weft::spawn([&] {
    CHECK(talpf_get(ctx, next, source, 0, own, 0, 48, LPF_MSG_DEFAULT) == LPF_SUCCESS);
    CHECK(talpf_atomic_fetch_and_add(ctx, own, 80, next, target, 160, 1) == LPF_SUCCESS);
    CHECK(talpf_atomic_cmp_and_swp(ctx, own, 88, next, target, 168, 0, 1) == LPF_SUCCESS);
  });
  weft::taskwait();
  int ends = 0; // the order of these
  weft::spawn([&] { CHECK(talpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS); }, weft::inout(ends));
  weft::spawn([&] { CHECK(talpf_sync(ctx, LPF_SYNC_MSG(0)) == LPF_SUCCESS); }, weft::inout(ends));
  weft::taskwait();
  CHECK(talpf_put(ctx, source, 0, 0, target, 0, 16, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(talpf_sync(ctx, LPF_SYNC_CACHED) == LPF_SUCCESS); // process 0 acknowledges
  CHECK(lpf_rehook(ctx, &within, LPF_NO_ARGS) == LPF_SUCCESS);
  // Processes within a process send no message between those of the job.
  CHECK(lpf_exec(ctx, 2, &inner, LPF_NO_ARGS) == LPF_SUCCESS);
}

/// Returns whether a process has been stopped by a signal.
bool is_stopped(std::uint64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return state == "T";
}

/// Process 1 computes for ever; supersteps of process 0 wait for it.
void late(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  while (pid == 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  weft::spawn([&] { CHECK(talpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS); }, weft::label("ends"));
  weft::spawn([&] { CHECK(talpf_sync(ctx, LPF_SYNC_MSG(2)) == LPF_SUCCESS); }, weft::label("counts"));
  std::printf("pid %ld\n", static_cast<long>(getpid()));
  std::fflush(stdout);
  static_cast<void>(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

/// Puts that are counted, and are on their way when the superstep ends.
void counted(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t) {
  const lpf_pid_t next = (pid + 1) % nprocs, before = (pid + nprocs - 1) % nprocs;
  for (const std::size_t words : {1, 1 << 18}) {
    std::vector<std::uint64_t> from(words, pid), to(words, 99);
    lpf_memslot_t own, there;
    CHECK(lpf_register_local(ctx, from.data(), 8 * words, &own) == LPF_SUCCESS);
    CHECK(lpf_register_global(ctx, to.data(), 8 * words, &there) == LPF_SUCCESS);
    CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
    CHECK(lpf_put(ctx, own, 0, next, there, 0, 8 * words, LPF_MSG_DEFAULT) == LPF_SUCCESS);
    std::size_t sent = 0;
    CHECK(lpf_get_sent_msg_count(ctx, &sent) == LPF_SUCCESS);
    CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
    for (const std::uint64_t word : to)
      CHECK(word == before);
    CHECK(lpf_deregister(ctx, own) == LPF_SUCCESS);
    CHECK(lpf_deregister(ctx, there) == LPF_SUCCESS);
  }
}

/// Process 1 has a lock and keeps it; process 0 waits for it.
void locked(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  std::uint64_t lock = 0, swaps = 0;
  lpf_memslot_t own, there;
  CHECK(lpf_register_local(ctx, &swaps, 8, &own) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, &lock, 8, &there) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  if (pid == 1)
    CHECK(lpf_lock_slot(ctx, own, 0, 1, there, 0, 8, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  while (pid == 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  std::printf("pid %ld\n", static_cast<long>(getpid()));
  std::fflush(stdout);
  static_cast<void>(lpf_lock_slot(ctx, own, 0, 1, there, 0, 8, LPF_MSG_DEFAULT));
}

/// Process 1 has been stopped; messages of process 0 wait for it.
void stopped(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t) {
  std::vector<std::uint64_t> known(1000, static_cast<std::uint64_t>(getpid())), unknown(1), own(1000);
  lpf_memslot_t there, never_asked, here;
  CHECK(lpf_resize_memory_register(ctx, 3) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 1) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, known.data(), 8000, &there) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, unknown.data(), 8, &never_asked) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, own.data(), 8000, &here) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  if (pid == 0) {
    weft::spawn([&] { CHECK(talpf_get(ctx, 1, there, 0, here, 0, 8, LPF_MSG_DEFAULT) == LPF_SUCCESS); });
    weft::taskwait();
  }
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  while (pid == 1)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(static_cast<pid_t>(own[0]), SIGSTOP); // not before the messages of process 1 have left it
  while (!is_stopped(own[0]))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  weft::spawn([&] { CHECK(talpf_get(ctx, 1, there, 0, here, 0, 8000, LPF_MSG_DEFAULT) == LPF_SUCCESS); },
              weft::label("gets"));
  weft::spawn([&] { CHECK(talpf_put(ctx, here, 0, 1, never_asked, 0, 8, LPF_MSG_DEFAULT) == LPF_SUCCESS); },
              weft::label("asks"));
  std::printf("pid %ld\n", static_cast<long>(getpid()));
  std::fflush(stdout);
  static_cast<void>(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

/// A child of fork() that ends by exit() has no processes, and leaves those of its parent alone.
void fork_child(lpf_pid_t count) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, LPF_NO_ARGS) == (count == 1 ? LPF_SUCCESS : LPF_ERR_FATAL));
    std::exit(EXIT_SUCCESS);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, LPF_NO_ARGS) == LPF_SUCCESS);
}

void never(lpf_t, lpf_pid_t, lpf_pid_t, lpf_args_t) { CHECK(!"runs in a failure state"); }

/// Expects that the program, of which a call has returned LPF_ERR_FATAL, gets no other code, and runs nothing.
void expect_failure_state() {
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &never, LPF_NO_ARGS) == LPF_ERR_FATAL);
  CHECK(lpf_exec(LPF_ROOT, 1, &never, LPF_NO_ARGS) == LPF_ERR_FATAL);
  CHECK(lpf_rehook(LPF_ROOT, &never, LPF_NO_ARGS) == LPF_ERR_FATAL);
  CHECK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}

int everything(lpf_pid_t count) {
  int input = 1, output = 0;
  const lpf_func_t functions[] = {&some_function};
  const lpf_args_t args{&input, sizeof input, &output, sizeof output, functions, 1};
  for (lpf_pid_t n = 1; n <= count; ++n) { // fewer processes than there are, too
    CHECK(lpf_exec(LPF_ROOT, n, &copy, args) == LPF_SUCCESS);
    CHECK(output == 7);
    CHECK(lpf_exec(LPF_ROOT, n, &nested, LPF_NO_ARGS) == LPF_SUCCESS);
    if (n == count)
      CHECK(lpf_exec(LPF_ROOT, n, &probe_together, LPF_NO_ARGS) == LPF_SUCCESS);
  }
  std::vector<long> pids(count);
  lpf_args_t all = LPF_NO_ARGS;
  all.output = pids.data();
  all.output_size = pids.size() * sizeof(long);
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &tell_pids, all) == LPF_SUCCESS);
  for (lpf_pid_t i = 0; i != count; ++i)
    for (lpf_pid_t j = 0; j != i; ++j)
      CHECK(pids[i] != 0 && pids[i] != pids[j]);
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &counted, LPF_NO_ARGS) == LPF_SUCCESS);
  fork_child(count);
  lpf_machine_t machine;
  CHECK(lpf_probe(LPF_ROOT, &machine) == LPF_SUCCESS);
  CHECK(machine.p == count && machine.free_p == count);
  if (count != 1) { // the last one: a failure is one of the program
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &early, LPF_NO_ARGS) == LPF_ERR_FATAL);
    expect_failure_state();
  }
  return EXIT_SUCCESS;
}

/// Starts an SPMD function whose orders find no memory, at each place from `n` on where process 0 asks for some. Says how many
/// those are, and where the program has come to: a failure ends it.
int start_without_memory(long n) {
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, LPF_NO_ARGS) == LPF_SUCCESS); // measures, and is ready
  int without_memory = 0;
  lpf_err_t code = LPF_SUCCESS;
  for (bool has_failed = true; has_failed && code != LPF_ERR_FATAL; ++n) {
    test::fail_allocation_behind(n);
    code = lpf_exec(LPF_ROOT, LPF_MAX_P, &stop_failing, LPF_NO_ARGS);
    has_failed = test::has_failed_allocation();
    CHECK(code == LPF_SUCCESS || has_failed);
    without_memory += code == LPF_ERR_OUT_OF_MEMORY;
    if (code == LPF_ERR_FATAL)
      expect_failure_state();
    else
      CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, LPF_NO_ARGS) == LPF_SUCCESS);
  }
  return std::printf("%d places without memory, next %ld\n", without_memory, code == LPF_ERR_FATAL ? n : -1) < 0;
}

/// Is one of the processes that meet at a port, of which process 1 is lost. A hook behind the loss knows of it, too.
int join_and_lose(const char *port, lpf_pid_t pid, lpf_pid_t count) {
  lpf_init_t init = nullptr;
  CHECK(lpf_mpi_initialize_over_tcp("localhost", port, 60000, pid, count, &init) == LPF_SUCCESS);
  CHECK(lpf_hook(init, &lose, LPF_NO_ARGS) == LPF_ERR_FATAL);
  for (int round = 0; round != 3; ++round) { // a process may know of the loss later than another one has failed
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(lpf_hook(init, &count_on_lost, LPF_NO_ARGS) == LPF_ERR_FATAL);
  }
  expect_failure_state();
  static_cast<void>(lpf_mpi_finalize(init));
  return EXIT_SUCCESS;
}

/// Ends while a thread waits for another one that is to become a process with it.
int end_while_one_waits() {
  std::atomic<bool> is_there{false};
  std::thread([&] {
    lpf_init_t init = LPF_INIT_NONE;
    is_there = true;
    static_cast<void>(lpf_pthread_initialize(0, 2, &init));
  }).detach();
  while (!is_there)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // most often it waits then
  std::exit(7);
}

/// Is one process of those that meet at a port: started by hand, or by a fork of the test.
int join(const char *port, lpf_pid_t pid, lpf_pid_t count) {
  lpf_init_t init = nullptr;
  if (lpf_mpi_initialize_over_tcp("localhost", port, pid == 9 ? 1500 : 60000, pid == 9 ? 1 : pid,
                                  count, &init) != LPF_SUCCESS)
    return 5;
  for (int round = 0; round != 2; ++round)
    CHECK(lpf_hook(init, &copy, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_hook(init, &probe_together, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_mpi_finalize(init) == LPF_SUCCESS);
  return EXIT_SUCCESS;
}

} // namespace

int main(int count, char **values) {
  const std::string what = count > 1 ? values[1] : "";
  const auto number = [&](int i) { return static_cast<lpf_pid_t>(std::atoi(values[i])); };
  if (what == "everything")
    return everything(number(2));
  if (what == "late" || what == "stopped")
    return lpf_exec(LPF_ROOT, LPF_MAX_P, what == "late" ? &late : &stopped, LPF_NO_ARGS) == LPF_SUCCESS ? 0 : 4;
  if (what == "rounds")
    return lpf_exec(LPF_ROOT, LPF_MAX_P, &rounds, LPF_NO_ARGS) == LPF_SUCCESS ? 0 : 4;
  if (what == "locked")
    return lpf_exec(LPF_ROOT, LPF_MAX_P, &locked, LPF_NO_ARGS) == LPF_SUCCESS ? 0 : 4;
  if (what == "traced")
    return lpf_exec(LPF_ROOT, LPF_MAX_P, &traced, LPF_NO_ARGS) == LPF_SUCCESS ? 0 : 4;
  if (what == "lose") {
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &lose, LPF_NO_ARGS) == LPF_ERR_FATAL);
    expect_failure_state();
    return 0;
  }
  if (what == "lose joined")
    return join_and_lose(values[2], number(3), number(4));
  if (what == "exit") {
    const lpf_func_t functions[] = {number(2) == 1   ? &some_function
                                    : number(2) == 2 ? &another_function
                                                     : reinterpret_cast<lpf_func_t>(&inner)};
    lpf_args_t args = LPF_NO_ARGS;
    args.f_symbols = functions;
    args.f_size = 1;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &leave_by_exit, args) == LPF_ERR_FATAL);
    return 8;
  }
  if (what == "exit late") {
    CHECK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
    g_used_late = LPF_ROOT;
    return 0;
  }
  if (what == "exit meanwhile")
    return end_while_one_waits();
  if (what == "short")
    return start_without_memory(number(2));
  if (what == "overwrite") {
    int good = 0;
    lpf_args_t args = LPF_NO_ARGS;
    args.output = &good;
    args.output_size = sizeof good;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &overwrite, args) == LPF_ERR_FATAL);
    return std::printf("%d supersteps have succeeded\n", good) < 0;
  }
  if (what == "overwrite by tasks") {
    int good = 0;
    lpf_args_t args = LPF_NO_ARGS;
    args.output = &good;
    args.output_size = sizeof good;
    args.f_size = 1;
    const lpf_func_t functions[] = {number(2) == 0   ? &some_function
                                    : number(2) == 1 ? &another_function
                                                     : reinterpret_cast<lpf_func_t>(&inner)};
    args.f_symbols = functions;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &overwrite_by_tasks, args) == LPF_ERR_FATAL);
    return std::printf("puts came in %d rounds\n", good) < 0;
  }
  if (what == "stop") {
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &stop, LPF_NO_ARGS) == LPF_ERR_FATAL);
    pause(); // the code is that of the first process that ends, and this one ends with the job
  }
  if (what == "main")
    return std::puts("main") < 0;
  if (what == "code")
    std::exit(9);
  if (what == "join")
    return join(values[2], number(3), number(4));
  return 2;
}
