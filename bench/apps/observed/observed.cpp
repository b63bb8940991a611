// SPDX-License-Identifier: Apache-2.0
// app-NAME-observed: an application on Weft that prints how long bodies and the creation of tasks
// take. With --samples FILE as its last arguments it also writes how many tasks were in the graph,
// queued as messages and ready over the time of its last repetition. Do not compare its times with
// those of app-NAME-weft: observing costs time.
#include "../support/application.hpp"
#include "../support/command_line.hpp"
#include "bodies.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>

namespace observed {

namespace {

/// Holds the numbers of one thread; the program adds up all of them.
struct bodies {
  std::uint64_t tasks = 0, ns = 0;            // of tasks that created none
  std::uint64_t creators = 0, creator_ns = 0; // of tasks that created some
  std::uint64_t spawned = 0; // by the body that runs; the bodies of these applications never wait
  std::uint64_t created = 0; // by the program itself
  std::uint64_t gaps = 0, gap_ns = 0; // from the end of a body to the beginning of the next one
  std::uint64_t ended = 0; // end of the last body; 0: something else came since
  bool in_body = false;
};
constexpr std::uint64_t k_longest_gap_ns = 5000; // in a longer gap the worker had no work
std::mutex g_lock;
std::deque<bodies> g_all; // they outlive their threads
std::atomic<std::uint64_t> g_first{0}, g_last{0}; // spawn of the program itself

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

bodies &mine() {
  thread_local bodies *of_thread = nullptr;
  if (!of_thread) {
    const std::lock_guard guard(g_lock);
    of_thread = &g_all.emplace_back();
  }
  return *of_thread;
}

} // namespace

std::uint64_t begin_body() {
  bodies &b = mine();
  b.in_body = true;
  b.spawned = 0;
  const std::uint64_t begins = now();
  if (b.ended != 0 && begins - b.ended <= k_longest_gap_ns) {
    ++b.gaps;
    b.gap_ns += begins - b.ended;
  }
  return begins;
}

void end_body(std::uint64_t began) {
  const std::uint64_t ended = now(), ns = ended - began;
  bodies &b = mine();
  b.ended = ended;
  const bool creates = b.spawned != 0;
  ++(creates ? b.creators : b.tasks);
  (creates ? b.creator_ns : b.ns) += ns;
  b.in_body = false;
}

bool before_spawn() {
  if (mine().in_body)
    return false;
  if (g_first == 0)
    g_first = now();
  return true;
}

void after_spawn(bool by_program) {
  if (by_program)
    g_last = now();
  bodies &b = mine(); // perhaps of another thread: the throttle may have suspended the creator
  b.in_body = !by_program;
  b.created += by_program;
  b.ended = 0;
  ++b.spawned;
}

namespace {

constexpr auto k_between_samples = std::chrono::microseconds(100);

struct sample {
  std::uint64_t at_ns, in_graph, queued, ready;
};

/// Samples the counts on a thread of its own while it lives.
class sampler {
 public:
  sampler() : m_thread([this] { look(); }) {}
  ~sampler() { stop(); }
  const std::vector<sample> &stop() {
    m_over = true;
    if (m_thread.joinable())
      m_thread.join();
    return m_samples;
  }

 private:
  void look() {
    const std::uint64_t begin = now();
    while (!m_over) {
      const weft::statistics s = weft::stats();
      m_samples.push_back({now() - begin, s.in_graph, s.queued, s.ready});
      std::this_thread::sleep_for(k_between_samples);
    }
  }
  std::atomic<bool> m_over{false};
  std::vector<sample> m_samples;
  std::thread m_thread; // the last one: it uses the others
};

void forget() {
  g_first = g_last = 0;
  for (bodies &b : g_all)
    b = {};
}

bodies sum() {
  bodies all;
  for (const bodies &b : g_all) {
    all.tasks += b.tasks;
    all.ns += b.ns;
    all.creators += b.creators;
    all.creator_ns += b.creator_ns;
    all.created += b.created;
    all.gaps += b.gaps;
    all.gap_ns += b.gap_ns;
  }
  return all;
}

double per(std::uint64_t ns, std::uint64_t count) {
  return count ? static_cast<double>(ns) / static_cast<double>(count) : 0;
}

void print(std::uint64_t wall_ns) {
  const bodies all = sum();
  std::printf(
      "seconds=%.9g tasks=%llu body_ns=%.1f creators=%llu nested_creator_ns=%.1f creator_ns=%llu new_ns=%.1f end_ns=%.1f\n",
      static_cast<double>(wall_ns) * 1e-9, static_cast<unsigned long long>(all.tasks),
      per(all.ns, all.tasks), static_cast<unsigned long long>(all.creators),
      per(all.creator_ns, all.creators), static_cast<unsigned long long>(g_last - g_first),
      per(g_last - g_first, all.created), per(all.gap_ns, all.gaps));
}

void write(const std::vector<sample> &samples, const char *file) {
  std::ofstream to(file);
  to << "at_ns,in_graph,queued,ready\n";
  for (const sample &s : samples)
    to << s.at_ns << ',' << s.in_graph << ',' << s.queued << ',' << s.ready << '\n';
  if (!to.flush())
    throw app::bad_option(std::string("cannot write '") + file +
                          "'; name a file in a folder that is there");
}

void run(const app::command &c, const char *samples_file) {
  const auto a = app::make(c.chosen);
  if (c.workers)
    weft::configure("workers", std::to_string(c.workers).c_str());
  weft::start();
  for (int rep = -1; rep < c.reps; ++rep) { // the first one warms up
    a->reset();
    forget();
    const bool sampled = samples_file && rep + 1 == c.reps;
    std::unique_ptr<sampler> looks;
    if (sampled)
      looks = std::make_unique<sampler>();
    const std::uint64_t begin = now();
    a->run_tasks();
    const std::uint64_t wall_ns = now() - begin;
    if (sampled)
      write(looks->stop(), samples_file);
    if (rep >= 0)
      print(wall_ns);
  }
}

} // namespace
} // namespace observed

int main(int argc, char **argv) {
  const char *samples_file = nullptr;
  if (argc > 2 && std::string(argv[argc - 2]) == "--samples") {
    samples_file = argv[argc - 1];
    argc -= 2;
  }
  try {
    observed::run(app::parse_command(argc, argv, app::about), samples_file);
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 2;
  }
}
