// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/processes.hpp"

#include "weft_lpf/code.hpp"
#include "weft_lpf/machine.hpp"
#include "weft_lpf/report.hpp"

#include <weft/config.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

/// Is of the program, or of hooks.cpp. It is not defined in this file, whose reads would be constants then.
extern "C" const int LPF_MPI_AUTO_INITIALIZE;

namespace weft_lpf {

namespace {

// Names of contexts that have no parent. Those of others are random.
constexpr std::uint64_t k_end = 0, k_first = 1;

/// Writes and reads an order: of how many processes, what, and with which functions.
struct order {
  std::uint64_t name = 0;
  std::uint64_t count = 0; // of processes; 0: the job ends
  std::vector<code> functions; // the SPMD function, and those of its arguments
  machine_numbers machine;

  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> out;
    const auto append = [&out](const void *from, std::size_t size) {
      const auto *const first = static_cast<const std::byte *>(from);
      out.insert(out.end(), first, first + size);
    };
    const std::uint64_t size = functions.size();
    append(&name, sizeof name);
    append(&count, sizeof count);
    append(&machine, sizeof machine);
    append(&size, sizeof size);
    for (const code &c : functions) {
      const std::uint64_t length = c.file.size();
      append(&c.offset, sizeof c.offset);
      append(&length, sizeof length);
      append(c.file.data(), length);
    }
    return out;
  }
  explicit order(const std::vector<std::byte> &in) {
    const std::byte *at = in.data();
    const auto take = [&at](void *to, std::size_t size) {
      std::memcpy(to, at, size);
      at += size;
    };
    std::uint64_t size = 0, length = 0;
    take(&name, sizeof name);
    take(&count, sizeof count);
    take(&machine, sizeof machine);
    take(&size, sizeof size);
    functions.resize(size);
    for (code &c : functions) {
      take(&c.offset, sizeof c.offset);
      take(&length, sizeof length);
      c.file.resize(length);
      take(c.file.data(), length);
    }
  }
  order() = default;
};

// The job of this process, until it has left it. It is never destroyed: threads may use its link while the process exits.
constinit std::atomic<process_job *> g_job{nullptr};
constinit std::atomic<int> g_running{0}; // SPMD functions of the job
std::uint64_t g_last_name = k_first;

/// Notes that this process is in an SPMD function of the job.
struct running {
  running() noexcept { ++g_running; }
  running(const running &) = delete;
  running &operator=(const running &) = delete;
  ~running() { --g_running; }
};

/// Waits until all processes have come so far.
void meet(process_job &job) noexcept {
  try {
    context last(&job.below(), k_end, {job.pid(), job.processes(), 1, 1});
    static_cast<void>(last.sync(context::ending::function));
  } catch (const std::bad_alloc &) { // it leaves at once
  }
}

/// Does what an order says. Returns false for the last one.
bool obey(process_job &job, const order &what) {
  if (what.count == 0)
    return false;
  const running in_function;
  set_measured(what.machine);
  const place where{job.pid(), static_cast<unsigned>(what.count), job.processes(),
                    part_of(job.processes(), job.pid(), static_cast<unsigned>(what.count))};
  context self(&job.below(), what.name, where);
  std::vector<lpf_func_t> functions;
  try {
    for (const code &c : what.functions)
      functions.push_back(function_at(c));
  } catch (const std::exception &e) {
    self.fail("process " + std::to_string(job.pid()) + " cannot run lpf_exec: " + e.what());
    return true;
  }
  lpf_args_t args{};
  args.f_symbols = functions.data() + 1;
  args.f_size = functions.size() - 1;
  static_cast<void>(run_spmd(self, reinterpret_cast<lpf_spmd_t>(functions[0]), args));
  return true;
}

/// Leaves the job, when all do.
void leave(process_job &job) noexcept {
  g_job = nullptr;
  meet(job);
  job.leave();
}

/// Ends the job, with the program of process 0.
void end_job(process_job &job) {
  try {
    job.below().send_order(k_end, static_cast<int>(job.processes()), order().bytes());
  } catch (const std::bad_alloc &) { // the others take this process for lost
    return;
  }
  leave(job);
}

/// Is called by exit(). A child of fork() leaves the job alone. Where an SPMD function runs, the others may be anywhere in it:
/// there is no point where all could meet, and they learn that this process is lost.
void at_exit() {
  process_job *const job = g_job;
  if (!job || !job->below().is_own())
    return;
  if (g_running != 0)
    report("process " + std::to_string(job->pid()) +
           " calls exit() in an SPMD function; the other processes take it for lost");
  else if (job->pid() == 0)
    end_job(*job);
}

int serve(process_job &job) {
  while (const auto bytes = job.below().wait_for_order())
    if (!obey(job, order(*bytes))) {
      leave(job);
      return EXIT_SUCCESS;
    }
  if (job.below().is_own()) // or a child of fork() has returned from the SPMD function
    report("process " + std::to_string(job.pid()) + " ends, because process 0 is lost");
  return EXIT_FAILURE;
}

using main_function = int (*)(int, char **, char **);
main_function g_main = nullptr;

/// Is main() of each process: that of the program at process 0, or without a job.
int main_of_process(int count, char **values, char **environment) {
  if (LPF_MPI_AUTO_INITIALIZE != 0)
    try {
      if (auto joined = weft::net::joined_job::of_process()) {
        static auto *const job = new process_job(std::move(joined));
        g_job = job;
        std::atexit(&at_exit);
        if (job->pid() != 0)
          return serve(*job);
      }
    } catch (const std::exception &e) {
      report(std::string("cannot join the job: ") + e.what());
      return EXIT_FAILURE;
    }
  return g_main(count, values, environment);
}

} // namespace

