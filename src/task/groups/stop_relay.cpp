// SPDX-License-Identifier: Apache-2.0
#include "task/groups/stop_relay.hpp"

#include "sync/lock_table.hpp"
#include "task/hooks.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

using namespace detail;

namespace {

/// Returns the nearest task, from this one on, that a group or a future can cancel; null: none.
task *cancellable_from(task *t) noexcept {
  while (t && !t->group && !t->has_meanwhile(k_tracked))
    t = t->parent;
  return t;
}

} // namespace

void stop_relay::run(call_record *self) noexcept {
  auto &relay = *static_cast<stop_relay *>(self);
  relay.source.request_stop();
  drop_references(*relay.of, 1);
}

void ask_to_stop(task &t, task_extra &extra) noexcept {
  stop_relay *relay = nullptr;
  {
    const sync_guard here(&extra);
    extra.stop.store(true, std::memory_order_relaxed); // a hint, as that of a group is
    relay = extra.relay;
    if (!relay || std::exchange(relay->posted, true))
      return;
  }
  t.references.fetch_add(1, std::memory_order_relaxed); // O2 of countdown.hpp: of the record
  enqueue_ready(*relay);
}

namespace {

/// Returns the relay of a task, which is `fresh` if that is given and there is none.
stop_relay *relay_of(task_extra &extra, stop_relay *fresh) noexcept {
  const sync_guard here(&extra);
  return !extra.relay && fresh ? extra.relay = fresh : extra.relay;
}

/// Returns the token of a task, which gets a relay if it has none. `of_above`: the token of the task
/// above it.
std::stop_token token_below(task &t, const std::stop_token &of_above) {
  task_extra &x = extra_of(t);
  auto fresh = std::make_unique<stop_relay>(t);
  const std::stop_token of_group = t.group ? t.group->stop_token() : std::stop_token();
  stop_relay *const relay = relay_of(x, fresh.get());
  if (relay == fresh.get()) {
    fresh.release();
    relay->group.emplace(of_group, stop_relay::request{relay});
    relay->above.emplace(of_above, stop_relay::request{relay});
    if (x.stop.load(std::memory_order_relaxed)) // it was asked for before
      relay->source.request_stop();
  }
  return relay->source.get_token();
}

} // namespace

std::stop_token stop_token_of(task &running) {
  std::vector<task *> without; // the innermost first; there may be very many
  std::stop_token token;
  for (task *t = cancellable_from(&running), *above = nullptr; t; t = above) {
    above = cancellable_from(t->parent);
    if (t->group && !above && !t->has_meanwhile(k_tracked)) {
      token = t->group->stop_token();
      break;
    }
    if (stop_relay *const relay = relay_of(extra_of(*t), nullptr)) {
      token = relay->source.get_token();
      break;
    }
    without.push_back(t);
  }
  for (; !without.empty(); without.pop_back())
    token = token_below(*without.back(), token);
  return token;
}

} // namespace rt
} // namespace weft::inline v0
