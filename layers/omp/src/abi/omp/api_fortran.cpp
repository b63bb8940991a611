// SPDX-License-Identifier: Apache-2.0
// The Fortran names: arguments by reference, default integers of 4 bytes and, under names that end in _8_, of 8.
#include "abi/api.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

int to_int(std::int64_t n) noexcept {
  return static_cast<int>(std::clamp<std::int64_t>(n, INT_MIN, INT_MAX));
}

} // namespace

extern "C" {

int omp_get_dynamic();
int omp_get_max_threads();
int omp_get_nested();
int omp_get_num_procs();
int omp_get_num_threads();
int omp_get_thread_num();
int omp_get_level();
int omp_get_active_level();
int omp_get_max_active_levels();
int omp_get_thread_limit();
int omp_get_supported_active_levels();
int omp_get_cancellation();
int omp_get_proc_bind();
int omp_get_default_device();
int omp_get_num_devices();
int omp_get_num_teams();
int omp_get_team_num();
int omp_get_max_task_priority();
int omp_get_num_places();
int omp_get_place_num();
int omp_get_partition_num_places();
int omp_get_initial_device();
int omp_get_device_num();
int omp_get_max_teams();
int omp_get_teams_thread_limit();
int omp_in_parallel();
int omp_in_final();
int omp_is_initial_device();
double omp_get_wtime();
double omp_get_wtick();
void omp_set_dynamic(int);
void omp_set_nested(int);
void omp_set_num_threads(int);
void omp_set_max_active_levels(int);
void omp_set_default_device(int);
void omp_set_num_teams(int);
void omp_set_teams_thread_limit(int);
void omp_set_schedule(int, int);
void omp_get_schedule(int *, int *);
int omp_get_ancestor_thread_num(int);
int omp_get_team_size(int);
int omp_get_place_num_procs(int);
void omp_get_place_proc_ids(int, int *);
void omp_get_partition_place_nums(int *);
void omp_set_affinity_format(const char *);
std::size_t omp_get_affinity_format(char *, std::size_t);
void omp_display_affinity(const char *);
std::size_t omp_capture_affinity(char *, std::size_t, const char *);
int omp_pause_resource(int, int);
int omp_pause_resource_all(int);
void omp_display_env(int);
void omp_fulfill_event(void *);
std::uintptr_t omp_init_allocator(std::uintptr_t, int, const void *);
void omp_destroy_allocator(std::uintptr_t);
void omp_set_default_allocator(std::uintptr_t);
std::uintptr_t omp_get_default_allocator();
}

OMP_API int omp_get_dynamic_() { return omp_get_dynamic(); }
OMP_API int omp_get_max_threads_() { return omp_get_max_threads(); }
OMP_API int omp_get_nested_() { return omp_get_nested(); }
OMP_API int omp_get_num_procs_() { return omp_get_num_procs(); }
OMP_API int omp_get_num_threads_() { return omp_get_num_threads(); }
OMP_API int omp_get_thread_num_() { return omp_get_thread_num(); }
OMP_API int omp_get_level_() { return omp_get_level(); }
OMP_API int omp_get_active_level_() { return omp_get_active_level(); }
OMP_API int omp_get_max_active_levels_() { return omp_get_max_active_levels(); }
OMP_API int omp_get_thread_limit_() { return omp_get_thread_limit(); }
OMP_API int omp_get_supported_active_levels_() { return omp_get_supported_active_levels(); }
OMP_API int omp_get_cancellation_() { return omp_get_cancellation(); }
OMP_API int omp_get_proc_bind_() { return omp_get_proc_bind(); }
OMP_API int omp_get_default_device_() { return omp_get_default_device(); }
OMP_API int omp_get_num_devices_() { return omp_get_num_devices(); }
OMP_API int omp_get_num_teams_() { return omp_get_num_teams(); }
OMP_API int omp_get_team_num_() { return omp_get_team_num(); }
OMP_API int omp_get_max_task_priority_() { return omp_get_max_task_priority(); }
OMP_API int omp_get_num_places_() { return omp_get_num_places(); }
OMP_API int omp_get_place_num_() { return omp_get_place_num(); }
OMP_API int omp_get_partition_num_places_() { return omp_get_partition_num_places(); }
OMP_API int omp_get_initial_device_() { return omp_get_initial_device(); }
OMP_API int omp_get_device_num_() { return omp_get_device_num(); }
OMP_API int omp_get_max_teams_() { return omp_get_max_teams(); }
OMP_API int omp_get_teams_thread_limit_() { return omp_get_teams_thread_limit(); }
OMP_API int omp_in_parallel_() { return omp_in_parallel(); }
OMP_API int omp_in_final_() { return omp_in_final(); }
OMP_API int omp_is_initial_device_() { return omp_is_initial_device(); }
OMP_API double omp_get_wtime_() { return omp_get_wtime(); }
OMP_API double omp_get_wtick_() { return omp_get_wtick(); }