process_job::process_job(std::unique_ptr<weft::net::joined_job> joined)
    : m_joined(std::move(joined)), m_link(new link(m_joined->take_engine(), link::messages::traced, m_joined->places())) {
  m_joined->start([below = m_link.get()](int which) { below->report_lost(which); });
}

process_job::~process_job() {
  if (m_joined && !m_link->is_own())
    static_cast<void>(m_joined.release()); // its threads are the parent's
  else if (m_joined)
    m_joined->stop(); // it tells the link of losses
}

void process_job::leave() noexcept {
  if (!m_link->is_own())
    return;
  m_joined->stop();
  m_link.reset();
  m_joined->leave();
  m_joined.reset();
}

process_job *job_of_process() noexcept {
  process_job *const job = g_job;
  return job && job->pid() == 0 && job->processes() != 1 ? job : nullptr;
}

bool run_in_processes(process_job &job, unsigned count, lpf_spmd_t spmd, const lpf_args_t &args) {
  if (!job.below().is_own()) {
    report("lpf_exec: " + job.below().refusal());
    return false;
  }
  order what;
  what.name = ++g_last_name;
  what.count = count;
  what.machine = measured();
  what.functions.push_back(place_of(reinterpret_cast<lpf_func_t>(spmd)));
  for (std::size_t i = 0; i != args.f_size; ++i)
    what.functions.push_back(place_of(args.f_symbols[i]));
  const std::vector<std::byte> bytes = what.bytes();
  context self(&job.below(), what.name,
               {0, count, job.processes(), part_of(job.processes(), 0, count)});
  const running in_function; // before a process has its order
  job.below().send_order(what.name, static_cast<int>(count), bytes);
  return run_spmd(self, spmd, args);
}

} // namespace weft_lpf

/// Is found before the function of this name of the C library, which calls main(). So the processes that wait for
/// orders begin behind all constructors, and never run the program's main().
extern "C" WEFT_API int __libc_start_main(weft_lpf::main_function program, int count, char **values,
                                          void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                          void *stack_end);
int __libc_start_main(weft_lpf::main_function program, int count, char **values, void (*init)(),
                      void (*fini)(), void (*rtld_fini)(), void *stack_end) {
  using start =
      int(weft_lpf::main_function, int, char **, void (*)(), void (*)(), void (*)(), void *);
  weft_lpf::g_main = program;
  auto *const real = reinterpret_cast<start *>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(&weft_lpf::main_of_process, count, values, init, fini, rtld_fini, stack_end);
}
