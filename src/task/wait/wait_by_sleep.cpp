// SPDX-License-Identifier: Apache-2.0
#include "task/wait/wait_policy.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

class by_sleep final : public wait_policy {
 public:
  [[nodiscard]] bool helps(std::uint32_t) const override { return false; }
  [[nodiscard]] bool sleeps() const override { return true; }
};

} // namespace

const wait_policy &wait_by_sleep() noexcept {
  static constexpr by_sleep k_policy;
  return k_policy;
}

} // namespace rt
} // namespace weft::inline v0
