// SPDX-License-Identifier: Apache-2.0
#include "sched/policy.hpp"

#include "config/settings.hpp"
#include "sched/policies.hpp"

namespace weft::inline v0 {
namespace rt {

std::unique_ptr<policy> make_policy(const settings &chosen, const machine &host, unsigned workers,
                                    unsigned slots) {
  switch (chosen.sched_policy) {
  case policy_kind::stealing:
    return make_stealing(slots);
  case policy_kind::delegated:
    return make_delegated(chosen, host, workers, slots);
  case policy_kind::local_fifo:
    return make_local_fifo(chosen, host, slots);
  case policy_kind::central:
    return make_central();
  case policy_kind::seeded:
    return make_seeded(static_cast<std::uint64_t>(chosen.sched_seed));
  }
  return make_stealing(slots);
}

} // namespace rt
} // namespace weft::inline v0
