// SPDX-License-Identifier: Apache-2.0
// What the checker's memory model allows. The digits of an outcome are the loaded values, in the order of the
// threads.
#include "checker/models.hpp"

namespace {

using namespace weft_model;
using enum std::memory_order;
constexpr int k_none = 0, k_light_heavy = 1, k_light_light = 2, k_heavy_only = 3;

/// SB: each thread stores to one location and loads the other. 00 is the reordering of x86.
template <std::memory_order Store, std::memory_order Load, int Barrier = k_none>
struct store_buffering {
  static constexpr int threads = 2;
  model_atomic<int> x{0}, y{0};
  int seen[2] = {};
  void run(int t) {
    (t == 0 ? x : y).store(1, Store);
    if (t == 0 ? Barrier == k_light_heavy || Barrier == k_light_light : Barrier == k_light_light)
      model_atomics::light_barrier();
    else if (Barrier != k_none && t == 1)
      model_atomics::heavy_barrier();
    seen[t] = (t == 0 ? y : x).load(Load);
  }
  void check() { observe(static_cast<unsigned>(10 * seen[0] + seen[1])); }
};
const litmus<store_buffering<relaxed, relaxed>> sb_relaxed{"litmus_sb_relaxed", {0, 1, 10, 11}};
const litmus<store_buffering<release, acquire>> sb_acq_rel{"litmus_sb_acquire_release",
                                                           {0, 1, 10, 11}};
const litmus<store_buffering<seq_cst, acquire>> sb_half{"litmus_sb_seq_cst_store_acquire_load",
                                                        {0, 1, 10, 11}};
const litmus<store_buffering<seq_cst, seq_cst>> sb_seq_cst{"litmus_sb_seq_cst", {1, 10, 11}};
const litmus<store_buffering<relaxed, relaxed, k_light_heavy>> sb_asymmetric{
    "litmus_sb_light_heavy", {1, 10, 11}};
const litmus<store_buffering<relaxed, relaxed, k_light_light>> sb_light{"litmus_sb_light_light",
                                                                        {0, 1, 10, 11}};
const litmus<store_buffering<relaxed, relaxed, k_heavy_only>> sb_heavy{"litmus_sb_heavy_alone",
                                                                       {0, 1, 10, 11}};

/// MP: data, then flag; the other way round. 10 is the flag without its data.
template <std::memory_order Store, std::memory_order Load>
struct message_passing {
  static constexpr int threads = 2;
  model_atomic<int> data{0}, flag{0};
  int seen[2] = {};
  void run(int t) {
    if (t == 0) {
      data.store(1, relaxed);
      flag.store(1, Store);
    } else {
      seen[0] = flag.load(Load);
      seen[1] = data.load(relaxed);
    }
  }
  void check() { observe(static_cast<unsigned>(10 * seen[0] + seen[1])); }
};
const litmus<message_passing<relaxed, relaxed>> mp_relaxed{"litmus_mp_relaxed", {0, 1, 10, 11}};
const litmus<message_passing<release, relaxed>> mp_release{"litmus_mp_release_relaxed",
                                                           {0, 1, 10, 11}};
const litmus<message_passing<relaxed, acquire>> mp_acquire{"litmus_mp_relaxed_acquire",
                                                           {0, 1, 10, 11}};
const litmus<message_passing<release, acquire>> mp_both{"litmus_mp_release_acquire", {0, 1, 11}};

/// MP through a read-modify-write of a third thread, which continues the release sequence. A store
/// would end it.
template <bool Rmw>
struct release_sequence {
  static constexpr int threads = 3;
  model_atomic<int> data{0}, flag{0};
  int seen[2] = {};
  void run(int t) {
    if (t == 0) {
      data.store(1, relaxed);
      flag.store(1, release);
    } else if (t == 1) {
      if constexpr (Rmw)
        flag.fetch_add(2, relaxed);
      else if (flag.load(relaxed) == 1)
        flag.store(3, relaxed);
    } else {
      seen[0] = flag.load(acquire);
      seen[1] = data.load(relaxed);
    }
  }
  void check() {
    if (seen[0] == 3)
      observe(static_cast<unsigned>(seen[1]));
  }
};
const litmus<release_sequence<true>> rs_rmw{"litmus_release_sequence_rmw", {1}};
const litmus<release_sequence<false>> rs_store{"litmus_release_sequence_store", {0, 1}};

/// LB: each thread loads one location and stores to the other. C++ allows 11 when relaxed; the
/// checker cannot show it.
struct load_buffering {
  static constexpr int threads = 2;
  model_atomic<int> x{0}, y{0};
  int seen[2] = {};
  void run(int t) {
    seen[t] = (t == 0 ? y : x).load(relaxed);
    (t == 0 ? x : y).store(1, relaxed);
  }
  void check() { observe(static_cast<unsigned>(10 * seen[0] + seen[1])); }
};
const litmus<load_buffering> lb{"litmus_lb_relaxed", {0, 1, 10}};

/// IRIW: two writers, two readers that load in opposite orders. 1010 is the two readers'
/// disagreement.
template <std::memory_order Store, std::memory_order Load>
struct independent_reads {
  static constexpr int threads = 4;
  model_atomic<int> x{0}, y{0};
  int seen[4] = {};
  void run(int t) {
    if (t < 2)
      (t == 0 ? x : y).store(1, Store);
    else {
      seen[2 * (t - 2)] = (t == 2 ? x : y).load(Load);
      seen[2 * (t - 2) + 1] = (t == 2 ? y : x).load(Load);
    }
  }
  void check() {
    observe(static_cast<unsigned>(1000 * seen[0] + 100 * seen[1] + 10 * seen[2] + seen[3]));
  }
};
const litmus<independent_reads<release, acquire>> iriw_acq_rel{
    "litmus_iriw_acquire_release",
    {0, 1, 10, 11, 100, 101, 110, 111, 1000, 1001, 1010, 1011, 1100, 1101, 1110, 1111}};
const litmus<independent_reads<seq_cst, seq_cst>> iriw_seq_cst{
    "litmus_iriw_seq_cst",
    {0, 1, 10, 11, 100, 101, 110, 111, 1000, 1001, 1011, 1100, 1101, 1110, 1111}};

/// 2+2W: both threads write both locations, in opposite orders. C++ allows both first stores to win
/// when relaxed; the checker cannot show it, because the order of stores to a location is the order
/// in which they are executed.
struct two_plus_two_writes {
  static constexpr int threads = 2;
  model_atomic<int> x{0}, y{0};
  void run(int t) {
    (t == 0 ? x : y).store(t == 0 ? 1 : 2, relaxed);
    (t == 0 ? y : x).store(t == 0 ? 1 : 2, relaxed);
  }
  void check() { observe(static_cast<unsigned>(10 * x.load(relaxed) + y.load(relaxed))); }
};
const litmus<two_plus_two_writes> wwww{"litmus_2_plus_2w_relaxed", {11, 21, 22}}; // not 12

/// CoRR: two loads of one location never go back.
struct coherence {
  static constexpr int threads = 2;
  model_atomic<int> x{0};
  int seen[2] = {};
  void run(int t) {
    if (t == 0) {
      x.store(1, relaxed);
      x.store(2, relaxed);
    } else {
      seen[0] = x.load(relaxed);
      seen[1] = x.load(relaxed);
    }
  }
  void check() { observe(static_cast<unsigned>(10 * seen[0] + seen[1])); }
};
const litmus<coherence> corr{"litmus_coherence", {0, 1, 2, 11, 12, 22}};

/// Plain memory behind a flag.
template <std::memory_order Store, std::memory_order Load>
struct plain_data {
  static constexpr int threads = 2;
  model_var<int> data{0};
  model_atomic<int> flag{0};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      flag.store(1, Store);
    } else {
      model_atomics::await(flag, [](int v) { return v == 1; }, Load);
      expect(data.get() == 1, "the data is there");
    }
  }
  void check() {}
};
const passes<plain_data<release, acquire>> plain_ordered{"litmus_plain_data_behind_a_flag"};
const fails<plain_data<relaxed, acquire>> plain_race{"litmus_plain_data_race", "data race"};
const fails<plain_data<release, relaxed>> plain_race2{"litmus_plain_data_race_at_the_reader",
                                                      "data race"};

/// Has a futex sleeper that no thread wakes, or one that is woken.
template <bool Wake>
struct futex_sleeper {
  static constexpr int threads = 2;
  model_atomic<std::uint32_t> word{0};
  void run(int t) {
    if (t == 0) {
      while (word.load(relaxed) == 0)
        model_atomics::futex_wait(word, 0);
    } else {
      word.store(1, relaxed);
      if constexpr (Wake)
        model_atomics::futex_wake(word, 1);
    }
  }
  void check() {}
};
const passes<futex_sleeper<true>> futex_woken{"litmus_futex_woken"};
const fails<futex_sleeper<false>> futex_forgotten{"litmus_futex_forgotten", "deadlock"};

struct endless_loop {
  static constexpr int threads = 1;
  model_atomic<int> x{0};
  void run(int) {
    while (x.load(relaxed) == 0)
      model_atomics::pause();
  }
  void check() {}
};
const fails<endless_loop> endless{"litmus_spin_for_ever", "deadlock"};

} // namespace
