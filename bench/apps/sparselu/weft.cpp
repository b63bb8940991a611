// SPDX-License-Identifier: Apache-2.0
#include "sparselu.hpp"

#include <weft/weft.hpp>

struct sparselu::tasks {
  sparselu &s;

  void factor(long k) {
    double *const diagonal = s.at(k, k);
    weft::spawn([&s = s, diagonal] { s.factor(diagonal); }, weft::inout(*diagonal),
                weft::label("factor"));
  }
  void row(long k, long j) {
    double *const diagonal = s.at(k, k), *const right = s.at(k, j);
    weft::spawn([&s = s, diagonal, right] { s.solve_row(diagonal, right); }, weft::in(*diagonal),
                weft::inout(*right), weft::label("row"));
  }
  void column(long i, long k) {
    double *const diagonal = s.at(k, k), *const below = s.at(i, k);
    weft::spawn([&s = s, diagonal, below] { s.solve_column(diagonal, below); }, weft::in(*diagonal),
                weft::inout(*below), weft::label("column"));
  }
  void update(long i, long j, long k, bool fresh) {
    double *const below = s.at(i, k), *const right = s.at(k, j), *const inner = s.at(i, j);
    weft::spawn([&s = s, below, right, inner, fresh] { s.update(below, right, inner, fresh); },
                weft::in(*below), weft::in(*right), weft::inout(*inner), weft::label("update"));
  }
};

void sparselu::run_tasks() {
  visit(tasks{*this});
  weft::taskwait();
}
