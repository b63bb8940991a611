// SPDX-License-Identifier: Apache-2.0
// Models of how members of a team wait for each other in a loop:
// layers/omp/src/workshare/ordered.hpp. And of shares of a guided loop that stay open:
// layers/omp/src/workshare/fair_share.hpp.
#include "omp_parts.hpp"

#include "layers/omp/src/workshare/fair_share.hpp"
#include "layers/omp/src/workshare/ordered.hpp"

#include <weft/detail/chunk_range.hpp>

#include <cstdint>

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = omp_atomics;

// ---- ordered tickets; as next_ordered_chunk() of workshare.cpp

struct ordered_base : omp_events {
  weft_omp::basic_ordered<P> ordered;
  auto waits(int t) {
    return [this, t](const model_atomic<std::uint32_t> &word, std::uint32_t seen) {
      wait_while(members[t], word, seen);
    };
  }
  auto wakes() {
    return [this](const model_atomic<std::uint32_t> &word) { wake_all(&word); };
  }
};

/// Gives chunks of one iteration to the members in turn.
template <int Members, int Rounds>
struct ordered_chunks : ordered_base {
  static constexpr int threads = Members;
  model_var<int> next{0};
  void run(int t) {
    for (int i = t; i < Members * Rounds; i += Members) {
      ordered.wait_for_ticket(static_cast<std::uint64_t>(i), waits(t));
      expect(next.get() == i, "what was done by those who had the ticket before is seen");
      next.set(i + 1);
      ordered.pass_ticket(static_cast<std::uint64_t>(i + 1), wakes());
    }
  }
  void check() { expect(next.get() == Members * Rounds, "all have had the ticket"); }
};
const passes<ordered_chunks<2, 1>> t1{"omp_ordered_two_members"};
const passes<ordered_chunks<2, 2>> t2{"omp_ordered_two_members_twice"};
const passes<ordered_chunks<3, 1>> t3{"omp_ordered_three_members"};

// ---- sinks and sources

/// Lets each member post its iteration when those before it are posted.
template <int Members>
struct sinks_chain : ordered_base {
  static constexpr int threads = Members;
  weft_omp::basic_ordered<P>::post_word posted[Members] = {};
  model_var<int> done[Members];
  void run(int t) {
    if (t > 0) {
      ordered.wait_for_post(posted[t - 1], 1, waits(t));
      expect(done[t - 1].get() == 1, "what was done before the post is seen");
    }
    done[t].set(1);
    ordered.post(posted[t], 1, wakes());
  }
  void check() {}
};
const passes<sinks_chain<2>> s1{"omp_sink_two_members"};
const passes<sinks_chain<3>> s2{"omp_sink_three_members"};

/// Posts one slot twice; two members wait for different numbers of it.
struct sinks_of_one_word : ordered_base {
  static constexpr int threads = 3;
  weft_omp::basic_ordered<P>::post_word posted{0};
  model_var<int> done[2];
  void run(int t) {
    if (t > 0) {
      ordered.wait_for_post(posted, static_cast<std::uint64_t>(t), waits(t));
      for (int i = 0; i < t; ++i)
        expect(done[i].get() == 1, "what was done before the post is seen");
      return;
    }
    for (int i = 0; i < 2; ++i) {
      done[i].set(1);
      ordered.post(posted, static_cast<std::uint64_t>(i + 1), wakes());
    }
  }
  void check() {}
};
const passes<sinks_of_one_word> s3{"omp_sink_of_one_place"};

/// Lets each member wait for what the other has posted before, as in a wavefront.
struct sinks_crossed : ordered_base {
  static constexpr int threads = 2;
  weft_omp::basic_ordered<P>::post_word posted[2] = {};
  model_var<int> done[2];
  void run(int t) {
    done[t].set(1);
    ordered.post(posted[t], 1, wakes());
    ordered.wait_for_post(posted[1 - t], 1, waits(t));
    expect(done[1 - t].get() == 1, "what was done before the post is seen");
  }
  void check() {}
};
const passes<sinks_crossed> s4{"omp_sink_crossed"};

// ---- shares of a guided loop; as next_static_steal() of workshare.cpp

/// Gives shares of a counter to members that take `Want` chunks of their ranges at once. The last
/// chunk is the first member's that finds no other one, and that member gets nothing more.
template <int Members, std::uint32_t Chunks, std::uint32_t Want = 1>
struct fair_shares {
  static constexpr int threads = Members;
  weft::detail::basic_chunk_range<P> ranges[Members];
  model_atomic<std::uint64_t> next{0};
  int taken[Members][Chunks] = {};
  void have(int t, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      expect(first + i < Chunks, "a chunk is one of the loop's");
      ++taken[t][first + i];
    }
  }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    const auto range_of = [this](unsigned i) -> auto & { return ranges[i]; };
    for (std::uint32_t first = 0, end = 0;;) {
      if (const std::uint32_t count = ranges[me].take(Want, first); count != 0) {
        have(t, first, count);
      } else if (weft_omp::take_fair_share(next, Chunks - 1, Members, first, end)) {
        ranges[me].put(first + 1, end);
        have(t, first, 1);
      } else if (weft::detail::steal_half(Members, me, range_of, first)) {
        have(t, first, 1);
      } else {
        if (next.load(relaxed) < Chunks && next.exchange(Chunks, relaxed) != Chunks)
          have(t, Chunks - 1, 1);
        return;
      }
    }
  }
  void check() {
    for (std::uint32_t chunk = 0; chunk < Chunks; ++chunk) {
      int all = 0;
      for (const auto &mine : taken)
        all += mine[chunk];
      expect(all == 1, "every chunk is handed out once");
    }
  }
};
const passes<fair_shares<2, 1>> g1{"omp_fair_last_chunk"};
const passes<fair_shares<2, 4>> g2{"omp_fair_two_members"};
const passes<fair_shares<2, 7, 2>> g3{"omp_fair_blocks_of_two"};
const passes<fair_shares<3, 4>> g4{"omp_fair_three_members"};

} // namespace
