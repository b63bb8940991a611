// SPDX-License-Identifier: Apache-2.0
#include "task/spawn_site.hpp"

#include "queue/spin_lock.hpp"
#include "ult/backtrace.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>

namespace weft::inline v0 {
namespace rt {

bool g_notes_spawn_sites = false;

namespace {

constexpr std::size_t k_parts = 64; // workers that spawn at once seldom meet

struct alignas(64) part {
  spin_lock<> lock;
  std::unordered_map<const task *, spawn_site> sites;
};
part *g_parts = nullptr; // never freed: tasks end late

part &part_of(const task &t) noexcept {
  return g_parts[reinterpret_cast<std::uintptr_t>(&t) / 64 % k_parts];
}

} // namespace

void note_spawn_sites(bool on) noexcept {
  if (on && !g_parts)
    g_parts = new (std::nothrow) part[k_parts];
  g_notes_spawn_sites = on && g_parts;
}

void note_spawn_site(const task &t) noexcept try {
  spawn_site p;
  p.count = own_backtrace(p.calls, k_spawn_site_depth, 1); // this function
  part &here = part_of(t);
  const std::lock_guard guard(here.lock);
  here.sites[&t] = p;
} catch (const std::bad_alloc &) { // without
}

spawn_site spawn_site_of(const task &t) noexcept {
  if (!notes_spawn_sites())
    return {};
  part &here = part_of(t);
  const std::lock_guard guard(here.lock);
  const auto known = here.sites.find(&t);
  return known == here.sites.end() ? spawn_site{} : known->second;
}

void forget_spawn_sites_in_child() noexcept { // the locks may be held by threads that are gone
  g_parts = nullptr;
  g_notes_spawn_sites = false;
}

} // namespace rt
} // namespace weft::inline v0