OMP_API void omp_set_dynamic_(const std::int32_t *value) { omp_set_dynamic(*value); }
OMP_API void omp_set_dynamic_8_(const std::int64_t *value) { omp_set_dynamic(to_int(*value)); }
OMP_API void omp_set_nested_(const std::int32_t *value) { omp_set_nested(*value); }
OMP_API void omp_set_nested_8_(const std::int64_t *value) { omp_set_nested(to_int(*value)); }
OMP_API void omp_set_num_threads_(const std::int32_t *value) { omp_set_num_threads(*value); }
OMP_API void omp_set_num_threads_8_(const std::int64_t *value) {
  omp_set_num_threads(to_int(*value));
}
OMP_API void omp_set_max_active_levels_(const std::int32_t *value) {
  omp_set_max_active_levels(*value);
}
OMP_API void omp_set_max_active_levels_8_(const std::int64_t *value) {
  omp_set_max_active_levels(to_int(*value));
}
OMP_API void omp_set_default_device_(const std::int32_t *value) { omp_set_default_device(*value); }
OMP_API void omp_set_default_device_8_(const std::int64_t *value) {
  omp_set_default_device(to_int(*value));
}
OMP_API void omp_set_num_teams_(const std::int32_t *value) { omp_set_num_teams(*value); }
OMP_API void omp_set_num_teams_8_(const std::int64_t *value) { omp_set_num_teams(to_int(*value)); }
OMP_API void omp_set_teams_thread_limit_(const std::int32_t *value) {
  omp_set_teams_thread_limit(*value);
}
OMP_API void omp_set_teams_thread_limit_8_(const std::int64_t *value) {
  omp_set_teams_thread_limit(to_int(*value));
}
OMP_API int omp_get_ancestor_thread_num_(const std::int32_t *value) {
  return omp_get_ancestor_thread_num(*value);
}
OMP_API int omp_get_ancestor_thread_num_8_(const std::int64_t *value) {
  return omp_get_ancestor_thread_num(to_int(*value));
}
OMP_API int omp_get_team_size_(const std::int32_t *value) { return omp_get_team_size(*value); }
OMP_API int omp_get_team_size_8_(const std::int64_t *value) {
  return omp_get_team_size(to_int(*value));
}
OMP_API int omp_get_place_num_procs_(const std::int32_t *value) {
  return omp_get_place_num_procs(*value);
}
OMP_API int omp_get_place_num_procs_8_(const std::int64_t *value) {
  return omp_get_place_num_procs(to_int(*value));
}

OMP_API void omp_set_schedule_(const std::int32_t *kind, const std::int32_t *chunk) {
  omp_set_schedule(*kind, *chunk);
}
OMP_API void omp_set_schedule_8_(const std::int32_t *kind, const std::int64_t *chunk) {
  omp_set_schedule(*kind, to_int(*chunk));
}
OMP_API void omp_get_schedule_(std::int32_t *kind, std::int32_t *chunk) {
  omp_get_schedule(kind, chunk);
}
OMP_API void omp_get_schedule_8_(std::int32_t *kind, std::int64_t *chunk) {
  int short_chunk = 0;
  omp_get_schedule(kind, &short_chunk);
  *chunk = short_chunk;
}

