// SPDX-License-Identifier: Apache-2.0
#include "hpccg.hpp"

#include <weft/weft.hpp>

#include <utility>

struct hpccg::tasks {
  hpccg &h;
  std::vector<weft::access> list;

  /// Calls spawn(number of the block, its first row) for each block.
  template <class Spawn>
  void for_blocks(Spawn spawn) {
    for (std::size_t b = 0; b < h.m_blocks.size(); ++b)
      spawn(b, h.m_blocks[b].begin);
  }

  void multiply() {
    for_blocks([this](std::size_t b, std::size_t at) {
      list.clear();
      for (const int read : h.m_blocks[b].reads)
        list.push_back(weft::in(h.m_p[h.m_blocks[static_cast<std::size_t>(read)].begin]));
      weft::spawn([&h = h, b] { h.multiply(b); }, weft::accesses(list), weft::out(h.m_ap[at]),
                  weft::label("multiply"));
    });
  }

  void choose_alpha() {
    for_blocks([this](std::size_t b, std::size_t at) {
      weft::spawn([&h = h, b] { weft::reduction_local(h.m_sum_p_ap) += h.dot_p_ap(b); },
                  weft::in(h.m_p[at]), weft::in(h.m_ap[at]),
                  weft::reduction(h.m_sum_p_ap, weft::sum), weft::label("dot p ap"));
    });
    weft::spawn([&h = h] { h.choose_alpha(std::exchange(h.m_sum_p_ap, 0)); },
                weft::inout(h.m_sum_p_ap), weft::in(h.m_r_r), weft::out(h.m_alpha),
                weft::label("alpha"));
  }

  void advance() {
    for_blocks([this](std::size_t b, std::size_t at) {
      weft::spawn([&h = h, b] { h.advance_x(b); }, weft::in(h.m_alpha), weft::in(h.m_p[at]),
                  weft::inout(h.m_x[at]), weft::label("x"));
    });
    for_blocks([this](std::size_t b, std::size_t at) {
      weft::spawn([&h = h, b] { h.advance_r(b); }, weft::in(h.m_alpha), weft::in(h.m_ap[at]),
                  weft::inout(h.m_r[at]), weft::label("r"));
    });
  }

  void choose_beta() {
    for_blocks([this](std::size_t b, std::size_t at) {
      weft::spawn([&h = h, b] { weft::reduction_local(h.m_sum_r_r) += h.dot_r_r(b); },
                  weft::in(h.m_r[at]), weft::reduction(h.m_sum_r_r, weft::sum),
                  weft::label("dot r r"));
    });
    weft::spawn([&h = h] { h.choose_beta(std::exchange(h.m_sum_r_r, 0)); },
                weft::inout(h.m_sum_r_r), weft::inout(h.m_r_r), weft::out(h.m_beta),
                weft::label("beta"));
  }

  void turn() {
    for_blocks([this](std::size_t b, std::size_t at) {
      weft::spawn([&h = h, b] { h.advance_p(b); }, weft::in(h.m_beta), weft::in(h.m_r[at]),
                  weft::inout(h.m_p[at]), weft::label("p"));
    });
  }
};

void hpccg::run_tasks() {
  tasks t{*this, {}};
  for (long i = 0; i < m_iterations; ++i) {
    t.multiply();
    t.choose_alpha();
    t.advance();
    t.choose_beta();
    t.turn();
  }
  weft::taskwait();
}
