// SPDX-License-Identifier: Apache-2.0
#include "managers/managers.hpp"

#include "base/error.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "services/dispatcher.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

managers *g_those = nullptr; // written before any task

/// Registers the managers with the dispatcher. They are called on demand: workers come when there
/// are messages, so no worker polls for them.
void join_dispatcher() {
  static const auto call = [](void *) { return g_those->serve(*this_thread_context()); };
  static service_entry when_idle("managers", poll_point::idle, INT_MAX, call, nullptr,
                                 called::on_demand);
  static service_entry when_waiting("managers", poll_point::taskwait, INT_MAX, call, nullptr,
                                    called::on_demand);
  static bool joined = false; // with the start lock
  if (std::exchange(joined, true))
    return;
  services(poll_point::idle).add(when_idle);
  services(poll_point::taskwait).add(when_waiting);
}

unsigned whole(int setting) noexcept { return static_cast<unsigned>(setting); }

} // namespace

managers::managers(const settings &chosen, const machine &host, unsigned workers, unsigned slots)
    : m_mode(chosen.manage_mode), m_forced(chosen.manage_forced),
      m_max_managers(whole(chosen.manage_max_managers)),
      m_max_spins(whole(chosen.manage_max_spins)), m_max_ops(whole(chosen.manage_max_ops)),
      m_min_ready(whole(chosen.manage_min_ready)), m_backlog(whole(chosen.manage_backlog)),
      m_spin_ns(static_cast<std::uint64_t>(chosen.spin_us.count()) * 1000u),
      m_chosen(choose_managers(chosen, host, workers)), m_outboxes(slots) {
  if (m_forced && m_mode != manage_kind::central)
    throw_error(
        errc::bad_setting,
        "manage.forced = true asks for a manager that no worker helps; set manage.mode = central with it");
}

void managers::change(const settings &now) noexcept {
  constexpr auto k_any = std::memory_order_relaxed; // numbers to compare with
  m_max_managers.store(whole(now.manage_max_managers), k_any);
  m_max_spins.store(whole(now.manage_max_spins), k_any);
  m_max_ops.store(whole(now.manage_max_ops), k_any);
  m_min_ready.store(whole(now.manage_min_ready), k_any);
  m_backlog.store(whole(now.manage_backlog), k_any);
  m_spin_ns.store(static_cast<std::uint64_t>(now.spin_us.count()) * 1000u, k_any);
}

outbox *managers::attach(unsigned id) {
  if (m_mode == manage_kind::direct)
    return nullptr;
  outbox *o = m_outboxes[id].load(std::memory_order_relaxed);
  if (o)
    return o;
  o = new outbox(id);
  o->may_manage =
      !is_restricted() || std::find(m_chosen.begin(), m_chosen.end(), id) != m_chosen.end();
  m_outboxes[id].store(o, std::memory_order_release); // O1: pairs with the managers' acquire
  if (m_used.load(std::memory_order_relaxed) <= id)
    m_used.store(id + 1, std::memory_order_release); // O1
  return o;
}

bool managers::nothing_queued() const noexcept {
  const unsigned used = m_used.load(std::memory_order_acquire); // O1
  for (unsigned i = 0; i < used; ++i)
    if (outbox *o = m_outboxes[i].load(std::memory_order_acquire); o && !o->empty()) // O1
      return false;
  return true;
}

std::size_t managers::sum(std::size_t (*of)(const outbox &)) const noexcept {
  std::size_t n = 0;
  const unsigned used = m_used.load(std::memory_order_acquire); // O1
  for (unsigned i = 0; i < used; ++i)
    if (outbox *o = m_outboxes[i].load(std::memory_order_acquire)) // O1
      n += of(*o);
  return n;
}

std::size_t managers::queued() const noexcept {
  return sum([](const outbox &o) { return o.ordered.size() + o.others.size(); });
}

std::size_t managers::registrations_queued() const noexcept {
  return is_central() ? m_siblings.queued() : sum([](const outbox &o) { return o.ordered.size(); });
}

// ---- of deps/messages.hpp -------------------------------------------------------------------------------------------

void set_managers(managers &all, const settings &chosen) noexcept {
  g_those = &all;
  g_managers.store(chosen.manage_mode != manage_kind::direct, std::memory_order_relaxed);
  if (chosen.manage_mode == manage_kind::distributed ||
      chosen.manage_mode == manage_kind::automatic)
    join_dispatcher();
  managers::send_messages(chosen.manage_mode != manage_kind::direct &&
                          chosen.manage_mode != manage_kind::automatic);
}

bool post_new(task &t, domain &home) {
  thread_context *e = this_thread_context();
  return e->messages && g_those->send_new(*e, t, home);
}

bool post_end(task &t, posted_end which) {
  thread_context *e = this_thread_context();
  return e->messages && g_those->send_end(*e, t, which);
}

bool chooses_to_act_locally(thread_context &e) noexcept {
  return g_those->chooses_to_act_locally(e);
}

void apply_registrations_of(domain &home) noexcept { g_those->apply_below(home); }

bool apply_messages(thread_context &e, poll_point where) {
  return g_those->may_serve(e) && services(where).call_modules(e);
}

} // namespace rt
} // namespace weft::inline v0
