// SPDX-License-Identifier: Apache-2.0
// Models of src/task/local_list.hpp: two branches of a join look for the same value, and each
// makes it if there is none.
#include "checker/models.hpp"

#include "task/local_list.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

struct model_value : local_link<P> {
  model_var<int> content{0};
};

/// Lets each branch use `Keys` variables, the second one in the other order.
template <int Keys>
struct locals_of_two_branches {
  static constexpr int threads = 2;
  local_list<P> list;
  model_value made[threads][Keys];
  local_link<P> *seen[threads][Keys] = {};

  void use(int t, int k) {
    const auto key = static_cast<std::uint64_t>(k + 1);
    local_link<P> *found = list.find(key);
    if (!found) {
      model_value &fresh = made[t][k];
      fresh.key.set(key);
      fresh.content.set(k + 10);
      found = &list.add(fresh);
    }
    expect(static_cast<model_value *>(found)->content.get() == k + 10,
           "a value is whole when it is found");
    expect(!seen[t][k] || seen[t][k] == found, "it stays the same");
    seen[t][k] = found;
  }
  void run(int t) {
    for (int i = 0; i < Keys; ++i)
      use(t, t == 0 ? i : Keys - 1 - i);
  }
  void check() {
    int left = 0;
    while (list.take())
      ++left;
    expect(left == Keys, "a key is in the list once");
    for (int k = 0; k < Keys; ++k)
      expect(seen[0][k] == seen[1][k], "both branches have the same value");
  }
};
const passes<locals_of_two_branches<1>> l1{"locals_of_one_variable"};
const passes<locals_of_two_branches<2>> l2{"locals_of_two_variables"};
const passes<locals_of_two_branches<3>> l3{"locals_of_three_variables"};

} // namespace
