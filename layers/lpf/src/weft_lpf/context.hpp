// SPDX-License-Identifier: Apache-2.0
// A context of LPF: what one process has registered and queued, and how it ends a superstep.
#pragma once

#include "weft_lpf/link.hpp"
#include "weft_lpf/place.hpp"
#include "weft_lpf/reads.hpp"
#include "weft_lpf/slot_table.hpp"
#include "weft_lpf/steps.hpp"

#include <lpf/core.h>
#include <lpf/cost.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft_lpf {

/// Is one process's view of the processes that run an SPMD function. The link is absent if there is one
/// process.
class context {
 public:
  context(link *below, std::uint64_t name, const place &where);
  context(const context &) = delete;
  context &operator=(const context &) = delete;
  ~context();

  [[nodiscard]] const place &where() const noexcept { return m_where; }
  [[nodiscard]] link *below() noexcept { return m_link; }
  /// Returns a name for one more context of the same processes, which all of them get; the same until use_name().
  [[nodiscard]] std::uint64_t next_name() const noexcept;
  void use_name() noexcept { ++m_children; }
  [[nodiscard]] bool has_failed() const noexcept { return m_has_failed || m_steps->has_failed(); }
  [[nodiscard]] const weft_lpf_cost_t &cost() const noexcept { return m_cost; }

  /// @{ Makes room. Errors. std::bad_alloc, std::length_error.
  void resize_register(std::size_t count);
  void resize_queue(std::size_t count);
  /// @}
  /// Errors. std::bad_alloc.
  [[nodiscard]] std::size_t add(slot_kind kind, void *begin, std::size_t bytes);
  /// Registers a double buffer of fresh memory, which all processes name by the slot.
  [[nodiscard]] std::size_t add_double(std::size_t bytes);
  /// Returns the half of a double buffer that puts of the superstep write; null if the slot is none.
  [[nodiscard]] void *half(std::size_t slot, std::uint64_t step);
  void remove(std::size_t slot) noexcept;
  [[nodiscard]] slot_table &slots() noexcept { return m_slots; }
  [[nodiscard]] steps &task_steps() noexcept { return *m_steps; }

  /// Queues a copy between the `own` slot and one of process `pid`. Errors. std::bad_alloc.
  enum class direction : std::uint8_t { put, get };
  void queue(direction to, std::size_t own, std::size_t own_offset, unsigned pid, std::size_t slot,
             std::size_t offset, std::size_t bytes);

  /// Keeps puts and gets out of traces: they only measure.
  void hide_copies() noexcept { m_hides_copies = true; }

  // ---- messages that are counted by slots (lpf_counting_sync_per_slot). Each call hands over what is queued.
  /// Waits until so many puts from and to the memory of a slot have ended. Errors. std::bad_alloc, weft::error.
  bool counting_sync(std::size_t slot, std::uint64_t sent, std::uint64_t received);
  /// Waits until what was begun with the slot, or with all, has ended. Errors. As counting_sync().
  bool sync_slot(std::size_t slot);
  enum class way : std::uint8_t { sent, received };
  /// Returns how many puts from or to a slot, or all, have ended. Errors. std::bad_alloc.
  std::uint64_t count_of(std::size_t slot, way which);
  /// Is a lock, 8 bytes of a process, with own 8 bytes for its calls.
  struct lock_place {
    std::size_t own, own_offset;
    unsigned pid;
    std::size_t slot, offset;
  };
  /// @{ Takes a lock as soon as it is free, and gives it back. Errors. As counting_sync().
  bool lock(const lock_place &where);
  bool unlock(const lock_place &where);
  /// @}

