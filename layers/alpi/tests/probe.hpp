// SPDX-License-Identifier: Apache-2.0
// The interface of a task-aware library: what waits for a request suspends a task, or holds its completion. The library links
// neither Weft nor its ALPI; it finds the functions in the process.
#pragma once

#include <alpi/alpi.h>

#include <cstdint>

extern "C" {

/// Looks at `count` requests; writes the numbers of those that are done to `done`, and returns how many those are.
typedef int (*probe_test_some)(int count, void **requests, int *done);

struct probe_library {
  /// Resolves all functions. The name of the first that is missing, or null.
  const char *(*resolve)();
  /// Spawns the task that polls. `suspends`: its body runs again and again; else it waits in a loop.
  bool (*start)(probe_test_some test_some, std::uint64_t period_ns, bool suspends);
  /// Returns when the task that polls is complete. In a task or a thread that is one to ALPI, else false.
  bool (*stop)();
  /// In a task: until the request is done.
  int (*wait)(void *request);
  /// In a task: its completion waits for the request.
  int (*bind)(void *request);
  /// What has happened: blocks, events, rounds of polling.
  void (*counts)(int *blocks, int *events, int *rounds);
  /// How often two had the same CPU at once.
  int (*clashes)();
};

const probe_library *probe();
}
