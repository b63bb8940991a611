// SPDX-License-Identifier: Apache-2.0
#include "borrow.hpp"

#include "errands.hpp"

#include <atomic>
#include <new>
#include <utility>

namespace weft_omp {
namespace {

/// Lies on the borrower's stack.
//
// Orders      O1  over store release, load acquire: what the call did.
struct loan {
  void (*call)(void *);
  void *argument;
  thread *borrower;
  std::atomic<bool> over{false};
  loan *newer = nullptr;
};
errands<loan> g_loans;

void stand_in_for(thread &me, thread &borrower) noexcept {
  me.crew->implicit[0].become_implicit(*me.crew, *borrower.task->settings, 0);
  me.teams = borrower.teams;
  me.teams_number = borrower.teams_number;
  me.asked = std::exchange(borrower.asked, {});
}

/// What a lightweight thread does that is lent.
void lend(thread &me) {
  me.crew = make_initial_team(me);
  me.task = &me.crew->implicit[0];
  for (errands<loan>::runner r{&me};;) {
    loan &l = g_loans.next(r);
    thread &borrower = *l.borrower;
    stand_in_for(me, borrower);
    l.call(l.argument);
    me.task->end_implicit(me);
    l.over.store(true, std::memory_order_release); // O1; the loan is gone
    borrower.place_to_wait.signal(&me);
  }
}

} // namespace

void on_borrowed_thread(thread &t, void (*call)(void *), void *argument) {
  loan l{call, argument, &t};
  if (!g_loans.give_to_idle(&t, l)) { // one for each, for regions may wait for each other
    if (!start_light_thread(t, &lend)) {
      t.visits = false; // the region runs here
      call(argument);
      t.visits = true;
      return;
    }
    g_loans.give(&t, l);
  }
  while (!l.over.load(std::memory_order_acquire)) // O1
    t.place_to_wait.wait(t, 0);
}

void forget_lenders() noexcept { new (&g_loans) errands<loan>; }

} // namespace weft_omp
