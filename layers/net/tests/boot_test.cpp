// SPDX-License-Identifier: Apache-2.0
// Where ranks meet: what is let in and what is refused, and what the environment says.
#include "boot_calls.hpp"

#include "weft_net/boot/address.hpp"
#include "weft_net/boot/member.hpp"
#include "weft_net/boot/place.hpp"
#include "weft_net/boot/pmi.hpp"
#include "weft_net/boot/rendezvous.hpp"
#include "weft_net/boot/report.hpp"
#include "weft_net/engine/mpi_name.hpp"

#include <weft/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// Is MPI's, as the process finds it: a variable says whether MPI is initialized.
int g_is_mpi_initialized = 0;
extern "C" int MPI_Initialized(int *is_initialized) {
  *is_initialized = g_is_mpi_initialized;
  return 0;
}

namespace {

using namespace weft_net;
using net_test::line_of_a_process;
using net_test::why_not;

TEST(boot, the_proof_is_that_of_the_paper) {
  job_key key{{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
  std::string bytes;
  for (char c = 0; c < 15; ++c)
    bytes += c;
  EXPECT_EQ(mac_of(key, bytes), 0xa129ca6149be45e5); // appendix A
  EXPECT_NE(mac_of(key, bytes.substr(1)), mac_of(key, bytes));
}

TEST(boot, a_key_is_32_digits) {
  const job_key key = random_key();
  const std::string text = text_of(key);
  EXPECT_EQ(text.size(), 32U);
  EXPECT_EQ(key_of(text).words[0], key.words[0]);
  EXPECT_EQ(key_of(text).words[1], key.words[1]);
  for (const std::string &wrong : {std::string(), text.substr(1), text + "0", "x" + text.substr(1)})
    EXPECT_THROW(static_cast<void>(key_of(wrong)), std::runtime_error) << wrong;
}

/// Is the place to meet, in a thread.
class meeting_place : rendezvous::listener {
 public:
  meeting_place(int size, const job_key &key)
      : m_root("127.0.0.1", 0, size, key, *this), m_thread([this] {
          while (!m_ends) {
            m_root.step(20);
            tell_losses();
          }
        }) {}
  ~meeting_place() override {
    m_ends = true;
    m_thread.join();
  }
  [[nodiscard]] endpoint at() const { return {"127.0.0.1", std::to_string(m_root.port())}; }
  [[nodiscard]] std::vector<std::string> events() {
    const std::lock_guard guard(m_lock);
    return m_events;
  }
  /// Reports a loss from outside, when so many ranks have joined.
  void lose(int rank, const std::string &why, int joined) {
    const std::lock_guard guard(m_lock);
    m_losses.push_back({rank, joined, why});
  }
  /// Waits until an event holds the text. Returns it; "" after a minute.
  std::string wait_for(const std::string &part) {
    for (int i = 0; i < 6000; ++i) {
      for (const std::string &e : events())
        if (e.find(part) != std::string::npos)
          return e;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }

 private:
  struct loss {
    int rank, joined;
    std::string why;
  };

  void tell_losses() {
    std::vector<loss> all;
    {
      const std::lock_guard guard(m_lock);
      all.swap(m_losses);
    }
    for (const loss &one : all)
      if (m_root.joined() >= one.joined)
        m_root.lose(one.rank, one.why);
      else
        lose(one.rank, one.why, one.joined);
  }
  void note(const std::string &what) {
    const std::lock_guard guard(m_lock);
    m_events.push_back(what);
  }
  void all_joined(const std::vector<member_info> &all) override {
    note("all " + std::to_string(all.size()));
  }
  void lost(int rank, const std::string &why) override {
    note("lost " + std::to_string(rank) + ": " + why);
  }
  void left(int rank) override { note("left " + std::to_string(rank)); }
  void refused(const std::string &why) override { note("refused " + why); }
  void stalled(int first, const std::vector<std::string> &reports) override {
    note(stall_report(first, reports));
  }

  std::mutex m_lock;
  std::vector<std::string> m_events;
  std::vector<loss> m_losses;
  std::atomic<bool> m_ends{false};
  rendezvous m_root;
  std::thread m_thread;
};

member_info info_of(const std::string &address) {
  member_info made = own_info();
  made.engine = "test";
  made.address = address;
  return made;
}

/// Is a rank that notes what comes.
struct test_member : member::listener {
  test_member(const endpoint &root, int rank, int size, const job_key &key)
      : test_member(root, rank, size, key, "address " + std::to_string(rank)) {}
  test_member(const endpoint &root, int rank, int size, const job_key &key,
              const std::string &address)
      : self(root, rank, size, key, info_of(address), 60) {
    self.start(*this);
  }
  ~test_member() override { self.stop(); }
  void lost(int rank, const std::string &why) override {
    const std::lock_guard guard(lock);
    all.push_back("lost " + std::to_string(rank) + ": " + why);
  }
  void root_lost(const std::string &why) override {
    const std::lock_guard guard(lock);
    all.push_back("root lost: " + why);
  }
  std::string report() override {
    if (finds_out_as_well)
      self.send_report("has found out by itself\n");
    return "waits for the test\nand for nothing else\n";
  }
  std::string wait() {
    for (int i = 0; i < 6000; ++i) {
      {
        const std::lock_guard guard(lock);
        if (!all.empty())
          return all[0];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }
  std::atomic<bool> finds_out_as_well{false};
  std::mutex lock;
  std::vector<std::string> all;
  member self;
};

using members = std::vector<std::unique_ptr<test_member>>;

members join_all(meeting_place &root, int size, const job_key &key) {
  std::vector<std::future<std::unique_ptr<test_member>>> joining;
  for (int r = 0; r < size; ++r)
    joining.push_back(std::async(std::launch::async, [&root, r, size, &key] {
      return std::make_unique<test_member>(root.at(), r, size, key);
    }));
  members made;
  for (auto &one : joining)
    made.push_back(one.get());
  return made;
}

TEST(boot, ranks_meet_and_leave) {
  const job_key key = random_key();
  meeting_place root(3, key);
  auto all = join_all(root, 3, key);
  for (const auto &one : all) {
    ASSERT_EQ(one->self.all().size(), 3U);
    for (std::size_t r = 0; r < 3; ++r)
      EXPECT_EQ(one->self.all()[r].address, "address " + std::to_string(r));
    EXPECT_EQ(one->self.all()[0].pid, static_cast<std::uint64_t>(getpid()));
  }
  for (int r = 0; r < 3; ++r) {
    all[static_cast<std::size_t>(r)]->self.leave();
    EXPECT_NE(root.wait_for("left " + std::to_string(r)), "");
  }
  all.clear();
  for (const std::string &e : root.events())
    EXPECT_EQ(e.find("lost"), std::string::npos) << e;
}

// As the descriptions of some thousand ranks are, and with one that fills a packet alone.
TEST(boot, descriptions_that_fill_several_packets_come_whole) {
  const job_key key = random_key();
  meeting_place root(5, key);
  const std::size_t most = channel::k_most_bytes - 500; // of a packet, beside the other fields
  const std::size_t sizes[] = {600'000, 600'000, 10, most, 20};
  std::vector<std::future<std::unique_ptr<test_member>>> joining;
  for (int r = 0; r < 5; ++r)
    joining.push_back(std::async(std::launch::async, [&, r] {
      const std::string address(sizes[r], static_cast<char>('a' + r));
      return std::make_unique<test_member>(root.at(), r, 5, key, address);
    }));
  for (auto &one : joining) {
    const auto member = one.get();
    ASSERT_EQ(member->self.all().size(), 5U);
    for (std::size_t r = 0; r < 5; ++r)
      EXPECT_TRUE(member->self.all()[r].address ==
                  std::string(sizes[r], static_cast<char>('a' + r)))
          << r;
    member->self.leave();
  }
}

TEST(boot, a_rank_that_goes_without_a_word_is_lost_to_the_others) {
  const job_key key = random_key();
  meeting_place root(3, key);
  auto all = join_all(root, 3, key);
  all[1].reset();
  EXPECT_NE(root.wait_for("lost 1").find("the connection"), std::string::npos);
  EXPECT_EQ(all[0]->wait().substr(0, 6), "lost 1");
  EXPECT_EQ(all[2]->wait().substr(0, 6), "lost 1");
}

TEST(boot, a_clock_is_compared_with_that_of_the_place_to_meet) {
  const job_key key = random_key();
  meeting_place root(2, key);
  auto elsewhere = std::async(std::launch::async, [&] {
    member_info info = info_of("a");
    info.system = "another one";
    member one(root.at(), 0, 2, key, info, 60);
    const auto offset = one.measure_clock(60);
    // The clocks are one in truth: it lies within what is uncertain, and each of the eight was asked.
    EXPECT_GT(offset.uncertain_ns, 0U);
    EXPECT_LE(static_cast<std::uint64_t>(std::llabs(offset.ns)), offset.uncertain_ns);
    one.leave();
  });
  member here(root.at(), 1, 2, key, info_of("b"), 60);
  const auto none = here.measure_clock(60);
  EXPECT_EQ(none.ns, 0);
  EXPECT_EQ(none.uncertain_ns, 0U);
  here.leave();
  elsewhere.get();
}

TEST(boot, a_loss_while_clocks_are_compared_is_told_when_the_rank_listens) {
  const job_key key = random_key();
  meeting_place root(2, key);
  auto other = std::async(std::launch::async, [&] {
    member(root.at(), 1, 2, key, info_of("b"), 60); // goes at once
  });
  struct : member::listener {
    void lost(int rank, const std::string &) override { is_lost.set_value(rank); }
    void root_lost(const std::string &) override {}
    std::string report() override { return ""; }
    std::promise<int> is_lost;
  } listens;
  member one(root.at(), 0, 2, key, info_of("a"), 60);
  other.get();
  EXPECT_NE(root.wait_for("lost 1"), "");
  static_cast<void>(one.measure_clock(60));
  one.start(listens);
  EXPECT_EQ(listens.is_lost.get_future().get(), 1);
  one.leave();
}

TEST(boot, the_loss_of_the_place_to_meet_is_told) {
  const job_key key = random_key();
  auto root = std::make_unique<meeting_place>(2, key);
  auto all = join_all(*root, 2, key);
  root.reset();
  EXPECT_EQ(all[0]->wait().substr(0, 9), "root lost");
  EXPECT_EQ(all[1]->wait().substr(0, 9), "root lost");
}

TEST(boot, one_report_makes_all_report) {
  const job_key key = random_key();
  meeting_place root(3, key);
  auto all = join_all(root, 3, key);
  all[1]->self.send_report("waits for rank 2\n");
  const std::string report = root.wait_for("net.stall");
  EXPECT_EQ(report, "weft: warning: nothing arrives at rank 1, which waits (net.stall); the ranks "
                    "wait for this:\n"
                    "weft: warning:   rank 0 waits for the test\n"
                    "weft: warning:   rank 0 and for nothing else\n"
                    "weft: warning:   rank 1 waits for rank 2\n"
                    "weft: warning:   rank 2 waits for the test\n"
                    "weft: warning:   rank 2 and for nothing else\n");
}

TEST(boot, ranks_that_find_out_at_once_make_one_report) {
  const job_key key = random_key();
  meeting_place root(3, key);
  auto all = join_all(root, 3, key);
  all[2]->finds_out_as_well = true;
  const auto reports = [&root] {
    std::vector<std::string> those;
    for (const std::string &e : root.events())
      if (e.find("net.stall") != std::string::npos)
        those.push_back(e);
    return those;
  };
  for (std::size_t round = 1; round <= 3; ++round) {
    all[round % 2]->self.send_report("waits for rank 2\n");
    for (int i = 0; i < 6000 && reports().size() < round; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_EQ(reports().size(), round);
    const std::string last = reports().back(); // another one of the last round would be of rank 2
    EXPECT_NE(last.find("nothing arrives at rank " + std::to_string(round % 2)), std::string::npos)
        << last;
    EXPECT_NE(last.find("rank 2 waits for the test\n"), std::string::npos) << last;
  }
}

std::string why_refused(meeting_place &root, int rank, int size, const job_key &key,
                        const std::string &engine = "test") {
  try {
    member_info info = info_of("x");
    info.engine = engine;
    member one(root.at(), rank, size, key, info, 60);
    return "it was let in";
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

/// Is a connection of bytes, good or bad.
class raw {
 public:
  explicit raw(const endpoint &to) : m_line(connect_to(to, 10)) {}
  ~raw() { close(m_line); }
  raw(const raw &) = delete;
  raw &operator=(const raw &) = delete;
  void send(const std::string &bytes) const {
    ASSERT_EQ(::send(m_line, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void finish() const { shutdown(m_line, SHUT_WR); }
  /// Returns all that comes until the other side closes.
  [[nodiscard]] std::string rest() const {
    std::string all;
    char some[4096];
    for (ssize_t got; (got = recv(m_line, some, sizeof some, 0)) > 0;)
      all.append(some, static_cast<std::size_t>(got));
    return all;
  }
  [[nodiscard]] int line() const { return m_line; }

 private:
  int m_line;
};

/// Returns the bytes that a rank would send to join, and the hello that they answer.
std::string bytes_of_join(const std::string &hello_payload, const job_key &key, int rank, int size,
                          std::string *after = nullptr) {
  int pair[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  channel self(pair[0], channel::side::rank, key);
  reader from(hello_payload);
  job_key theirs;
  theirs.words[0] = from.number();
  theirs.words[1] = from.number();
  const job_key mine = random_key();
  self.set_numbers(theirs, mine);
  writer join;
  join.number(mine.words[0]);
  join.number(mine.words[1]);
  join.number(static_cast<std::uint64_t>(rank));
  join.number(static_cast<std::uint64_t>(size));
  write_info(join, info_of("raw"));
  const auto sent = [&] {
    char some[65536];
    return std::string(some, static_cast<std::size_t>(recv(pair[1], some, sizeof some, 0)));
  };
  self.send(packet_kind::join, join.bytes());
  std::string bytes = sent();
  if (after) {
    self.send(packet_kind::beat);
    *after = sent();
  }
  close(pair[1]);
  return bytes;
}

std::string hello_of(const raw &line) {
  std::string all(24 + 24, '\0'); // head and payload
  EXPECT_EQ(recv(line.line(), all.data(), all.size(), MSG_WAITALL),
            static_cast<ssize_t>(all.size()));
  return all.substr(24);
}

TEST(boot, who_does_not_belong_to_the_job_is_refused_by_name) {
  const job_key key = random_key();
  meeting_place root(2, key);
  EXPECT_NE(why_refused(root, 0, 2, random_key()).find("key (net.key)"), std::string::npos);
  EXPECT_NE(why_refused(root, 0, 3, key).find("says that the job has 3 ranks"), std::string::npos);
  EXPECT_NE(why_refused(root, 2, 2, key).find("ranks are 0 to 1 (net.rank)"), std::string::npos);
  // What this connection has sent is read before what comes on a later one.
  const raw first(root.at());
  first.send(bytes_of_join(hello_of(first), key, 0, 2));
  EXPECT_NE(why_refused(root, 0, 2, key).find("has joined already"), std::string::npos);
  EXPECT_NE(why_refused(root, 1, 2, key, "other").find("has the engine other"), std::string::npos);
  const test_member second(root.at(), 1, 2, key);
  EXPECT_EQ(second.self.all().size(), 2U);
}

TEST(boot, a_rank_lost_before_all_have_joined_is_told_to_all) {
  const job_key key = random_key();
  meeting_place root(3, key);
  const raw early(root.at());
  early.send(bytes_of_join(hello_of(early), key, 1, 3));
  early.finish();
  EXPECT_NE(root.wait_for("lost 1: the connection has ended"), "");
  std::vector<std::future<std::string>> others;
  for (const int r : {0, 2})
    others.push_back(std::async(std::launch::async, [&root, &key, r] {
      return std::make_unique<test_member>(root.at(), r, 3, key)->wait();
    }));
  for (auto &one : others)
    EXPECT_EQ(one.get(), "lost 1: the connection has ended");
  const auto events = root.events();
  EXPECT_EQ(std::ranges::count(events, "lost 1: the connection has ended"), 1);
}

TEST(boot, a_rank_lost_before_it_has_joined_ends_the_meeting) {
  const job_key key = random_key();
  meeting_place root(3, key);
  const auto why = [&root, &key](int rank) {
    try {
      member one(root.at(), rank, 3, key, info_of("x"), 60);
      return std::string("it was let in");
    } catch (const std::runtime_error &e) {
      return std::string(e.what());
    }
  };
  auto waits = std::async(std::launch::async, [&why] { return why(0); });
  root.lose(1, "it is broken", 1);
  EXPECT_EQ(waits.get(),
            "the job refuses this process: rank 1 is lost, and has not joined: it is broken");
  EXPECT_EQ(why(2),
            "the job refuses this process: rank 1 is lost, and has not joined: it is broken");
  EXPECT_EQ(root.events(), (std::vector<std::string>{"lost 1: it is broken"}));
}

/// Is a place to meet that one rank has reached, with a word for each packet.
class scripted_root {
 public:
  explicit scripted_root(const job_key &key)
      : m_key(key), m_listens(listen_on("127.0.0.1", m_port)) {}
  scripted_root(const scripted_root &) = delete;
  scripted_root &operator=(const scripted_root &) = delete;
  ~scripted_root() { close(m_listens); }
  [[nodiscard]] endpoint at() const { return {"127.0.0.1", std::to_string(m_port)}; }

  void let_in() {
    m_line.emplace(accept(m_listens, nullptr, nullptr), channel::side::root, m_key);
    const job_key mine = random_key();
    writer hello;
    hello.number(mine.words[0]);
    hello.number(mine.words[1]);
    hello.number(k_boot_version);
    m_line->send(packet_kind::hello, hello.bytes());
    wait([this] { return m_line->peek().has_value(); });
    const std::string join = m_line->peek()->payload;
    reader from(join);
    job_key theirs;
    theirs.words[0] = from.number();
    theirs.words[1] = from.number();
    m_line->set_numbers(mine, theirs);
    EXPECT_EQ(m_line->next()->kind, packet_kind::join);
  }
  void say(packet_kind kind, const std::string &text = {}) { m_line->send(kind, text); }
  /// Returns what comes, within a minute.
  std::optional<packet_kind> hear() {
    std::optional<packet> come;
    wait([&] { return (come = m_line->next()).has_value(); });
    return come ? std::optional(come->kind) : std::nullopt;
  }

 private:
  template <class Holds>
  void wait(Holds &&holds) {
    pollfd waits{m_line->descriptor(), POLLIN, 0};
    while (!holds() && poll(&waits, 1, 60'000) == 1)
      m_line->read_some();
  }

  const job_key m_key;
  int m_port = 0;
  const int m_listens;
  std::optional<channel> m_line;
};

TEST(boot, a_rank_that_waits_for_the_others_answers_each_beat) {
  const job_key key = random_key();
  scripted_root root(key);
  auto joins = std::async(std::launch::async, [&] {
    return member(root.at(), 0, 1, key, info_of("x"), 100).all().size();
  });
  root.let_in();
  for (int i = 0; i < 3; ++i) {
    root.say(packet_kind::beat);
    EXPECT_EQ(root.hear(), packet_kind::beat);
  }
  writer table;
  write_info(table, info_of("x"));
  root.say(packet_kind::table, table.bytes());
  EXPECT_EQ(joins.get(), 1U);
}

TEST(boot, beats_do_not_prolong_the_wait_for_the_others) {
  const job_key key = random_key();
  scripted_root root(key);
  auto joins = std::async(std::launch::async, [&]() -> std::string {
    try {
      member(root.at(), 0, 2, key, info_of("x"), 3);
      return "it was let in";
    } catch (const std::runtime_error &e) {
      return e.what();
    }
  });
  root.let_in();
  try {
    for (int i = 0; i < 3000; ++i) { // until the rank closes the connection
      root.say(packet_kind::beat);
      poll(nullptr, 0, 10);
    }
    ADD_FAILURE() << "the rank waits on";
  } catch (const channel_error &) {
  }
  EXPECT_EQ(joins.get(), "rank 0 has waited for 3 s for the other ranks of the job to join; all 2 "
                         "must be started");
}

TEST(boot, damaged_and_forged_packets_are_refused_and_the_job_goes_on) {
  const job_key key = random_key();
  meeting_place root(2, key);
  {
    const raw garbage(root.at());
    garbage.send("GET / HTTP/1.0\r\n\r\n");
    EXPECT_NE(garbage.rest().find("no packet of Weft"), std::string::npos);
  }
  {
    const raw cut(root.at());
    const std::string join = bytes_of_join(hello_of(cut), key, 0, 2);
    cut.send(join.substr(0, join.size() - 5));
    cut.finish();
    EXPECT_NE(cut.rest().find("the connection has ended"), std::string::npos);
  }
  {
    const raw forged(root.at());
    std::string join = bytes_of_join(hello_of(forged), key, 0, 2);
    join[join.size() - 1] = static_cast<char>(join[join.size() - 1] ^ 1);
    forged.send(join);
    EXPECT_NE(forged.rest().find("does not prove"), std::string::npos);
  }
  {
    const raw huge(root.at());
    std::string join = bytes_of_join(hello_of(huge), key, 0, 2);
    join[11] = '\x7f'; // the highest byte of its length
    huge.send(join);
    EXPECT_NE(huge.rest().find("is damaged"), std::string::npos);
  }
  std::string replayed;
  {
    const raw first(root.at());
    replayed = bytes_of_join(hello_of(first), key, 1, 3); // of the wrong size: refused, but proven
    first.send(replayed);
    EXPECT_NE(first.rest().find("says that the job has 3"), std::string::npos);
    const raw second(root.at());
    static_cast<void>(hello_of(second));
    second.send(replayed);
    EXPECT_NE(second.rest().find("does not prove"), std::string::npos)
        << "the number of the connection is another one";
  }
  auto all = join_all(root, 2, key);
  EXPECT_EQ(all[0]->self.all().size(), 2U);
}

TEST(boot, a_packet_that_comes_twice_ends_the_connection_of_its_rank) {
  const job_key key = random_key();
  meeting_place root(2, key);
  const raw line(root.at());
  std::string beat;
  const std::string join = bytes_of_join(hello_of(line), key, 0, 2, &beat);
  line.send(join);
  line.send(beat);
  line.send(beat);
  EXPECT_NE(root.wait_for("lost 0").find("came twice"), std::string::npos);
}

TEST(boot, connections_that_never_join_do_not_keep_ranks_out) {
  const job_key key = random_key();
  meeting_place root(2, key);
  std::vector<std::unique_ptr<raw>> silent;
  for (int i = 0; i < 40; ++i)
    silent.push_back(std::make_unique<raw>(root.at()));
  auto all = join_all(root, 2, key);
  EXPECT_EQ(all[1]->self.all().size(), 2U);
}

TEST(boot, each_wrong_address_has_its_message) {
  const auto has = [](const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(why_not([] { static_cast<void>(endpoint_of("node1")); }), "is no HOST:PORT (net.root)");
  has(why_not([] { static_cast<void>(endpoint_of("node1:0")); }), "is no port (net.root)");
  has(why_not([] { static_cast<void>(endpoint_of("node1:70x")); }), "'70x' in 'node1:70x'");
  has(why_not([] { static_cast<void>(connect_to({"no-such-host.invalid", "1"}, 1)); }),
      "the host 'no-such-host.invalid' is not known");
  int port = 0;
  const int held = listen_on("127.0.0.1", port);
  EXPECT_GT(port, 0);
  has(why_not([&port] {
        int same = port;
        static_cast<void>(listen_on("127.0.0.1", same));
      }),
      "is in use");
  close(held);
  has(why_not([&port] { static_cast<void>(connect_to({"127.0.0.1", std::to_string(port)}, 1)); }),
      "no process listens at 127.0.0.1:" + std::to_string(port));
  has(why_not([] {
        int any = 0;
        static_cast<void>(listen_on("192.0.2.1", any));
      }),
      "'192.0.2.1' is no address of this host");
  EXPECT_EQ(address_of_interface("lo"), "127.0.0.1");
  EXPECT_EQ(address_of_interface("no-such-interface"), "");
  EXPECT_TRUE(is_loopback("127.0.0.1") && is_loopback("localhost") && !is_loopback("10.0.0.1"));
}

// ---- the environment

std::optional<membership> place_in(const std::map<std::string, std::string> &settings,
                                   const std::map<std::string, std::string> &variables) {
  return find_membership({[&](const char *name) {
                            const auto found = settings.find(name);
                            return found == settings.end() ? std::string() : found->second;
                          },
                          [&](const char *name) -> const char * {
                            const auto found = variables.find(name);
                            return found == variables.end() ? nullptr : found->second.c_str();
                          }});
}

TEST(boot, the_environment_says_which_rank_this_is) {
  EXPECT_FALSE(place_in({}, {}).has_value());
  EXPECT_FALSE(place_in({{"size", "4"}}, {}).has_value()) << "ranks of one process";
  const auto ours = place_in({{"root", "a:1"}, {"rank", "2"}, {"size", "4"}, {"key", "k"}},
                             {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}});
  ASSERT_TRUE(ours.has_value());
  EXPECT_EQ(ours->rank, 2);
  EXPECT_EQ(ours->size, 4);
  EXPECT_EQ(ours->meet, meeting::given);

  const auto open_mpi = place_in({}, {{"OMPI_COMM_WORLD_RANK", "1"},
                                      {"OMPI_COMM_WORLD_SIZE", "3"},
                                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                                      {"PMIX_NAMESPACE", "123@1"}});
  ASSERT_TRUE(open_mpi.has_value());
  EXPECT_EQ(open_mpi->rank, 1);
  EXPECT_EQ(open_mpi->meet, meeting::one_host);
  EXPECT_EQ(open_mpi->launcher, "mpirun (Open MPI)");
  const auto two_hosts = place_in({}, {{"OMPI_COMM_WORLD_RANK", "1"},
                                       {"OMPI_COMM_WORLD_SIZE", "3"},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                       {"PMIX_NAMESPACE", "123@1"},
                                       {"PMIX_RANK", "1"}});
  ASSERT_TRUE(two_hosts.has_value());
  EXPECT_EQ(two_hosts->meet, meeting::site_store);

  const auto slurm = place_in({}, {{"SLURM_PROCID", "7"},
                                   {"SLURM_STEP_NUM_TASKS", "8"},
                                   {"SLURM_STEP_NUM_NODES", "1"},
                                   {"SLURM_JOB_ID", "9"}});
  ASSERT_TRUE(slurm.has_value());
  EXPECT_EQ(slurm->rank, 7);
  EXPECT_EQ(slurm->meet, meeting::one_host);
  EXPECT_EQ(slurm->launcher, "srun");

  const auto hydra = place_in({}, {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMI_FD", "9"}});
  ASSERT_TRUE(hydra.has_value());
  EXPECT_EQ(hydra->meet, meeting::process_manager);
  EXPECT_EQ(hydra->pmi, 9);

  const auto rooted = place_in({{"root", "n1:70"}, {"key", "k"}},
                               {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  ASSERT_TRUE(rooted.has_value());
  EXPECT_EQ(rooted->meet, meeting::rank_zero);
}

TEST(boot, the_launcher_of_an_mpi_says_which_rank_it_is_for_the_engine_mpi) {
  const std::map<std::string, std::string> starter = {
      {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}, {"PMIX_NAMESPACE", "123@1"}};
  const auto without_weft = place_in({{"engine", "mpi"}}, starter);
  ASSERT_TRUE(without_weft.has_value());
  EXPECT_EQ(without_weft->meet, meeting::engine) << "also on several hosts";
  EXPECT_EQ(without_weft->rank, 1);
  EXPECT_EQ(without_weft->size, 3);
  const auto of_weft =
      place_in({{"engine", "mpi-openmpi"}, {"root", "a:1"}, {"size", "3"}, {"key", "k"}}, starter);
  ASSERT_TRUE(of_weft.has_value());
  EXPECT_EQ(of_weft->meet, meeting::given);
  EXPECT_EQ(of_weft->rank, 1);
  EXPECT_EQ(of_weft->root, "a:1");
  const auto rooted = place_in({{"engine", "mpi"}, {"root", "a:1"}, {"key", "k"}}, starter);
  ASSERT_TRUE(rooted.has_value());
  EXPECT_EQ(rooted->meet, meeting::rank_zero);
  const auto by_hand = place_in(
      {{"engine", "mpi"}, {"root", "a:1"}, {"rank", "2"}, {"size", "4"}, {"key", "k"}}, starter);
  ASSERT_TRUE(by_hand.has_value());
  EXPECT_EQ(by_hand->rank, 2);
}

TEST(engine_name, of_mpi_follows_the_program_then_the_launcher_then_what_is_there) {
  using weft_net::mpi_engine_name;
  weft_net::mpi_signs signs;
  EXPECT_EQ(mpi_engine_name("mpi", signs), "mpi-openmpi");
  signs.has_mpich_engine = true;
  EXPECT_EQ(mpi_engine_name("mpi", signs), "mpi-mpich");
  signs.has_openmpi_engine = true;
  EXPECT_EQ(mpi_engine_name("mpi", signs), "mpi-openmpi");
  signs.is_of_mpiexec = true;
  EXPECT_EQ(mpi_engine_name("mpi", signs), "mpi-mpich");
  EXPECT_EQ(mpi_engine_name("mpi-mpich", signs), "mpi-mpich");
  weft_net::mpi_signs loaded;
  loaded.openmpi_file = "/lib/libmpi.so.40";
  EXPECT_EQ(mpi_engine_name("mpi", loaded), "mpi-openmpi");
  const auto why = [](const std::string &engine, const weft_net::mpi_signs &of) {
    try {
      return "is " + mpi_engine_name(engine, of);
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::not_supported);
      return std::string(e.what());
    }
  };
  EXPECT_EQ(
      why("mpi-mpich", loaded),
      "the engine mpi-mpich is for MPICH, and this program uses Open MPI (/lib/libmpi.so.40); "
      "use net.engine=mpi-openmpi");
  loaded.is_of_mpiexec = true;
  EXPECT_EQ(
      why("mpi", loaded),
      "the engine mpi-openmpi is for Open MPI, and mpiexec of MPICH has started this process; "
      "start it by `weft launch --engine mpi-openmpi`, or by mpirun of Open MPI");
  weft_net::mpi_signs started;
  started.is_of_mpirun = true;
  EXPECT_NE(why("mpi-mpich", started).find("mpirun of Open MPI has started this process"),
            std::string::npos);
}

TEST(boot, an_environment_that_contradicts_itself_has_its_message) {
  const auto has = [](const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(why_not([] { static_cast<void>(place_in({{"rank", "1"}, {"size", "2"}}, {})); }),
      "net.root is not set");
  has(why_not([] {
        static_cast<void>(
            place_in({{"root", "a:1"}, {"rank", "x"}, {"size", "2"}, {"key", "k"}}, {}));
      }),
      "net.rank is 'x'");
  has(why_not([] {
        static_cast<void>(place_in(
            {},
            {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_NUM_NODES", "2"}}));
      }),
      "was started by srun on several hosts without PMIx");
  has(why_not([] {
        static_cast<void>(
            place_in({{"root", "n1:70"}}, {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}}));
      }),
      "net.key is not");
}

/// Is the program that starts ranks, on its side of PMI_FD: as MPICH's.
void serve_pmi(int line, std::string &stored, std::atomic<int> &arrived, int size) {
  std::string text;
  char c;
  while (read(line, &c, 1) == 1) {
    if (c != '\n') {
      text += c;
      continue;
    }
    std::string reply;
    if (text.starts_with("cmd=init"))
      reply = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
    else if (text == "cmd=get_my_kvsname")
      reply = "cmd=my_kvsname kvsname=kvs_1_0\n";
    else if (text.starts_with("cmd=put kvsname=kvs_1_0 key=weft-net value="))
      stored = text.substr(43), reply = "cmd=put_result rc=0 msg=success\n";
    else if (text == "cmd=barrier_in") {
      for (++arrived; arrived < size;)
        std::this_thread::yield();
      reply = "cmd=barrier_out\n";
    } else if (text == "cmd=get kvsname=kvs_1_0 key=weft-net")
      reply = "cmd=get_result rc=0 msg=success value=" + stored + "\n";
    else
      reply = "cmd=unknown rc=-1\n";
    if (write(line, reply.data(), reply.size()) < 0)
      return;
    text.clear();
  }
}

TEST(boot, a_value_is_shared_by_pmi) {
  std::string stored;
  std::atomic<int> arrived{0};
  std::vector<std::thread> servers;
  std::vector<std::future<std::string>> ranks;
  std::vector<int> own;
  for (int r = 0; r < 2; ++r) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    servers.emplace_back([&, line = pair[1]] {
      serve_pmi(line, stored, arrived, 2);
      close(line);
    });
    own.push_back(pair[0]);
    ranks.push_back(std::async(std::launch::async, [r, line = pair[0]] {
      return share_by_pmi(line, r, "10.0.0.1:70/abc" + std::to_string(r));
    }));
  }
  for (auto &one : ranks)
    EXPECT_EQ(one.get(), "10.0.0.1:70/abc0");
  for (const int line : own) { // a library of MPI begins on the same line afterwards
    ASSERT_EQ(write(line, "cmd=init\n", 9), 9);
    char answered[8] = {};
    ASSERT_EQ(read(line, answered, 7), 7);
    EXPECT_STREQ(answered, "cmd=res");
    close(line);
  }
  for (auto &one : servers)
    one.join();
}

TEST(boot, the_line_to_the_process_manager_is_finalized_at_exit) {
  EXPECT_EQ(line_of_a_process([](int line) { finalize_pmi_at_exit(line); }), "cmd=finalize\n");
  EXPECT_EQ(line_of_a_process([](int line) { finalize_pmi_at_exit(line); }, true),
            "cmd=finalize\n"); // and the process ends although no answer comes
  EXPECT_EQ(line_of_a_process([](int line) {
              finalize_pmi_at_exit(line);
              finalize_pmi();
              _exit(0);
            }),
            "cmd=finalize\n");
  EXPECT_EQ(line_of_a_process([](int) {}), "");
}

TEST(boot, the_line_to_the_process_manager_is_left_to_mpi) {
  EXPECT_EQ(line_of_a_process([](int line) {
              finalize_pmi_at_exit(line);
              g_is_mpi_initialized = 1;
            }),
            "");
}

TEST(boot, a_child_of_fork_leaves_the_line_to_the_process_manager) {
  EXPECT_EQ(line_of_a_process([](int line) {
              finalize_pmi_at_exit(line);
              const pid_t child = fork();
              if (child == 0)
                std::exit(0);
              waitpid(child, nullptr, 0);
              static_cast<void>(!write(line, "parent\n", 7));
              char answered[17];
              static_cast<void>(!read(line, answered, sizeof answered));
            }),
            "parent\ncmd=finalize\n");
}

TEST(boot, a_closed_line_to_the_process_manager_harms_no_exit) {
  EXPECT_EQ(line_of_a_process([](int line) {
              finalize_pmi_at_exit(line);
              close(line);
            }),
            "");
  // The number is another socket's by now, which receives nothing.
  EXPECT_EQ(line_of_a_process([](int line) {
              finalize_pmi_at_exit(line);
              int other[2];
              static_cast<void>(!socketpair(AF_UNIX, SOCK_STREAM, 0, other));
              dup2(other[0], line);
              finalize_pmi();
              char c;
              if (recv(other[1], &c, 1, MSG_DONTWAIT) >= 0)
                _exit(3);
            }),
            "");
  // The process manager has gone: no SIGPIPE ends the process.
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pair[1]);
    finalize_pmi_at_exit(pair[0]);
    char c;
    static_cast<void>(!read(pair[0], &c, 1)); // until the other side is closed
    std::exit(0);
  }
  close(pair[0]);
  close(pair[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

TEST(boot, a_value_is_shared_by_a_file) {
  const std::string job = "test." + std::to_string(getpid());
  auto other = std::async(std::launch::async, [&job] { return share_by_file(job, 1, "", 30); });
  EXPECT_EQ(share_by_file(job, 0, "value", 30), "value");
  EXPECT_EQ(other.get(), "value");
  end_share_by_file(job);
  EXPECT_NE(why_not([&job] {
              static_cast<void>(share_by_file(job, 1, "", 0));
            }).find("rank 0 has not written"),
            std::string::npos);
}

} // namespace
