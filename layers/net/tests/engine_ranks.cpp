// SPDX-License-Identifier: Apache-2.0
// What each engine promises between processes, through a transport, as conformance_test.cpp asks it of
// ranks in one process: each process is one rank, and looks at its own memory. A launcher starts it.
#include "oracle.hpp"
#include "ranks.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/net/joined_job.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <string_view>

#include <unistd.h>

namespace {

using namespace net_test;
using net::action;
using net::outcome;

std::uint64_t g_looks = 0;

void look(bool is_right, const char *what, int line) {
  ++g_looks;
  if (is_right)
    return;
  std::fprintf(stderr, "line %d: %s does not hold\n", line, what);
  std::_Exit(9);
}
#define LOOK(what) look((what), #what, __LINE__)

constexpr std::uint32_t k_meet = 1'000'000, k_word = 1'000'001; // messages of the test itself

/// Is the rank of this process, and what has come here.
class job_rank final : public net::listener {
 public:
  explicit job_rank(std::unique_ptr<net::engine> e) {
    auto held = std::make_unique<held_engine>(std::move(e), m_gate);
    m_meetings.resize(static_cast<std::size_t>(held->size()));
    m_words.resize(m_meetings.size());
    m_transport = std::make_unique<net::transport>(std::move(held), *this);
  }

  net::transport &at() { return *m_transport; }
  [[nodiscard]] int rank() const { return m_transport->rank(); }
  [[nodiscard]] int size() const { return m_transport->size(); }
  [[nodiscard]] int next() const { return (rank() + 1) % size(); }
  [[nodiscard]] int before() const { return (rank() + size() - 1) % size(); }
  void hold(bool is_held) { m_gate->hold(is_held); }
  void close() { m_transport->close(); }

  template <class Holds>
  void until(Holds &&holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds()) {
      m_transport->progress(16);
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("what the test waits for does not come");
      std::this_thread::yield();
    }
  }
  void submit(net::operation &op) { m_transport->submit(op); }
  outcome finish(test_operation &op) {
    until([&op] { return op.is_over(); });
    LOOK(op.times == 1);
    return op.result;
  }
  outcome run(test_operation &op) {
    submit(op);
    return finish(op);
  }
  outcome flush(int rank) {
    test_operation border;
    only(border, action::flush, rank);
    return run(border);
  }

  /// Waits for all ranks.
  void meet() { meet_of(size()); }
  /// Waits for the first `ranks`, where those behind them meet no more.
  void meet_of(int ranks) {
    ++m_met;
    const std::string nothing;
    std::deque<test_operation> all(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) {
      message(all[static_cast<std::size_t>(r)], r, k_meet, nothing);
      submit(all[static_cast<std::size_t>(r)]);
    }
    until([&] {
      const std::lock_guard guard(m_lock);
      return std::ranges::all_of(all, &test_operation::is_over) &&
             std::ranges::all_of(std::span(m_meetings).first(all.size()),
                                 [this](std::uint64_t n) { return n >= m_met; });
    });
  }
  /// Returns what each rank says.
  template <class T>
  std::vector<T> share(const T &own) {
    meet(); // the last words have been read
    const std::string text(reinterpret_cast<const char *>(&own), sizeof own);
    std::deque<test_operation> all(static_cast<std::size_t>(size()));
    for (int r = 0; r < size(); ++r) {
      message(all[static_cast<std::size_t>(r)], r, k_word, text);
      submit(all[static_cast<std::size_t>(r)]);
    }
    for (test_operation &op : all)
      LOOK(finish(op) == outcome::done);
    meet();
    std::vector<T> made(m_words.size());
    const std::lock_guard guard(m_lock);
    for (std::size_t r = 0; r < made.size(); ++r)
      std::memcpy(&made[r], m_words[r].data(), sizeof(T));
    return made;
  }

  struct message_here {
    int from;
    std::uint32_t id;
    std::string text;
  };
  [[nodiscard]] std::vector<message_here> messages() {
    const std::lock_guard guard(m_lock);
    return m_messages;
  }
  [[nodiscard]] std::uint64_t notifications(std::uint32_t id) {
    const std::lock_guard guard(m_lock);
    return m_notifications[id];
  }
  /// Forgets what has come, and is called for what comes.
  void expect(std::function<void(std::uint32_t id)> on_arrival = nullptr) {
    const std::lock_guard guard(m_lock);
    m_messages.clear();
    m_notifications.clear();
    m_on_arrival = std::move(on_arrival);
  }

