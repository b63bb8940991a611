// SPDX-License-Identifier: Apache-2.0
// The job that has started this process: the ranks meet, the engine connects them, and a thread
// listens for losses.
#include <weft/net/joined_job.hpp>
#include <weft/net/port.hpp>
#include <weft/net/ranks.hpp>

#include "weft_net/boot/member.hpp"
#include "weft_net/boot/place.hpp"
#include "weft_net/boot/pmi.hpp"
#include "weft_net/boot/pmix.hpp"
#include "weft_net/boot/report.hpp"
#include "weft_net/team/rank_task.hpp"
#include "weft_net/team/stall.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/layer/trace.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace weft::inline v0 {
namespace net {

namespace {

using weft_net::member_info;
using weft_net::membership;

constexpr int k_meeting_seconds = 60;
constexpr auto k_grace =
    std::chrono::milliseconds(1500); // in which operations end with their errors
constexpr int k_lost_exit = 76;
constexpr const char *k_own_launcher = "this program"; // which says itself which rank it is

std::string setting(const std::string &name) { return layer::setting(("net." + name).c_str()); }
bool is_traced() { return layer::setting("trace.level") != "off"; }

void print(const std::string &line) {
  const std::string all = "weft: " + line + "\n"; // whole: one write
  static_cast<void>(!write(STDERR_FILENO, all.data(), all.size()));
}

std::string place_of(const member_info &member) {
  return "pid " + std::to_string(member.pid) + " on " + member.host;
}

/// Returns "node1: 0-3, node2: 4-7", and how many hosts these are.
std::pair<std::string, std::size_t> hosts_of(const std::vector<member_info> &all) {
  std::string text;
  std::size_t hosts = 0;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    while (last + 1 < all.size() && all[last + 1].system == all[first].system)
      ++last;
    text += (text.empty() ? "" : ", ") + all[first].host + ": " + std::to_string(first) +
            (last == first ? "" : "-" + std::to_string(last));
    first = last + 1;
    ++hosts;
  }
  return {text, hosts};
}

std::string places_of(const std::vector<member_info> &all) {
  std::string text;
  for (const member_info &one : all)
    text += place_of(one) + " ";
  return text;
}

/// Is the rendezvous in rank 0, where another program has started the ranks.
class own_root final : weft_net::rendezvous::listener {
 public:
  own_root(const std::string &host, int port, int size, const weft_net::job_key &key)
      : m_root(host, port, size, key, *this), m_thread([this] { run(); }) {}
  ~own_root() override {
    m_ends = true;
    m_thread.join();
  }
  own_root(const own_root &) = delete;
  own_root &operator=(const own_root &) = delete;
  [[nodiscard]] int port() const noexcept { return m_root.port(); }
  /// Waits until all ranks have left or are lost.
  void wait() {
    std::unique_lock guard(m_lock);
    m_changed.wait(guard, [this] { return m_left + m_lost >= m_size; });
  }

 private:
  void run() {
    while (!m_ends)
      m_root.step(100);
  }
  void all_joined(const std::vector<member_info> &all) override {
    const std::lock_guard guard(m_lock);
    m_all = all;
    m_size = all.size();
  }
  void lost(int rank, const std::string &why) override {
    {
      const std::lock_guard guard(m_lock);
      ++m_lost;
    }
    m_changed.notify_all();
    const auto i = static_cast<std::size_t>(rank);
    print("rank " + std::to_string(rank) +
          (i < m_all.size() ? " (" + place_of(m_all[i]) + ")" : "") + " is lost: " + why);
  }
  void left(int) override {
    {
      const std::lock_guard guard(m_lock);
      ++m_left;
    }
    m_changed.notify_all();
  }
  void refused(const std::string &why) override { print("a connection was refused: " + why); }
  void stalled(int first, const std::vector<std::string> &reports) override {
    const std::string text = weft_net::stall_report(first, reports);
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  }

  std::mutex m_lock;
  std::condition_variable m_changed;
  std::vector<member_info> m_all;
  std::size_t m_size = SIZE_MAX, m_left = 0, m_lost = 0;
  std::atomic<bool> m_ends{false};
  weft_net::rendezvous m_root;
  std::thread m_thread;
};

using share_function = std::function<std::string(const std::string &text)>;

/// Says how the ranks meet, beside what the membership says.
struct meeting_options {
  share_function share; ///< tells all ranks where; null: as the membership says
  int seconds = k_meeting_seconds;
};

/// Is this process in its job. It has a team while it runs a rank; else its engine is another layer's.
class job final : weft_net::member::listener {
 public:
  explicit job(membership joined, const meeting_options &options = {});
  ~job() override;
  job(const job &) = delete;
  job &operator=(const job &) = delete;

