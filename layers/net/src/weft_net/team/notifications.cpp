// SPDX-License-Identifier: Apache-2.0
#include "weft_net/team/state.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace weft::inline v0 {
namespace net {
namespace detail {

/// Returns what there is of a number. Those of which nothing is left, and without a waiter, are forgotten
/// whenever there are twice as many numbers as after the last time: a program may use each once. With the lock.
team_state::notification &team_state::notification_of(std::uint32_t id) {
  if (notifications.size() >= most_notifications) {
    std::erase_if(notifications, [](const auto &one) {
      return one.second.come == 0 && one.second.waiting.empty();
    });
    most_notifications = std::max(k_least_notifications, 2 * notifications.size());
  }
  return notifications[id];
}

/// Takes notifications that have come. Returns whether there were enough. With the lock.
bool team_state::take_notifications(std::uint32_t id, std::uint64_t count) {
  notification &n = notification_of(id);
  if (!n.waiting.empty() || n.come < count)
    return false;
  n.come -= count;
  return true;
}

/// Returns the lost rank because of which no notification may come; any_rank if there is none. With
/// the lock.
int team_state::missing(int from) const {
  if (is_gone[static_cast<std::size_t>(own_rank)])
    return own_rank;
  if (from == any_rank)
    return first_lost;
  return is_gone[static_cast<std::size_t>(from)] ? from : any_rank;
}

std::exception_ptr team_state::no_notification(int gone, std::uint32_t id) const {
  return loss(gone,
              "notification " + std::to_string(id) + " that " + who() + " waits for may not come");
}

void team_state::expect(std::uint32_t id, std::uint64_t count, int from,
                        weft_net::completion &&ends, std::string name) {
  try {
    check_process();
  } catch (...) {
    ends.cancel();
    throw;
  }
  if (weft::layer::traces_messages()) [[unlikely]]
    trace.note(weft::layer::message_step::awaited, from, id, 0, count, "notification");
  std::unique_lock guard(lock);
  if (!take_notifications(id, count)) {
    guard.unlock();
    try {
      below->begin_wait();
    } catch (...) {
      ends.cancel();
      throw;
    }
    guard.lock(); // some may have come meanwhile
    const bool have_come = take_notifications(id, count);
    const int gone = have_come ? any_rank : missing(from);
    if (!have_come && gone == any_rank) {
      notification_of(id).waiting.push_back({count, from, std::move(ends), std::move(name)});
      return;
    }
    below->end_wait();
    if (gone != any_rank) {
      guard.unlock();
      return ends.fail(no_notification(gone, id));
    }
  }
  guard.unlock();
  ends.succeed(0);
}

void team_state::notified(int from, std::uint32_t id, std::uint64_t count) noexcept {
  note_arrival();
  if (weft::layer::traces_messages()) [[unlikely]]
    trace.note(weft::layer::message_step::arrived, from, id, 0, 0, "notification");
  std::deque<weft_net::completion> ready;
  {
    const std::lock_guard guard(lock);
    notification &n = notification_of(id);
    n.come += count;
    while (!n.waiting.empty() && n.come >= n.waiting.front().count) {
      n.come -= n.waiting.front().count;
      ready.push_back(std::move(n.waiting.front().ends));
      n.waiting.pop_front();
    }
  }
  for (auto &ends : ready) {
    ends.succeed(0);
    below->end_wait();
  }
}

} // namespace detail

void team::expect(std::uint32_t id, std::uint64_t count, int from) {
  if (from != any_rank)
    static_cast<void>(m_state->checked(from));
  m_state->expect(id, count, from, weft_net::completion::of_running_task("expect"));
}

future<void> team::async_expect(std::uint32_t id, std::uint64_t count, int from) {
  m_state->check_process(); // before a promise starts Weft in the child
  if (from != any_rank)
    static_cast<void>(m_state->checked(from));
  promise<void> p;
  future<void> result = p.get_future();
  m_state->expect(id, count, from, weft_net::completion(std::move(p)));
  return result;
}

void team::wait_notified(std::uint32_t id, std::uint64_t count, int from) {
  m_state->check_process(); // before a promise starts Weft in the child
  if (from != any_rank)
    static_cast<void>(m_state->checked(from));
  promise<void> p;
  future<void> result = p.get_future();
  m_state->expect(id, count, from, weft_net::completion(std::move(p)), weft_net::name_of_caller());
  result.get();
}

} // namespace net
} // namespace weft::inline v0
