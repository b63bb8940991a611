// SPDX-License-Identifier: Apache-2.0
// The interface of a task-aware library: a wait for a request suspends the task, or delays its
// completion. The library links
// neither Weft nor its ALPI; it finds the functions in the process.
#pragma once

#include <alpi/alpi.h>

#include <cstdint>

extern "C" {

/// Looks at `count` requests; writes the numbers of those that are done to `done`, and returns how many those are.
typedef int (*probe_test_some)(int count, void **requests, int *done);

struct probe_library {
  /// Resolves all functions. Returns the name of the first one that is missing, or null.
  const char *(*resolve)();
  /// Spawns the task that polls. `suspends`: its body runs again and again. Otherwise the body
  /// waits in a loop.
  bool (*start)(probe_test_some test_some, std::uint64_t period_ns, bool suspends);
  /// Waits until the task that polls is complete. Called in a task, or in a thread that is one to
  /// ALPI; elsewhere it returns false.
  bool (*stop)();
  /// Waits, in a task, until the request is done.
  int (*wait)(void *request);
  /// Lets the completion of the calling task wait for the request.
  int (*bind)(void *request);
  /// Reports how many blocks, events and rounds of polling there were.
  void (*counts)(int *blocks, int *events, int *rounds);
  /// Returns how often two tasks had the same CPU number at once.
  int (*clashes)();
};

const probe_library *probe();
}
