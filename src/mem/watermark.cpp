// SPDX-License-Identifier: Apache-2.0
#include "mem/watermark.hpp"

#include "arch/sanitizer.hpp"
#include "base/log.hpp"
#include "mem/stack_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_pattern = 0x5746'7461'7465'6b6du;

struct mark {
  std::string name;
  std::size_t most = 0;
  std::uint64_t runs = 0;
};

struct marks {
  std::mutex mutex; // guards the rest
  std::vector<mark> all;
  std::uint64_t forgotten = 0; // runs for whose note no memory was left
  std::size_t deepest = 0;
  std::size_t deepest_of = 0;
};

marks &the_marks() noexcept {
  alignas(marks) static unsigned char
      storage[sizeof(marks)]; // never destroyed: tasks may outlive static objects
  static marks *const made = ::new (static_cast<void *>(storage)) marks;
  return *made;
}

/// Returns the lowest word of [low, to) that has lost the pattern. Volatile: the compiler must
/// neither call functions here, which would write on the memory that is read, nor reason about
/// memory below the stack pointer.
WEFT_UNINSTRUMENTED const char *first_touched(const char *low, const char *to) noexcept {
  const volatile std::uint64_t *at = reinterpret_cast<const volatile std::uint64_t *>(low);
  while (reinterpret_cast<const char *>(const_cast<const std::uint64_t *>(at)) < to &&
         *at == k_pattern)
    ++at;
  return reinterpret_cast<const char *>(const_cast<const std::uint64_t *>(at));
}

WEFT_UNINSTRUMENTED void fill(const char *low, const char *to) noexcept {
  for (auto at = reinterpret_cast<std::uintptr_t>(low); at < reinterpret_cast<std::uintptr_t>(to);
       at += sizeof k_pattern)
    *reinterpret_cast<volatile std::uint64_t *>(at) = k_pattern;
}

} // namespace

WEFT_UNINSTRUMENTED WEFT_NOINLINE void watermark::begin(const char *low,
                                                        watermark *&innermost) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  m_low = reinterpret_cast<const char *>((reinterpret_cast<std::uintptr_t>(low) + 7) &
                                         ~std::uintptr_t{7});
  m_from = reinterpret_cast<const char *>((here - k_least) & ~std::uintptr_t{7});
  m_deepest = m_from;
  m_outer = innermost;
  const char *touched = first_touched(m_low, m_from);
  if (m_outer)
    m_outer->note(touched);
  fill(touched, m_from);
  innermost = this;
}

WEFT_UNINSTRUMENTED WEFT_NOINLINE std::size_t watermark::end(watermark *&innermost) noexcept {
  note(first_touched(m_low, m_from));
  if (m_outer)
    m_outer->note(m_deepest);
  innermost = m_outer;
  return static_cast<std::size_t>(m_from - m_deepest) + k_least;
}

void note_watermark(std::string_view name, std::size_t bytes) noexcept {
  marks &m = the_marks();
  std::lock_guard lock(m.mutex);
  auto at =
      std::find_if(m.all.begin(), m.all.end(), [&](const mark &each) { return each.name == name; });
  try {
    if (at == m.all.end())
      at = m.all.insert(at, mark{std::string(name)});
    at->most = std::max(at->most, bytes);
    ++at->runs;
  } catch (const std::bad_alloc &) {
    ++m.forgotten;
  }
}

void note_stack_depth(std::size_t bytes, std::size_t of_bytes) noexcept {
  marks &m = the_marks();
  std::lock_guard lock(m.mutex);
  if (bytes <= m.deepest)
    return;
  m.deepest = bytes;
  m.deepest_of = of_bytes;
}

void report_watermarks() noexcept {
  marks &m = the_marks();
  std::lock_guard lock(m.mutex);
  if (m.all.empty() && m.forgotten == 0)
    return;
  std::sort(m.all.begin(), m.all.end(),
            [](const mark &a, const mark &b) { return a.most > b.most; });
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  for (const mark &each : m.all) {
    signal_safe_line line;
    line.text("weft: stack.watermark: task '")
        .text(std::string_view(each.name).substr(0, 400))
        .text("' used at most ")
        .decimal(number(each.most))
        .text(" bytes in ")
        .decimal(number(each.runs))
        .text(" runs");
    if (each.most > configured_stack_bytes())
      line.text(", on a thread's own stack; one of Weft's would overflow (stack.bytes is ")
          .decimal(number(configured_stack_bytes()))
          .text(")");
    line.write();
  }
  if (m.deepest != 0)
    signal_safe_line()
        .text("weft: stack.watermark: the deepest stack used ")
        .decimal(number(m.deepest))
        .text(" of ")
        .decimal(number(m.deepest_of))
        .text(" bytes")
        .write();
  if (m.forgotten != 0)
    signal_safe_line()
        .text("weft: stack.watermark: no memory to note ")
        .decimal(number(m.forgotten))
        .text(" more runs")
        .write();
  m.all.clear();
  m.deepest = 0;
  m.forgotten = 0;
}

} // namespace rt
} // namespace weft::inline v0
