// SPDX-License-Identifier: Apache-2.0
#include "task/groups/thread_groups.hpp"

#include "task/hooks.hpp"

#include <cstdint>
#include <mutex>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr unsigned k_bits = 4; // threads that make groups at once seldom meet
struct alignas(k_line) part {
  spin_lock<> lock;
  listed_group *first = nullptr;
};
part g_parts[1u << k_bits];

part &part_of(const task *maker) noexcept {
  const std::uint64_t mixed =
      reinterpret_cast<std::uintptr_t>(maker) * std::uint64_t{0x9E3779B97F4A7C15}; // 2^64 / phi
  return g_parts[mixed >> (64 - k_bits)];
}

} // namespace

void enter_group(listed_group &group) noexcept {
  part &here = part_of(group.owner);
  const std::lock_guard guard(here.lock);
  group.next = here.first;
  if (group.next)
    group.next->place.store(&group.next, std::memory_order_relaxed); // I1, O1
  group.place.store(&here.first, std::memory_order_relaxed); // O1
  here.first = &group;
}

void remove_listed_group(listed_group &group) noexcept {
  const std::lock_guard guard(part_of(group.owner).lock);
  listed_group **const place = group.place.load(std::memory_order_relaxed); // I1
  *place = group.next;
  if (group.next)
    group.next->place.store(place, std::memory_order_relaxed); // I1, O1
}

group_state *open_group_of(const task &root) noexcept {
  part &here = part_of(&root);
  const std::lock_guard guard(here.lock);
  listed_group *group = here.first;
  while (group && (group->owner != &root || group->word.done(group->owned)))
    group = group->next;
  return group;
}

bool report_kept_of(const task &root) noexcept {
  part &here = part_of(&root);
  const std::lock_guard guard(here.lock);
  bool any = false;
  for (listed_group *group = here.first; group; group = group->next)
    if (group->owner == &root)
      any |= report_kept(*group);
  return any;
}

void groups_before_fork() noexcept {
  for (part &here : g_parts)
    here.lock.lock();
}

void groups_after_fork() noexcept {
  for (part &here : g_parts)
    here.lock.unlock();
}

void forget_groups_in_child() noexcept {
  for (part &here : g_parts) {
    for (listed_group *group = here.first; group; group = group->next)
      group->place.store(nullptr, std::memory_order_relaxed); // alone
    here.first = nullptr;
  }
  groups_after_fork();
}

} // namespace rt
} // namespace weft::inline v0
