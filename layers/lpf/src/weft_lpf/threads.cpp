// SPDX-License-Identifier: Apache-2.0
// lpf/pthread.h: threads of the program as processes.
#include "weft_lpf/api.hpp"
#include "weft_lpf/context.hpp"
#include "weft_lpf/processes.hpp"

#include <lpf/pthread.h>

#include <weft/config.hpp>
#include <weft/net/inproc.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using weft_lpf::context;
using weft_lpf::place;

/// Is one thread of those that have met.
class joined_thread final : public weft_lpf::joined {
 public:
  joined_thread(weft_lpf::link_ptr below, unsigned pid, unsigned processes)
      : m_link(std::move(below)), m_root(m_link.get(), 0, {pid, processes, processes, 1}) {}
  bool run(lpf_spmd_t spmd, const lpf_args_t &args) override {
    context self(m_link.get(), m_root.next_name(), m_root.where());
    m_root.use_name();
    return run_spmd(self, spmd, args);
  }

 private:
  const weft_lpf::link_ptr m_link;
  context m_root; // which names the others
};

/// Is where threads meet, one group at a time. A group that one of them spoils fails for all of it.
class meeting {
 public:
  std::unique_ptr<weft_lpf::joined> meet(unsigned pid, unsigned processes) {
    std::unique_lock lock(m_lock);
    m_changed.wait(lock, [this] { return !m_leaves; }); // an earlier group goes first
    if (m_come == 0)
      begin(processes);
    std::unique_ptr<weft_lpf::joined> one = join(pid, processes);
    const unsigned expected = m_processes;
    if (++m_come == expected)
      m_leaves = true;
    m_changed.notify_all();
    m_changed.wait(lock, [this] { return m_leaves; });
    const bool is_spoilt = m_is_spoilt;
    if (--m_come == 0) {
      m_leaves = false;
      m_world.reset();
    }
    m_changed.notify_all();
    return is_spoilt ? nullptr : std::move(one);
  }

 private:
  void begin(unsigned processes) {
    m_processes = processes;
    m_is_spoilt = processes == 0;
    m_processes += m_is_spoilt;
    m_pids.assign(m_processes, false);
    m_world.reset();
  }
  std::unique_ptr<weft_lpf::joined> join(unsigned pid, unsigned processes) noexcept {
    try {
      if (m_is_spoilt || processes != m_processes || pid >= processes || m_pids[pid])
        throw std::runtime_error("process " + std::to_string(pid) + " of " +
                                 std::to_string(processes) + " does not fit to a group of " +
                                 std::to_string(m_processes) + " threads; each number comes once");
      m_pids[pid] = true;
      weft_lpf::link_ptr below;
      if (processes != 1) {
        if (!m_world)
          m_world = std::make_unique<weft::net::inproc_world>(static_cast<int>(processes));
        below.reset(new weft_lpf::link(m_world->make_engine(static_cast<int>(pid)),
                                       weft_lpf::job_of_process()
                                           ? weft_lpf::link::messages::within_a_process
                                           : weft_lpf::link::messages::traced));
      }
      return std::make_unique<joined_thread>(std::move(below), pid, processes);
    } catch (const std::exception &e) {
      weft_lpf::report(std::string("lpf_pthread_initialize: ") + e.what());
      m_is_spoilt = true;
      return nullptr;
    }
  }

  std::mutex m_lock;
  std::condition_variable m_changed;
  unsigned m_processes = 0, m_come = 0;
  bool m_leaves = false, m_is_spoilt = false;
  std::vector<bool> m_pids;
  std::unique_ptr<weft::net::inproc_world> m_world;
};

/// Returns that of the process, which is never destroyed: threads may wait in it while the process exits.
meeting &meeting_of_process() {
  static auto *const one = new meeting;
  return *one;
}

} // namespace

extern "C" {

WEFT_API lpf_err_t lpf_pthread_initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t *init) {
  return weft_lpf::answer("lpf_pthread_initialize", [&] {
    std::unique_ptr<weft_lpf::joined> one = meeting_of_process().meet(pid, nprocs);
    *init = one.release();
    return *init != nullptr;
  });
}

WEFT_API lpf_err_t lpf_pthread_finalize(lpf_init_t init) {
  delete static_cast<weft_lpf::joined *>(init);
  return LPF_SUCCESS;
}

} // extern "C"
