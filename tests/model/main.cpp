// SPDX-License-Identifier: Apache-2.0
// weft_model [--seconds N] [--only NAME] [--search exhaustive|random|pct] [--depth D] [--seed S]
//            [--mutants | --reductions | --replay STRING | --list]
//
// Runs every model: two threads exhaustively, more threads first with few preemptions and then, as far as the
// time goes, with more; what is left of a model's time goes into random executions and into those of PCT. With --mutants
// every order and barrier that the components name is taken away in turn, and a model must notice. With --reductions the
// reduced searches are held against the plain one. Seconds are those of the processor.
#include "checker/models.hpp"
#include "reductions.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

using namespace weft_model;
using clock_type = computing_clock;
using seconds = std::chrono::duration<double>;

struct options {
  double seconds = 60;
  std::string only;
  bool mutants = false;
  bool list = false;
  bool reductions = false;
  std::string replay;
  std::string search; // empty: the ladder
  int depth = 3;
  std::uint64_t seed = 1;
};

clock_type::time_point after(double s) {
  return clock_type::now() + std::chrono::duration_cast<clock_type::duration>(seconds(s));
}

struct result {
  outcome last;
  std::uint64_t executions = 0;
  std::string coverage;
};

void add(result &r, const program &p, const limits &l) {
  const std::set<std::uint64_t> seen = std::move(r.last.observed);
  r.last = the_engine().explore(p, l);
  r.last.observed.insert(seen.begin(), seen.end());
  r.executions += r.last.executions;
}

/// Random executions, then those of PCT with growing depth, in equal parts of the time.
void explore_by_chance(result &r, const program &p, double budget, std::uint64_t seed) {
  limits l;
  l.seed = seed;
  for (int depth : {0, 2, 3, 4}) {
    l.how = depth == 0 ? search::random : search::pct;
    l.depth = depth;
    l.until = after(budget * (depth == 0 ? 0.5 : 0.16));
    if (!r.last.failed)
      add(r, p, l);
  }
}

/// The one search that the command line asks for.
result explore_by_options(const program &p, double budget, const options &o) {
  limits l;
  l.how = o.search == "pct"      ? search::pct
          : o.search == "random" ? search::random
                                 : search::exhaustive;
  l.depth = o.depth;
  l.seed = o.seed;
  l.until = after(budget);
  result r;
  add(r, p, l);
  r.coverage = r.last.exhausted ? "exhaustive" : o.search;
  return r;
}

/// The ladder of explorations for one model, until one fails, all are through, or the time is up.
result explore(const program &p, double budget, std::uint64_t seed) {
  result r;
  const auto end = after(budget);
  const auto try_one = [&](int preemptions, double share) {
    limits l;
    l.preemptions = preemptions;
    l.until = std::min(end, after(budget * share));
    add(r, p, l);
    return !r.last.failed && r.last.exhausted;
  };
  if (p.threads <= 2) {
    if (try_one(-1, 0.6))
      r.coverage = "exhaustive";
  } else {
    for (int bound : {1, 2, 3})
      if (r.last.failed || !try_one(bound, 0.3))
        break;
      else
        r.coverage = "up to " + std::to_string(bound) + " preemptions";
    if (!r.last.failed && try_one(-1, 0.4))
      r.coverage = "exhaustive";
  }
  if (r.last.failed || r.coverage == "exhaustive")
    return r;
  if (const double left = seconds(end - clock_type::now()).count(); left > 0)
    explore_by_chance(r, p, left, seed);
  r.coverage += (r.coverage.empty() ? "not exhausted, and by chance" : ", then by chance");
  return r;
}

std::string outcome_list(const std::set<std::uint64_t> &values) {
  std::string text;
  for (std::uint64_t v : values)
    text += (text.empty() ? "" : " ") + std::to_string(v);
  return "{" + text + "}";
}

/// A litmus test is explored with reductions and without them: both must see the same.
std::string check_outcomes(const model &m, const result &r) {
  limits plain;
  plain.reduce = reduction::none;
  for (const auto &seen : {r.last.observed, the_engine().explore(m.what, plain).observed})
    if (seen != m.outcomes)
      return "observed " + outcome_list(seen) + ", expected " + outcome_list(m.outcomes);
  return {};
}

