// SPDX-License-Identifier: Apache-2.0
// Target regions and devices. The host is the only device, so a target region is a call, and data
// are not moved.
#include "abi/api.hpp"
#include "abi/gnu/gomp.hpp"
#include "task/depend.hpp"
#include "team/task_wait.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace weft_omp;

namespace {

constexpr int k_host = 0; // the number of the host: no device comes before it
constexpr int k_invalid = 22; // EINVAL
bool is_host(int device) noexcept { return device == k_host || device == -1; }

/// Ends the program if OMP_TARGET_OFFLOAD is mandatory and `device` is not the host, as libgomp
/// does.
/// A program may ask for the host by its number, or by if(false), which is -2; -1 means the ICV's
/// device.
void refuse_mandatory(int device) {
  if (g_globals.target_offload == 1 && (device == -1 ? my_icvs().device : device) > k_host)
    fatal(
        "OMP_TARGET_OFFLOAD is mandatory, but there is no device: Weft runs target regions on the host; unset the variable");
}

/// Returns the thread limit in a list of words that a null ends.
/// A word says what it sets, for which device, and either the value or that the next word is the
/// value.
unsigned thread_limit_of(void **list) noexcept {
  constexpr std::uintptr_t k_device = 0x7f, k_value_follows = 0x80, k_what = 0xff00,
                           k_thread_limit = 0x200;
  while (list && *list) {
    const auto word = reinterpret_cast<std::uintptr_t>(*list++);
    const std::intptr_t value = word & k_value_follows ? reinterpret_cast<std::intptr_t>(*list++)
                                                       : static_cast<std::intptr_t>(word) >> 16;
    if ((word & k_device) == 0 && (word & k_what) == k_thread_limit)
      return value > 0 ? static_cast<unsigned>(std::min<std::intptr_t>(value, INT_MAX)) : 0;
  }
  return 0;
}

/// Runs the body like an initial thread of the device: outside of the regions around it, with the
/// ICVs with which the process began.
void run_on_host(int device, void (*body)(void *), void **addresses, unsigned thread_limit = 0) {
  refuse_mandatory(device);
  thread &self = weft_omp::self();
  omp_team *const team = make_initial_team(self);
  struct {
    omp_team *team;
    omp_task *task;
    unsigned number, teams, teams_number;
    workshare_state workshare;
    thread_placement placement;
  } const before{self.team,         self.task,      self.number,   self.teams,
                 self.teams_number, self.workshare, self.placement};
  if (thread_limit)
    team->settings.thread_limit = thread_limit;
  team->implicit[0].group = nullptr;
  self.team = team;
  self.task = &team->implicit[0];
  self.number = 0;
  self.teams = 1;
  self.teams_number = 0;
  self.workshare = {};
  body(addresses);
  wait_for_children(self);
  team->implicit[0].end_implicit(self);
  self.team = before.team;
  self.task = before.task;
  self.number = before.number;
  self.teams = before.teams;
  self.teams_number = before.teams_number;
  self.workshare = before.workshare;
  self.placement = before.placement;
  put_free_team(*team);
}

constexpr unsigned k_firstprivate = 12; // of the low 8 bits of a kind

/// Runs the body with copies of firstprivate variables, because the region may change these
/// variables.
void run_with_copies(int device, void (*body)(void *), std::size_t count, void **addresses,
                     const std::size_t *sizes, const unsigned short *kinds, unsigned thread_limit) {
  std::size_t room = 0;
  for (std::size_t i = 0; i < count; ++i)
    if ((kinds[i] & 0xff) == k_firstprivate)
      room += sizes[i] + (std::size_t{1} << (kinds[i] >> 8));
  char *const copies = room ? static_cast<char *>(std::malloc(room)) : nullptr;
  if (room && !copies)
    fatal("no memory for %zu bytes of firstprivate variables of a target region", room);
  char *at = copies;
  for (std::size_t i = 0; i < count && copies; ++i) {
    if ((kinds[i] & 0xff) != k_firstprivate || !addresses[i])
      continue;
    const std::uintptr_t align = std::uintptr_t{1} << (kinds[i] >> 8);
    at =
        reinterpret_cast<char *>((reinterpret_cast<std::uintptr_t>(at) + align - 1) & ~(align - 1));
    std::memcpy(at, addresses[i], sizes[i]);
    addresses[i] = at;
    at += sizes[i];
  }
  run_on_host(device, body, addresses, thread_limit);
  std::free(copies);
}

void wait_for_depend(void **depend) {
  thread &self = weft_omp::self();
  if (depend && self.task->external)
    wait_for_accesses(self, access_list(self, depend));
}

} // namespace

