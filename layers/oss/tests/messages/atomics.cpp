// SPDX-License-Identifier: Apache-2.0
// atomic: forms, orders, statements; assert.
struct pair {
  int a, b;
};
void f(int x, int v, int *p, pair q, int c) {
#pragma oss atomic
  x = v; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic update
  x = v + 1; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic
  x = x - v - 1; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic
  x = v + 1 * x; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic
  x += 1, v += 2; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic
  ++x, ++v; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic write
  x = 1, v = 2; // error 3: the statement of '#pragma oss atomic write' must be x = value
#pragma oss atomic read
  v = x, c = 2; // error 3: the statement of '#pragma oss atomic read' must be v = x
#pragma oss atomic
  x = x + static_cast<int>(v);
#pragma oss atomic
  x = x + (v ? 1 : 2);
#pragma oss atomic
  x = x + v ? 1 : 2; // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic
  f(x, v, p, q, c); // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
#pragma oss atomic
  { // error 3: the statement of '#pragma oss atomic' must be x++, x += value, x = x + value or x = value + x
    ++x;
  }
#pragma oss atomic read
  v += x; // error 3: the statement of '#pragma oss atomic read' must be v = x
#pragma oss atomic read
  v = x = 1; // error 3: the statement of '#pragma oss atomic read' must be v = x
#pragma oss atomic write
  x += 1; // error 3: the statement of '#pragma oss atomic write' must be x = value
#pragma oss atomic capture
  ++x; // error 3: the statement of '#pragma oss atomic capture' must be v = x++, v = x += value, or { v = x; x = value; } and the like
#pragma oss atomic capture
  v = x; // error 3: the statement of '#pragma oss atomic capture' must be v = x++, v = x += value, or { v = x; x = value; } and the like
#pragma oss atomic capture
  { // error 3: the statement of '#pragma oss atomic capture' must be v = x++, v = x += value, or { v = x; x = value; } and the like
    v = x;
    ++*p;
  }
#pragma oss atomic capture
  { // error 3: the statement of '#pragma oss atomic capture' must be v = x++, v = x += value, or { v = x; x = value; } and the like
    v = x;
    ++x;
    ++x;
  }
#pragma oss atomic read write // error 13: '#pragma oss atomic' has two forms: 'read' and 'write'
  v = x;
#pragma oss atomic seq_cst relaxed // error 13: '#pragma oss atomic' has two orders: 'seq_cst' and 'relaxed'
  ++x;
#pragma oss atomic read release // error 13: 'read' of '#pragma oss atomic' cannot have the order 'release'
  v = x;
#pragma oss atomic read acq_rel // error 13: 'read' of '#pragma oss atomic' cannot have the order 'acq_rel'
  v = x;
#pragma oss atomic write acquire // error 13: 'write' of '#pragma oss atomic' cannot have the order 'acquire'
  x = v;
#pragma oss atomic acq_rel write // error 13: 'write' of '#pragma oss atomic' cannot have the order 'acq_rel'
  x = v;
#pragma oss atomic read read // error 25: clause 'read' appears twice in '#pragma oss atomic'
  v = x;
#pragma oss atomic update(2) // error 20: clause 'update' takes no argument
  ++x;
#pragma oss atomic compare
  ++x; // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
#pragma oss atomic compare
  x = x <= v ? v : x; // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
#pragma oss atomic compare
  x = x < v ? x : v; // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
#pragma oss atomic compare
  x = x < v ? c : x; // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
#pragma oss atomic compare
  x = v < c ? v : x; // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
#pragma oss atomic compare
  x = x < v == c ? v == c : x; // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
#pragma oss atomic compare
  if (x == v) { // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
    x = c;
    ++x;
  }
#pragma oss atomic compare
  if (x == c) { // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
    v = c;
  }
#pragma oss atomic compare
  if (x == v) { // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
    x = c;
  } else {
    v = x;
  }
#pragma oss atomic compare
  { // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
    x = x < v ? v : x;
  }
#pragma oss atomic compare
  if (x == v) // error 3: the statement of '#pragma oss atomic compare' must be x = x == e ? d : x, if (x == e) { x = d; }, x = x < e ? e : x and the like
    x += c;
#pragma oss atomic compare capture
  if (x == v) { // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
    x = c;
  }
#pragma oss atomic compare capture
  if (x < c) { // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
    x = c;
  } else {
    v = x;
  }
#pragma oss atomic compare capture
  if (x == c) { // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
    x = c;
  } else {
    v = *p;
  }
#pragma oss atomic compare capture
  { // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
    v = x < c;
    if (v)
      x = c;
  }
#pragma oss atomic compare capture
  { // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
    v = x;
    if (*p == c)
      *p = v;
  }
#pragma oss atomic compare capture
  { // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
    v = x;
    x = x < c ? c : x;
    ++v;
  }
#pragma oss atomic compare capture
  v = x < c ? c : x; // error 3: the statement of '#pragma oss atomic compare capture' must be { v = x; if (x == e) { x = d; } }, if (x == e) { x = d; } else { v = x; }, { r = x == e; if (r) { x = d; } } and the like
#pragma oss atomic read compare // error 13: '#pragma oss atomic' has two forms: 'read' and 'compare'
  v = x;
#pragma oss atomic capture write // error 13: '#pragma oss atomic' has two forms: 'write' and 'capture'
  x = v;
#pragma oss atomic comparee // error 20: unknown clause 'comparee' of '#pragma oss atomic'; did you mean 'compare'?
  ++x;
#pragma oss atomic in(x) // error 20: clause 'in' does not belong to '#pragma oss atomic'
  ++x;
#pragma oss atomic
  ++absent; // error 5: use of undeclared identifier 'absent'
#pragma oss atomic
  return; // error 3: 'return' leaves the statement of '#pragma oss atomic'
}
#pragma oss assert // error 13: '#pragma oss assert' needs a string: assert("version.dependencies==regions")
#pragma oss assert(1) // error 19: '#pragma oss assert' needs a string: assert("version.dependencies==regions")
#pragma oss assert("version.dependencies") // error 20: '#pragma oss assert' knows version.dependencies==regions and version.dependencies==discrete
#pragma oss assert("version.dependencies==linear") // error 20: '#pragma oss assert' knows version.dependencies==regions and version.dependencies==discrete
#pragma oss assert("version.instrument==none") // warning 20: '#pragma oss assert' is ignored: Weft has no 'version.instrument'
void g(int x) {
#pragma oss task in(x)
  ;
}
#pragma oss assert("version.dependencies==discrete")
#pragma oss assert("version.dependencies==regions") // error 13: '#pragma oss assert' must come before the dependences of the file, or give -foss-regions
