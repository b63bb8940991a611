// SPDX-License-Identifier: Apache-2.0
#include "deps/check.hpp"

#include "base/leak.hpp"
#include "base/log.hpp"
#include "deps/access.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/sharing/cohort.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Describes an access of a task that is entered, or about to be.
struct declaration {
  std::uint32_t kind;
  sharing how;
  const detail::reduction_spec *reduction;
};

declaration of_child(const data_access &a) noexcept {
  return {kind_of(a), a.shared, a.shared == sharing::reduction ? a.wanted : nullptr};
}
declaration of_parent(const data_access &a) noexcept {
  const bool reduces = a.joined && a.joined->how == sharing::reduction;
  return {kind_of(a), a.joined ? a.joined->how : sharing::none,
          reduces ? &a.joined->copies->how() : nullptr};
}

const char *name_of(const declaration &declared) noexcept {
  static constexpr const char *k_names[][2] = {{"inout", "weak_inout"},
                                               {"concurrent", "weak_concurrent"},
                                               {"commutative", "weak_commutative"},
                                               {"reduction", "weak_reduction"}};
  const bool weak = (declared.kind & k_weak) != 0;
  if (declared.kind & k_reads)
    return weak ? "weak_in" : "in";
  return k_names[static_cast<std::size_t>(declared.how)][weak];
}

/// Returns whether an access of the parent covers one of a child. A strongly commutative task has
/// its turn, so its children may do as they like.
bool covers(const declaration &parent, const declaration &child) noexcept {
  if (parent.kind & k_reads)
    return (child.kind & k_reads) != 0;
  if (parent.how == sharing::none ||
      (parent.how == sharing::commutative && !(parent.kind & k_weak)))
    return true;
  return parent.how == child.how &&
         (!parent.reduction || is_same(*parent.reduction, *child.reduction));
}

/// Returns true for the first call with such a pair of tasks. With very many pairs some are taken
/// for others.
bool is_new(const task &parent, const task &child) noexcept {
  constexpr std::size_t k_pairs = 1024;
  static std::atomic<std::uintptr_t> seen[k_pairs];
  const auto kind = [](const task &t) {
    return reinterpret_cast<std::uintptr_t>(t.ops) * 3 ^ reinterpret_cast<std::uintptr_t>(t.label);
  };
  const std::uintptr_t key = (kind(parent) * 5 + kind(child)) | 1;
  return seen[(key * 0x9E3779B97F4A7C15u) >> 54].exchange(key, std::memory_order_relaxed) !=
         key; // a number, which guards nothing
}

/// Reports an access that the parent does not cover. `declared`: how the parent names it; null: not
/// at all.
void report(const task &parent, const task &child, const void *address, const char *how,
            const char *declared) noexcept {
  if (!declared)
    warn(
        "task '%s' names %p (%s), which its parent '%s' does not declare, so it is ordered among its siblings only; name it in the "
        "parent too, weakly if only children touch it",
        label_of(child), address, how, label_of(parent));
  else
    warn(
        "task '%s' names %p (%s), but its parent '%s' declares it (%s) only; name it for more in the parent",
        label_of(child), address, how, label_of(parent), declared);
}

const char *name_of(const region_piece &piece) noexcept {
  static constexpr const char *k_names[][2] = {
      {"inout", "weak_inout"}, {"in", "weak_in"}, {"concurrent", "weak_concurrent"}};
  return k_names[static_cast<std::size_t>(piece.kind)][piece.weak];
}

/// Names the first byte of a piece that the parent's accesses do not cover, and the access that has
/// the byte, if one has. `at` is the end of the piece if all is covered.
struct uncovered {
  std::uintptr_t at;
  const region_piece *declared;
};
uncovered find_uncovered(const region_scope &parent, const region_piece &piece) noexcept {
  for (std::uintptr_t at = piece.low; at < piece.end;) {
    const region_piece *const declared = parent.piece_at(at);
    if (!declared || declared->released)
      return {at, nullptr};
    if (declared->kind != touch::write && declared->kind != piece.kind)
      return {at, declared};
    at = declared->end;
  }
  return {piece.end, nullptr};
}

} // namespace

