// SPDX-License-Identifier: Apache-2.0
#include "task/stop_relay.hpp"

#include "sync/lock_table.hpp"
#include "task/hooks.hpp"

#include <memory>
#include <utility>

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

std::stop_token stop_token_of(task &running) {
  task *const t = cancellable_from(&running);
  if (!t)
    return std::stop_token();
  task *const above = cancellable_from(t->parent);
  if (t->group && !above && !t->has_meanwhile(k_tracked))
    return t->group->stop_token();
  task_extra &x = extra_of(*t);
  const auto existing = [&x](stop_relay *fresh) {
    const sync_guard here(&x);
    return !x.relay && fresh ? x.relay = fresh : x.relay;
  };
  stop_relay *relay = existing(nullptr);
  if (!relay) {
    auto fresh = std::make_unique<stop_relay>(*t);
    const std::stop_token of_group = t->group ? t->group->stop_token() : std::stop_token(),
                          of_above = above ? stop_token_of(*above) : std::stop_token();
    relay = existing(fresh.get());
    if (relay == fresh.get()) {
      fresh.release();
      relay->group.emplace(of_group, stop_relay::request{relay});
      relay->above.emplace(of_above, stop_relay::request{relay});
      if (x.stop.load(std::memory_order_relaxed)) // it was asked for before
        relay->source.request_stop();
    }
  }
  return relay->source.get_token();
}

} // namespace rt
} // namespace weft::inline v0
