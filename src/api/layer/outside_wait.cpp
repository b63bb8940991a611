// SPDX-License-Identifier: Apache-2.0
#include <weft/layer/outside_wait.hpp>

#include "diagnose/outside.hpp"

#include <weft/error.hpp>

#include <new>

namespace weft::inline v0 {
namespace layer {

void outside_waits::announce() try {
  rt::add_outside_waits(this, [](void *source, std::vector<outside_wait> &to) {
    static_cast<outside_waits *>(source)->list_waits(to);
  });
} catch (const std::bad_alloc &) {
  throw error(errc::out_of_resources, "no memory to tell the watcher what tasks wait for");
}

void outside_waits::withdraw() noexcept { rt::remove_outside_waits(this); }

} // namespace layer
} // namespace weft::inline v0
