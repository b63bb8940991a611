// SPDX-License-Identifier: Apache-2.0
// Models of src/tune/site_table.hpp: threads that enter functions at once agree on their sites.
#include "checker/models.hpp"

#include "tune/site_table.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

struct model_site {};

const void *function(std::uintptr_t number) { return reinterpret_cast<const void *>(number << 12); }

/// Threads look for two functions in either order; both begin at the same slot.
template <int Threads, std::size_t Slots>
struct sites_of_functions {
  static constexpr int threads = Threads;
  site_table<model_site, Slots, P> table;
  model_site *found[Threads][2] = {};
  void run(int t) {
    for (int i = 0; i != 2; ++i) {
      const int which = (t + i) % 2;
      found[t][which] = table.find(function(1 + Slots * static_cast<std::uintptr_t>(which)));
    }
  }
  void check() {
    for (int t = 0; t != Threads; ++t)
      for (int which = 0; which != 2; ++which)
        expect(found[t][which] == found[0][which], "a function has one site");
    expect(Slots == 1 || found[0][0] != found[0][1], "two functions have two sites");
    expect((Slots == 1) == (!found[0][0] || !found[0][1]), "only a full table has no site");
  }
};
const passes<sites_of_functions<2, 4>> s1{"sites_two_threads"};
const passes<sites_of_functions<3, 2>> s2{"sites_three_threads"};
const passes<sites_of_functions<2, 1>> s3{"sites_of_a_full_table"};

} // namespace
