// SPDX-License-Identifier: Apache-2.0
// Traces of programs that end in order, are killed, fork, or write none; weft trace reads them, and babeltrace2 where it is installed.
#include "support/babeltrace.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/process.hpp"
#include "support/scale.hpp"
#include "support/text.hpp"

#include "trace/folder.hpp"
#include "trace/record.hpp"
#include "ult/thread_context.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

namespace {

using test::contains;
using test::weft_program;

/// Tasks of all kinds, in an order that the seed gives.
void run_tasks(unsigned seed) {
  int data[8] = {};
  const auto random = [&seed] { return (seed = seed * 1664525u + 1013904223u) >> 16; };
  weft::task_group group;
  for (int i = 0; i < 400; ++i) {
    int &a = data[random() % 8], &b = data[random() % 8];
    switch (random() % 8) {
    case 0:
      weft::spawn([&a] { ++a; }, weft::inout(a), weft::label("inout"));
      break;
    case 1:
      weft::spawn([&a, &b] { a += b; }, weft::inout(a), weft::in(b), weft::label("two"));
      break;
    case 2:
      weft::spawn([&a] { ++a; }, weft::commutative(a), weft::label("commutative"));
      break;
    case 3:
      group.spawn([] {});
      break;
    case 4:
      weft::spawn([&a] { weft::spawn([&a] { ++a; }, weft::inout(a), weft::label("child")); },
                  weft::weak_inout(a), weft::label("weak"));
      break;
    case 5:
      weft::spawn([&a] { ++a; }, weft::inout(a), weft::if_(false), weft::label("undeferred"));
      break;
    case 6:
      weft::spawn(
          [] {
            weft::spawn([] {}, weft::label("leaf"));
            weft::taskwait();
          },
          weft::label("waits"));
      break;
    default:
      weft::spawn([&a] { ++std::atomic_ref(a); }, weft::concurrent(a), weft::label("concurrent"));
    }
    if (random() % 64 == 0)
      weft::taskwait();
  }
  group.wait();
  weft::taskwait();
}

weft::task<int> waits_within(weft::event &go) {
  co_await go.async_wait();
  co_return 1;
}
weft::future<int> awaits_another(weft::event &go) { // begins in its caller
  const int one = co_await waits_within(go);
  co_await weft::this_task::async_yield();
  co_return one + 1;
}
weft::task<void> deep_down(int calls, weft::event &go) {
  if (calls == 0)
    co_await go.async_wait();
  else
    co_await deep_down(calls - 1, go);
}
weft::future<void> calls_deep_down(int calls, weft::event &go) { co_await deep_down(calls, go); }
void run_deep_down(int calls) {
  weft::event go;
  weft::future<void> ends = calls_deep_down(calls, go);
  go.set();
  ends.get();
}
/// Two coroutines, one of which awaits the other.
void run_coroutines() {
  weft::event go;
  weft::future<int> ends = awaits_another(go);
  go.set();
  EXPECT_EQ(ends.get(), 2);
}

class traces : public testing::Test {
 protected:
  void SetUp() override {
    if (access(weft_program().c_str(), X_OK) != 0)
      GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
    char name[] = "/tmp/weft-trace-test-XXXXXX";
    m_folder = std::string(mkdtemp(name));
  }
  void TearDown() override {
    if (!m_folder.empty()) {
      EXPECT_EQ(std::system(("rm -rf '" + m_folder + "'").c_str()), 0);
    }
  }
  static test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), weft_program());
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }
  /// A process that runs `f` under these settings and then ends, or is killed.
  template <class F>
  void in_child(const test::environment &settings, bool killed, F f) const {
    const pid_t child = fork();
    if (child == 0) {
      for (const auto &[name, value] : settings)
        setenv(name.c_str(), value.c_str(), 1);
      f();
      killed ? static_cast<void>(kill(getpid(), SIGKILL)) : std::exit(testing::Test::HasFailure());
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WIFSIGNALED(status), killed);
    EXPECT_TRUE(killed || WEXITSTATUS(status) == 0) << "it says why above";
    if (!killed)
      test::expect_babeltrace_reads(settings);
  }
  test::environment settings(const std::string &level, const std::string &mode = "stream") const {
    return {{"WEFT_WORKERS", "2"},
            {"WEFT_TRACE_LEVEL", level},
            {"WEFT_TRACE_DIR", m_folder},
            {"WEFT_TRACE_MODE", mode}};
  }
  std::string m_folder;
};

