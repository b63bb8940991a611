// SPDX-License-Identifier: Apache-2.0
#include "mpi/process.hpp"

#include <weft/error.hpp>
#include <weft/layer/default_setting.hpp>
#include <weft/layer/environment.hpp>
#include <weft/layer/runtime_phase.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace weft_net_mpi {

namespace {

constexpr std::size_t k_least_stack = 256 << 10;
constexpr auto k_most_parting = std::chrono::seconds(10);
#if defined(MPICH)
constexpr auto k_most_meeting = std::chrono::seconds(1); // a rank without this engine does not come
constexpr auto k_apart = std::chrono::milliseconds(20); // far longer than ranks take to see that all are there
#endif

#if defined(OPEN_MPI)
constexpr const char *k_launched[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
constexpr const char k_launcher[] = "mpirun of Open MPI";
#else
constexpr const char *k_launched[] = {"PMI_RANK", "PMI_FD", "PMIX_RANK"};
constexpr const char k_launcher[] = "mpiexec of MPICH";
#endif

struct mpi_of_process {
  std::mutex lock;
  int open = 0; // ports that have not ended in order
  pid_t initialised_by = 0; // this process, if the engine has
  bool has_callback = false, has_given_up = false;
  std::vector<parting> partings;
};

mpi_of_process &all() {
  static mpi_of_process *const made = new mpi_of_process; // never destroyed: exit() may need it
  return *made;
}

[[noreturn]] void refuse(const std::string &why) {
  throw weft::error(weft::errc::not_supported, "the engine mpi: " + why);
}

bool is_over(parting &one) {
  while (one.packets.next([&one](int from, const header &head, std::span<const std::byte>) {
    if (head.what == packet::goodbye)
      one.has_left[static_cast<std::size_t>(from)] = true;
  })) {
  }
  return std::ranges::all_of(one.has_left, [](bool left) { return left; });
}

/// Frees what all have left. The caller has the lock.
void look_after(std::vector<parting> &partings) {
  std::erase_if(partings, [](parting &one) {
    if (!is_over(one))
      return false;
    one.packets.cancel();
    PMPI_Comm_free(&one.comm);
    return true;
  });
}

#if defined(MPICH)
/// Lets the ranks enter MPI_Finalize together, and none call MPI once another is inside. MPICH over UCX's TCP asks
/// each peer to confirm what it was sent, and answers that no more once its own peers have confirmed: a
/// rank that answers by some other call, and enters later, waits for ever.
void meet() {
  MPI_Request all_are_here = MPI_REQUEST_NULL;
  if (PMPI_Ibarrier(MPI_COMM_WORLD, &all_are_here) != MPI_SUCCESS)
    return;
  const auto end = std::chrono::steady_clock::now() + k_most_meeting;
  for (int are_here = 0; !are_here;) {
    if (PMPI_Test(&all_are_here, &are_here, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        std::chrono::steady_clock::now() > end)
      return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::this_thread::sleep_for(k_apart);
}
#endif

/// Is called as MPI_Finalize begins: receives that nothing answers would be left otherwise.
int finalizing(MPI_Comm, int, void *, void *) {
  mpi_of_process &mpi = all();
  const std::lock_guard guard(mpi.lock);
  const auto end = std::chrono::steady_clock::now() + k_most_parting;
  for (;;) {
    look_after(mpi.partings);
    if (mpi.partings.empty() || mpi.has_given_up || std::chrono::steady_clock::now() > end)
      break;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  for (parting &one : mpi.partings) {
    const auto late = std::ranges::find(one.has_left, false) - one.has_left.begin();
    if (!mpi.has_given_up)
      std::fprintf(stderr,
                   "weft: warning: the engine mpi: rank %ld has not left after %lld s; MPI is "
                   "finalized without its goodbye\n",
                   static_cast<long>(late), static_cast<long long>(k_most_parting.count()));
    one.packets.cancel();
  }
  mpi.partings.clear();
#if defined(MPICH)
  if (!mpi.has_given_up && mpi.open == 0)
    meet();
#endif
  return MPI_SUCCESS;
}

void finalize_at_exit() {
  int is_finalized = 0;
  if (all().initialised_by == getpid() && all().open == 0 && !all().has_given_up &&
      PMPI_Finalized(&is_finalized) == MPI_SUCCESS && !is_finalized)
    PMPI_Finalize();
}

void add_callback() {
  int key = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &key, nullptr) == MPI_SUCCESS)
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

std::size_t stack_bytes() {
  const std::string text = weft::layer::setting("stack.bytes");
  std::size_t end = 0;
  const std::size_t number = std::stoul(text, &end);
  return number << (text.substr(end) == "KiB" ? 10 : text.substr(end) == "MiB" ? 20 : 0);
}

/// Gives tasks and workers stacks on which MPI can run, unless the user has chosen a size or another layer needs more:
/// MPICH has frames of some 100 KiB.
void make_stacks_large() {
  if (weft::layer::phase_of_runtime() == weft::layer::runtime_phase::not_started)
    return weft::layer::set_default("stack.bytes", "1MiB");
  if (!weft::layer::environment("WEFT_STACK_BYTES") && stack_bytes() < k_least_stack)
    refuse("Weft runs already, with stacks of " + weft::layer::setting("stack.bytes") +
           ", and MPI needs more; run the ranks before all else, or set WEFT_STACK_BYTES=1MiB");
}

void initialise() {
  if (std::ranges::none_of(k_launched, weft::layer::environment))
    refuse(std::string("this process was not started by ") + k_launcher +
           ", so MPI knows no other rank; use that, or `weft launch --engine mpi`");
  int level = 0;
#if defined(MPICH)
  // Its launcher, told to let the ranks live on when one is lost, sends them SIGUSR1, and the handler that
  // MPI sets for it ends them.
  struct sigaction before{};
  sigaction(SIGUSR1, nullptr, &before);
  const bool is_of_program = before.sa_handler != SIG_DFL;
#endif
  if (PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
    refuse("MPI cannot start");
#if defined(MPICH)
  if (!is_of_program)
    std::signal(SIGUSR1, SIG_IGN);
#endif
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  all().initialised_by = getpid();
  std::atexit(finalize_at_exit);
}

} // namespace

void begin_mpi() {
  mpi_of_process &mpi = all();
  const std::lock_guard guard(mpi.lock);
  int is_initialised = 0, is_finalized = 0, level = 0;
  PMPI_Initialized(&is_initialised);
  PMPI_Finalized(&is_finalized);
  if (is_finalized)
    refuse("MPI has been finalized, and cannot begin again; run the ranks before MPI_Finalize");
  make_stacks_large();
  if (!is_initialised)
    initialise();
  PMPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED)
    refuse("the program has initialised MPI with MPI_THREAD_SINGLE or MPI_THREAD_FUNNELED, and the "
           "engine calls MPI from several threads; call MPI_Init_thread with MPI_THREAD_MULTIPLE");
  if (level < MPI_THREAD_MULTIPLE && mpi.open != 0)
    refuse("another engine of this process uses MPI, which the program has initialised without "
           "MPI_THREAD_MULTIPLE; call MPI_Init_thread with it");
  if (!std::exchange(mpi.has_callback, true))
    add_callback();
  ++mpi.open;
}

void end_port() noexcept {
  const std::lock_guard guard(all().lock);
  --all().open;
}

void give_up() noexcept {
  const std::lock_guard guard(all().lock);
  all().has_given_up = true;
}

void keep(parting &&left) noexcept {
  const std::lock_guard guard(all().lock);
  all().partings.push_back(std::move(left));
}

void free_left() noexcept {
  const std::lock_guard guard(all().lock);
  look_after(all().partings);
}

} // namespace weft_net_mpi
