// SPDX-License-Identifier: Apache-2.0
#include "task/wait/listed_states.hpp"

#include "queue/spin_lock.hpp"

#include <cstdint>
#include <mutex>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr unsigned k_bits = 6;
struct alignas(k_line) part {
  spin_lock<> lock;
  task *first = nullptr;
};
part g_parts[1u << k_bits];

part &part_of(const task &state) noexcept {
  const std::uint64_t mixed =
      reinterpret_cast<std::uintptr_t>(&state) * std::uint64_t{0x9E3779B97F4A7C15}; // 2^64 / phi
  return g_parts[mixed >> (64 - k_bits)];
}

state_link &link_of(task &state) noexcept {
  return *reinterpret_cast<state_link *>(static_cast<char *>(detail::storage(&state)) +
                                         state.ops->bytes);
}

void note_listed(task &state, bool is) noexcept {
  __atomic_store_n(&state.owned_children, is ? 1u : 0u, __ATOMIC_RELAXED); // O1
}

} // namespace

void enter_state(task &state) noexcept {
  part &here = part_of(state);
  state_link &link = link_of(state);
  const std::lock_guard guard(here.lock);
  if (is_listed(state))
    return;
  link.next = here.first;
  if (link.next)
    link_of(*link.next).place = &link.next;
  link.place = &here.first;
  here.first = &state;
  note_listed(state, true);
}

void remove_listed_state(task &state) noexcept {
  state_link &link = link_of(state);
  const std::lock_guard guard(part_of(state).lock);
  if (!is_listed(state))
    return;
  *link.place = link.next;
  if (link.next)
    link_of(*link.next).place = link.place;
  note_listed(state, false);
}

void for_each_listed_state(void (*f)(task &, void *), void *context) {
  for (part &here : g_parts) {
    const std::lock_guard guard(here.lock);
    for (task *t = here.first; t; t = link_of(*t).next)
      f(*t, context);
  }
}

void states_before_fork() noexcept {
  for (part &here : g_parts)
    here.lock.lock();
}

void states_after_fork() noexcept {
  for (part &here : g_parts)
    here.lock.unlock();
}

void forget_states_in_child() noexcept {
  for (part &here : g_parts) {
    for (task *t = here.first; t; t = link_of(*t).next)
      note_listed(*t, false);
    here.first = nullptr;
    here.lock.unlock();
  }
}

} // namespace rt
} // namespace weft::inline v0
