/* SPDX-License-Identifier: Apache-2.0
 *
 * The state machine of src/deps/state/access_state.hpp with the messages of src/deps/registration.cpp: tasks with one access each to
 * one datum. The registrar enters tasks 0, 1, ... while those that are ready run, each in a process of its own. With NESTED=n, task
 * 1 is weak and enters n children (one or two), tasks T and T + 1, from its own body.
 *
 *   KINDS          bit i: task i only reads; the weak task writes
 *   READS_LATE     a delivery reads the links after it has published; the access may be gone by
 *   then
 *   FORGETS_NEXT   a successor gets nothing
 *   FORGETS_CHILD  a linked child gets nothing when its parent's access gets it
 *   DIES_EARLY     an access is dead before its successor is known
 *   DIES_WITHOUT_C an access is dead while the message that its children only read is on its way
 */
#ifndef T
#define T 4
#endif
#ifndef KINDS
#define KINDS 6 /* writer, two readers, writer */
#endif
#ifdef NESTED
#define ALL (T + NESTED)
#else
#define ALL T
#endif

#define R_ 1
#define W_ 2
#define F_ 4
#define K_ 8
#define N_ 16
#define NR_ 32
#define NP_ 64
#define L_ 128
#define C_ 256
#define BOTH (R_ | W_)
#define RELEASED (BOTH | F_ | C_ | K_)
#if defined(DIES_EARLY)
#define DEAD RELEASED
#elif defined(DIES_WITHOUT_C)
#define DEAD (BOTH | F_ | K_ | N_)
#else
#define DEAD (RELEASED | N_)
#endif
#define released(f) (((f) & RELEASED) == RELEASED)

#define NONE 254
#define GONE 255

#define reads(a) ((KINDS >> (a)) & 1)
#ifdef NESTED
#define weak(a) ((a) == 1)
#else
#define weak(a) false
#endif

#define reads_on_only(f, a) \
  (reads(a) -> ((f) & R_) != 0 : ((f) & (BOTH | F_ | C_)) == (BOTH | F_ | C_))
#define due_to_next(f, a) \
  (((f) & N_) == 0 -> 0 : \
  (((f) & NP_) != 0 -> (released(f) -> C_ | K_ : (reads_on_only(f, a) -> C_ : 0)) : \
  (released(f) -> BOTH : ((((f) & NR_) != 0 && reads_on_only(f, a)) -> R_ : 0))))
#define due_to_child(f) (((f) & L_) != 0 -> ((f) & BOTH) : 0)
#define needed(a) (reads(a) -> R_ : W_)

short flags[ALL];
byte successor[ALL];
byte child[ALL];
bool may_run[ALL];
byte times_ended[ALL];
byte finished_count;
byte readers, writers;

inline die(a) {
  d_step {
    times_ended[a]++;
    assert(times_ended[a] == 1);
    successor[a] = GONE; /* the memory is used for something else */
    child[a] = GONE
  }
}

/* Does what a delivery causes, once it has published. */
inline act() {
  if
  :: !weak(a) && (after & ~before & needed(a)) != 0 -> assert(!may_run[a]); may_run[a] = true
  :: else
  fi;
  if
  :: (after & DEAD) == DEAD -> die(a)
  :: else
  fi;
#ifndef READS_LATE
  pass_on()
#endif
}

inline pass_on() {
#ifndef FORGETS_NEXT
  if
  :: next_bits != 0 && next != NONE -> assert(next != GONE); box ! next, next_bits
  :: else
  fi;
#endif
#ifndef FORGETS_CHILD
  if
  :: child_bits != 0 -> assert(child_of_a < ALL); box ! child_of_a, child_bits
  :: else
  fi
#endif
}

/* Delivers everything in the box, and what follows from it. A box holds messages (access, bits). */
inline deliver_all() {
  do
  :: nempty(box) ->
     box ? a, bits;
     tries = 0;
     do
     :: atomic { before = flags[a]; assert(times_ended[a] == 0); assert((before & bits) == 0) }; /* I3, I1 */
        atomic {
          after = before | bits;
          next_bits = due_to_next(after, a) & ~due_to_next(before, a);
          child_bits = due_to_child(after) & ~due_to_child(before);
          next = successor[a];
          child_of_a = child[a];
          tries++;
          assert(tries <= 9) /* wait-free: the paper's Lemma 2.3 */
        };
        atomic { /* compare-exchange, and what follows without a look at the access */
          if
          :: flags[a] == before -> flags[a] = after; act(); break
          :: else
          fi
        }
     od;
#ifdef READS_LATE
     atomic { next = successor[a]; child_of_a = child[a] };
     pass_on()
#endif
  :: empty(box) -> break
  od
}

/* Registers access a behind `last`. */
inline enter(t, last) {
  before = flags[last];
  if
  :: released(before) -> die(last); flags[t] = BOTH; may_run[t] = true
  :: else ->
     successor[last] = t;
     box ! last, N_ | (reads(t) -> NR_ : 0);
     deliver_all()
  fi
}

#define LOCALS \
  chan box = [6] of { byte, short }; \
  xr box; xs box; \
  short bits, before, after, next_bits; \
  byte a, child_bits, next, child_of_a, tries

inline body(t) {
  atomic {
    if
    :: reads(t) -> assert(writers == 0); readers++
    :: else -> assert(writers == 0 && readers == 0); writers++
    fi
  };
  if
  :: reads(t) -> readers--
  :: else -> writers--
  fi
}

#ifdef NESTED
/* Starts a weak parent at once; its children wait for what its access gets. */
inline nested_body() {
  before = flags[1];
  if
  :: (before & BOTH) == BOTH -> flags[T] = BOTH; may_run[T] = true
  :: else -> child[1] = T; box ! 1, L_; deliver_all()
  fi;
#if NESTED > 1
  enter(T + 1, T);
#endif
  successor[ALL - 1] = 1;
  box ! ALL - 1, N_ | NP_;
  box ! 1, F_;
  deliver_all()
}
#endif

active [ALL] proctype task() {
  LOCALS;
  (may_run[_pid]);
#ifdef NESTED
  if
  :: _pid == 1 -> nested_body()
  :: else -> body(_pid); box ! _pid, F_ | C_ | K_; deliver_all()
  fi;
#else
  body(_pid);
  box ! _pid, F_ | C_ | K_;
  deliver_all();
#endif
  finished_count++
}

active proctype registrar() {
  LOCALS;
  byte t;
  d_step {
    t = 0;
    do
    :: t < ALL -> successor[t] = NONE; child[t] = NONE; t++
    :: else -> break
    od
  };
  flags[0] = BOTH;
  may_run[0] = true;
  t = 1;
  do
  :: t == T -> break
  :: else ->
     enter(t, t - 1);
     if
     :: weak(t) -> may_run[t] = true
     :: else
     fi;
     t++
  od;
  box ! T - 1, N_; /* the parent's body ends: nothing follows */
  deliver_all();
  finished_count++
}

#define ALL_OVER (finished_count == ALL + 1)
/* Every body runs once, and every access dies once. */
ltl progress { <> (ALL_OVER && times_ended[0] == 1 && times_ended[1] == 1 && times_ended[T - 1] == 1 && times_ended[ALL - 1] == 1) }
