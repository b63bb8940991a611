// SPDX-License-Identifier: Apache-2.0
// Models of src/park/aside_word.hpp: who stands aside and is recalled goes on (else a deadlock); and of src/manage/external_list.hpp.
#include "checker/models.hpp"

#include "manage/external_list.hpp"
#include "park/aside_word.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// One is asked, perhaps while it stands aside, and recalled.
struct aside_recalled {
  static constexpr int threads = 2;
  aside<P>::word word{aside<P>::k_runs};
  void run(int t) {
    if (t == 0)
      for (int times = 0; times < 2; ++times) {
        aside<P>::ask(word);
        aside<P>::recall(word);
      }
    else
      aside<P>::stand(word, 0);
  }
  void check() { expect(word.load(relaxed) == aside<P>::k_runs, "nobody stands aside"); }
};
const passes<aside_recalled> a1{"aside_recalled"};

/// A second signal comes while the thread stands aside, or it was not asked: it does not stand aside for that.
struct aside_unasked {
  static constexpr int threads = 2;
  aside<P>::word word{aside<P>::k_runs};
  int stood = 0;
  void run(int t) {
    if (t == 0) {
      aside<P>::ask(word);
      aside<P>::recall(word);
    } else {
      stood += aside<P>::stand(word, 0);
      stood += aside<P>::stand(word, 0);
    }
  }
  void check() { expect(stood <= 1, "once for each time that it was asked"); }
};
const passes<aside_unasked> a2{"aside_unasked"};

struct acquaintance {
  /// Plain memory that the checker watches.
  struct link {
    model_var<acquaintance *> is{nullptr};
    link &operator=(acquaintance *p) { return is.set(p), *this; }
    link &operator=(const link &other) { return *this = static_cast<acquaintance *>(other); }
    operator acquaintance *() const { return is.get(); }
  };
  model_var<int> data{0};
  link next;
};

/// Two come while the watcher looks, and looks again.
struct externals_added {
  static constexpr int threads = 3;
  external_list<acquaintance, P> list;
  acquaintance threads_added[2];
  int found = 0;
  void look() {
    found = 0;
    list.visit([&](acquaintance &g) {
      expect(g.data.get() == 1, "an external thread that is found is complete");
      ++found;
    });
  }
  void run(int t) {
    if (t == 0)
      return look();
    threads_added[t - 1].data.set(1);
    list.add(threads_added[t - 1]);
  }
  void check() {
    look();
    expect(found == 2, "all are found");
  }
};
const passes<externals_added> g1{"externals_added"};

} // namespace
