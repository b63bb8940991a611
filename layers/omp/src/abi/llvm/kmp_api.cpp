// SPDX-License-Identifier: Apache-2.0
// LLVM's kmp_*() of <omp.h>: by value for C, under names that end in _ by reference for Fortran, and again as kmpc_*() and ompc_*().
#include "abi/llvm/kmpc.hpp"
#include "config/environment.hpp"
#include "config/topology.hpp"
#include "placement/affinity.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include "tool/enter.hpp"

using namespace weft_omp;

// ---- memory: only kmp_free() frees what kmp_malloc() returns, so the C library's functions do ----

KMP_API void *kmp_malloc(std::size_t bytes) { return std::malloc(bytes); }
KMP_API void *kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
KMP_API void *kmp_calloc(std::size_t n, std::size_t bytes) { return std::calloc(n, bytes); }
KMP_API void *kmp_realloc(void *p, std::size_t bytes) { return std::realloc(p, bytes); }
KMP_API void kmp_free(void *p) { std::free(p); }
KMP_API void *kmpc_malloc(std::size_t bytes) { return kmp_malloc(bytes); }
KMP_API void *kmpc_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  return kmp_aligned_malloc(bytes, alignment);
}
KMP_API void *kmpc_calloc(std::size_t n, std::size_t bytes) { return kmp_calloc(n, bytes); }
KMP_API void *kmpc_realloc(void *p, std::size_t bytes) { return kmp_realloc(p, bytes); }
KMP_API void kmpc_free(void *p) { kmp_free(p); }
KMP_API void *kmp_malloc_(const std::size_t *bytes) { return kmp_malloc(*bytes); }
KMP_API void *kmp_aligned_malloc_(const std::size_t *bytes, const std::size_t *alignment) {
  return kmp_aligned_malloc(*bytes, *alignment);
}
KMP_API void *kmp_calloc_(const std::size_t *count, const std::size_t *bytes) {
  return kmp_calloc(*count, *bytes);
}
KMP_API void *kmp_realloc_(void **pointer, const std::size_t *bytes) {
  return kmp_realloc(*pointer, *bytes);
}
KMP_API void kmp_free_(void **pointer) { kmp_free(*pointer); }

// ---- stacks: a size is for threads that begin later, as in LLVM's runtime -------------------------

KMP_API void kmp_set_stacksize_s(std::size_t bytes) {
  of_process().stack_bytes = std::max(bytes, std::size_t{64} << 10);
}
KMP_API std::size_t kmp_get_stacksize_s() { return of_process().stack_bytes; }
KMP_API void kmp_set_stacksize(int bytes) {
  if (bytes > 0)
    kmp_set_stacksize_s(static_cast<std::size_t>(bytes));
}
KMP_API int kmp_get_stacksize() { return static_cast<int>(kmp_get_stacksize_s()); }
KMP_API void kmpc_set_stacksize(int bytes) { kmp_set_stacksize(bytes); }
KMP_API void kmpc_set_stacksize_s(std::size_t bytes) { kmp_set_stacksize_s(bytes); }
KMP_API void kmp_set_stacksize_(const int *bytes) { kmp_set_stacksize(*bytes); }
KMP_API void kmp_set_stacksize_s_(const std::size_t *bytes) { kmp_set_stacksize_s(*bytes); }
KMP_API int kmp_get_stacksize_() { return kmp_get_stacksize(); }
KMP_API std::size_t kmp_get_stacksize_s_() { return kmp_get_stacksize_s(); }

// ---- waiting: a thread spins for a moment and is then parked; the time is stored, without effect --

KMP_API void kmp_set_blocktime(int ms) { of_process().block_time = std::max(ms, 0); }
KMP_API int kmp_get_blocktime() { return of_process().block_time; }
KMP_API void kmp_set_library(int) {}
KMP_API void kmp_set_library_serial() { own_icvs().threads = 1; }
KMP_API void kmp_set_library_turnaround() {}
KMP_API void kmp_set_library_throughput() {}
KMP_API int kmp_get_library() { return 2; } // throughput: a thread never spins for long
KMP_API void kmpc_set_blocktime(int ms) { kmp_set_blocktime(ms); }
KMP_API void kmpc_set_library(int) {}
KMP_API void kmp_set_blocktime_(const int *ms) { kmp_set_blocktime(*ms); }
KMP_API int kmp_get_blocktime_() { return kmp_get_blocktime(); }
KMP_API void kmp_set_library_(const int *) {}
KMP_API void kmp_set_library_serial_() { kmp_set_library_serial(); }
KMP_API void kmp_set_library_turnaround_() {}
KMP_API void kmp_set_library_throughput_() {}
KMP_API int kmp_get_library_() { return kmp_get_library(); }

