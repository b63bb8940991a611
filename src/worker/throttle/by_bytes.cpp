// SPDX-License-Identifier: Apache-2.0
#include "worker/throttle/throttle_policy.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Needs no look at the runtime: the slabs report each batch.
class by_bytes final : public throttle_policy {
 public:
  [[nodiscard]] throttle_marks marks(const settings &now, unsigned workers) const override {
    if (now.throttle_bytes == 0)
      return {};
    const std::uint64_t soft = now.throttle_soft * workers;
    const std::uint64_t lowest =
        soft != 0 ? std::min(soft, now.throttle_bytes) : now.throttle_bytes;
    return {.limit = static_cast<std::int64_t>(now.throttle_bytes),
            .lowest = static_cast<std::int64_t>(lowest)};
  }
  [[nodiscard]] std::int64_t level(const runtime &, std::int64_t live_bytes) const override {
    return live_bytes;
  }
};

} // namespace

const throttle_policy &throttle_by_bytes() noexcept {
  static constexpr by_bytes k_policy;
  return k_policy;
}

} // namespace rt
} // namespace weft::inline v0
