// SPDX-License-Identifier: Apache-2.0
// How deep stacks get (setting stack.watermark): a watermark fills the memory below a frame with a
// pattern, and later finds the lowest place that has lost the pattern.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// Measures once, from the frame that begins it downwards. Lives on the stack that it measures, or
/// on one above. Watermarks of one stack nest, and each is at least as deep as those inside of it.
class watermark {
 public:
  /// Fills everything from `low` on that was touched before.
  void begin(const char *low, watermark *&innermost) noexcept;
  /// Returns the bytes that have been used below the beginning, in steps of a word; k_least means
  /// that many or fewer.
  std::size_t end(watermark *&innermost) noexcept;
  [[nodiscard]] const char *deepest() const noexcept { return m_deepest; }

  static constexpr std::size_t k_least = 512; // of the functions that measure

 private:
  void note(const char *place) noexcept {
    if (place < m_deepest)
      m_deepest = place;
  }
  const char *m_low = nullptr;
  const char *m_from = nullptr;
  const char *m_deepest = nullptr;
  watermark *m_outer = nullptr;
};

/// Keeps the largest depth of each name.
void note_watermark(std::string_view name, std::size_t bytes) noexcept;
/// Keeps the largest depth of a stack as a whole.
void note_stack_depth(std::size_t bytes, std::size_t of_bytes) noexcept;
/// Prints on standard error what was noted, and forgets it.
void report_watermarks() noexcept;

} // namespace rt
} // namespace weft::inline v0
