// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of a job by the launcher of an MPI, which connects them: of Open MPI, and those of MPICH on several
// hosts. The ranks meet here: so losses are seen and reported as in other jobs.
#include "tools/weft/cmd/launch_plan.hpp"
#include "tools/weft/support/openmp.hpp"

#ifdef WEFT_NET_ENGINES

#include "config/process.hpp"
#include "weft_net/boot/rendezvous.hpp"
#include "weft_net/boot/report.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft_tool {

namespace {

using clock = std::chrono::steady_clock;

/// Is an MPI, and how its launcher is called.
struct mpi_kind {
  const char *engine, *title;
  const char *own_name; // of a launcher that can be no other's
  const char *names[2]; // that another MPI may have as well
  const char *mark; // in what it says about its version
};
constexpr mpi_kind k_kinds[] = {
    {"mpi-openmpi", "Open MPI", "mpirun.openmpi", {"mpirun", "orterun"}, "Open MPI"},
    {k_mpich, "MPICH", "mpiexec.mpich", {"mpiexec.hydra", "mpiexec"}, "HYDRA"},
};

std::string engine_of(const plan &asked) {
  std::string made = asked.engine;
  for (const auto &[key, value] : asked.values)
    if (key == "net.engine" && made.empty())
      made = value;
  return made.empty() ? weft::rt::current_settings().net_engine : made;
}

bool says(const std::string &command, const char *mark) {
  FILE *const out = popen(("'" + command + "' --version 2>&1 </dev/null").c_str(), "r");
  if (!out)
    return false;
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof part, out))
    text += part;
  pclose(out);
  return text.find(mark) != std::string::npos;
}

std::string launcher_of(const mpi_kind &kind) {
  if (const std::string own = find_program(kind.own_name); !own.empty())
    return own;
  for (const char *const name : kind.names)
    if (const std::string found = find_program(name); !found.empty() && says(found, kind.mark))
      return found;
  return "";
}

/// Finds the MPI of the plan: the one that it names, or the first whose launcher is here.
std::pair<const mpi_kind *, std::string> find_mpi(const std::string &engine) {
  std::string tried;
  for (const mpi_kind &kind : k_kinds) {
    if (engine != "mpi" && engine != kind.engine)
      continue;
    if (std::string found = launcher_of(kind); !found.empty())
      return {&kind, std::move(found)};
    tried += (tried.empty() ? "" : ", nor ") + std::string(kind.own_name) + " or " + kind.names[0] +
             " of " + kind.title;
  }
  if (tried.empty())
    throw std::runtime_error("there is no engine '" + engine + "': those of MPI are mpi, " +
                             k_kinds[0].engine + " and " + k_kinds[1].engine);
  throw std::runtime_error("the engine " + engine +
                           " starts ranks by the launcher of its MPI, and " + "PATH has no " +
                           tried + "; install it (apt-get install openmpi-bin or mpich)");
}

/// Returns "a:1,b:3" for the hosts of all ranks.
std::string counted(const std::vector<std::string> &hosts) {
  std::string made;
  for (std::size_t first = 0; first < hosts.size();) {
    std::size_t last = first;
    while (last < hosts.size() && hosts[last] == hosts[first])
      ++last;
    made += (made.empty() ? "" : ",") + hosts[first] + ":" + std::to_string(last - first);
    first = last;
  }
  return made;
}

void add(words &to, std::initializer_list<std::string> more) { to.insert(to.end(), more); }

