// SPDX-License-Identifier: Apache-2.0
// Memory, mappings, protections or threads fail at the n-th call, for every n up to 200 (--sample: for some; --only ACT: in one act), once or from
// then on, counted from the program's first use of Weft or from its start on; each in a process of its own. It must get an
// error or a smaller pool, and then go on: no crash, no hang, no lost task.
#include "stress/exhaustion/algorithms.hpp"
#include "stress/exhaustion/coroutines.hpp"
#include "stress/exhaustion/loops.hpp"
#include "stress/exhaustion/senders.hpp"
#include "support/patience.hpp"
#include "support/scale.hpp"

#if defined(__GLIBC__)
#include "support/failing_calls.hpp"
#endif

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>

#if !defined(__GLIBC__)
int main() { return 77; }
#else

namespace {

constexpr long k_most = 200;
constexpr std::chrono::seconds k_hang{60};
constexpr const char *k_policies[] = {"stealing", "delegated", "local-fifo", "central"};

/// What the program does while calls fail.
struct act {
  const char *name;
  void (*run)();
};
constexpr act k_acts[] = {
    {"tasks", &exhaustion::all_of_tasks},
    {"sharing", &exhaustion::all_of_sharing},
    {"regions", &exhaustion::all_of_regions},
    {"rest", &exhaustion::all_of_the_rest},
    {"loops", &exhaustion::all_of_loops},
    {"graphs", &exhaustion::all_of_graphs},
    {"functions", &exhaustion::all_of_functions},
    {"futures", &exhaustion::all_of_futures},
    {"sync", &exhaustion::all_of_sync},
    {"coroutines", &exhaustion::all_of_coroutines},
    {"algorithms", &exhaustion::all_of_algorithms},
    {"senders", &exhaustion::all_of_senders}};

struct experiment {
  const act *what = &k_acts[0];
  test::call which = test::call::memory;
  long n = 0; // 0: nothing fails
  bool ever_after = false;
  bool after_start = false;
  std::string policy = "stealing";
  int workers = 3;

  [[nodiscard]] std::string text() const {
    return std::string(test::k_call_names[static_cast<int>(which)]) + " call " + std::to_string(n) +
           (ever_after ? " and all later ones" : "") +
           (after_start ? ", counted from the start" : "") + ", " + what->name + ", " + policy +
           ", " + std::to_string(workers) + " workers";
  }
};

struct results {
  long calls[test::k_calls];
};
results *g_results = nullptr; // shared with the children

[[noreturn]] void child(const experiment &e, int output) {
  dup2(output, 1);
  dup2(output, 2);
  setenv("WEFT_SCHED_POLICY", e.policy.c_str(), 1);
  setenv("WEFT_WORKERS", std::to_string(e.workers).c_str(), 1);
  if (e.after_start)
    weft::start();
  test::fail_at(e.which, e.n, e.ever_after);
  exhaustion::g_fails_for_ever = e.ever_after;
  const int code = exhaustion::run(e.what->run);
  for (int i = 0; i != test::k_calls; ++i)
    g_results->calls[i] = test::count_of(static_cast<test::call>(i));
  if (e.ever_after)
    test::fail_no_more(); // the end of the process is the C library's
  std::exit(code);
}

void show(int output) {
  char text[4096];
  lseek(output, 0, SEEK_SET);
  for (ssize_t n; (n = read(output, text, sizeof text)) > 0;)
    std::fwrite(text, 1, static_cast<std::size_t>(n), stdout);
}

/// True when the program came through.
bool run(const experiment &e, bool loud) {
  std::fflush(nullptr);
  const int output = memfd_create("output", 0);
  const pid_t pid = fork();
  if (pid == 0)
    child(e, output);
  int status = 0;
  bool hung = false;
  for (test::patience hang(pid, k_hang); waitpid(pid, &status, hung ? 0 : WNOHANG) == 0;) {
    usleep(500);
    hung = hang.is_over();
    if (hung)
      kill(pid, SIGKILL);
  }
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!good) {
    if (WIFSIGNALED(status))
      std::printf("FAILED (%s): %s\n", hung ? "hung" : strsignal(WTERMSIG(status)),
                  e.text().c_str());
    else
      std::printf("FAILED (exit code %d): %s\n", WEXITSTATUS(status), e.text().c_str());
  }
  if (!good || loud)
    show(output);
  close(output);
  return good;
}