std::uint64_t number_before(const std::string &text, const std::string &word) {
  const auto at = text.find(word);
  if (at == std::string::npos)
    return 0;
  const auto from = text.find_last_not_of("0123456789", at - 1) + 1;
  return std::strtoull(text.c_str() + from, nullptr, 10);
}

/// The line of a type in what `weft trace check` says.
struct tally {
  std::uint64_t created = 0, executed = 0, live = 0;
};
tally tally_of(const std::string &text, const std::string &type) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(type + " ")) {
      tally t;
      std::istringstream(line.substr(type.size())) >> t.created >> t.executed >> t.live;
      return t;
    }
  return {};
}

std::string read_all(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Of one name.
struct slices {
  int count = 0;
  double us = 0;
};
using slices_by_name = std::map<std::string, slices>;

std::uint64_t take_varint(std::string_view &from) {
  std::uint64_t v = 0;
  for (unsigned shift = 0; !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from[0]);
    from.remove_prefix(1);
    v |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128)
      break;
  }
  return v;
}

/// A field of a message of protocol buffers.
struct field {
  std::uint64_t number = 0;
  std::string_view text;
};
std::multimap<unsigned, field> fields_of(std::string_view message) {
  std::multimap<unsigned, field> all;
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message), value = take_varint(message);
    EXPECT_TRUE((key & 7) == 0 || ((key & 7) == 2 && value <= message.size()))
        << "no number and no text: " << key;
    const std::string_view text = key & 2 ? message.substr(0, value) : std::string_view{};
    message.remove_prefix(text.size());
    all.emplace(static_cast<unsigned>(key >> 3), field{value, text});
  }
  return all;
}

std::uint64_t number_in(const std::multimap<unsigned, field> &message, unsigned key) {
  const auto found = message.find(key);
  return found == message.end() ? 0 : found->second.number;
}

slices_by_name slices_of_perfetto(const std::string &file) {
  slices_by_name all;
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::vector<std::pair<std::string, std::uint64_t>>>
      open; // by track, the innermost last: the name, and since when
  std::set<std::uint64_t> tracks;
  for (const auto &[tag, packet] : fields_of(file)) {
    EXPECT_EQ(tag, 1u);
    const auto parts = fields_of(packet.text);
    if (const auto d = parts.find(60); d != parts.end())
      tracks.insert(number_in(fields_of(d->second.text), 1));
    if (const auto interned = parts.find(12); interned != parts.end())
      for (const auto &[kind, name] : fields_of(interned->second.text))
        if (const auto both = fields_of(name.text); kind == 2)
          names[number_in(both, 1)] = both.find(2)->second.text;
    const auto event = parts.find(11);
    if (event == parts.end())
      continue;
    const auto e = fields_of(event->second.text);
    const std::uint64_t track = number_in(e, 11), now = number_in(parts, 8);
    EXPECT_TRUE(tracks.count(track)) << track;
    const auto own_name = e.find(23);
    if (number_in(e, 9) == 1) {
      open[track].emplace_back(own_name != e.end() ? std::string(own_name->second.text)
                                                   : names[number_in(e, 10)],
                               now);
    } else if (number_in(e, 9) == 2) {
      const auto [name, since] = open.at(track).back();
      slices &s = all[name];
      ++s.count;
      s.us += static_cast<double>(now - since) / 1e3;
      open.at(track).pop_back();
    }
  }
  for (const auto &[track, left] : open)
    EXPECT_TRUE(left.empty()) << track;
  return all;
}

slices_by_name slices_of_json(const std::string &file) {
  slices_by_name all;
  std::istringstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!contains(line, "\"ph\":\"X\""))
      continue;
    const auto name = line.find("\"name\":\"") + 8;
    slices &s = all[line.substr(name, line.find('"', name) - name)];
    ++s.count;
    s.us += std::strtod(line.c_str() + line.find("\"dur\":") + 6, nullptr);
  }
  return all;
}

} // namespace

