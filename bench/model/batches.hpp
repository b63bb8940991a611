// SPDX-License-Identifier: Apache-2.0
// A discrete-event model of one creator of tiny tasks without accesses and of the thieves of its deque,
// where tasks move one at a time or in batches: docs/design/manager_model.md says what it models, and
// what not.
#pragma once

#include <cstdint>
#include <string_view>

namespace batch_model {

/// Names how tasks move: one at a time; a thief takes some of the oldest at once, and puts what it does
/// not run at once into its own deque; the creator publishes groups, of which a thief takes one, and
/// which burst into its own deque when a member suspends.
enum class way { single, thief, creator };

[[nodiscard]] std::string_view name_of(way how) noexcept;

struct parameters {
  unsigned workers = 2;
  std::uint64_t tasks = 20'000;
  std::uint64_t batch = 8;  // tasks of a batch
  double create_ns = 30;    // a task is made
  double push_ns = 3;       // into the own deque: a task, or a group
  double pop_ns = 5;        // from it
  double run_ns = 12;       // a task begins and ends
  double body_ns = 0;       // what it does in between
  double line_ns = 48;      // a cache line comes from another processor
  double look_ns = 100;     // of a thief that finds nothing
  double suspends = 0;      // part of the tasks that suspend, and go on elsewhere
  std::uint64_t seed = 1;
};

struct outcome {
  double time_ns = 0;
  std::uint64_t ran = 0, by_creator = 0;
  std::uint64_t steals = 0, bursts = 0;
};

/// Simulates; the result depends on the arguments alone. Throws std::invalid_argument for numbers that
/// make no sense.
[[nodiscard]] outcome simulate(const parameters &p, way how);

} // namespace batch_model
