// SPDX-License-Identifier: Apache-2.0
#include "borrow.hpp"

#include "errands.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace weft_omp {
namespace {

/// Lies on the borrower's stack: unlocking it is the last thing that a lender does with it.
class loan {
 public:
  loan(void (*f)(void *), void *argument, thread &of) : borrower(of), m_call(f), m_argument(argument) {}
  void call() { m_call(m_argument); }
  void end() noexcept {
    std::lock_guard lock(m_lock);
    m_over = true;
  }
  [[nodiscard]] bool is_over() noexcept {
    std::lock_guard lock(m_lock);
    return m_over;
  }

  thread &borrower;
  loan *newer = nullptr;

 private:
  void (*const m_call)(void *);
  void *const m_argument;
  spin_lock m_lock;
  bool m_over = false;
};
errands<loan> g_loans;

void stand_in_for(thread &me, thread &borrower) noexcept {
  me.team->implicit[0].become_implicit(*me.team, *borrower.task->settings, 0);
  me.teams = borrower.teams;
  me.teams_number = borrower.teams_number;
  me.asked = std::exchange(borrower.asked, {});
}

/// What a lightweight thread does that is lent.
void lend(thread &me) {
  me.team = make_initial_team(me);
  me.task = &me.team->implicit[0];
  for (errands<loan>::runner r{&me};;) {
    loan &l = g_loans.next(r);
    thread &borrower = l.borrower;
    stand_in_for(me, borrower);
    l.call();
    me.task->end_implicit(me);
    l.end();
    borrower.own_parker.signal(&me);
  }
}

} // namespace

void on_borrowed_thread(thread &t, void (*call)(void *), void *argument) {
  loan l(call, argument, t);
  if (!g_loans.give_to_idle(&t, l)) { // one for each, for regions may wait for each other
    if (!start_light_thread(t, &lend)) {
      t.hosts_weft_task = false; // the region runs here
      call(argument);
      t.hosts_weft_task = true;
      return;
    }
    g_loans.give(&t, l);
  }
  while (!l.is_over())
    t.own_parker.wait(t, 0);
}

void forget_lenders() noexcept { new (&g_loans) errands<loan>; }

} // namespace weft_omp
