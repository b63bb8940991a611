// SPDX-License-Identifier: Apache-2.0
// What the applications and the versions of bench/net agree about.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace net_bench {

/// Stands for data that tasks use, by its address.
using token = char;

enum class how { in, out, inout, concurrent };

/// Is the list of what one task uses, each once.
class uses {
 public:
  struct one {
    const token *what;
    how mode;
  };
  uses &in(const token &what) { return add({&what, how::in}); }
  uses &out(const token &what) { return add({&what, how::out}); }
  uses &inout(const token &what) { return add({&what, how::inout}); }
  uses &concurrent(const token &what) { return add({&what, how::concurrent}); }
  [[nodiscard]] const one *begin() const noexcept { return m_all.data(); }
  [[nodiscard]] const one *end() const noexcept { return m_all.data() + m_count; }

 private:
  uses &add(const one &added) {
    m_all.at(m_count++) = added;
    return *this;
  }
  std::array<one, 10> m_all{};
  std::size_t m_count = 0;
};

/// Says what the ranks exchange: at most `pieces` in a round to a rank, numbered at the receiver, of equal
/// size. The rounds with an exchange are 0 to `rounds - 1`: versions count what they give back by that.
struct layout {
  int pieces = 0;
  std::size_t bytes = 0;
  int rounds = 0;
};

/// Is a piece that comes in a round, and where its data go.
struct arrival {
  int piece, from;
  double *to;
  token *written;
};

} // namespace net_bench
