// SPDX-License-Identifier: Apache-2.0
// The polling service of the process: it asks MPI about what tasks wait for. It exists only while
// something is in flight, so a program that awaits nothing sleeps.
#pragma once

#include "weft_mpi/service/begun.hpp"
#include "weft_mpi/service/mpi.hpp"
#include "weft_mpi/table/in_flight.hpp"
#include "weft_mpi/table/stall_clock.hpp"

#include <weft/block.hpp>
#include <weft/layer/outside_wait.hpp>
#include <weft/layer/task_source.hpp>
#include <weft/service.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace weft_mpi {

/// Is the task that a request is bound to: one of Weft's, or of a layer that offers its tasks.
struct bound_task {
  weft::task_ref task;
  void *other = nullptr;
};
/// Names a task that waits: while it does.
[[nodiscard]] waiter waiter_of(const bound_task &task);

/// Is what in_flight needs of MPI.
struct real_mpi {
  using request = MPI_Request;
  using status = MPI_Status;
  using owner = bound_task;
  using origin = begun_call;
  static std::size_t test_some(std::size_t n, MPI_Request *requests, int *indices,
                               MPI_Status *statuses) noexcept;
  [[nodiscard]] static std::string text(const begun_call &began) { return text_of(began); }
  [[nodiscard]] static waiter who(const bound_task &owner) { return waiter_of(owner); }
  static void end(const bound_task &owner, const char *name, const MPI_Status &status,
                  MPI_Status *wanted) noexcept;
};

/// Says that the error of a bound request is lost. Its task is one of another layer, which cannot fail.
void warn_of_lost_error(const char *name) noexcept;

class service : weft::layer::outside_waits {
 public:
  static service &of_process();

  /// Announces `n` additions, and sees to it that the service exists.
  ///
  /// Errors. out_of_resources, shut_down: nothing was announced.
  void announce(std::size_t n);
  void withdraw(std::size_t n) noexcept { m_table.withdraw(n); }
  void add(call &added) noexcept { m_table.add(added); }
  void add(std::span<const in_flight<real_mpi>::binding> list, const char *name) {
    m_table.add(list, name);
  }
  /// Returns how many calls and bindings are in flight.
  [[nodiscard]] std::size_t count() noexcept { return m_table.count(); }
  /// Returns whether the service exists.
  [[nodiscard]] bool exists() noexcept;
  /// Calls `visit(name)` for what is in flight, if it can be had without waiting. For a signal handler.
  /// Returns false if it cannot.
  template <class Visit>
  bool try_visit(std::size_t most, Visit &&visit) noexcept {
    if (s_is_child.load(std::memory_order_relaxed))
      return true; // what is in flight is the parent's
    if (!m_inside.try_lock())
      return false;
    m_table.try_visit(most, visit);
    m_inside.unlock();
    return true;
  }

 private:
  enum class service_is { absent, being_made, present };
  /// Counts rounds that found nothing in flight: the service ends after some, because one that is
  /// made again for each call costs more.
  static constexpr int k_quiet_rounds = 16;
  /// Bounds a round: MPI_Testsome of 256 requests that have not ended takes half a microsecond to two.
  static constexpr std::size_t k_batch = 256;
  static constexpr std::size_t k_most_described = 16;

  service();
  bool poll();
  in_flight<real_mpi>::round poll_once();
  void report_stall() noexcept;
  void list_waits(std::vector<weft::layer::outside_wait> &to) override;
  void make_service();
  void end_if_quiet();

  static inline std::atomic<bool> s_is_child{false}; // written in a child that has one thread

  in_flight<real_mpi> m_table;
  spin_lock m_inside; // of the thread that reads or changes the poller's lists
  std::uint64_t m_spin_ns = 0; // of the service, as the next; written before it is made
  stall_clock m_stall{0};

  std::mutex m_lock;
  weft::service *m_service = nullptr;
  service_is m_state = service_is::absent;
  int m_quiet = 0; // of the service
};

} // namespace weft_mpi
