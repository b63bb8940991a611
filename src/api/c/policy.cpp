// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"
#include "observe/views.hpp"
#include "tune/policies.hpp"

#include <weft/c/tune.h>

using namespace weft::rt;

struct weft_tuning_policy {
  weft_policy_function *function;
  void *context;
  entered_policy *entered;
};
struct weft_policy_call {
  const policy_moment &moment;
};

namespace {

policy_event *event_of(weft_event *event) noexcept {
  return reinterpret_cast<policy_event *>(event);
}

void call_function(void *context, const policy_moment &moment) {
  const auto &self = *static_cast<weft_tuning_policy *>(context);
  const weft_policy_call lent{moment};
  if (const int code = self.function(&lent, self.context))
    throw_error(weft::errc::invalid_argument, "its function has returned %d", code);
}

void enter(const char *function, policy_plan plan, weft_policy_function *body, void *context,
           weft_tuning_policy **policy) {
  require_body(body, function);
  require(policy, function, "policy");
  auto fresh = std::make_unique<weft_tuning_policy>(weft_tuning_policy{body, context, nullptr});
  plan.call = &call_function;
  plan.context = fresh.get();
  fresh->entered = enter_policy(std::move(plan));
  *policy = fresh.release();
}

} // namespace

int weft_policy_every(const char *name, uint64_t period_ns, weft_policy_function *function,
                      void *context, weft_tuning_policy **policy) {
  return guarded([&] {
    require(name, "weft_policy_every", "name");
    policy_plan plan;
    plan.name = name;
    plan.period_ns = period_ns;
    enter("weft_policy_every", std::move(plan), function, context, policy);
  });
}

int weft_policy_threshold(const char *name, const char *counter, double limit, int above,
                          uint64_t period_ns, weft_policy_function *function, void *context,
                          weft_tuning_policy **policy) {
  return guarded([&] {
    require(name, "weft_policy_threshold", "name");
    require(counter, "weft_policy_threshold", "counter");
    policy_plan plan;
    plan.name = name;
    plan.period_ns = period_ns;
    plan.counter = counter;
    plan.limit = limit;
    plan.above = above != 0;
    enter("weft_policy_threshold", std::move(plan), function, context, policy);
  });
}

int weft_policy_at(const char *name, weft_event *event, weft_policy_function *function,
                   void *context, weft_tuning_policy **policy) {
  return guarded([&] {
    require(name, "weft_policy_at", "name");
    require(event, "weft_policy_at", "event");
    policy_plan plan;
    plan.name = name;
    plan.event = event_of(event);
    enter("weft_policy_at", std::move(plan), function, context, policy);
  });
}

void weft_policy_end(weft_tuning_policy *policy) {
  if (!policy)
    return;
  if (withdraw_policy(policy->entered)) // otherwise a call goes on that has been given up
    delete policy;
}

int weft_policy_set(const weft_policy_call *call, const char *knob, const char *value, int *kept) {
  return guarded([&] {
    require(call, "weft_policy_set", "call");
    require(knob, "weft_policy_set", "knob");
    require(value, "weft_policy_set", "value");
    const bool is_set = set_knob_for_policy(call->moment.name, knob, value);
    if (kept)
      *kept = is_set;
  });
}

int weft_policy_read(const weft_policy_call *call, const char *counter, int interval,
                     double *value) {
  return guarded([&] {
    require(call, "weft_policy_read", "call");
    require(counter, "weft_policy_read", "counter");
    require(value, "weft_policy_read", "value");
    *value = value_of(interval ? *call->moment.interval : *call->moment.now,
                      parse_counter_name(counter));
  });
}

int weft_event_make(weft_event **event) {
  return guarded([&] {
    require(event, "weft_event_make", "event");
    *event = reinterpret_cast<weft_event *>(new policy_event);
  });
}
void weft_event_destroy(weft_event *event) { delete event_of(event); }
void weft_event_fire(weft_event *event) {
  if (event)
    fire(*event_of(event));
}
