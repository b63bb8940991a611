// SPDX-License-Identifier: Apache-2.0
// Sites of sessions whose costs are counted, not timed.
#pragma once

#include <weft/counters.hpp>
#include <weft/tune.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace test::sessions {

namespace tune = weft::tune;

inline tune::range sizes() { return {1, 1024, tune::steps::logarithmic}; }

/// Is a site whose calls cost least at one size.
struct site {
  explicit site(std::int64_t first, std::int64_t best, const std::string &name = "app.size",
                const std::string &called = "")
      : size(name, first, sizes()), tuned(size, {"/app/cost", called, 1.0}), m_best(best) {}
  void call() {
    tune::trial one(tuned, 100);
    const double away =
        std::abs(std::log2(static_cast<double>(size.value()) / static_cast<double>(m_best)));
    cost().add(static_cast<std::uint64_t>(100'000 * (1 + 0.2 * away)));
  }
  void calls(int most) {
    for (int i = 0; i < most && !tuned.settled(); ++i)
      call();
  }
  static weft::counters::counter &cost() {
    static weft::counters::counter all("/app/cost", "made up");
    return all;
  }
  tune::knob size;
  tune::session tuned;
  std::int64_t m_best;
};

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Is a site whose calls miss less, and cost more, with a larger size.
struct site_of_two {
  explicit site_of_two(const std::string &objective, std::int64_t first = 16)
      : size("app.size", first, sizes()), tuned(size, {objective, "", 1.0, "exhaustive"}) {
    misses();
    site::cost();
  }
  static weft::counters::counter &misses() {
    static weft::counters::counter all("/app/misses", "made up");
    return all;
  }
  void call() {
    tune::trial one(tuned, 10);
    site::cost().add(static_cast<std::uint64_t>(10'000 + slope * size.value()));
    misses().add(static_cast<std::uint64_t>(102'400 / size.value()));
  }
  void run() {
    for (int i = 0; i < 3000 && !tuned.settled(); ++i)
      call();
  }
  std::int64_t slope = 10; ///< of the cost
  tune::knob size;
  tune::session tuned;
};

} // namespace test::sessions