  void run(const std::function<void(team &)> &rank);
  [[nodiscard]] std::vector<std::string> names() const;

  // Without a team:
  [[nodiscard]] std::unique_ptr<engine> connect();
  void start(std::function<void(int)> on_loss) {
    m_on_loss = std::move(on_loss);
    if (m_membership.rank == 0 && m_membership.size > 1 && m_membership.launcher != k_own_launcher)
      print_start();
    if (is_traced()) // else the program may still choose settings
      describe_trace();
    m_member->start(*this);
    weft_net::stall_watch::of_process().set_sink(
        [this](const std::string &text) { m_member->send_report(text); });
  }
  void stop() noexcept {
    weft_net::stall_watch::of_process().set_sink(nullptr);
    m_member->stop();
  }
  void leave() {
    m_member->leave();
    if (m_root)
      m_root->wait();
  }

 private:
  void meet(const meeting_options &options);
  std::string share(const std::string &own, const meeting_options &options);
  void check_hosts() const;
  void note_paths(engine &made);
  void print_start() const;
  void describe_trace();

  // Of the thread that listens:
  void lost(int rank, const std::string &why) override;
  void root_lost(const std::string &why) override;
  std::string report() override;
  void end_soon(const std::string &why);

  membership m_membership;
  const bool m_goes_on = setting("loss") == "continue";
  std::string m_engine = setting("engine");
  std::map<std::string, std::string> m_paths; // by which each class of peers is reached, at rank 0
  std::unique_ptr<port> m_port;
  std::unique_ptr<own_root> m_root;
  std::unique_ptr<weft_net::member> m_member;
  std::unique_ptr<team> m_team;
  std::function<void(int)> m_on_loss;

