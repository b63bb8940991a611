// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <memory>

/// Is a list that one thread lengthens while others use elements that they know to exist: no
/// element ever moves.
template <class T>
class pool {
 public:
  [[nodiscard]] std::size_t size() const { return m_size; }

  T &operator[](std::size_t i) const {
    const std::size_t chunk = chunk_of(i);
    return m_chunks[chunk][i - start_of(chunk)];
  }

  T &append() {
    const std::size_t chunk = chunk_of(m_size);
    if (!m_chunks[chunk])
      m_chunks[chunk] = std::make_unique<T[]>(start_of(chunk + 1) - start_of(chunk));
    return (*this)[m_size++];
  }

 private:
  // Each chunk is as long as all before it and one more.
  static std::size_t chunk_of(std::size_t i) {
    return static_cast<std::size_t>(std::bit_width(i + 1)) - 1;
  }
  static std::size_t start_of(std::size_t chunk) { return (std::size_t{1} << chunk) - 1; }

  std::unique_ptr<T[]> m_chunks[48];
  std::size_t m_size = 0;
};
