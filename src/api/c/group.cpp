// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"

#include <algorithm>

using namespace weft::rt;

static_assert(WEFT_POLICY_FIRST_CANCELS ==
                  static_cast<int>(weft::exception_policy::first_cancels) &&
              WEFT_POLICY_COLLECT_ALL == static_cast<int>(weft::exception_policy::collect_all) &&
              WEFT_POLICY_TERMINATE == static_cast<int>(weft::exception_policy::terminate) &&
              WEFT_POLICY_BY_SETTING == static_cast<int>(weft::exception_policy::by_setting));

int weft_group_create(int policy, weft_group **group) {
  if (group)
    *group = nullptr;
  return guarded([&] {
    require(group, "weft_group_create", "group");
    if (policy < WEFT_POLICY_FIRST_CANCELS || policy > WEFT_POLICY_BY_SETTING)
      throw_error(
          weft::errc::invalid_argument,
          "weft_group_create: the policy is %d; it must be one of enum weft_policy (0 to %d)",
          policy, static_cast<int>(WEFT_POLICY_BY_SETTING));
    *group = new weft_group(static_cast<weft::exception_policy>(policy));
  });
}

namespace {

/// Keeps the failure that `wait()` gives, for weft_group_failures().
template <class Wait>
int wait_for(weft_group *group, const char *function, int *code, Wait wait) {
  return guarded_code(code, [&] {
    require(group, function, "group");
    group->failure = nullptr;
    try {
      wait();
    } catch (...) {
      group->failure = std::current_exception();
      throw;
    }
  });
}

} // namespace

int weft_group_wait(weft_group *group, int *code) {
  return wait_for(group, "weft_group_wait", code, [&] { group->group.wait(); });
}

int weft_group_wait_for(weft_group *group, int64_t ns, int *code) {
  bool complete = false;
  const int status = wait_for(group, "weft_group_wait_for", code, [&] {
    complete = group->group.wait_for(std::chrono::nanoseconds(ns));
  });
  return status != WEFT_OK || complete
             ? status
             : report(WEFT_ERR_TIMED_OUT, "weft_group_wait_for: tasks are left at the end of the time");
}

int weft_group_failures(const weft_group *group, int *codes, size_t capacity, size_t *count) {
  return guarded([&] {
    require(group, "weft_group_failures", "group");
    require(count, "weft_group_failures", "count");
    if (capacity > 0)
      require(codes, "weft_group_failures", "codes");
    *count = 0;
    if (!group->failure)
      return;
    try {
      std::rethrow_exception(group->failure);
    } catch (const weft::exception_list &list) {
      *count = list.size();
      for (size_t i = 0; i < std::min(capacity, list.size()); ++i) {
        try {
          std::rethrow_exception(list[i]);
        } catch (...) {
          codes[i] = code_of_current_exception();
        }
      }
    } catch (...) {
      *count = 1;
      if (capacity > 0)
        codes[0] = code_of_current_exception();
    }
  });
}

int weft_group_cancel(weft_group *group) {
  return guarded([&] {
    require(group, "weft_group_cancel", "group");
    group->group.cancel();
  });
}

int weft_group_cancelled(const weft_group *group) {
  int cancelled = 0;
  const int status = guarded([&] {
    require(group, "weft_group_cancelled", "group");
    cancelled = group->group.cancelled() ? 1 : 0;
  });
  return status == WEFT_OK ? cancelled : status;
}

int weft_group_destroy(weft_group *group) {
  return guarded([&] { delete group; });
}
