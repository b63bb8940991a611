// SPDX-License-Identifier: Apache-2.0
// LPF, Lightweight Parallel Foundations: bulk-synchronous programs of processes that read and write each
// other's memory. Programs that were compiled against another header of LPF link with the library as well.
//
// An SPMD function is run by each process. Its time is divided into supersteps, which end with lpf_sync().
// A put or get is queued, and is done by the end of the superstep:
//
// - Two writes of a superstep to the same bytes have the result of some order of the two.
// - A superstep that reads and writes the same bytes by put and get is undefined.
// - Memory that takes part is the library's from the call, and that of other processes from the
//   begin of the superstep, to the end of lpf_sync().
//
// Threads. A context belongs to the process it was made for: one thread at a time uses it.
// Errors. Functions return LPF_SUCCESS, LPF_ERR_OUT_OF_MEMORY (nothing has changed), or LPF_ERR_FATAL
// (the context can do nothing more, and all of its processes learn that).
// Source. Suijlen and Yzelman, Lightweight Parallel Foundations, 2019, and its public interface.
#pragma once

#include <stddef.h>

#define _LPF_VERSION 202000L
#define _LPF_INCLUSIVE_MEMORY 202000L

#ifdef __cplusplus
extern "C" {
#endif

// Any function. In C the parameters are open on purpose.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstrict-prototypes"
#endif
typedef void (*lpf_func_t)();
#ifdef __clang__
#pragma clang diagnostic pop
#endif

typedef void *lpf_t; // a context, of one process
typedef unsigned lpf_pid_t; // the number of a process, from 0
typedef int lpf_err_t; // how a call has ended
typedef void *lpf_init_t; // processes that exist, for lpf_hook()
typedef int lpf_sync_attr_t; // how to end a superstep
typedef int lpf_msg_attr_t; // how to do a put or a get
typedef size_t lpf_memslot_t; // registered memory

// What goes into an SPMD function and comes out of it. With lpf_exec(), process 0 has all of it, and the
// others only the functions.
typedef struct lpf_args {
  const void *input;
  size_t input_size;
  void *output;
  size_t output_size;
  const lpf_func_t *f_symbols;
  size_t f_size;
} lpf_args_t;

// What a context has at its disposal. `g` returns the seconds for a byte, and `l` those for a superstep,
// among `nprocs` processes whose messages have at least `min_msg_size` bytes.
typedef struct lpf_machine {
  lpf_pid_t p; // all processes
  lpf_pid_t free_p; // those that lpf_exec() can use
  double (*g)(lpf_pid_t nprocs, size_t min_msg_size, lpf_sync_attr_t attr);
  double (*l)(lpf_pid_t nprocs, size_t min_msg_size, lpf_sync_attr_t attr);
} lpf_machine_t;

typedef void (*lpf_spmd_t)(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs,
                           const lpf_args_t args);

extern const lpf_err_t LPF_SUCCESS;
extern const lpf_err_t LPF_ERR_OUT_OF_MEMORY;
extern const lpf_err_t LPF_ERR_FATAL;
extern const lpf_args_t LPF_NO_ARGS;
extern const lpf_t LPF_NONE;
extern const lpf_t LPF_ROOT; // the context of the program outside of SPMD functions
extern const lpf_init_t LPF_INIT_NONE;
extern const lpf_sync_attr_t LPF_SYNC_DEFAULT;
extern const lpf_msg_attr_t LPF_MSG_DEFAULT;
extern const lpf_pid_t LPF_MAX_P; // for lpf_exec(): all
extern const lpf_machine_t LPF_INVALID_MACHINE;
extern const lpf_memslot_t LPF_INVALID_MEMSLOT;

// Runs `spmd` in new processes, `count` of them or lpf_machine_t::free_p, whichever is less. The caller is
// process 0. Without a job, and within an SPMD function, processes are threads of this process.
//
// Blocks. Yes, until all have returned.
// Errors. LPF_ERR_OUT_OF_MEMORY, and nothing has run; LPF_ERR_FATAL, if the processes did not all end in the same superstep.
// A process that gets LPF_ERR_FATAL, here or elsewhere, gets it from each later lpf_exec(), lpf_rehook() and lpf_sync().
lpf_err_t lpf_exec(lpf_t ctx, lpf_pid_t count, lpf_spmd_t spmd, lpf_args_t args);

// Runs `spmd` in the threads or processes that `init` has joined (lpf/pthread.h, lpf/mpi.h). All call it.
//
// Blocks. Yes. Errors. As lpf_exec(), but a later lpf_hook() begins anew; LPF_ERR_FATAL for LPF_INIT_NONE.
lpf_err_t lpf_hook(lpf_init_t init, lpf_spmd_t spmd, lpf_args_t args);

// Runs `spmd` in the processes of the context, with a context of its own. All call it.
//
// Blocks. Yes. Errors. As lpf_exec().
lpf_err_t lpf_rehook(lpf_t ctx, lpf_spmd_t spmd, lpf_args_t args);

// Registers memory that all processes name by the same slot, from the next lpf_sync(). All call it, in the
// same order; address and size may differ.
//
// Cost. No message. Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t lpf_register_global(lpf_t ctx, void *pointer, size_t size, lpf_memslot_t *memslot);

// Registers memory that only this process names.
//
// Cost. No message. Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t lpf_register_local(lpf_t ctx, void *pointer, size_t size, lpf_memslot_t *memslot);

// Ends a registration at once. For a global one, all call it in the same order.
//
// Undefined. A put or a get with the slot in the same superstep.
lpf_err_t lpf_deregister(lpf_t ctx, lpf_memslot_t memslot);

// Queues a copy of own memory to memory that a process has registered globally.
//
// Cost. Constant. Undefined. Bytes outside of the slots: lpf_sync() then returns LPF_ERR_FATAL, with a
// message.
lpf_err_t lpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

// Queues a copy of memory that a process has registered globally to own memory.
//
// Cost. Constant. Undefined. As lpf_put().
lpf_err_t lpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

// Ends the superstep: returns when all copies from and to memory of this process are done. All call it.
//
// Cost. One message to each other process, and what docs/user/ranks/lpf.md says about gets and long copies.
// Blocks. Yes. Errors. LPF_ERR_FATAL, if a process has returned from the SPMD function, or is lost; no process uses the
// memory of this one for it then.
lpf_err_t lpf_sync(lpf_t ctx, lpf_sync_attr_t attr);

// Describes what the context can use.
//
// Cost. The first call measures, for some milliseconds; of processes that lpf_hook() joins, that does. Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t lpf_probe(lpf_t ctx, lpf_machine_t *params);

// Makes room for this many registrations, from the next lpf_sync().
//
// Errors. LPF_ERR_OUT_OF_MEMORY; then the room is as it was.
lpf_err_t lpf_resize_memory_register(lpf_t ctx, size_t max_regs);

// Makes room for this many copies from or to this process in a superstep, from the next lpf_sync().
//
// Errors. LPF_ERR_OUT_OF_MEMORY; then the room is as it was.
lpf_err_t lpf_resize_message_queue(lpf_t ctx, size_t max_msgs);

// ---- Messages that are counted by slots, without supersteps. A branch of LPF has them.
//
// Each of these functions sends what lpf_put() and lpf_get() have queued before it, in no order; lpf_sync() need not
// follow, and ends what they have sent. A slot counts the puts that have ended: those from its memory as sent, and those that have come to its memory
// as received, from its registration on, with those of supersteps. Gets are not counted.

// Waits until the slot has sent and received so many puts.
//
// Blocks. Yes. Errors. LPF_ERR_FATAL, as lpf_sync(). The attribute is not used.
lpf_err_t lpf_counting_sync_per_slot(lpf_t ctx, lpf_sync_attr_t attr, lpf_memslot_t slot,
                                     size_t expected_sent, size_t expected_rcvd);

// Waits until the own puts from the slot and gets into it have ended. What others send to it need not have come.
//
// Blocks. Yes. Errors. As lpf_counting_sync_per_slot().
lpf_err_t lpf_sync_per_slot(lpf_t ctx, lpf_sync_attr_t attr, lpf_memslot_t slot);

// Waits until all own puts and gets have ended: their memory may be used again.
//
// Blocks. Yes. Errors. As lpf_counting_sync_per_slot().
lpf_err_t lpf_flush_sent(lpf_t ctx);

// Counts what has come by now.
//
// Blocks. Never. Errors. As lpf_counting_sync_per_slot().
lpf_err_t lpf_flush_received(lpf_t ctx);

// Return the numbers of puts of a slot, or of all slots. They take what has come before.
//
// Blocks. Never. Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t lpf_get_rcvd_msg_count_per_slot(lpf_t ctx, size_t *rcvd_msgs, lpf_memslot_t slot);
lpf_err_t lpf_get_rcvd_msg_count(lpf_t ctx, size_t *rcvd_msgs);
lpf_err_t lpf_get_sent_msg_count_per_slot(lpf_t ctx, size_t *sent_msgs, lpf_memslot_t slot);
lpf_err_t lpf_get_sent_msg_count(lpf_t ctx, size_t *sent_msgs);

// Take and give back a lock: 8 aligned bytes of a process, which are 0 at first and 1 while it is taken. The 8 bytes in
// the own slot are used by the call. `size` is not used.
//
// Blocks. Yes. Errors. As lpf_counting_sync_per_slot(); LPF_ERR_FATAL for a lock that is given back and free, and for one
// that has another value.
lpf_err_t lpf_lock_slot(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                        lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);
lpf_err_t lpf_unlock_slot(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                          lpf_memslot_t dst_slot, size_t dst_offset, size_t size,
                          lpf_msg_attr_t attr);

#ifdef __cplusplus
}
#endif
