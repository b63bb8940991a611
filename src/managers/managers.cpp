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

managers::managers(const settings &s, const machine &m, unsigned workers, unsigned slots)
    : m_mode(s.manage_mode), m_forced(s.manage_forced),
      m_max_managers(whole(s.manage_max_managers)), m_max_spins(whole(s.manage_max_spins)),
      m_max_ops(whole(s.manage_max_ops)), m_min_ready(whole(s.manage_min_ready)),
      m_backlog(whole(s.manage_backlog)),
      m_spin_ns(static_cast<std::uint64_t>(s.spin_us.count()) * 1000u),
      m_chosen(choose_managers(s, m, workers)), m_outboxes(slots) {
  if (m_forced && m_mode != manage_kind::central)
    throw_error(
        errc::bad_setting,
        "manage.forced = true asks for a manager that no worker helps; set manage.mode = central with it");
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

void set_managers(managers &m, const settings &s) noexcept {
  g_those = &m;
  g_managers.store(s.manage_mode != manage_kind::direct, std::memory_order_relaxed);
  if (s.manage_mode == manage_kind::distributed || s.manage_mode == manage_kind::automatic)
    join_dispatcher();
  managers::send_messages(s.manage_mode != manage_kind::direct &&
                          s.manage_mode != manage_kind::automatic);
}

bool post_new(task &t, domain &d) {
  thread_context *e = this_thread_context();
  return e->messages && g_those->send_new(*e, t, d);
}

bool post_end(task &t, posted_end which) {
  thread_context *e = this_thread_context();
  return e->messages && g_those->send_end(*e, t, which);
}

bool chooses_to_act_locally(thread_context &e) noexcept {
  return g_those->chooses_to_act_locally(e);
}

void apply_registrations_of(domain &d) noexcept { g_those->apply_below(d); }

bool apply_messages(thread_context &e, poll_point where) {
  return g_those->may_serve(e) && services(where).call_modules(e);
}

} // namespace rt
} // namespace weft::inline v0
