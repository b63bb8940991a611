// SPDX-License-Identifier: Apache-2.0
// What the watcher reads of a runtime, and what it does there, one interface a job. The module
// worker implements them; tests have their own. The default of a function is a world without what
// the function is about.
#pragma once

#include "atomic/hooks.hpp"
#include "monitor/external_list.hpp"
#include "os/thread_state.hpp"

#include <weft/layer/external_thread.hpp>

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Reads what the kernel knows of a thread of this process.
class thread_probe {
 public:
  virtual ~thread_probe() = default;
  [[nodiscard]] virtual std::uint64_t cpu_ns(int tid) const = 0; // 0: the thread has ended
  [[nodiscard]] virtual bool sleeps(int tid) const = 0;
  // Of a thread that sleeps: what it waits for, and which thread holds that.
  [[nodiscard]] virtual thread_wait waits_for(int /*tid*/) const { return {}; }
  [[nodiscard]] virtual lock_holder holder(const thread_wait & /*lock*/) const { return {}; }
};

/// Reads the workers and their work.
class worker_view {
 public:
  struct reading {
    int tid = 0;
    std::uint64_t epoch = 0; // changes at scheduling points
    bool idle = false; // asleep for want of work
    bool spare = false;
    bool external =
        false; // a thread of the user that is no worker: read while its stack is awaited
    bool awaited =
        false; // the stack of the thread itself is ready, and no other thread can continue it
  };
  virtual ~worker_view() = default;
  [[nodiscard]] virtual unsigned slots() const = 0;
  /// Reads the worker of a slot. Returns false if the slot has no worker that counts.
  [[nodiscard]] virtual bool read(unsigned slot, reading &seen) const = 0;
  /// Says whether a worker is idle or looks for work: it will take what is ready.
  [[nodiscard]] virtual bool any_worker_searches() const = 0;
  [[nodiscard]] virtual bool work_waits() const = 0;
  /// Says whether there are external threads that run nothing of others while they wait.
  [[nodiscard]] virtual bool any_thread_keeps_to_own() const { return false; }
  /// Says whether there is something that only a worker without work does: polling services,
  /// letting producers go on.
  [[nodiscard]] virtual bool chores_wait() const = 0;
};

/// Adds and retires spares.
class spare_control {
 public:
  virtual ~spare_control() = default;
  [[nodiscard]] virtual unsigned spares() const = 0; // that run
  /// Starts a spare. Returns false if none can be had for now.
  [[nodiscard]] virtual bool add_spare() = 0;
  virtual void retire_spare(unsigned slot) = 0;
};

/// Asks running work to release its thread.
class preemption {
 public:
  virtual ~preemption() = default;
  /// Says whether running work can be asked to release its thread. It may decline.
  [[nodiscard]] virtual bool can_ask() const { return false; }
  /// Asks a thread. Returns false if the request cannot reach it.
  virtual bool ask(int /*tid*/) { return false; }
};

/// Reads how the cpus are used; see oversubscription.hpp.
class cpu_view {
 public:
  virtual ~cpu_view() = default;
  virtual external_list<layer::external_thread> &external_threads() = 0;
  [[nodiscard]] virtual unsigned cpus() const { return 1; } // that this process may use
  [[nodiscard]] virtual unsigned busy() const { return 0; } // workers that are not idle
  [[nodiscard]] virtual std::uint64_t process_cpu_ns() const { return 0; }
  /// Returns how often threads of the process had to leave their cpu.
  [[nodiscard]] virtual std::uint64_t preemptions() const { return 0; }
};

/// Does what the watcher does for others at each look.
class watcher_duties {
 public:
  virtual ~watcher_duties() = default;
  /// Examines why no worker has run anything for a while. Returns true if the watcher must ask
  /// again later, because threads that could end the wait may not ask themselves.
  virtual bool examine() { return false; }
  /// Says whether another process may post a request, also in a word that wakes no thread. answer()
  /// answers it.
  [[nodiscard]] virtual bool may_be_asked() const { return false; }
  virtual void answer() {}
  /// Returns the word by which another process wakes the watcher for its request, with the value
  /// that it has without one.
  [[nodiscard]] virtual shared_word bell() const { return {}; }
  /// Publishes gauges, such as the number of ready tasks, and samples for which runtimes workers compute.
  virtual void publish() {}
  /// Says whether there is something to sample that changes without a notice.
  [[nodiscard]] virtual bool samples() const { return false; }
};

/// Is a whole world for the watcher.
class watched : public thread_probe,
                public worker_view,
                public spare_control,
                public preemption,
                public cpu_view,
                public watcher_duties {};

} // namespace rt
} // namespace weft::inline v0