TEST_F(traces, counters_equal_the_replayed_trace_for_random_programs_under_every_policy) {
  unsigned seed = 1;
  for (const char *policy : {"stealing", "delegated", "local-fifo", "central", "seeded"})
    for (const char *level : {"switch", "task", "graph", "runtime"}) {
      auto s = settings(level);
      s.emplace_back("WEFT_SCHED_POLICY", policy);
      if (policy == std::string("seeded"))
        s.emplace_back("WEFT_WORKERS", "1");
      in_child(s, false, [&] { run_tasks(++seed); });
      const auto end = weft({"trace", "check", m_folder});
      EXPECT_TRUE(end.exited(0)) << policy << " " << level << "\n" << end;
      EXPECT_TRUE(contains(end.output, "as the counters say")) << end;
      if (level != std::string("switch")) {
        EXPECT_GT(tally_of(end.output, "inout").created, 0u) << end;
        EXPECT_EQ(tally_of(end.output, "inout").created, tally_of(end.output, "inout").executed)
            << end;
        EXPECT_EQ(tally_of(end.output, "inout").live, 0u) << end;
      }
      ++seed;
    }
}

TEST_F(traces, babeltrace2_reads_what_is_written_record_for_record) {
  if (std::system("command -v babeltrace2 >/dev/null 2>&1") != 0 || test::k_emulated)
    GTEST_SKIP() << "babeltrace2 is not installed, or no program of this machine";
  for (const char *mode : {"stream", "flight"}) {
    auto s = settings("graph", mode);
    s.emplace_back("WEFT_TRACE_BUFFER", "256KiB");
    in_child(s, false, [] {
      for (unsigned i = 0; i < 20; ++i)
        run_tasks(i);
    });
    const auto info = weft({"trace", "info", m_folder});
    const auto own = number_before(info.output.substr(info.output.find("records")), ", ");
    const auto bt =
        test::run({"/bin/sh", "-c", "babeltrace2 '" + m_folder + "' 2>/dev/null | wc -l"}, {});
    EXPECT_GT(own, 0u) << info;
    EXPECT_EQ(std::strtoull(bt.output.c_str(), nullptr, 10), own) << info << bt;
  }
}

TEST_F(traces, what_two_records_in_one_tell_is_read_as_two) {
  in_child(settings("graph"), false, [] {
    int x = 0;
    for (int i = 0; i < 1000; ++i)
      weft::spawn([&x] { ++x; }, weft::inout(x), weft::label("link"));
    weft::taskwait();
  });
  const auto csv = weft({"trace", "export", "--format", "csv", m_folder}).output;
  std::map<std::string, int> lines;
  std::map<std::string, std::string> running; // by worker
  std::istringstream from(csv);
  for (std::string line, ns, worker, event, task, type; std::getline(from, line);) {
    std::istringstream words(line);
    for (std::string *w : {&ns, &worker, &event, &task, &type})
      std::getline(words, *w, ',');
    EXPECT_TRUE(event != "access" ||
                contains(line, "," + std::to_string(sizeof(int) | std::uint64_t{2} << 32)))
        << line; // inout
    if (type != "link")
      continue;
    ++lines[event];
    if (event == "begin")
      running[worker] = task;
    EXPECT_TRUE(event != "end" || running[worker] == task) << line;
  }
  EXPECT_EQ(lines["create"], 1000) << csv.substr(0, 2000);
  EXPECT_EQ(lines["begin"], 1000);
  EXPECT_EQ(lines["end"], 1000);
  EXPECT_EQ(lines["next"] + lines["create_one"], 0);
}

namespace {

/// Returns function, callers and reason of each wait of a coroutine, and adds the first functions to
/// `first`.
std::vector<std::string> waits_in(const std::string &csv, std::set<std::string> &first) {
  std::vector<std::string> seen;
  std::istringstream from(csv);
  for (std::string line, word; std::getline(from, line);) {
    std::istringstream words(line);
    std::vector<std::string> all;
    while (std::getline(words, word, ','))
      all.push_back(word);
    if (all.size() != 7 || all[2] != "left")
      continue;
    const auto chain = weft::rt::left_of_word(std::strtoull(all[5].c_str(), nullptr, 10));
    seen.push_back(all[4] + " " + std::to_string(chain.callers) + " " +
                   std::to_string(chain.reason));
    first.insert(std::to_string(chain.first));
  }
  return seen;
}

std::string reason(weft::rt::waits_for why) { return " " + std::to_string(static_cast<int>(why)); }

} // namespace

