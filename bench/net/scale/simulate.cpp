// SPDX-License-Identifier: Apache-2.0
// The skeletons on machines of SimGrid. A rank has two actors: one computes, and one sends, receives and ends the
// rounds, as the polling service and the tasks of messages do beside the kernels.
#include "skeleton.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace net_scale {

namespace {

namespace sg = simgrid::s4u;

enum class part { data, thanks, counts, beat, reduce };
struct letter {
  part what;
  int round, step;
};

class rank_actors {
 public:
  rank_actors(int rank, const problem &p, const costs &c, const plan &work, mode how)
      : m_rank(rank), m_ranks(p.ranks), m_costs(c), m_plan(work), m_mode(how),
        m_mailbox(mailbox_of(rank)) {}

  void compute() {
    for (int round = 0; round != m_plan.rounds(); ++round) {
      if (round != 0)
        m_complete->acquire(); // the round before
      const round_plan now = m_plan.of(m_rank, round);
      sg::this_actor::sleep_for(now.before);
      m_computed->release();
      sg::this_actor::sleep_for(now.after + blocked(round));
    }
  }

  void communicate() {
    m_mailbox->set_receiver(sg::Actor::self());
    for (int round = 0; round != m_plan.rounds(); ++round) {
      m_computed->acquire();
      const round_plan now = m_plan.of(m_rank, round);
      for (const int to : now.to)
        send(to, {part::data, round, 0}, now.bytes);
      if (m_ranks > 1)
        end_round(now, round);
      m_complete->release();
    }
  }

 private:
  [[nodiscard]] static sg::Mailbox *mailbox_of(int rank) {
    return sg::Mailbox::by_name("rank-" + std::to_string(rank));
  }
  void send(int to, const letter &what, double bytes) {
    sg::this_actor::sleep_for(m_costs.overhead);
    mailbox_of(to)
        ->put_init(new letter(what), static_cast<std::uint64_t>(bytes))
        ->detach([](void *lost) { delete static_cast<letter *>(lost); });
  }
  /// Waits until `count` letters of a kind have come, and takes them.
  void wait_for(part what, int round, int step, int count) {
    int &come = m_come[{what, round, step}];
    while (come < count) {
      const std::unique_ptr<letter> got(m_mailbox->get<letter>());
      sg::this_actor::sleep_for(m_costs.overhead);
      ++m_come[{got->what, got->round, got->step}];
    }
    m_come.erase({what, round, step});
  }
  void wait_for_data(const round_plan &now, int round) {
    if (!now.from.empty())
      wait_for(part::data, round, 0, static_cast<int>(now.from.size()));
  }
  /// Sends and waits as often as it takes to hear of all: to the rank 1, 2, 4, ... behind this one.
  void disseminate(part what, int round, int first_step, double bytes) {
    int step = first_step;
    for (int distance = 1; distance < m_ranks; distance *= 2, ++step) {
      send((m_rank + distance) % m_ranks, {what, round, step}, 16 + bytes);
      wait_for(what, round, step, 1);
    }
  }
  void end_round(const round_plan &now, int round) {
    constexpr double k_count = 4; // bytes
    switch (m_mode) {
    case mode::standard:
      disseminate(part::counts, round, 0, k_count * m_ranks / 2);
      wait_for_data(now, round);
      disseminate(part::beat, round, 0, 0);
      return;
    case mode::published: {
      constexpr int k_steps = 32; // of one allreduce, at most
      for (int one = 0; one <= m_ranks; ++one)
        disseminate(part::reduce, round, one * k_steps, 0);
      wait_for_data(now, round);
      disseminate(part::beat, round, 0, 0);
      return;
    }
    case mode::cached:
    case mode::counted:
    case mode::cached_barrier:
    case mode::task_mpi:
      break;
    }
    const auto is_one_way = [&](const std::vector<int> &there, int other) {
      return std::find(there.begin(), there.end(), other) == there.end();
    };
    wait_for_data(now, round);
    if (m_mode == mode::cached_barrier)
      return disseminate(part::beat, round, 0, 0);
    if (m_mode == mode::task_mpi)
      return;
    for (const int from : now.from)
      if (is_one_way(now.to, from))
        send(from, {part::thanks, round, 0}, 16);
    int thanks = 0;
    for (const int to : now.to)
      thanks += is_one_way(now.from, to) ? 1 : 0;
    if (thanks != 0)
      wait_for(part::thanks, round, 0, thanks);
  }
  /// Returns how long the blocking calls of the paper's default keep one core from its tasks, as a share of all.
  [[nodiscard]] double blocked(int) const {
    if (m_mode != mode::published || m_ranks == 1)
      return 0;
    int steps = 0;
    for (int distance = 1; distance < m_ranks; distance *= 2)
      ++steps;
    return (m_ranks + 1) * steps * (m_costs.latency + 2 * m_costs.overhead) / m_costs.cores;
  }

  int m_rank, m_ranks;
  const costs &m_costs;
  const plan &m_plan;
  mode m_mode;
  sg::Mailbox *m_mailbox;
  sg::SemaphorePtr m_computed = sg::Semaphore::create(0), m_complete = sg::Semaphore::create(0);
  std::map<std::tuple<part, int, int>, int> m_come;
};

} // namespace

double simulate(const problem &p, mode how, const costs &c) {
  std::string name = "weft-net-scale", quiet = "--log=root.thresh:warning";
  char *words[] = {name.data(), quiet.data(), nullptr};
  int count = 2;
  sg::Engine engine(&count, words);
  for (const char *setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
                              "contexts/stack-size:64", "contexts/guard-size:0"})
    sg::Engine::set_config(setting);
  auto *const zone = sg::create_star_zone("machine");
  std::vector<sg::Host *> hosts;
  for (int i = 0; i != p.ranks; ++i) {
    const std::string number = std::to_string(i);
    auto *const host = zone->create_host("host-" + number, 1e9)->seal();
    const auto *const link = zone->create_split_duplex_link("link-" + number, c.bandwidth)
                                 ->set_latency(c.latency / 2)
                                 ->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP)}, true);
    hosts.push_back(host);
  }
  zone->seal();
  const plan work(p, c);
  std::vector<std::unique_ptr<rank_actors>> ranks;
  for (int i = 0; i != p.ranks; ++i) {
    ranks.push_back(std::make_unique<rank_actors>(i, p, c, work, how));
    rank_actors *const r = ranks.back().get();
    sg::Actor::create("compute-" + std::to_string(i), hosts[static_cast<std::size_t>(i)],
                      [r] { r->compute(); });
    sg::Actor::create("communicate-" + std::to_string(i), hosts[static_cast<std::size_t>(i)],
                      [r] { r->communicate(); });
  }
  engine.run();
  return sg::Engine::get_clock();
}

double simulate_apart(const problem &p, mode how, const costs &c) {
  int ends[2];
  if (pipe(ends) != 0)
    throw std::runtime_error("no pipe for a simulation");
  std::fflush(nullptr); // what is not written yet is the parent's
  const pid_t child = fork();
  if (child < 0)
    throw std::runtime_error("no process for a simulation");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // it ends with the command
    double seconds = -1;
    try {
      seconds = simulate(p, how, c);
    } catch (const std::exception &e) {
      std::fprintf(stderr, "weft-net-scale: %s\n", e.what());
    }
    const bool is_written = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
    _exit(is_written && seconds >= 0 ? 0 : 1);
  }
  close(ends[1]);
  double seconds = -1;
  const bool is_read = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!is_read || status != 0)
    throw std::runtime_error("the simulation of " + std::to_string(p.ranks) + " ranks has failed");
  return seconds;
}

} // namespace net_scale