  std::mutex m_lock;
  std::condition_variable m_changed;
  bool m_is_over = false;
  std::thread m_ender; // ends the process when its time of grace is over
};

job::job(membership joined, const meeting_options &options) : m_membership(std::move(joined)) {
  const std::string asked = m_engine;
  m_engine = resolve_engine(asked);
  m_port = open_port(asked, {setting("transports"), setting("interface"), 0});
  try {
    meet(options);
    check_hosts();
  } catch (const weft::error &) {
    throw;
  } catch (const std::exception &e) {
    throw error(errc::out_of_resources, "rank " + std::to_string(m_membership.rank) + " of " +
                                            std::to_string(m_membership.size) + " (started by " +
                                            m_membership.launcher + ") cannot join: " + e.what());
  }
}

std::unique_ptr<engine> job::connect() {
  if (is_traced())
    weft::start(); // or the trace would lack what arrives before
  std::vector<std::string> addresses;
  for (const member_info &m : m_member->all())
    addresses.push_back(m.address);
  auto made = m_port->connect(m_membership.rank, addresses);
  if (m_membership.rank == 0)
    note_paths(*made);
  return made;
}

/// Notes by what ranks are reached, for the line at the start. No other thread has the engine yet.
void job::note_paths(engine &made) {
  const auto &all = m_member->all();
  for (std::size_t r = 1; r < all.size(); ++r) {
    const char *const who = all[r].system == all[0].system ? "within a host" : "between hosts";
    if (!m_paths.contains(who))
      m_paths[who] = made.path_to(static_cast<int>(r));
  }
}

/// Finds the place where the ranks meet, makes it in rank 0 if no other process does, and joins.
void job::meet(const meeting_options &options) {
  using weft_net::meeting;
  weft_net::job_key key{};
  const bool has_key = !m_membership.key.empty();
  if (has_key)
    key = weft_net::key_of(m_membership.key);
  const bool is_shared = m_membership.meet == meeting::process_manager ||
                         m_membership.meet == meeting::site_store ||
                         m_membership.meet == meeting::one_host ||
                         m_membership.meet == meeting::engine;
  if (m_membership.meet != meeting::given && m_membership.rank == 0) {
    if (!has_key)
      key = weft_net::random_key();
    std::string host = weft_net::outer_address();
    int port = 0;
    if (m_membership.meet == meeting::rank_zero) {
      const auto there = weft_net::endpoint_of(m_membership.root);
      host = there.host;
      port = std::stoi(there.port);
    } else if (m_membership.meet == meeting::one_host || host.empty()) {
      host = "127.0.0.1";
    }
    if (const std::string interface = setting("interface");
        is_shared && m_membership.meet != meeting::one_host && !interface.empty())
      host = interface;
    m_root = std::make_unique<own_root>(host, port, m_membership.size, key);
    if (const std::string found = weft_net::address_of_interface(host); !found.empty())
      host = found;
    m_membership.root = host + ":" + std::to_string(m_root->port());
  }
  const std::string own = m_membership.root + "/" + weft_net::text_of(key);
  if (is_shared) {
    if (m_membership.pmi >= 0)
      weft_net::finalize_pmi_at_exit(m_membership.pmi);
    const std::string shared = share(own, options);
    const std::size_t slash = shared.rfind('/');
    m_membership.root = shared.substr(0, slash);
    key = weft_net::key_of(shared.substr(slash + 1));
  }
  member_info info = weft_net::own_info();
  info.engine = m_engine;
  info.address = m_port->address();
  m_member = std::make_unique<weft_net::member>(weft_net::endpoint_of(m_membership.root),
                                                m_membership.rank, m_membership.size, key, info,
                                                options.seconds);
  if (m_membership.meet == meeting::one_host && m_membership.rank == 0)
    weft_net::end_share_by_file(m_membership.job);
}

/// Returns at all ranks what rank 0 says, by what connects them before they have met.
std::string job::share(const std::string &own, const meeting_options &options) {
  using weft_net::meeting;
  if (options.share)
    return options.share(own);
  if (m_membership.meet == meeting::engine)
    if (const auto shared = m_port->share(own))
      return *shared;
  if (m_membership.meet == meeting::process_manager)
    return weft_net::share_by_pmi(m_membership.pmi, m_membership.rank, own);
  if (m_membership.meet == meeting::site_store) {
    const bool is_out_of_reach = weft_net::is_loopback(own.substr(0, own.rfind(':')));
    return weft_net::share_by_pmix(weft_net::k_pmix_library, m_membership.rank,
                                   is_out_of_reach ? "" : own, k_meeting_seconds);
  }
  return weft_net::share_by_file(m_membership.job, m_membership.rank, own, k_meeting_seconds);
}

/// Refuses addresses that other hosts cannot reach.
void job::check_hosts() const {
  const auto [text, hosts] = hosts_of(m_member->all());
  if (hosts > 1 && weft_net::is_loopback(weft_net::address_of_interface(setting("interface"))))
    throw std::runtime_error("the ranks are on several hosts (" + text +
                             "), and net.interface=" + setting("interface") +
                             " is a loopback interface, which others cannot reach; name one that "
                             "all hosts have");
}

std::vector<std::string> job::names() const {
  std::vector<std::string> made;
  for (const member_info &m : m_member->all())
    made.push_back(place_of(m));
  return made;
}

/// Says in the trace of this process, if it writes one, which rank it is, and how its clock differs.
void job::describe_trace() {
  weft::start();
  if (!layer::traces_messages())
    return;
  const auto offset = m_member->measure_clock(k_meeting_seconds);
  const auto &all = m_member->all();
  std::uint64_t name = 0xcbf29ce484222325; // of all processes of the job: FNV-1a
  for (const char c : hosts_of(all).first + ", " + places_of(all))
    name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(name));
  layer::describe_trace_place({m_membership.rank, m_membership.size, text,
                               all[static_cast<std::size_t>(m_membership.rank)].host, offset.ns,
                               offset.uncertain_ns});
}

/// Prints the line that says where ranks are, and by what they reach each other.
void job::print_start() const {
  const auto &all = m_member->all();
  const auto [text, hosts] = hosts_of(all);
  std::string how;
  for (const auto &[who, path] : m_paths)
    how += ", " + path + " " + who;
  print(std::to_string(all.size()) + (all.size() == 1 ? " rank on " : " ranks on ") +
        std::to_string(hosts) + (hosts == 1 ? " host" : " hosts") + " (" + text + "), engine " +
        m_engine + how);
}

void job::run(const std::function<void(team &)> &rank) {
  m_team = std::make_unique<team>(connect(), names());
  describe_trace();
  m_member->start(*this);
  weft_net::stall_watch::of_process().set_sink(
      [this](const std::string &text) { m_member->send_report(text); });
  std::exception_ptr failed;
  if (m_membership.size > 1)
    try {
      m_team->barrier(); // all are connected
      if (m_membership.rank == 0)
        print_start();
    } catch (...) {
      failed = std::current_exception();
    }
  if (!failed)
    failed = weft_net::run_rank(rank, *m_team);
  if (!failed && m_membership.size > 1)
    try {
      m_team->barrier(); // no rank leaves while another one needs it
    } catch (const lost_rank &) { // which the ranks that needed it know
      if (!m_goes_on)
        failed = std::current_exception();
    }
  m_member->stop(); // it tells the team of losses
  if (failed)
    m_port->give_up();
  m_team.reset();
  weft_net::stall_watch::of_process().set_sink(nullptr);
  if (failed)
    std::rethrow_exception(failed); // the others learn that this rank is lost
  m_member->leave();
  if (m_root)
    m_root->wait();
}