/// Returns the command line of Open MPI's launcher. The ranks survive the loss of one for a while, so
/// that they can report it.
words command_of_openmpi(const plan &asked, const std::vector<std::string> &hosts,
                         const std::map<std::string, std::string> &variables) {
  words made = {"--oversubscribe", "--bind-to", "none", "--enable-recovery"};
  if (geteuid() == 0)
    add(made, {"--allow-run-as-root"});
  if (!hosts.empty()) {
    add(made, {"--host", counted(hosts)});
    std::string shell;
    for (const std::string &word : asked.remote_shell)
      shell += (shell.empty() ? "" : " ") + word;
    add(made, {"--mca", "plm_rsh_agent", shell});
    if (!asked.interface.empty())
      add(made, {"--mca", "btl_tcp_if_include", asked.interface, "--mca", "oob_tcp_if_include",
                 asked.interface});
    for (const auto &[name, value] : variables)
      add(made, {"-x", name});
    add(made, {"-x", "WEFT_NET_KEY"});
  }
  return made;
}

/// Is for several hosts alone.
words command_of_mpich(const plan &asked, const std::vector<std::string> &hosts) {
  words made = {"-disable-auto-cleanup"};
  if (asked.remote_shell.size() != 1)
    throw std::runtime_error("the launcher of MPICH takes a remote shell of one word: put its "
                             "options into a script, and name that by --remote-shell");
  add(made,
      {"-hosts", counted(hosts), "-launcher", "ssh", "-launcher-exec", asked.remote_shell[0]});
  if (!asked.interface.empty())
    add(made, {"-iface", asked.interface});
  return made;
}

/// Returns whether the first word names a file that this host can run.
bool can_run(const words &program) {
  struct stat s {};
  const std::string path = find_program(program[0]);
  return !path.empty() && stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

class mpi_job final : weft_net::rendezvous::listener {
 public:
  mpi_job(const plan &asked, std::vector<std::string> hosts)
      : m_plan(asked), m_hosts(std::move(hosts)), m_address(address_to_meet(asked)),
        m_meeting(m_address, 0, asked.ranks, m_key, *this) {}
  int run();

 private:
  void start();
  void fail(int code);
  void look_at_time();
  void ended(int status);

  void all_joined(const std::vector<weft_net::member_info> &all) override { m_all = all; }
  void lost(int rank, const std::string &why) override;
  void left(int) override {}
  void refused(const std::string &why) override {
    std::fprintf(stderr, "weft launch: a connection was refused: %s\n", why.c_str());
  }
  void stalled(int first, const std::vector<std::string> &reports) override {
    std::fputs(weft_net::stall_report(first, reports).c_str(), stderr);
  }

  const plan &m_plan;
  const std::vector<std::string> m_hosts; // of each rank; none: here
  const weft_net::job_key m_key = weft_net::random_key();
  std::string m_address;
  weft_net::rendezvous m_meeting;
  std::vector<weft_net::member_info> m_all;
  pid_t m_launcher = -1;
  bool m_is_over = false;
  int m_code = 0;
  bool m_ends = false, m_was_asked = false;
  clock::time_point m_end;
};

void mpi_job::start() {
  const auto [kind, path] = find_mpi(engine_of(m_plan));
  // Open MPI's launcher, told to survive the loss of ranks, waits for ever for those of a program that it cannot start.
  if (m_hosts.empty() && !can_run(m_plan.program)) {
    std::fprintf(stderr, "weft launch: cannot run %s: there is no such program\n",
                 m_plan.program[0].c_str());
    m_code = k_no_program;
    m_is_over = true;
    return;
  }
  auto variables = variables_of(m_plan);
  variables["WEFT_NET_ENGINE"] = kind->engine;
  variables["WEFT_NET_ROOT"] = m_address + ":" + std::to_string(m_meeting.port());
  words all = kind == &k_kinds[0] ? command_of_openmpi(m_plan, m_hosts, variables)
                                  : command_of_mpich(m_plan, m_hosts);
  all.insert(all.begin(), path);
  add(all, {"-n", std::to_string(m_plan.ranks)});
  all.insert(all.end(), m_plan.program.begin(), m_plan.program.end());
  std::vector<char *> arguments;
  for (std::string &word : all)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string key = text_of(m_key);
  m_launcher = fork();
  if (m_launcher < 0)
    throw std::runtime_error(std::string("launch: cannot start a process: ") +
                             std::strerror(errno));
  if (m_launcher != 0)
    return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto &[name, value] : variables)
    setenv(name.c_str(), value.c_str(), 1);
  setenv("WEFT_NET_KEY", key.c_str(), 1);
  unsetenv("WEFT_NET_RANK");
  execv(arguments[0], arguments.data());
  std::fprintf(stderr, "weft launch: cannot run %s: %s\n", arguments[0], std::strerror(errno));
  _exit(k_no_program);
}

