// SPDX-License-Identifier: Apache-2.0
#include "worker/throttle/throttle_policy.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

class none final : public throttle_policy {
 public:
  [[nodiscard]] throttle_marks marks(const settings &, unsigned) const override { return {}; }
  [[nodiscard]] std::int64_t level(const runtime &, std::int64_t) const override { return 0; }
};

} // namespace

const throttle_policy &throttle_none() noexcept {
  static constexpr none k_policy;
  return k_policy;
}

} // namespace rt
} // namespace weft::inline v0
