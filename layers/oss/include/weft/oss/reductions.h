/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of `#pragma oss` in C: the operations that it knows for the types that C has, and the copies in a task.

   The functions have names of operation and type. A file has those that it uses, and the pass merges those of all files
   of a program: two reductions are the same where their functions are. */
#pragma once

#include <weft/c/reduction.h>
#include <weft/oss.h>

typedef __SIZE_TYPE__ weft_oss_bytes; /* where macros are not expanded */

/* A function that makes `count` elements that change nothing, and one that adds `count` elements to others. */
#define WEFT_OSS_START(name, id, type, value)                                                      \
  WEFT_OSS_LOCAL void weft_oss_reduction_##name##_##id(void *copy, __SIZE_TYPE__ count,            \
                                                       void *context) {                            \
    type *const at = (type *)copy;                                                                 \
    (void)context;                                                                                 \
    for (__SIZE_TYPE__ i = 0; i < count; ++i)                                                      \
      at[i] = (type)(value);                                                                       \
  }
#define WEFT_OSS_COMBINE(name, id, type, value)                                                    \
  WEFT_OSS_LOCAL void weft_oss_reduction_##name##_##id(void *into, const void *copy,               \
                                                       __SIZE_TYPE__ count, void *context) {       \
    type *const all = (type *)into;                                                                \
    const type *const part = (const type *)copy;                                                   \
    (void)context;                                                                                 \
    for (__SIZE_TYPE__ i = 0; i < count; ++i) {                                                    \
      const type left = all[i], right = part[i];                                                   \
      all[i] = (type)(value);                                                                      \
    }                                                                                              \
  }

#define WEFT_OSS_NUMBER(id, type)                                                                  \
  WEFT_OSS_START(zero, id, type, 0)                                                                \
  WEFT_OSS_START(one, id, type, 1)                                                                 \
  WEFT_OSS_COMBINE(plus, id, type, left + right)                                                   \
  WEFT_OSS_COMBINE(times, id, type, left *right)                                                   \
  WEFT_OSS_COMBINE(and, id, type, left &&right)                                                    \
  WEFT_OSS_COMBINE(or, id, type, left || right)
#define WEFT_OSS_ORDERED(id, type, lowest, highest)                                                \
  WEFT_OSS_NUMBER(id, type)                                                                        \
  WEFT_OSS_START(least, id, type, lowest)                                                          \
  WEFT_OSS_START(most, id, type, highest)                                                          \
  WEFT_OSS_COMBINE(min, id, type, right < left ? right : left)                                     \
  WEFT_OSS_COMBINE(max, id, type, left < right ? right : left)
#define WEFT_OSS_INTEGER(id, type, lowest, highest)                                                \
  WEFT_OSS_ORDERED(id, type, lowest, highest)                                                      \
  WEFT_OSS_START(ones, id, type, ~0ULL)                                                            \
  WEFT_OSS_COMBINE(bit_and, id, type, left &right)                                                 \
  WEFT_OSS_COMBINE(bit_or, id, type, left | right)                                                 \
  WEFT_OSS_COMBINE(bit_xor, id, type, left ^ right)

