// SPDX-License-Identifier: Apache-2.0
// Computes digests of states, so that a search does not explore again what follows a state that it
// has seen.
//
// A thread's position is the digest of everything that it has done and observed, so a state need
// not include the plain memory of a model that one thread keeps for itself. Of a location, the
// stores count that a thread may still read. Two states of one path never agree, because a history
// only grows; so every state that is found again has been explored completely, or will have been
// when the search ends. With sleep sets this holds for the steps that were not asleep then: the
// search leaves out a state only if all steps that were asleep then are asleep now (Godefroid,
// Partial-Order Methods, 1996, section 5).
#include "engine.hpp"

#include <algorithm>

namespace weft_model {

namespace {

constexpr std::size_t k_most_states = 6'000'000; // about 300 MB

struct digest {
  std::uint64_t value = 0x9e3779b97f4a7c15u;
  void add(std::uint64_t x) {
    value ^= x;
    value *= 0xff51afd7ed558ccdu;
    value ^= value >> 32;
  }
  template <class Numbers>
  void add_all(const Numbers &numbers) {
    for (auto n : numbers)
      add(n);
  }
  void add_view(const std::vector<std::uint16_t> &view) { // zeros at the end mean nothing
    std::size_t size = view.size();
    while (size > 0 && view[size - 1] == 0)
      --size;
    for (std::size_t i = 0; i < size; ++i)
      add(view[i]);
    add(UINT64_MAX - size);
  }
};

} // namespace

std::uint64_t engine::digest_of(const message &m) const {
  if (!m_digests)
    return 0;
  digest d;
  d.add(m.value);
  d.add_all(m.carried.clock);
  d.add_view(m.carried.view);
  return d.value;
}

void engine::remember(std::uint64_t fact) {
  if (!m_digests)
    return;
  digest d;
  d.add(me().history);
  d.add(fact);
  me().history = d.value;
}

void engine::digest_var(access &a) {
  if (!m_digests)
    return;
  digest d;
  d.add(a.id);
  d.add(a.value);
  d.add(static_cast<std::uint64_t>(a.writer) << 32 ^ a.written);
  d.add_all(a.read);
  m_vars ^= a.digest ^ d.value;
  a.digest = d.value;
}

std::uint64_t engine::state() const {
  digest d;
  d.add(m_vars);
  d.add_view(m_heavy_view);
  for (int t = 1; t < m_thread_count; ++t) {
    const thread &th = m_threads[static_cast<std::size_t>(t)];
    d.add(th.history);
    d.add_all(th.knows.clock);
    d.add_view(th.knows.view);
    d.add_view(th.flushed);
    d.add(static_cast<std::uint64_t>(th.next.kind) << 8 | (th.finished ? 1u : 0u) |
          (th.woken ? 2u : 0u) | (th.may_time_out ? 4u : 0u) | (th.read_stale ? 8u : 0u) |
          (th.stores_at_pause == stores_of_others(th) ? 16u : 0u) |
          (th.stores_at_idle_resume == stores_of_others(th) ? 32u : 0u));
  }
  for (int w = 0; w < m_location_count; ++w) {
    const location &l = place(w);
    int oldest = l.count - 1;
    for (int t = 1; t < m_thread_count; ++t)
      if (!m_threads[static_cast<std::size_t>(t)].finished)
        oldest = std::min(oldest, oldest_readable(t, w, false));
    d.add(static_cast<std::uint64_t>(l.count) << 33 |
          static_cast<std::uint64_t>(l.last_seq_cst) << 1 | (l.alive ? 1u : 0u));
    for (int i = oldest; i < l.count; ++i)
      d.add(l.history[static_cast<std::size_t>(i)].digest);
    d.add_all(l.used);
    d.add_view(l.parked.view);
  }
  return d.value;
}

/// Returns, at a choice between threads, whether this state has been explored with no more threads
/// asleep than now.
bool engine::seen_before() {
  if (!m_digests || m_position != m_trail.size())
    return false;
  const auto asleep = static_cast<std::uint8_t>(m_sleep_set);
  if (m_seen.size() >= k_most_states) {
    const auto known = m_seen.find(state());
    return known != m_seen.end() && (known->second & ~asleep) == 0;
  }
  const auto [known, is_new] = m_seen.try_emplace(state(), asleep);
  if (is_new)
    return false;
  if ((known->second & ~asleep) == 0)
    return true;
  known->second &= asleep;
  return false;
}

} // namespace weft_model
