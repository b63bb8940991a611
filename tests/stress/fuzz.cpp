// SPDX-License-Identifier: Apache-2.0
// Random nested task programs against their serial run, over policies, systems of dependencies, numbers of
// workers and builds.
//
//   fuzz [--seconds S] [--seed N | --from N] [--build NAME=PATH]...
//       in configurations that cover every pair, by processes of this program and of its other builds
//   fuzz --here [--seconds S] [--seed N | --from N] [--count N]
//       in this process, with the settings of the environment
//   fuzz --shrink N [--seconds S] [--out FILE]
//       makes the failing program N small, with the settings of the environment, and prints it as C++
//   fuzz --print N [--out FILE]
//       prints program N as C++, as it is
//   --fault drops the first access of some tasks: a failure to see the rest of it work with
#include "managers/managers.hpp"
#include "stress/fuzz/generator.hpp"
#include "stress/fuzz/neighbours.hpp"
#include "stress/fuzz/print.hpp"
#include "stress/fuzz/setup.hpp"
#include "stress/fuzz/shrink.hpp"
#include "support/scale.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace {

using namespace fuzz;

struct options {
  enum class mode { everywhere, here, shrink, print } what = mode::everywhere;
  bool one_seed = false;
  bool fault = false;
  std::uint64_t seed = 0;
  double seconds = 60;
  std::uint64_t count = 0; // programs; 0: as many as the time allows
  std::string out;
  other_builds builds{};
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

/// What mode `auto` does by load, far more often: messages are sent and not sent while programs run. Instead of the runtime's own thread.
class mode_switcher {
 public:
  mode_switcher() {
    if (const char *mode = std::getenv("WEFT_MANAGE_MODE"); !mode || std::strcmp(mode, "auto") != 0)
      return;
    setenv("WEFT_MANAGE_MODE", "distributed", 1);
    weft::start();
    m_thread = std::thread([this] {
      std::minstd_rand chance(1);
      for (bool on = false; !m_over; on = !on) {
        weft::rt::managers::send_messages(on);
        std::this_thread::sleep_for(std::chrono::microseconds(20 + chance() % 1000));
      }
    });
  }
  mode_switcher(const mode_switcher &) = delete;
  ~mode_switcher() {
    m_over = true;
    if (m_thread.joinable())
      m_thread.join();
  }

