// SPDX-License-Identifier: Apache-2.0
// Models of src/monitor/suspend_word.hpp: a suspended thread that the watcher recalls continues
// (else a deadlock). And models of src/monitor/external_list.hpp.
#include "checker/models.hpp"

#include "monitor/external_list.hpp"
#include "monitor/suspend_word.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Asks one thread to suspend itself, perhaps while it is suspended, and recalls it.
struct suspend_word_recalled {
  static constexpr int threads = 2;
  suspend_word<P>::word word{suspend_word<P>::k_runs};
  void run(int t) {
    if (t == 0)
      for (int times = 0; times < 2; ++times) {
        suspend_word<P>::ask(word);
        suspend_word<P>::recall(word);
      }
    else
      suspend_word<P>::suspend(word, 0);
  }
  void check() { expect(word.load(relaxed) == suspend_word<P>::k_runs, "nobody is suspended"); }
};
const passes<suspend_word_recalled> a1{"suspend_word_recalled"};

/// Sends a second signal while the thread is suspended, or one without a request: such a signal
/// does not suspend the thread.
struct suspend_word_unasked {
  static constexpr int threads = 2;
  suspend_word<P>::word word{suspend_word<P>::k_runs};
  int stood = 0;
  void run(int t) {
    if (t == 0) {
      suspend_word<P>::ask(word);
      suspend_word<P>::recall(word);
    } else {
      stood += suspend_word<P>::suspend(word, 0);
      stood += suspend_word<P>::suspend(word, 0);
    }
  }
  void check() { expect(stood <= 1, "once for each time that it was asked"); }
};
const passes<suspend_word_unasked> a2{"suspend_word_unasked"};

struct acquaintance {
  /// Is plain memory that the checker watches.
  struct link {
    model_var<acquaintance *> is{nullptr};
    link &operator=(acquaintance *p) { return is.set(p), *this; }
    link &operator=(const link &other) { return *this = static_cast<acquaintance *>(other); }
    operator acquaintance *() const { return is.get(); }
  };
  model_var<int> data{0};
  link next;
};

/// Lets two external threads come while the watcher looks, and looks again.
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
