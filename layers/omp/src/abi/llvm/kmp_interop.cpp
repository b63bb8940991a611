// SPDX-License-Identifier: Apache-2.0
// Interoperability objects, OpenMP 5.1. Without a device, `interop` constructs make none. So the
// only object is omp_interop_none, which has no property.
#include "abi/llvm/kmpc.hpp"

#include <cstddef>
#include <iterator>

namespace {

constexpr int k_first_property = -9; // omp_ipr_first
constexpr const char *k_codes[] = {"no value",
                                   "success",
                                   "the object is omp_interop_none",
                                   "there is no such property",
                                   "the property is an integer",
                                   "the property is a pointer",
                                   "the property is a string",
                                   "another error"};
constexpr int k_first_code = -6, k_last_code = 1;
enum code : int { k_empty = -1, k_out_of_range = -2 };

void refuse(int property, int *into) noexcept {
  if (into)
    *into = property < k_first_property || property >= 0 ? k_out_of_range : k_empty;
}

} // namespace

KMP_API int omp_get_num_interop_properties(const void *) { return 0; }
KMP_API std::intptr_t omp_get_interop_int(const void *, int property, int *why) {
  refuse(property, why);
  return 0;
}
KMP_API void *omp_get_interop_ptr(const void *, int property, int *why) {
  refuse(property, why);
  return nullptr;
}
KMP_API const char *omp_get_interop_str(const void *, int property, int *why) {
  refuse(property, why);
  return nullptr;
}
KMP_API const char *omp_get_interop_name(const void *, int) { return nullptr; }
KMP_API const char *omp_get_interop_type_desc(const void *, int) { return nullptr; }
KMP_API const char *omp_get_interop_rc_desc(const void *, int code) {
  return code >= k_first_code && code <= k_last_code ? k_codes[k_last_code - code] : nullptr;
}

// Fortran's functions take arguments by reference.
KMP_API int omp_get_num_interop_properties_(const std::intptr_t *) { return 0; }
KMP_API std::intptr_t omp_get_interop_int_(const std::intptr_t *, const int *property, int *why) {
  refuse(*property, why);
  return 0;
}
KMP_API void *omp_get_interop_ptr_(const std::intptr_t *, const int *property, int *why) {
  refuse(*property, why);
  return nullptr;
}
KMP_API const char *omp_get_interop_str_(const std::intptr_t *, const int *property, int *why) {
  refuse(*property, why);
  return nullptr;
}
KMP_API const char *omp_get_interop_name_(const std::intptr_t *, const int *) { return nullptr; }
KMP_API const char *omp_get_interop_type_desc_(const std::intptr_t *, const int *) {
  return nullptr;
}
KMP_API const char *omp_get_interop_rc_desc_(const std::intptr_t *, const int *code) {
  return omp_get_interop_rc_desc(nullptr, *code);
}