extern "C" {

GOMP_API void GOMP_target(int device, void (*body)(void *), const void *, std::size_t,
                          void **addresses, std::size_t *, unsigned char *) {
  run_on_host(device, body, addresses);
}
GOMP_API void GOMP_target_ext(int device, void (*body)(void *), std::size_t count, void **addresses,
                              std::size_t *sizes, unsigned short *kinds, unsigned, void **depend,
                              void **more) {
  wait_for_depend(depend);
  run_with_copies(device, body, count, addresses, sizes, kinds, thread_limit_of(more));
}
GOMP_API void GOMP_target_data(int device, const void *, std::size_t, void **, std::size_t *,
                               unsigned char *) {
  refuse_mandatory(device);
}
GOMP_API void GOMP_target_data_ext(int device, std::size_t, void **, std::size_t *,
                                   unsigned short *) {
  refuse_mandatory(device);
}
GOMP_API void GOMP_target_end_data() {}
GOMP_API void GOMP_target_update(int device, const void *, std::size_t, void **, std::size_t *,
                                 unsigned char *) {
  refuse_mandatory(device);
}
GOMP_API void GOMP_target_update_ext(int device, std::size_t, void **, std::size_t *,
                                     unsigned short *, unsigned, void **depend) {
  refuse_mandatory(device);
  wait_for_depend(depend);
}
GOMP_API void GOMP_target_enter_exit_data(int device, std::size_t, void **, std::size_t *,
                                          unsigned short *, unsigned, void **depend) {
  refuse_mandatory(device);
  wait_for_depend(depend);
}
GOMP_API void GOMP_teams(unsigned, unsigned limit) {
  thread &self = weft_omp::self();
  if (limit)
    own_icvs().thread_limit = limit;
  self.teams = 1; // whatever number the program asks for: one team runs the whole region
  self.teams_number = 0;
}
GOMP_API bool GOMP_teams4(unsigned low, unsigned, unsigned limit, bool first) {
  thread &self = weft_omp::self();
  if (!first) {
    if (self.teams_number + 1 >= self.teams)
      return false; // the last team has run
    ++self.teams_number;
    return true;
  }
  if (limit)
    own_icvs().thread_limit = limit;
  self.teams = low ? low : 1;
  self.teams_number = 0;
  return true;
}
GOMP_API void GOMP_offload_register(const void *, int, const void *) {}
GOMP_API void GOMP_offload_register_ver(unsigned, const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister(const void *, int, const void *) {}
GOMP_API void GOMP_offload_unregister_ver(unsigned, const void *, int, const void *) {}
}

OMP_API void omp_set_default_device(int n) { own_icvs().device = n > 0 ? n : 0; }
OMP_API int omp_get_default_device() { return my_icvs().device; }
OMP_API int omp_get_num_devices() { return 0; }
OMP_API int omp_is_initial_device() { return 1; }
OMP_API int omp_get_initial_device() { return k_host; }
OMP_API int omp_get_device_num() { return k_host; }
OMP_API void *omp_target_alloc(std::size_t bytes, int device) {
  return is_host(device) ? std::malloc(bytes) : nullptr;
}
OMP_API void omp_target_free(void *p, int device) {
  if (is_host(device))
    std::free(p);
}
OMP_API int omp_target_is_present(const void *, int device) {
  return is_host(device);
}
OMP_API int omp_target_memcpy(void *to, const void *from, std::size_t bytes, std::size_t to_offset,
                              std::size_t from_offset, int to_device, int from_device) {
  if (!is_host(to_device) || !is_host(from_device))
    return k_invalid;
  std::memcpy(static_cast<char *>(to) + to_offset, static_cast<const char *>(from) + from_offset,
              bytes);
  return 0;
}

namespace {

/// Copies a box of an array. Extents and offsets are given per dimension, the outermost first.
void copy_box(char *to, const char *from, std::size_t element, int dimensions,
              const std::size_t *volume, const std::size_t *to_offsets,
              const std::size_t *from_offsets, const std::size_t *to_extents,
              const std::size_t *from_extents) {
  std::size_t to_slice = element, from_slice = element;
  for (int i = 1; i < dimensions; ++i) {
    to_slice *= to_extents[i];
    from_slice *= from_extents[i];
  }
  to += to_offsets[0] * to_slice;
  from += from_offsets[0] * from_slice;
  if (dimensions == 1)
    return void(std::memcpy(to, from, element * volume[0]));
  for (std::size_t i = 0; i < volume[0]; ++i)
    copy_box(to + i * to_slice, from + i * from_slice, element, dimensions - 1, volume + 1,
             to_offsets + 1, from_offsets + 1, to_extents + 1, from_extents + 1);
}

} // namespace

OMP_API int omp_target_memcpy_rect(void *to, const void *from, std::size_t element, int dimensions,
                                   const std::size_t *volume, const std::size_t *to_offsets,
                                   const std::size_t *from_offsets, const std::size_t *to_extents,
                                   const std::size_t *from_extents, int to_device,
                                   int from_device) {
  if (!to && !from)
    return INT_MAX;
  if (!is_host(to_device) || !is_host(from_device))
    return k_invalid;
  if (element == 0 || dimensions < 1)
    return k_invalid;
  copy_box(static_cast<char *>(to), static_cast<const char *>(from), element, dimensions, volume,
           to_offsets, from_offsets, to_extents, from_extents);
  return 0;
}
OMP_API int omp_target_associate_ptr(const void *, const void *, std::size_t, std::size_t, int) {
  return k_invalid;
}
OMP_API int omp_target_disassociate_ptr(const void *, int) { return k_invalid; }

OMP_ALSO_LLVM(omp_set_default_device, OMP_4.0);
OMP_ALSO_LLVM(omp_get_default_device, OMP_4.0);
OMP_ALSO_LLVM(omp_get_num_devices, OMP_4.0);
OMP_ALSO_LLVM(omp_is_initial_device, OMP_4.0);
OMP_ALSO_LLVM(omp_get_initial_device, OMP_4.5);
OMP_ALSO_LLVM(omp_get_device_num, OMP_5.0.2);
OMP_ALSO_LLVM(omp_target_alloc, OMP_4.5);
OMP_ALSO_LLVM(omp_target_free, OMP_4.5);
OMP_ALSO_LLVM(omp_target_is_present, OMP_4.5);
OMP_ALSO_LLVM(omp_target_memcpy, OMP_4.5);
OMP_ALSO_LLVM(omp_target_memcpy_rect, OMP_4.5);
OMP_ALSO_LLVM(omp_target_associate_ptr, OMP_4.5);
OMP_ALSO_LLVM(omp_target_disassociate_ptr, OMP_4.5);