#ifdef __CHAR_UNSIGNED__
WEFT_OSS_INTEGER(char, char, 0, __SCHAR_MAX__ * 2 + 1)
#else
WEFT_OSS_INTEGER(char, char, -__SCHAR_MAX__ - 1, __SCHAR_MAX__)
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
WEFT_OSS_INTEGER(truth, _Bool, 0, 1)
#pragma GCC diagnostic pop
WEFT_OSS_INTEGER(schar, signed char, -__SCHAR_MAX__ - 1, __SCHAR_MAX__)
WEFT_OSS_INTEGER(uchar, unsigned char, 0, __SCHAR_MAX__ * 2 + 1)
WEFT_OSS_INTEGER(short, short, -__SHRT_MAX__ - 1, __SHRT_MAX__)
WEFT_OSS_INTEGER(ushort, unsigned short, 0, __SHRT_MAX__ * 2 + 1)
WEFT_OSS_INTEGER(int, int, -__INT_MAX__ - 1, __INT_MAX__)
WEFT_OSS_INTEGER(uint, unsigned int, 0, __INT_MAX__ * 2U + 1)
WEFT_OSS_INTEGER(long, long, -__LONG_MAX__ - 1, __LONG_MAX__)
WEFT_OSS_INTEGER(ulong, unsigned long, 0, __LONG_MAX__ * 2UL + 1)
WEFT_OSS_INTEGER(llong, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
WEFT_OSS_INTEGER(ullong, unsigned long long, 0, __LONG_LONG_MAX__ * 2ULL + 1)
WEFT_OSS_ORDERED(float, float, -__builtin_inff(), __builtin_inff())
WEFT_OSS_ORDERED(double, double, -__builtin_inf(), __builtin_inf())
WEFT_OSS_ORDERED(ldouble, long double, -__builtin_infl(), __builtin_infl())
WEFT_OSS_NUMBER(cfloat, float _Complex)
WEFT_OSS_NUMBER(cdouble, double _Complex)
WEFT_OSS_NUMBER(cldouble, long double _Complex)

/* Says how a variable leads to the task's copy of an item: the variables of the task hold it. */
typedef struct weft_oss_move {
  const void *address; /* of the item */
  __SIZE_TYPE__ bytes;
  __SIZE_TYPE__
  place; /* of the pointer that leads to the item, from the first move on; 0: there is none */
  __SIZE_TYPE__ away; /* what has been added to that pointer */
} weft_oss_move;

/* weft::layer::reduced_object, and weft::layer::reduction_origin: 0 none, 1 the object or a part of it, 2 beyond it */
typedef struct weft_oss_reduced {
  const void *address;
  __SIZE_TYPE__ bytes, element_bytes;
  const void *copy;
} weft_oss_reduced;
extern int weft_oss_origin(const void *address, __SIZE_TYPE__ bytes, weft_oss_reduced *object) __asm__(
    "_ZN4weft2v05layer16reduction_originEPKvmPNS1_14reduced_objectE");

/* Finds what a task reduces: of a creator that reduces it, or more, the whole item, by its own name. */
WEFT_OSS_LOCAL weft_oss_reduced weft_oss_origin_of(const void *named, __SIZE_TYPE__ bytes,
                                                   __SIZE_TYPE__ element_bytes) {
  weft_oss_reduced object = {named, bytes, element_bytes, named};
  const int part = weft_oss_origin(named, bytes, &object);
  if (part == 2)
    weft_oss_refuse("a reduction of '#pragma oss' reaches beyond the item that the task around it "
                    "reduces; name that item, or a part of it");
  if (object.element_bytes != element_bytes ||
      (part && ((__SIZE_TYPE__)named - (__SIZE_TYPE__)object.copy) % element_bytes))
    weft_oss_refuse("a reduction of '#pragma oss' has other elements than the item that the task "
                    "around it reduces; name whole elements of that item");
  return object;
}

/* Fills what a clause says of one item. The consumer writes the last three arguments, which depend on the item's type. */
WEFT_OSS_LOCAL inline void
weft_oss_reduce(weft_reduction *reduction, weft_oss_move *move, const volatile void *address,
                __SIZE_TYPE__ bytes, unsigned task, unsigned item, __SIZE_TYPE__ element_bytes,
                void (*init)(void *, __SIZE_TYPE__, void *),
                void (*combine)(void *, const void *, __SIZE_TYPE__, void *)) {
  const weft_oss_reduced object =
      weft_oss_origin_of((const void *)(__UINTPTR_TYPE__)address, bytes, element_bytes);
  void *const first = (void *)(__UINTPTR_TYPE__)object.address;
  const weft_reduction all = {
      first, (ptrdiff_t)(element_bytes ? object.bytes / element_bytes : 0),
      element_bytes, init, combine, first};
  const weft_oss_move to = {first, object.bytes, 0,
                            (__SIZE_TYPE__)object.copy - (__SIZE_TYPE__)first};
  (void)task;
  (void)item;
  *reduction = all;
  *move = to;
}

/* Ends the program where an item is the creator's copy: the children of a task without a copy would name that. */
WEFT_OSS_LOCAL inline const weft_reduction *weft_oss_itself(const weft_reduction *reduction,
                                                            const weft_oss_move *move) {
  if (move->away)
    weft_oss_refuse("a weakreduction or a taskiter of '#pragma oss' is below a reduction of the "
                    "same item; give the task that it is in weakreduction, or the one below it "
                    "reduction");
  return reduction;
}

/* Returns how many elements a part of an array has. */
WEFT_OSS_LOCAL inline __SIZE_TYPE__ weft_oss_elements(int dimensions, weft_dimension outer,
                                                      weft_dimension middle, weft_dimension inner) {
  const weft_dimension all[] = {outer, middle, inner};
  ptrdiff_t count = 1;
  int whole = 1; /* the dimensions behind */
  for (int i = dimensions - 1; i >= 0; --i) {
    if (!whole && all[i].count != 1)
      weft_oss_refuse("an item of a reduction of '#pragma oss' has gaps: name a part of an array "
                      "whose elements follow each other");
    count *= all[i].count;
    whole = whole && all[i].count == all[i].extent;
  }
  return (__SIZE_TYPE__)count;
}

/* Lets the variables of a task lead to its copies. A task that runs again, or a worker's next chunk, has others. */
WEFT_OSS_LOCAL void weft_oss_enter_copies(weft_oss_move *moves, int count) {
  for (int i = 0; i < count; ++i) {
    weft_oss_move *const move = &moves[i];
    void *copy = 0;
    if (!move->place || !move->bytes)
      continue;
    if (weft_reduction_local(move->address, move->bytes, &copy))
      weft_oss_fail("reduction");
    char *const at = (char *)moves + (ptrdiff_t)move->place; /* in front or behind */
    const __SIZE_TYPE__ away = (__SIZE_TYPE__)copy - (__SIZE_TYPE__)move->address;
    __SIZE_TYPE__ leads;
    __builtin_memcpy(&leads, at, sizeof leads);
    leads += away - move->away;
    __builtin_memcpy(at, &leads, sizeof leads);
    move->away = away;
  }
}
