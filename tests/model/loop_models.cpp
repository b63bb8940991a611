// SPDX-License-Identifier: Apache-2.0
// Models of src/task/chunk_counter.hpp: every chunk is handed out once; after a close only those
// that were taken before it. And of include/weft/detail/chunk_range.hpp: chunks that are split in
// advance and stolen.
#include "checker/models.hpp"

#include "queue/chunk_range.hpp"
#include "task/chunk_counter.hpp"

#include <cstdint>

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

// ---- ranges of chunks

/// Keeps the last participants, from `Come` on, away from the loop as long as there are chunks. The
/// owners take `Want` chunks at once.
template <unsigned Participants, unsigned Come, std::uint32_t Chunks, std::uint32_t Want = 1>
struct ranges_once {
  static constexpr int threads = static_cast<int>(Come);
  basic_chunk_range<P> ranges[Participants];
  int taken[Come][Chunks] = {};
  ranges_once() { weft::detail::split_chunks(Chunks, Participants, range_of()); }
  auto range_of() {
    return [this](unsigned i) -> auto & { return ranges[i]; };
  }
  void have(int t, std::uint32_t chunk) {
    expect(chunk < Chunks, "a chunk is one of the loop's");
    ++taken[t][chunk];
  }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    for (std::uint32_t chunk = 0;;) {
      if constexpr (Want == 1) {
        if (ranges[me].take(chunk)) {
          have(t, chunk);
          continue;
        }
      } else if (const std::uint32_t count = ranges[me].take(Want, chunk); count != 0) {
        expect(count <= Want, "no more chunks than the owner wants");
        for (std::uint32_t i = 0; i < count; ++i)
          have(t, chunk + i);
        continue;
      }
      if (!steal_half(Participants, me, range_of(), chunk))
        return;
      have(t, chunk);
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
const passes<ranges_once<2, 2, 2>> r1{"chunk_range_one_each"};
const passes<ranges_once<2, 2, 5>> r2{"chunk_range_two_participants"};
const passes<ranges_once<3, 3, 3>> r3{"chunk_range_three_participants"};
const passes<ranges_once<2, 1, 3>> r4{"chunk_range_participant_alone"};
const passes<ranges_once<3, 2, 4>> r5{"chunk_range_late_participant"};
const passes<ranges_once<2, 2, 6, 2>> r6{"chunk_range_blocks_of_two"};
const passes<ranges_once<2, 1, 7, 3>> r7{"chunk_range_blocks_alone"};
const passes<ranges_once<3, 3, 6, 2>> r8{"chunk_range_blocks_three_participants"};

/// Scans (weft/detail/skeletons.hpp, scan_front): the first participant takes from the front of a
/// range of its own, and then helps the others, which take from the back.
template <unsigned Participants, std::uint32_t Chunks>
struct scanned_once {
  static constexpr int threads = static_cast<int>(Participants);
  basic_chunk_range<P> ranges[Participants + 1];
  std::uint32_t scanned = 0;
  int reduced[Participants][Chunks] = {};
  scanned_once() { ranges[Participants].put(0, Chunks); }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    const auto range_of = [this](unsigned i) -> auto & { return ranges[i]; };
    std::uint32_t chunk = 0;
    if (me == 0)
      while (ranges[Participants].take(chunk)) {
        expect(chunk == scanned, "the scanner's chunks have no gap");
        ++scanned;
      }
    while (ranges[me].take(chunk) || steal_half(Participants + 1, me, range_of, chunk))
      ++reduced[t][chunk];
  }
  void check() {
    for (std::uint32_t chunk = 0; chunk < Chunks; ++chunk) {
      int all = chunk < scanned ? 1 : 0;
      for (const auto &mine : reduced)
        all += mine[chunk];
      expect(all == 1, "every chunk is scanned or reduced, once");
    }
  }
};
const passes<scanned_once<2, 4>> s1{"chunk_range_scan_two_participants"};
const passes<scanned_once<3, 2>> s2{"chunk_range_scan_three_participants"};

/// Takes the largest loop: a participant that asks again and again at its end gets nothing more.
struct end_of_range {
  static constexpr int threads = 2;
  static constexpr auto last = static_cast<std::uint32_t>(basic_chunk_range<P>::k_most - 1);
  basic_chunk_range<P> range;
  int taken[2] = {};
  end_of_range() { range.put(last, last + 1); }
  void run(int t) {
    std::uint32_t chunk = 0, end = 0;
    if (t == 1) {
      if (range.give_half(chunk, end)) {
        expect(chunk == last && end == last + 1, "half of one chunk is that chunk");
        ++taken[t];
      }
      return;
    }
    for (int i = 0; i < 4; ++i)
      if (range.take(chunk)) {
        expect(chunk == last, "a chunk is one of the loop's");
        ++taken[t];
      }
  }
  void check() { expect(taken[0] + taken[1] == 1, "every chunk is handed out once"); }
};
const passes<end_of_range> r9{"chunk_range_at_the_end"};

/// Lets the owner drop its range while a thief takes half: each chunk is handed out once at most.
struct dropped_range {
  static constexpr int threads = 2;
  basic_chunk_range<P> range;
  int taken[4] = {};
  dropped_range() { range.put(0, 4); }
  void run(int t) {
    std::uint32_t first = 0, end = 0;
    if (t == 1) {
      while (range.give_half(first, end))
        for (; first < end; ++first)
          ++taken[first];
      return;
    }
    const std::uint32_t count = range.take(2, first);
    for (std::uint32_t i = 0; i < count; ++i)
      ++taken[first + i];
    range.drop();
    expect(range.take(1, first) == 0, "a range that was dropped is empty");
  }
  void check() {
    for (const int n : taken)
      expect(n <= 1, "no chunk is handed out twice");
    expect(range.left() == 0, "nothing is left");
  }
};
const passes<dropped_range> r10{"chunk_range_blocks_dropped"};

} // namespace