bool run_model(const model &m, double budget, const options &o) {
  const auto start = clock_type::now();
  const result r =
      o.search.empty() ? explore(m.what, budget, o.seed) : explore_by_options(m.what, budget, o);
  const double took = seconds(clock_type::now() - start).count();
  std::string wrong;
  if (r.last.failed != !m.must_pass)
    wrong = r.last.failed ? r.last.failure : "the seeded bug was not found";
  else if (!m.must_pass && r.last.failure.find(m.failure) == std::string::npos)
    wrong = "the seeded bug should show as \"" + m.failure + "\", but: " + r.last.failure;
  else if (!m.outcomes.empty())
    wrong = check_outcomes(m, r);
  std::printf("%s %-44s %9llu executions, %5.2f s, %s\n", wrong.empty() ? "ok    " : "FAILED",
              m.what.name, static_cast<unsigned long long>(r.executions), took,
              m.must_pass ? r.coverage.c_str() : "the seeded bug is found");
  if (!wrong.empty()) {
    std::printf("  %s\n", wrong.c_str());
    if (r.last.failed) {
      std::printf("  replay: weft_model --replay '%s'\n", r.last.replay.c_str());
      std::printf("%s", the_engine().replay(m.what, r.last.replay).trace.c_str());
    }
  }
  std::fflush(stdout);
  return wrong.empty();
}

int run_all(const options &o) {
  std::vector<const model *> chosen;
  for (const model &m : all_models())
    if (o.only.empty() || std::string(m.what.name).find(o.only) != std::string::npos)
      chosen.push_back(&m);
  int failed = 0;
  const auto end = after(o.seconds);
  for (std::size_t i = 0; i < chosen.size(); ++i) { // what one model does not use, the others share
    const double left = std::max(0.0, seconds(end - clock_type::now()).count());
    failed += !run_model(*chosen[i], left / static_cast<double>(chosen.size() - i) + 0.05, o);
  }
  std::printf("%zu passed, %d failed\n", chosen.size() - static_cast<std::size_t>(failed), failed);
  return failed || chosen.empty() ? 1 : 0;
}

// --- mutants

struct mutant {
  int site;
  std::memory_order order;
  std::size_t first; // the model that comes there first
  std::string killed_by;
};

const char *name(std::memory_order o) {
  switch (o) {
  case std::memory_order_acquire:
    return "acquire";
  case std::memory_order_release:
    return "release";
  case std::memory_order_acq_rel:
    return "acq_rel";
  case std::memory_order_seq_cst:
    return "seq_cst";
  default:
    return "relaxed";
  }
}

std::vector<std::memory_order> weaker(const site &s) {
  if (s.part == 'l' || s.part == 'h')
    return {std::memory_order_relaxed};
  if (s.order == std::memory_order_seq_cst)
    return {std::memory_order_acq_rel};
  if (s.order == std::memory_order_acq_rel)
    return {std::memory_order_acquire, std::memory_order_release};
  return {std::memory_order_relaxed};
}

/// The line that the site stands in, with single spaces.
std::string source_line(const site &s) {
  std::ifstream file(WEFT_SOURCE_DIR "/" + s.file);
  std::string line, text;
  for (unsigned n = 0; n < s.line && std::getline(file, line); ++n) {
  }
  for (char c : line)
    if (c != ' ' || (!text.empty() && text.back() != ' '))
      text += c;
  return text;
}

/// Orders that C++ needs and this checker cannot show to be needed; tests/model/README.md says why for each.
struct beyond {
  const char *file, *line;
};
constexpr beyond k_beyond_the_model[] = {
    {"queue/deque.hpp", "m_top.load(std::memory_order_acquire); // O2"},
    {"queue/deque.hpp", "std::int64_t top = m_top.load(std::memory_order_seq_cst); // O3, C++20"},
    {"queue/deque.hpp",
     "m_top.compare_exchange_strong(top, top + 1, std::memory_order_release, // O7"},
    {"worker/sleep_apart.hpp", "m_place.store(m_owner.get(), std::memory_order_release); // O1"},
    {"worker/sleep_apart.hpp", "return m_place.load(std::memory_order_acquire); // O1"},
    {"worker/carried_bed.hpp", "return m_parked.load(std::memory_order_acquire) != nullptr; // O3"},
};

bool matches(const beyond &b, const site &s) {
  return s.file.find(b.file) != std::string::npos &&
         source_line(s).find(b.line) != std::string::npos;
}

bool is_beyond(const site &s) {
  return std::any_of(std::begin(k_beyond_the_model), std::end(k_beyond_the_model),
                     [&](const beyond &b) { return matches(b, s); });
}

/// Reports the entries whose line of source has moved or changed: they excuse nothing.
bool every_excuse_is_in_use(const std::vector<site> &sites) {
  bool is_used = true;
  for (const beyond &b : k_beyond_the_model)
    if (std::none_of(sites.begin(), sites.end(), [&](const site &s) { return matches(b, s); })) {
      std::printf("NO SUCH ORDER %s | %s: mend k_beyond_the_model\n", b.file, b.line);
      is_used = false;
    }
  return is_used;
}

