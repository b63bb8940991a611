// SPDX-License-Identifier: Apache-2.0
#include "hpccg.hpp"

#include <numeric>

struct hpccg::tasks {
  hpccg &h;

  void multiply() {
    const block *const all = h.m_blocks.data();
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      double *const ap = &h.m_ap[all[b].begin];
      const int *const reads = all[b].reads.data(), count = static_cast<int>(all[b].reads.size());
#pragma omp task depend(iterator(n = 0 : count), in : h.m_p[all[reads[n]].begin])                  \
    depend(out : *ap) firstprivate(b)
      h.multiply(b);
    }
  }

  void choose_alpha() {
    const std::size_t count = h.m_blocks.size();
    for (std::size_t b = 0; b < count; ++b) {
      double *const p = &h.m_p[h.m_blocks[b].begin], *const ap = &h.m_ap[h.m_blocks[b].begin];
#pragma omp task depend(in : *p, *ap) depend(out : h.m_part_p_ap[b]) firstprivate(b)
      h.m_part_p_ap[b] = h.dot_p_ap(b);
    }
#pragma omp task depend(iterator(n = 0 : count), in : h.m_part_p_ap[n]) depend(in : h.m_r_r)       \
    depend(out : h.m_alpha)
    h.choose_alpha(std::accumulate(h.m_part_p_ap.begin(), h.m_part_p_ap.end(), 0.0));
  }

  void advance() {
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      double *const p = &h.m_p[h.m_blocks[b].begin], *const x = &h.m_x[h.m_blocks[b].begin];
#pragma omp task depend(in : h.m_alpha, *p) depend(inout : *x) firstprivate(b)
      h.advance_x(b);
    }
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      double *const ap = &h.m_ap[h.m_blocks[b].begin], *const r = &h.m_r[h.m_blocks[b].begin];
#pragma omp task depend(in : h.m_alpha, *ap) depend(inout : *r) firstprivate(b)
      h.advance_r(b);
    }
  }

  void choose_beta() {
    const std::size_t count = h.m_blocks.size();
    for (std::size_t b = 0; b < count; ++b) {
      double *const r = &h.m_r[h.m_blocks[b].begin];
#pragma omp task depend(in : *r) depend(out : h.m_part_r_r[b]) firstprivate(b)
      h.m_part_r_r[b] = h.dot_r_r(b);
    }
#pragma omp task depend(iterator(n = 0 : count), in : h.m_part_r_r[n]) depend(inout : h.m_r_r)     \
    depend(out : h.m_beta)
    h.choose_beta(std::accumulate(h.m_part_r_r.begin(), h.m_part_r_r.end(), 0.0));
  }

  void turn() {
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      double *const r = &h.m_r[h.m_blocks[b].begin], *const p = &h.m_p[h.m_blocks[b].begin];
#pragma omp task depend(in : h.m_beta, *r) depend(inout : *p) firstprivate(b)
      h.advance_p(b);
    }
  }
};

void hpccg::run_tasks() {
  tasks t{*this};
#pragma omp taskgroup
  for (long i = 0; i < m_iterations; ++i) {
    t.multiply();
    t.choose_alpha();
    t.advance();
    t.choose_beta();
    t.turn();
  }
}
