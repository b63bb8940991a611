// SPDX-License-Identifier: Apache-2.0
#include "tune/in_place_types.hpp"

#include "base/closure_name.hpp"

#include <cstdio>
#include <memory>
#include <new>

namespace weft::inline v0 {
namespace rt {

/// Counts in parts, because a word that all workers add to would go from cache to cache.
struct in_place_type {
  static constexpr std::size_t k_parts = 8;
  struct alignas(64) part {
    std::atomic<std::uint64_t> calls{0};
  };
  part parts[k_parts];
  std::string name;
  std::atomic<std::uint64_t> largest{0}; // as of the last note
  std::atomic<float> unit_ns{0};
  in_place_type *next = nullptr;
};

namespace {

std::atomic<in_place_type *> g_first{nullptr};

in_place_type *make_type(detail::work_site &site) noexcept try {
  auto fresh = std::make_unique<in_place_type>();
  fresh->name = site.name ? closure_in(site.name) : "a function of C";
  in_place_type *known = nullptr;
  if (!site.type.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) // O1
    return known;
  fresh->next = g_first.load(std::memory_order_relaxed);
  while (!g_first.compare_exchange_weak(fresh->next, fresh.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) { // O1
  }
  return fresh.release();
} catch (const std::bad_alloc &) {
  return nullptr;
}

} // namespace

void set_in_place_mode(inline_kind asked, bool fixed) noexcept {
  const bool by_time = asked == inline_kind::automatic && !fixed;
  g_in_place_mode.store(asked == inline_kind::always ? in_place_mode::always
                        : by_time                    ? in_place_mode::by_time
                                                     : in_place_mode::never,
                        std::memory_order_relaxed);
}

void note_in_place(detail::work_site &site, std::uint64_t calls, std::size_t thread) noexcept {
  in_place_type *type = site.type.load(std::memory_order_acquire); // O1
  if (!type)
    type = make_type(site);
  if (!type)
    return;
  type->parts[thread % in_place_type::k_parts].calls.fetch_add(calls, std::memory_order_relaxed);
  const std::uint64_t largest = site.estimate.largest();
  if (type->largest.load(std::memory_order_relaxed) == largest)
    return;
  type->largest.store(largest, std::memory_order_relaxed);
  type->unit_ns.store(static_cast<float>(site.estimate.unit_ns()), std::memory_order_relaxed);
}

std::vector<std::string> in_place_lines() {
  std::vector<std::string> lines;
  for (const in_place_type *t = g_first.load(std::memory_order_acquire); t; t = t->next) { // O1
    std::uint64_t calls = 0;
    for (const in_place_type::part &p : t->parts)
      calls += p.calls.load(std::memory_order_relaxed);
    char numbers[160];
    std::snprintf(numbers, sizeof numbers,
                  ": %llu ran in place; a cost of up to %llu is small work, of %.3g ns a unit",
                  static_cast<unsigned long long>(calls),
                  static_cast<unsigned long long>(t->largest.load(std::memory_order_relaxed)),
                  static_cast<double>(t->unit_ns.load(std::memory_order_relaxed)));
    lines.push_back(t->name + numbers);
  }
  return lines;
}

} // namespace rt
} // namespace weft::inline v0
