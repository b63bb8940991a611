// SPDX-License-Identifier: Apache-2.0
// Tasks and the second system of dependencies: which children use it, how they enter and leave.
#include "deps/regions/regions.hpp"
#include "deps/check.hpp"
#include "deps/mailbox.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/registration.hpp"
#include "deps/sharing/hooks.hpp"
#include "deps/sharing/reduction.hpp"
#include "task/destructor.hpp"
#include "task/ready.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

bool g_always = false; // setting deps.system; written before any task

region_scope &scope_of(task &t) noexcept { return static_cast<region_scope &>(*t.children_domain); }

struct meaning {
  touch kind;
  bool weak;
};

meaning meaning_of(access_mode mode) noexcept {
  switch (mode) {
  case access_mode::in:
    return {touch::read, false};
  case access_mode::weak_in:
    return {touch::read, true};
  case access_mode::concurrent:
    return {touch::concurrent, false};
  case access_mode::weak_concurrent:
    return {touch::concurrent, true};
  case access_mode::out:
  case access_mode::inout:
  case access_mode::commutative: // in the order of creation, which is one of the allowed orders
  case access_mode::reduction:   // into the object itself
    return {touch::write, false};
  case access_mode::weak_out:
  case access_mode::weak_inout:
  case access_mode::weak_commutative:
  case access_mode::weak_reduction:
    return {touch::write, true};
  }
  return {touch::write, false};
}

class filler {
 public:
  // children of a final task run in place and wait for nothing, so their parent waits for them
  explicit filler(region_scope &scope, const task &t) noexcept
      : m_scope(scope), m_task(t), m_all_strong(t.has(detail::k_final)) {}

  void objects(const access *list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto low = reinterpret_cast<std::uintptr_t>(list[i].address);
      if (low && list[i].mode >= access_mode::reduction)
        reduction(*static_cast<const detail::reduction_spec *>(list[i].address), list[i].mode);
      else if (low)
        add(low, low + list[i].bytes, list[i].mode);
    }
  }
  void regions(const region_entry *list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      list[i].shape->for_each_run(
          [&](std::uintptr_t low, std::uintptr_t end) { add(low, end, list[i].mode); });
  }
  void add(std::uintptr_t low, std::uintptr_t end, access_mode mode) {
    const meaning m = meaning_of(mode);
    m_scope.add(low, end, m.kind, m.weak && !m_all_strong);
  }

 private:
  void reduction(const detail::reduction_spec &spec, access_mode mode) {
    check_extent(m_task, spec);
    if (!spec.address || spec.count == 0)
      return;
    for (const detail::reduction_spec *other : m_reductions)
      if (other->address == spec.address)
        check_same(m_task, *other, spec);
    m_reductions.push_back(&spec);
    const auto low = reinterpret_cast<std::uintptr_t>(spec.address);
    add(low, low + static_cast<std::size_t>(spec.count) * spec.bytes, mode);
  }

  region_scope &m_scope;
  const task &m_task;
  std::vector<const detail::reduction_spec *> m_reductions{};
  bool m_all_strong;
};

/// Enters the task with what `fill` adds.
template <class Fill>
bool enter_filled(task &t, Fill fill) {
  task &parent = *t.parent;
  region_scope &parents = parent.children_domain ? scope_of(parent) : begin_regions(parent);
  const tree_guard guard(parents.tree());
  region_scope &mine = region_scope::take(parents.tree(), t);
  t.children_domain = &mine;
  try {
    fill(filler(mine, t));
    mine.sort_pieces();
    if (mailbox::checks()) [[unlikely]]
      report_undeclared(t, mine);
    if (!mine.touches_nothing())
      return mine.enter(parents);
  } catch (...) {
    t.children_domain = nullptr;
    mine.abandon();
    throw;
  }
  t.children_domain = nullptr;
  mine.abandon();
  return true;
}

} // namespace

void use_regions(bool on) noexcept { g_always = on; }

bool all_are_regions() noexcept { return g_always; }

bool orders_regions(const task &parent) noexcept {
  return parent.children_domain ? parent.children_domain->regional() : g_always;
}

region_scope &begin_regions(task &parent) {
  refuse_accesses_when_over(parent);
  auto *tree = new region_tree;
  try {
    region_scope &scope = region_scope::take(*tree, parent);
    scope.addresses_before = parent.children_domain;
    parent.children_domain = &scope;
    return scope;
  } catch (...) {
    delete tree;
    throw;
  }
}

bool enter_regions(task &t, const access *first, std::size_t first_count, const access *second,
                   std::size_t second_count, const region_entry *regions,
                   std::size_t region_count) {
  return enter_filled(t, [&](filler &&fill) {
    fill.objects(first, first_count);
    fill.objects(second, second_count);
    fill.regions(regions, region_count);
  });
}

bool enter_run(task &t, const region_run &run) {
  task &parent = *t.parent;
  region_scope &parents = scope_of(parent);
  const tree_guard guard(parents.tree());
  region_scope &mine = region_scope::take(parents.tree(), t);
  t.children_domain = &mine;
  try {
    const meaning m =
        run.mode == access_mode::inout ? meaning{touch::write, false} : meaning_of(run.mode);
    mine.add(run.low, run.end, m.kind, m.weak && !t.has(detail::k_final));
    return mine.enter_exactly(parents) ? !mine.waits() : mine.enter(parents);
  } catch (...) {
    t.children_domain = nullptr;
    mine.abandon();
    throw;
  }
}

void enter_everything(task &t) {
  static_cast<void>(enter_filled(t, [](filler &&f) { f.add(1, UINTPTR_MAX, access_mode::inout); }));
}

bool writes_region(const task &t, const void *address, std::size_t bytes) noexcept {
  if (!t.children_domain || !t.children_domain->regional())
    return false;
  const auto low = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<const region_scope *>(t.children_domain)->writes(low, low + bytes);
}

bool has_region(const task &t, std::uintptr_t low, std::uintptr_t end) noexcept {
  return t.children_domain && t.children_domain->regional() &&
         static_cast<const region_scope *>(t.children_domain)->covers(low, end);
}

void release_region(task &t, std::uintptr_t low, std::uintptr_t end, ready_list &ready) {
  region_scope &scope = scope_of(t);
  const tree_guard guard(scope.tree());
  scope.give_up(low, end, ready);
}

void release_regions(task &t, ready_list &ready) {
  region_scope &scope = scope_of(t);
  t.children_domain = scope.addresses_before;
  const tree_guard guard(scope.tree());
  scope.end(ready);
}

void prune_regions(task &parent) noexcept {
  region_scope &scope = scope_of(parent);
  const tree_guard guard(scope.tree());
  scope.prune();
  if (g_always || !scope.is_idle_root())
    return;
  parent.children_domain = scope.addresses_before;
  ready_list none;
  scope.end(none);
}

} // namespace rt
} // namespace weft::inline v0
