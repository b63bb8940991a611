// SPDX-License-Identifier: Apache-2.0
// Who is stuck: decides from what is seen of the workers how many spares are to run. Plain code of the watcher's thread.
//
//   state      a worker has it when, since the last look, it has passed no scheduling point and
//   going      it has used CPU time, or waits for a CPU
//   suspect    it has used none, and sleeps in the kernel while ready work waits
//   blocked    a suspect that still sleeps at the next look; one spare each, until it has used CPU time, but see lock_queues.hpp
//   computing  all that for watch.compute while ready work waited; one spare for all of these together
//
// A worker that has passed scheduling points, but hardly run, and sleeps just now is a doubt: the next look is soon.
//
// Where somebody has said how, a worker is asked to let go once ready work has waited for a slice and it has passed no scheduling
// point for a slice; whoever is asked and passes one is not stuck. One that waits in the kernel for a lock while the stack of the thread itself is ready is asked at once:
// what is on that stack may hold the lock. What is asked may wait for any other of its kind: each spare that
// computes itself and does not let go gets one more.
#pragma once

#include "monitor/external_list.hpp"
#include "monitor/lock_queues.hpp"

#include <weft/layer/external_thread.hpp>

#include <cstdint>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// What the stall detector may see and do. The module worker supplies it; tests make one up.
class watched {
 public:
  struct reading {
    int tid = 0;
    std::uint64_t epoch = 0; // changes at scheduling points
    bool idle = false; // asleep for want of work
    bool spare = false;
    bool external = false; // a thread of the user that is no worker: read while it is awaited
    bool awaited = false; // the stack of the thread itself is ready, and no other thread can go on with it
  };
  virtual ~watched() = default;
  [[nodiscard]] virtual unsigned slots() const = 0;
  /// False: no worker that counts is there.
  [[nodiscard]] virtual bool read(unsigned slot, reading &r) const = 0;
  /// An idle worker is there, or one that looks for work: it will take what is ready.
  [[nodiscard]] virtual bool any_worker_searches() const = 0;
  [[nodiscard]] virtual bool work_waits() const = 0;
  /// What only a worker without work does: polling services, letting producers go on.
  [[nodiscard]] virtual bool chores_wait() const = 0;
  [[nodiscard]] virtual std::uint64_t cpu_ns(int tid) const = 0;
  [[nodiscard]] virtual bool sleeps(int tid) const = 0;
  /// Of a thread that sleeps.
  [[nodiscard]] virtual thread_wait waits_for(int /*tid*/) const { return {}; }
  [[nodiscard]] virtual lock_holder holder(const thread_wait & /*lock*/) const { return {}; }
  [[nodiscard]] virtual unsigned spares() const = 0; // that run
  /// False: there is none to be had for now.
  [[nodiscard]] virtual bool add_spare() = 0;
  virtual void retire_spare(unsigned slot) = 0;
  /// Whether what runs is to be asked to let go of its thread. It may decline.
  [[nodiscard]] virtual bool can_ask() const { return false; }
  /// False: it cannot hear.
  virtual bool ask(int /*tid*/) { return false; }
  /// See oversubscription.hpp: external threads, cpus that this process may use, workers that are not idle, CPU time of the whole process, and how often its threads
  /// had to leave their cpu.
  virtual external_list<layer::external_thread> &external_threads() = 0;
  [[nodiscard]] virtual unsigned cpus() const { return 1; }
  [[nodiscard]] virtual unsigned busy() const { return 0; }
  [[nodiscard]] virtual std::uint64_t process_cpu_ns() const { return 0; }
  [[nodiscard]] virtual std::uint64_t preemptions() const { return 0; }
  /// Nobody has done anything for a while: is there a reason? True: ask again later, for who could say so may not.
  virtual bool examine() { return false; }
  /// Whether somebody outside of the process may ask for something, by a word that wakes nobody; and an answer, if he has.
  [[nodiscard]] virtual bool may_be_asked() const { return false; }
  virtual void answer() {}
  /// Time to say how many tasks are ready, and the like.
  virtual void publish() {}
};

// 5 ms: what a scheduler of the operating system gives; a switch costs a thousandth of it.
inline constexpr std::uint64_t k_slice_ns = 5'000'000;

class stall_detector {
 public:
  stall_detector(watched &world, std::uint64_t compute_ns) : m_world(world), m_compute_ns(compute_ns), m_locks(world, compute_ns) {}

  struct assessment {
    unsigned blocked = 0;
    unsigned suspects = 0;
    bool computing = false;
    bool look_soon = false; // somebody is suspect or in doubt, or a spare was added
    bool slicing = false; // somebody keeps others waiting, and can be asked
    bool may_rest = false; // nothing can change for the worse unless somebody adds work
  };
  assessment look(std::uint64_t now);

 private:
  enum class worker_state : std::uint8_t { going, suspect, blocked, computing };
  struct record {
    watched::reading seen;
    std::uint64_t since = 0; // it has passed no scheduling point
    std::uint64_t cpu_ns = 0;
    std::uint64_t cpu_at = 0;
    worker_state is = worker_state::going;
    bool deaf = false; // it could not be asked
    thread_wait sleep; // of one that is blocked
  };
  struct circumstances {
    std::uint64_t now;
    bool waits; // somebody could do more if there were a worker
    bool waits_for_long; // ready work
  };
  void assess_one(record &r, const circumstances &c) const;
  [[nodiscard]] bool begin_anew(record &r, const watched::reading &seen, const circumstances &c) const;
  [[nodiscard]] bool has_slept(record &r, std::uint64_t now) const;
  [[nodiscard]] bool slice(record &r, const circumstances &c);
  [[nodiscard]] unsigned helpers();
  [[nodiscard]] bool is_worker(int tid) const;
  [[nodiscard]] unsigned workers() const;
  [[nodiscard]] unsigned replaced(unsigned blocked);
  [[nodiscard]] unsigned needless(std::uint64_t now);
  [[nodiscard]] unsigned wanted(const assessment &o, std::uint64_t now);
  void settle(assessment &o, const circumstances &c);

  watched &m_world;
  const std::uint64_t m_compute_ns;
  std::uint64_t m_waits_since = 0; // 0: no ready work
  unsigned m_helpers = 0; // at the last look
  std::vector<record> m_records;
  lock_queues m_locks;
};

} // namespace rt
} // namespace weft::inline v0
