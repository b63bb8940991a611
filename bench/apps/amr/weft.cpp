// SPDX-License-Identifier: Apache-2.0
#include "amr.hpp"

#include <weft/weft.hpp>

#include <utility>

struct amr::tasks {
  field &f;
  double &sum;
  std::vector<weft::access> list;

  void exchange(const octree::face &face, int turn) {
    weft::spawn([&f = f, &face, turn] { f.exchange(face, turn); },
                weft::in(*f.cells(face.low, turn)), weft::in(*f.cells(face.high, turn)),
                weft::out(*f.flux(face.number)), weft::label("exchange"));
  }

  void relax(const octree::picture &p, const octree::leaf &l, int turn) {
    list.clear();
    for (int s = l.first_side; s < l.end_side; ++s)
      list.push_back(weft::in(*f.flux(p.sides[s].face)));
    weft::spawn([&f = f, &p, &l, turn] { f.relax(p, l, turn); }, weft::accesses(list),
                weft::in(*f.cells(l.slot, turn)), weft::out(*f.cells(l.slot, 1 - turn)),
                weft::label("relax"));
  }

  void split(const octree::change &c, int turn) {
    list.clear();
    for (const int child : c.children)
      list.push_back(weft::out(*f.cells(child, turn)));
    weft::spawn([&f = f, &c, turn] { f.split(c, turn); }, weft::accesses(list),
                weft::in(*f.cells(c.parent, turn)), weft::label("split"));
  }

  void merge(const octree::change &c, int turn) {
    list.clear();
    for (const int child : c.children)
      list.push_back(weft::in(*f.cells(child, turn)));
    weft::spawn([&f = f, &c, turn] { f.merge(c, turn); }, weft::accesses(list),
                weft::out(*f.cells(c.parent, turn)), weft::label("merge"));
  }

  void weigh(const octree::leaf &l, int turn) {
    weft::spawn([&f = f, &sum = sum, &l, turn] { weft::reduction_local(sum) += f.weigh(l, turn); },
                weft::in(*f.cells(l.slot, turn)), weft::reduction(sum, weft::sum),
                weft::label("weigh"));
  }

  void total(const octree::picture &, double &mass) {
    weft::spawn([&sum = sum, &mass] { field::record(mass, std::exchange(sum, 0)); },
                weft::inout(sum), weft::out(mass), weft::label("total"));
  }
};

void amr::run_tasks() {
  visit(tasks{m_field, m_sum, {}});
  weft::taskwait();
}
