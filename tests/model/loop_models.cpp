// SPDX-License-Identifier: Apache-2.0
// Models of src/task/chunk_counter.hpp: every chunk is handed out once; after a close only those
// that were taken before it.
#include "checker/models.hpp"

#include "task/chunk_counter.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

template <int Threads, std::uint64_t Chunks>
struct chunks_once {
  static constexpr int threads = Threads;
  chunk_counter<P> counter{Chunks};
  int taken[Threads][Chunks] = {};
  void run(int t) {
    for (std::uint64_t k = 0; counter.take(k);)
      ++taken[t][k];
  }
  void check() {
    for (std::uint64_t k = 0; k < Chunks; ++k) {
      int all = 0;
      for (int t = 0; t < Threads; ++t)
        all += taken[t][k];
      expect(all == 1, "every chunk is handed out once");
    }
  }
};
const passes<chunks_once<2, 3>> c1{"chunks_two_participants"};
const passes<chunks_once<3, 2>> c2{"chunks_three_participants"};

/// Lets the first participant fail in its first chunk.
struct chunks_closed {
  static constexpr int threads = 2;
  static constexpr std::uint64_t chunks = 4;
  chunk_counter<P> counter{chunks};
  int taken[chunks] = {};
  int after_close = 0;
  void run(int t) {
    std::uint64_t k = 0;
    if (t == 0) {
      if (counter.take(k))
        ++taken[k];
      counter.close();
      after_close += counter.take(k);
      return;
    }
    while (counter.take(k))
      ++taken[k];
  }
  void check() {
    for (int n : taken)
      expect(n <= 1, "no chunk is handed out twice");
    expect(after_close == 0, "who closes gets nothing more");
    expect(counter.exhausted(), "nothing is left");
  }
};
const passes<chunks_closed> c3{"chunks_closed"};

} // namespace
