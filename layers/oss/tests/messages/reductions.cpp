// SPDX-License-Identifier: Apache-2.0
// Reductions: operations, items, declarations.
#include <vector>
struct point {
  int x, y;
};
void f(int n, int *p, point q, double d) {
  point two = {1, 2}, *w = &two;
#pragma oss task reduction(+ : two.x)
  two.x += two.y; // error 12: variable 'two' leads to the task's copy of 'two.x' alone; name that by a variable of its own, and reduce it
#pragma oss task reduction(+ : w->x) shared(two)
  w->x += (n < w->x) + two.x + w[0].x; // error 32: variable 'w' leads to the task's copy of 'w->x' alone; name that by a variable of its own, and reduce it
#pragma oss task weakreduction(+ : two.x)
  n += two.y + q.x;
#pragma oss task reduction(n) // error 18: clause 'reduction' needs an operation: reduction(+: x)
  ++n;
#pragma oss task reduction(+) // error 18: clause 'reduction' needs an operation: reduction(+: x)
  ++n;
#pragma oss task reduction(+ :) // error 18: clause 'reduction' is empty
  ++n;
#pragma oss task reduction(% : n) // error 28: the operation of a reduction must be one of + - * & | ^ && || min max, or the name of a declared one
  ++n;
#pragma oss task reduction(+ + : n) // error 28: the operation of a reduction must be one of + - * & | ^ && || min max, or the name of a declared one
  ++n;
#pragma oss task reduction(sum : n) // error 34: static assertion failed due to requirement '::weft::oss::is_reduction<const weft::oss::reduction_item<weft::oss::order::by_address, int, void>>': #pragma oss: reduction 'sum' is not declared for the type of this item; write '#pragma oss declare reduction(sum : type : combiner)'
  ++n;
#pragma oss task reduction(+ : q) // error 32: static assertion failed due to requirement '::weft::oss::is_reduction<const weft::oss::reduction_item<weft::oss::order::by_address, point, void>>': #pragma oss: reduction '+' is not declared for the type of this item; write '#pragma oss declare reduction(+ : type : combiner)'
  ++q.x;
#pragma oss task reduction(| : d) // error 32: static assertion failed due to requirement '::weft::oss::is_reduction<const weft::oss::reduction_item<weft::oss::order::by_address, double, void>>': #pragma oss: reduction '|' is not declared for the type of this item; write '#pragma oss declare reduction(| : type : combiner)'
  ++d;
#pragma oss task reduction(+ : n) reduction(* : n) // error 49: variable 'n' begins two items of reductions of one task
  ++n;
#pragma oss task reduction(+ : {p[i], i = 0; 4}) // error 33: an item of clause 'reduction' has no iterators: name an array section, v[a;n]
  ++n;
#pragma oss task reduction(+ : n) firstprivate(n) // error 48: variable 'n' is firstprivate and an item of a dependence, which must be shared
  ++n;
#pragma oss task reduction(+ : p[0; 2], p[4; 2]) // error 41: variable 'p' begins two items of reductions of one task
  ++n;
#pragma oss task reduction(+ : n + 1) // error 32: an item of a reduction of '#pragma oss' must be an lvalue: an object that has an address
  ++n;
#pragma oss task weakreduction(max : absent) // error 38: use of undeclared identifier 'absent'
  ++n;
#pragma oss taskwait reduction(+ : n) // error 22: clause 'reduction' does not belong to '#pragma oss taskwait'
#pragma oss task reduction(+ : n) reduction(+ : *p) in(q)
  n += *p;
}
struct links {
  int *q, v[2];
  int &r;
  links *next;
};
void paths(int **rows, links *s, links t, int *p, int i) {
#pragma oss task reduction(+ : rows[i][0;4]) // error 32: static assertion failed due to requirement '!::weft::oss::is_pointer<int *&>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  rows[i][0] += 1;
#pragma oss task reduction(+ : *rows[i]) // error 33: static assertion failed due to requirement '!::weft::oss::is_pointer<int *&>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  *rows[i] += 1;
#pragma oss task reduction(+ : s->q[0]) // error 32: static assertion failed due to requirement '!::weft::oss::is_pointer<int *&>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  s->q[0] += 1;
#pragma oss task reduction(+ : *(t.q + 1)) // error 34: static assertion failed due to requirement '!::weft::oss::is_pointer<int *&>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  t.q[1] += 1;
#pragma oss task reduction(+ : [4] s->q) // error 36: static assertion failed due to requirement '!::weft::oss::is_pointer<int *&>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  s->q[0] += 1;
#pragma oss task reduction(+ : s->next->v[1]) // error 32: static assertion failed due to requirement '!::weft::oss::is_pointer<links *&>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  s->next->v[1] += 1;
#pragma oss task reduction(+ : t.r) // error 32: static assertion failed due to requirement '!::std::is_reference_v<int &>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  t.r += 1;
#pragma oss task reduction(+ : *(s->v + 1)) reduction(+ : *(int *)t.v)
  *(s->v + 1) += *(int *)t.v;
#pragma oss task reduction(+ : s->r) // error 32: static assertion failed due to requirement '!::std::is_reference_v<int &>': an item of a reduction leads through one pointer at most, the variable that it begins with; name a pointer or reference behind that by a variable of its own, and reduce what it leads to
  s->r += 1;
#pragma oss task reduction(+ : s->v[1]) reduction(+ : t.v[0;2]) reduction(+ : (*(p + 2)))
  s->v[1] += t.v[0] + *(p + 2);
#pragma oss task weakreduction(+ : rows[i][0;4])
  {
    int *row = rows[i];
#pragma oss task reduction(+ : row[0;4])
    row[0] += 1;
  }
}
struct s {
  int a;
  void m() {
#pragma oss task reduction(+ : this->a) // error 32: an item of clause 'reduction' must begin with the name of a variable
    ++a;
  }
};
#pragma oss declare reduction // error 13: '#pragma oss declare reduction' needs a bracket: it is declare reduction(name : type : combiner)
#pragma oss declare reduction(sum : int) // error 30: '#pragma oss declare reduction' needs a name, types and a combiner: it is declare reduction(name : type : combiner)
#pragma oss declare reduction(sum : int : ) // error 30: '#pragma oss declare reduction' needs a name, types and a combiner: it is declare reduction(name : type : combiner)
#pragma oss declare reduction(sum : : omp_out += omp_in) // error 30: '#pragma oss declare reduction' needs a name, types and a combiner: it is declare reduction(name : type : combiner)
#pragma oss declare reduction(sum : int, : omp_out += omp_in) // error 30: '#pragma oss declare reduction' has an empty type
#pragma oss declare reduction(% : int : omp_out += omp_in) // error 31: the operation of a reduction must be one of + - * & | ^ && || min max, or the name of a declared one
#pragma oss declare reduction(sum : int : omp_out += omp_in // error 30: the bracket of '#pragma oss declare reduction' is not closed
#pragma oss declare reduction(sum : int : omp_out += omp_in) initializer // error 62: behind the bracket of '#pragma oss declare reduction' only initializer(omp_priv = value) may follow
#pragma oss declare reduction(sum : int : omp_out += omp_in) initializer() // error 62: behind the bracket of '#pragma oss declare reduction' only initializer(omp_priv = value) may follow
#pragma oss declare reduction(sum : int : omp_out += omp_in) inital(omp_priv = 0) // error 62: behind the bracket of '#pragma oss declare reduction' only initializer(omp_priv = value) may follow
#pragma oss declare reduction(sum : int : out += in) // error 43: use of undeclared identifier 'out'; did you mean 'weft::out'? // error 50: use of undeclared identifier 'in'
#pragma oss declare reduction(product : int : omp_out *= omp_in) initializer(omp_priv = one) // error 89: use of undeclared identifier 'one'