OMP_API void omp_get_place_proc_ids_(const std::int32_t *place, std::int32_t *ids) {
  omp_get_place_proc_ids(*place, ids);
}
OMP_API void omp_get_place_proc_ids_8_(const std::int64_t *place, std::int64_t *ids) {
  std::vector<int> all(
      static_cast<std::size_t>(std::max(omp_get_place_num_procs(to_int(*place)), 0)));
  omp_get_place_proc_ids(to_int(*place), all.data());
  std::copy(all.begin(), all.end(), ids);
}
OMP_API void omp_get_partition_place_nums_(std::int32_t *numbers) {
  omp_get_partition_place_nums(numbers);
}
OMP_API void omp_get_partition_place_nums_8_(std::int64_t *numbers) {
  std::vector<int> all(static_cast<std::size_t>(std::max(omp_get_partition_num_places(), 0)));
  omp_get_partition_place_nums(all.data());
  std::copy(all.begin(), all.end(), numbers);
}

// Texts are padded with blanks; their lengths are the last arguments.
namespace {

std::string text_of(const char *text, std::size_t length) {
  while (length > 0 && text[length - 1] == ' ')
    --length;
  return {text, length};
}

int put_padded(char *to, std::size_t room, const std::string &text) {
  const std::size_t n = std::min(room, text.size());
  std::memcpy(to, text.data(), n);
  std::memset(to + n, ' ', room - n);
  return static_cast<int>(text.size());
}

std::string captured(const std::string &format) {
  std::string text(omp_capture_affinity(nullptr, 0, format.c_str()), ' ');
  omp_capture_affinity(text.data(), text.size() + 1, format.c_str());
  return text;
}

} // namespace

OMP_API void omp_set_affinity_format_(const char *format, std::size_t length) {
  omp_set_affinity_format(text_of(format, length).c_str());
}
OMP_API int omp_get_affinity_format_(char *to, std::size_t room) {
  std::string text(omp_get_affinity_format(nullptr, 0), ' ');
  omp_get_affinity_format(text.data(), text.size() + 1);
  return put_padded(to, room, text);
}
OMP_API void omp_display_affinity_(const char *format, std::size_t length) {
  omp_display_affinity(text_of(format, length).c_str());
}
OMP_API int omp_capture_affinity_(char *to, const char *format, std::size_t room,
                                  std::size_t length) {
  return put_padded(to, room, captured(text_of(format, length)));
}

OMP_API int omp_pause_resource_(const std::int32_t *kind, const std::int32_t *device) {
  return omp_pause_resource(*kind, *device);
}
OMP_API int omp_pause_resource_all_(const std::int32_t *kind) {
  return omp_pause_resource_all(*kind);
}
OMP_API void omp_display_env_(const std::int32_t *verbose) { omp_display_env(*verbose); }
OMP_API void omp_display_env_8_(const std::int64_t *verbose) { omp_display_env(*verbose != 0); }
OMP_API void omp_fulfill_event_(std::intptr_t event) {
  omp_fulfill_event(reinterpret_cast<void *>(event));
}
OMP_API std::intptr_t omp_init_allocator_(const std::intptr_t *space, const std::int32_t *count,
                                          const void *traits) {
  return static_cast<std::intptr_t>(
      omp_init_allocator(static_cast<std::uintptr_t>(*space), *count, traits));
}
OMP_API std::intptr_t omp_init_allocator_8_(const std::intptr_t *space, const std::int64_t *count,
                                            const void *traits) {
  return static_cast<std::intptr_t>(
      omp_init_allocator(static_cast<std::uintptr_t>(*space), to_int(*count), traits));
}
OMP_API void omp_destroy_allocator_(const std::uintptr_t *handle) {
  omp_destroy_allocator(*handle);
}
OMP_API void omp_set_default_allocator_(const std::uintptr_t *handle) {
  omp_set_default_allocator(*handle);
}
OMP_API std::uintptr_t omp_get_default_allocator_() { return omp_get_default_allocator(); }

