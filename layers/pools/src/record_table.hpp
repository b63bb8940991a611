// SPDX-License-Identifier: Apache-2.0
// The records of the threads that a program makes: which thread has which, and whether Weft has it.
// There is no lock, because a thread may call fork() at any time: a lock that it took for the fork
// would be held while handlers of other libraries run, which may wait for threads that begin or
// end; and a lock that another thread held would be held in the child for ever.
//
// Roles       User: a thread that begins or ends: take, add, show, give_back. Attacher: any thread.
//             Child: the thread that a fork() has left, in its handler: forget. Handlers of other
//             libraries, which run before it, may have made users in the child.
// Words       owners[i] of a block: the process whose thread has the record; 0: none. shown[i]:
//             Weft has the record, or an attacher or the record's user is about to give it to Weft.
//             m_first, next: the blocks; a block that is listed stays. m_calls: Weft's functions;
//             null until Weft is loaded.
// Invariants  I1  A record is of the user that has set its owner, until the user clears it, or
//                 until the child does so for a user of the parent process.
//             I2  Once m_calls is not null, Weft has each record in use, once. Excepted is, in a
//                 child, a record that a thread of the parent was giving to Weft as the process
//                 forked.
// Orders      O1  owner: compare_exchange acquire (seq_cst by O3), stores of 0 release: the user
//                 sees what the user before it, or the child, has done to the record.
//             O2  m_first: compare_exchange release (seq_cst by O3), loads acquire: the block is
//                 complete.
//             O3  A user sets the owner, or lists a block, then loads m_calls. An attacher sets
//                 m_calls, then loads m_first and the owners. All seq_cst: one of the two sees the
//                 other (Dekker), and gives the record to Weft; shown chooses one if both do.
//             O4  m_calls: compare_exchange release (seq_cst by O3), loads acquire: the table of
//                 functions is complete. It is constant in Weft, and no model needs the order.
// Progress    take is wait-free in the number of records, add lock-free, all else wait-free.
// Reclamation None: the watcher may look at records of threads that have ended.
// Source      Own; a table of owners, as of hazard pointers.
// Checked by  tests/model/layers/pools_models.cpp: pool_records_*; layers/pools/tests/fork_test.cpp
#pragma once

#include "mutant.hpp"

#include <atomic>

namespace weft_pools {

/// What the table needs of a policy for lock-free components (weft_common/atomics.hpp).
struct real_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  struct var {
    T value{};
    T get() const noexcept { return value; }
    void set(T to) noexcept { value = to; }
  };
};

template <class Record, class Calls, unsigned Places = 64, class P = real_atomics>
class record_table {
 public:
  struct block;
  struct entry : Record {
    block *home = nullptr; // set by each user
  };
  struct block {
    typename P::template atomic<int> owners[Places]{};
    typename P::template atomic<bool> shown[Places]{};
    typename P::template var<block *> next{};
    entry entries[Places]{};
  };

  /// Returns Weft's functions; null: Weft is not loaded.
  [[nodiscard]] const Calls *calls() const noexcept {
    return m_calls.load(std::memory_order_acquire); // O4
  }

  /// Takes a record that no thread has, for a thread of this process. Returns null if there is
  /// none.
  [[nodiscard]] entry *take(int process) noexcept {
    for (block *b = m_first.load(std::memory_order_acquire); b; b = b->next.get()) // O2
      for (unsigned i = 0; i < Places; ++i) {
        int none = 0;
        if (b->owners[i].load(std::memory_order_relaxed) == 0 &&
            b->owners[i].compare_exchange_strong(
                none, process,
                order_unless(bug::pools_owner_unseen, std::memory_order_seq_cst),
                std::memory_order_relaxed)) // O1, O3
          return use(*b, i);
      }
    return nullptr;
  }

  /// Adds a fresh block, and takes its first record.
  [[nodiscard]] entry *add(block &fresh, int process) noexcept {
    fresh.owners[0].store(process, std::memory_order_relaxed);
    block *first = m_first.load(std::memory_order_relaxed);
    do
      fresh.next.set(first);
    while (!m_first.compare_exchange_weak(first, &fresh, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)); // O2, O3
    return use(fresh, 0);
  }

  /// Gives the record to Weft, by give(functions, record), unless Weft has it or is not there. Its
  /// user calls this after it has taken the record.
  template <class Give>
  void show(entry &own, Give give) noexcept {
    if (const Calls *const weft = m_calls.load(std::memory_order_seq_cst)) // O3
      show_once(*own.home, place_of(own), *weft, give);
  }

  /// Gives a record back. It is the user's last use of it.
  void give_back(entry &own) noexcept {
    own.home->owners[place_of(own)].store(
        0, order_unless(bug::pools_given_back_relaxed, std::memory_order_release)); // O1
  }

  /// Takes Weft's functions, and gives Weft all records in use. Returns false if the table has
  /// functions already.
  template <class Give>
  bool attach(const Calls &weft, Give give) noexcept {
    const Calls *none = nullptr;
    if (!m_calls.compare_exchange_strong(none, &weft, std::memory_order_seq_cst,
                                         std::memory_order_relaxed)) // O3
      return false;
    for (block *b = m_first.load(std::memory_order_seq_cst); b; b = b->next.get()) // O2, O3
      for (unsigned i = 0; i < Places; ++i)
        if (b->owners[i].load(std::memory_order_seq_cst) != 0) // O3
          show_once(*b, i, weft, give);
    return true;
  }

  /// Gives back the records of all threads of other processes, after end(record); `own`, the record
  /// of the caller, which has forked, becomes one of this process. `own` may be null.
  template <class End>
  void forget(int process, const entry *own, End end) noexcept {
    for (block *b = m_first.load(std::memory_order_acquire); b; b = b->next.get()) // O2
      for (unsigned i = 0; i < Places; ++i) {
        const int owner = b->owners[i].load(std::memory_order_relaxed);
        if (owner == 0 || owner == process)
          continue;
        if (unless(bug::pools_child_forgets_itself, &b->entries[i] == own)) {
          b->owners[i].store(process, std::memory_order_relaxed);
          continue;
        }
        end(b->entries[i]);
        b->owners[i].store(0, std::memory_order_release); // O1
      }
  }

 private:
  static entry *use(block &home, unsigned place) noexcept {
    home.entries[place].home = &home;
    return &home.entries[place];
  }
  static unsigned place_of(const entry &own) noexcept {
    return static_cast<unsigned>(&own - own.home->entries);
  }
  template <class Give>
  static void show_once(block &home, unsigned place, const Calls &weft, Give give) noexcept {
    const bool other_does = home.shown[place].exchange(true, std::memory_order_relaxed); // O3 orders
    if (!unless(bug::pools_shown_twice, other_does))
      give(weft, home.entries[place]);
  }

  typename P::template atomic<block *> m_first{nullptr};
  typename P::template atomic<const Calls *> m_calls{nullptr};
};

} // namespace weft_pools