  void arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override {
    const std::string text(reinterpret_cast<const char *>(payload.data()), payload.size());
    const std::lock_guard guard(m_lock);
    if (id == k_meet) {
      ++m_meetings[static_cast<std::size_t>(from)];
    } else if (id == k_word) {
      m_words[static_cast<std::size_t>(from)] = text;
    } else {
      m_messages.push_back({from, id, text});
      if (m_on_arrival)
        m_on_arrival(id);
    }
  }
  void notified(int, std::uint32_t id, std::uint64_t count) noexcept override {
    const std::lock_guard guard(m_lock);
    m_notifications[id] += count;
    if (m_on_arrival)
      m_on_arrival(id);
  }
  /// Has losses noted from now on, which otherwise end the process.
  void expect_losses() { m_expects_losses = true; }
  [[nodiscard]] std::vector<int> lost_ranks() {
    const std::lock_guard guard(m_lock);
    return m_lost;
  }
  /// Reports a rank as lost, as a job does, and more than once, as that may; waits until it is.
  void lose(int rank) {
    for (int i = 0; i != 2; ++i)
      at().report_lost(rank);
    until([&] { return at().is_lost(rank); });
  }
  void lost(int rank) noexcept override {
    if (m_expects_losses) {
      const std::lock_guard guard(m_lock);
      return m_lost.push_back(rank);
    }
    std::fprintf(stderr, "rank %d is lost\n", rank);
    std::_Exit(8);
  }

 private:
  std::mutex m_lock;
  std::vector<std::uint64_t> m_meetings;
  std::vector<std::string> m_words;
  std::vector<message_here> m_messages;
  std::map<std::uint32_t, std::uint64_t> m_notifications;
  std::function<void(std::uint32_t id)> m_on_arrival;
  std::uint64_t m_met = 0;
  std::atomic<bool> m_expects_losses{false};
  std::vector<int> m_lost;
  std::shared_ptr<gate> m_gate = std::make_shared<gate>();
  std::unique_ptr<net::transport> m_transport;
};

/// Each rank writes to the next one and reads the one before, short and long.
void memory_is_written_and_read(job_rank &job) {
  for (const std::size_t count : {std::size_t{3}, std::size_t{1000}, std::size_t{700'000}}) {
    std::vector<int> there(count + 2, -1), back(count, 0);
    const auto keys = job.share(job.at().add_memory(there.data(), there.size() * sizeof(int)));
    std::vector<int> here(count);
    std::iota(here.begin(), here.end(), job.rank() * 1000);
    test_operation write, read, own;
    put(write, job.next(), keys[static_cast<std::size_t>(job.next())], sizeof(int), here.data(),
        count * sizeof(int));
    LOOK(job.run(write) == outcome::done);
    LOOK(job.flush(job.next()) == outcome::done);
    job.meet();
    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), job.before() * 1000);
    LOOK(there.front() == -1 && there.back() == -1);
    LOOK(std::ranges::equal(std::span(there).subspan(1, count), expected));
    get(read, job.next(), keys[static_cast<std::size_t>(job.next())], sizeof(int), back.data(),
        count * sizeof(int));
    LOOK(job.run(read) == outcome::done);
    LOOK(back == here);
    // Its own memory is reached like that of others.
    get(own, job.rank(), keys[static_cast<std::size_t>(job.rank())], sizeof(int), back.data(),
        count * sizeof(int));
    LOOK(job.run(own) == outcome::done);
    LOOK(back == expected);
    job.meet();
  }
}

