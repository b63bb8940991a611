// SPDX-License-Identifier: Apache-2.0
// The managers at work: idle workers, a central thread, or in mode auto idle workers now and then.
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/mailbox.hpp"
#include "deps/messages.hpp"
#include "managers/hooks.hpp"
#include "managers/managers.hpp"
#include "managers/mode_chooser.hpp"
#include "services/dispatcher.hpp"
#include "tune/decisions.hpp"

#include <cstring>
#include <new>

namespace weft::inline v0 {
namespace rt {

bool managers::is_central() const noexcept {
  return m_mode == manage_kind::central || m_mode == manage_kind::hybrid;
}

// ---- idle workers ---------------------------------------------------------------------------------------------------

/// Says whether the calling worker has tasks to go on with. Under a policy without queues per
/// worker, the tasks that it has just made ready count.
bool managers::has_enough(std::size_t made) const noexcept {
  const std::size_t own = ready_at(*this_thread_context());
  return (own == ~std::size_t{0} ? made : own) >= m_min_ready.load(std::memory_order_relaxed);
}

bool managers::serve_all(thread_context &e) {
  const unsigned used = m_used.load(std::memory_order_acquire); // O1: pairs with attach
  const unsigned own = e.messages->id;
  const unsigned most_spins = m_max_spins.load(std::memory_order_relaxed);
  const unsigned most_ops = m_max_ops.load(std::memory_order_relaxed);
  unsigned spins = most_spins;
  std::size_t made = 0;
  bool did = serve_own(e) != 0;
  if (did && has_enough(0))
    return true;
  do {
    unsigned count = 0;
    for (unsigned i = 0; i < used && !has_enough(made); ++i)
      if (outbox *o = m_outboxes[(own + i) % used].load(std::memory_order_acquire)) // O1
        count += serve(*o, most_ops, made);
    did |= count != 0;
    spins = count != 0 ? most_spins : spins - 1;
  } while (spins != 0 && !has_enough(made));
  return did;
}

bool managers::is_asked(const thread_context &e) const noexcept {
  if (is_central() || !e.messages || !e.messages->may_manage)
    return false;
  const unsigned most = m_max_managers.load(std::memory_order_relaxed);
  return (most == 0 || m_inside.load(std::memory_order_relaxed) < most) && !nothing_queued();
}

bool managers::serves_own_messages_first(const thread_context &e) const noexcept {
  return m_backlog.load(std::memory_order_relaxed) != 0 && !is_central() && e.messages &&
         !e.messages->empty() && !e.in_callback && e.messages->may_manage;
}

bool managers::may_serve(const thread_context &e) const noexcept {
  return !e.in_callback && is_asked(e);
}

bool managers::serve(thread_context &e) {
  if (!is_asked(e))
    return false;
  const unsigned most = m_max_managers.load(std::memory_order_relaxed);
  if (m_inside.fetch_add(1, std::memory_order_relaxed) >= most && most != 0) {
    m_inside.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const bool did = serve_all(e);
  m_inside.fetch_sub(1, std::memory_order_relaxed);
  if ((did || m_max_managers.load(std::memory_order_relaxed) != 0) && !nothing_queued())
    wake(); // a worker that was turned away meanwhile may sleep
  return did;
}

// ---- a central manager ----------------------------------------------------------------------------------------------

void managers::run() {
  for (;;) {
    const bool last = m_stopping.load(std::memory_order_acquire); // O2: pairs with stop
    const std::uint64_t until = now_ns() + m_spin_ns.load(std::memory_order_relaxed);
    bool did = false;
    do {
      const unsigned used = m_used.load(std::memory_order_acquire); // O1
      std::size_t made = 0;
      unsigned count = 0;
      for (unsigned i = 0; i < used; ++i)
        if (outbox *o = m_outboxes[i].load(std::memory_order_acquire)) // O1
          count += serve(*o, 1, made); // one message of each worker in turn
      did |= count != 0;
      if (count == 0)
        cpu_pause();
    } while (!last && now_ns() < until);
    if (did)
      continue;
    if (last)
      return;
    m_bell.prepare(0);
    if (!nothing_queued() || m_stopping.load(std::memory_order_acquire)) // O2
      m_bell.cancel(0);
    else
      m_bell.commit(0);
  }
}

/// Lets workers post messages, or ends that. The end needs no wait for queued messages: the general
/// path does not enter into a domain while its children are queued.
void managers::send_messages(bool on) noexcept {
  if (on)
    use_messages(true);
  g_messages.store(on, std::memory_order_release); // O1 of messages.hpp
  if (!on)
    use_messages(false);
}

void managers::end_window(mode_chooser &chooser, std::uint64_t tasks, std::uint64_t ns) noexcept {
  const mode_chooser::mode last = chooser.now(), kept = chooser.kept();
  const mode_chooser::mode next = chooser.next(tasks, ns);
  const bool is_distributed = chooser.kept() == mode_chooser::mode::distributed;
  if (next != last)
    send_messages(next == mode_chooser::mode::distributed);
  if (chooser.kept() == kept)
    return;
  try {
    note_decision("manage.mode", is_distributed
                                     ? "distributed: more tasks began per second than with direct"
                                     : "direct: as many tasks began per second as with distributed");
  } catch (const std::bad_alloc &) { // the mode has changed all the same
  }
}

void managers::run_auto() {
  mode_chooser chooser;
  std::uint64_t before = tasks_begun();
  std::uint64_t since = now_ns();
  while (!m_stopping.load(std::memory_order_acquire)) { // O2
    m_bell.prepare(0);
    if (m_stopping.load(std::memory_order_acquire)) // O2
      return static_cast<void>(m_bell.cancel(0));
    m_bell.commit(0, static_cast<std::int64_t>(since + chooser.window_ns()));
    const std::uint64_t begun = tasks_begun();
    const std::uint64_t now = now_ns();
    end_window(chooser, begun - before, now - since);
    before = begun;
    since = now;
  }
}

void managers::start() {
  if (!is_central() && m_mode != manage_kind::automatic)
    return;
  const auto main = [](void *p) {
    auto &m = *static_cast<managers *>(p);
    m.is_central() ? m.run() : m.run_auto();
  };
  if (int e = m_thread.start("weft-manager", main, this)) {
    warn(
        "the manager cannot be started (%s): workers apply their actions themselves, as with manage.mode = direct",
        std::strerror(e));
    send_messages(false);
    return;
  }
  m_has_thread.store(true, std::memory_order_release); // O3: pairs with has_thread
}

void managers::stop() {
  if (!m_thread.joinable())
    return;
  m_stopping.store(true, std::memory_order_release); // O2
  unless(bug::manager_stopped_silently, [&] { m_bell.notify_all(); });
  m_has_thread.store(false, std::memory_order_release); // O3
  m_thread.join();
}

} // namespace rt
} // namespace weft::inline v0