TEST_F(traces, a_wait_of_a_coroutine_names_it_and_those_that_await_it) {
  for (const char *level : {"switch", "task", "graph"}) {
    in_child(settings(level), false, &run_coroutines);
    const auto csv = weft({"trace", "export", "--format", "csv", m_folder}).output;
    std::set<std::string> first; // of the chain
    const auto seen = waits_in(csv, first);
    const std::vector<std::string> expected{
        "(anonymous namespace)::waits_within 1" + reason(weft::rt::waits_for::event),
        "(anonymous namespace)::awaits_another 0" + reason(weft::rt::waits_for::nothing)}; // its turn
    EXPECT_EQ(seen, expected) << level << "\n" << csv;
    EXPECT_EQ(first.size(), 1u) << csv;
    const auto check = weft({"trace", "check", m_folder});
    EXPECT_TRUE(check.exited(0) && contains(check.output, "sound: ")) << check;
    const auto chrome = weft({"trace", "export", "--format", "chrome", m_folder}).output;
    EXPECT_TRUE(contains(chrome, "\"name\":\"(anonymous namespace)::awaits_another -> (anonymous "
                                 "namespace)::waits_within (event 0x"))
        << chrome;
    EXPECT_TRUE(contains(chrome, "\"name\":\"(anonymous namespace)::waits_within -> (anonymous "
                                 "namespace)::awaits_another\"")) // where it went on, at each level
        << chrome;
  }
}

TEST_F(traces, a_wait_of_a_coroutine_says_for_what) {
  test::environment one_worker = settings("graph"); // which runs nothing else until the coroutine has left
  one_worker.emplace_back("WEFT_WORKERS", "1");
  one_worker.emplace_back("WEFT_WATCH_MAX_SPARES", "0");
  in_child(one_worker, false, [] {
    weft::mutex m;
    weft::timed_mutex t;
    weft::condition_variable changed;
    m.lock();
    t.lock();
    auto waits = [&]() -> weft::task<void> {
      weft::spawn([&] { m.unlock(); });
      co_await m.async_lock();
      weft::spawn([&] { t.unlock(); });
      co_await t.async_lock();
      std::unique_lock lock(m, std::adopt_lock);
      weft::spawn([&] { changed.notify_one(); });
      co_await changed.async_wait(lock);
      weft::promise<void> p;
      weft::spawn([&p] { p.set_value(); });
      co_await p.get_future();
      weft::task_group group;
      group.spawn([] {});
      co_await weft::async_wait(group);
      group.spawn([] {});
      EXPECT_TRUE(co_await weft::async_wait_for(group, std::chrono::hours(1)));
      weft::spawn([] {});
      co_await weft::async_taskwait();
      weft::spawn([] {});
      EXPECT_TRUE(co_await weft::async_taskwait_for(std::chrono::hours(1)));
      co_await weft::this_task::async_sleep_for(std::chrono::microseconds(1));
    };
    waits().get();
  });
  std::set<std::string> first;
  std::vector<std::string> seen;
  for (const std::string &wait :
       waits_in(weft({"trace", "export", "--format", "csv", m_folder}).output, first))
    seen.push_back(wait.substr(wait.rfind(' ')));
  using weft::rt::waits_for;
  const std::vector<std::string> expected{
      reason(waits_for::lock),        reason(waits_for::mutex),    reason(waits_for::notification),
      reason(waits_for::end_of_task), reason(waits_for::group),    reason(waits_for::group),
      reason(waits_for::children),    reason(waits_for::children), reason(waits_for::nothing)};
  EXPECT_EQ(seen, expected);
}

