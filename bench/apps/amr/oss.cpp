// SPDX-License-Identifier: Apache-2.0
#include "amr.hpp"

#include <utility>

struct amr::tasks {
  field &f;
  double &sum;

  void exchange(const octree::face &face, int turn) {
    field &all = f;
#pragma oss task in(*all.cells(face.low, turn), *all.cells(face.high, turn))out(                   \
    *all.flux(face.number)) shared(face) label("exchange")
    all.exchange(face, turn);
  }

  void relax(const octree::picture &p, const octree::leaf &l, int turn) {
    field &all = f;
#pragma oss task in({*all.flux(p.sides[s].face), s = l.first_side; l.end_side - l.first_side})     \
    in(*all.cells(l.slot, turn))out(*all.cells(l.slot, 1 - turn)) shared(p, l) label("relax")
    all.relax(p, l, turn);
  }

  void split(const octree::change &c, int turn) {
    field &all = f;
#pragma oss task out({*all.cells(c.children[n], turn), n = 0; 8})                                  \
    in(*all.cells(c.parent, turn))shared(c) label("split")
    all.split(c, turn);
  }

  void merge(const octree::change &c, int turn) {
    field &all = f;
#pragma oss task in({*all.cells(c.children[n], turn), n = 0; 8}) out(*all.cells(c.parent, turn))   \
    shared(c) label("merge")
    all.merge(c, turn);
  }

  void weigh(const octree::leaf &l, int turn) {
    field &all = f;
    double &mass = sum;
#pragma oss task in(*all.cells(l.slot, turn))reduction(+ : mass) shared(l) label("weigh")
    mass += all.weigh(l, turn);
  }

  void total(const octree::picture &, double &mass) {
    double &gathered = sum;
#pragma oss task inout(gathered) out(mass) label("total")
    field::record(mass, std::exchange(gathered, 0));
  }
};

void amr::run_tasks() {
  visit(tasks{m_field, m_sum});
#pragma oss taskwait
}
