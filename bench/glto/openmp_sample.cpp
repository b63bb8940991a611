// SPDX-License-Identifier: Apache-2.0
// The workloads in OpenMP; compiled once for each runtime.
#include "sample.hpp"

#include <vector>

#include <omp.h>

namespace {

class runtime {
 public:
  explicit runtime(int workers) {
    omp_set_dynamic(0);
    omp_set_num_threads(workers);
    omp_set_max_active_levels(2);
  }

  template <class F>
  void assign(F f) {
#pragma omp parallel
    f(omp_get_thread_num());
  }

  template <class F>
  void for_each_task(long n, F f) {
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < n; ++i) {
#pragma omp task shared(f)
      f();
    }
  }

  template <class F>
  void nested(int n, F f) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
#pragma omp parallel for
      for (int k = 0; k < n; ++k)
        f();
    }
  }

  template <class F>
  void loop(int n, F f) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i)
      f(i);
  }

  template <class F>
  void produce(F f) {
#pragma omp parallel
#pragma omp single
    f();
  }

  template <class F, class Before>
  void tasks(int n, F f, Before before) {
    for (int i = 0; i < n; ++i) {
      before(i);
#pragma omp task firstprivate(i) shared(f)
      f(i);
    }
    before(n);
#pragma omp taskwait
  }

  long count(const uts::tree &tree, const uts::node &root) {
    long nodes = 0;
#pragma omp parallel
#pragma omp single
    nodes = visit(tree, root);
    return nodes;
  }

 private:
  static long visit(const uts::tree &tree, const uts::node &node) {
    const int n = tree.children_of(node);
    if (n == 0)
      return 1;
    std::vector<long> below(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      const uts::node child = uts::child_of(node, i);
      long *const to = &below[static_cast<std::size_t>(i)];
#pragma omp task firstprivate(child, to) shared(tree)
      *to = visit(tree, child);
    }
#pragma omp taskwait
    long nodes = 1;
    for (const long b : below)
      nodes += b;
    return nodes;
  }
};

} // namespace

int main(int argc, char **argv) { return glto::run<runtime>(argc, argv); }
