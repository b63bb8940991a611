// SPDX-License-Identifier: Apache-2.0
// The workloads in GLT.
#include "sample.hpp"

#include <glt.h>

#include <string>
#include <vector>

namespace {

class runtime {
 public:
  explicit runtime(int workers) : m_workers(workers) {
    setenv("GLT_NUM_THREADS", std::to_string(workers).c_str(), 1);
    glt_init(0, nullptr);
    sample::require(glt_get_num_threads() == workers, "number of threads");
  }
  ~runtime() { glt_finalize(); }
  runtime(const runtime &) = delete;
  runtime &operator=(const runtime &) = delete;

  template <class F>
  void assign(F f) {
    struct part {
      F *f;
      int number;
    };
    std::vector<part> parts(static_cast<std::size_t>(m_workers));
    std::vector<GLT_ult> ults(parts.size());
    for (int i = 0; i < m_workers; ++i) {
      auto &p = parts[static_cast<std::size_t>(i)] = {&f, i};
      glt_ult_create_to(
          [](void *q) {
            const auto &own = *static_cast<part *>(q);
            (*own.f)(own.number);
          },
          &p, &ults[static_cast<std::size_t>(i)], i);
    }
    join_all(ults);
  }

  template <class F>
  void for_each_task(long n, F f) {
    std::vector<GLT_ult> ults(static_cast<std::size_t>(n));
    for (GLT_ult &u : ults)
      glt_ult_create([](void *q) { (*static_cast<F *>(q))(); }, &f, &u);
    join_all(ults);
  }

  template <class F>
  void nested(int n, F f) {
    struct part {
      runtime *r;
      F *f;
      int n, count;
    };
    assign([&](int number) {
      const int rows =
          glto::begin_of(n, m_workers, number + 1) - glto::begin_of(n, m_workers, number);
      for (int row = 0; row < rows; ++row) {
        std::vector<part> parts(static_cast<std::size_t>(m_workers));
        std::vector<GLT_ult> ults(parts.size());
        for (int i = 0; i < m_workers; ++i) {
          auto &p = parts[static_cast<std::size_t>(i)];
          p = {this, &f, n, glto::begin_of(n, m_workers, i + 1) - glto::begin_of(n, m_workers, i)};
          glt_ult_create(
              [](void *q) {
                const auto &own = *static_cast<part *>(q);
                for (int k = 0; k < own.count; ++k)
                  (*own.f)();
              },
              &p, &ults[static_cast<std::size_t>(i)]);
        }
        join_all(ults);
      }
    });
  }

  template <class F>
  void loop(int n, F f) {
    assign([&](int number) {
      const int end = glto::begin_of(n, m_workers, number + 1);
      for (int i = glto::begin_of(n, m_workers, number); i < end; ++i)
        f(i);
    });
  }

  template <class F>
  void produce(F f) {
    f();
  }

  template <class F, class Before>
  void tasks(int n, F f, Before before) {
    struct part {
      F *f;
      int i;
    };
    std::vector<part> parts(static_cast<std::size_t>(n));
    std::vector<GLT_ult> ults(parts.size());
    for (int i = 0; i < n; ++i) {
      before(i);
      auto &p = parts[static_cast<std::size_t>(i)] = {&f, i};
      glt_ult_create(
          [](void *q) {
            const auto &own = *static_cast<part *>(q);
            (*own.f)(own.i);
          },
          &p, &ults[static_cast<std::size_t>(i)]);
    }
    before(n);
    join_all(ults);
  }

  long count(const uts::tree &tree, const uts::node &root) {
    search s{&tree, root, 0};
    visit(&s);
    return s.nodes;
  }

 private:
  struct search {
    const uts::tree *tree;
    uts::node node;
    long nodes;
  };
  static void visit(void *q) {
    auto &s = *static_cast<search *>(q);
    s.nodes = 1;
    const int n = s.tree->children_of(s.node);
    if (n == 0)
      return;
    std::vector<search> below(static_cast<std::size_t>(n));
    std::vector<GLT_ult> ults(below.size());
    for (int i = 0; i < n; ++i) {
      auto &child = below[static_cast<std::size_t>(i)] = {s.tree, uts::child_of(s.node, i), 0};
      glt_ult_create(&visit, &child, &ults[static_cast<std::size_t>(i)]);
    }
    join_all(ults);
    for (const search &child : below)
      s.nodes += child.nodes;
  }
  static void join_all(std::vector<GLT_ult> &ults) {
    for (GLT_ult &u : ults)
      glt_ult_join(&u);
  }

  const int m_workers;
};

} // namespace

int main(int argc, char **argv) { return glto::run<runtime>(argc, argv); }
