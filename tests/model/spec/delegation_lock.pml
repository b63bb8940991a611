/* SPDX-License-Identifier: Apache-2.0
 *
 * The delegation lock of src/queue/delegation_lock.hpp: N threads draw R numbers each from a
 * counter that the lock guards. The owner of the lock takes the waiters of a run of tickets, draws
 * for them, lets them go, and wakes those that sleep when it has left the lock. Threads with a
 * number below IDS call lock_or_delegate, the others lock. Words are sequentially consistent here;
 * memory orders are the business of tests/model/lock_models.cpp.
 *
 * Source: Alvarez et al., PPoPP 2021, Listings 3 and 4, where a run is one waiter.
 *   AS_PRINTED      Listing 4 with its line 11: the owner increments the tail once more.
 *   NO_UPPER_BOUND  empty() looks at the lower bound of an entry only, as printed; wrong with more threads than slots.
 *   PARKS           waiters sleep on their slot, as in src/queue/ticket_lock.hpp; else they spin.
 *   WAKES_NOBODY    the lock moves on without a look at the sleeper bit.
 *   FORGETS_RUN     the owner leaves without waking the sleepers of its run.
 *   ONE_TICKET      all results of a run name its first ticket.
 */
#ifndef N
#define N 3
#endif
#ifndef IDS
#define IDS N /* not more than slots: the lock rounds the number of its slots up */
#endif
#ifndef S
#define S IDS /* slots */
#endif
#ifndef R
#define R 1
#endif

#define SLOT(ticket) ((ticket) % S)
#ifdef NO_UPPER_BOUND
#define NOBODY(entry, ticket) ((entry) < (ticket))
#else
#define NOBODY(entry, ticket) ((entry) < (ticket) || (entry) - (ticket) >= IDS)
#endif

byte head = S;     /* the next ticket to give out */
byte tail = S + 1; /* the holder's: the next ticket to let in */
byte turn[S];
bool sleeper[S];
byte wakes[S];     /* how often the sleepers of a slot were woken */
byte waiting[S];
byte result_ticket[IDS];
byte result[IDS];

byte next_number;
byte inside;
bool drawn[N * R];
bool wants[N];
bool finished[N];
bool started;

/* Lets the next ticket in. */
inline move_on(t, slept) {
  t = tail;
  tail = t + 1;
  atomic {
    slept = sleeper[SLOT(t)];
    turn[SLOT(t)] = t;
    sleeper[SLOT(t)] = false
  }
}

inline wake(t, slept) {
#ifdef WAKES_NOBODY
  skip
#else
  if
  :: slept -> wakes[SLOT(t)]++
  :: else
  fi
#endif
}

inline wait_turn(ticket, seen, slept, woken) {
#ifdef PARKS
  do
  :: atomic { seen = turn[SLOT(ticket)]; slept = sleeper[SLOT(ticket)] };
     if
     :: seen >= ticket -> break
     :: else
     fi;
     if
     :: !slept ->
        atomic { /* compare-exchange */
          if
          :: turn[SLOT(ticket)] == seen && !sleeper[SLOT(ticket)] -> sleeper[SLOT(ticket)] = true; slept = true
          :: else
          fi
        }
     :: else
     fi;
     if
     :: slept ->
        atomic { woken = wakes[SLOT(ticket)]; slept = (turn[SLOT(ticket)] == seen && sleeper[SLOT(ticket)]) }; /* futex */
        if
        :: slept -> (wakes[SLOT(ticket)] != woken)
        :: else
        fi
     :: else
     fi
  od
#else
  (turn[SLOT(ticket)] >= ticket)
#endif
}

inline draw(number) {
  number = next_number;
  next_number++
}

active [N] proctype client() {
  byte ticket, number, entry, id, round, t, woken, size, asleep;
  bool slept;
  (started);
  do
  :: round == R -> break
  :: else ->
     wants[_pid] = true;
     atomic { ticket = head; head++ };
     if
     :: _pid < IDS -> waiting[SLOT(ticket)] = ticket + _pid
     :: else
     fi;
     wait_turn(ticket, entry, slept, woken);
     if
     :: _pid < IDS && result_ticket[_pid] == ticket -> number = result[_pid]
     :: else ->
#ifdef AS_PRINTED
        tail = tail + 1;
#endif
        inside++;
        assert(inside == 1);
#ifndef AS_PRINTED
        assert(tail == ticket + 1); /* I1 */
#endif
        asleep = 0;
        do
        :: _pid >= IDS || asleep != 0 -> break
        :: else ->
           /* take_waiters and set_item: the run ends at the first ticket without an entry */
           size = 0;
           do
           :: size == IDS -> break
           :: else ->
              entry = waiting[SLOT(tail + size)];
              if
              :: NOBODY(entry, tail + size) -> break
              :: else
              fi;
              id = entry - (tail + size);
              assert(id < IDS && id != _pid); /* I2 */
              draw(result[id]);
#ifdef ONE_TICKET
              result_ticket[id] = tail;
#else
              result_ticket[id] = tail + size;
#endif
              size++
#ifdef NO_UPPER_BOUND
              ; break /* as printed: one waiter after the other */
#endif
           od;
           if
           :: size == 0 -> break
           :: else
           fi;
           /* dismiss */
           do
           :: size == 0 -> break
           :: else ->
              move_on(t, slept);
              if
              :: slept -> asleep = asleep | (1 << SLOT(t))
              :: else
              fi;
              ticket++;
              size--
           od
        od;
        draw(number);
        inside--;
        move_on(t, slept);
        wake(t, slept);
#ifndef FORGETS_RUN
        t = 0;
        do
        :: t == S -> break
        :: else ->
           if
           :: asleep & (1 << t) -> wake(t, true)
           :: else
           fi;
           t++
        od
#endif
     fi;
     assert(!drawn[number]);
     drawn[number] = true;
     wants[_pid] = false;
     round++
  od;
  finished[_pid] = true
}

init {
  d_step {
    byte i = 1;
    do
    :: i < S -> turn[i] = i; i++
    :: else -> break
    od;
    turn[0] = S;
    started = true
  }
}

/* Each thread that wants the lock or a result gets one; and all threads end. */
ltl progress { [] (wants[0] -> <> !wants[0]) && [] (wants[N - 1] -> <> !wants[N - 1]) && <> (finished[0] && finished[N - 1]) }
