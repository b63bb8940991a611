// SPDX-License-Identifier: Apache-2.0
#include "amr.hpp"

#include <weft/weft.hpp>

struct amr::tasks {
  field &f;
  std::vector<weft::access> list;

  void exchange(const octree::face &face, int turn) {
    weft::spawn([&f = f, &face, turn] { f.exchange(face, turn); }, weft::in(*f.cells(face.low, turn)),
                weft::in(*f.cells(face.high, turn)), weft::out(*f.flux(face.number)),
                weft::label("exchange"));
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
    weft::spawn([&f = f, &l, turn] { f.weigh(l, turn); }, weft::in(*f.cells(l.slot, turn)),
                weft::out(f.mass(l.slot)), weft::label("weigh"));
  }

  void total(const octree::picture &p, double &mass) {
    list.clear();
    for (const octree::leaf &l : p.leaves)
      list.push_back(weft::in(f.mass(l.slot)));
    weft::spawn([&f = f, &p, &mass] { mass = f.total(p); }, weft::accesses(list), weft::out(mass),
                weft::label("total"));
  }
};

void amr::run_tasks() {
  visit(tasks{m_field, {}});
  weft::taskwait();
}