bool in_sample(long n) { return n <= 3 || n == 8 || n == 21 || n == 55 || n == 89 || n == 144; }

struct tally {
  int ran = 0, failed = 0;
};

/// All n of one kind; policies and numbers of workers take turns, and where Weft itself starts, every n meets every policy.
tally sweep(experiment e, long calls, bool sample) {
  const std::size_t policies = sample || e.what != &k_acts[0] ? 1 : std::size(k_policies);
  tally t;
  for (long n = 1; n <= std::min(k_most, calls + 1); ++n) {
    if (sample && !in_sample(n))
      continue;
    e.n = n;
    const auto turn = static_cast<std::size_t>(n);
    for (std::size_t p = 0; p != policies; ++p) {
      e.policy = k_policies[(turn + p) % std::size(k_policies)];
      e.workers = 1 + static_cast<int>((turn / 4 + p) % 3);
      ++t.ran;
      t.failed += !run(e, false);
    }
  }
  return t;
}

/// All kinds of calls in one act.
tally whole_act(const experiment &plain, bool sample) {
  if (!run(plain, false))
    return {1, 1};
  tally sum;
  const results counted = *g_results;
  for (int i = 0; i != test::k_calls; ++i)
    for (bool ever_after : {false, true}) {
      experiment e = plain;
      e.which = static_cast<test::call>(i);
      e.ever_after = ever_after;
      const tally t = sweep(e, counted.calls[i], sample);
      std::printf("%-10s %-10s %-10s %-12s %5ld calls: %d of %d came through\n", plain.what->name,
                  test::k_call_names[i], ever_after ? "ever after" : "once",
                  plain.after_start ? "from start" : "from nothing", counted.calls[i],
                  t.ran - t.failed, t.ran);
      sum.ran += t.ran;
      sum.failed += t.failed;
    }
  return sum;
}

tally everything(bool sample, const char *only) {
  tally sum;
  for (const act &a : k_acts)
    for (bool after_start : {false, true}) {
      if (only && std::strcmp(a.name, only) != 0)
        continue;
      if (!after_start && &a != &k_acts[0])
        continue; // how Weft starts has been seen
      experiment plain;
      plain.what = &a;
      plain.after_start = after_start;
      const tally t = whole_act(plain, sample);
      sum.ran += t.ran;
      sum.failed += t.failed;
    }
  return sum;
}

/// exhaustion KIND N [ACT] [ever] [started] [POLICY] [WORKERS]: one experiment again, with its output.
int one(int count, char **words) {
  experiment e;
  for (int i = 0; i != test::k_calls; ++i)
    if (std::strcmp(words[1], test::k_call_names[i]) == 0)
      e.which = static_cast<test::call>(i);
  e.n = std::atol(words[2]);
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    if (word == "ever")
      e.ever_after = true;
    else if (word == "started")
      e.after_start = true;
    else if (std::isdigit(static_cast<unsigned char>(word[0])))
      e.workers = std::atoi(words[i]);
    else if (const act *a = std::find_if(std::begin(k_acts), std::end(k_acts),
                                         [&](const act &one) { return word == one.name; });
             a != std::end(k_acts))
      e.what = a;
    else
      e.policy = word;
  }
  return run(e, true) ? 0 : 1;
}

} // namespace

int main(int count, char **words) {
  if (test::k_sanitized) {
    std::puts("a sanitizer has the memory that would be refused");
    return 77;
  }
  g_results = static_cast<results *>(
      ::mmap(nullptr, sizeof(results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const char *only = nullptr;
  bool sample = false;
  while (count > 1 && words[1][0] == '-') {
    const bool names_act = count > 2 && std::strcmp(words[1], "--only") == 0;
    if (names_act)
      only = words[2];
    else
      sample = true;
    count -= 1 + names_act;
    words += 1 + names_act;
  }
  if (count > 2)
    return one(count, words);
  const tally t = everything(sample, only);
  std::printf("exhaustion: %d experiments, %d failed\n", t.ran, t.failed);
  return t.failed == 0 ? 0 : 1;
}

#endif
