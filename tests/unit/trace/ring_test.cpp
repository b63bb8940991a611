// SPDX-License-Identifier: Apache-2.0
#include "trace/metadata.hpp"
#include "trace/session.hpp"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

constexpr unsigned k_packets = 4;
constexpr unsigned char k_uuid[16] = {1, 2, 3};

struct memory_of_ring {
  std::unique_ptr<std::uint64_t[]> words{
      new std::uint64_t[(k_ring_head + k_packets * k_packet_bytes) / 8]()};
};

trace_record record_at(const char *packet, std::size_t i) {
  trace_record r;
  std::memcpy(&r, packet + k_packet_head + i * sizeof r, sizeof r);
  return r;
}
packet_header head_of(const char *packet) {
  packet_header h;
  std::memcpy(&h, packet, sizeof h);
  return h;
}
void put(trace_ring &r, std::uint64_t n) { r.put(trace_event::begin, 7, 8, n, ~n); }

TEST(trace_ring, a_full_ring_discards_and_counts_each_record) {
  memory_of_ring m;
  trace_ring r(m.words.get(), k_packets, trace_mode::stream, 3, k_uuid);
  const std::uint64_t room = k_packets * k_packet_records;
  for (std::uint64_t n = 0; n < room + 100; ++n)
    put(r, n);
  EXPECT_EQ(r.head(), k_packets);
  EXPECT_EQ(r.discarded(), 100u);
  for (std::uint64_t p = 0; p < k_packets; ++p) {
    const packet_header h = head_of(r.packet(p));
    EXPECT_EQ(h.number, p);
    EXPECT_EQ(h.worker, 3u);
    EXPECT_EQ(h.discarded, 0u);
    EXPECT_EQ(h.content_bits, k_packet_bytes * 8);
    for (std::size_t i = 0; i < k_packet_records; ++i)
      ASSERT_EQ(record_at(r.packet(p), i).a, p * k_packet_records + i);
  }
  r.done_with(0);
  put(r, 5);
  char copied[k_packet_bytes];
  ASSERT_EQ(r.copy(k_packets, copied), k_packet_head + sizeof(trace_record));
  EXPECT_EQ(record_at(copied, 0).a, 5u);
  EXPECT_EQ(record_at(copied, 0).type, 7u);
  EXPECT_EQ(record_at(copied, 0).task, 8u);
  EXPECT_EQ(head_of(copied).discarded, 100u);
}

TEST(trace_ring, a_flight_recorder_keeps_the_newest_and_counts_the_rest) {
  memory_of_ring m;
  trace_ring r(m.words.get(), k_packets, trace_mode::flight, 0, k_uuid);
  const std::uint64_t all = 10 * k_packet_records + 17;
  for (std::uint64_t n = 0; n < all; ++n)
    put(r, n);
  char copied[k_packet_bytes];
  std::uint64_t kept = 0, last = 0;
  for (std::uint64_t p = 0; p <= r.head(); ++p) {
    const std::size_t bytes = r.copy(p, copied);
    EXPECT_EQ(bytes != 0, p + k_packets > r.head()) << p;
    if (!bytes)
      continue;
    const std::size_t n = (bytes - k_packet_head) / sizeof(trace_record);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(record_at(copied, i).a, p * k_packet_records + i);
    kept += n;
    last = record_at(copied, n - 1).a;
  }
  EXPECT_EQ(last, all - 1);
  EXPECT_EQ(r.discarded() + kept, all);
}

TEST(trace_ring, an_end_is_told_with_the_begin_that_follows_or_before_anything_else) {
  memory_of_ring m;
  trace_ring r(m.words.get(), k_packets, trace_mode::stream, 0, k_uuid);
  r.begin(7, 8);
  r.end(7, 8);
  const auto *const shared = reinterpret_cast<const ring_header *>(m.words.get());
  EXPECT_EQ(shared->ended_task, 8 | std::uint64_t{7} << 32)
      << "for who reads the ring of a program that was killed";
  EXPECT_NE(shared->ended, 0u);
  r.begin(5, 9);
  r.end(5, 9);
  r.put(trace_event::idle, 0, 0);
  r.settle();
  char copied[k_packet_bytes];
  ASSERT_EQ(r.copy(0, copied), k_packet_head + 4 * sizeof(trace_record));
  const auto is = [&](std::size_t i, trace_event e, std::uint32_t task) {
    const trace_record x = record_at(copied, i);
    EXPECT_TRUE(x.event == static_cast<std::uint16_t>(e) && x.task == task) << i;
    return x;
  };
  const auto first = is(0, trace_event::begin, 8), second = is(1, trace_event::next, 9),
             third = is(2, trace_event::end, 9);
  EXPECT_EQ(second.a, 8 | std::uint64_t{7} << 32);
  EXPECT_GE(second.b, first.time);
  EXPECT_LE(second.b, second.time);
  EXPECT_GE(third.time, second.time);
  EXPECT_EQ(third.type, 5);
  EXPECT_LE(third.time, is(3, trace_event::idle, 0).time);
}

