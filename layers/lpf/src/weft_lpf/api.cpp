// SPDX-License-Identifier: Apache-2.0
// The functions of lpf/core.h, lpf/abort.h, lpf/noc.h and lpf/cost.h.
#include "weft_lpf/api.hpp"

#include "weft_lpf/context.hpp"
#include "weft_lpf/machine.hpp"
#include "weft_lpf/processes.hpp"
#include "weft_lpf/report.hpp"
#include "weft_lpf/steps.hpp"

#include <lpf/abort.h>
#include <lpf/core.h>
#include <lpf/cost.h>
#include <lpf/noc.h>

#include <weft/config.hpp>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

using weft_lpf::answer;
using weft_lpf::context;
using weft_lpf::slot_kind;
using weft_lpf::steps;

namespace {

char g_root[] = "LPF_ROOT"; // its address names the root

context &real(lpf_t ctx) {
  return ctx == g_root ? weft_lpf::root_context() : *static_cast<context *>(ctx);
}

template <weft_lpf::machine M>
double gap(lpf_pid_t, std::size_t bytes, lpf_sync_attr_t) {
  return weft_lpf::gap(M, bytes);
}
template <weft_lpf::machine M>
double latency(lpf_pid_t, std::size_t, lpf_sync_attr_t) {
  return weft_lpf::latency(M);
}

/// Returns what a call of a process returns. One that gets LPF_ERR_FATAL is in its failure state.
lpf_err_t received(lpf_t ctx, lpf_err_t code) noexcept {
  if (code == LPF_ERR_FATAL)
    real(ctx).enter_failure_state();
  return code;
}

lpf_err_t add(lpf_t ctx, slot_kind kind, void *pointer, std::size_t size, lpf_memslot_t *memslot) {
  return answer("a registration", [&] {
    *memslot = real(ctx).add(kind, pointer, size);
    return true;
  });
}

lpf_err_t resize_register(lpf_t ctx, std::size_t count) {
  return answer("lpf_resize_memory_register", [&] {
    real(ctx).resize_register(count);
    return true;
  });
}

lpf_err_t remove(lpf_t ctx, lpf_memslot_t memslot) {
  real(ctx).remove(memslot);
  return 0;
}

lpf_err_t queue(lpf_t ctx, context::direction to, lpf_memslot_t own, std::size_t own_offset,
                lpf_pid_t pid, lpf_memslot_t slot, std::size_t offset, std::size_t size) {
  return answer("a copy", [&] {
    real(ctx).queue(to, own, own_offset, pid, slot, offset, size);
    return true;
  });
}

lpf_err_t count(lpf_t ctx, std::size_t *messages, lpf_memslot_t slot, context::way which) {
  return answer("a count of messages", [&] {
    *messages = real(ctx).count_of(slot, which);
    return true;
  });
}

/// Returns the slot that process `pid` knows, where a slot of this one may stand for it.
std::size_t slot_at(lpf_t ctx, lpf_pid_t pid, std::size_t slot) {
  context &self = real(ctx);
  const weft_lpf::registration *const r = self.slots().find(slot);
  return weft_lpf::is_lone(slot) && r && r->stands_for != 0 && pid != self.where().pid
             ? r->stands_for
             : slot;
}

} // namespace

