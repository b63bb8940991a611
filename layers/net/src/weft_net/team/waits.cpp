// SPDX-License-Identifier: Apache-2.0
// What a rank waits for, for the report of a stall.
#include "weft_net/team/state.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <sched.h>

namespace weft::inline v0 {
namespace net::detail {

std::string team_state::waits() {
  std::string text;
  const std::lock_guard guard(lock);
  for (const auto &[id, n] : notifications) {
    std::uint64_t before = n.come; // of what has come, what is left for a waiter
    for (const expected &e : n.waiting) {
      const std::uint64_t come = std::min(before, e.count);
      before -= come;
      text +=
          "waits for notification " + std::to_string(id) + ", of which " + std::to_string(come) +
          " of " + std::to_string(e.count) + " have come; " +
          (e.from == any_rank ? "any rank may send it" : "it comes from " + name_of_rank(e.from)) +
          "\n";
    }
  }
  if (receiving) {
    const auto &[number, step, from] = receiving->name;
    text += std::string("waits in ") + receiving->call + ", its collective call " +
            std::to_string(number) + ", for a message from " + name_of_rank(from) + "; " +
            std::to_string(early.size()) + " of others have come early\n";
  }
  for (int r = 0; r < ranks; ++r) {
    const std::int64_t left = queues[static_cast<std::size_t>(r)].left();
    if (left == places)
      continue;
    text += "waits for " + std::to_string(places - std::max<std::int64_t>(left, 0)) +
            " operations to " + name_of_rank(r) + " to end";
    if (left < 0)
      text += ", and " + std::to_string(-left) + " tasks for places in the queue to it (net.queue)";
    text += "\n";
  }
  return text;
}

namespace {

/// Tries again for a moment: another thread holds a lock for moments, unless it is stopped.
template <class Try>
bool in_some_tries(Try &&try_once) {
  constexpr int k_tries = 100;
  for (int tries = 0; !try_once(); ++tries) {
    if (tries == k_tries)
      return false;
    sched_yield();
  }
  return true;
}

} // namespace

/// Says what tasks wait for, to the watcher. It looks at no tasks while services exist, so the waits of tasks have the
/// task's name. What is in a list still waits, because it leaves its list, by the list's lock, before it goes on.
void team_state::list_waits(std::vector<layer::outside_wait> &to) {
  const auto list_started = [&](const weft_net::started &one) {
    to.push_back(
        {one.ends().waiter(),
         weft_net::name_of(one.what(), one.bytes()) + " from " + who() + " that has not ended, to",
         name_of_rank(one.rank()), one.ends().name_of_waiter()});
  };
  in_some_tries([&] { return all_started.try_visit(list_started); });
  for (int r = 0; r < ranks; ++r) {
    const auto list_queued = [&](const weft_net::queued_caller &one) {
      to.push_back({layer::waiter_of(one.has_place),
                    "a place in the queue (net.queue) from " + who() + " to", name_of_rank(r),
                    one.name});
    };
    in_some_tries([&] { return queues[static_cast<std::size_t>(r)].try_visit(list_queued); });
  }
  std::unique_lock guard(lock, std::defer_lock);
  if (!in_some_tries([&guard] { return guard.try_lock(); }))
    return;
  for (const auto &[id, n] : notifications) {
    std::uint64_t before = n.come;
    for (const expected &e : n.waiting) {
      const std::uint64_t come = std::min(before, e.count);
      before -= come;
      to.push_back({e.ends.waiter(),
                    "notification " + std::to_string(id) + " at " + who() + ", of which " +
                        std::to_string(come) + " of " + std::to_string(e.count) +
                        " have come, from",
                    e.from == any_rank ? "any rank of the team" : name_of_rank(e.from),
                    e.name.empty() ? e.ends.name_of_waiter() : e.name});
    }
  }
  if (receiving)
    list_call(to);
}

} // namespace net::detail
} // namespace weft::inline v0