int run_mutants(const options &o) {
  std::vector<const model *> chosen;
  for (const model &m : all_models())
    if (m.must_pass && m.outcomes.empty() && std::strncmp(m.what.name, "litmus", 6) != 0 &&
        (o.only.empty() || std::string(m.what.name).find(o.only) != std::string::npos))
      chosen.push_back(&m);
  std::vector<mutant> mutants;
  std::vector<std::vector<char>> reached; // by model, and by site
  engine &e = the_engine();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t known = e.sites().size();
    e.forget_reached();
    (void)explore(chosen[i]->what,
                  std::min(0.3, o.seconds / 4 / static_cast<double>(chosen.size())), o.seed);
    reached.push_back(e.reached());
    for (std::size_t s = known; s < e.sites().size(); ++s)
      if (e.sites()[s].file.find("tests/model/") == std::string::npos)
        for (std::memory_order order : weaker(e.sites()[s]))
          mutants.push_back({static_cast<int>(s), order, i, {}});
  }
  const double share = o.seconds / 300;
  for (mutant &m : mutants) {
    if (is_beyond(e.sites()[static_cast<std::size_t>(m.site)]))
      continue;
    e.weaken(m.site, m.order);
    const auto site = static_cast<std::size_t>(m.site);
    // Most mutants die at once; the stubborn ones get longer. A model that has not come there may come later.
    for (const bool comes_there : {true, false})
      for (const double budget : {share / 4, share * 2, share * 8})
        for (std::size_t i = 0; i < chosen.size() && m.killed_by.empty(); ++i) {
          const std::size_t which = (m.first + i) % chosen.size(); // those of one part stand together
          if ((site < reached[which].size() && reached[which][site] != 0) != comes_there)
            continue;
          const auto &c = chosen[which]->what;
          const result r = explore(c, budget, o.seed);
          if (r.last.failed)
            m.killed_by = std::string(c.name) + ": " + r.last.failure;
        }
  }
  e.weaken(-1, std::memory_order_relaxed);
  std::size_t killed = 0, excused = 0;
  for (const mutant &m : mutants) {
    const site &s = e.sites()[static_cast<std::size_t>(m.site)];
    const bool is_excused = m.killed_by.empty() && is_beyond(s);
    killed += !m.killed_by.empty();
    excused += is_excused;
    const char *verdict = !m.killed_by.empty() ? "killed  " : is_excused ? "beyond  " : "SURVIVED";
    const char *to = s.part == 'l' || s.part == 'h' ? "no barrier" : name(m.order);
    std::printf("%s %s:%u %s%s -> %s | %s\n", verdict, s.file.c_str(), s.line,
                s.part == 'f' ? "(on failure) " : "", name(s.order), to,
                m.killed_by.empty() ? source_line(s).c_str() : m.killed_by.c_str());
  }
  std::printf("mutants: %zu of %zu killed, %zu beyond the model\n", killed,
              mutants.size() - excused, excused);
  const bool is_excused_rightly = !o.only.empty() || every_excuse_is_in_use(e.sites());
  return killed + excused == mutants.size() && !mutants.empty() && is_excused_rightly ? 0 : 1;
}

int replay(const options &o) {
  for (const model &m : all_models())
    if (o.replay.substr(0, o.replay.rfind(':')) == m.what.name) {
      const outcome r = the_engine().replay(m.what, o.replay);
      std::printf("%s%s\n", r.trace.c_str(), r.failed ? r.failure.c_str() : "no failure");
      return r.failed ? 1 : 0;
    }
  std::fprintf(
      stderr,
      "weft_model: no model is called as the replay string '%s' begins; --list names them\n",
      o.replay.c_str());
  return 2;
}

bool is_search(const std::string &name) {
  return name == "exhaustive" || name == "random" || name == "pct";
}

int usage(const char *wrong) {
  std::fprintf(
      stderr,
      "weft_model: %s\nusage: weft_model [--seconds N] [--only NAME] [--search exhaustive|random|pct] [--depth D] "
      "[--seed S] [--mutants | --reductions | --replay STRING | --list]\n",
      wrong);
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const int left = argc - i - 1;
    if (a == "--mutants")
      o.mutants = true;
    else if (a == "--list")
      o.list = true;
    else if (a == "--seconds" && left >= 1)
      o.seconds = std::atof(argv[++i]);
    else if (a == "--only" && left >= 1)
      o.only = argv[++i];
    else if (a == "--seed" && left >= 1)
      o.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (a == "--replay" && left >= 1)
      o.replay = argv[++i];
    else if (a == "--reductions")
      o.reductions = true;
    else if (a == "--depth" && left >= 1)
      o.depth = std::atoi(argv[++i]);
    else if (a == "--search" && left >= 1 && is_search(argv[i + 1]))
      o.search = argv[++i];
    else
      return usage(("what is " + a + "?").c_str());
  }
  if (o.list) {
    for (const model &m : all_models())
      std::puts(m.what.name);
    return 0;
  }
  if (!o.replay.empty())
    return replay(o);
  if (o.reductions)
    return compare_reductions(o.only, o.seconds);
  return o.mutants ? run_mutants(o) : run_all(o);
}