extern "C" {

WEFT_API extern const lpf_err_t LPF_SUCCESS = 0;
WEFT_API extern const lpf_err_t LPF_ERR_OUT_OF_MEMORY = 1;
WEFT_API extern const lpf_err_t LPF_ERR_FATAL = 2;
WEFT_API extern const lpf_args_t LPF_NO_ARGS = {nullptr, 0, nullptr, 0, nullptr, 0};
WEFT_API extern const lpf_t LPF_NONE = nullptr;
WEFT_API extern const lpf_t LPF_ROOT = g_root;
WEFT_API extern const lpf_init_t LPF_INIT_NONE = nullptr;
WEFT_API extern const lpf_sync_attr_t LPF_SYNC_DEFAULT = 0;
WEFT_API extern const lpf_msg_attr_t LPF_MSG_DEFAULT = 0;
WEFT_API extern const lpf_pid_t LPF_MAX_P = UINT_MAX;
WEFT_API extern const lpf_machine_t LPF_INVALID_MACHINE = {0, 0, nullptr, nullptr};
WEFT_API extern const lpf_memslot_t LPF_INVALID_MEMSLOT = SIZE_MAX;
WEFT_API extern const int LPF_HAS_ABORT = 2; // with an exit code of its own, as other libraries

WEFT_API lpf_err_t lpf_exec(lpf_t ctx, lpf_pid_t count, lpf_spmd_t spmd, lpf_args_t args) {
  return received(ctx, answer("lpf_exec", [&] {
    context &self = real(ctx);
    if (self.has_failed())
      return false;
    const unsigned most = std::clamp(count, 1U, self.where().free);
    if (ctx != g_root)
      return run_in_threads(self.where(), most, spmd, args);
    if (weft_lpf::job_of_process())
      weft_lpf::measure(); // the others get the result with the order
    return weft_lpf::run_for_root(most, spmd, args);
  }));
}

WEFT_API lpf_err_t lpf_hook(lpf_init_t init, lpf_spmd_t spmd, lpf_args_t args) {
  auto *const group = static_cast<weft_lpf::joined *>(init);
  const lpf_err_t code = answer("lpf_hook", [&] {
    if (!group) {
      weft_lpf::report("lpf_hook got no processes; lpf_pthread_initialize and the like join them");
      return false;
    }
    return group->run(spmd, args);
  });
  if (code == LPF_ERR_FATAL && group)
    group->enter_failure_state();
  return code;
}

WEFT_API lpf_err_t lpf_rehook(lpf_t ctx, lpf_spmd_t spmd, lpf_args_t args) {
  return received(ctx, answer("lpf_rehook", [&] {
    context &self = real(ctx);
    if (self.has_failed())
      return false;
    context inner(self.below(), self.next_name(), self.where());
    self.use_name(); // a call without memory for the context may come again
    return run_spmd(inner, spmd, args);
  }));
}

WEFT_API lpf_err_t lpf_register_global(lpf_t ctx, void *pointer, size_t size,
                                       lpf_memslot_t *memslot) {
  return add(ctx, slot_kind::global, pointer, size, memslot);
}
WEFT_API lpf_err_t lpf_register_local(lpf_t ctx, void *pointer, size_t size,
                                      lpf_memslot_t *memslot) {
  return add(ctx, slot_kind::local, pointer, size, memslot);
}
WEFT_API lpf_err_t lpf_deregister(lpf_t ctx, lpf_memslot_t memslot) { return remove(ctx, memslot); }

WEFT_API lpf_err_t lpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                           lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t) {
  return queue(ctx, context::direction::put, src_slot, src_offset, dst_pid, dst_slot, dst_offset,
               size);
}
WEFT_API lpf_err_t lpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                           lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t) {
  return queue(ctx, context::direction::get, dst_slot, dst_offset, src_pid, src_slot, src_offset,
               size);
}

WEFT_API lpf_err_t lpf_sync(lpf_t ctx, lpf_sync_attr_t) {
  return answer("lpf_sync", [&] { return real(ctx).sync(context::ending::superstep); });
}

WEFT_API lpf_err_t lpf_probe(lpf_t ctx, lpf_machine_t *params) {
  return answer("lpf_probe", [&] {
    using weft_lpf::machine;
    const weft_lpf::place &where = real(ctx).where();
    if (where.is_hooked) { // lpf_hook() has measured
      *params = {where.all, where.free, &gap<machine::hooked>, &latency<machine::hooked>};
    } else {
      weft_lpf::measure();
      *params = {where.all, where.free, &gap<machine::program>, &latency<machine::program>};
    }
    return true;
  });
}

WEFT_API lpf_err_t lpf_resize_memory_register(lpf_t ctx, size_t max_regs) {
  return resize_register(ctx, max_regs);
}
WEFT_API lpf_err_t lpf_resize_message_queue(lpf_t ctx, size_t max_msgs) {
  return answer("lpf_resize_message_queue", [&] {
    real(ctx).resize_queue(max_msgs);
    return true;
  });
}

WEFT_API lpf_err_t lpf_abort(lpf_t) { std::quick_exit(6); }

// ---- messages that are counted by slots