// ---- the rest -------------------------------------------------------------------------------------------------------------------

KMP_API void kmp_set_warnings_on() {}
KMP_API void kmp_set_warnings_off() {}
KMP_API void kmp_set_warnings_on_() {}
KMP_API void kmp_set_warnings_off_() {}
KMP_API void kmp_set_defaults(const char *text) {
  constexpr char k_offload[] = "OMP_TARGET_OFFLOAD=";
  if (text && std::strncmp(text, k_offload, sizeof k_offload - 1) == 0) {
    (void)self();
    return set_offload(text + sizeof k_offload - 1);
  }
  warn("kmp_set_defaults(\"%s\") is ignored: set the environment before the program starts",
       text ? text : "");
}
KMP_API void kmpc_set_defaults(const char *text) { kmp_set_defaults(text); }
KMP_API void kmp_set_defaults_(const char *text, std::size_t length) {
  kmp_set_defaults(std::string(text, length).c_str());
}
KMP_API int kmp_get_cancellation_status(int) { return of_process().cancellation; }
KMP_API int kmp_get_cancellation_status_(const int *) { return of_process().cancellation; }
KMP_API void kmp_set_disp_num_buffers(int) {
} // the number of open worksharing regions has no limit here
KMP_API void kmpc_set_disp_num_buffers(int) {}
KMP_API void kmp_set_disp_num_buffers_(const int *) {}
KMP_API int kmp_get_num_known_threads() { return static_cast<int>(known_threads()); }
KMP_API int kmp_get_num_known_threads_() { return kmp_get_num_known_threads(); }

// ---- masks of cpus: the program's mask is a pointer to one of this library ------------------------

namespace {

using mask = std::vector<int>; // ascending

mask &mask_at(void **given) {
  if (!given || !*given)
    fatal("a mask of cpus is used that kmp_create_affinity_mask() has not made");
  return *static_cast<mask *>(*given);
}

/// Returns 0 or, as LLVM's runtime does, 1 for a cpu that does not exist, and 2 for one that the
/// process may not use.
int refuse(int cpu) {
  if (cpu < 0 || cpu >= sysconf(_SC_NPROCESSORS_CONF))
    return -1;
  return std::binary_search(process_cpus().begin(), process_cpus().end(), cpu) ? 0 : -2;
}

} // namespace

KMP_API int kmp_get_affinity_max_proc() { return static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)); }
KMP_API void kmp_create_affinity_mask(void **given) {
  *given = new (std::nothrow) mask;
  if (!*given)
    fatal("no memory for a mask of cpus");
}
KMP_API void kmp_destroy_affinity_mask(void **mask) {
  delete &mask_at(mask);
  *mask = nullptr;
}
KMP_API int kmp_set_affinity_mask_proc(int cpu, void **given) {
  const int why_not = refuse(cpu);
  mask &all = mask_at(given);
  if (why_not == 0 && !std::binary_search(all.begin(), all.end(), cpu))
    all.insert(std::lower_bound(all.begin(), all.end(), cpu), cpu);
  return why_not;
}
KMP_API int kmp_unset_affinity_mask_proc(int cpu, void **mask) {
  const int why_not = refuse(cpu);
  if (why_not == 0)
    std::erase(mask_at(mask), cpu);
  return why_not;
}
KMP_API int kmp_get_affinity_mask_proc(int cpu, void **given) {
  const int why_not = refuse(cpu);
  const mask &all = mask_at(given);
  return why_not ? why_not : std::binary_search(all.begin(), all.end(), cpu);
}
/// Keeps the calling OpenMP thread on these cpus until its region ends.
KMP_API int kmp_set_affinity(void **given) {
  const mask &all = mask_at(given);
  if (all.empty())
    return -1;
  keep_on(self(), all);
  return 0;
}
KMP_API int kmp_get_affinity(void **mask) {
  const thread &self = weft_omp::self();
  mask_at(mask) = self.placement.cpus ? *self.placement.cpus : process_cpus();
  return 0;
}

