// SPDX-License-Identifier: Apache-2.0
#include "amr.hpp"

struct amr::tasks {
  field *cells;

  void exchange(const octree::face &face, int turn) {
    field *const f = cells;
    const octree::face *const at = &face;
    double *const low = f->cells(face.low, turn), *const high = f->cells(face.high, turn);
    double *const flux = f->flux(face.number);
#pragma omp task depend(in : *low, *high) depend(out : *flux) firstprivate(f, at, turn)
    f->exchange(*at, turn);
  }

  void relax(const octree::picture &p, const octree::leaf &l, int turn) {
    field *const f = cells;
    const octree::picture *const all = &p;
    const octree::leaf *const at = &l;
    double *const before = f->cells(l.slot, turn), *const after = f->cells(l.slot, 1 - turn);
#pragma omp task depend(iterator(s = l.first_side : l.end_side), in : *f->flux(p.sides[s].face))   \
    depend(in : *before) depend(out : *after) firstprivate(f, all, at, turn)
    f->relax(*all, *at, turn);
  }

  void split(const octree::change &c, int turn) {
    field *const f = cells;
    const octree::change *const at = &c;
    double *const from = f->cells(c.parent, turn);
#pragma omp task depend(iterator(n = 0 : 8), out : *f->cells(c.children[n], turn))                 \
    depend(in : *from) firstprivate(f, at, turn)
    f->split(*at, turn);
  }

  void merge(const octree::change &c, int turn) {
    field *const f = cells;
    const octree::change *const at = &c;
    double *const to = f->cells(c.parent, turn);
#pragma omp task depend(iterator(n = 0 : 8), in : *f->cells(c.children[n], turn))                  \
    depend(out : *to) firstprivate(f, at, turn)
    f->merge(*at, turn);
  }

  void weigh(const octree::leaf &l, int turn) {
    field *const f = cells;
    const octree::leaf *const at = &l;
    double *const from = f->cells(l.slot, turn), *const mass = &f->mass(l.slot);
#pragma omp task depend(in : *from) depend(out : *mass) firstprivate(f, at, mass, turn)
    *mass = f->weigh(*at, turn);
  }

  void total(const octree::picture &p, double &mass) {
    field *const f = cells;
    const octree::picture *const all = &p;
    double *const to = &mass;
    const std::size_t count = p.leaves.size();
#pragma omp task depend(iterator(n = 0 : count), in : f->mass(p.leaves[n].slot)) depend(out : *to) \
    firstprivate(f, all, to)
    field::record(*to, f->sum_of_masses(*all));
  }
};

void amr::run_tasks() {
#pragma omp taskgroup
  visit(tasks{&m_field});
}