  enum class ending : std::uint64_t { superstep, function };
  /// Ends the superstep, or the SPMD function. Returns false, and the context has failed, if it cannot.
  bool sync(ending how) noexcept;
  /// Makes the context fail at all processes, with a message.
  void fail(const std::string &why) noexcept;
  /// Makes the context fail at all processes, because this one does not run. Returns false.
  bool quiet_failure() noexcept;
  /// Makes the context fail at all processes, because a call of this one has returned LPF_ERR_FATAL: its process is in LPF's
  /// failure state from then on.
  void enter_failure_state() noexcept;

 private:
  struct request {
    std::byte *own;
    std::size_t own_slot;
    std::size_t slot;
    std::size_t offset;
    std::size_t bytes;
    unsigned pid;
    direction to;
    std::uint32_t number = 0; // in the trace; 0: none
  };
  struct short_write {
    std::byte *to;
    const std::byte *from;
    std::size_t bytes;
  };
  class reader;

  bool issue_queued();
  std::optional<std::uint64_t> swap(const char *name, const lock_place &where, std::uint64_t from,
                                    std::uint64_t to);
  void fail_lock(const char *name, const lock_place &where, std::uint64_t seen) noexcept;
  void count_superstep() noexcept;
  bool exchange(ending how);
  void write_requests(ending how);
  [[nodiscard]] bool read_requests(ending how);
  bool read_letter(unsigned from, std::span<const std::byte> bytes, ending how);
  [[nodiscard]] bool read_answers();
  bool copy();
  bool copy_own(const request &own);
  /// Puts the bytes into the stream to a process: themselves if they are few, else where they are.
  void write_data(unsigned to, std::byte *data, std::size_t slot, std::size_t bytes);
  bool read_data(unsigned from, reader &in, std::byte *to, std::size_t bytes);
  /// Returns where bytes of a slot are; null, and the context has failed, if there are none such.
  std::byte *find(std::size_t slot, std::size_t offset, std::size_t bytes, unsigned from,
                  const char *what);
  void keep_from_readers() noexcept;
  void hide_shown() noexcept;
  enum class memory : std::uint8_t { given, all };
  void remove_keys(memory which) noexcept;
  void free_double(registration &one) noexcept; // with the lock
  [[nodiscard]] bool wait_for(stream what, const std::vector<bool> &from);
  void send(unsigned to, stream what);
  [[nodiscard]] bool traces_copies() const noexcept { return !m_hides_copies && m_link->is_traced(); }
  void note_ends(direction of) noexcept;
  [[nodiscard]] std::string who() const;

  link *const m_link;
  const std::uint64_t m_name;
  const place m_where;
  std::uint64_t m_children = 0;
  superstep m_now;
  std::atomic<bool> m_has_failed{false}; // the program's context is used by several threads
  bool m_hides_copies = false;
  slot_table m_slots;
  std::mutex m_slots_lock; // tasks look slots up, and other processes ask where they are
  std::vector<request> m_requests;
  std::uint64_t m_sent = 0, m_received = 0; // puts that lpf_sync has ended, of all slots ever
  weft_lpf_cost_t m_cost{};

  // Of the superstep that ends:
  mail *m_mail = nullptr;
  std::vector<std::vector<std::byte>> m_out; // by process: a stream that is written
  std::vector<std::size_t> m_out_data; // by process: of that, the bytes of puts and gets
  std::vector<bool> m_others; // by process: it is not this one
  std::vector<bool> m_asks; // by process: it has got gets
  std::vector<bool> m_shows; // by process: it reads memory of this one
  std::vector<bool> m_is_read; // by process: this one reads its memory
  std::vector<long_read> m_reads;
  bool m_is_reading = false; // reads have begun, and have not been waited for
  std::vector<std::size_t> m_shown; // slots of which others read
  std::vector<short_write> m_writes;
  std::vector<unsigned> m_puts_from; // processes, for the trace

  std::shared_ptr<steps> m_steps;
};

/// Calls the SPMD function in a context, and ends it. Returns whether all went well.
bool run_spmd(context &self, lpf_spmd_t spmd, const lpf_args_t &args) noexcept;

} // namespace weft_lpf