// A member through `this` is none of the task's copies.
struct object {
  long sum, part[4];
  void inside() {
#pragma oss task reduction(+ : sum)
    this->sum += sum + (*this).sum + this->part[0]; // error 11: this is the member 'sum' itself, and not the copy of it that '#pragma oss task' has; write the name alone // error 32: this is the member 'sum' itself, and not the copy of it that '#pragma oss task' has; write the name alone
#pragma oss taskloop reduction(+ : part[0;4])
    for (int i = 0; i < 4; ++i)
      this->part[i] += this->later; // error 13: this is the member 'part' itself, and not the copy of it that '#pragma oss taskloop' has; write the name alone
#pragma oss task private(later)
    this->later = 1; // error 11: this is the member 'later' itself, and not the copy of it that '#pragma oss task' has; write the name alone
#pragma oss task weakreduction(+ : sum) shared(later)
    this->later = this->sum;
  }
  void outside(long other);
  int later;
};
void object::outside(long other) {
#pragma oss task firstprivate(later)
  this->later = later + 1; // error 9: this is the member 'later' itself, and not the copy of it that '#pragma oss task' has; write the name alone
  int part = 0;
#pragma oss task reduction(+ : part) firstprivate(other)
  this->part[0] = part += static_cast<int>(other);
}
// A parameter or another local variable that hides the member is none of it. Where its scope has ended the name is the member again.
#define EMPTY(name)
template <class... F>
int call(F &&...f);
struct pair {
  int first, second;
};
constexpr int k_two = 2;
template <class T, auto... V>
struct values {
  int at = 0;
};
struct hidden {
  int n = 0, v[4], *p;
  hidden(int n) : v{n}, p{nullptr} {
#pragma oss task firstprivate(n)
    this->n = n;
  }
  explicit hidden(long m) : p(nullptr) {
#pragma oss task firstprivate(n)
    this->n = n + static_cast<int>(m); // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
  }
  void parameters(int n) {
#pragma oss task firstprivate(n)
    this->n = n;
  }
  template <class T = int>
  void of_templates(const std::vector<T> &n, T m) const noexcept(noexcept(T{})) {
#pragma oss task firstprivate(n)
    (*this).p[0] = this->n + n[0] + m;
  }
  void of_pointers(int (*n)(int), int m = 3) {
#pragma oss task firstprivate(n)
    this->n = n(m);
  }
  void locals(const int *w, int k) {
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    int n = 0;
#pragma oss taskloop reduction(+ : n)
    for (int i = 0; i < k; ++i)
      n += w[i] * this->n;
  }
  void values_in_types(values<int, k_two + 1, int{3}> n) {
#pragma oss task firstprivate(n)
    this->n = n.at;
    {
      values<int, k_two * 2 - 1, 'a', !k_two, ~1 | 4> m, n;
#pragma oss task firstprivate(n)
      this->n = n.at + m.at;
    }
    for (const values<int, k_two == 3 ? 4 / 2 : 3 % 2> &n : {values<int, 3 % 2>()})
#pragma oss task firstprivate(n)
      this->n = n.at;
  }
  void comparisons(int k, int m) {
    *p = k < n + 1 && m > n, n = 3;
    bool is_less = k < m + 1, is_more = k > n;
    if (k < n - 1 || n > k) {
#pragma oss task firstprivate(n)
      this->n = n + is_less; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    }
#pragma oss task firstprivate(n)
    this->n = n + is_more; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
  }
  void in_brackets(int k) {
    int(&m) = k, other = int(n), (*p)(int) = nullptr;
#pragma oss task firstprivate(n, p)
    this->n = n + m + other, this->p[0] = p(1); // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    int(&n) = k;
#pragma oss task firstprivate(n)
    this->n = n;
    for (const int(&n) : v)
#pragma oss task firstprivate(n)
      this->n = n;
  }
  void constants() {
    const int n = 3;
#pragma oss task firstprivate(n)
    this->n = n;
  }
  void blocks(int k) {
    {
      std::vector<int> a, n(3);
#pragma oss task firstprivate(n)
      this->n = n[0];
      if (k)
        k = 0;
#pragma oss task firstprivate(n)
      this->n = n[0];
    }
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    {
      hidden *n = this, &m = *n;
#pragma oss task firstprivate(n)
      this->n = n->n + m.n;
    }
    {
      long n[2] = {1, 2};
#pragma oss task firstprivate(n)
      this->n = static_cast<int>(n[0]);
    }
    {
      auto [m, n] = pair{1, 2};
      this->n = n + m;
#pragma oss task
      {
        int n = 3;
#pragma oss task firstprivate(n)
        this->n = n;
      }
    }
  }
  void statements(int k) {
    for (int n = 0; n < k; ++n)
#pragma oss task firstprivate(n)
      this->n = n;
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    for (const auto &n : v) {
#pragma oss task firstprivate(n)
      this->n = n;
    }
    for (int m = k; const auto &[n, other] : {pair{1, 2}})
#pragma oss task firstprivate(n)
      this->n = n + m + other;
    while (std::vector<int> *const n = k ? nullptr : nullptr)
#pragma oss task firstprivate(n)
      this->n = (*n)[0];
    if (int n = k)
      k = 1;
    else if (n)
      k = 2;
    else {
#pragma oss task firstprivate(n)
      this->n = n;
    }
    if (n && n < k && k > n) {
#pragma oss task firstprivate(n)
      this->n = n + 1; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    }
    for (k = n; k < n; ++k) {
#pragma oss task firstprivate(n)
      this->n = n + 1; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    }
    if (const int m = k, n = m; n)
      if (k)
#pragma oss task firstprivate(n)
        this->n = n;
    switch (const int n = k) {
    case 1:
#pragma oss task firstprivate(n)
      this->n = n;
    }
    try {
      call(n);
    } catch (int n) {
#pragma oss task firstprivate(n)
      this->n = n;
    }
    while (k & n) {
#pragma oss task firstprivate(n)
      this->n = n + 1; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    }
  }
  EMPTY(n)
 public:
  void macros(int n) {
#pragma oss task firstprivate(n)
    this->n = n;
  }
  void branches(int k) {
#ifdef ABSENT
    for (short n = 0; n < 2; ++n)
#else
    for (long n = 0; n < 2; ++n)
#endif
    {
#pragma oss task firstprivate(n)
      this->n = static_cast<int>(n);
    }
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
#ifndef ABSENT
    int n = k;
#else
    ++k;
#endif
#pragma oss task firstprivate(n)
    this->n = n;
  }
  void branches_with_heads(int k) {
#ifdef ABSENT
    for (int n = 0; n < k; ++n) {
      int *p = nullptr;
#else
    for (int n = 0; n < k + 1; ++n) {
#endif
#pragma oss task firstprivate(n, p)
      this->n = n, this->p = p + k;
    }
#pragma oss task firstprivate(n, p)
    this->n = n + 1, this->p = p + k; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone // error 28: this is the member 'p' itself, and not the copy of it that '#pragma oss task' has; write the name alone
#ifdef ABSENT
    int n = k;
    call(n);
#elif !defined ABSENT
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
#else
    call(n);
#endif
#pragma oss task firstprivate(n)
    this->n = n;
  }
  void branches_of_statements(int k) {
    for (int n = 0; n < k; ++n)
#ifdef ABSENT
      call(n);
#else
#pragma oss task firstprivate(n)
      this->n = n;
#endif
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    if (int n = k)
      k = 1;
#ifndef ABSENT
    else
#pragma oss task firstprivate(n)
      this->n = n;
#endif
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    {
      int n = k;
#ifdef ABSENT
    }
#else
#pragma oss task firstprivate(n)
      this->n = n;
    }
#endif
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
  }
#ifdef ABSENT
  void branches_of_functions(int n) {
#else
  void branches_of_functions(long n) {
#endif
#pragma oss task firstprivate(n)
    this->n = static_cast<int>(n);
  }
  void behind_branches() {
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
  }
  int expressions(int k) {
    call(k * n), call(&n), n++, *p = n;
    k = k * n + (k & n), v[n] = k, n = k;
    if (k == 1)
      return n;
    else
      n = 2;
    {
      std::vector<int> n(1);
    }
    [](int n) { return n; }(3);
    struct local {
      int m, n;
    };
  again:
    n = k;
    if (k > 100)
      goto again;
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    delete p, throw n;
  }
  void lambdas(int k) {
    const auto f = [this](int n) {
#pragma oss task firstprivate(n)
      this->n = n;
    };
    call([this](const int &n) mutable {
#pragma oss task firstprivate(n)
      this->n = n;
    });
    call(k, [this, n = k] {
#pragma oss task firstprivate(n)
      this->n = n;
    });
    call([this, n{3}] {
#pragma oss task firstprivate(n)
      this->n = n;
    });
    call([this, &n(k)] {
#pragma oss task firstprivate(n)
      this->n = n;
    });
    call([this, m = call(n), k{n}] {
#pragma oss task firstprivate(n)
      this->n = n + k + m; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    });
    call(k ? 1 : 2, [&, k](int m) {
#pragma oss task firstprivate(n)
      this->n = n + m + k; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    });
    f(1);
  }
  struct inner {
    int n;
    void members() {
#pragma oss task firstprivate(n)
      this->n = n + 1; // error 13: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    }
  };
  void outside(int n);
  void of_blocks(int k);
};
void hidden::outside(int n) {
#pragma oss task firstprivate(n)
  this->n = n;
}
void hidden::of_blocks(int k) {
  {
    const int n = 3;
#pragma oss task firstprivate(n)
    this->n = n + k;
  }
  ++k;
#pragma oss task firstprivate(n)
  {
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
    call([this](int n) {
#pragma oss task firstprivate(n)
      this->n = n;
    });
  }
}
struct derived : hidden {
  void set(int n) {
#pragma oss task firstprivate(n)
    this->n = n;
  }
  void again() {
#pragma oss task firstprivate(n)
    this->n = n + 1; // error 11: this is the member 'n' itself, and not the copy of it that '#pragma oss task' has; write the name alone
  }
};
