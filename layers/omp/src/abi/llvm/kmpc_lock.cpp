// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: locks, under the names that Intel's compilers call. A lock has the layout of
// omp_lock_t or, through a pointer, of omp_nest_lock_t.
#include "abi/llvm/kmpc.hpp"

using namespace weft_omp;

extern "C" {
void omp_init_lock(void *);
void omp_init_lock_with_hint(void *, int);
void omp_destroy_lock(void *);
void omp_set_lock(void *);
void omp_unset_lock(void *);
int omp_test_lock(void *);
void omp_init_nest_lock_(void *);
void omp_destroy_nest_lock_(void *);
void omp_set_nest_lock_(void *);
void omp_unset_nest_lock_(void *);
int omp_test_nest_lock_(void *);
}

KMP_API void __kmpc_init_lock(location *, std::int32_t, void *lock) { omp_init_lock(lock); }
KMP_API void __kmpc_init_lock_with_hint(location *, std::int32_t, void *lock, std::uintptr_t hint) {
  omp_init_lock_with_hint(lock, static_cast<int>(hint));
}
KMP_API void __kmpc_destroy_lock(location *, std::int32_t, void *lock) { omp_destroy_lock(lock); }
KMP_API void __kmpc_set_lock(location *, std::int32_t, void *lock) { omp_set_lock(lock); }
KMP_API void __kmpc_unset_lock(location *, std::int32_t, void *lock) { omp_unset_lock(lock); }
KMP_API int __kmpc_test_lock(location *, std::int32_t, void *lock) { return omp_test_lock(lock); }

KMP_API void __kmpc_init_nest_lock(location *, std::int32_t, void *lock) {
  omp_init_nest_lock_(lock);
}
KMP_API void __kmpc_init_nest_lock_with_hint(location *, std::int32_t, void *lock, std::uintptr_t) {
  omp_init_nest_lock_(lock);
}
KMP_API void __kmpc_destroy_nest_lock(location *, std::int32_t, void *lock) {
  omp_destroy_nest_lock_(lock);
}
KMP_API void __kmpc_set_nest_lock(location *, std::int32_t, void *lock) {
  omp_set_nest_lock_(lock);
}
KMP_API void __kmpc_unset_nest_lock(location *, std::int32_t, void *lock) {
  omp_unset_nest_lock_(lock);
}
KMP_API int __kmpc_test_nest_lock(location *, std::int32_t, void *lock) {
  return omp_test_nest_lock_(lock);
}