 private:
  std::atomic<bool> m_over{false};
  std::thread m_thread;
};

program make(std::uint64_t seed, bool fault) {
  program p = generator(seed).make();
  for (auto &n :
       p.nodes) // not what a task reduces: it is refused its copy, and no comparison is needed
    if (fault && n->id % 3 == 1 && !n->uses.empty() && way_of(n->uses[0].mode) != way::reduction)
      n->lost = n->uses[0].cell;
  return p;
}

bool passes(std::uint64_t seed, bool fault, agent &a) {
  program p = make(seed, fault);
  serial_run serial(p);
  std::string complaints = parallel_run(p, a).check(serial.result());
  if (!complaints.empty())
    std::printf("FAILED seed %" PRIu64 " (%zu tasks):\n%s", seed, p.nodes.size(),
                complaints.c_str());
  return complaints.empty();
}

/// A program runs on the main thread, on a thread of its own, or beside another one.
bool hosted(std::uint64_t seed, bool fault, agent &a) {
  if (seed % 4 == 1) {
    note(fact::external_thread);
    bool good = false;
    std::thread([&] { good = passes(seed, fault, a); }).join();
    return good;
  }
  if (seed % 4 == 2) {
    note(fact::two_programs);
    bool other = false;
    std::thread beside([&] { other = passes(~seed, fault, a); });
    bool good = passes(seed, fault, a);
    beside.join();
    return good && other;
  }
  const bool good = beside_neighbours(seed, [&] { return passes(seed, fault, a); });
  if (!good)
    std::printf("FAILED seed %" PRIu64 ", or what ran beside it\n", seed);
  return good;
}

int run_here(const options &o) {
  watch();
  std::uint64_t failed = 0, seed = o.seed;
  auto end = clock::now() + std::chrono::duration<double>(o.seconds);
  {
    agent a;
    mode_switcher switcher;
    do {
      g_now = seed;
      failed += !hosted(seed, o.fault, a);
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

// ---- shrinking ----

/// The settings that the environment makes, as a program would make them.
std::vector<std::pair<std::string, std::string>> settings_of_environment() {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto &info : weft::rt::setting_table())
    if (const char *value = std::getenv(info.environment.c_str()); value && *value)
      settings.emplace_back(info.key, value);
  return settings;
}

std::string head_of(std::uint64_t seed, std::size_t tasks, const failure &how) {
  std::string text = "// Program " + std::to_string(seed) + " of the fuzzer, cut down to " +
                     std::to_string(tasks) + " task(s).";
  text +=
      how.how == failure::kind::hang     ? " It hangs.\n"
      : how.how == failure::kind::signal ? " Signal " + std::to_string(how.number) + " ends it.\n"
      : how.how == failure::kind::exit ? " It ends with code " + std::to_string(how.number) + ".\n"
                                       : "\n";
  std::istringstream lines(how.text);
  for (std::string line; std::getline(lines, line);)
    text += "//" + line + "\n";
  return text +
         "//   g++ -std=c++20 -g this.cpp $(pkg-config --cflags --libs weft) && ./a.out [runs]\n";
}

void show(const program &p, const std::string &head, const options &o) {
  const std::string text = printer(p, settings_of_environment(), head).print();
  if (o.out.empty())
    std::printf("----8<----\n%s---->8----\n", text.c_str());
  else
    std::ofstream(o.out) << text;
}

int run_shrink(const options &o) {
  const auto patience = std::chrono::seconds(test::k_sanitized ? 60 : 15);
  const trial t(patience);
  program p = make(o.seed, o.fault);
  const auto first =
      t.run(p, 1'000'000, std::chrono::milliseconds(static_cast<int>(o.seconds * 500)));
  if (!first) {
    std::printf("program %" PRIu64 " did not fail again when it ran alone\n", o.seed);
    return 2;
  }
  const std::size_t tasks = p.nodes.size() - 1;
  shrinker s(std::move(p), *first, t,
             clock::now() + std::chrono::milliseconds(static_cast<int>(o.seconds * 1000)));
  const program small = s.shrink();
  std::printf("shrunk from %zu to %zu tasks by %d candidates\n", tasks, small.nodes.size() - 1,
              s.candidates());
  show(small, head_of(o.seed, small.nodes.size() - 1, s.how()), o);
  return 1;
}

int run_print(const options &o) {
  program p = make(o.seed, o.fault);
  renumber(p);
  show(p, "// Program " + std::to_string(o.seed) + " of the fuzzer.\n", o);
  return 0;
}

// ---- everywhere ----

struct totals {
  std::uint64_t passed = 0, failed = 0;
  std::array<std::uint64_t, k_facts> facts{};

  /// Adds what a process has printed at its end.
  void add(const test::ending &end) {
    std::uint64_t good = 0, bad = 0;
    const std::size_t line = end.output.rfind("facts ");
    if (line != std::string::npos) {
      const char *from = end.output.c_str() + line + 5;
      char *next = nullptr;
      for (std::uint64_t &fact : facts) {
        fact += std::strtoull(from, &next, 10);
        from = next;
      }
      std::sscanf(from, " %" SCNu64 " passed, %" SCNu64 " failed", &good, &bad);
    }
    passed += good;
    failed += !end.exited(0) && bad == 0 ? 1 : bad;
  }
};

std::string command_of(const setup &s) {
  std::string text;
  for (auto &[key, value] : s.settings)
    text += key + "=" + value + " ";
  return text + s.program;
}

/// Says how a configuration failed, and makes the program small that did.
void explain(const setup &s, const test::ending &end, bool fault) {
  std::ostringstream text;
  text << end;
  const std::string all = text.str();
  std::printf("%s\n",
              all.size() > 6000
                  ? (all.substr(0, 3000) + "\n...\n" + all.substr(all.size() - 3000)).c_str()
                  : all.c_str());
  const std::size_t at = end.output.find("FAILED seed ");
  if (at == std::string::npos)
    return;
  const std::string seed = std::to_string(std::strtoull(end.output.c_str() + at + 12, nullptr, 10));
  std::printf("to repeat it: %s --here --seed %s\n", command_of(s).c_str(), seed.c_str());
  std::vector<std::string> words{s.program, "--shrink", seed, "--seconds", "60"};
  if (fault)
    words.push_back("--fault");
  std::printf("%s\n", test::run(words, s.settings, std::chrono::seconds(400)).output.c_str());
}

int run_everywhere(const options &o) {
  const std::vector<setup> all = setups_of(o.builds, o.seed);
  totals sum;
  const double share = o.seconds / static_cast<double>(all.size());
  std::printf("%zu configurations of %.1f s, which cover every pair\n", all.size(), share);
  std::printf(
      "build      workers    policy     deps       successor  throttle   tasks      bytes      soft       spin       allocator  seed  "
      "     programs\n");
  int explained = 0;
  for (std::size_t i = 0; i != all.size(); ++i) {
    const std::string seed = std::to_string(o.one_seed ? o.seed : o.seed + i * 1'000'000);
    std::vector<std::string> words{all[i].program, "--here",    o.one_seed ? "--seed" : "--from",
                                   seed,           "--seconds", std::to_string(share)};
    if (o.fault)
      words.push_back("--fault");
    const auto end =
        test::run(words, all[i].settings, std::chrono::seconds(static_cast<int>(share) + 300));
    const std::uint64_t before = sum.passed;
    sum.add(end);
    std::printf("%s%-10s %" PRIu64 "%s\n", all[i].name.c_str(), seed.c_str(), sum.passed - before,
                end.exited(0) ? "" : " FAILED");
    if (!end.exited(0) && explained++ < 3)
      explain(all[i], end, o.fault);
  }
  for (std::size_t f = 0; f != k_facts; ++f)
    std::printf("%-16s %" PRIu64 "\n", k_fact_names[f], sum.facts[f]);
  for (std::size_t f = 0; f != k_facts; ++f)
    if (sum.facts[f] == 0 && !o.one_seed) {
      std::printf("FAILED: %s never happened\n", k_fact_names[f]);
      ++sum.failed;
    }
  std::printf("seed %" PRIu64 "\n%" PRIu64 " passed, %" PRIu64 " failed\n", o.seed, sum.passed,
              sum.failed);
  return sum.failed ? 1 : 0;
}

/// Takes the option at `argv[0]`; how many words it has, 0 when it is none.
int take(options &o, const char *const *argv, bool &seeded) {
  auto is = [&](const char *name) { return std::strcmp(argv[0], name) == 0; };
  if (is("--here") || is("--fault")) {
    is("--here") ? void(o.what = options::mode::here) : void(o.fault = true);
    return 1;
  }
  const char *value = argv[1];
  if (!value)
    return 0;
  if (is("--seconds")) {
    o.seconds = std::strtod(value, nullptr);
  } else if (is("--count")) {
    o.count = std::strtoull(value, nullptr, 0);
  } else if (is("--out")) {
    o.out = value;
  } else if (const char *equals = std::strchr(value, '='); is("--build") && equals) {
    o.builds.emplace_back(std::string(value, equals), equals + 1);
  } else if (is("--seed") || is("--from") || is("--shrink") || is("--print")) {
    o.seed = std::strtoull(value, nullptr, 0);
    seeded = true;
    o.one_seed = is("--seed");
    if (is("--shrink"))
      o.what = options::mode::shrink;
    if (is("--print"))
      o.what = options::mode::print;
  } else {
    return 0;
  }
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  options o;
  bool seeded = false;
  for (int i = 1; i < argc;) {
    const int words = take(o, argv + i, seeded);
    if (words == 0) {
      std::fprintf(stderr,
                   "%s: what is '%s'? The head of tests/stress/fuzz.cpp lists the options\n",
                   argv[0], argv[i]);
      return 2;
    }
    i += words;
  }
  if (!seeded)
    o.seed = std::random_device{}() % 1'000'000'000;
  switch (o.what) {
  case options::mode::here:
    return run_here(o);
  case options::mode::shrink:
    return run_shrink(o);
  case options::mode::print:
    return run_print(o);
  case options::mode::everywhere:
    break;
  }
  return run_everywhere(o);
}