TEST_F(traces, names_of_coroutines_are_described_while_the_program_runs_and_when_it_ends) {
  for (const bool killed : {false, true}) {
    in_child(settings("task"), killed, [this] {
      run_coroutines();
      EXPECT_TRUE(test::eventually([this] {
        return contains(read_all(weft::rt::description_path(m_folder)), "waits_within");
      }));
      run_deep_down(63);
      run_deep_down(64); // more than the record counts
    });
    std::set<std::string> first;
    std::vector<std::string> seen = waits_in(
        weft({"trace", "export", "--format", "csv", m_folder}).output, first);
    ASSERT_EQ(seen.size(), 4u);
    if (killed) // before the new ones were described
      for (std::string &wait : seen)
        if (wait.starts_with("coroutine 0x"))
          wait = "(anonymous namespace)::deep_down" + wait.substr(wait.find(' ', 10));
    const std::string by_event = reason(weft::rt::waits_for::event);
    const std::vector<std::string> expected{
        "(anonymous namespace)::waits_within 1" + by_event,
        "(anonymous namespace)::awaits_another 0" + reason(weft::rt::waits_for::nothing),
        "(anonymous namespace)::deep_down 64" + by_event, "(anonymous namespace)::deep_down 0" + by_event};
    EXPECT_EQ(seen, expected) << killed;
    EXPECT_TRUE(first.count("0")) << "of too many callers";
    EXPECT_EQ(first.size(), 3u);
  }
}