TEST(trace_ring, times_never_go_back_in_a_stream) {
  memory_of_ring m;
  trace_ring r(m.words.get(), k_packets, trace_mode::stream, 0, k_uuid);
  for (std::uint64_t n = 0; n < 3 * k_packet_records; ++n)
    put(r, n);
  std::uint64_t last = 0;
  for (std::uint64_t p = 0; p < 2; ++p)
    for (std::size_t i = 0; i < k_packet_records; ++i) {
      ASSERT_GE(record_at(r.packet(p), i).time, last);
      last = record_at(r.packet(p), i).time;
    }
}

TEST(trace_ring, a_reader_beside_the_owner_gets_every_record_or_its_count) {
  memory_of_ring m;
  trace_ring r(m.words.get(), k_packets, trace_mode::stream, 0, k_uuid);
  constexpr std::uint64_t k_all = 200'000;
  std::atomic<bool> over{false};
  std::uint64_t got = 0, next = 0;
  bool in_order = true;
  const auto drain = [&] {
    for (; r.tail() < r.head(); r.done_with(r.tail()))
      for (std::size_t i = 0; i < k_packet_records; ++i, ++got) {
        const trace_record x = record_at(r.packet(r.tail()), i);
        in_order &= x.a >= next && x.b == ~x.a;
        next = x.a + 1;
      }
  };
  std::thread reader([&] {
    while (!over.load(std::memory_order_acquire)) // pairs with the end of the owner
      drain();
  });
  for (std::uint64_t n = 0; n < k_all; ++n)
    put(r, n);
  over.store(true, std::memory_order_release);
  reader.join();
  drain();
  char copied[k_packet_bytes];
  if (const std::size_t bytes = r.copy(r.head(), copied))
    got += (bytes - k_packet_head) / sizeof(trace_record);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(got + r.discarded(), k_all);
}

TEST(trace_types, a_label_is_known_by_its_text_and_a_closure_by_its_place) {
  static trace_type table[k_trace_types];
  use_type_table(table);
  type_cache mine, other;
  char label[8] = "potrf";
  const auto first = mine.find(label, nullptr);
  EXPECT_NE(first, 0);
  EXPECT_EQ(other.find(std::string("potrf").c_str(), nullptr), first);
  std::strcpy(label, "trsm");
  const auto second = mine.find(label, nullptr);
  EXPECT_NE(second, first);
  EXPECT_STREQ(table[second].name, "trsm");
  static constexpr char k_signature[] = "const char* closure_name() [with F = main()::<lambda()>]";
  const auto third = mine.find(nullptr, k_signature);
  EXPECT_EQ(mine.find(nullptr, k_signature), third);
  EXPECT_EQ(other.find(nullptr, k_signature), third);
  EXPECT_STREQ(table[third].name, "main()::<lambda()>");
  EXPECT_EQ(known_types(), 3u);
  for (int i = 0; i < 5000; ++i)
    static_cast<void>(mine.find(("label " + std::to_string(i)).c_str(), nullptr));
  EXPECT_LT(known_types(), k_trace_types);
}

TEST(trace_description, what_is_written_is_read) {
  trace_description d;
  d.level = trace_level::graph;
  d.mode = trace_mode::flight;
  d.workers = 5;
  d.pid = 77;
  d.program = "a program";
  d.clock = {2'100'000'000, 1, 2, 3};
  d.first_ticks = 9;
  d.discarded = 11;
  d.state = trace_description::exact;
  d.types = {"", "potrf", "", "f(int)::<lambda()>"};
  d.shares = {{"OpenMP", 12}, {"left to other pools", 0}};
  std::memcpy(d.uuid, k_uuid, sizeof d.uuid);
  const trace_description r = parse_description(own_description(d));
  EXPECT_EQ(r.types, d.types);
  EXPECT_EQ(r.shares, d.shares);
  EXPECT_EQ(own_description(r), own_description(d));
}

TEST(trace_description, a_name_of_a_program_ends_no_line_and_no_string) {
  trace_description d;
  d.program = "a\"b\\c\nstate exact\td";
  EXPECT_EQ(parse_description(own_description(d)).program, "a_b_c_state exact_d");
  EXPECT_NE(parse_description(own_description(d)).state, trace_description::exact);
  EXPECT_NE(ctf_metadata(d).find("procname = \"a_b_c_state exact_d\";\n"), std::string::npos);
}

} // namespace
