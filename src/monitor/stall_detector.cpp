// SPDX-License-Identifier: Apache-2.0
#include "monitor/stall_detector.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Says whether the thread has slept in the kernel for most of the time since the last look. Asks
/// the kernel for the thread's state only if its CPU time leaves this possible.
bool stall_detector::has_slept(record &history, std::uint64_t now) const {
  const std::uint64_t cpu = m_world.cpu_ns(history.seen.tid);
  const bool known = history.cpu_at != 0;
  const bool busy = known && (cpu - history.cpu_ns) * 2 > now - history.cpu_at;
  const bool unmoved = known && cpu == history.cpu_ns;
  if (!unmoved && history.is != worker_state::computing)
    history.is = worker_state::going;
  history.cpu_ns = cpu;
  history.cpu_at = now;
  if (history.is == worker_state::blocked)
    return true;
  return !busy && m_world.sleeps(history.seen.tid);
}

/// Assesses a worker that has passed no scheduling point since the last look.
void stall_detector::assess_one(record &history, const circumstances &conditions) const {
  if (!conditions.waits && history.is == worker_state::going)
    return; // no work waits for it
  if (has_slept(history, conditions.now)) {
    if (history.is == worker_state::suspect)
      history.sleep = m_world.waits_for(history.seen.tid);
    if (history.sleep.what == thread_wait::kind::none) { // the worker has just been woken
      history.sleep = {};
      history.is = worker_state::going;
      return;
    }
    history.is = history.is == worker_state::suspect || history.is == worker_state::blocked
                     ? worker_state::blocked
                     : worker_state::suspect;
    return;
  }
  const bool computes =
      history.is == worker_state::computing ||
      (conditions.waits_for_long && conditions.now - history.since >= m_compute_ns);
  history.is = computes ? worker_state::computing : worker_state::going;
}

/// Starts the record of a worker that has passed scheduling points. Returns true if the worker has
/// hardly run meanwhile, and sleeps.
bool stall_detector::begin_anew(record &history, const watched::reading &seen,
                                const circumstances &conditions) const {
  const bool asks = conditions.waits && !seen.idle && !seen.external;
  const std::uint64_t cpu = asks ? m_world.cpu_ns(seen.tid) : 0;
  const bool lazy = asks && history.cpu_at != 0 && seen.tid == history.seen.tid &&
                    (cpu - history.cpu_ns) * 2 < conditions.now - history.cpu_at;
  history = {seen, conditions.now, cpu, asks ? conditions.now : 0, worker_state::going, false, {}};
  return lazy && m_world.sleeps(seen.tid);
}

/// Asks a worker that has run for longer than a slice. Does not ask one that sleeps in the kernel,
/// because the signal would wake it, unless it waits for a word there while the thread's own stack
/// waits. Returns true if other work waits for the worker's thread.
bool stall_detector::slice(record &history, const circumstances &conditions) {
  const bool work_has_waited = m_waits_since != 0 && conditions.now - m_waits_since >= k_slice_ns;
  if ((!work_has_waited && !history.seen.awaited) || !m_world.can_ask())
    return false;
  const bool over = conditions.now - history.since >= k_slice_ns &&
                    history.is != worker_state::suspect && history.is != worker_state::blocked;
  if ((history.seen.awaited && conditions.now != history.since &&
       m_world.waits_for(history.seen.tid).for_word) ||
      (over && !m_world.sleeps(history.seen.tid)))
    history.deaf = !m_world.ask(history.seen.tid);
  return !history.deaf;
}

/// Returns how many external threads have taken part since the last look, run, and are no workers:
/// each has a cpu that a blocked worker has left.
unsigned stall_detector::helpers() {
  unsigned n = 0;
  m_world.external_threads().visit([&](const layer::external_thread &thread) {
    const int tid = thread.tid.load(std::memory_order_relaxed);
    const std::uint32_t seq = thread.participation_seq.load(std::memory_order_relaxed); // a hint
    n += tid != 0 && (seq % 2 != 0 || seq != thread.seen_participation_seq) && !is_worker(tid) &&
         !m_world.sleeps(tid);
  });
  return n;
}

bool stall_detector::is_worker(int tid) const {
  return std::any_of(m_records.begin(), m_records.end(),
                     [tid](const record &r) { return r.seen.tid == tid && !r.seen.external; });
}

