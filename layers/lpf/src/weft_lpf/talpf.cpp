// SPDX-License-Identifier: Apache-2.0
// The functions of lpf/talpf.h.
#include "weft_lpf/api.hpp"
#include "weft_lpf/context.hpp"
#include "weft_lpf/machine.hpp"
#include "weft_lpf/steps.hpp"

#include <lpf/talpf.h>

#include <weft/config.hpp>

using weft_lpf::answer;
using weft_lpf::context;
using weft_lpf::steps;

namespace {

context &real(lpf_t ctx) {
  return ctx == LPF_ROOT ? weft_lpf::root_context() : *static_cast<context *>(ctx);
}

lpf_err_t issue(lpf_t ctx, const steps::request &asked) {
  return answer("a message", [&] { return real(ctx).task_steps().issue(asked); });
}

} // namespace

extern "C" {

WEFT_API lpf_err_t talpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                             lpf_pid_t dst_pid, lpf_memslot_t dst_slot, size_t dst_offset,
                             size_t size, lpf_msg_attr_t) {
  return issue(ctx,
               {steps::kind::put, src_slot, src_offset, dst_pid, dst_slot, dst_offset, size, 0, 0});
}

WEFT_API lpf_err_t talpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot,
                             size_t src_offset, lpf_memslot_t dst_slot, size_t dst_offset,
                             size_t size, lpf_msg_attr_t) {
  return issue(ctx,
               {steps::kind::get, dst_slot, dst_offset, src_pid, src_slot, src_offset, size, 0, 0});
}

WEFT_API lpf_err_t talpf_atomic_fetch_and_add(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                                              lpf_pid_t dst_pid, lpf_memslot_t dst_slot,
                                              size_t dst_offset, uint64_t value) {
  return issue(ctx, {steps::kind::fetch_add, src_slot, src_offset, dst_pid, dst_slot, dst_offset,
                     sizeof(uint64_t), value, 0});
}

WEFT_API lpf_err_t talpf_atomic_cmp_and_swp(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                                            lpf_pid_t dst_pid, lpf_memslot_t dst_slot,
                                            size_t dst_offset, uint64_t cmp, uint64_t swp) {
  return issue(ctx, {steps::kind::compare_swap, src_slot, src_offset, dst_pid, dst_slot, dst_offset,
                     sizeof(uint64_t), swp, cmp});
}

WEFT_API lpf_err_t talpf_sync(lpf_t ctx, lpf_sync_attr_t attr) {
  return answer("talpf_sync",
                [&] { return real(ctx).task_steps().sync(static_cast<std::uint32_t>(attr)); });
}

WEFT_API lpf_err_t talpf_register_double(lpf_t ctx, size_t size, lpf_memslot_t *memslot) {
  return answer("talpf_register_double", [&] {
    *memslot = real(ctx).add_double(size);
    return true;
  });
}

WEFT_API void *talpf_half(lpf_t ctx, lpf_memslot_t memslot, uint64_t superstep) {
  return real(ctx).half(memslot, superstep);
}

WEFT_API uint64_t talpf_superstep(lpf_t ctx) { return real(ctx).task_steps().now(); }

} // extern "C"
