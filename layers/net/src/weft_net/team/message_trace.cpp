// SPDX-License-Identifier: Apache-2.0
#include <weft/net/message_trace.hpp>

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace net {

namespace {

constexpr std::uint32_t k_numbers = (1U << 24) - 1; // of operations; see message_event

std::uint16_t traced_rank(int rank) noexcept {
  return rank < 0 || rank >= layer::k_any_traced_rank ? layer::k_any_traced_rank
                                                      : static_cast<std::uint16_t>(rank);
}

} // namespace

std::uint32_t message_trace::next_number() noexcept {
  return m_started.fetch_add(1, std::memory_order_relaxed) % k_numbers + 1;
}

std::uint32_t message_trace::note_start(int peer, std::uint32_t id, std::uint64_t bytes,
                                        const char *name) noexcept {
  const std::uint32_t number = next_number();
  note(layer::message_step::sent, peer, id, number, bytes, name);
  return number;
}

void message_trace::note(layer::message_step step, int peer, std::uint32_t id, std::uint32_t number,
                         std::uint64_t bytes, const char *name) noexcept {
  layer::message_event event{
      step, traced_rank(m_own), traced_rank(peer), id, number, bytes, layer::trace_time(), name};
  if (m_has_late.load(std::memory_order_relaxed)) // a later look is soon enough
    settle();
  if (layer::trace_message(event) || step == layer::message_step::awaited)
    return;
  event.is_late = true;
  if (step == layer::message_step::sent && number == 0) // by which its time is found
    event.number = next_number();
  try {
    const std::lock_guard guard(m_lock);
    m_late.push_back(event);
    m_has_late.store(true, std::memory_order_relaxed);
  } catch (const std::bad_alloc &) { // the trace lacks it
  }
}

void message_trace::settle() noexcept {
  const std::lock_guard guard(m_lock);
  const auto left = std::ranges::find_if(
      m_late, [](const layer::message_event &one) { return !layer::trace_message(one); });
  m_late.erase(m_late.begin(), left);
  m_has_late.store(!m_late.empty(), std::memory_order_relaxed);
}

} // namespace net
} // namespace weft::inline v0
