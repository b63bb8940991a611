// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "deps/access.hpp"
#include "worker/runtime.hpp"

#include <weft/task.hpp>

namespace weft::inline v0 {

using namespace rt;

namespace {

task &releasing_task() {
  const worker &w = this_worker();
  if (w.in_callback || w.current->has(detail::k_implicit))
    throw_error(errc::not_a_task, "release() is called by '%s', which is no task and holds no access; call it in the task itself",
                w.in_callback ? w.in_callback->name : label_of(*w.current));
  return *w.current;
}

} // namespace

void release(std::span<const access> list) {
  task &t = releasing_task();
  if (t.parent->has_meanwhile(detail::k_final)) // it ran in place, and none of its accesses was entered
    return;
  for (const access &a : list)
    if (a.address && !has_access(t, a.address))
      throw_error(errc::invalid_argument, "task '%s' releases its access to %p, and has declared none; name it when the task is spawned",
                  label_of(t), a.address);
  ready_list ready;
  release_some(t, list.data(), list.size(), ready);
  enqueue_all(ready);
}

} // namespace weft::inline v0
