// SPDX-License-Identifier: Apache-2.0
// Declares how a model is written down. A model is a struct, built anew for every execution:
//
//   struct two_increments {
//     static constexpr int threads = 2;
//     model_atomic<int> n{0};
//     void run(int thread) { n.fetch_add(1, std::memory_order_relaxed); }
//     void check() { expect(n.load(std::memory_order_relaxed) == 2, "both counted"); }
//   };
//   const passes<two_increments> a{"two_increments"};
//
// Threads share only atomics and vars; what a thread notes for check() in a plain member is its own.
#pragma once

#include "policy.hpp"

#include <set>
#include <string>
#include <vector>

namespace weft_model {

struct model {
  program what;
  bool must_pass = true;
  std::string failure; // must_pass == false: a part of the message that must come
  std::set<std::uint64_t> outcomes; // litmus tests: exactly what must be observed
};

inline std::vector<model> &all_models() {
  static std::vector<model> models;
  return models;
}

template <class M>
program program_of(const char *name) {
  return {name,
          M::threads,
          [] { return static_cast<void *>(new M); },
          [](void *m, int thread) { static_cast<M *>(m)->run(thread); },
          [](void *m) { static_cast<M *>(m)->check(); },
          [](void *m) { delete static_cast<M *>(m); }};
}

/// Registers a model that every execution must satisfy. Every weakened order of the component must
/// break it.
template <class M>
struct passes {
  explicit passes(const char *name) { all_models().push_back({program_of<M>(name), true, {}, {}}); }
};

/// Registers a seeded bug, which the checker must find.
template <class M>
struct fails {
  fails(const char *name, const char *failure) {
    all_models().push_back({program_of<M>(name), false, failure, {}});
  }
};

/// Registers a litmus test, which is explored completely. check() calls observe(), and exactly
/// these values must be observed.
template <class M>
struct litmus {
  litmus(const char *name, std::set<std::uint64_t> outcomes) {
    all_models().push_back({program_of<M>(name), true, {}, std::move(outcomes)});
  }
};

inline void observe(std::uint64_t value) { the_engine().observe(value); }

} // namespace weft_model
