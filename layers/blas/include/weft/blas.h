// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, FFTW and C-Blosc2 on Weft: a copy of these that has a pool of its own (NumPy's and SciPy's
// wheels bring such copies of OpenBLAS) gives its jobs to Weft's OpenMP instead. From OpenBLAS 0.3.28,
// FFTW 3.3.9 and C-Blosc2 3.0 on, by their functions that set a threads callback.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_BLAS_API __attribute__((visibility("default")))

// Says what a copy of one of these libraries does with its jobs.
enum weft_blas_state_kind {
  WEFT_BLAS_ATTACHED = 1, // they run on Weft
  WEFT_BLAS_LEFT = 0, // they run on its own threads, and weft_blas_attach() would change that
  WEFT_BLAS_TOO_OLD = -1, // it has threads of its own and no callback
  WEFT_BLAS_OPENMP = -2, // it is built with OpenMP
  WEFT_BLAS_SERIAL = -3, // it is built without threads
  WEFT_BLAS_NOT_LOADED = -4 // no such file is loaded, or it is none of these libraries
};

// Attaches every copy of the three libraries that the process has loaded and that was not attached
// before. A copy is known by its file, whose name contains "openblas", "fftw3" or "blosc2"; the
// functions of OpenBLAS may have the prefix scipy_, and the suffix 64_ of copies with 64-bit integers.
// Limits the threads of each OpenBLAS to the processors that Weft uses, because its jobs wait for each
// other by spinning. Contexts of Blosc that have threads keep them.
//
// Returns how many copies are attached.
//
// Cost. 20 ns where no library was loaded since the last call.
// Threads. Any; while no other thread is inside of a copy that is not attached yet.
// Blocks. No.
WEFT_BLAS_API int weft_blas_attach(void);

// Does the same for hooks of the loader, which are called often and from anywhere: returns at once
// where another thread, or the caller itself, is inside of weft_blas_attach(). `weft run` preloads a
// library that calls this at each dlsym().
//
// Threads. Any; also in a constructor of a library.
WEFT_BLAS_API void weft_blas_attach_new(void);

// Returns the state of the copy in a file: one of weft_blas_state_kind.
//
// Threads. Any.
WEFT_BLAS_API int weft_blas_state(const char *file);

#ifdef __cplusplus
}
#endif
