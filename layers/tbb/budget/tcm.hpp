// SPDX-License-Identifier: Apache-2.0
// The interface of libtcm.so.1, the thread budget that oneTBB since 2021.11 and Intel's OpenMP ask
// for. The layouts are those that these libraries are compiled with.
#pragma once

#include <cstdint>

namespace weft_tcm {

enum result : std::int32_t {
  success = 0,
  invalid_argument = 0x78000004,
  unknown_error = 0x7ffffffe
};

enum class permit_state : std::uint8_t { none, inactive, pending, idle, active };

constexpr std::int32_t k_automatic = -1;

struct permit_flags {
  std::uint32_t stale : 1;
  std::uint32_t rigid_concurrency : 1;
  std::uint32_t exclusive : 1;
  std::uint32_t request_as_inactive : 1;
  std::uint32_t reserved : 28;
};

struct callback_flags {
  std::uint32_t new_concurrency : 1;
  std::uint32_t new_state : 1;
  std::uint32_t reserved : 30;
};

struct permit_data {
  std::uint32_t *concurrencies; // one for each constraint, or one
  void **cpu_masks;
  std::uint32_t size;
  permit_state state;
  permit_flags flags;
};

struct constraint {
  std::int32_t min_concurrency;
  std::int32_t max_concurrency;
  void *mask;
  std::int32_t numa_id;
  std::int32_t core_type_id;
  std::int32_t threads_per_core;
};

struct request {
  std::int32_t min_sw_threads;
  std::int32_t max_sw_threads;
  constraint *cpu_constraints;
  std::uint32_t constraints_size;
  std::int32_t priority;
  permit_flags flags;
  char reserved[4];
};
static_assert(sizeof(permit_data) == 32 && sizeof(constraint) == 32 && sizeof(request) == 32);

using client_id = std::uint64_t;
struct permit;
using callback = result (*)(permit *, void *argument, callback_flags);

} // namespace weft_tcm

#define WEFT_TCM_ENTRY extern "C" __attribute__((visibility("default")))

WEFT_TCM_ENTRY weft_tcm::result tcmConnect(weft_tcm::callback f, weft_tcm::client_id *id) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmDisconnect(weft_tcm::client_id id) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmRequestPermit(weft_tcm::client_id id, weft_tcm::request asked,
                                                 void *argument, weft_tcm::permit **handle,
                                                 weft_tcm::permit_data *data) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmGetPermitData(weft_tcm::permit *handle,
                                                 weft_tcm::permit_data *data) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmReleasePermit(weft_tcm::permit *handle) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmIdlePermit(weft_tcm::permit *handle) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmDeactivatePermit(weft_tcm::permit *handle) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmActivatePermit(weft_tcm::permit *handle) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmRegisterThread(weft_tcm::permit *handle) noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmUnregisterThread() noexcept;
WEFT_TCM_ENTRY weft_tcm::result tcmGetVersionInfo(char *buffer, std::uint32_t bytes) noexcept;
