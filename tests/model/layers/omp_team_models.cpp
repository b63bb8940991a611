// SPDX-License-Identifier: Apache-2.0
// Models of how a team and its threads go from one thread of the program to the next:
// free_list.hpp, fork_mailbox.hpp and parker_word.hpp of layers/omp/src/; as dismiss(), serve(),
// drop_team() and begin_team() of team.cpp, and the end of light_main() of thread.cpp.
#include "omp_parts.hpp"

#include "layers/omp/src/sync/free_list.hpp"
#include "layers/omp/src/team/fork_mailbox.hpp"

#include <cstdint>

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = omp_atomics;

struct member {
  omp_model_thread own_parker;
  P::plain<member *> next_free;
};

template <int Members>
struct dismissed_team {
  weft_omp::basic_fork_mailbox<int, P> mailbox;
  weft_omp::basic_leaving_count<P> leaving;
  P::plain<member *> members[Members];
  P::plain<int> regions{1}; // written by the threads that use the team
  P::plain<dismissed_team *> next_free;
};

/// Lets thread 0 end and dismiss its members. Each member leaves its data, and the last of all
/// leaves the team.
template <int Members>
struct dismissal {
  using team = dismissed_team<Members>;
  static constexpr int none = 99; // an order that no member may see
  team c;
  member all[Members];
  weft_omp::basic_free_list<team, P> teams;
  weft_omp::basic_free_list<member, P> ended;
  model_var<int> work[Members];
  void drop() {
    if (!c.leaving.leave())
      return;
    for (auto &w : work)
      expect(w.get() == 1, "the last one comes after all that the others did with the team");
    c.mailbox.send(none, 0);
    teams.put(c);
  }
  void dismiss() {
    c.leaving.begin(Members);
    c.mailbox.send(0, Members + 1);
    for (int i = 0; i < Members; ++i) {
      member *const m = c.members[i];
      c.members[i] = nullptr;
      m->own_parker.signal(); // the member may have left, and another thread may wait there
    }
    drop();
  }
  void serve(int i) {
    std::uint64_t known = c.mailbox.k_none;
    while (!c.mailbox.is_for(static_cast<unsigned>(i) + 1, known))
      all[i].own_parker.wait_for([&] { return c.mailbox.is_unchanged(known); });
    expect(c.mailbox.last() == 0, "it is dismissed");
    work[i].set(1);
    drop();
    ended.put(all[i]);
  }
  dismissal() {
    for (int i = 0; i < Members; ++i)
      c.members[i] = &all[i];
  }
};

/// Has two members: the team is put away once.
struct leaving_once : dismissal<2> {
  static constexpr int threads = 3;
  void run(int t) {
    if (t == 0)
      dismiss();
    else
      serve(t - 1);
  }
  void check() {
    expect(teams.take() == &c && !teams.take(), "the team is put away once");
    expect(ended.take() && ended.take() && !ended.take(), "so are its members");
  }
};
const passes<leaving_once> a{"omp_leaving_once"};

/// Lets another thread take the team as soon as it is put away, and use it.
struct leaving_to_the_next : dismissal<1> {
  static constexpr int threads = 3;
  bool took = false;
  void run(int t) {
    if (t == 0)
      return dismiss();
    if (t == 1)
      return serve(0);
    team *const next = teams.take();
    if (!next)
      return;
    took = true;
    expect(next == &c && !static_cast<member *>(next->members[0]), "its members are gone");
    next->members[0] = &all[0];
    next->leaving.begin(1);
    next->regions = 2;
    next->mailbox.send(1, 2);
    std::uint64_t known = next->mailbox.k_none;
    expect(next->mailbox.is_for(1, known) && next->mailbox.last() == 1,
           "what the next thread orders stands");
  }
  void check() { expect((teams.take() == nullptr) == took, "the team is in one pair of hands"); }
};
const passes<leaving_to_the_next> b{"omp_leaving_to_the_next"};

/// Lets another thread take the data of the member that has left, and wait there for something
/// else: the dismisser's signal may come just then.
struct leaving_a_place_to_wait : dismissal<1> {
  static constexpr int threads = 3;
  model_atomic<int> round{0};
  member *again = nullptr; // the member's data, of the thread that has taken them
  void wait_again() {
    again->own_parker.wait_for([this] { return round.load(seq_cst) == 0; });
    while (round.load(acquire) == 0)
      again->own_parker.wait_for([this] { return round.load(seq_cst) == 0; });
  }
  void run(int t) {
    if (t == 0)
      return dismiss();
    if (t == 1) {
      serve(0);
      again = ended.take();
      return wait_again();
    }
    round.store(1, seq_cst);
    all[0].own_parker.wake();
  }
  void check() { expect(again == &all[0], "the data of the member were there"); }
};
const passes<leaving_a_place_to_wait> d{"omp_leaving_a_place_to_wait"};

} // namespace
