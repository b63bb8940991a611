// SPDX-License-Identifier: Apache-2.0
// Memory that other ranks read and write.
#pragma once

#include <weft/error.hpp>
#include <weft/net/transport.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace weft::inline v0 {
namespace net {

/// Is satisfied by types whose bytes may be copied from rank to rank.
template <class T>
concept transferable = std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t);

/// @cond
namespace detail {

struct team_state;

/// Is one registration of memory at all ranks.
class WEFT_API shared_memory {
 public:
  struct place {
    memory_key key;
    std::uint64_t bytes = 0;
  };
  enum class origin { given, fresh }; // fresh memory is zero
  shared_memory(std::shared_ptr<team_state> team, origin which, void *own, std::size_t bytes);
  shared_memory(const shared_memory &) = delete;
  shared_memory &operator=(const shared_memory &) = delete;
  ~shared_memory();

  [[nodiscard]] void *own() const noexcept { return m_own; }
  [[nodiscard]] std::size_t own_bytes() const noexcept { return m_bytes; }
  [[nodiscard]] const place &at(int rank) const; // throws for a rank that does not exist

 private:
  void register_own(origin which);
  void share_places();
  void check_places() const;

  std::shared_ptr<team_state> m_team;
  std::unique_ptr<std::byte[]> m_storage;
  void *m_own;
  std::size_t m_bytes;
  memory_key m_key;
  std::vector<place> m_places;
};

[[noreturn]] WEFT_API void throw_outside(const char *what, std::size_t first, std::size_t count,
                                         std::size_t size);

} // namespace detail
/// @endcond

/// Refers to elements in the memory of a rank. A value, which may be copied and sent.
template <transferable T>
class remote_span {
 public:
  remote_span() = default; ///< of no elements
  /// Refers to `count` elements from byte `offset` of registered memory. For layers; programs take
  /// the span of a shared_array.
  remote_span(int rank, const memory_key &key, std::uint64_t offset, std::size_t count) noexcept
      : m_rank(rank), m_key(key), m_offset(offset), m_count(count) {}

  [[nodiscard]] int rank() const noexcept { return m_rank; } ///< the rank that has the elements
  [[nodiscard]] std::size_t size() const noexcept { return m_count; } ///< the number of elements
  [[nodiscard]] bool empty() const noexcept { return m_count == 0; } ///< whether there are none
  [[nodiscard]] const memory_key &key() const noexcept { return m_key; } ///< of the memory
  [[nodiscard]] std::uint64_t offset() const noexcept { return m_offset; } ///< bytes before them

  /// Returns a part of the span.
  ///
  /// Errors. invalid_argument for elements that it does not have.
  [[nodiscard]] remote_span subspan(std::size_t first, std::size_t count) const {
    if (first > m_count || count > m_count - first)
      detail::throw_outside("a remote span", first, count, m_count);
    return {m_rank, m_key, m_offset + first * sizeof(T), count};
  }
  /// Returns the part that is one element.
  ///
  /// Errors. As subspan().
  [[nodiscard]] remote_span at(std::size_t index) const { return subspan(index, 1); }

 private:
  int m_rank = 0;
  memory_key m_key;
  std::uint64_t m_offset = 0;
  std::size_t m_count = 0;
};

/// Holds an array at each rank of a team, which all ranks read and write. It is made by
/// team::allocate() and team::share().
///
/// - Copies refer to the same arrays. With the last copy of a rank its array is no longer shared;
///   operations of other ranks on it fail then. A barrier before that keeps it until all are done.
/// - A rank reads and writes its own array like any other memory, and orders these accesses with
///   those of other ranks by notifications, barriers and the like.
template <transferable T>
class shared_array {
 public:
  shared_array() = default; ///< without arrays
  explicit shared_array(std::shared_ptr<detail::shared_memory> memory) noexcept
      : m_memory(std::move(memory)) {} ///< for the library

  /// Returns the array of this rank.
  [[nodiscard]] std::span<T> local() const noexcept {
    if (!m_memory)
      return {};
    return {static_cast<T *>(m_memory->own()), m_memory->own_bytes() / sizeof(T)};
  }
  /// Returns the array of a rank, this one included, as the operand of operations.
  ///
  /// Errors. invalid_argument for a rank that does not exist.
  [[nodiscard]] remote_span<T> on(int rank) const {
    if (!m_memory)
      detail::throw_outside("an empty shared array", 0, 0, 0);
    const auto &place = m_memory->at(rank);
    return {rank, place.key, 0, place.bytes / sizeof(T)};
  }

 private:
  std::shared_ptr<detail::shared_memory> m_memory;
};

} // namespace net
} // namespace weft::inline v0
