// SPDX-License-Identifier: Apache-2.0
#include "sparse.hpp"
#include "ways.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

namespace adapt {

namespace {

constexpr int k_fixed_width = 400; // of a picture

std::uint64_t mandelbrot_row(std::uint64_t row, std::uint64_t rows) noexcept {
  std::uint64_t sum = 0;
  const double y0 = 2.0 * static_cast<double>(row) / static_cast<double>(rows) - 1;
  for (int column = 0; column < k_fixed_width; ++column) {
    const double x0 = 3.0 * column / k_fixed_width - 2;
    double x = 0, y = 0;
    for (int i = 0; i < 256 && x * x + y * y < 4; ++i, ++sum) {
      const double next = x * x - y * y + x0;
      y = 2 * x * y + y0;
      x = next;
    }
  }
  return sum;
}

enum class kind { uniform, triangle, power, half, mandelbrot, sparse };

struct loop {
  kind what;
  std::uint64_t n, cost;
  std::shared_ptr<const sparse_matrix> matrix{};

  [[nodiscard]] std::uint64_t iteration(std::uint64_t i) const noexcept {
    switch (what) {
    case kind::triangle:
      return steps(i, 2 * cost * i / n);
    case kind::power: // a cost of 2^k for one iteration of 2^(k+1)
      return steps(i, cost << std::min(std::countr_zero(mixed(i + 1)), 16));
    case kind::half: // one costs as much as all others
      return steps(i, i == n / 2 ? cost * (n - 1) : cost);
    case kind::mandelbrot:
      return mandelbrot_row(i, n);
    default:
      return steps(i, cost);
    }
  }
  [[nodiscard]] std::uint64_t part(std::uint64_t first, std::uint64_t end) const noexcept {
    std::uint64_t sum = 0;
    if (what == kind::uniform) // no question per iteration
      for (std::uint64_t i = first; i < end; ++i)
        sum += steps(i, cost);
    else if (what == kind::sparse)
      for (std::uint64_t i = first; i < end; ++i)
        sum += std::bit_cast<std::uint64_t>(matrix->row_times_vector(i));
    else
      for (std::uint64_t i = first; i < end; ++i)
        sum += iteration(i);
    return sum;
  }
};

template <class... Grain>
std::uint64_t shared_loop(const loop &of, Grain... grain) {
  std::atomic<std::uint64_t> sum{0};
  weft::taskfor(
      weft::range<std::uint64_t>(of.n),
      [&](const weft::range<std::uint64_t> &part) {
        sum.fetch_add(of.part(part.first(), part.limit()), std::memory_order_relaxed);
      },
      grain...);
  return sum;
}

/// Gives each worker half of its fair share of what is left, as guided loops do.
std::uint64_t guided_loop(const loop &of) {
  std::atomic<std::uint64_t> sum{0}, next{0};
  const auto workers = static_cast<std::uint64_t>(weft::worker_count());
  weft::task_group group;
  for (std::uint64_t w = 0; w < workers; ++w)
    group.spawn([&] {
      std::uint64_t own = 0;
      for (std::uint64_t first = next.load(std::memory_order_relaxed); first < of.n;) {
        const std::uint64_t count = std::max<std::uint64_t>((of.n - first) / (2 * workers), 1);
        if (next.compare_exchange_weak(first, first + count, std::memory_order_relaxed)) {
          own += of.part(first, first + count);
          first = next.load(std::memory_order_relaxed);
        }
      }
      sum.fetch_add(own, std::memory_order_relaxed);
    });
  group.wait();
  return sum;
}

constexpr const char *k_plain[] = {"uniform", "triangle", "power", "half", "mandelbrot"};

} // namespace

const std::vector<std::string> &loop_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names(std::begin(k_plain), std::end(k_plain));
    names.insert(names.end(), matrix_names().begin(), matrix_names().end());
    return names;
  }();
  return all;
}

std::vector<way> ways_of_loop(const std::string &name, std::uint64_t n, std::uint64_t cost) {
  const auto *const plain = std::find(std::begin(k_plain), std::end(k_plain), name);
  loop of{static_cast<kind>(plain - std::begin(k_plain)), n, cost};
  if (plain == std::end(k_plain))
    of.matrix = std::make_shared<const sparse_matrix>(name, n, cost);
  const auto share = n / static_cast<std::uint64_t>(weft::worker_count());
  std::vector<way> all{{"serial", [of] { return of.part(0, of.n); }, {}, {}},
                       {"self", [of] { return shared_loop(of); }, {}, {}}};
  if (n > 1) {
    all.push_back({"static", [of, share] { return shared_loop(of, weft::grain_size(share + 1)); }, {}, {}});
    all.push_back({"guided", [of] { return guided_loop(of); }, {}, {}});
  }
  for (std::uint64_t grain = 1; grain < of.n; grain *= 4)
    all.push_back({std::to_string(grain),
                   [of, grain] { return shared_loop(of, weft::grain_size(grain)); }, {}, {}});
  return all;
}

} // namespace adapt