/// Notes the first failure, and ends the job after a while.
void mpi_job::fail(int code) {
  if (m_code == 0)
    m_code = code;
  if (m_plan.goes_on || m_ends)
    return;
  m_ends = true;
  m_end = clock::now() + k_grace;
}

void mpi_job::lost(int rank, const std::string &why) {
  const auto i = static_cast<std::size_t>(rank);
  std::string place;
  if (i < m_all.size())
    place = " (pid " + std::to_string(m_all[i].pid) + " on " + m_all[i].host + ")";
  if (!m_was_asked)
    std::fprintf(stderr, "weft launch: rank %d%s is lost: %s\n", rank, place.c_str(), why.c_str());
  fail(k_failed);
}

/// Takes the status of the launcher, which is that of a rank if one has failed.
void mpi_job::ended(int status) {
  m_is_over = true;
  m_meeting.step(0); // the last words of the ranks may not have been read
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code != 0 && !m_was_asked)
    m_code = code;
  if (code != 0 || m_meeting.joined() == 0)
    return;
  for (int rank = 0; rank < m_plan.ranks; ++rank)
    if (m_code == 0 && !m_meeting.has_left(rank)) {
      std::fprintf(stderr, "weft launch: rank %d has ended with exit code 0 %s\n", rank,
                   m_meeting.has_joined(rank) ? "before run_ranks() was over"
                                              : "and never called run_ranks()");
      m_code = k_failed;
    }
}

void mpi_job::look_at_time() {
  const auto now = clock::now();
  if (!m_ends || m_is_over || now < m_end)
    return;
  m_end = now + k_to_end;
  if (!m_was_asked) {
    m_was_asked = true;
    std::fprintf(stderr, "weft launch: the other ranks end (--continue would let them go on)\n");
    kill(m_launcher, SIGTERM);
    return;
  }
  for (const weft_net::member_info &one : m_all) // what the launcher has left here
    if (one.system == weft_net::own_system())
      kill(static_cast<pid_t>(one.pid), SIGKILL);
  kill(m_launcher, SIGKILL);
}

int mpi_job::run() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
    sigaddset(&ours, signal);
  sigprocmask(SIG_BLOCK, &ours, nullptr);
  const int signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  start();
  while (!m_is_over) {
    m_meeting.step(100, signals);
    signalfd_siginfo got{};
    while (read(signals, &got, sizeof got) == static_cast<ssize_t>(sizeof got))
      if (got.ssi_signo != SIGCHLD) {
        m_code = m_code == 0 ? 128 + static_cast<int>(got.ssi_signo) : m_code;
        m_was_asked = m_ends = true;
        m_end = clock::now() + k_grace;
        kill(m_launcher, static_cast<int>(got.ssi_signo));
      }
    int status = 0;
    if (waitpid(m_launcher, &status, WNOHANG) == m_launcher)
      ended(status);
    look_at_time();
  }
  close(signals);
  return m_code;
}

} // namespace

bool is_of_mpi(const plan &asked) {
  const std::string engine = engine_of(asked);
  return engine == "mpi" || engine.starts_with("mpi-");
}

bool is_of_mpich(const plan &asked) { return std::string(find_mpi(engine_of(asked)).first->engine) == k_mpich; }

int launch_by_mpi(const plan &asked, std::vector<std::string> hosts) {
  return mpi_job(asked, std::move(hosts)).run();
}

} // namespace weft_tool

#endif
