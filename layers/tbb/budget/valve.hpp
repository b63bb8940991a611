// SPDX-License-Identifier: Apache-2.0
// How many threads each permit has. A permit gets threads while workers idle, and gives them back,
// one at each look, while ready work waits for a worker. So arenas that have the workers for
// themselves grow to what the workers can run, and shrink when OpenMP, tasks or other arenas need
// them.
#pragma once

#include "mutant.hpp"

#include <weft/layer/thread.hpp>

#include <algorithm>
#include <cstddef>

namespace weft_tcm {

/// Is the part of a permit that the valve decides about.
struct share {
  unsigned least = 0, most = 0; // that are asked for
  unsigned granted = 0;
  bool active = false; // else it has what no thread uses: idle permits give back first
  bool rigid = false;  // what is granted stays as it is while the permit is active

  /// Returns what the permit keeps while others need workers: one at least, or a queue of tasks
  /// without a waiting thread would never be served.
  [[nodiscard]] unsigned kept() const noexcept {
    return active ? std::min(std::max(least, 1u), most) : 0;
  }
};

/// Returns what a request gets at once.
[[nodiscard]] inline unsigned first_grant(const share &own,
                                          const weft::layer::worker_use &use) noexcept {
  const unsigned room = use.ready == 0 ? use.idle : 0;
  return std::clamp(own.granted + room, own.kept(), own.most);
}

/// Decides at each look; remembers the last one.
class valve {
 public:
  /// Changes what the shares have. `Shares` is a range of references to share; later looks go on
  /// behind the share that got the last thread.
  template <class Shares>
  void look(Shares &&shares, const weft::layer::worker_use &use) {
    const bool is_short = use.idle == 0 && use.ready != 0;
    // Work that comes and goes at once needs no permit's thread.
    const bool for_long = is_short && unless(bug::tcm_takes_at_once, m_was_short, true);
    m_was_short = is_short;
    if (for_long)
      take_one(shares);
    else if (use.ready == 0)
      give(shares, use.idle);
  }

 private:
  template <class Shares>
  static void take_one(Shares &shares) {
    share *from = nullptr;
    for (share &s : shares)
      if (!(s.rigid && s.active) && s.granted > s.kept() && (!from || is_before(s, *from)))
        from = &s;
    if (from)
      --from->granted;
  }
  [[nodiscard]] static bool is_before(const share &a, const share &b) noexcept {
    return a.active != b.active ? !a.active : a.granted > b.granted;
  }

  template <class Shares>
  void give(Shares &shares, unsigned idle) {
    for (bool any = true; any && idle != 0;) {
      any = false;
      for (share &s : shares)
        if (idle != 0 && s.active && !s.rigid && s.granted < s.most)
          ++s.granted, --idle, any = true;
    }
  }

  bool m_was_short = false;
};

} // namespace weft_tcm
