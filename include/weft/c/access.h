// SPDX-License-Identifier: Apache-2.0
// How a task says what data it touches; see <weft/access.hpp> for the meaning of the modes.
#pragma once

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

#ifdef __cplusplus
}
#endif