WEFT_API lpf_err_t lpf_counting_sync_per_slot(lpf_t ctx, lpf_sync_attr_t, lpf_memslot_t slot,
                                              size_t expected_sent, size_t expected_rcvd) {
  return answer("lpf_counting_sync_per_slot",
                [&] { return real(ctx).counting_sync(slot, expected_sent, expected_rcvd); });
}
WEFT_API lpf_err_t lpf_sync_per_slot(lpf_t ctx, lpf_sync_attr_t, lpf_memslot_t slot) {
  return answer("lpf_sync_per_slot", [&] { return real(ctx).sync_slot(slot); });
}
WEFT_API lpf_err_t lpf_flush_sent(lpf_t ctx) {
  return answer("lpf_flush_sent", [&] { return real(ctx).sync_slot(steps::k_all_slots); });
}
WEFT_API lpf_err_t lpf_flush_received(lpf_t ctx) {
  return answer("lpf_flush_received", [&] {
    static_cast<void>(real(ctx).count_of(steps::k_all_slots, context::way::received));
    return !real(ctx).has_failed();
  });
}
WEFT_API lpf_err_t lpf_get_rcvd_msg_count_per_slot(lpf_t ctx, size_t *rcvd_msgs,
                                                   lpf_memslot_t slot) {
  return count(ctx, rcvd_msgs, slot, context::way::received);
}
WEFT_API lpf_err_t lpf_get_rcvd_msg_count(lpf_t ctx, size_t *rcvd_msgs) {
  return count(ctx, rcvd_msgs, steps::k_all_slots, context::way::received);
}
WEFT_API lpf_err_t lpf_get_sent_msg_count_per_slot(lpf_t ctx, size_t *sent_msgs,
                                                   lpf_memslot_t slot) {
  return count(ctx, sent_msgs, slot, context::way::sent);
}
WEFT_API lpf_err_t lpf_get_sent_msg_count(lpf_t ctx, size_t *sent_msgs) {
  return count(ctx, sent_msgs, steps::k_all_slots, context::way::sent);
}
WEFT_API lpf_err_t lpf_lock_slot(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                                 lpf_pid_t dst_pid, lpf_memslot_t dst_slot, size_t dst_offset,
                                 size_t, lpf_msg_attr_t) {
  return answer("lpf_lock_slot", [&] {
    return real(ctx).lock({src_slot, src_offset, dst_pid, dst_slot, dst_offset});
  });
}
WEFT_API lpf_err_t lpf_unlock_slot(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                                   lpf_pid_t dst_pid, lpf_memslot_t dst_slot, size_t dst_offset,
                                   size_t, lpf_msg_attr_t) {
  return answer("lpf_unlock_slot", [&] {
    return real(ctx).unlock({src_slot, src_offset, dst_pid, dst_slot, dst_offset});
  });
}

// ---- lpf/noc.h

WEFT_API lpf_err_t lpf_noc_resize_memory_register(lpf_t ctx, size_t max_regs) {
  return resize_register(ctx, max_regs);
}
WEFT_API lpf_err_t lpf_noc_register(lpf_t ctx, void *pointer, size_t size, lpf_memslot_t *memslot) {
  return add(ctx, slot_kind::lone, pointer, size, memslot);
}
WEFT_API lpf_err_t lpf_noc_deregister(lpf_t ctx, lpf_memslot_t memslot) {
  return remove(ctx, memslot);
}
WEFT_API lpf_err_t lpf_noc_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                               lpf_pid_t dst_pid, lpf_memslot_t dst_slot, size_t dst_offset,
                               size_t size, lpf_msg_attr_t) {
  return queue(ctx, context::direction::put, src_slot, src_offset, dst_pid,
               slot_at(ctx, dst_pid, dst_slot), dst_offset, size);
}
WEFT_API lpf_err_t lpf_noc_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot,
                               size_t src_offset, lpf_memslot_t dst_slot, size_t dst_offset,
                               size_t size, lpf_msg_attr_t) {
  return queue(ctx, context::direction::get, dst_slot, dst_offset, src_pid,
               slot_at(ctx, src_pid, src_slot), src_offset, size);
}

WEFT_API lpf_err_t lpf_noc_serialize_slot(lpf_t, lpf_memslot_t slot, char **buff,
                                          size_t *buff_size) {
  auto *const bytes = static_cast<char *>(std::malloc(sizeof slot));
  if (!bytes)
    return LPF_ERR_OUT_OF_MEMORY;
  std::memcpy(bytes, &slot, sizeof slot);
  *buff = bytes;
  *buff_size = sizeof slot;
  return LPF_SUCCESS;
}
WEFT_API lpf_err_t lpf_noc_deserialize_slot(lpf_t ctx, char *buff, lpf_memslot_t slot) {
  weft_lpf::registration *const r = real(ctx).slots().find(slot);
  if (!r || !weft_lpf::is_lone(slot)) {
    real(ctx).fail("lpf_noc_deserialize_slot got slot " + std::to_string(slot) +
                   ", which lpf_noc_register has not made here");
    return LPF_ERR_FATAL;
  }
  std::memcpy(&r->stands_for, buff, sizeof r->stands_for);
  real(ctx).task_steps().forget_remote(r->stands_for); // the number may have been another slot's
  return LPF_SUCCESS;
}

// ---- lpf/cost.h

WEFT_API lpf_err_t weft_lpf_cost(lpf_t ctx, weft_lpf_cost_t *cost) {
  *cost = real(ctx).cost();
  return LPF_SUCCESS;
}

} // extern "C"
