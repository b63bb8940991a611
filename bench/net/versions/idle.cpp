// SPDX-License-Identifier: Apache-2.0
// weft-net-idle [SECONDS]   joins a job, uses it once, and then waits for a notification: prints the processor time
// of all threads of the process meanwhile, in percent of a core. Rank 0 sleeps, and notifies the others.
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <time.h>

namespace {

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void wait_idly(weft::net::team &team, int seconds) {
  constexpr std::uint32_t k_over = 1;
  auto words = team.allocate<long>(1);
  team.async_fetch_add(words.on((team.rank() + 1) % team.size()), 1).get();
  team.barrier();
  const double processor = now(CLOCK_PROCESS_CPUTIME_ID), begin = now(CLOCK_MONOTONIC);
  if (team.rank() == 0) {
    weft::this_task::sleep_for_ns(seconds * 1'000'000'000L);
    for (int to = 1; to != team.size(); ++to)
      team.async_notify(to, k_over).get();
  } else {
    team.wait_notified(k_over);
  }
  const double used = now(CLOCK_PROCESS_CPUTIME_ID) - processor;
  std::printf("idle %d %.3f\n", team.rank(), 100 * used / (now(CLOCK_MONOTONIC) - begin));
  team.barrier();
  if (words.local()[0] != 1)
    throw weft::error(weft::errc::invalid_argument, "the ranks have not met");
}

} // namespace

int main(int argc, char **argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  try {
    weft::net::run_ranks([&](weft::net::team &team) { wait_idly(team, seconds); });
    return EXIT_SUCCESS;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-idle: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