void atomic_operations_return_what_was_there(job_rank &job) {
  std::uint64_t word = 0, swapped = 10;
  const auto counters = job.share(job.at().add_memory(&word, sizeof word));
  const auto flags = job.share(job.at().add_memory(&swapped, sizeof swapped));
  constexpr std::size_t k_each = 500;
  std::deque<test_operation> all(k_each);
  for (auto &op : all) {
    op.what = action::fetch_add;
    op.rank = 0;
    op.key = counters[0];
    op.value = 1;
    job.submit(op);
  }
  std::set<std::uint64_t> seen;
  for (auto &op : all) {
    LOOK(job.finish(op) == outcome::done);
    seen.insert(op.value);
  }
  LOOK(seen.size() == k_each);
  job.meet();
  LOOK(job.rank() != 0 || word == k_each * static_cast<std::size_t>(job.size()));
  const auto swap = [&](std::uint64_t expected, std::uint64_t value) {
    test_operation op;
    op.what = action::compare_swap;
    op.rank = job.next();
    op.key = flags[static_cast<std::size_t>(job.next())];
    op.value = value;
    op.expected = expected;
    LOOK(job.run(op) == outcome::done);
    return op.value;
  };
  LOOK(swap(9, 77) == 10);
  LOOK(swap(10, 11) == 10);
  LOOK(swap(10, 12) == 11);
  job.meet();
  LOOK(swapped == 11);
  job.meet();
}

void wrong_memory_is_refused(job_rank &job) {
  std::vector<char> there(64, 'x');
  const char from[65] = "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
  const net::memory_key own = job.at().add_memory(there.data(), there.size());
  const net::memory_key key = job.share(own)[static_cast<std::size_t>(job.next())];
  net::memory_key other = key;
  other.words[0] += 1000;
  const auto outcome_of = [&](const net::memory_key &k, std::uint64_t offset, std::size_t bytes,
                              action what = action::put) {
    test_operation op;
    put(op, job.next(), k, offset, from, bytes);
    op.what = what;
    return job.run(op);
  };
  job.expect();
  LOOK(outcome_of(key, 0, 65) == outcome::bad_memory);
  LOOK(outcome_of(key, 64, 1) == outcome::bad_memory);
  LOOK(outcome_of(key, UINT64_MAX, 2) == outcome::bad_memory);
  LOOK(outcome_of(other, 0, 1) == outcome::bad_memory);
  LOOK(outcome_of(other, 0, 0, action::fetch_add) == outcome::bad_memory);
  LOOK(outcome_of(key, 4, 0, action::fetch_add) == outcome::bad_memory);
  LOOK(outcome_of(key, 60, 0, action::fetch_add) == outcome::bad_memory);
  LOOK(outcome_of(key, 64, 1, action::put_notify) == outcome::bad_memory);
  job.meet();
  LOOK(there == std::vector<char>(64, 'x'));
  job.meet();
  LOOK(outcome_of(key, 63, 1) == outcome::done);
  job.flush(job.next());
  job.meet();
  LOOK(there[63] == 'y');
  job.at().remove_memory(own);
  job.meet();
  outcome after = outcome::done; // the owner's word is under way
  while (after == outcome::done)
    after = outcome_of(key, 0, 1);
  LOOK(after == outcome::bad_memory);
  job.flush(job.next());
  job.meet();
  LOOK(job.notifications(0) == 0);
}

void fresh_memory_is_zero_and_shared(job_rank &job) {
  net::memory_key own;
  auto *const there = static_cast<std::uint64_t *>(job.at().add_fresh_memory(800, own));
  LOOK(!there || std::all_of(there, there + 100, [](std::uint64_t word) { return word == 0; }));
  const auto keys = job.share(own);
  if (!there)
    return; // this engine has no memory of its own
  const std::uint64_t from[2] = {1, 2};
  test_operation write;
  put(write, job.next(), keys[static_cast<std::size_t>(job.next())], 784, from, sizeof from);
  LOOK(job.run(write) == outcome::done);
  job.flush(job.next());
  job.meet();
  LOOK(there[97] == 0 && there[98] == 1 && there[99] == 2);
  job.meet();
  job.at().remove_memory(own);
}

