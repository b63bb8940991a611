// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/regions.hpp"
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/regions/regions.hpp"
#include "deps/registration.hpp"
#include "task/in_place_task.hpp"
#include "worker/runtime.hpp"

#include <weft/task.hpp>

namespace weft::inline v0 {

using namespace rt;

namespace {

task &releasing_task() {
  const worker &w = this_worker();
  if (w.in_callback || (w.current->has(detail::k_implicit) && !is_in_place(*w.current)))
    throw_error(
        errc::not_a_task,
        "release() is called by '%s', which is no task and holds no access; call it in the task itself",
        w.in_callback ? w.in_callback->name : label_of(*w.current));
  return *w.current;
}

} // namespace

namespace {

/// Returns whether the task ran in place, so that none of its accesses was entered.
bool holds_nothing(const task &t) noexcept {
  return is_in_place(t) || t.parent->has_meanwhile(detail::k_final);
}

template <class GiveUp>
void give_up_with(const task &t, GiveUp give_up) {
  ready_list ready;
  try {
    give_up(ready);
  } catch (const std::bad_alloc &) {
    enqueue_all(ready);
    throw_error(errc::out_of_resources,
                "no memory to release a region of task '%s'; lower throttle.bytes", label_of(t));
  }
  enqueue_all(ready);
}

} // namespace

void release(std::span<const access> list) {
  task &t = releasing_task();
  if (holds_nothing(t))
    return;
  for (const access &a : list)
    if (a.address && !has_access(t, a))
      throw_error(
          errc::invalid_argument,
          "task '%s' releases its access to %p, and has declared none; name it when the task is spawned",
          label_of(t), a.address);
  give_up_with(t, [&](ready_list &ready) { release_some(t, list.data(), list.size(), ready); });
}

void release(std::span<const region_access> list) {
  task &t = releasing_task();
  if (holds_nothing(t))
    return;
  detail::submission s;
  s.region_list = list.data();
  s.region_list_count = list.size();
  const checked_regions regions(s, label_of(t));
  for (std::size_t i = 0; i < regions.size(); ++i)
    regions.data()[i].shape->for_each_run([&](std::uintptr_t low, std::uintptr_t end) {
      if (!has_region(t, low, end))
        throw_error(
            errc::invalid_argument,
            "task '%s' releases region %zu, at %p, and has not declared all of it; name it when the task is spawned",
            label_of(t), i + 1, reinterpret_cast<const void *>(low));
    });
  give_up_with(t, [&](ready_list &ready) {
    for (std::size_t i = 0; i < regions.size(); ++i)
      regions.data()[i].shape->for_each_run(
          [&](std::uintptr_t low, std::uintptr_t end) { release_region(t, low, end, ready); });
  });
}

} // namespace weft::inline v0
