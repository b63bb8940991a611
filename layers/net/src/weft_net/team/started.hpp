// SPDX-License-Identifier: Apache-2.0
// An operation of a team that has been started: its parts, and what ends with it.
#pragma once

#include "weft_net/sync/credit_count.hpp"
#include "weft_net/sync/part_count.hpp"
#include "weft_net/team/completion.hpp"

#include <weft/net/transport.hpp>
#include <weft/sync/event.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>

namespace weft_net {

using weft::net::operation;

/// Is a caller that waits for a place in the queue to a rank.
struct queued_caller {
  queued_caller *next = nullptr;
  weft::event has_place;
  std::string name; // of its task, for reports of waits; empty: it is none
};
using places = credit_count<queued_caller>;

/// Takes a place, and suspends the caller until there is one. `to` makes progress meanwhile, because
/// operations are in flight.
///
/// Errors. no_block where the caller may not wait.
void take_place(places &of, weft::net::transport &to, int rank);
/// Gives a place back.
void return_place(places &of) noexcept;

/// Is what an operation tells, and names in messages.
class names_of_ranks {
 public:
  [[nodiscard]] virtual std::string name_of_rank(int rank) const = 0;
  [[nodiscard]] virtual int own_number() const noexcept = 0;
  /// Notes that an operation to a rank has ended. `number` is its number in the trace; 0: none.
  virtual void note_end(int rank, weft::net::action what, std::uint32_t number) noexcept = 0;

 protected:
  ~names_of_ranks() = default;
};

class started;

/// Lists the operations that are under way, for reports of waits.
class started_list {
 public:
  void add(started &one) noexcept;
  void remove(started &one) noexcept;
  /// Calls `visit(operation)` for each. Returns false, and has called nothing, while the list is being changed.
  template <class Visit>
  [[nodiscard]] bool try_visit(Visit &&visit) noexcept;

 private:
  weft_common::spin_lock<real_atomics> m_lock;
  started *m_first = nullptr;
};

/// Is one operation, in parts of `chunk` bytes at most. It deletes itself when the last part has
/// ended.
class started {
 public:
  /// Takes over a place of `of`, and what ends with the operation. `whole` says what to do. If it
  /// throws, it has taken nothing.
  started(const operation &whole, std::size_t chunk, places &of, completion &ends,
          names_of_ranks &names, started_list &all);
  started(const started &) = delete;
  started &operator=(const started &) = delete;

  /// Gives the operation a number in the trace, which note_end() gets.
  void set_trace_number(std::uint32_t number) noexcept { m_trace_number = number; }
  /// Starts all parts. Afterwards the object is the transport's.
  ///
  /// Errors. out_of_resources and shut_down; the operation is under way then.
  void submit(weft::net::transport &to);

  // Of one in the list:
  [[nodiscard]] const completion &ends() const noexcept { return m_ends; }
  [[nodiscard]] int rank() const noexcept { return m_parts[0].rank; }
  [[nodiscard]] weft::net::action what() const noexcept { return m_what; }
  [[nodiscard]] std::size_t bytes() const noexcept { return m_bytes; }

 private:
  friend started_list;
  struct part : operation {
    started *whole = nullptr;
  };
  ~started() = default;
  static void part_ended(operation &self) noexcept;
  void end() noexcept;
  [[nodiscard]] const part *first_failure() const noexcept;

  places &m_places;
  completion m_ends;
  names_of_ranks &m_names;
  std::size_t m_bytes;
  std::uint32_t m_trace_number = 0;
  weft::net::action m_what;
  std::size_t m_count;
  std::unique_ptr<part[]> m_parts;
  part_count<> m_left;
  started_list &m_all;
  started *m_next = nullptr, *m_before = nullptr; // in the list
};

template <class Visit>
bool started_list::try_visit(Visit &&visit) noexcept {
  if (!m_lock.try_lock())
    return false;
  for (const started *one = m_first; one; one = one->m_next)
    visit(*one);
  m_lock.unlock();
  return true;
}

/// Returns the exception that says how an operation has failed.
[[nodiscard]] std::exception_ptr failure_of(const operation &op, weft::net::action what,
                                            std::size_t bytes, const names_of_ranks &names);
/// Returns the name of an operation, as in the calls.
[[nodiscard]] const char *name_of(weft::net::action what) noexcept;
/// Returns the same, with the bytes: "put of 800 bytes", "notify".
[[nodiscard]] std::string name_of(weft::net::action what, std::size_t bytes);

} // namespace weft_net