OMP_ALSO_LLVM(omp_capture_affinity_, OMP_5.0);
OMP_ALSO_LLVM(omp_destroy_allocator_, OMP_5.0.1);
OMP_ALSO_LLVM(omp_display_affinity_, OMP_5.0);
OMP_ALSO_LLVM(omp_display_env_, OMP_5.1);
OMP_ALSO_LLVM(omp_fulfill_event_, OMP_5.0.1);
OMP_ALSO_LLVM(omp_get_active_level_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_affinity_format_, OMP_5.0);
OMP_ALSO_LLVM(omp_get_ancestor_thread_num_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_cancellation_, OMP_4.0);
OMP_ALSO_LLVM(omp_get_default_allocator_, OMP_5.0.1);
OMP_ALSO_LLVM(omp_get_default_device_, OMP_4.0);
OMP_ALSO_LLVM(omp_get_device_num_, OMP_5.0.2);
OMP_ALSO_LLVM(omp_get_dynamic_, OMP_1.0);
OMP_ALSO_LLVM(omp_get_initial_device_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_level_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_max_active_levels_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_max_task_priority_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_max_teams_, OMP_5.1);
OMP_ALSO_LLVM(omp_get_max_threads_, OMP_1.0);
OMP_ALSO_LLVM(omp_get_nested_, OMP_1.0);
OMP_ALSO_LLVM(omp_get_num_devices_, OMP_4.0);
OMP_ALSO_LLVM(omp_get_num_places_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_num_procs_, OMP_1.0);
OMP_ALSO_LLVM(omp_get_num_teams_, OMP_4.0);
OMP_ALSO_LLVM(omp_get_num_threads_, OMP_1.0);
OMP_ALSO_LLVM(omp_get_partition_num_places_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_partition_place_nums_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_place_num_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_place_num_procs_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_place_proc_ids_, OMP_4.5);
OMP_ALSO_LLVM(omp_get_proc_bind_, OMP_4.0);
OMP_ALSO_LLVM(omp_get_schedule_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_supported_active_levels_, OMP_5.0.1);
OMP_ALSO_LLVM(omp_get_team_num_, OMP_4.0);
OMP_ALSO_LLVM(omp_get_team_size_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_teams_thread_limit_, OMP_5.1);
OMP_ALSO_LLVM(omp_get_thread_limit_, OMP_3.0);
OMP_ALSO_LLVM(omp_get_thread_num_, OMP_1.0);
OMP_ALSO_LLVM(omp_get_wtick_, OMP_2.0);
OMP_ALSO_LLVM(omp_get_wtime_, OMP_2.0);
OMP_ALSO_LLVM(omp_in_final_, OMP_3.1);
OMP_ALSO_LLVM(omp_in_parallel_, OMP_1.0);
OMP_ALSO_LLVM(omp_init_allocator_, OMP_5.0.1);
OMP_ALSO_LLVM(omp_is_initial_device_, OMP_4.0);
OMP_ALSO_LLVM(omp_pause_resource_, OMP_5.0);
OMP_ALSO_LLVM(omp_pause_resource_all_, OMP_5.0);
OMP_ALSO_LLVM(omp_set_affinity_format_, OMP_5.0);
OMP_ALSO_LLVM(omp_set_default_allocator_, OMP_5.0.1);
OMP_ALSO_LLVM(omp_set_default_device_, OMP_4.0);
OMP_ALSO_LLVM(omp_set_dynamic_, OMP_1.0);
OMP_ALSO_LLVM(omp_set_max_active_levels_, OMP_3.0);
OMP_ALSO_LLVM(omp_set_nested_, OMP_1.0);
OMP_ALSO_LLVM(omp_set_num_teams_, OMP_5.1);
OMP_ALSO_LLVM(omp_set_num_threads_, OMP_1.0);
OMP_ALSO_LLVM(omp_set_schedule_, OMP_3.0);
OMP_ALSO_LLVM(omp_set_teams_thread_limit_, OMP_5.1);
