// expect: assert.*this access names the address of the container.*weft::region\(v\) for the elements, or weft::object\(v\) for the container
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

class matrix {
 public:
  double *data();
  int size() const;
};

void f(matrix &m) {
  weft::spawn([] {}, weft::in(m)); // whatever has data() and size(), const or not
}
