// SPDX-License-Identifier: Apache-2.0
// What each engine promises between processes: the ranks of a job run the same steps, each looks at
// its own memory, and rank 0 says how many looks there were. Started by `weft launch` in the test.
#include <weft/net.hpp>
#include <weft/net/message_trace.hpp>
#include <weft/sync/event.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace net = weft::net;

namespace {

long g_looks = 0;

void look(bool is_right, const char *what, int line) {
  ++g_looks;
  if (is_right)
    return;
  std::fprintf(stderr, "line %d: %s does not hold\n", line, what);
  std::exit(9);
}
#define LOOK(what) look((what), #what, __LINE__)

void puts_and_gets(net::team &team) {
  const int size = team.size(), own = team.rank();
  const auto n = static_cast<std::size_t>(size);
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{400'000}}) {
    auto fresh = team.allocate<long>(count * n);
    std::vector<long> given(count * n, -1);
    auto shared = team.share(std::span<long>(given));
    LOOK(std::ranges::count(fresh.local(), 0) == static_cast<long>(count * n));
    std::vector<long> mine(count);
    std::iota(mine.begin(), mine.end(), 1'000'000L * own);
    team.barrier();
    for (int r = 0; r < size; ++r) {
      team.async_put(fresh.on(r).subspan(static_cast<std::size_t>(own) * count, count), mine).get();
      team.async_put(shared.on(r).subspan(static_cast<std::size_t>(own) * count, count), mine)
          .get();
      team.async_flush(r).get();
    }
    team.barrier();
    std::vector<long> expected(count), back(count);
    for (int r = 0; r < size; ++r) {
      std::iota(expected.begin(), expected.end(), 1'000'000L * r);
      const std::size_t first = static_cast<std::size_t>(r) * count;
      LOOK(std::ranges::equal(fresh.local().subspan(first, count), expected));
      LOOK(std::ranges::equal(std::span(given).subspan(first, count), expected));
      team.async_get(fresh.on((own + 1) % size).subspan(first, count), back).get();
      LOOK(back == expected);
      team.async_get(shared.on((own + 1) % size).subspan(first, count), back).get();
      LOOK(back == expected);
    }
    team.barrier();
  }
}

void atomics(net::team &team) {
  auto counters = team.allocate<long>(2);
  team.barrier();
  constexpr long k_rounds = 500;
  std::vector<weft::future<std::uint64_t>> before;
  for (long i = 0; i < k_rounds; ++i)
    before.push_back(team.async_fetch_add(counters.on(0).at(0), 1));
  std::vector<std::uint64_t> seen;
  for (auto &one : before)
    seen.push_back(one.get());
  std::ranges::sort(seen);
  LOOK(std::ranges::adjacent_find(seen) == seen.end());
  for (long i = 0; i < 20;) {
    const std::uint64_t now = team.async_fetch_add(counters.on(0).at(1), 0).get();
    i += team.async_compare_swap(counters.on(0).at(1), static_cast<long>(now),
                                 static_cast<long>(now) + 2)
                     .get() == now
             ? 1
             : 0;
  }
  team.barrier();
  if (team.rank() == 0) {
    LOOK(counters.local()[0] == k_rounds * team.size());
    LOOK(counters.local()[1] == 40L * team.size());
  }
  team.barrier();
}

/// Data are there when their notification is, short and long.
void notifications(net::team &team) {
  const int next = (team.rank() + 1) % team.size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{500}, std::size_t{300'000}}) {
    constexpr int k_rounds = 30;
    auto inbox = team.allocate<int>(count);
    std::vector<int> mine(count);
    for (int i = 1; i <= k_rounds; ++i) {
      std::ranges::fill(mine, 100 * i + team.rank());
      team.async_put_notify(inbox.on(next), mine, 7).get();
      team.wait_notified(7);
      const int from = (team.rank() + team.size() - 1) % team.size();
      LOOK(std::ranges::count(inbox.local(), 100 * i + from) == static_cast<long>(count));
      team.async_notify(from, 8).get(); // it may be written again
      team.wait_notified(8);
    }
    team.barrier();
  }
}

/// A put, a fence and a notification: the notification is last, also for long data.
void fences(net::team &team) {
  constexpr std::size_t k_count = 50'000;
  auto inbox = team.allocate<int>(k_count);
  const int next = (team.rank() + 1) % team.size();
  std::vector<int> mine(k_count);
  for (int i = 1; i <= 20; ++i) {
    std::ranges::fill(mine, i);
    auto sent = team.async_put(inbox.on(next), mine);
    team.fence(next);
    auto told = team.async_notify(next, 9);
    team.wait_notified(9);
    LOOK(std::ranges::count(inbox.local(), i) == static_cast<long>(k_count));
    sent.get();
    told.get();
    team.barrier();
  }
}

void tasks(net::team &team) {
  auto inbox = team.allocate<long>(static_cast<std::size_t>(team.size()));
  long sum = 0;
  for (int r = 0; r < team.size(); ++r) {
    long *const own = &inbox.local()[static_cast<std::size_t>(r)];
    weft::spawn([&team, r] { team.expect(static_cast<std::uint32_t>(100 + r)); }, weft::out(*own));
    weft::spawn([own, &sum] { sum += *own; }, weft::in(*own), weft::inout(sum));
  }
  long mine = team.rank() + 1;
  for (int r = 0; r < team.size(); ++r)
    weft::spawn(
        [&, r] {
          team.put_notify(inbox.on(r).at(static_cast<std::size_t>(team.rank())),
                          std::span<const long>(&mine, 1),
                          static_cast<std::uint32_t>(100 + team.rank()));
        },
        weft::in(mine));
  weft::taskwait();
  LOOK(sum == team.size() * (team.size() + 1L) / 2);
  LOOK(team.allreduce(static_cast<long>(team.rank())) == team.size() * (team.size() - 1L) / 2);
}

/// Collective calls that were started, beside operations that come and go.
void collectives(net::team &team) {
  const int next = (team.rank() + 1) % team.size();
  std::vector<long> sums(2000, team.rank() + 1), given(2000, team.rank());
  auto summed = team.async_allreduce(std::span(sums));
  auto sent = team.async_broadcast(std::span(given), team.size() - 1);
  auto met = team.async_barrier();
  for (int i = 0; i < 50; ++i) {
    team.async_notify(next, 13).get();
    team.wait_notified(13);
  }
  summed.get();
  LOOK(std::ranges::count(sums, team.size() * (team.size() + 1L) / 2) == 2000);
  sent.get();
  LOOK(std::ranges::count(given, team.size() - 1) == 2000);
  met.get();
}

/// Random work in epochs, as the oracle of the conformance suite: each cell has one writer in an epoch.
void oracle(net::team &team) {
  constexpr std::size_t k_cells = 64, k_counters = 4;
  const auto size = static_cast<std::size_t>(team.size());
  auto memory = team.allocate<std::uint64_t>(k_cells + k_counters);
  std::vector<std::vector<std::uint64_t>> expected(
      size, std::vector<std::uint64_t>(k_cells + k_counters, 0));
  std::mt19937_64 draw(42); // the same at all ranks
  team.barrier();
  for (int epoch = 0; epoch < 30; ++epoch) {
    const auto before = expected;
    std::deque<std::vector<std::uint64_t>> buffers;
    std::vector<std::function<void()>> checks;
    std::vector<weft::future<void>> all;
    for (std::size_t to = 0; to < size; ++to) {
      for (std::size_t cell = 0; cell < k_cells;) {
        const std::size_t cells = std::min<std::size_t>(1 + draw() % 9, k_cells - cell);
        const bool is_own = draw() % size == static_cast<std::size_t>(team.rank());
        const auto there = memory.on(static_cast<int>(to)).subspan(cell, cells);
        const std::uint64_t value = draw();
        if (draw() % 2 == 0) {
          for (std::size_t i = 0; i < cells; ++i)
            expected[to][cell + i] = value + i;
          if (is_own) {
            auto &data = buffers.emplace_back(cells);
            std::iota(data.begin(), data.end(), value);
            all.push_back(team.async_put(there, data));
          }
        } else if (is_own) {
          auto &data = buffers.emplace_back(cells);
          all.push_back(team.async_get(there, data));
          checks.emplace_back([&data, &before, to, cell, cells] {
            LOOK(std::ranges::equal(data, std::span(before[to]).subspan(cell, cells)));
          });
        }
        cell += cells;
      }
      for (int i = 0; i < 20; ++i) {
        const std::size_t counter = k_cells + draw() % k_counters;
        const std::uint64_t value = draw() % 1000;
        expected[to][counter] += value;
        if (draw() % size == static_cast<std::size_t>(team.rank()))
          static_cast<void>(
              team.async_fetch_add(memory.on(static_cast<int>(to)).at(counter), value));
      }
    }
    for (auto &one : all)
      one.get();
    for (int r = 0; r < team.size(); ++r)
      team.async_flush(r).get();
    for (const auto &check : checks)
      check();
    team.barrier();
    LOOK(std::ranges::equal(memory.local(), expected[static_cast<std::size_t>(team.rank())]));
    team.barrier();
  }
}

/// A slow rank: the others flood it, and all arrives.
void flood(net::team &team) {
  constexpr std::uint64_t k_each = 3000;
  team.barrier();
  if (team.rank() != 0) {
    std::vector<weft::future<void>> all;
    for (std::uint64_t i = 0; i < k_each; ++i)
      all.push_back(team.async_notify(0, 11));
    for (auto &one : all)
      one.get();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    team.wait_notified(11, k_each * static_cast<std::uint64_t>(team.size() - 1));
    ++g_looks;
  }
  team.barrier();
}

/// In a child of fork(): returns whether each kind of call with the team of the parent is refused.
bool are_refused(net::team &team, const net::shared_array<long> &memory) {
  const std::string text = "rank " + std::to_string(team.rank()) + " is the process " +
                           std::to_string(getppid()) + ", and this one is a child of fork()";
  const auto is_refused = [&](const std::function<void()> &call) {
    try {
      call();
    } catch (const weft::error &e) {
      return e.code() == weft::errc::not_supported && std::string(e.what()).find(text) == 0;
    }
    return false;
  };
  return is_refused([&] { static_cast<void>(team.async_notify(0, 1)); }) &&
         is_refused([&] { static_cast<void>(team.async_fetch_add(memory.on(0).at(0), 1)); }) &&
         is_refused([&] { static_cast<void>(team.async_expect(1)); }) &&
         is_refused([&] { static_cast<void>(team.path_to(team.rank())); }) &&
         is_refused([&] { static_cast<void>(team.allocate<long>(1)); }) &&
         is_refused([&] { team.fence(0); }) && is_refused([&] { team.barrier(); }) &&
         is_refused([&] { static_cast<void>(team.async_barrier()); });
}

/// A child of fork(), outside of tasks, that uses the team of its parent gets a message for each kind of
/// call. It uses Weft while the parent's team goes on: what comes for the parent, the child leaves to it.
void fork_child(net::team &team) {
  constexpr long k_rounds = 200;
  auto memory = team.allocate<long>(1);
  int lives[2]; // the child ends when its parent writes: other ranks' children may hold the ends, too
  LOOK(pipe(lives) == 0);
  team.barrier();
  auto later = team.async_expect(12); // so the service is there, which the child has a copy of
  pid_t child = -1;
  const pid_t parent = getpid();
  std::thread([&] {
    child = fork();
    if (child != 0)
      return;
    close(lives[1]);
    const bool all = are_refused(team, memory);
    memory = {};
    team.~team(); // says no goodbye
    pollfd over{lives[0], POLLIN, 0};
    while (poll(&over, 1, 1) == 0 && getppid() == parent) {
      weft::spawn([] {});
      weft::taskwait();
    }
    _exit(all ? 0 : 1);
  }).join();
  close(lives[0]);
  for (long i = 0; i != k_rounds; ++i) {
    team.async_fetch_add(memory.on(0).at(0), 1).get();
    team.barrier();
  }
  LOOK(team.rank() != 0 || memory.local()[0] == k_rounds * team.size());
  LOOK(write(lives[1], "", 1) == 1);
  close(lives[1]);
  int status = -1;
  LOOK(waitpid(child, &status, 0) == child);
  LOOK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  team.async_notify(team.rank(), 12).get();
  later.get();
  team.barrier();
}

void everything(net::team &team) {
  puts_and_gets(team);
  atomics(team);
  notifications(team);
  fences(team);
  tasks(team);
  collectives(team);
  oracle(team);
  flood(team);
  fork_child(team);
  const long looks = team.allreduce(g_looks);
  if (team.rank() == 0)
    std::printf("%d ranks have looked %ld times: all holds\n", team.size(), looks);
}

/// Waits in each way for what no rank sends, for `weft why`.
void stuck(net::team &team) {
  if (team.rank() != 0)
    for (;;)
      std::this_thread::sleep_for(std::chrono::seconds(1));
  team.async_notify(0, 77).get();
  weft::spawn([&] { team.expect(77, 3, 1); }, weft::label("tied"));
  weft::spawn([&] { team.wait_notified(78); }, weft::label("suspended"));
  weft::spawn([&] { team.barrier(); }, weft::label("meets"));
  std::printf("pid %ld\n", static_cast<long>(getpid()));
  std::fflush(stdout);
  weft::taskwait();
}

/// Waits for a collective call that it has started, and that no other rank makes.
void meets_later(net::team &team) {
  if (team.rank() != 0)
    for (;;)
      std::this_thread::sleep_for(std::chrono::seconds(1));
  weft::spawn([&] { team.async_barrier().get(); }, weft::label("meets"));
  std::printf("pid %ld\n", static_cast<long>(getpid()));
  std::fflush(stdout);
  weft::taskwait();
}

/// Returns whether a process has been stopped by a signal.
bool is_stopped(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return state == "T";
}

/// Puts the number of this process where rank 0 reads it, and stops the process.
template <class Array>
void stand_still(net::team &team, const Array &pid) {
  team.async_put(pid.on(0), std::vector<long>{getpid()}).get();
  team.async_flush(0).get();
  kill(getpid(), SIGSTOP);
}

/// Fills the queue to rank 1, which receives nothing: a task has operations in flight to it, another one waits for a
/// place in the queue to it.
void fill_queue(net::team &team) {
  // Some more than the 64 places of the test: rank 1 takes no more.
  std::vector<weft::future<void>> taken;
  for (int i = 0; i < 72; ++i)
    taken.push_back(team.async_notify(1, 79));
  std::atomic<bool> has_sent{false};
  weft::spawn(
      [&] {
        team.notify(1, 79);
        has_sent.store(true);
      },
      weft::label("sends"));
  while (!has_sent.load())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  weft::spawn(
      [&] {
        for (int i = 0; i < 64; ++i)
          team.notify(1, 79);
      },
      weft::label("queues"));
  std::printf("pid %ld\n", static_cast<long>(getpid()));
  std::fflush(stdout);
  weft::taskwait();
}

/// Rank 1 stands still.
void queued(net::team &team) {
  auto pid = team.allocate<long>(1);
  team.barrier();
  if (team.rank() == 1) {
    stand_still(team, pid);
    return;
  }
  while (!is_stopped(std::atomic_ref(pid.local()[0]).load()))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  fill_queue(team);
}

/// The same with ranks of this process.
void held() {
  const net::inproc_world world(2);
  world.hold(1, true);
  net::run_ranks(world, [](net::team &team) {
    if (team.rank() == 0)
      fill_queue(team);
    else
      weft::event().wait(); // its worker polls
  });
}

long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Rank 1 stands still for some seconds, and rank 0 floods it: the flood is held back, whatever time
/// there is, and so is its memory. `queue` is net.queue.
void stopped(net::team &team, int seconds, std::uint64_t queue) {
  constexpr std::uint64_t k_notifications = 60'000, k_puts = 20'000;
  constexpr std::size_t k_bytes = 4096;
  std::vector<char> inbox(k_bytes), data(k_bytes, 7);
  auto memory = team.share(std::span(inbox));
  auto pid = team.allocate<long>(1);
  team.barrier();
  if (team.rank() == 1) {
    stand_still(team, pid);
    team.wait_notified(1, k_notifications);
    team.wait_notified(2, k_puts);
    LOOK(inbox == data);
    return;
  }
  if (team.rank() != 0)
    return;
  const auto read_pid = [&] { return std::atomic_ref(pid.local()[0]).load(); };
  while (!is_stopped(read_pid()))
    weft::this_task::sleep_for(std::chrono::milliseconds(1));
  const long before = resident_bytes();
  std::atomic<std::uint64_t> notified{0}, put{0};
  weft::spawn([&] {
    for (std::uint64_t i = 0; i != k_notifications; ++i, ++notified)
      team.notify(1, 1);
  });
  weft::spawn([&] {
    for (std::uint64_t i = 0; i != k_puts; ++i, ++put)
      team.put_notify(memory.on(1), data, 2);
  });
  weft::this_task::sleep_for(std::chrono::seconds(seconds));
  const long grown = resident_bytes() - before;
  std::printf("rank 0 has grown by %ld KiB; %ld notifications and %ld puts have begun\n", grown >> 10,
              static_cast<long>(notified), static_cast<long>(put));
  std::fflush(stdout);
  // A queue at each side, and one in the engine. Of memory, the data of two queues, and what is touched for the first time;
  // an operation in flight takes 235 bytes.
  LOOK(notified + put <= 4 * queue);
  LOOK(grown <= static_cast<long>(2 * queue * k_bytes + (std::uint64_t{4} << 20)));
  kill(static_cast<pid_t>(read_pid()), SIGCONT);
  weft::taskwait();
  LOOK(notified == k_notifications && put == k_puts);
  std::printf("all has arrived\n");
}

/// Has messages of all kinds for a trace. Rank 1 computes until a notification has come, so that no
/// worker takes it.
void traced(net::team &team) {
  const int next = (team.rank() + 1) % team.size();
  auto flag = team.allocate<long>(1);
  auto memory = team.allocate<long>(100);
  std::vector<long> mine(100, 1);
  team.barrier();
  if (team.rank() == 0)
    team.async_put_notify(flag.on(1), std::vector<long>{1}, 9).get();
  if (team.rank() == 1) {
    if (team.caps().wakes)
      while (std::atomic_ref(flag.local()[0]).load() == 0)
        ;
    team.wait_notified(9);
  }
  team.async_put(memory.on(next), mine).get();
  team.async_get(memory.on(next), mine).get();
  for (int i = 0; i < 3; ++i)
    team.async_notify(next, 4'000'000'000, 2).get();
  weft::spawn([&] { team.expect(4'000'000'000, 6); });
  weft::taskwait();
  static_cast<void>(team.allreduce(1L));
  std::thread([&] { team.async_notify(next, 11).get(); }).join();
  team.wait_notified(11);
  // What a thread without a stream in the trace has done.
  net::message_trace alone(team.rank());
  std::thread([&] {
    const auto number = alone.note_start(next, 5, 10, "late");
    alone.note(weft::layer::message_step::landed, next, 0, number, 0, "late");
  }).join();
  alone.settle();
}

/// Rank 1 kills itself, or throws; the others put to it, or notify it, until they learn of it, and then go on.
void loss(net::team &team, bool throws, bool goes_on) {
  auto memory = team.allocate<long>(100);
  team.barrier();
  if (team.rank() != 1) {
    team.async_notify(1, 3).get();
  } else {
    team.wait_notified(3, static_cast<std::uint64_t>(team.size() - 1)); // or the loss may end the barrier of another rank
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (throws)
      throw std::runtime_error("rank 1 has enough");
    kill(getpid(), SIGKILL);
  }
  auto expected = team.async_expect(5, 1, 1);
  const std::vector<long> mine(100, 1);
  const auto begin = std::chrono::steady_clock::now();
  try {
    for (;;) {
      if (throws) // its array is gone then
        team.async_notify(1, 4).get();
      else
        team.async_put(memory.on(1), mine).get();
      team.async_flush(1).get();
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(60))
        std::exit(8);
    }
  } catch (const net::lost_rank &e) {
    std::fprintf(stderr, "%d: %s\n", team.rank(), e.what());
    LOOK(e.rank() == 1);
  }
  try {
    expected.get();
    std::exit(7);
  } catch (const net::lost_rank &e) {
    std::fprintf(stderr, "%d: %s\n", team.rank(), e.what());
    LOOK(e.rank() == 1);
  }
  try {
    team.barrier();
    std::exit(6);
  } catch (const net::lost_rank &e) {
    std::fprintf(stderr, "%d: %s\n", team.rank(), e.what());
  }
  if (!goes_on)
    for (;;) // the job ends it
      std::this_thread::sleep_for(std::chrono::seconds(1));
  const int other = team.rank() == 0 ? team.size() - 1 : 0;
  if (other != team.rank()) {
    team.async_notify(other, 6).get();
    team.wait_notified(6, 1, other);
  }
  std::printf("rank %d goes on\n", team.rank());
}

/// Meets again and again, until the job loses a rank, of which a notification is awaited, too.
void meet_until_lost(net::team &team) {
  auto expected = team.async_expect(5, 1, 1);
  team.barrier();
  if (team.rank() == 0) {
    std::printf("all ranks meet\n");
    std::fflush(stdout);
  }
  try {
    for (;;)
      team.barrier();
  } catch (const net::lost_rank &e) {
    std::fprintf(stderr, "%d: %s\n", team.rank(), e.what());
  }
  try {
    expected.get();
  } catch (const net::lost_rank &e) {
    std::fprintf(stderr, "%d: %s\n", team.rank(), e.what());
  }
}

void rounds(net::team &team) {
  meet_until_lost(team);
  for (;;) // the job ends it
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// The same with ranks of this process, which loses rank 1 after a line of the standard input.
void rounds_here() {
  const net::inproc_world world(3);
  std::thread losing([&world] {
    static_cast<void>(std::getchar());
    world.lose(1);
  });
  net::run_ranks(world, meet_until_lost);
  losing.join();
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "everything";
  try {
    if (what == "held" || what == "rounds-here") {
      what == "held" ? held() : rounds_here();
      return 0;
    }
    net::run_ranks([&](net::team &team) {
      LOOK(argc < 3 || team.size() == std::atoi(argv[2]));
      if (what == "everything")
        everything(team);
      else if (what == "forks")
        fork_child(team);
      else if (what == "traced")
        traced(team);
      else if (what == "stuck")
        stuck(team);
      else if (what == "stopped")
        stopped(team, std::atoi(argv[3]), std::strtoul(argv[4], nullptr, 10));
      else if (what == "meets-later")
        meets_later(team);
      else if (what == "queued")
        queued(team);
      else if (what == "loss" || what == "loss-continue")
        loss(team, false, what != "loss");
      else if (what == "failure" || what == "failure-continue")
        loss(team, true, what != "failure");
      else if (what == "rounds")
        rounds(team);
      else if (what == "throw" && team.rank() == 1)
        throw std::runtime_error("rank 1 has enough");
      else if (what == "exit" && team.rank() == 1)
        std::_Exit(42);
      else if (what == "stall" && team.rank() == 0)
        team.wait_notified(77, 3, 1);
      else if (what == "stall" && team.rank() == 1) {
        team.async_notify(0, 77).get();
        team.wait_notified(78);
      }
    });
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 5;
  }
  return 0;
}
