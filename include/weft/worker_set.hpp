// SPDX-License-Identifier: Apache-2.0
// Sets of workers: where an independent function and all of its descendants may run.
#pragma once

#include <weft/detail/core.hpp>

#include <initializer_list>
#include <span>

namespace weft::inline v0 {

/// Holds a set of workers, for function_options::on. A value has two words. Equal sets are one set,
/// which is kept until the end of the program; there may be 63 sets.
///
/// Cost. A walk over the existing sets.
/// Threads. Any.
class worker_set {
 public:
  /// Holds all workers.
  worker_set() noexcept = default;

  /// Returns the set of the workers with these numbers, which worker_id() returns. The workers may
  /// be bound to cpus or not.
  ///
  /// Errors. invalid_argument for a number that no worker has, and for an empty list;
  /// out_of_resources, also for the 64th set; else as start().
  [[nodiscard]] WEFT_API static worker_set of_workers(std::span<const int> ids);
  /// Returns the set of the workers with these numbers.
  [[nodiscard]] static worker_set of_workers(std::initializer_list<int> ids) {
    return of_workers(std::span(ids.begin(), ids.size()));
  }

  /// Returns the set of the workers that are bound to one of these cpus of the kernel's numbering
  /// (setting bind). Worker 0, the first thread of the user, is never bound. If the list has all
  /// cpus that the process may use, the set is all workers.
  ///
  /// Errors. invalid_argument when no worker is left; else as of_workers().
  [[nodiscard]] WEFT_API static worker_set of_cpus(std::span<const int> cpus);
  /// Returns the set of the workers that are bound to one of these cpus.
  [[nodiscard]] static worker_set of_cpus(std::initializer_list<int> cpus) {
    return of_cpus(std::span(cpus.begin(), cpus.size()));
  }

  /// @{
  /// Returns how many workers are in the set, or whether one is.
  ///
  /// Errors. invalid_argument in a process that was forked after the set was made; else as start().
  [[nodiscard]] WEFT_API int size() const;
  [[nodiscard]] WEFT_API bool includes(int worker) const;
  /// @}

  /// Holds what the library knows of a set.
  struct state {
    unsigned number = 0; ///< of the set; 0: all workers
    unsigned generation = 0; ///< of the process: forks count
  };
  explicit worker_set(state known) noexcept : m_state(known) {} ///< for the library
  [[nodiscard]] state internals() const noexcept { return m_state; } ///< for the library

 private:
  state m_state;
};

} // namespace weft::inline v0
