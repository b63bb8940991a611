// SPDX-License-Identifier: Apache-2.0
#include "budget.hpp"

#include "mutant.hpp"

#include <weft/layer/own_thread.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <ranges>
#include <thread>
#include <utility>

namespace weft_tcm {

namespace layer = weft::layer;

namespace {

constexpr std::chrono::milliseconds k_pause{10}; // between two looks
constexpr std::chrono::seconds k_longest_call{1}; // of a client, that a fork waits for

thread_local permit *t_called = nullptr; // whose client the calling thread is calling

unsigned count_of(std::int32_t asked, unsigned automatic) noexcept {
  return asked < 0 ? automatic : static_cast<unsigned>(asked);
}

/// Distributes the threads over the constraints, the first ones first.
void distribute(const permit &client, std::uint32_t *into) {
  unsigned rest = client.threads.granted;
  for (std::size_t i = 0; i < client.most_of_constraint.size(); ++i) {
    into[i] = std::min<std::uint32_t>(rest, client.most_of_constraint[i]);
    rest -= into[i];
  }
}

} // namespace

budget &budget::of_process() {
  static budget *const all = [] {
    weft_threads::hold_over_fork([] { of_process().hold(); },
                                 [](bool is_child) { of_process().give_back(is_child); });
    return new budget;
  }();
  return *all;
}

/// Takes the lock when no client is being called: a client that is may hold locks of its own, which the
/// child would find taken for ever. It does not wait long for one that stays in its call.
///
/// The server has waited for TBB's threads before (server::before_fork): these call the budget, too, and hold locks
/// of TBB's meanwhile.
void budget::hold() {
  std::unique_lock lock(m_lock);
  unless(bug::tcm_forks_in_call, [this, &lock] {
    m_called.wait_for(lock, k_longest_call, [this] {
      return std::ranges::none_of(m_permits, [](const auto &p) { return p->is_called; });
    });
  });
  lock.release();
}

/// The child of a fork() has its parent's clients, and not the thread, which the next request starts.
/// The thread that forked holds the lock, so no other one was changing anything.
void budget::give_back(bool is_child) {
  if (is_child) {
    new (&m_changed) std::condition_variable;
    new (&m_called) std::condition_variable;
    m_has_thread = false;
    for (const auto &p : m_permits)
      p->is_called = false;
  }
  m_lock.unlock();
}

permit *budget::find(const permit *client) const noexcept {
  for (const auto &known : m_permits)
    if (known.get() == client)
      return known.get();
  return nullptr;
}

client_id budget::connect(callback tell) {
  const std::lock_guard lock(m_lock);
  m_clients[++m_last_id] = {tell};
  return m_last_id;
}

bool budget::disconnect(client_id id) {
  std::unique_lock lock(m_lock);
  if (m_clients.erase(id) == 0)
    return false;
  for (;;) {
    const auto mine = std::ranges::find_if(m_permits, [id](const auto &p) { return p->of == id; });
    if (mine == m_permits.end())
      return true;
    remove(lock, mine->get());
  }
}

/// Gives an active permit its first threads.
void budget::grant(permit &client) noexcept {
  client.state = permit_state::active;
  client.threads.active = true;
  client.threads.granted = first_grant(client.threads, layer::use_of_workers());
}

permit *budget::request(client_id id, const weft_tcm::request &asked, void *argument,
                        permit *handle) {
  const unsigned workers = std::max(layer::use_of_workers().workers, 1u);
  const unsigned most = count_of(asked.max_sw_threads, workers);
  const unsigned least = count_of(asked.min_sw_threads, 0);
  if (least > most || (asked.constraints_size != 0 && !asked.cpu_constraints))
    return nullptr;
  std::vector<std::uint32_t> limits;
  for (std::uint32_t i = 0; i < asked.constraints_size; ++i)
    limits.push_back(count_of(asked.cpu_constraints[i].max_concurrency, most));
  if (limits.empty())
    limits.push_back(most);
  std::uint64_t of_all = 0;
  for (const std::uint32_t limit : limits)
    of_all += limit;

  const std::lock_guard lock(m_lock);
  permit *p = handle ? find(handle) : nullptr;
  if (!m_clients.contains(id) || (handle && (!p || p->of != id)))
    return nullptr;
  if (!p) {
    m_permits.push_back(std::make_unique<permit>());
    p = m_permits.back().get();
    p->of = id;
  }
  p->argument = argument;
  p->most_of_constraint = std::move(limits);
  p->threads.most = static_cast<unsigned>(std::min<std::uint64_t>(most, of_all));
  p->threads.least = std::min(least, p->threads.most);
  p->threads.rigid = asked.flags.rigid_concurrency;
  if (asked.flags.request_as_inactive) {
    p->state = permit_state::inactive;
    p->threads.active = false;
    p->threads.granted = 0;
  } else {
    grant(*p);
    watch();
  }
  return p;
}

bool budget::read(permit *given, permit_data &data) {
  const std::lock_guard lock(m_lock);
  permit *const p = find(given);
  if (!p || !data.concurrencies || data.size < p->most_of_constraint.size())
    return false;
  distribute(*p, data.concurrencies);
  data.size = static_cast<std::uint32_t>(p->most_of_constraint.size());
  data.state = p->state;
  data.flags = {};
  data.flags.rigid_concurrency = p->threads.rigid;
  p->is_stale = false;
  return true;
}

bool budget::has(permit *client) {
  const std::lock_guard lock(m_lock);
  return find(client) != nullptr;
}

bool budget::apply(permit *given, change what) {
  const std::lock_guard lock(m_lock);
  permit *const p = find(given);
  if (!p || (what == change::idle && p->state == permit_state::inactive))
    return false;
  if (what == change::idle) {
    p->state = permit_state::idle;
    p->threads.active = false;
  } else if (what == change::deactivate) {
    p->state = permit_state::inactive;
    p->threads.active = false;
    p->threads.granted = 0;
  } else if (p->state != permit_state::active) {
    grant(*p);
    watch();
  }
  return true;
}

/// Removes a permit when no other thread calls its client about it.
void budget::remove(std::unique_lock<std::mutex> &lock, permit *client) {
  if (t_called != client)
    m_called.wait(
        lock, [client] { return unless(bug::tcm_released_in_call, !client->is_called, true); });
  else
    t_called = nullptr;
  std::erase_if(m_permits, [client](const auto &known) { return known.get() == client; });
}

bool budget::release(permit *client) {
  std::unique_lock lock(m_lock);
  if (!find(client))
    return false;
  remove(lock, client);
  return true;
}

bool budget::any_in_use() const noexcept {
  return std::ranges::any_of(m_permits,
                             [](const auto &p) { return p->state != permit_state::inactive; });
}

void budget::look(const layer::worker_use &use) {
  std::unique_lock lock(m_lock);
  std::vector<unsigned> before;
  for (const auto &p : m_permits)
    before.push_back(p->threads.granted);
  m_valve.look(m_permits | std::views::transform([](auto &p) -> share & { return p->threads; }),
               use);
  auto was = before.begin();
  for (const auto &p : m_permits)
    p->is_stale |= p->threads.granted != *was++;
  for (;;) {
    const auto at = std::ranges::find_if(m_permits, [](const auto &p) { return p->is_stale; });
    if (at == m_permits.end())
      return;
    permit *const p = at->get();
    p->is_stale = false;
    const auto of = m_clients.find(p->of);
    if (of == m_clients.end() || !of->second.tell)
      continue;
    const callback tell = of->second.tell;
    void *const argument = p->argument;
    p->is_called = true;
    t_called = p;
    lock.unlock();
    callback_flags changed{};
    changed.new_concurrency = 1;
    static_cast<void>(tell(p, argument, changed));
    lock.lock();
    if (std::exchange(t_called, nullptr)) // else the client has released it
      p->is_called = false;
    m_called.notify_all();
  }
}

void budget::run() noexcept {
  for (;;) {
    {
      std::unique_lock lock(m_lock);
      m_changed.wait(lock, [this] { return any_in_use(); });
    }
    std::this_thread::sleep_for(k_pause);
    look(layer::use_of_workers());
  }
}

/// Starts the thread, or wakes it. The lock is held. Without a thread what is granted stays as it
/// is.
void budget::watch() {
  if (m_has_thread)
    return m_changed.notify_one();
  m_has_thread = layer::start_own_thread( // else the next request tries again
                     "weft-budget", [](void *p) { static_cast<budget *>(p)->run(); }, this) == 0;
}

} // namespace weft_tcm