/// Returns how many blocked workers need no spare because external threads run in their place. At
/// least one worker keeps running, because an external thread that waits runs no one else's work.
/// Threads that helped at the last look still count, because external threads sleep now and then.
unsigned stall_detector::replaced(unsigned blocked) {
  const unsigned before = std::exchange(m_helpers, blocked > 0 ? helpers() : 0);
  return std::min({blocked, std::max(before, m_helpers), std::max(workers(), 1u) - 1});
}

unsigned stall_detector::workers() const {
  return static_cast<unsigned>(
      std::count_if(m_records.begin(), m_records.end(), [](const record &r) {
        return r.seen.tid != 0 && !r.seen.spare && !r.seen.external;
      }));
}

unsigned stall_detector::blocked_spares() const {
  return static_cast<unsigned>(
      std::count_if(m_records.begin(), m_records.end(),
                    [](const record &r) { return r.seen.spare && r.is == worker_state::blocked; }));
}

/// Returns how many blocked workers need no spare because they wait behind others for the same
/// lock.
unsigned stall_detector::needless(std::uint64_t now) {
  m_locks.begin();
  for (const record &r : m_records)
    if (r.is == worker_state::blocked)
      m_locks.count(r.sleep);
  return m_locks.needless(std::max(workers(), 1u), now);
}

unsigned stall_detector::wanted(const assessment &result, std::uint64_t now) {
  const unsigned none = std::min(result.blocked, replaced(result.blocked) + needless(now));
  if (!result.computing)
    return result.blocked - none;
  const auto computing_spares =
      std::count_if(m_records.begin(), m_records.end(), [](const record &r) {
        return r.seen.spare && r.is == worker_state::computing;
      });
  return result.blocked - none + 1 +
         (m_world.can_ask() ? static_cast<unsigned>(computing_spares) : 0);
}

/// Adds or retires spares until as many run as are wanted.
void stall_detector::settle(assessment &result, const circumstances &conditions) {
  unsigned wanted = this->wanted(result, conditions.now);
  unsigned running = m_world.spares();
  // One thread that is not blocked has to be there. The thread that had the only worker's slot may
  // have ended while others block outside of Weft. Or it is outside of Weft for long, and other
  // threads run nothing of others while they wait: then a spare stays until it finds nothing.
  const bool lacks_worker = workers() == 0 || (workers() == 1 && m_world.any_thread_keeps_to_own());
  if (lacks_worker && (conditions.waits || running > 0))
    wanted = std::max(wanted, blocked_spares() + 1);
  for (; conditions.waits && running < wanted && m_world.add_spare(); ++running)
    result.look_soon = true;
  for (unsigned slot = 0; running > wanted + result.suspects && slot < m_records.size(); ++slot) {
    const record &r = m_records[slot];
    if (!r.seen.spare || r.is == worker_state::blocked)
      continue;
    m_world.retire_spare(slot);
    --running;
  }
  result.may_rest = !conditions.waits && !result.look_soon && !result.slicing && running == 0;
}

stall_detector::assessment stall_detector::look(std::uint64_t now) {
  try {
    m_records.resize(m_world.slots());
  } catch (
      const std::bad_alloc &) { // new workers are assessed once there is memory for their records
  }
  const bool taken_care_of = m_world.any_worker_searches();
  const bool ready = !taken_care_of && m_world.work_waits();
  const bool waits = ready || (!taken_care_of && m_world.chores_wait());
  if (!ready)
    m_waits_since = 0;
  else if (m_waits_since == 0)
    m_waits_since = now;
  const circumstances c{now, waits, ready && now - m_waits_since >= m_compute_ns};

  assessment o;
  bool doubt = false;
  for (unsigned slot = 0; slot < m_records.size(); ++slot) {
    record &r = m_records[slot];
    watched::reading seen;
    if (!m_world.read(slot, seen)) {
      r = {};
      continue;
    }
    if (seen.idle || seen.tid != r.seen.tid || seen.epoch != r.seen.epoch) {
      doubt |= begin_anew(r, seen, c);
    } else {
      r.seen.awaited = seen.awaited;
      if (!seen.external)
        assess_one(r, c);
    }
    o.slicing |= slice(r, c);
    o.blocked += r.is == worker_state::blocked;
    o.computing |= r.is == worker_state::computing;
    o.suspects += r.is == worker_state::suspect;
  }
  o.look_soon = o.suspects > 0 || doubt;
  settle(o, c);
  return o;
}

} // namespace rt
} // namespace weft::inline v0
