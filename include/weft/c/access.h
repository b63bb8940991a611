// SPDX-License-Identifier: Apache-2.0
// How a task says what data it touches; see <weft/access.hpp> for the meaning of the modes.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Says what a task does with an object.
enum weft_access_mode {
  WEFT_IN = 0,
  WEFT_OUT = 1,
  WEFT_INOUT = 2,
  WEFT_WEAK_IN = 3,
  WEFT_WEAK_OUT = 4,
  WEFT_WEAK_INOUT = 5,
  WEFT_CONCURRENT = 6,
  WEFT_COMMUTATIVE = 7,
  WEFT_WEAK_CONCURRENT = 8,
  WEFT_WEAK_COMMUTATIVE = 9,
  WEFT_REDUCTION = 10,     // made by weft_reduce() of <weft/c/reduction.h>
  WEFT_WEAK_REDUCTION = 11
};
// Says in a mode that it holds a size; see weft_sized().
enum weft_access_size {
  WEFT_SIZED = 0x40000000,
  WEFT_SIZED_IN_PAGES = 0x20000000 // of 4 KiB, and not in bytes
};

// Holds an access. Two accesses concern the same data when their addresses are equal; the size of
// the object does not matter. A null address is ignored.
typedef struct weft_access {
  const void *address; // of the object
  int mode;            // enum weft_access_mode
} weft_access;

static inline weft_access weft_access_make(const void *address, int mode) {
  weft_access a;
  a.address = address;
  a.mode = mode;
  return a;
}
static inline weft_access weft_in(const void *address) {
  return weft_access_make(address, WEFT_IN);
}
static inline weft_access weft_out(void *address) { return weft_access_make(address, WEFT_OUT); }
static inline weft_access weft_inout(void *address) {
  return weft_access_make(address, WEFT_INOUT);
}
static inline weft_access weft_weak_in(const void *address) {
  return weft_access_make(address, WEFT_WEAK_IN);
}
static inline weft_access weft_weak_out(void *address) {
  return weft_access_make(address, WEFT_WEAK_OUT);
}
static inline weft_access weft_weak_inout(void *address) {
  return weft_access_make(address, WEFT_WEAK_INOUT);
}
static inline weft_access weft_concurrent(void *address) {
  return weft_access_make(address, WEFT_CONCURRENT);
}
static inline weft_access weft_commutative(void *address) {
  return weft_access_make(address, WEFT_COMMUTATIVE);
}
static inline weft_access weft_weak_concurrent(void *address) {
  return weft_access_make(address, WEFT_WEAK_CONCURRENT);
}
static inline weft_access weft_weak_commutative(void *address) {
  return weft_access_make(address, WEFT_WEAK_COMMUTATIVE);
}
// Returns an access that says how many bytes its object has, for the setting deps.check and beside
// regions; without it an object counts as one byte. From 2 MiB on the size is rounded down to
// 4 KiB. A size of 0 and a reduction change nothing.
static inline weft_access weft_sized(weft_access access, size_t bytes) {
  const int most = 0x1fffff;
  const size_t pages = bytes / 4096;
  if (bytes == 0 || access.mode < WEFT_IN || access.mode >= WEFT_REDUCTION)
    return access;
  if (bytes <= (size_t)most)
    access.mode |= (int)WEFT_SIZED | (int)bytes << 8;
  else
    access.mode |= (int)WEFT_SIZED | (int)WEFT_SIZED_IN_PAGES |
                   (pages < (size_t)most ? (int)pages : most) << 8;
  return access;
}

#ifdef __cplusplus
}
#endif
