// SPDX-License-Identifier: Apache-2.0
// The engine inproc: ranks as tasks of one process, and faults on request.
#pragma once

#include <weft/net/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft::inline v0 {
namespace net {

/// Says how a world of ranks behaves, for tests. Without faults, operations arrive at once.
struct inproc_options {
  std::size_t queue = 0; ///< messages from one rank to another that may be under way; 0: net.queue
  unsigned delay = 0; ///< polls that an operation is held back, at most; the seed draws how many
  bool reorder =
      false; ///< operations without a fence between them arrive in an order that the seed draws
  std::uint64_t seed = 1; ///< for these
};

/// Joins ranks that live in one process. Copies refer to the same world.
///
/// - A put, a get and an atomic operation are done by the calling rank, as a network card would.
/// - Notifications and messages arrive when the target makes progress; `queue` bounds those of each pair of ranks.
/// - A lost rank is noticed at the next progress.
///
/// Threads. Any.
class WEFT_API inproc_world {
 public:
  /// Makes a world. Errors. invalid_argument without a rank; bad_setting; out_of_resources.
  explicit inproc_world(int ranks, const inproc_options &options = {});

  [[nodiscard]] int size() const noexcept; ///< the number of ranks
  /// Makes the engine of a rank, once for each.
  ///
  /// Errors. invalid_argument for a rank that does not exist or has an engine.
  [[nodiscard]] std::unique_ptr<engine> make_engine(int rank) const;

  /// Loses a rank: it sends and receives nothing any more. For tests, and for a rank that has failed.
  /// Losing it twice is harmless.
  ///
  /// Errors. invalid_argument for a rank that does not exist.
  void lose(int rank) const;
  /// Stops a rank from making progress, or lets it go on: for tests of slow receivers. A call of
  /// progress that is under way comes to its end.
  ///
  /// Errors. invalid_argument for a rank that does not exist.
  void hold(int rank, bool held) const;

  struct state; ///< for the library

 private:
  std::shared_ptr<state> m_state;
};

} // namespace net
} // namespace weft::inline v0
