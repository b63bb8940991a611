// SPDX-License-Identifier: Apache-2.0
// Random nested task programs against their serial run, over every policy, number of workers and system of
// dependencies.
//
//   fuzz [--seconds S] [--seed N]      in every configuration, by processes of its own
//   fuzz --here [--seconds S] [--seed N] [--count N]     in this process, with the settings of the
//   environment
#include "stress/fuzz/runner.hpp"
#include "support/process.hpp"
#include "support/scale.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

namespace {

using namespace fuzz;
using clock = std::chrono::steady_clock;

struct options {
  bool here = false;
  bool one_seed = false;
  std::uint64_t seed = 0;
  double seconds = 60;
  std::uint64_t count = 0; // programs; 0: as many as the time allows
};

// Counts since the process has begun; the watchman reads it.
std::atomic<std::uint64_t> g_done{0}, g_now{0};

/// Ends the process when a program hangs: that is the failure which no comparison shows.
void watch() {
  std::thread([] {
    const int patience = test::k_sanitized ? 240 : 60;
    for (std::uint64_t last = g_done, same = 0;; last = g_done) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      same = g_done == last ? same + 1 : 0;
      if (same < static_cast<std::uint64_t>(patience))
        continue;
      std::printf("FAILED seed %" PRIu64 ": it hangs\n", g_now.load());
      std::fflush(stdout);
      std::abort();
    }
  }).detach();
}

bool passes(std::uint64_t seed, agent &a) {
  program p = generator(seed).make();
  serial_run serial(p);
  std::string complaints = parallel_run(p, a).check(serial.result());
  if (!complaints.empty())
    std::printf("FAILED seed %" PRIu64 " (%zu tasks):\n%s", seed, p.nodes.size(), complaints.c_str());
  return complaints.empty();
}

/// A program runs on the main thread, on a thread of its own, or beside another one.
bool hosted(std::uint64_t seed, agent &a) {
  if (seed % 4 == 1) {
    note(fact::foreign_thread);
    bool good = false;
    std::thread([&] { good = passes(seed, a); }).join();
    return good;
  }
  if (seed % 4 == 2) {
    note(fact::two_programs);
    bool other = false;
    std::thread beside([&] { other = passes(~seed, a); });
    bool good = passes(seed, a);
    beside.join();
    return good && other;
  }
  return passes(seed, a);
}

int run_here(const options &o) {
  watch();
  std::uint64_t failed = 0, seed = o.seed;
  auto end = clock::now() + std::chrono::duration<double>(o.seconds);
  {
    agent a;
    do {
      g_now = seed;
      failed += !hosted(seed, a);
      ++g_done;
      if (!o.one_seed)
        ++seed;
    } while (failed < 3 && (o.count ? g_done < o.count : clock::now() < end));
  }
  weft::statistics s = weft::stats();
  g_facts[static_cast<std::size_t>(fact::stolen)] = s.stolen;
  g_facts[static_cast<std::size_t>(fact::suspended)] = s.suspended;
  g_facts[static_cast<std::size_t>(fact::throttled)] = s.throttled;
  std::printf("facts");
  for (auto &f : g_facts)
    std::printf(" %" PRIu64, f.load());
  std::printf("\n%" PRIu64 " passed, %" PRIu64 " failed\n", g_done - failed, failed);
  return failed ? 1 : 0;
}

std::vector<test::environment> configurations() {
  std::vector<test::environment> all;
  int i = 0;
  for (const char *workers : {"1", "2", "8"})
    for (const char *policy : {"stealing", "delegated", "local-fifo", "central"})
      for (const char *deps : {"wait-free", "locks"}) {
        test::environment e{
            {"WEFT_WORKERS", workers}, {"WEFT_SCHED_POLICY", policy}, {"WEFT_DEPS_SYSTEM", deps}};
        if (i % 3 == 1)
          e.emplace_back("WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0");
        if (i % 5 == 2)
          e.emplace_back("WEFT_THROTTLE_BYTES", "64KiB");
        if (i % 7 == 3)
          e.emplace_back("WEFT_SPIN_US", "0us");
        all.push_back(std::move(e));
        ++i;
      }
  return all;
}

std::string text_of(const test::environment &e) {
  std::string text;
  for (auto &[key, value] : e)
    text += key + "=" + value + " ";
  return text;
}

int run_everywhere(const options &o) {
  std::vector<test::environment> all = configurations();
  std::uint64_t passed = 0, failed = 0;
  std::array<std::uint64_t, k_facts> sums{};
  double share = o.seconds / static_cast<double>(all.size());
  for (std::size_t i = 0; i != all.size(); ++i) {
    std::uint64_t seed = o.one_seed ? o.seed : o.seed + i * 1'000'000;
    std::vector<std::string> arguments{test::program_path(), "--here"};
    arguments.insert(arguments.end(), {o.one_seed ? "--seed" : "--from", std::to_string(seed)});
    arguments.insert(arguments.end(), {"--seconds", std::to_string(share)});
    auto limit = std::chrono::seconds(static_cast<int>(share) + (test::k_sanitized ? 300 : 90));
    test::ending end = test::run(arguments, all[i], limit);
    std::uint64_t good = 0, bad = 0;
    std::size_t at = end.output.rfind("\nfacts ");
    std::size_t facts = end.output.rfind("facts ");
    std::size_t line = at == std::string::npos ? facts : at + 1;
    if (line != std::string::npos) {
      const char *from = end.output.c_str() + line + 5;
      char *next = nullptr;
      for (std::uint64_t &sum : sums) {
        sum += std::strtoull(from, &next, 10);
        from = next;
      }
      std::sscanf(from, " %" SCNu64 " passed, %" SCNu64 " failed", &good, &bad);
    }
    if (!end.exited(0)) {
      bad = bad ? bad : 1;
      std::printf("%s%s --here --seed N: ", text_of(all[i]).c_str(), test::program_path().c_str());
      std::ostringstream text;
      text << end;
      std::printf("%s\n", text.str().c_str());
    }
    passed += good;
    failed += bad;
  }
  for (std::size_t f = 0; f != k_facts; ++f)
    std::printf("%-16s %" PRIu64 "\n", k_fact_names[f], sums[f]);
  if (!o.one_seed)
    for (std::size_t f = 0; f != k_facts; ++f)
      if (sums[f] == 0) {
        std::printf("FAILED: %s never happened\n", k_fact_names[f]);
        ++failed;
      }
  std::printf("seed %" PRIu64 "\n%" PRIu64 " passed, %" PRIu64 " failed\n", o.seed, passed, failed);
  return failed ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  options o;
  bool seeded = false;
  for (int i = 1; i < argc; ++i) {
    auto is = [&](const char *name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--here")) {
      o.here = true;
    } else if ((is("--seed") || is("--from") || is("--seconds") || is("--count")) && i + 1 < argc) {
      const char *value = argv[i + 1];
      if (is("--seconds"))
        o.seconds = std::strtod(value, nullptr);
      else if (is("--count"))
        o.count = std::strtoull(value, nullptr, 0);
      else
        o.seed = std::strtoull(value, nullptr, 0), seeded = true, o.one_seed = is("--seed");
      ++i;
    } else {
      std::fprintf(stderr, "usage: %s [--here] [--seed N | --from N] [--seconds S] [--count N]\n", argv[0]);
      return 2;
    }
  }
  if (!seeded)
    o.seed = std::random_device{}() % 1'000'000'000;
  return o.here ? run_here(o) : run_everywhere(o);
}
