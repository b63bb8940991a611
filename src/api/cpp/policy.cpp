// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "observe/reading.hpp"
#include "tune/decisions.hpp"
#include "tune/in_place_types.hpp"
#include "tune/policies.hpp"

#include <weft/tune.hpp>

#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace tune {

event::event() : m_event(std::make_unique<policy_event>()) {}
event::~event() = default;
void event::fire() noexcept { rt::fire(*m_event); }

std::string_view policy_call::name() const noexcept { return m_moment->name; }
counters::snapshot policy_call::now() const { return counters::snapshot(m_moment->now); }
counters::snapshot policy_call::interval() const { return counters::snapshot(m_moment->interval); }
bool policy_call::set(std::string_view knob, std::string_view value) const {
  return set_knob_for_policy(m_moment->name, knob, value);
}

when when::every(std::chrono::nanoseconds interval) {
  when at;
  at.m_interval = interval;
  return at;
}
when when::above(std::string counter, double limit, std::chrono::nanoseconds look) {
  when at = every(look);
  at.m_counter = std::move(counter);
  at.m_limit = limit;
  return at;
}
when when::below(std::string counter, double limit, std::chrono::nanoseconds look) {
  when at = above(std::move(counter), limit, look);
  at.m_above = false;
  return at;
}
when when::at(event &happens) {
  when at;
  at.m_event = &happens;
  return at;
}

struct policy::bound {
  caller call;
  holder_base &with;
  entered_policy *entered = nullptr;
};

void policy::enter(std::string_view name, const when &moment, caller call, holder_base &with) {
  std::unique_ptr<bound, end_bound> fresh(new bound{call, with});
  policy_plan plan;
  plan.name = name;
  const auto interval = moment.m_interval.count();
  plan.period_ns = interval > 0 ? static_cast<std::uint64_t>(interval) : 0;
  plan.counter = moment.m_counter;
  plan.limit = moment.m_limit;
  plan.above = moment.m_above;
  plan.event = moment.m_event ? moment.m_event->m_event.get() : nullptr;
  plan.context = fresh.get();
  plan.call = [](void *context, const policy_moment &now) {
    const auto &to = *static_cast<bound *>(context);
    to.call(to.with, policy_call(now));
  };
  fresh->entered = enter_policy(std::move(plan));
  m_bound = std::move(fresh);
}

void policy::end_bound::operator()(bound *which) const noexcept { delete which; }
policy::~policy() {
  if (withdraw_policy(m_bound->entered))
    return;
  static_cast<void>(m_holder.release()); // a call goes on that the end of the program has given up
  static_cast<void>(m_bound.release());
}
std::uint64_t policy::calls() const noexcept { return calls_of(*m_bound->entered); }
bool policy::has_thrown() const noexcept { return rt::has_thrown(*m_bound->entered); }

std::vector<std::string> decisions() {
  std::vector<std::string> all = newest_decisions();
  for (std::string &line : in_place_lines())
    all.push_back(std::move(line));
  return all;
}

} // namespace tune
} // namespace weft::inline v0
