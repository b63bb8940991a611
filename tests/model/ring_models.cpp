// SPDX-License-Identifier: Apache-2.0
// Models of src/trace/ring_core.hpp: every record is read once, whole and in order, or counted as
// discarded.
#include "checker/models.hpp"

#include "trace/ring_core.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

struct small_shape {
  static constexpr std::size_t head_words = 2, number_word = 0, record_words = 2, records = 2;
};
constexpr std::uint64_t k_records = small_shape::records;

/// Writes n + 1 and its complement in record n, and p + 100 in the head of packet p.
template <unsigned Packets>
struct ring_base {
  ring_words<P> shared;
  model_atomic<std::uint64_t>
      words[Packets * (small_shape::head_words + k_records * small_shape::record_words)];
  model_var<std::uint64_t>
      plain[Packets][k_records]; // what the kernel reads when it writes a packet to the file
  ring_core<small_shape, P> ring;
  bool open = false;
  std::uint64_t in_packet = 0, kept = 0;
  explicit ring_base(trace_mode mode) : ring(shared, words, Packets, mode) {}

  bool begin_packet() {
    if (open)
      ring.close();
    open = ring.reserve();
    if (open)
      ring.begin({ring.filling(), ring.filling() + 100});
    in_packet = 0;
    return open;
  }
  bool put(std::uint64_t n, bool plain_read) {
    if (ring.is_full() && !begin_packet()) {
      ring.discard(1);
      return false;
    }
    if (plain_read)
      plain[ring.filling() % Packets][in_packet++].set(n + 1);
    expect(ring.put(n + 1, ~(n + 1)), "there is room");
    return true;
  }
  struct packet {
    std::uint64_t head = 0, values[k_records] = {};
    std::size_t records = 0;
  };
  /// Returns false if the packet is gone.
  bool copy(std::uint64_t number, packet &to) {
    std::uint64_t got[small_shape::head_words + k_records * small_shape::record_words] = {};
    const auto done = ring.copy(number, [&](std::size_t i, std::uint64_t w) { got[i] = w; });
    if (done.words == 0)
      return false;
    expect(got[1] == number + 100, "the head is that of the packet");
    to.records = (done.words - small_shape::head_words) / small_shape::record_words;
    for (std::size_t i = 0; i < to.records; ++i) {
      to.values[i] = got[small_shape::head_words + i * small_shape::record_words];
      expect(got[small_shape::head_words + i * small_shape::record_words + 1] == ~to.values[i],
             "a record is whole");
    }
    return true;
  }
};

/// Lets the owner fill packets and the flusher take them.
template <unsigned Packets, int Records, int Looks>
struct ring_streams : ring_base<Packets> {
  static constexpr int threads = 2;
  using base = ring_base<Packets>;
  std::uint64_t next = 1;
  ring_streams() : base(trace_mode::stream) {}
  void take(std::uint64_t value) {
    expect(value >= next, "records come in order");
    next = value + 1;
    ++this->kept;
  }
  void drain() {
    for (; this->ring.tail() < this->ring.head(); this->ring.done_with(this->ring.tail()))
      for (auto &v : this->plain[this->ring.tail() % Packets])
        take(v.get());
  }
  void run(int t) {
    if (t == 0)
      for (int n = 0; n < Records; ++n)
        this->put(static_cast<std::uint64_t>(n), true);
    else
      for (int i = 0; i < Looks; ++i)
        drain();
  }
  void check() {
    drain();
    typename base::packet p;
    if (this->open && this->copy(this->ring.head(), p))
      for (std::size_t i = 0; i < p.records; ++i)
        take(p.values[i]);
    expect(this->kept + this->ring.discarded() == Records, "every record is read or counted");
  }
};
const passes<ring_streams<1, 5, 2>> s1{"ring_of_one_packet"};
const passes<ring_streams<2, 7, 2>> s2{"ring_of_two_packets"};

/// Lets the owner overwrite packets while an observer copies one; the newest are there at the end.
template <unsigned Packets, int Records, int First, int Last>
struct ring_in_flight : ring_base<Packets> {
  static constexpr int threads = 2;
  using base = ring_base<Packets>;
  ring_in_flight() : base(trace_mode::flight) {}
  void look(std::uint64_t number, bool at_the_end) {
    typename base::packet p;
    if (!this->copy(number, p))
      return;
    for (std::size_t i = 0; i < p.records; ++i)
      expect(p.values[i] == number * k_records + i + 1, "a copied packet holds its own records");
    if (at_the_end)
      this->kept += p.records;
  }
  void run(int t) {
    if (t == 0)
      for (int n = 0; n < Records; ++n)
        this->put(static_cast<std::uint64_t>(n), false);
    else
      for (std::uint64_t number = First; number <= Last; ++number)
        look(number, false);
  }
  void check() {
    for (std::uint64_t number = 0; number <= this->ring.head(); ++number)
      look(number, true);
    expect(this->kept + this->ring.discarded() == Records, "every record is kept or counted");
  }
};
const passes<ring_in_flight<1, 3, 0, 0>> f1{"ring_in_flight_overwrites_what_is_copied"};
const passes<ring_in_flight<1, 3, 1, 1>> f2{"ring_in_flight_is_filled_meanwhile"};
const passes<ring_in_flight<2, 5, 0, 2>> f3{"ring_in_flight_of_two_packets"};

/// Ends the copying while the owner continues. The copy of the packet that the owner is filling has
/// whole records, and at least those that were known.
struct ring_ends_early : ring_base<2> {
  static constexpr int threads = 2;
  model_atomic<std::uint64_t> published{0};
  ring_ends_early() : ring_base(trace_mode::stream) {}
  void run(int t) {
    if (t == 0) {
      for (std::uint64_t n = 0; n < 3; ++n) {
        put(n, false);
        published.store(n + 1, release);
      }
      return;
    }
    const std::uint64_t known = published.load(acquire);
    packet first, second;
    const bool there = copy(0, first);
    expect(there || known == 0, "what is known is there");
    expect(first.records >= (known < k_records ? known : k_records),
           "every record that is known is there");
    static_cast<void>(copy(1, second));
    for (std::size_t i = 0; i < first.records; ++i)
      expect(first.values[i] == i + 1, "a copied packet holds its own records");
    for (std::size_t i = 0; i < second.records; ++i)
      expect(second.values[i] == k_records + i + 1, "a copied packet holds its own records");
  }
  void check() { expect(ring.discarded() == 0 && ring.head() == 1, "there was room"); }
};
const passes<ring_ends_early> e1{"ring_ends_while_it_is_filled"};

} // namespace
