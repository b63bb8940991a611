// SPDX-License-Identifier: Apache-2.0
// LPF: registrations that other processes need not take part in. A slot is sent to those that may use it.
#pragma once

#include <lpf/core.h>

#define _LPF_NOC_VERSION 202400L

#ifdef __cplusplus
extern "C" {
#endif

// Makes room for this many registrations. As lpf_resize_memory_register().
lpf_err_t lpf_noc_resize_memory_register(lpf_t ctx, size_t max_regs);

// Registers memory, at once. The slot is a number that other processes may use, however they get it.
//
// Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t lpf_noc_register(lpf_t ctx, void *pointer, size_t size, lpf_memslot_t *memslot);

// Ends a registration at once. Its number may come again; see lpf_noc_deserialize_slot().
//
// Undefined. A put or a get with the slot in the same superstep.
lpf_err_t lpf_noc_deregister(lpf_t ctx, lpf_memslot_t memslot);

// Queues a copy, as lpf_put(); `dst_slot` is of process `dst_pid`.
lpf_err_t lpf_noc_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                      lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

// Queues a copy, as lpf_get(); `src_slot` is of process `src_pid`.
lpf_err_t lpf_noc_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                      lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

// Describes a slot by bytes, which may be sent.
//
// Ownership. The caller frees the bytes with free(). Errors. LPF_ERR_OUT_OF_MEMORY.
lpf_err_t lpf_noc_serialize_slot(lpf_t ctx, lpf_memslot_t slot, char **buff, size_t *buff_size);

// Makes a slot of lpf_noc_register() stand for the one that the bytes describe. A process whose messages are counted by
// slots keeps where a slot is; after this call it asks again, because its number may have been that of an earlier one.
lpf_err_t lpf_noc_deserialize_slot(lpf_t ctx, char *buff, lpf_memslot_t slot);

#ifdef __cplusplus
}
#endif