KMP_API int kmpc_set_affinity_mask_proc(int cpu, void **mask) {
  return kmp_set_affinity_mask_proc(cpu, mask);
}
KMP_API int kmpc_unset_affinity_mask_proc(int cpu, void **mask) {
  return kmp_unset_affinity_mask_proc(cpu, mask);
}
KMP_API int kmpc_get_affinity_mask_proc(int cpu, void **mask) {
  return kmp_get_affinity_mask_proc(cpu, mask);
}
KMP_API int kmp_get_affinity_max_proc_() { return kmp_get_affinity_max_proc(); }
KMP_API void kmp_create_affinity_mask_(void **mask) { kmp_create_affinity_mask(mask); }
KMP_API void kmp_destroy_affinity_mask_(void **mask) { kmp_destroy_affinity_mask(mask); }
KMP_API int kmp_set_affinity_mask_proc_(const int *cpu, void **mask) {
  return kmp_set_affinity_mask_proc(*cpu, mask);
}
KMP_API int kmp_unset_affinity_mask_proc_(const int *cpu, void **mask) {
  return kmp_unset_affinity_mask_proc(*cpu, mask);
}
KMP_API int kmp_get_affinity_mask_proc_(const int *cpu, void **mask) {
  return kmp_get_affinity_mask_proc(*cpu, mask);
}
KMP_API int kmp_set_affinity_(void **mask) { return kmp_set_affinity(mask); }
KMP_API int kmp_get_affinity_(void **mask) { return kmp_get_affinity(mask); }

// ---- functions of <omp.h> by value, for compilers that name them so ------------------------------------------------------------------

extern "C" {
void omp_set_num_threads(int);
void omp_set_dynamic(int);
void omp_set_nested(int);
void omp_set_max_active_levels(int);
void omp_set_schedule(int, int);
int omp_get_ancestor_thread_num(int);
int omp_get_team_size(int);
void omp_display_affinity(const char *);
void omp_set_affinity_format(const char *);
std::size_t omp_get_affinity_format(char *, std::size_t);
std::size_t omp_capture_affinity(char *, std::size_t, const char *);
}
KMP_API void ompc_set_num_threads(int n) { omp_set_num_threads(n); }
KMP_API void ompc_set_dynamic(int on) { omp_set_dynamic(on); }
KMP_API void ompc_set_nested(int on) { omp_set_nested(on); }
KMP_API void ompc_set_max_active_levels(int n) { omp_set_max_active_levels(n); }
KMP_API void ompc_set_schedule(int kind, int chunk) { omp_set_schedule(kind, chunk); }
KMP_API int ompc_get_ancestor_thread_num(int level) { return omp_get_ancestor_thread_num(level); }
KMP_API int ompc_get_team_size(int level) { return omp_get_team_size(level); }
KMP_API void ompc_display_affinity(const char *format) { omp_display_affinity(format); }
KMP_API void ompc_set_affinity_format(const char *format) { omp_set_affinity_format(format); }
KMP_API std::size_t ompc_get_affinity_format(char *to, std::size_t room) {
  return omp_get_affinity_format(to, room);
}
KMP_API std::size_t ompc_capture_affinity(char *to, std::size_t room, const char *format) {
  return omp_capture_affinity(to, room, format);
}

// ---- of later versions of OpenMP than GCC 12's ------------------------------------------------------------------------------------------

KMP_API int omp_in_explicit_task() { return self().task->is_explicit; }
KMP_API int omp_in_explicit_task_() { return omp_in_explicit_task(); }
/// Returns that there is no tool; there never is one.

namespace {

/// Passes the program's request to the tool.
[[gnu::always_inline]] inline int control_tool(int command, int modifier, void *argument) {
  constexpr int k_no_tool = -2, k_no_callback = -1;
  return enter([](thread &) { return k_no_tool; },
               [=](thread &, const call_site &at, auto) {
                 using control = int (*)(std::uint64_t, std::uint64_t, void *, const void *);
                 const auto f = callback_for<control>(ompt::event::control_tool);
                 return f ? f(static_cast<std::uint64_t>(command),
                              static_cast<std::uint64_t>(modifier), argument, at.return_address)
                          : k_no_callback;
               });
}

} // namespace

KMP_API int omp_control_tool(int command, int modifier, void *argument) {
  return control_tool(command, modifier, argument);
}
KMP_API int omp_control_tool_(const int *command, const int *modifier, void *argument) {
  return control_tool(*command, *modifier, argument);
}
