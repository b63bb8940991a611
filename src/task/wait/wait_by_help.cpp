// SPDX-License-Identifier: Apache-2.0
#include "task/wait/wait_policy.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

class by_help final : public wait_policy {
 public:
  [[nodiscard]] bool helps(std::uint32_t) const override { return true; }
  [[nodiscard]] bool sleeps() const override { return false; }
};

} // namespace

const wait_policy &wait_by_help() noexcept {
  static constexpr by_help k_policy;
  return k_policy;
}

} // namespace rt
} // namespace weft::inline v0
