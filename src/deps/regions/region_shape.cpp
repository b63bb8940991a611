// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_shape.hpp"

#include "base/error.hpp"

#include <cstdio>
#include <string>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr unsigned k_most = detail::k_region_dimensions;
constexpr std::size_t k_most_runs = std::size_t{1}
                                    << 24; // each takes some 100 bytes while the task lives

const char *name_of(access_mode mode) noexcept {
  static constexpr const char *names[] = {
      "in",         "out",        "inout",       "weak_in",         "weak_out",
      "weak_inout", "concurrent", "commutative", "weak_concurrent", "weak_commutative"};
  const auto i = static_cast<std::size_t>(mode);
  return i < std::size(names) ? names[i] : "access";
}

/// Returns a text such as "inout [20;10][0;10] of [100][10] at 0x7f00", in the notation
/// [first;count].
std::string text_of(const region_access &a) {
  const region &r = a.part;
  char text[96];
  std::string all = name_of(a.mode);
  const unsigned n = r.dimensions() < k_most ? r.dimensions() : k_most;
  all += ' ';
  for (unsigned i = 0; i < n; ++i) {
    std::snprintf(text, sizeof text, "[%td;%td]", r.dimension(i).first, r.dimension(i).count);
    all += text;
  }
  all += " of ";
  for (unsigned i = 0; i < n; ++i) {
    if (r.dimension(i).extent == detail::k_unbounded)
      std::snprintf(text, sizeof text, "[]");
    else
      std::snprintf(text, sizeof text, "[%td]", r.dimension(i).extent);
    all += text;
  }
  std::snprintf(text, sizeof text, " at %p", r.address());
  return all + text;
}

/// Throws the errors about a region that is none.
class complaint {
 public:
  complaint(const region_access &a, const char *label, std::size_t place)
      : m_access(a), m_label(label), m_place(place) {}

  [[noreturn]] WEFT_COLD void about(const char *what) const {
    throw_error(errc::invalid_argument, "task '%s': region %zu (%s) %s", m_label, m_place,
                text_of(m_access).c_str(), what);
  }

 private:
  const region_access &m_access;
  const char *m_label;
  std::size_t m_place;
};

void check_counts(const region &whole, const complaint &refusal) {
  if (whole.dimensions() > k_most)
    refusal.about("has more than three dimensions; name a slice of three, or several regions");
  if (whole.dimensions() == 0)
    refusal.about("has no dimension; give at least one extent");
  if (whole.named() > whole.dimensions())
    refusal.about(
        "is given more parts than it has dimensions; call range(), span() or all() once for each");
  if (whole.stride_count() != 0 && whole.stride_count() != whole.dimensions())
    refusal.about(
        "is given strides, but not one for each dimension; the innermost one is mostly 1");
}

void check_dimension(const detail::region_dimension &dimension, bool may_be_unbounded,
                     const complaint &refusal) {
  if (dimension.extent < 0 || dimension.count < 0)
    refusal.about(
        "has a negative extent; range(a, b) goes from a to b, both included, and span(a, n) is n elements from a on");
  if (dimension.extent == detail::k_unbounded &&
      (!may_be_unbounded || dimension.count == detail::k_unbounded))
    refusal.about(
        "does not say how many elements it has, or says more than there are addresses; give the extent, or a range() or span()");
  if (dimension.first < 0 || dimension.first > dimension.extent ||
      dimension.count > dimension.extent - dimension.first)
    refusal.about(
        "reaches beyond the extents that were declared; indices begin at 0 and range() includes both ends");
  if (dimension.stride < 0)
    refusal.about("has a negative stride; begin at the other end");
}

std::size_t product(std::size_t a, std::size_t b, const complaint &refusal) {
  std::size_t p = 0;
  if (__builtin_mul_overflow(a, b, &p))
    refusal.about(
        "is wider than the address space; look for an extent or a stride that is too large");
  return p;
}
std::size_t sum(std::size_t a, std::size_t b, const complaint &refusal) {
  std::size_t s = 0;
  if (__builtin_add_overflow(a, b, &s))
    refusal.about(
        "is wider than the address space; look for an extent or a stride that is too large");
  return s;
}

/// Finds the bytes from one element of each dimension to the next.
void find_steps(const region &whole, std::size_t (&step)[k_most], const complaint &refusal) {
  std::size_t inner = whole.element_bytes();
  for (unsigned i = whole.dimensions(); i-- > 0;) {
    const detail::region_dimension &d = whole.dimension(i);
    step[i] = d.stride ? product(static_cast<std::size_t>(d.stride), whole.element_bytes(), refusal)
                       : inner;
    if (i > 0)
      inner = product(step[i], static_cast<std::size_t>(d.extent), refusal);
  }
}

} // namespace

region_shape shape_of(const region_access &a, const char *label, std::size_t place) {
  const region &r = a.part;
  region_shape shape;
  if (!r.address())
    return shape;
  const complaint c(a, label, place);
  check_counts(r, c);
  bool empty = false;
  for (unsigned i = 0; i < r.dimensions(); ++i) {
    check_dimension(r.dimension(i), i == 0, c);
    empty = empty || r.dimension(i).count == 0;
  }
  if (empty)
    return shape;
  std::size_t step[k_most];
  find_steps(r, step, c);
  shape.run = r.element_bytes();
  std::size_t offset = 0, reach = r.element_bytes();
  unsigned free = k_most;
  for (unsigned i = r.dimensions(); i-- > 0;) {
    const auto first = static_cast<std::size_t>(r.dimension(i).first),
               count = static_cast<std::size_t>(r.dimension(i).count);
    offset = sum(offset, product(first, step[i], c), c);
    reach = sum(reach, product(count - 1, step[i], c), c);
    if (free == k_most && step[i] == shape.run) // neighbours touch: one longer run
      shape.run = product(shape.run, count, c);
    else if (count > 1)
      shape.loops[--free] = {count, step[i]};
  }
  shape.first = sum(reinterpret_cast<std::uintptr_t>(r.address()), offset, c);
  static_cast<void>(sum(shape.first, reach, c));
  if (product(product(shape.loops[0].count, shape.loops[1].count, c), shape.loops[2].count, c) >
      k_most_runs)
    c.about(
        "has more than 2^24 runs of bytes with gaps between them, which is too many for one access; name the whole, or fewer parts");
  return shape;
}

} // namespace rt
} // namespace weft::inline v0
