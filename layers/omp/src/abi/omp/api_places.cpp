// SPDX-License-Identifier: Apache-2.0
// omp_*: places, and the display of them.
#include "abi/api.hpp"
#include "abi/flavor.hpp"
#include "config/topology.hpp"
#include "placement/affinity.hpp"
#include "placement/affinity_text.hpp"
#include "team/team.hpp"

#include <algorithm>
#include <cstring>

using namespace weft_omp;

namespace {

/// Returns the places that a program sees. If threads are not bound, GCC's runtime shows no place,
/// and LLVM's shows one place of all cpus.
const std::vector<place> &visible_places() {
  const globals &g = of_process();
  static const auto &whole = *new std::vector<place>{process_cpus()}; // never freed, as those of the process
  return g.places.empty() && is_of_llvm() ? whole : g.places;
}

const place *place_at(int number) noexcept {
  const std::vector<place> &all = visible_places();
  return number >= 0 && static_cast<std::size_t>(number) < all.size()
             ? &all[static_cast<std::size_t>(number)]
             : nullptr;
}

/// Copies as much of the text as fits, like snprintf. Returns the length of the whole text.
std::size_t put(char *to, std::size_t room, const std::string &text) noexcept {
  if (to && room != 0) {
    const std::size_t n = std::min(room - 1, text.size());
    std::memcpy(to, text.data(), n);
    to[n] = 0;
  }
  return text.size();
}

} // namespace

OMP_API int omp_get_proc_bind() { return my_icvs().bind; }
OMP_API int omp_get_num_places() { return static_cast<int>(visible_places().size()); }
OMP_API int omp_get_place_num_procs(int number) {
  const place *const p = place_at(number);
  return p ? static_cast<int>(p->size()) : 0;
}
OMP_API void omp_get_place_proc_ids(int number, int *ids) {
  if (const place *const p = place_at(number))
    std::copy(p->begin(), p->end(), ids);
}
OMP_API int omp_get_place_num() {
  const thread &self = weft_omp::self();
  const bool is_on_first = is_of_llvm() ? g_globals.places.empty()
                                        : self.team->level == 0; // of a thread that has no place
  return self.placement.place < 0 && !visible_places().empty() &&
                 (is_on_first || self.team->level == 0)
             ? 0
             : self.placement.place;
}
OMP_API int omp_get_partition_num_places() {
  const thread &self = weft_omp::self();
  return static_cast<int>(self.placement.count ? self.placement.count : visible_places().size());
}
OMP_API void omp_get_partition_place_nums(int *numbers) {
  const int count = omp_get_partition_num_places();
  for (int i = 0; i < count; ++i)
    numbers[i] = static_cast<int>(self().placement.first) + i;
}

OMP_API void omp_set_affinity_format(const char *format) { of_process().affinity_format = format; }
OMP_API std::size_t omp_get_affinity_format(char *to, std::size_t room) {
  return put(to, room, of_process().affinity_format);
}
OMP_API void omp_display_affinity(const char *format) {
  (void)self();
  print_affinity(format);
}
OMP_API std::size_t omp_capture_affinity(char *to, std::size_t room, const char *format) {
  return put(to, room,
             affinity_text(format && *format ? format : of_process().affinity_format.c_str()));
}

OMP_ALSO_LLVM(omp_get_proc_bind, OMP_4.0);
OMP_ALSO_LLVM(omp_get_num_places, OMP_4.5);
OMP_ALSO_LLVM(omp_get_place_num_procs, OMP_4.5);
OMP_ALSO_LLVM(omp_get_place_proc_ids, OMP_4.5);
OMP_ALSO_LLVM(omp_get_place_num, OMP_4.5);
OMP_ALSO_LLVM(omp_get_partition_num_places, OMP_4.5);
OMP_ALSO_LLVM(omp_get_partition_place_nums, OMP_4.5);
OMP_ALSO_LLVM(omp_set_affinity_format, OMP_5.0);
OMP_ALSO_LLVM(omp_get_affinity_format, OMP_5.0);
OMP_ALSO_LLVM(omp_display_affinity, OMP_5.0);
OMP_ALSO_LLVM(omp_capture_affinity, OMP_5.0);
