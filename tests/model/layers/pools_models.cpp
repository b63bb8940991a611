// SPDX-License-Identifier: Apache-2.0
// Models of layers/pools/src/record_table.hpp.
#include "checker/models.hpp"

#include "layers/pools/src/record_table.hpp"

namespace {

using namespace weft_model;
using enum std::memory_order;

struct model_record {
  model_var<int> data{0}; // of the thread that has the record
  model_atomic<int> given{0};
  void use(int value) {
    data.set(value);
    expect(data.get() == value, "a record is of one thread at a time");
  }
};

struct functions {};
constexpr functions k_weft;
constexpr int k_process = 1, k_parent = 2;

template <unsigned Places>
using table = weft_pools::record_table<model_record, functions, Places, model_atomics>;

/// Takes a record of the table, or else one of a new block.
template <class Table>
typename Table::entry &begin(Table &records, typename Table::block &spare) {
  auto *const r = records.take(k_process);
  return r ? *r : *records.add(spare, k_process);
}

constexpr auto k_give = [](const functions &, model_record &r) { r.given.fetch_add(1, relaxed); };

/// Lets threads begin and end, with fewer records than threads at first.
struct records_taken {
  static constexpr int threads = 3;
  table<1> records;
  table<1>::block spare[threads];
  void run(int t) {
    for (int round = 0; round < (t == 0 ? 2 : 1); ++round) {
      auto *own = records.take(k_process);
      if (!own) {
        if (round == 1)
          return;
        own = records.add(spare[t], k_process);
      }
      own->use(t + 1);
      records.give_back(*own);
    }
  }
  void check() {}
};
const passes<records_taken> p1{"pool_records_taken"};

/// Attaches Weft while one thread takes a record that is there, and one adds a block.
struct records_shown {
  static constexpr int threads = 3;
  table<1> records;
  table<1>::block there, added;
  table<1>::entry *taken[threads] = {};
  records_shown() { records.give_back(*records.add(there, k_process)); }
  void run(int t) {
    if (t == 0) {
      expect(records.attach(k_weft, k_give), "no other functions are there");
      return;
    }
    taken[t] = t == 1 ? &begin(records, added) : records.take(k_process);
    if (!taken[t])
      return;
    taken[t]->use(t);
    records.show(*taken[t], k_give);
  }
  void check() {
    expect(!records.attach(k_weft, k_give), "the first functions stay");
    for (const auto *r : taken)
      if (r)
        expect(r->given.load(relaxed) == 1, "Weft has each record in use, once");
  }
};
const passes<records_shown> p2{"pool_records_shown"};

/// Forgets the parent's threads while threads begin that another library's handler has made.
struct records_forgotten {
  static constexpr int threads = 2;
  table<2> records;
  table<2>::block there, added;
  table<2>::entry *own = nullptr;
  records_forgotten() {
    own = records.add(there, k_parent); // the thread that has forked
    records.take(k_parent)->use(9); // another one
  }
  void run(int t) {
    if (t == 0) {
      records.forget(k_process, own, [](model_record &r) { r.use(0); });
      own->use(7);
      return;
    }
    for (int round = 0; round < 2; ++round) {
      auto *mine = records.take(k_process);
      if (!mine && round == 0)
        mine = records.add(added, k_process);
      if (!mine)
        return;
      mine->use(t);
      if (round == 0)
        records.give_back(*mine);
    }
  }
  void check() {
    expect(there.owners[0].load(relaxed) == k_process, "the thread that forked keeps its record");
    expect(there.owners[1].load(relaxed) != k_parent, "no record is the parent's");
  }
};
const passes<records_forgotten> p3{"pool_records_forgotten"};

} // namespace
