// SPDX-License-Identifier: Apache-2.0
#include "weft_net/team/trace.hpp"

#include <new>

namespace weft_net {

namespace layer = weft::layer;

namespace {

constexpr std::uint32_t k_numbers = (1U << 24) - 1; // of operations; see message_event

std::uint16_t traced_rank(int rank) noexcept {
  return rank < 0 || rank >= layer::k_any_traced_rank ? layer::k_any_traced_rank
                                                      : static_cast<std::uint16_t>(rank);
}

} // namespace

std::uint32_t message_trace::note_start(int peer, std::uint32_t id, std::uint64_t bytes,
                                        const char *name) noexcept {
  const std::uint32_t number = m_started.fetch_add(1, std::memory_order_relaxed) % k_numbers + 1;
  note(layer::message_step::sent, peer, id, number, bytes, name);
  return number;
}

void message_trace::note(layer::message_step step, int peer, std::uint32_t id, std::uint32_t number,
                         std::uint64_t bytes, const char *name) noexcept {
  const layer::message_event event{
      step, traced_rank(m_own), traced_rank(peer), id, number, bytes, layer::trace_time(), name};
  if (m_has_late.load(std::memory_order_relaxed)) // a later look is soon enough
    settle();
  if (layer::trace_message(event) || step == layer::message_step::sent ||
      step == layer::message_step::awaited)
    return;
  try {
    const std::lock_guard guard(m_lock);
    m_late.push_back(event);
    m_has_late.store(true, std::memory_order_relaxed);
  } catch (const std::bad_alloc &) { // the trace lacks it
  }
}

void message_trace::settle() noexcept {
  const std::lock_guard guard(m_lock);
  while (!m_late.empty() && layer::trace_message(m_late.back()))
    m_late.pop_back();
  m_has_late.store(!m_late.empty(), std::memory_order_relaxed);
}

} // namespace weft_net
