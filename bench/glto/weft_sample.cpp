// SPDX-License-Identifier: Apache-2.0
// The workloads in tasks of Weft.
#include "sample.hpp"

#include <weft/weft.hpp>

#include <string>
#include <vector>

namespace {

class runtime {
 public:
  explicit runtime(int workers) : m_workers(workers) {
    weft::configure("workers", std::to_string(workers).c_str());
    weft::start();
  }

  template <class F>
  void assign(F f) {
    weft::task_group group;
    for (int i = 0; i < m_workers; ++i)
      group.spawn([&f, i] { f(i); });
    group.wait();
  }

  template <class F>
  void for_each_task(long n, F f) {
    for (long i = 0; i < n; ++i)
      weft::spawn([&f] { f(); });
    weft::taskwait();
  }

  template <class F>
  void nested(int n, F f) {
    assign([&](int number) {
      const int rows =
          glto::begin_of(n, m_workers, number + 1) - glto::begin_of(n, m_workers, number);
      for (int row = 0; row < rows; ++row) {
        for (int i = 0; i < m_workers; ++i) {
          const int count = glto::begin_of(n, m_workers, i + 1) - glto::begin_of(n, m_workers, i);
          weft::spawn([&f, count] {
            for (int k = 0; k < count; ++k)
              f();
          });
        }
        weft::taskwait();
      }
    });
  }

  template <class F>
  void loop(int n, F f) {
    weft::taskfor(weft::range(n), f);
  }

  template <class F>
  void produce(F f) {
    f();
  }

  template <class F, class Before>
  void tasks(int n, F f, Before before) {
    for (int i = 0; i < n; ++i) {
      before(i);
      weft::spawn([&f, i] { f(i); });
    }
    before(n);
    weft::taskwait();
  }

  long count(const uts::tree &tree, const uts::node &node) {
    const int n = tree.children_of(node);
    if (n == 0)
      return 1;
    std::vector<long> below(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      weft::spawn([this, &tree, child = uts::child_of(node, i),
                   to = &below[static_cast<std::size_t>(i)]] { *to = count(tree, child); });
    weft::taskwait();
    long nodes = 1;
    for (const long b : below)
      nodes += b;
    return nodes;
  }

 private:
  const int m_workers;
};

} // namespace

int main(int argc, char **argv) { return glto::run<runtime>(argc, argv); }
