// SPDX-License-Identifier: Apache-2.0
// Delta debugging: from a program that fails to a small one that fails in the same way. A process
// of its own runs each candidate many times, because failures may be rare, crash, or hang.
#pragma once

#include "stress/fuzz/cuts.hpp"
#include "stress/fuzz/repair.hpp"
#include "stress/fuzz/runner.hpp"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace fuzz {

using clock = std::chrono::steady_clock;

/// How a program fails: what a process that ran it ended with.
struct failure {
  enum class kind { complaint, hang, signal, exit } how;
  int number = 0;
  int runs = 1; // until it came
  std::string text{};
  [[nodiscard]] bool like(const failure &other) const {
    return how == other.how && number == other.number;
  }
};

/// Runs programs in processes of their own. The process that asks must not have used Weft.
class trial {
 public:
  explicit trial(std::chrono::milliseconds patience) : m_patience(patience) {}

  /// Up to `runs` runs, for as long as `time` allows.
  std::optional<failure> run(const program &p, int runs, std::chrono::milliseconds time) const {
    int ends[2];
    if (pipe(ends) != 0)
      std::abort();
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      _exit(work(p, runs, clock::now() + time, ends[1]));
    }
    close(ends[1]);
    auto found = watch(child, clock::now() + time + m_patience);
    if (found && found->how == failure::kind::complaint)
      read_report(ends[0], *found);
    close(ends[0]);
    return found;
  }

 private:
  static constexpr int k_complaint = 77;

  static int work(const program &p, int runs, clock::time_point end, int report) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    const serial_run serial(p);
    agent a;
    for (int i = 1; i <= runs && clock::now() < end; ++i) {
      const std::string complaints = parallel_run(p, a).check(serial.result());
      if (complaints.empty())
        continue;
      const std::string text = std::to_string(i) + "\n" + complaints;
      if (write(report, text.data(), std::min<std::size_t>(text.size(), 4096)) < 0)
        std::abort();
      return k_complaint;
    }
    return 0;
  }

  static std::optional<failure> watch(pid_t child, clock::time_point end) {
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (clock::now() > end) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return failure{failure::kind::hang, 0};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (WIFSIGNALED(status))
      return failure{failure::kind::signal, WTERMSIG(status)};
    const int code = WEXITSTATUS(status);
    if (code == 0)
      return std::nullopt;
    return failure{code == k_complaint ? failure::kind::complaint : failure::kind::exit, code};
  }

  static void read_report(int from, failure &f) {
    char text[4097];
    const ssize_t n = read(from, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    char *rest = nullptr;
    f.runs = static_cast<int>(std::strtol(text, &rest, 10));
    f.text = *rest ? rest + 1 : "";
  }

  const std::chrono::milliseconds m_patience;
};

class shrinker {
 public:
  /// `p` has failed as `how` says.
  shrinker(program p, failure how, const trial &t, clock::time_point end)
      : m_best(std::move(p)), m_how(std::move(how)), m_trial(t), m_end(end),
        m_size(size_of(m_best)) {}

  program shrink() {
    for (std::size_t before = 0; before != m_size && in_time();) {
      before = m_size;
      by_steps();
      by_nesting();
      by_clauses();
    }
    program tidy = clone(m_best);
    renumber(tidy);
    if (fails(tidy)) // the numbers are data: nearly always
      m_best = std::move(tidy);
    return std::move(m_best);
  }
  [[nodiscard]] const failure &how() const { return m_how; }
  [[nodiscard]] int candidates() const { return m_candidates; }

 private:
  [[nodiscard]] bool in_time() const { return clock::now() < m_end; }

  bool fails(const program &p) {
    ++m_candidates;
    // Four times what the failure took makes missing one that is still there improbable (below 2 %).
    auto found = m_trial.run(p, std::max(20, 4 * m_how.runs), std::chrono::seconds(5));
    if (!found || !found->like(m_how))
      return false;
    found->runs = std::max(found->runs, m_how.runs / 2);
    m_how = *found;
    return true;
  }

  template <class Cut>
  bool attempt(Cut cut) {
    program p = clone(m_best);
    if (!in_time() || !cut(p))
      return false;
    repairer::repair(p);
    const std::size_t size = size_of(p);
    if (size >= m_size || !fails(p))
      return false;
    m_best = std::move(p);
    m_size = size;
    return true;
  }

  /// Halves, quarters, ... single steps of every list.
  void by_steps() {
    for (std::size_t list = 0; list < lists_of(m_best).size(); ++list)
      for (std::size_t count = lists_of(m_best)[list].steps->size(); count != 0; count /= 2) {
        std::size_t from = 0;
        while (list < lists_of(m_best).size() && from < lists_of(m_best)[list].steps->size())
          if (!attempt([&](program &p) { return cut_steps(p, list, from, count); }))
            from += count;
        if (list >= lists_of(m_best).size())
          return;
      }
  }

  void by_nesting() {
    for (std::size_t list = 0; list < lists_of(m_best).size(); ++list)
      for (std::size_t at = 0;
           list < lists_of(m_best).size() && at < lists_of(m_best)[list].steps->size();)
        if (!attempt([&](program &p) { return cut_nesting(p, list, at); }))
          ++at;
  }

  void by_clauses() {
    for (std::size_t i = 0; i < m_best.nodes.size(); ++i) {
      for (std::size_t which = 0; i < m_best.nodes.size() && which < k_clauses; ++which)
        attempt([&](program &p) { return cut_clause(*p.nodes[i], which); });
      for (std::size_t which = 0; i < m_best.nodes.size() && which < uses_to_cut(*m_best.nodes[i]);)
        if (!attempt([&](program &p) { return cut_use(*p.nodes[i], which); }))
          ++which;
    }
  }

  program m_best;
  failure m_how;
  const trial &m_trial;
  const clock::time_point m_end;
  std::size_t m_size;
  int m_candidates = 0;
};

} // namespace fuzz
