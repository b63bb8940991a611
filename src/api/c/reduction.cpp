// SPDX-License-Identifier: Apache-2.0
// Reductions of C: for the core a weft_reduction says how copies are combined.
#include "api/c/guard.hpp"

#include <weft/c/reduction.h>
#include <weft/reduction.hpp>

#include <cstdint>
#include <type_traits>

namespace weft::inline v0 {
namespace rt {
namespace {

const weft_reduction &of(const void *how) noexcept {
  return *static_cast<const weft_reduction *>(how);
}

bool is_same_reduction(const void *how, const void *other) noexcept {
  const weft_reduction &a = of(how), &b = of(other);
  return a.init == b.init && a.combine == b.combine && a.context == b.context;
}

// A C object may be of any type: aligned as malloc does it.
constexpr detail::reduction_ops k_c_reduction{
    alignof(std::max_align_t),
    [](void *copy, std::size_t count, const void *how) {
      of(how).init(copy, count, of(how).context);
    },
    [](void *into, const void *copy, std::size_t count, const void *how) {
      of(how).combine(into, copy, count, of(how).context);
    },
    nullptr,
    [](const void *how) -> void * { return new weft_reduction(of(how)); },
    [](void *how) noexcept { delete static_cast<weft_reduction *>(how); },
    &is_same_reduction};

template <class T, class Op>
bool set_kind(weft_reduction &reduction) noexcept {
  using kind = detail::reduction_kind<T, Op>;
  reduction.element_bytes = sizeof(T);
  reduction.init = [](void *copy, std::size_t count, void *) { kind::fill(copy, count, nullptr); };
  reduction.combine = [](void *into, const void *copy, std::size_t count, void *) {
    kind::combine(into, copy, count, nullptr);
  };
  return true;
}

/// Fills the functions of an operation. False: the operation is not for this type, or no operation
/// has that number.
template <class T>
bool set_op(weft_reduction &reduction, int op) noexcept {
  switch (op) {
  case WEFT_SUM:
    return set_kind<T, sum_op>(reduction);
  case WEFT_PRODUCT:
    return set_kind<T, product_op>(reduction);
  case WEFT_MINIMUM:
    return set_kind<T, minimum_op>(reduction);
  case WEFT_MAXIMUM:
    return set_kind<T, maximum_op>(reduction);
  case WEFT_LOGICAL_AND:
    return set_kind<T, logical_and_op>(reduction);
  case WEFT_LOGICAL_OR:
    return set_kind<T, logical_or_op>(reduction);
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
    case WEFT_BIT_AND:
      return set_kind<T, bit_and_op>(reduction);
    case WEFT_BIT_OR:
      return set_kind<T, bit_or_op>(reduction);
    case WEFT_BIT_XOR:
      return set_kind<T, bit_xor_op>(reduction);
    default:
      break;
    }
  }
  return false;
}

bool set_type(weft_reduction &reduction, int type, int op) noexcept {
  switch (type) {
  case WEFT_INT32:
    return set_op<std::int32_t>(reduction, op);
  case WEFT_UINT32:
    return set_op<std::uint32_t>(reduction, op);
  case WEFT_INT64:
    return set_op<std::int64_t>(reduction, op);
  case WEFT_UINT64:
    return set_op<std::uint64_t>(reduction, op);
  case WEFT_FLOAT:
    return set_op<float>(reduction, op);
  case WEFT_DOUBLE:
    return set_op<double>(reduction, op);
  default:
    return false;
  }
}

} // namespace

detail::reduction_spec c_reduction(const weft_reduction &reduction) noexcept {
  return {reduction.address, &k_c_reduction, reduction.count, reduction.element_bytes, &reduction};
}

} // namespace rt
} // namespace weft::inline v0

using namespace weft::rt;

int weft_reduction_builtin(weft_reduction *reduction, void *address, ptrdiff_t count, int type,
                           int op) {
  return guarded([&] {
    require(reduction, "weft_reduction_builtin", "reduction");
    *reduction = {address, count, 0, nullptr, nullptr, nullptr};
    if (!set_type(*reduction, type, op))
      throw_error(
          weft::errc::invalid_argument,
          "weft_reduction_builtin: there is no operation %d for type %d; see enum weft_reduction_op and "
          "weft_reduction_type (bit operations are for integers)",
          op, type);
  });
}

int weft_reduction_local(const void *address, size_t bytes, void **local) {
  if (local)
    *local = nullptr;
  return guarded([&] {
    require(local, "weft_reduction_local", "local");
    *local = weft::detail::reduction_copy(address, 1, bytes);
  });
}
