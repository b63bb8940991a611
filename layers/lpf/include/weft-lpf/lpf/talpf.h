// SPDX-License-Identifier: Apache-2.0
// Task-aware LPF: messages and supersteps as tasks of Weft (weft.h). A put or a get is issued at once, by
// the task that calls it, and the task's accesses are released when it has ended. So tasks that use the data
// need no other wait, and a superstep ends in a task as well.
//
// - Messages belong to the superstep that the next talpf_sync() of their process ends. All processes end the
//   same supersteps in the same order; several may be under way.
// - The accesses of a task that calls talpf_sync() order it behind the messages of its superstep, and behind
//   tasks that read what the one before has brought.
// - A put of a superstep may arrive before its receiver has ended the one before. A slot of
//   talpf_register_double() keeps the two apart; a program may also take two slots in turn.
// - Writes of a superstep to the same bytes, and reads beside them, are in no order: there is no other rule
//   than that of the atomic operations.
//
// Threads. Any task of the process, and its thread, at the same time; registrations as in lpf/core.h.
// Errors. Functions return LPF_SUCCESS, LPF_ERR_OUT_OF_MEMORY (nothing has changed), or LPF_ERR_FATAL, with a
// line on standard error. A failure behind the return is one of the task, which weft_taskwait() returns.
// Source. Cinca Roca, Task-Aware LPF, 2023, and its public interface.
#pragma once

#include <lpf/core.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How talpf_sync() ends a superstep, beside LPF_SYNC_DEFAULT. LPF_SYNC_BARRIER is added to one of the others.
#define LPF_SYNC_CACHED 0x40000000
#define LPF_SYNC_MSG(messages) (0x20000000 + (messages))
#define LPF_SYNC_BARRIER ((lpf_sync_attr_t)(-2147483647 - 1))

// Copies own memory to memory of a process. The task ends when the source may be used again.
//
// Cost. One message; more than net.chunk bytes: one for each part. The first message to a slot of a process
// asks it where the slot is.
// Blocks. Never. Errors. LPF_ERR_FATAL for bytes that are not in the slots.
lpf_err_t talpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                    lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

// Copies memory of a process to own memory. The task ends when the data are there. The process counts it as
// a message to it.
//
// Cost. As talpf_put(), and one message behind it. Blocks. Never. Errors. As talpf_put().
lpf_err_t talpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                    lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

// Adds to 8 bytes of a process as one step. The task ends when the value before is in own memory.
//
// Cost. Blocks. Errors. As talpf_get().
lpf_err_t talpf_atomic_fetch_and_add(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                                     lpf_pid_t dst_pid, lpf_memslot_t dst_slot, size_t dst_offset,
                                     uint64_t value);

// Stores `swp` in 8 bytes of a process if they are `cmp`, as one step. The task ends when the value before is
// in own memory.
//
// Cost. Blocks. Errors. As talpf_get().
lpf_err_t talpf_atomic_cmp_and_swp(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset,
                                   lpf_pid_t dst_pid, lpf_memslot_t dst_slot, size_t dst_offset,
                                   uint64_t cmp, uint64_t swp);

// Ends the superstep. The task ends when its messages have ended and those to this process have arrived; a
// thread waits for that.
//
// - LPF_SYNC_DEFAULT: the processes exchange their counts, and a barrier follows. It forgets cached counts.
// - LPF_SYNC_CACHED: the counts are those of the first such call. lpf.check compares them.
// - LPF_SYNC_MSG(n): n messages come to this process, of all processes together.
// - LPF_SYNC_BARRIER with these: no process goes on before all have their data.
//
// Cost. Messages of a process, for p processes: 2 * ceil(log2 p) with LPF_SYNC_DEFAULT, none with the others;
// ceil(log2 p) for the barrier; without one, an acknowledgement to each process that has sent messages and gets
// none (lpf.acknowledge).
// Blocks. A task never. A thread, yes.
// Errors. LPF_ERR_FATAL if the context has failed: a process is lost, or counts are not those of the cache.
lpf_err_t talpf_sync(lpf_t ctx, lpf_sync_attr_t attr);

// Registers a double buffer of fresh memory, zero at first, which all processes name by the slot, from the next
// sync. All call it, as lpf_register_global(). Puts of a superstep write one half, and those of the next one
// the other; gets and atomic operations are refused. As a source, the slot is the memory of both halves.
//
// Ownership. lpf_deregister() frees the memory, or the end of the context.
// Cost. No message. Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t talpf_register_double(lpf_t ctx, size_t size, lpf_memslot_t *memslot);

// Returns the half of a double buffer that puts of the superstep write. After that superstep it may be read
// until the next one ends. NULL for another slot.
void *talpf_half(lpf_t ctx, lpf_memslot_t memslot, uint64_t superstep);

// Returns the number of the superstep that the next talpf_sync() of the process ends, from 1.
uint64_t talpf_superstep(lpf_t ctx);

#ifdef __cplusplus
}
#endif
