// SPDX-License-Identifier: Apache-2.0
// pyramids: a stencil over time without thought of the cache's size. Space and time are divided
// into pyramids, upright ones, which a narrowing base bounds, and reversed ones between them; each
// is divided again, into tasks.
//
// In one dimension an upright triangle of width w lives for w/2 steps, and loses a cell at either
// side per step; a reversed one begins with no cell, and wins what its neighbours lose. Both are
// divided into four of half the width:
//
//     upright: two upright ones, then the reversed one between them, then an upright one on top;
//     reversed: a reversed one, then an upright one on top, then two reversed ones at its sides.
//
// A pyramid is a triangle in x and one in y. Its parts are the products of theirs; a part waits for
// those that come before it in x or in y.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <string>
#include <vector>

namespace inncabs {

class pyramids {
 public:
  static constexpr const char *k_name = "pyramids";
  static constexpr parameter k_parameters[] = {
      {"log2n", 10, 5, 2, 14, "the binary logarithm of rows and columns; steps are half as many"},
      {"leaf", 128, 8, 2, 16'384, "width of a pyramid that is not divided"}};

  explicit pyramids(const sizes &s);
  void reset();
  template <class M>
  void run() {
    // The grid has no edge: one upright triangle and one reversed one fill each dimension.
    const int all = m_n;
    const part_list both{{{{true, 0}, 0}, {{false, all}, 1}}, 2};
    products<M>(this, {all, 0}, both, both);
  }
  void remember() {}
  [[nodiscard]] std::string check() const;

 private:
  struct triangle {
    bool upright;
    int at; // its first cell; of a reversed one the cell at whose left edge it begins
  };
  struct extent {
    int width, time; // of the base; the first step
  };
  /// Is a part of a triangle, and when in its half it comes: 0, 1.
  struct part {
    triangle t;
    int stage;
  };
  struct part_list {
    part parts[3];
    int count;
  };

  /// Returns the parts of a triangle of width w in the first or the second half of its time.
  static part_list parts_of(triangle t, int w, bool second);
  /// Computes a pyramid step by step.
  void compute(extent e, triangle x, triangle y);

  template <class M>
  static void pyramid(pyramids *all, extent e, triangle x, triangle y) {
    if (e.width <= all->m_leaf)
      return all->compute(e, x, y);
    for (const bool second : {false, true})
      products<M>(all, {e.width / 2, e.time + (second ? e.width / 4 : 0)},
                  parts_of(x, e.width, second), parts_of(y, e.width, second));
  }

  template <class M>
  static void products(pyramids *all, extent e, const part_list &x, const part_list &y) {
    for (int stage = 0; stage < 3; ++stage) {
      typename M::scope here;
      future_list<M, void> parts(9);
      for (int i = 0; i < x.count; ++i)
        for (int j = 0; j < y.count; ++j)
          if (x.parts[i].stage + y.parts[j].stage == stage)
            parts.async(here, pyramid<M>, all, e, x.parts[i].t, y.parts[j].t);
      parts.get();
    }
  }

  int m_n, m_leaf;
  std::vector<double> m_grid[2]; // of even and odd steps
  std::vector<double> m_expected;
};

} // namespace inncabs
