// SPDX-License-Identifier: Apache-2.0
// Senders, with a library of ours in the place of the program's, for a program whose memory fails: see program.hpp. Each operation that was
// started ends once.
#pragma once

#if !defined(WEFT_P2300_HEADER)
#define WEFT_P2300_HEADER "unit/execution/p2300_fake.hpp"
#define WEFT_P2300_NAMESPACE p2300_fake
#endif

#include "stress/exhaustion/futures.hpp"

#include <weft/execution.hpp>

namespace exhaustion {

/// Takes what a sender sends, which is `expected`.
template <class Make>
void expect_sent(Make make, int expected) {
  attempt([&] {
    if (const auto sent = weft::sync_wait(make()); !sent || std::get<0>(*sent) != expected)
      wrong("a sender sends something else");
  });
}

inline void schedules() {
  static std::atomic<int> calls;
  calls = 0;
  int made = 0;
  for (int i = 0; i != 5; ++i)
    made += attempt([] {
      weft::sync_wait(p2300_fake::then(weft::get_scheduler().schedule(), [] { return ++calls; }));
    });
  if (calls != made)
    wrong("a scheduled call was lost, or made twice");
}

inline void bulks() {
  attempt([] {
    std::vector<std::atomic<int>> calls(500);
    const bool whole = attempt([&] {
      weft::sync_wait(p2300_fake::bulk_as(p2300_fake::bulk_unchunked_t(),
                                          weft::get_scheduler().schedule(), p2300_fake::par, 500,
                                          [&](int i) { ++calls[static_cast<std::size_t>(i)]; }));
    });
    for (const auto &n : calls)
      if (n > 1 || (whole && n != 1))
        return wrong("a bulk has left out an index or called it twice");
  });
}

inline void futures_as_senders() {
  expect_sent([] { return weft::as_sender(weft::async([] { return 4; })); }, 4);
  expect_sent([] { return weft::as_sender(weft::async(weft::launch::deferred, [] { return 5; })); },
              5);
  if (g_fails_for_ever) // nothing but a worker completes these, and one worker may have no stack to wait with
    return;
  weft::future<int> f;
  for (int i = 0; i != 3; ++i)
    if (attempt([&] {
          f = weft::as_future(
              p2300_fake::then(weft::get_scheduler().schedule(), [i] { return i; }));
        }))
      expect_value(f, i);
  attempt([&] {
    weft::promise<int> kept;
    f = weft::as_future(weft::as_sender(kept.get_future()));
    while (!attempt([&] { kept.set_value(6); })) {
    }
    expect_value(f, 6);
  });
}

inline void all_of_senders() {
  schedules();
  bulks();
  futures_as_senders();
}

} // namespace exhaustion