void data_come_before_their_notification(job_rank &job) {
  for (const std::size_t words :
       {std::size_t{1}, std::size_t{512}, std::size_t{513}, std::size_t{100'000}}) {
    constexpr std::uint32_t k_rounds = 20;
    std::vector<std::uint64_t> there(words * k_rounds, 0);
    const auto keys = job.share(job.at().add_memory(there.data(), there.size() * 8));
    std::uint64_t wrong = 0;
    job.expect([&](std::uint32_t id) {
      wrong += static_cast<std::size_t>(std::ranges::count(
                   std::span(there).subspan(id * words, words), id + 1U)) == words
                   ? 0U
                   : 1U;
    });
    job.meet();
    std::deque<test_operation> all(k_rounds);
    std::vector<std::uint64_t> from(there.size());
    for (std::uint32_t i = 0; i < k_rounds; ++i) {
      std::ranges::fill(std::span(from).subspan(i * words, words), i + 1);
      put(all[i], job.next(), keys[static_cast<std::size_t>(job.next())], i * words * 8,
          &from[i * words], words * 8);
      all[i].what = action::put_notify;
      all[i].id = i;
      all[i].count = i % 3 + 1;
      job.submit(all[i]);
    }
    job.until([&] {
      for (std::uint32_t i = 0; i < k_rounds; ++i)
        if (job.notifications(i) < i % 3 + 1)
          return false;
      return true;
    });
    for (std::uint32_t i = 0; i < k_rounds; ++i) {
      LOOK(job.finish(all[i]) == outcome::done);
      LOOK(job.notifications(i) == i % 3 + 1);
    }
    LOOK(wrong == 0);
    job.meet();
    job.expect();
  }
}

void messages_arrive_once_and_whole(job_rank &job) {
  const std::size_t most = job.at().caps().most_message;
  const std::vector<std::string> texts = {"", "a", std::string(most, 'm')};
  job.expect();
  job.meet();
  std::deque<test_operation> all(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    message(all[i], job.next(), static_cast<std::uint32_t>(i), texts[i]);
    job.submit(all[i]);
  }
  const std::string longer(most + 1, 'l');
  test_operation refused;
  message(refused, job.next(), 77, longer);
  LOOK(job.run(refused) == outcome::too_long);
  job.until([&] { return job.messages().size() == texts.size(); });
  for (auto &op : all)
    LOOK(job.finish(op) == outcome::done);
  job.meet();
  auto got = job.messages();
  std::ranges::sort(got, {}, &job_rank::message_here::id);
  LOOK(got.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    LOOK(got[i].text == texts[i] && got[i].from == job.before() && got[i].id == i);
}

/// A message behind a fence comes last, after short and after long data, for which a flush may have asked
/// before; and what a get reads before a fence is not what a put writes behind it.
void a_fence_keeps_the_order(job_rank &job) {
  for (const std::size_t words : {std::size_t{1}, std::size_t{200'000}}) {
    constexpr std::uint32_t k_rounds = 30;
    std::vector<std::uint64_t> there(words, 0), old(words);
    const auto keys = job.share(job.at().add_memory(there.data(), words * 8));
    const auto &key = keys[static_cast<std::size_t>(job.next())];
    std::uint64_t early = 0;
    std::uint32_t next = 0;
    job.expect([&](std::uint32_t id) {
      early += there.front() != id + 1U || there.back() != id + 1U || id != next ? 1U : 0U;
      ++next;
    });
    job.meet();
    for (std::uint32_t i = 0; i < k_rounds; ++i) {
      std::vector<std::uint64_t> from(words, i + 1);
      std::deque<test_operation> all(i % 2 == 0 ? 5 : 6);
      get(all[0], job.next(), key, 0, old.data(), words * 8);
      only(all[1], action::fence, job.next());
      put(all[2], job.next(), key, 0, from.data(), words * 8);
      only(all[3], action::flush, job.next());
      only(all[all.size() - 2], action::fence, job.next());
      message(all.back(), job.next(), i, "");
      for (auto &op : all)
        job.submit(op);
      for (auto &op : all)
        LOOK(job.finish(op) == outcome::done);
      LOOK(old.front() == i && old.back() == i);
      // The next put must not overtake the message.
      job.until([&] { return job.messages().size() == i + 1; });
      job.meet();
    }
    LOOK(early == 0);
    job.meet();
    job.expect();
  }
}

/// What another rank reads after a flush is what was written before it.
void a_flush_ends_when_all_before_has_arrived(job_rank &job) {
  constexpr std::size_t k_puts = 500, k_long = 100'000;
  std::vector<std::uint64_t> there(k_puts + k_long, 0), seen(k_puts + k_long);
  const auto keys = job.share(job.at().add_memory(there.data(), there.size() * 8));
  const auto &key = keys[static_cast<std::size_t>(job.next())];
  const std::vector<std::uint64_t> from(k_puts + k_long, 5);
  std::deque<test_operation> all(k_puts + 1);
  put(all[k_puts], job.next(), key, k_puts * 8, from.data(), k_long * 8);
  job.submit(all[k_puts]);
  for (std::size_t i = 0; i < k_puts; ++i) {
    put(all[i], job.next(), key, i * 8, &from[i], 8);
    job.submit(all[i]);
  }
  test_operation border, again;
  only(border, action::flush, job.next());
  only(again, action::flush, job.next());
  job.submit(border);
  job.submit(again);
  LOOK(job.finish(again) == outcome::done);
  LOOK(job.finish(border) == outcome::done);
  job.meet();
  LOOK(there == from);
  const int reader = (job.rank() + job.size() - 1) % job.size(); // of what a third rank has written
  test_operation read;
  get(read, reader, keys[static_cast<std::size_t>(reader)], 0, seen.data(), seen.size() * 8);
  LOOK(job.run(read) == outcome::done);
  LOOK(seen == from);
  job.meet();
}

/// Is a file that says to the ranks of a host, beside the engine, that something is over.
class flag_file {
 public:
  explicit flag_file(const std::string &name)
      : m_path("/tmp/weft_net_engine_ranks." + name + "." + std::to_string(getppid())) {}
  void set() const { std::ofstream(m_path) << "over\n"; }
  void clear() const { unlink(m_path.c_str()); }
  void wait() const {
    while (access(m_path.c_str(), F_OK) != 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  const std::string m_path;
};

/// Stops this rank from making progress, says so to rank 0, and goes on when that has set the flag.
void be_held(job_rank &job, const flag_file &flag) {
  const std::string text = "held";
  test_operation word;
  message(word, 0, 5, text);
  job.submit(word);
  job.until([&] { return word.is_over(); }); // with a queue of one, it may wait behind the last message
  job.hold(true);
  flag.wait();
  job.hold(false);
  flag.clear();
}

void wait_for_held(job_rank &job) {
  job.until([&] {
    const auto got = job.messages();
    return std::ranges::any_of(got, [](const auto &m) { return m.id == 5 && m.text == "held"; });
  });
}

/// The last rank makes no progress for a while: what it is sent waits, in a queue with a bound, and
/// then comes.
void a_flood_to_a_held_rank_waits_and_arrives(job_rank &job) {
  constexpr std::size_t k_flood = 3000;
  const std::size_t queue = std::stoul(weft::layer::setting("net.queue"));
  const int last = job.size() - 1;
  const std::string text = "flood";
  const flag_file flag("flood");
  if (job.rank() == 0)
    flag.clear();
  job.expect();
  std::vector<std::uint64_t> there(k_flood, 0);
  const std::vector<std::uint64_t> from(k_flood, 3);
  const auto key =
      job.share(job.at().add_memory(there.data(), k_flood * 8))[static_cast<std::size_t>(last)];
  if (job.rank() == 0) { // the memory is known then
    test_operation first;
    put(first, last, key, 0, from.data(), 8);
    LOOK(job.run(first) == outcome::done);
    LOOK(job.flush(last) == outcome::done);
  }
  job.meet();
  if (job.rank() == last) {
    be_held(job, flag);
    job.until([&] { return job.messages().size() == k_flood; });
    std::set<std::uint32_t> ids;
    for (const auto &m : job.messages())
      ids.insert(m.id);
    LOOK(ids.size() == k_flood);
  } else if (job.rank() == 0) {
    wait_for_held(job);
    std::deque<test_operation> all(2 * k_flood);
    for (std::size_t i = 0; i < k_flood; ++i) {
      message(all[2 * i], last, static_cast<std::uint32_t>(i + 100), text);
      put(all[2 * i + 1], last, key, i * 8, &from[i], 8);
      job.submit(all[2 * i]);
      job.submit(all[2 * i + 1]);
    }
    job.until([&] { return all[0].is_over(); }); // another thread may be inside until then
    for (int i = 0; i < 200; ++i)
      job.at().progress(64);
    std::size_t messages_over = 0;
    for (std::size_t i = 0; i < k_flood; ++i)
      messages_over += all[2 * i].is_over() ? 1 : 0;
    LOOK(messages_over <= queue);
    flag.set();
    for (auto &op : all)
      LOOK(job.finish(op) == outcome::done);
    LOOK(job.flush(last) == outcome::done);
    job.until([&] { return job.at().in_flight() == 0; });
  }
  job.meet();
  LOOK(job.rank() != last || there == from);
  job.meet();
}

void a_rank_that_does_not_exist_is_refused(job_rank &job) {
  for (const int rank : {-1, job.size()}) {
    test_operation op;
    only(op, action::flush, rank);
    try {
      job.submit(op);
      LOOK(rank == 99);
    } catch (const weft::error &e) {
      LOOK(e.code() == weft::errc::invalid_argument);
    }
    LOOK(op.times == 0);
  }
}

void threads_share_a_transport(job_rank &job) {
  constexpr std::size_t k_threads = 4, k_each = 300;
  std::uint64_t word = 0;
  const auto keys = job.share(job.at().add_memory(&word, 8));
  std::vector<std::deque<test_operation>> all;
  for (std::size_t t = 0; t < k_threads; ++t)
    all.emplace_back(k_each);
  std::vector<std::thread> threads;
  for (auto &ops : all)
    threads.emplace_back([&] {
      for (auto &op : ops) {
        op.what = action::fetch_add;
        op.rank = job.next();
        op.key = keys[static_cast<std::size_t>(job.next())];
        op.value = 1;
        job.submit(op);
      }
    });
  for (auto &t : threads)
    t.join();
  std::set<std::uint64_t> seen;
  for (auto &ops : all)
    for (auto &op : ops) {
      LOOK(job.finish(op) == outcome::done);
      seen.insert(op.value);
    }
  LOOK(seen.size() == k_threads * k_each);
  job.meet();
  LOOK(word == k_threads * k_each);
  job.meet();
}

void random_work_in_epochs_does_what_an_oracle_says(job_rank &job) {
  const auto size = static_cast<std::size_t>(job.size());
  constexpr std::size_t k_words = oracle::k_cells + oracle::k_counters;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    oracle all(seed, size);
    oracle::memory expected(size, std::vector<std::uint64_t>(k_words, 0));
    std::vector<std::uint64_t> there(k_words, 0);
    const auto keys = job.share(job.at().add_memory(there.data(), k_words * 8));
    for (std::size_t e = 0; e < oracle::k_epochs; ++e) {
      const oracle::memory before = expected;
      const auto steps = all.epoch(expected);
      std::deque<test_operation> ops;
      std::deque<std::vector<std::uint64_t>> buffers;
      std::vector<const oracle::step *> done;
      for (const auto &s : steps) {
        if (s.from != job.rank())
          continue;
        auto &op = ops.emplace_back();
        auto &data = buffers.emplace_back(s.cells);
        std::iota(data.begin(), data.end(), s.value);
        put(op, s.to, keys[static_cast<std::size_t>(s.to)], s.cell * 8, data.data(), s.cells * 8);
        op.what = s.what;
        op.value = s.value;
        op.expected = s.expected;
        done.push_back(&s);
        job.submit(op);
      }
      for (int to = 0; to < job.size(); ++to) {
        only(ops.emplace_back(), action::flush, to);
        job.submit(ops.back());
      }
      for (std::size_t i = 0; i < ops.size(); ++i) {
        LOOK(job.finish(ops[i]) == outcome::done);
        if (i >= done.size())
          continue;
        const auto &old = before[static_cast<std::size_t>(done[i]->to)];
        if (done[i]->what == action::get)
          LOOK(std::ranges::equal(buffers[i],
                                  std::span(old).subspan(done[i]->cell, done[i]->cells)));
        if (done[i]->what == action::compare_swap)
          LOOK(ops[i].value == old[done[i]->cell]);
      }
      job.meet();
      LOOK(there == expected[static_cast<std::size_t>(job.rank())]);
      job.meet();
    }
  }
}

/// The last case: rank 0 ends while rank 1 makes no progress. In flight are a flush, which the engine has begun
/// and rank 1 would have to answer, and messages for which the queue to rank 1 has no place.
void an_ended_transport_closes_what_is_in_flight(job_rank &job) {
  const flag_file flag("end");
  if (job.rank() == 0)
    flag.clear();
  std::vector<std::uint64_t> there(1, 0);
  const auto key = job.share(job.at().add_memory(there.data(), 8))[1];
  const std::uint64_t one = 1;
  if (job.rank() == 0) { // the memory is known then
    test_operation first;
    put(first, 1, key, 0, &one, 8);
    LOOK(job.run(first) == outcome::done);
    LOOK(job.flush(1) == outcome::done);
  }
  job.expect();
  job.meet();
  const std::string text = "x";
  if (job.rank() == 1) {
    be_held(job, flag);
    // Rank 0 has closed. Its goodbye comes here before this rank leaves, and it waits for this rank's.
    // (UCX may take a rank that has left for a lost one.)
    const bool is_mpi = std::string_view(job.at().caps().name).starts_with("mpi");
    for (int quiet = 0; is_mpi && quiet != 100; ++quiet) {
      if (job.at().progress(16) != 0)
        quiet = 0;
      std::this_thread::yield();
    }
  } else if (job.rank() == 0) {
    wait_for_held(job);
    test_operation notified, flushed;
    put(notified, 1, key, 0, &one, 8);
    notified.what = action::put_notify;
    notified.count = 1;
    only(flushed, action::flush, 1);
    job.submit(notified);
    job.submit(flushed);
    LOOK(job.finish(notified) == outcome::done);
    std::deque<test_operation> all(std::stoul(weft::layer::setting("net.queue")) + 500);
    for (auto &op : all) {
      message(op, 1, 1, text);
      job.submit(op);
    }
    for (int i = 0; i < 200; ++i)
      job.at().progress(64);
    LOOK(!flushed.is_over());
    LOOK(!all.back().is_over());
    job.close();
    LOOK(flushed.times == 1 && flushed.result == outcome::closed);
    for (const auto &op : all)
      LOOK(op.times == 1 && (op.result == outcome::closed || op.result == outcome::done));
    LOOK(all.back().result == outcome::closed);
    flag.set();
  }
  job.close();
}

/// Returns how an operation ends that sends something to a rank.
outcome outcome_at(job_rank &job, int rank) {
  const std::string text = "x";
  test_operation op;
  message(op, rank, 1, text);
  return job.run(op);
}

/// Rank 1 leaves in order, and its job loses it nevertheless, as one whose function has thrown. Rank 0 learns of it.
void a_rank_that_has_left_may_be_lost(job_rank &job) {
  if (job.rank() == 1)
    return job.close();
  if (job.rank() != 0)
    return;
  outcome last = outcome::done;
  while (last == outcome::done) // its goodbye is under way
    last = outcome_at(job, 1);
  LOOK(last == outcome::rank_lost);
  job.lose(1);
  LOOK(outcome_at(job, 1) == outcome::rank_lost);
}

/// The last rank makes no progress, and the job reports it as lost to all others. What is in flight to it ends, also
/// what has no place in the queue to it; the others reach each other.
void operations_of_a_lost_rank_end(job_rank &job) {
  const int last = job.size() - 1;
  const flag_file flag("lost");
  if (job.rank() == 0)
    flag.clear();
  std::vector<std::uint64_t> there(1, 0);
  const auto keys = job.share(job.at().add_memory(there.data(), 8));
  const std::uint64_t one = 1;
  const auto write = [&](int rank) {
    test_operation op;
    put(op, rank, keys[static_cast<std::size_t>(rank)], 0, &one, 8);
    return job.run(op);
  };
  LOOK(write(last) == outcome::done); // the memory is known then
  LOOK(job.flush(last) == outcome::done);
  job.expect_losses();
  job.expect();
  job.meet();
  if (job.rank() == last) {
    be_held(job, flag);
    for (int r = 0; r != last; ++r)
      job.at().report_lost(r); // they have lost it, and it would wait for their goodbyes
    return;
  }
  if (job.rank() == 0)
    wait_for_held(job);
  job.meet_of(last); // the others know then that it is held
  const std::string text = "x";
  std::deque<test_operation> all(std::stoul(weft::layer::setting("net.queue")) + 500);
  for (auto &op : all) {
    message(op, last, 1, text);
    job.submit(op);
  }
  test_operation flushed;
  only(flushed, action::flush, last);
  job.submit(flushed);
  for (int i = 0; i < 200; ++i)
    job.at().progress(64);
  LOOK(!all.back().is_over() && !flushed.is_over());
  LOOK(!job.at().is_lost(last));
  job.lose(last);
  for (auto &op : all) {
    const outcome how = job.finish(op);
    LOOK(how == outcome::done || how == outcome::rank_lost);
  }
  LOOK(all.back().result == outcome::rank_lost);
  LOOK(job.finish(flushed) == outcome::rank_lost);
  LOOK(write(last) == outcome::rank_lost);
  LOOK(job.lost_ranks() == std::vector<int>{last});
  for (int r = 0; r != last; ++r) {
    LOOK(write(r) == outcome::done);
    LOOK(job.flush(r) == outcome::done);
    LOOK(!job.at().is_lost(r));
  }
  job.until([&] { return job.at().in_flight() == 0; });
  job.meet_of(last); // rank 1 leaves when rank 0 has reached it
  a_rank_that_has_left_may_be_lost(job);
  if (job.rank() == 0)
    flag.set();
}

/// Runs the cases in which ranks are lost. MPI is not finalized then, so what its launcher says of that is no matter; it
/// ends a job as soon as a rank has ended so, and therefore all ranks wait for rank 0.
void run_losses(job_rank &job) {
  const auto over = [](int rank) { return flag_file("over." + std::to_string(rank)); };
  over(job.rank()).clear(); // of an older job whose launcher had the same number
  operations_of_a_lost_rank_end(job);
  if (job.rank() != 0) {
    over(job.rank()).wait();
    return over(job.rank()).clear();
  }
  LOOK(job.lost_ranks() == (std::vector<int>{job.size() - 1, 1}));
  std::printf("%d ranks of the engine %s have lost two: all holds\n", job.size(), job.at().caps().name);
  std::fflush(stdout);
  for (int r = 1; r != job.size(); ++r)
    over(r).set();
}

void run(job_rank &job) {
  memory_is_written_and_read(job);
  atomic_operations_return_what_was_there(job);
  wrong_memory_is_refused(job);
  fresh_memory_is_zero_and_shared(job);
  data_come_before_their_notification(job);
  messages_arrive_once_and_whole(job);
  a_fence_keeps_the_order(job);
  a_flush_ends_when_all_before_has_arrived(job);
  a_flood_to_a_held_rank_waits_and_arrives(job);
  a_rank_that_does_not_exist_is_refused(job);
  threads_share_a_transport(job);
  random_work_in_epochs_does_what_an_oracle_says(job);
  const auto looks = job.share(g_looks);
  if (job.rank() == 0)
    std::printf("%d ranks of the engine %s have looked %llu times: all holds\n", job.size(),
                job.at().caps().name,
                static_cast<unsigned long long>(
                    std::accumulate(looks.begin(), looks.end(), std::uint64_t{0})));
  std::fflush(stdout);
  an_ended_transport_closes_what_is_in_flight(job);
}

} // namespace

int main(int argc, char **argv) {
  try {
    const auto joined = net::joined_job::of_process();
    if (!joined) {
      std::fputs("this process is no rank of a job; start it by `weft launch`\n", stderr);
      return 2;
    }
    {
      job_rank job(joined->take_engine());
      LOOK(argc < 2 || job.size() == std::atoi(argv[1]));
      joined->start([](int rank) {
        std::fprintf(stderr, "rank %d is lost\n", rank);
        std::_Exit(7);
      });
      if (argc > 2 && std::string_view(argv[2]) == "losses") {
        run_losses(job);
        joined->stop();
        joined->leave();
        std::_Exit(0); // the ranks disagree about which one is lost
      }
      run(job);
    }
    joined->stop();
    joined->leave();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 5;
  }
}
