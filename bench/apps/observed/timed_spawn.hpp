// SPDX-License-Identifier: Apache-2.0
// Included before an application's weft.cpp (by the compiler's -include), so that its tasks measure
// how long their bodies take. The application's other programs stay unchanged.
#pragma once

#include "bodies.hpp"

#include <weft/weft.hpp>

#include <utility>

namespace weft::inline v0 {

template <class F, class... Clauses>
void timed_spawn(F f, Clauses &&...clauses) {
  const bool by_program = observed::before_spawn();
  static_cast<void>(weft::spawn(
      [f = std::move(f)]() mutable {
        const std::uint64_t began = observed::begin_body();
        f();
        observed::end_body(began);
      },
      std::forward<Clauses>(clauses)...));
  observed::after_spawn(by_program);
}

} // namespace weft::inline v0

#define spawn timed_spawn
