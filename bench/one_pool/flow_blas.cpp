// SPDX-License-Identifier: Apache-2.0
// flow_blas N M JOBS SIZE: a flow graph of TBB with N threads, whose nodes call an OpenMP BLAS (MKL)
// with M threads each. Prints one line of JSON: seconds, processor seconds, context switches of the
// process from the first job to the last, and whether the products are right.
//
// The program is stock: bench/one_pool/run compiles it against the wheels' TBB and MKL.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <sys/resource.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

extern "C" {
void MKL_Set_Num_Threads(int);
void MKL_Set_Dynamic(int);
void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);
}

namespace {

using matrix = std::vector<double>;

struct usage {
  double wall, cpu, switches;
};

usage now() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  const auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
      seconds(r.ru_utime) + seconds(r.ru_stime), static_cast<double>(r.ru_nvcsw + r.ru_nivcsw)};
}

std::vector<double> times(const matrix &a, const std::vector<double> &v) {
  const std::size_t n = v.size();
  std::vector<double> result(n, 0);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t k = 0; k < n; ++k)
      result[row] += a[row * n + k] * v[k];
  return result;
}

/// Says whether c is a times b, by a vector: c v = a (b v).
bool is_product(const matrix &c, const matrix &a, const matrix &b, std::size_t n, int seed) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<double>((i * 7 + static_cast<std::size_t>(seed)) % 13) - 6;
  const auto left = times(c, v), right = times(a, times(b, v));
  for (std::size_t i = 0; i < n; ++i)
    if (std::abs(left[i] - right[i]) > 1e-8 * static_cast<double>(n * n))
      return false;
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s N M JOBS SIZE\n", argv[0]);
    return 2;
  }
  const int threads = std::atoi(argv[1]), blas = std::atoi(argv[2]), jobs = std::atoi(argv[3]),
            size = std::atoi(argv[4]);
  const auto n = static_cast<std::size_t>(size);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  MKL_Set_Dynamic(0); // as many as asked for, also where there are fewer processors
  MKL_Set_Num_Threads(blas);
  matrix a(n * n), b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<double>(i * 37 % 101) / 50 - 1;
    b[i] = static_cast<double>(i * 53 % 97) / 48 - 1;
  }
  std::atomic<int> right{0};
  const auto multiply = [&](int job) {
    matrix c(n * n);
    cblas_dgemm(101, 111, 111, size, size, size, 1 + job, a.data(), size, b.data(), size, 0,
                c.data(), size);
    for (double &x : c)
      x /= 1 + job;
    return c;
  };
  right += is_product(multiply(0), a, b, n, 0); // both runtimes have their threads now
  usage before{}, after{};
  tbb::task_arena(threads).execute([&] { // one without a number has as many threads as processors
    tbb::flow::graph g;
    tbb::flow::function_node<int, matrix> product(g, tbb::flow::unlimited, multiply);
    tbb::flow::function_node<matrix, int> check(g, tbb::flow::unlimited, [&](const matrix &c) {
      right += is_product(c, a, b, n, 1);
      return 0;
    });
    tbb::flow::make_edge(product, check);
    const auto run = [&](int count) {
      for (int i = 0; i < count; ++i)
        product.try_put(i);
      g.wait_for_all();
    };
    run(threads);
    before = now();
    run(jobs);
    after = now();
  });
  std::printf("{\"wall\": %.6f, \"cpu\": %.6f, \"switches\": %.0f, \"right\": %s}\n",
              after.wall - before.wall, after.cpu - before.cpu, after.switches - before.switches,
              right == jobs + threads + 1 ? "true" : "false");
}