TEST_F(traces, what_a_killed_program_has_written_is_read_up_to_the_end) {
  in_child(settings("graph"), true, [] { run_tasks(7); });
  auto end = weft({"trace", "check", m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "has not ended its trace")) << end;
  EXPECT_GE(number_before(end.output, " tasks created"), 400u) << end;
  EXPECT_TRUE(contains(end.output, " + 0 live")) << end;
  const std::string whole = m_folder + "/whole";
  end = weft({"trace", "cut", "--output", whole, m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  end = weft({"trace", "check", whole});
  EXPECT_TRUE(end.exited(0)) << end;
  test::expect_babeltrace_reads(whole);
  EXPECT_FALSE(contains(end.output, "has not ended")) << end;
}

TEST_F(traces, tasks_that_live_are_counted_by_type) {
  in_child(settings("task"), true, [] {
    weft::spawn([] { weft::this_task::block(); }, weft::label("held"));
    for (int i = 0; i < 3; ++i)
      weft::spawn([] {}, weft::tracked, weft::label("free")).wait();
  });
  const auto end = weft({"trace", "check", m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  const tally held = tally_of(end.output, "held"), free = tally_of(end.output, "free");
  EXPECT_EQ(std::tuple(held.created, held.executed, held.live), std::tuple(1u, 0u, 1u)) << end;
  EXPECT_EQ(std::tuple(free.created, free.executed, free.live), std::tuple(3u, 3u, 0u)) << end;
  EXPECT_TRUE(contains(end.output, "4 tasks created = 3 executed + 1 live")) << end;
}

TEST_F(traces, a_stream_that_is_cut_off_is_read_up_to_there) {
  in_child(settings("graph"), false, [] {
    for (unsigned i = 0; i < 8; ++i)
      run_tasks(i);
  });
  const std::string stream = m_folder + "/w0000";
  struct stat st{};
  ASSERT_EQ(stat(stream.c_str(), &st), 0);
  std::uint64_t before = UINT64_MAX;
  for (const long rest : {st.st_size * 3 / 4, st.st_size / 2 + 5, st.st_size / 4 - 1,
                          50l}) { // amid records, amid the head of a packet
    ASSERT_EQ(truncate(stream.c_str(), rest), 0);
    auto end = weft({"trace", "info", m_folder});
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_TRUE(contains(end.output, "is cut off after")) << end;
    const auto records = number_before(end.output.substr(end.output.find("records")), ", ");
    EXPECT_LT(records, before) << rest;
    before = records;
    end = weft({"trace", "check", m_folder});
    EXPECT_TRUE(end.exited(0)) << rest << end;
    EXPECT_TRUE(contains(end.output, "sound as far as it goes")) << end;
    for (const char *format : {"csv", "chrome", "perfetto", "dot"})
      EXPECT_TRUE(
          weft({"trace", "export", "--format", format, "--output", m_folder + "/out", m_folder})
              .exited(0))
          << format << rest;
    EXPECT_TRUE(weft({"report", "--output", m_folder + "/page.html", m_folder}).exited(0)) << rest;
  }
}

TEST_F(traces, a_part_is_cut_out_by_time) {
  in_child(settings("graph"), false, [] {
    const auto stage = [](const char *name) {
      for (int i = 0; i < 100; ++i)
        weft::spawn([] {}, weft::label(name));
      weft::taskwait();
    };
    stage("early");
    usleep(20'000);
    stage("late");
  });
  std::istringstream lines(weft({"trace", "export", "--format", "csv", m_folder}).output);
  long long last_early = 0, first_late = 0;
  for (std::string line; std::getline(lines, line);)
    if (contains(line, ",early,"))
      last_early = std::stoll(line);
    else if (contains(line, ",late,") && first_late == 0)
      first_late = std::stoll(line);
  ASSERT_GT(first_late, last_early + 10'000'000);
  const std::string between = std::to_string((first_late + last_early) / 2000) + "us",
                    part = m_folder + "/part";
  const auto has = [&](const char *type) {
    return contains(weft({"trace", "info", part}).output, "\n" + std::string(type) + " ");
  };
  EXPECT_TRUE(weft({"trace", "cut", "--to", between, "--output", part, m_folder}).exited(0));
  EXPECT_TRUE(has("early") && !has("late"));
  test::expect_babeltrace_reads(part);
  EXPECT_TRUE(weft({"trace", "cut", "--from", between, "--to", "100s", "--output", part, m_folder})
                  .exited(0))
      << "an older part is replaced";
  EXPECT_TRUE(has("late") && !has("early"));
  EXPECT_TRUE(weft({"trace", "check", part}).exited(0));
  EXPECT_TRUE(weft({"trace", "cut", "--from", "soon", "--output", part, m_folder}).exited(2));
}

TEST_F(traces, run_writes_a_trace_of_the_level_that_is_asked_for) {
  for (const char *level : {"switch", "task", "graph", "runtime"}) {
    const std::string option = level == std::string("graph") ? "--trace"
                                                             : "--trace=" + std::string(level),
                      folder = m_folder + "/" + level;
    const auto end =
        weft({"run", option, "--set", "trace.dir=" + folder, "--", test::program_path(),
              "--gtest_filter=DISABLED_traces.a_program", "--gtest_also_run_disabled_tests"});
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_TRUE(
        contains(weft({"trace", "info", folder}).output, "level      " + std::string(level) + ","))
        << level;
    test::expect_babeltrace_reads(folder);
  }
}

TEST(DISABLED_traces, a_program) { run_tasks(9); }

TEST_F(traces, context_switches_are_seen_without_privilege) {
  ASSERT_EQ(chmod(m_folder.c_str(), 0777), 0);
  auto s = settings("task");
  s.emplace_back("WEFT_TRACE_KERNEL", "true");
  s.emplace_back("WEFT_CONFIG", ""); // the user `nobody` may be unable to read that of this user
  in_child(s, false, [] {
    const bool is_root = getuid() == 0;
    if (is_root && (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0 ||
                    prctl(PR_SET_DUMPABLE, 1) != 0))
      std::abort();
    for (int i = 0; i < 20; ++i) {
      weft::spawn([] { usleep(1000); }, weft::label("sleeps in the kernel"));
      weft::taskwait();
    }
  });
  const auto end = weft({"trace", "info", m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  if (contains(end.output, "kernel     nothing: perf_event_open"))
    GTEST_SKIP() << "the system does not show context switches to everybody";
  ASSERT_TRUE(contains(end.output, "switched_out")) << end;
  EXPECT_GE(number_before(end.output.substr(end.output.find("switched_out")), "\n"), 20u) << end;
  EXPECT_FALSE(contains(end.output, "\n  replaced ")) << "that takes privilege: " << end;
  EXPECT_TRUE(weft({"trace", "check", m_folder}).exited(0));
}

namespace {

std::int64_t system_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

double number_behind(const std::string &text, const std::string &key) {
  const auto at = text.find(key);
  EXPECT_NE(at, std::string::npos) << key << " is missing in " << text;
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + key.size(), nullptr);
}

} // namespace

TEST_F(traces, times_are_those_of_the_program) {
  struct moments {
    std::int64_t realtime, monotonic;
  };
  // Each record lies between two of them: a thread may get no processor for long beside one.
  auto *const seen = static_cast<moments *>(mmap(
      nullptr, 4 * sizeof(moments), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  in_child(settings("task"), false, [seen] {
    const auto now = [] { return moments{system_ns(CLOCK_REALTIME), system_ns(CLOCK_MONOTONIC)}; };
    usleep(30'000);
    seen[0] = now();
    weft::spawn([&] { seen[1] = now(), usleep(20'000), seen[2] = now(); }, weft::label("marked"));
    weft::taskwait();
    seen[3] = now();
    usleep(30'000);
  });
  std::istringstream lines(weft({"trace", "export", "--format", "csv", m_folder}).output);
  std::int64_t at[2] = {};
  for (std::string line; std::getline(lines, line);)
    if (contains(line, ",marked,") && (contains(line, ",begin,") || contains(line, ",end,")))
      at[contains(line, ",end,")] = std::stoll(line); // since the trace began
  ASSERT_GT(at[1], at[0]);
  const std::string own = read_all(m_folder + "/.weft"), ctf = read_all(m_folder + "/metadata");
  const long double frequency = std::stoull(own.substr(own.find("\nfrequency ") + 11));
  const auto ticks = [&](const char *key) {
    return static_cast<long double>(std::stoull(own.substr(own.find(key) + std::strlen(key))));
  };
  EXPECT_EQ(number_behind(ctf, "freq = "), static_cast<double>(frequency));
  static constexpr double k_slack = 5e6; // of a clock that is being set right
  const auto expect_between = [](long double ns, std::int64_t first, std::int64_t last) {
    EXPECT_GE(static_cast<double>(ns - static_cast<long double>(first)), -k_slack);
    EXPECT_LE(static_cast<double>(ns - static_cast<long double>(last)), k_slack);
  };
  for (int i : {0, 1}) {
    const moments &before = seen[2 * i], &behind = seen[2 * i + 1];
    SCOPED_TRACE(std::to_string(i) + ctf + own);
    const long double record =
        ticks("\nfirst ") + static_cast<long double>(at[i]) * frequency / 1e9L;
    const long double by_readers =
        (number_behind(ctf, "offset_s = ") +
         (static_cast<long double>(number_behind(ctf, "offset = ")) + record) / frequency) *
        1e9L;
    expect_between(by_readers, before.realtime, behind.realtime);
    const long double monotonic =
        ticks("\nmonotonic ") + (record - ticks("\nticks ")) / frequency * 1e9L;
    expect_between(monotonic, before.monotonic, behind.monotonic);
    const long double realtime =
        ticks("\nrealtime ") + (record - ticks("\nticks ")) / frequency * 1e9L;
    expect_between(realtime, before.realtime, behind.realtime);
  }
  munmap(seen, 4 * sizeof(moments));
}

TEST_F(traces, discarded_records_are_counted_exactly) {
  auto s = settings("graph", "flight");
  s.emplace_back("WEFT_TRACE_BUFFER", "256KiB");
  s.emplace_back("WEFT_WORKERS", "1");
  s.emplace_back("WEFT_WATCH_MAX_SPARES", "0"); // a spare would have records of its own
  in_child(s, false, [] {
    for (int i = 0; i < 20000; ++i) {
      weft::spawn([] {});
      weft::taskwait();
    }
  });
  const auto end = weft({"trace", "info", m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto line = end.output.substr(end.output.find("records"));
  // root; create, suspend, begin, end, resume and waited of each; five counters
  EXPECT_EQ(number_before(line, ", ") + number_before(line, " discarded"), 1 + 6 * 20000u + 5)
      << end;
}

TEST_F(traces, a_child_of_fork_leaves_the_trace_of_its_parent_alone) {
  in_child(settings("task"), false, [] {
    run_tasks(1);
    const pid_t child = fork();
    if (child == 0) {
      run_tasks(2);
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(status == 0 || test::k_thread_sanitized || test::k_emulated)
        << status; // which end a child of fork that starts threads
    run_tasks(3);
  });
  const auto end = weft({"trace", "check", m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "as the counters say")) << end;
}

TEST_F(traces, exporters_write_what_their_readers_expect) {
  in_child(settings("graph"), false, [] { run_tasks(5); });
  auto end = weft(
      {"trace", "export", "--format", "chrome", "--output", m_folder + "/../x.json", m_folder});
  const std::string base = m_folder.substr(0, m_folder.rfind('/'));
  EXPECT_TRUE(end.exited(0)) << end;
  end = test::run(
      {"/usr/bin/env", "python3", "-c",
       "import json,sys; d=json.load(open(sys.argv[1])); print(sum(e.get('cat')=='task' for e in d['traceEvents'])>=400)",
       base + "/x.json"},
      {});
  EXPECT_TRUE(contains(end.output, "True")) << end;
  unlink((base + "/x.json").c_str());
  end = weft({"trace", "export", "--format", "paraver", "--output", base + "/x", m_folder});
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *part : {".prv", ".pcf", ".row"}) {
    EXPECT_EQ(access((base + "/x" + part).c_str(), R_OK), 0) << part;
    unlink((base + "/x" + part).c_str());
  }
  EXPECT_TRUE(contains(weft({"trace", "export", "--format", "dot", m_folder}).output, " -> "));
  EXPECT_TRUE(contains(weft({"trace", "export", "--format", "csv", m_folder}).output,
                       ",0,root,1,main,0,0\n"));
}

TEST_F(traces, perfetto_gets_the_slices_that_chrome_gets) {
  in_child(settings("graph"), false, [] {
    run_tasks(6);
    run_coroutines();
  });
  for (const char *format : {"perfetto", "chrome"})
    ASSERT_TRUE(
        weft({"trace", "export", "--format", format, "--output", m_folder + "/" + format, m_folder})
            .exited(0));
  const auto seen = slices_of_perfetto(read_all(m_folder + "/perfetto")),
             expected = slices_of_json(read_all(m_folder + "/chrome"));
  EXPECT_GT(expected.size(), 5u);
  const auto known = expected.lower_bound("(anonymous namespace)::awaits_another -> (anonymous namespace)::waits_within (event 0x");
  ASSERT_NE(known, expected.end());
  EXPECT_TRUE(contains(known->first, "waits_within (event 0x")) << known->first;
  EXPECT_EQ(seen.size(), expected.size());
  for (const auto &[name, e] : expected) {
    EXPECT_EQ(seen.count(name), 1u) << name;
    EXPECT_EQ(seen.at(name).count, e.count) << name;
    EXPECT_NEAR(seen.at(name).us, e.us, 1e-3 * e.count) << name;
  }
}

TEST_F(traces, regions_are_linked_where_they_overlap) {
  static char data[256];
  in_child(settings("graph"), false, [] {
    const auto part = [](int from, int bytes) { return weft::region(data).span(from, bytes); };
    weft::spawn([] {}, weft::inout(part(0, 64)), weft::label("low"));
    weft::spawn([] {}, weft::inout(part(128, 64)), weft::label("high"));
    weft::spawn([] {}, weft::inout(part(32, 128)),
                weft::label("both")); // behind both, and begins where neither does
    weft::spawn([] {}, weft::inout(part(192, 32)), weft::label("apart"));
    weft::spawn([] {}, weft::in(part(40, 8)), weft::label("within"));
    weft::taskwait();
  });
  const auto end = weft({"trace", "export", "--format", "dot", m_folder});
  std::map<std::string, std::string> name_of; // by node
  std::vector<std::pair<std::string, std::string>> links;
  std::istringstream lines(end.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string from, arrow, to;
    words >> from >> arrow >> to;
    to = to.substr(0, to.find_first_of(";["));
    if (arrow == "->" && line.find("dotted") == std::string::npos)
      links.emplace_back(from, to);
    for (const char *name : {"low", "high", "both", "apart", "within"})
      if (arrow != "->" && line.find('"' + std::string(name)) != std::string::npos)
        name_of[from] = name;
  }
  std::set<std::string> edges;
  for (const auto &[from, to] : links)
    edges.insert(name_of[from] + " " + name_of[to]);
  EXPECT_TRUE(edges.count("low both")) << end;
  EXPECT_TRUE(edges.count("high both")) << end;
  EXPECT_TRUE(edges.count("both within")) << end;
  EXPECT_FALSE(edges.count("low within")) << "by way of the one in between\n" << end;
  for (const std::string &e : edges)
    EXPECT_EQ(e.find("apart"), std::string::npos) << e;
}

TEST_F(traces, what_is_no_trace_is_said_to_be_none) {
  auto end = weft({"trace", "check", "/etc"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "'/etc' holds no trace of Weft")) << end;
  end = weft({"trace", "chekc", m_folder});
  EXPECT_TRUE(end.exited(2)) << end;
  EXPECT_TRUE(contains(end.output, "did you mean 'check'?")) << end;
  end = weft({"run", "--trace=grap", "--", "/bin/true"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "graph")) << end;
}
