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

void stop_detour::run(call_record *self) noexcept {
  const std::unique_ptr<stop_detour> posted(static_cast<stop_detour *>(self));
  posted->source.request_stop();
}

void stop_relay::pass_on() noexcept {
  std::unique_ptr<stop_detour> other;
  {
    const sync_guard here(this); // a group and the task above may ask at once
    other = std::move(detour);
  }
  if (!other || !post_while_started(*other))
    source.request_stop();
  else
    static_cast<void>(other.release()); // it deletes itself
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

/// Returns the relay of a task, which gets one if it has none. `of_above`: the token of the task above it, which is
/// below so many relays.
stop_relay &relay_below(task &t, const std::stop_token &of_above, unsigned relays) {
  task_extra &x = extra_of(t);
  auto fresh = std::make_unique<stop_relay>(t, relays);
  const std::stop_token of_group = t.group ? t.group->stop_token() : std::stop_token();
  stop_relay *const relay = relay_of(x, fresh.get());
  if (relay == fresh.get()) {
    fresh.release();
    relay->group.emplace(of_group, stop_relay::request{relay});
    relay->above.emplace(of_above, stop_relay::request{relay});
    if (x.stop.load(std::memory_order_relaxed)) // it was asked for before
      relay->source.request_stop();
  }
  return *relay;
}

} // namespace

std::stop_token stop_token_of(task &running) {
  std::vector<task *> without; // the innermost first; there may be very many
  std::stop_token token;
  unsigned relays = 0; // above the next one
  for (task *t = cancellable_from(&running), *above = nullptr; t; t = above) {
    above = cancellable_from(t->parent);
    if (t->group && !above && !t->has_meanwhile(k_tracked)) {
      token = t->group->stop_token();
      break;
    }
    if (stop_relay *const relay = relay_of(extra_of(*t), nullptr)) {
      token = relay->source.get_token();
      relays = relay->depth + 1;
      break;
    }
    without.push_back(t);
  }
  for (; !without.empty(); without.pop_back()) {
    stop_relay &relay = relay_below(*without.back(), token, relays);
    token = relay.source.get_token();
    relays = relay.depth + 1;
  }
  return token;
}

} // namespace rt
} // namespace weft::inline v0
