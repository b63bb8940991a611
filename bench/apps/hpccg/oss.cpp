// SPDX-License-Identifier: Apache-2.0
#include "hpccg.hpp"

#include <utility>

struct hpccg::tasks {
  hpccg &h;

  void multiply() {
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      const block &mine = h.m_blocks[b];
#pragma oss task in({h.m_p[h.m_blocks[mine.reads[n]].begin], n = 0; mine.reads.size()})            \
    out(h.m_ap[mine.begin]) label("multiply")
      h.multiply(b);
    }
  }

  void choose_alpha() {
    double &sum = h.m_sum_p_ap;
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      const std::size_t at = h.m_blocks[b].begin;
#pragma oss task in(h.m_p[at], h.m_ap[at])reduction(+ : sum) label("dot p ap")
      sum += h.dot_p_ap(b);
    }
#pragma oss task inout(sum) in(h.m_r_r)out(h.m_alpha) label("alpha")
    h.choose_alpha(std::exchange(sum, 0));
  }

  void advance() {
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      const std::size_t at = h.m_blocks[b].begin;
#pragma oss task in(h.m_alpha, h.m_p[at])inout(h.m_x[at]) label("x")
      h.advance_x(b);
    }
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      const std::size_t at = h.m_blocks[b].begin;
#pragma oss task in(h.m_alpha, h.m_ap[at])inout(h.m_r[at]) label("r")
      h.advance_r(b);
    }
  }

  void choose_beta() {
    double &sum = h.m_sum_r_r;
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
#pragma oss task in(h.m_r[h.m_blocks[b].begin])reduction(+ : sum) label("dot r r")
      sum += h.dot_r_r(b);
    }
#pragma oss task inout(sum, h.m_r_r) out(h.m_beta) label("beta")
    h.choose_beta(std::exchange(sum, 0));
  }

  void turn() {
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b) {
      const std::size_t at = h.m_blocks[b].begin;
#pragma oss task in(h.m_beta, h.m_r[at])inout(h.m_p[at]) label("p")
      h.advance_p(b);
    }
  }
};

void hpccg::run_tasks() {
  tasks t{*this};
  for (long i = 0; i < m_iterations; ++i) {
    t.multiply();
    t.choose_alpha();
    t.advance();
    t.choose_beta();
    t.turn();
  }
#pragma oss taskwait
}
