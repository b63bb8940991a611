// SPDX-License-Identifier: Apache-2.0
// Some of the workers: where an independent function and all that descends from it may run.
#pragma once

#include <weft/detail/core.hpp>

#include <initializer_list>
#include <span>

namespace weft::inline v0 {

/// A set of workers, for function_options::on; a value of two words. Equal sets are one, and are kept until the end of the program; there may
/// be 63. Any thread. Cost: a walk over the sets that there are.
class worker_set {
 public:
  /// All workers.
  worker_set() noexcept = default;

  /// The workers of these numbers, as worker_id() tells them; they may be bound to cpus or not. Throws weft::error: invalid_argument for a
  /// number that is none, and for no number; out_of_resources, also for the 64th set; else as start().
  [[nodiscard]] WEFT_API static worker_set of_workers(std::span<const int> ids);
  /// The same.
  [[nodiscard]] static worker_set of_workers(std::initializer_list<int> ids) { return of_workers(std::span(ids.begin(), ids.size())); }

  /// The workers that are bound to one of these cpus of the kernel's numbering (setting bind; worker 0, the first thread of the user, never is), or
  /// all workers when these are all cpus that the process may use. Throws as of_workers(); invalid_argument when no worker is left.
  [[nodiscard]] WEFT_API static worker_set of_cpus(std::span<const int> cpus);
  /// The same.
  [[nodiscard]] static worker_set of_cpus(std::initializer_list<int> cpus) { return of_cpus(std::span(cpus.begin(), cpus.size())); }

  /// @{
  /// How many workers there are in it, and whether one is. Throw as start(), and invalid_argument in a process that was forked after the set
  /// was made.
  [[nodiscard]] WEFT_API int size() const;
  [[nodiscard]] WEFT_API bool includes(int worker) const;
  /// @}

  /// Of the library.
  struct state {
    unsigned number = 0; ///< of the set; 0: all workers
    unsigned generation = 0; ///< of the process: forks count
  };
  explicit worker_set(state s) noexcept : m_state(s) {} ///< for the library
  [[nodiscard]] state internals() const noexcept { return m_state; } ///< for the library

 private:
  state m_state;
};

} // namespace weft::inline v0
