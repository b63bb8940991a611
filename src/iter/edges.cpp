// SPDX-License-Identifier: Apache-2.0
// From the accesses of recorded tasks to the edges of their graph.
#include "iter/hooks.hpp"
#include "iter/iteration.hpp"

#include "task/recorded.hpp"
#include "tune/in_place_types.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Holds the last users of an address: tasks that share it, or one task that does not. The numbers
/// of the second pass follow those of the first.
template <class Use>
struct place {
  const Use *how = nullptr;
  std::vector<std::uint32_t> users, before; // `users` follow the tasks in `before`
};

} // namespace

/// Finds the edges in two passes over the iteration. A conflict of a task of the second pass with
/// one of the first is an edge to the next round.
std::vector<iteration::edge> iteration::conflicts() {
  std::vector<const void *> addresses;
  for (const use &u : m_uses)
    addresses.push_back(u.address);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  std::vector<place<use>> places(addresses.size());

  const auto count = static_cast<std::uint32_t>(m_tasks.size());
  std::vector<edge> edges;
  const auto follow = [&](std::uint32_t from, std::uint32_t to) {
    if (to < count)
      edges.push_back({from, to, false});
    else if (from < count && from != to - count) // a task follows itself anyway
      edges.push_back({from, to - count, true});
  };
  for (std::uint32_t t = 0; t < 2 * count; ++t) {
    const recorded &r = m_tasks[t % count];
    for (std::size_t i = 0; i < r.uses; ++i) {
      const use &u = m_uses[r.first_use + i];
      const auto at =
          std::lower_bound(addresses.begin(), addresses.end(), u.address) - addresses.begin();
      place<use> &p = places[static_cast<std::size_t>(at)];
      if (u.how == sharing::none || !p.how || !u.shares_with(*p.how)) {
        p.before.swap(p.users);
        p.users.clear();
        p.how = &u;
      }
      for (const std::uint32_t earlier : p.before)
        follow(earlier, t);
      p.users.push_back(t);
    }
  }
  return edges;
}

/// Finds the edges when the last task controls the loop. This task comes between rounds: edges to
/// the next round go through it, from the last tasks of a round to the first.
std::vector<iteration::edge> iteration::under_control() {
  std::vector<edge> edges = conflicts();
  std::erase_if(edges, [](const edge &e) { return e.to_next_round; });
  const auto control = static_cast<std::uint32_t>(m_tasks.size() - 1);
  std::vector<bool> follows(m_tasks.size()), is_followed(m_tasks.size());
  for (const edge &e : edges) {
    follows[e.to] = true;
    is_followed[e.from] = true;
  }
  for (std::uint32_t t = 0; t < control; ++t) {
    if (!is_followed[t])
      edges.push_back({t, control, false});
    if (!follows[t])
      edges.push_back({control, t, true});
  }
  return edges;
}

void iteration::connect(const std::vector<edge> &edges) {
  m_successors = std::make_unique<cycle_node<real_atomics> *[]>(edges.size());
  auto **next = m_successors.get();
  auto e = edges.begin();
  for (std::uint32_t t = 0; t < m_tasks.size(); ++t) {
    m_nodes[t].successors = next;
    for (; e != edges.end() && e->from == t; ++e) {
      recorded_node &to = m_nodes[e->to];
      *next++ = &to;
      ++to.degree;
      if (!e->to_next_round)
        to.missing.store(to.missing.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed); // not shared yet
    }
    m_nodes[t].successor_count = static_cast<std::uint32_t>(next - m_nodes[t].successors);
  }
}

/// Marks the members of chains, unless tune.inline (or tune=off, tune=replay, sched.seed) or
/// sched.immediate_successor lets none run as one.
void iteration::find_chains(const std::vector<edge> &edges) noexcept {
  const in_place_mode mode = g_in_place_mode.load(std::memory_order_relaxed);
  if (mode == in_place_mode::never || !successors_go_first())
    return;
  for (const edge &e : edges) {
    recorded_node &from = m_nodes[e.from], &to = m_nodes[e.to];
    if (e.to_next_round || from.successor_count != 1 || to.degree != 1)
      continue;
    from.extent |= k_in_chain;
    to.extent |= k_in_chain;
    from.chain.goes_on = 1;
    to.chain.tiny = to.chain.is_always = mode == in_place_mode::always;
  }
}

/// Moves tasks that were recorded late behind the others of their number.
void iteration::put_in_place() {
  std::sort(m_tasks.begin(), m_tasks.end(), [](const recorded &a, const recorded &b) {
    return std::pair(a.behind, a.number) < std::pair(b.behind, b.number);
  });
}

void iteration::build_edges(std::uint64_t rounds, bool controlled) {
  if (m_regional)
    cut_into_fragments();
  put_in_place();
  std::vector<edge> edges = controlled ? under_control() : conflicts();
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  m_nodes = std::make_unique<recorded_node[]>(m_tasks.size());
  for (std::size_t t = 0; t < m_tasks.size(); ++t) {
    recorded_node &n = m_nodes[t];
    task &body = *m_tasks[t].body;
    n.what = body.what;
    n.flags = body.flags & detail::k_special;
    n.priority = body.priority;
    n.extent = m_tasks[t].reductions;
    n.rounds.set(rounds);
    n.body = &body;
    n.whole = this;
    body.done_word.store(static_cast<runnable *>(&n),
                         std::memory_order_relaxed); // published with the first round
  }
  connect(edges);
  find_chains(edges);
  for (std::size_t t = 0; t < m_tasks.size(); ++t)
    if (m_nodes[t].missing.load(std::memory_order_relaxed) == 0)
      m_first.push_back(&m_nodes[t]);
  left.store(static_cast<std::uint32_t>(m_tasks.size()) + 1,
             std::memory_order_relaxed); // not shared yet
}

} // namespace rt
} // namespace weft::inline v0
