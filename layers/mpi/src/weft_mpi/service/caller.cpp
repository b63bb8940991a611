// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/caller.hpp"

#include "weft_mpi/service/helpers.hpp"
#include "weft_mpi/service/in_weft.hpp"
#include "weft_mpi/service/message.hpp"

#include <weft/layer/function.hpp>

#include <exception>
#include <string>

namespace weft_mpi {
namespace {

std::atomic<int> g_level{-1};
std::atomic<bool> g_has_sessions{false};

const char *name_of(int level) noexcept {
  switch (level) {
  case MPI_THREAD_SINGLE:
    return "MPI_THREAD_SINGLE";
  case MPI_THREAD_FUNNELED:
    return "MPI_THREAD_FUNNELED";
  default:
    return "MPI_THREAD_SERIALIZED";
  }
}

/// Says that threads may not call MPI at the same time, and what the call may do then.
[[gnu::cold]] may without_threads(const char *name, bool in_task, int level) noexcept {
  int is_main = 0;
  PMPI_Is_thread_main(&is_main);
  if (is_main && !in_task)
    return may::pass;
  if (!in_task && level == MPI_THREAD_SERIALIZED) {
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true))
      warn(
          "%s on another thread than the one that initialised MPI: MPI gives MPI_THREAD_SERIALIZED only, so "
          "the program must see to it that one thread at a time calls MPI; use an MPI that gives "
          "MPI_THREAD_MULTIPLE",
          name);
    return may::pass;
  }
  warn(
      "%s %s is refused: MPI gives %s, and tasks and other threads need MPI_THREAD_MULTIPLE. Call MPI in the "
      "thread that initialised it, outside of tasks, or use an MPI that gives MPI_THREAD_MULTIPLE",
      name, in_task ? "in a task" : "on another thread than the one that initialised MPI",
      name_of(level));
  return may::not_call;
}

/// Says that a call in a task is MPI's own, because the program has begun MPI by sessions alone.
[[gnu::cold]] void warn_of_sessions(const char *name) noexcept {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true))
    warn(
        "%s holds its worker until it ends, as all calls of MPI in tasks do here: the program has called "
        "MPI_Session_init alone, and tasks need MPI_Init or MPI_Init_thread, too",
        name);
}

} // namespace

int thread_level() noexcept {
  const int known = g_level.load(std::memory_order_relaxed); // each thread finds the same
  if (known >= 0)
    return known;
  int begun = 0, over = 0, level = -1;
  if (PMPI_Initialized(&begun) != MPI_SUCCESS || !begun || PMPI_Finalized(&over) != MPI_SUCCESS ||
      over || PMPI_Query_thread(&level) != MPI_SUCCESS)
    return -1;
  g_level.store(level, std::memory_order_relaxed);
  return level;
}

std::string text_of(const awaited &what) {
  if (what.who == awaited::is::unknown)
    return "";
  if (what.who == awaited::is::all) {
    if (what.comm == MPI_COMM_NULL)
      return " of a communicator beside MPI_COMM_WORLD";
    int ranks = 0;
    PMPI_Comm_size(what.comm, &ranks);
    return " of " + std::to_string(ranks) + " ranks";
  }
  std::string made = what.who == awaited::is::to ? " to " : " from ";
  if (what.rank == MPI_ANY_SOURCE) {
    made += "any rank";
  } else if (what.comm == MPI_COMM_WORLD) {
    made += "rank " + std::to_string(what.rank);
  } else if (what.comm == MPI_COMM_NULL) {
    made += "rank " + std::to_string(what.rank) + " of a communicator beside MPI_COMM_WORLD";
  } else {
    // What people know is the rank in MPI_COMM_WORLD.
    int is_inter = 0, in_world = MPI_UNDEFINED;
    MPI_Group here, world;
    PMPI_Comm_test_inter(what.comm, &is_inter);
    is_inter ? PMPI_Comm_remote_group(what.comm, &here) : PMPI_Comm_group(what.comm, &here);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(here, 1, &what.rank, world, &in_world);
    PMPI_Group_free(&here);
    PMPI_Group_free(&world);
    made += in_world == MPI_UNDEFINED
                ? "rank " + std::to_string(what.rank) + " of a communicator beside MPI_COMM_WORLD"
                : "rank " + std::to_string(in_world);
  }
  return made + (what.tag == MPI_ANY_TAG ? ", any tag" : ", tag " + std::to_string(what.tag));
}

void forget_thread_level() noexcept { g_level.store(-1, std::memory_order_relaxed); }
void note_session() noexcept { g_has_sessions.store(true, std::memory_order_relaxed); } // for a warning
void end_helpers() noexcept { end_helper_threads(); }

caller::caller(const char *name) noexcept : m_name(name) {
  weft::layer::task_source *const others = weft::layer::offered_tasks();
  m_other = others ? others->running() : nullptr;
  if (!m_other)
    m_task = weft::layer::running_task();
  const bool in_task = m_other || m_task;
  const int level = thread_level();
  if (level == MPI_THREAD_MULTIPLE) [[likely]]
    m_may = in_task ? may::suspend : may::pass;
  else if (level >= 0)
    m_may = without_threads(name, in_task, level);
  else if (in_task && g_has_sessions.load(std::memory_order_relaxed))
    warn_of_sessions(name);
}

int caller::refuse() const noexcept {
  PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

bool caller::give_to_helper(void (*run)(void *) noexcept, void *job) noexcept {
  return run_on_helper(run, job);
}

void caller::yield() const noexcept {
  if (!is_task() || m_other)
    return;
  try {
    weft::layer::yield_now();
  } catch (...) { // the test has been made: that nothing else runs is no error
  }
}

void caller::suspended::resume() noexcept { weft::layer::unpark(*m_frame); }

/// What is in flight has been announced before, so the service exists when the poller finds it.
void caller::wait_for(suspended &waiting) const noexcept {
  service &all = service::of_process();
  bool announced = false;
  try {
    in_weft(m_other != nullptr, [&] {
      all.announce(1);
      announced = true;
      weft::layer::park_blocked(
          [](weft::detail::runnable &frame, void *p) {
            auto &self = *static_cast<suspended *>(p);
            self.m_frame = &frame;
            service::of_process().add(self);
          },
          &waiting);
    });
    if (m_other)
      weft::layer::offered_tasks()->pin(m_other, false);
  } catch (const std::exception &e) {
    if (announced)
      all.withdraw(1);
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true))
      warn("%s holds its worker until it ends, because its task cannot be suspended: %s", m_name,
           e.what());
  }
}

} // namespace weft_mpi