void report_undeclared(task &t) noexcept {
  task &parent = covering_task(*t.parent);
  if (parent.extent == 0)
    return;
  for (std::uint32_t i = 0; i < t.extent; ++i) {
    const data_access &a = t.accesses()[i];
    const data_access *declared = nullptr;
    for (std::uint32_t k = 0; k < parent.extent && !declared; ++k)
      if (parent.accesses()[k].address == a.address)
        declared = &parent.accesses()[k];
    if (declared && covers(of_parent(*declared), of_child(a)))
      continue;
    if (is_new(parent, t))
      report(parent, t, a.address, name_of(of_child(a)),
             declared ? name_of(of_parent(*declared)) : nullptr);
  }
}

void report_undeclared(const task &t, const region_scope &its) noexcept {
  const task &parent = covering_task(*t.parent);
  const domain *const d = parent.children_domain;
  if (!d || !d->regional())
    return;
  const auto &scope = static_cast<const region_scope &>(*d);
  if (scope.touches_nothing())
    return;
  for (const region_piece &piece : its.pieces()) {
    const uncovered u = find_uncovered(scope, piece);
    if (u.at < piece.end && is_new(parent, t))
      report(parent, t, reinterpret_cast<const void *>(u.at), name_of(piece),
             u.declared ? name_of(*u.declared) : nullptr);
  }
}

namespace {

/// Describes an object that a child has named, from its address on.
struct named_object {
  std::uintptr_t end;
  bool written;
  std::string label;
};
struct named_objects {
  std::map<std::uintptr_t, named_object> by_address;
  std::uintptr_t longest = 0; // of all of them
};

std::mutex g_lock;
// By the parent; guarded by the lock. Never destroyed, because tasks may outlive static
// destructors.
std::unordered_map<const task *, named_objects> *g_named = nullptr;

/// Finds an object other than the one at `low` that has bytes in common with it, where one of the
/// two is written.
auto find_overlap(const named_objects &all, std::uintptr_t low, std::uintptr_t end, bool written) {
  const auto &objects = all.by_address;
  for (auto i = objects.lower_bound(end); i != objects.begin();) {
    --i;
    if (i->first != low && i->second.end > low && (written || i->second.written))
      return i;
    if (i->first < low && low - i->first >= all.longest) // no object before this one reaches as far
      break;
  }
  return objects.end();
}

} // namespace

void report_overlaps(const task &t, const access *list, std::size_t count) noexcept try {
  const std::lock_guard guard(g_lock);
  if (!g_named)
    g_named = new std::unordered_map<const task *, named_objects>;
  named_objects &all = (*g_named)[t.parent];
  const auto is_object = [](const access &a) { return a.address && a.mode < access_mode::reduction; };
  const auto is_written = [](const access &a) {
    return a.mode != access_mode::in && a.mode != access_mode::weak_in;
  };
  for (const access *a = list; a != list + count; ++a) {
    const auto low = reinterpret_cast<std::uintptr_t>(a->address);
    if (!is_object(*a))
      continue;
    if (const auto other = find_overlap(all, low, low + a->bytes, is_written(*a));
        other != all.by_address.end() && is_new(*t.parent, t))
      warn(
          "task '%s' names %u bytes at %p, which overlap what task '%s' has named at %p: objects are ordered by their address alone, so nothing orders "
          "these; name the same object in both, or regions",
          label_of(t), a->bytes, a->address, other->second.label.c_str(),
          reinterpret_cast<const void *>(other->first));
  }
  for (const access *a = list; a != list + count; ++a) { // now, so that a task is not compared with itself
    if (!is_object(*a))
      continue;
    const auto low = reinterpret_cast<std::uintptr_t>(a->address);
    const std::uintptr_t end = low + a->bytes;
    const bool written = is_written(*a);
    all.longest = std::max(all.longest, end - low);
    const auto [at, fresh] =
        all.by_address.try_emplace(low, named_object{end, written, label_of(t)});
    at->second.end = std::max(at->second.end, end);
    at->second.written = at->second.written || written;
  }
} catch (const std::bad_alloc &) { // this call finds nothing
}

void forget_objects(const task &parent) noexcept {
  const std::lock_guard guard(g_lock);
  if (g_named)
    g_named->erase(&parent);
}

void forget_objects_in_child() noexcept {
  ::new (&g_lock) std::mutex; // a thread that is gone may hold the lock, amid a change
  ignore_leak(std::exchange(g_named, nullptr));
}

} // namespace rt
} // namespace weft::inline v0