job::~job() {
  {
    const std::lock_guard guard(m_lock);
    m_is_over = true;
  }
  m_changed.notify_all();
  m_member.reset();
  if (m_ender.joinable())
    m_ender.join();
}

void job::lost(int rank, const std::string &why) {
  if (m_team)
    m_team->report_lost(rank);
  else
    m_on_loss(rank);
  if (!m_goes_on)
    end_soon("rank " + std::to_string(rank) + " is lost (" + why + ")");
}

void job::root_lost(const std::string &why) {
  end_soon("the process where the ranks meet (" + m_membership.root + ") is lost: " + why);
}

std::string job::report() { return weft_net::stall_watch::of_process().report_alone(); }

/// Ends the process, unless the job ends before: errors of operations come first.
void job::end_soon(const std::string &why) {
  const std::lock_guard guard(m_lock);
  if (m_ender.joinable() || m_is_over)
    return;
  m_ender = std::thread([this, why] {
    std::unique_lock lock(m_lock);
    if (m_changed.wait_for(lock, k_grace, [this] { return m_is_over; }))
      return;
    print("rank " + std::to_string(m_membership.rank) + " ends, because " + why +
          "; net.loss=continue goes on without it");
    weft_net::finalize_pmi(); // or the line may get lost
    weft_net::finalize_pmix();
    _exit(k_lost_exit);
  });
}

std::atomic<bool> g_has_joined{false};

} // namespace

namespace {

std::optional<membership> find_own() {
  try {
    return weft_net::find_membership({setting, layer::environment});
  } catch (const std::runtime_error &e) {
    throw error(errc::bad_setting, e.what());
  }
}

} // namespace

void run_ranks(const std::function<void(team &)> &rank) {
  std::optional<membership> found = find_own();
  if (!found) {
    const std::string size = setting("size");
    return run_ranks(size.empty() ? 1 : std::stoi(size), rank);
  }
  if (g_has_joined.exchange(true))
    throw error(errc::already_started,
                "run_ranks: this process has been a rank of its job already; call it once");
  job(std::move(*found)).run(rank);
}

struct joined_job::state {
  explicit state(membership where, const meeting_options &options = {})
      : here(std::move(where), options) {}
  job here;
};

joined_job::joined_job(std::unique_ptr<state> made) : m_state(std::move(made)) {}
joined_job::~joined_job() = default;

std::unique_ptr<joined_job> joined_job::of_process() {
  std::optional<membership> found = find_own();
  if (!found)
    return nullptr;
  if (g_has_joined.exchange(true))
    throw error(errc::already_started,
                "this process has been a rank of its job already; it joins it once");
  return std::unique_ptr<joined_job>(new joined_job(std::make_unique<state>(std::move(*found))));
}

std::unique_ptr<joined_job> joined_job::at(const std::string &root, int rank, int size,
                                           int seconds) {
  membership where;
  where.rank = rank;
  where.size = size;
  where.meet = weft_net::meeting::rank_zero;
  where.root = root;
  where.key = setting("key");
  if (where.key.empty())
    where.key = std::string(32, '0');
  where.launcher = k_own_launcher;
  return std::unique_ptr<joined_job>(
      new joined_job(std::make_unique<state>(std::move(where), meeting_options{{}, seconds})));
}

std::unique_ptr<joined_job> joined_job::by(const share_function &share, int rank, int size) {
  membership where;
  where.rank = rank;
  where.size = size;
  where.meet = weft_net::meeting::process_manager; // at rank 0, where the others can reach it
  where.launcher = k_own_launcher;
  return std::unique_ptr<joined_job>(
      new joined_job(std::make_unique<state>(std::move(where), meeting_options{share})));
}

std::vector<std::string> joined_job::places() const { return m_state->here.names(); }
std::unique_ptr<engine> joined_job::take_engine() { return m_state->here.connect(); }
void joined_job::start(std::function<void(int rank)> lost) { m_state->here.start(std::move(lost)); }
void joined_job::stop() noexcept { m_state->here.stop(); }
void joined_job::leave() { m_state->here.leave(); }

} // namespace net
} // namespace weft::inline v0
