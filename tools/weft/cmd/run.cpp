// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/commands.hpp"
#include "tools/weft/support/openblas.hpp"
#include "tools/weft/support/openmp.hpp"
#include "tools/weft/support/output_file.hpp"
#include "tools/weft/support/progress.hpp"
#include "tools/weft/support/seeds.hpp"
#include "tools/weft/support/tbb.hpp"
#include "tools/weft/support/text.hpp"

#include "base/error.hpp"
#include "base/visible.hpp"
#include "config/load.hpp"
#include "config/process.hpp"
#include "config/settings.hpp"
#include "observe/segment.hpp"
#include "os/file.hpp"
#include "os/leftovers.hpp"
#include "trace/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft_tool {

using namespace weft::rt;

const char k_run_help[] =
    "usage: weft run [--workers N] [--preset P] [--set KEY=VALUE]... [--locks] [--no-openmp] [--no-tbb] [--no-blas] [--no-pools] [--counters NAMES [--interval TIME]]\n"
    "                [--exact-time] [--trace[=LEVEL]] [--report[=FILE]] [--hang-timeout TIME] [--seeds N [--limit S]] [--] "
    "PROGRAM [ARGUMENTS]\n"
    "\n"
    "Checks the settings, hands them to the program through its environment and becomes the program, with every door that is installed:\n"
    "OpenMP, TBB, OpenBLAS and other libraries' pools run on Weft's workers, or beside them, whether they are loaded at its start or later.\n"
    "  --workers N      the same as --set workers=N\n"
    "  --preset P       the same as --set preset=P\n"
    "  --set KEY=VALUE  any key of `weft config`; a later one wins\n"
    "  --locks          reports tasks that wait while they hold a std::mutex, and what else check.suspensions finds\n"
    "  --no-openmp      leaves OpenMP runtimes as they are; without it Weft's takes the place of each, whatever its name (`weft doctor PROGRAM`\n"
    "                   shows it). It leaves OpenBLAS out as well, whose jobs run as teams of OpenMP\n"
    "  --no-tbb         leaves each TBB its own threads; without it they are Weft's (docs/user/tbb.md)\n"
    "  --no-blas        leaves each OpenBLAS its own threads; without it its jobs run on Weft, from OpenBLAS 0.3.28 on (docs/user/python.md)\n"
    "  --no-pools       workers do not make room for threads of other libraries' pools; without it they do while such threads compute\n"
    "                   (docs/user/pools.md)\n"
    "                   --openmp, --tbb, --blas and --pools take back an earlier --no-..., and warn where the library is missing\n"
    "  --counters NAMES prints counters at the end: the same as --set counters.print=NAMES (`weft list PID` shows what there is)\n"
    "  --interval TIME  and at intervals (100ms, 2s): the same as --set counters.interval=TIME\n"
    "  --exact-time     times every task: the same as --set counters.time=exact\n"
    "  --trace[=LEVEL]  writes a trace of level switch, task, graph (which is meant without one) or runtime to the folder weft-trace.PID:\n"
    "                   the same as --set trace.level=LEVEL; `weft trace`, `weft report` and `weft predict` read it\n"
    "  --report[=FILE]  traces at level graph, and writes a page about it in the end (weft-report.html); the trace is removed unless trace.dir\n"
    "                   says where to keep it\n"
    "  --hang-timeout TIME  reports waiting tasks after that time without any progress, even if a thread outside Weft could still unblock them (0: never\n"
    "                       reports hangs):\n"
    "                       the same as --set watch.limit=TIME\n"
    "  --seeds N        runs the program N times, with sched.seed=1 to N, and once on one worker in the order\n"
    "                   of creation; reports the first seed that gives another exit code, signal or output\n"
    "  --limit S        seconds that one of these runs may take (60); what takes longer counts as a hang\n"
    "Exit status: the program's, with --seeds that of all runs; 3 when a seed differs; 1 for a bad setting, 2 for a bad "
    "command line, 127 when PROGRAM cannot be "
    "run.\n";

namespace {

/// Returns the value of `option` at `arguments[at]`, written "--option value" or "--option=value";
/// moves `at` past it.
std::optional<std::string> take_option(const words &arguments, std::size_t &at,
                                       const std::string &option) {
  const auto &word = arguments[at];
  if (word.starts_with(option + "=")) {
    ++at;
    return word.substr(option.size() + 1);
  }
  if (word != option || at + 1 >= arguments.size())
    return std::nullopt;
  at += 2;
  return arguments[at - 1];
}

constexpr std::string_view k_options[] = {
    "--workers",   "--preset",   "--set",          "--locks",    "--openmp",
    "--no-openmp", "--tbb",      "--no-tbb",       "--blas",     "--no-blas",
    "--pools",     "--no-pools", "--counters",     "--interval", "--exact-time",
    "--trace",     "--report",   "--hang-timeout", "--seeds",    "--limit"};
constexpr double k_longest_limit = 1'000'000;

/// Says whether a door is taken. Where the command line is silent, it is taken if it is installed.
enum class choice { open, taken, left_out };

struct plan {
  std::vector<key_value> values;
  exploration seeds; ///< .seeds is 0 where none are asked for
  bool has_limit = false;
  bool locks = false;
  choice openmp = choice::open;
  choice tbb = choice::open;
  choice blas = choice::open;
  choice pools = choice::open;
  std::string report; ///< file of the page; "" for none
  std::size_t program = 0; ///< place of its name among the arguments
  std::string error;     ///< "" when the command line is right

  /// Notes a word that takes a door, or leaves it out. Returns false if it does neither.
  bool chooses(const std::string &word) {
    for (const auto &[name, door] : {std::pair("openmp", &openmp), std::pair("tbb", &tbb),
                                     std::pair("blas", &blas), std::pair("pools", &pools)})
      if (word == std::string("--") + name) {
        *door = choice::taken;
        return true;
      } else if (word == std::string("--no-") + name) {
        *door = choice::left_out;
        return true;
      }
    return false;
  }
  /// Returns the words that leave out what this leaves out.
  [[nodiscard]] words left_out() const {
    words found;
    for (const auto &[word, door] : {std::pair("--no-openmp", openmp), std::pair("--no-tbb", tbb),
                                     std::pair("--no-blas", blas), std::pair("--no-pools", pools)})
      if (door == choice::left_out)
        found.emplace_back(word);
    return found;
  }
};

int parse_seeds(const std::string &text) {
  const auto n = parse_unsigned(text);
  return n && *n <= 2147483647 ? static_cast<int>(*n) : 0;
}

bool parse_limit(const std::string &text, std::chrono::milliseconds &limit) {
  char *end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds >= 0.001 && seconds <= k_longest_limit))
    return false;
  limit = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return true;
}

bool has(const plan &made, std::string_view key) {
  return std::any_of(made.values.begin(), made.values.end(),
                     [&](const key_value &v) { return v.first == key; });
}

void check_plan(plan &made, std::size_t words) {
  if (made.program >= words)
    made.error = "run needs a program";
  else if (has(made, "counters.interval") && !has(made, "counters.print"))
    made.error = "--interval goes with --counters";
  else if (made.has_limit && made.seeds.seeds == 0)
    made.error = "--limit goes with --seeds";
  else if (made.openmp == choice::left_out && made.blas == choice::taken)
    made.error = "--blas needs Weft's OpenMP, whose teams run its jobs; leave --no-openmp out";
  else if (made.seeds.seeds != 0 && !made.report.empty())
    made.error = "--report is of one run; leave --seeds out";
  else if (made.seeds.seeds != 0 && has(made, "sched.seed"))
    made.error = "--seeds chooses sched.seed itself; leave one of them out";
}

plan read_plan(const words &arguments) {
  plan p;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with("-")) {
    if (arguments[at] == "--") {
      ++at;
      break;
    }
    if (arguments[at] == "--locks") {
      p.locks = true;
      ++at;
    } else if (p.chooses(arguments[at])) {
      ++at;
    } else if (arguments[at] == "--exact-time") {
      p.values.emplace_back("counters.time", "exact");
      ++at;
    } else if (arguments[at] == "--trace") {
      p.values.emplace_back("trace.level", "graph");
      ++at;
    } else if (arguments[at] == "--report" || arguments[at].starts_with("--report=")) {
      p.report = arguments[at].size() > 9 ? arguments[at].substr(9) : "weft-report.html";
      ++at;
    } else if (const auto limit = take_option(arguments, at, "--hang-timeout")) {
      *limit == "0" ? p.values.emplace_back("watch.hang", "off")
                    : p.values.emplace_back("watch.limit", *limit);
    } else if (arguments[at].starts_with("--trace=")) {
      p.values.emplace_back("trace.level", arguments[at].substr(8));
      ++at;
    } else if (const auto counters = take_option(arguments, at, "--counters")) {
      p.values.emplace_back("counters.print", *counters);
    } else if (const auto interval = take_option(arguments, at, "--interval")) {
      p.values.emplace_back("counters.interval", *interval);
    } else if (const auto workers = take_option(arguments, at, "--workers")) {
      p.values.emplace_back("workers", *workers);
    } else if (const auto preset = take_option(arguments, at, "--preset")) {
      p.values.emplace_back("preset", *preset);
    } else if (const auto assignment = take_option(arguments, at, "--set")) {
      const auto equals = assignment->find('=');
      if (equals == std::string::npos) {
        p.error = "--set needs KEY=VALUE, not '" + *assignment + "'";
        return p;
      }
      p.values.emplace_back(assignment->substr(0, equals), assignment->substr(equals + 1));
    } else if (const auto seeds = take_option(arguments, at, "--seeds")) {
      p.seeds.seeds = parse_seeds(*seeds);
      if (p.seeds.seeds == 0) {
        p.error = "--seeds needs a number from 1 to 2147483647, not '" + *seeds + "'";
        return p;
      }
    } else if (const auto limit = take_option(arguments, at, "--limit")) {
      p.has_limit = true;
      if (!parse_limit(*limit, p.seeds.limit)) {
        p.error = "--limit needs a number of seconds, not '" + *limit + "'";
        return p;
      }
    } else {
      const auto &word = arguments[at];
      const bool known =
          std::find(std::begin(k_options), std::end(k_options), word) != std::end(k_options);
      p.error = known ? word + " needs a value"
                      : "run does not know '" + word + "'" +
                            suggestion(word, {std::begin(k_options), std::end(k_options)});
      return p;
    }
  }
  p.program = at;
  check_plan(p, arguments.size());
  return p;
}

/// Sets the program's environment. Throws weft::error where a key or a value is wrong.
void put_into_environment(const std::vector<key_value> &values) {
  settings_input input;
  input.overrides = values;
  input.overriding = "command line";
  load_settings(input);
  for (const auto &[key, value] : values)
    setenv(setting_table()[find_setting(key)].environment.c_str(), value.c_str(), 1);
}

/// Checks all settings. Throws weft::error where one, wherever it comes from, contradicts seeds.
void check_seeds(const std::vector<key_value> &values) {
  settings_input input;
  input.environment = process_environment();
  input.overrides = values;
  input.overriding = "command line";
  input.overrides.emplace_back("sched.seed", "1");
  load_settings(input);
}

/// Preloads a library of this installation, if it is there.
void preload_own(const char *name) {
  if (const std::string library = own_library(name); !library.empty())
    put_first("LD_PRELOAD", library);
}

void warn_without(const char *option, const char *what, const char *library) {
  std::fprintf(stderr,
               "weft: warning: %s: this installation has no library for %s (%s beside libweft)\n",
               option, what, library);
}

/// Returns the file of a library that a program loads at its start, by the beginning of its name.
std::string loaded_library(const loading &starts, std::string_view name) {
  for (const auto &file : starts.files)
    if (std::string_view(file).substr(file.rfind('/') + 1).starts_with(name))
      return file;
  return "";
}

/// Says what the loader found in a program that this command prepares.
struct program_file {
  std::string path; ///< "" if there is none
  loading starts;
  std::string address, thread; ///< libraries of sanitizers that it loads, or ""
  bool preloads = false; ///< Weft's libraries, before its own
};

program_file look_at(const std::string &name) {
  program_file found;
  found.path = find_program(name);
  if (found.path.empty())
    return found;
  found.starts = try_loading(found.path, loaders::any);
  found.address = loaded_library(found.starts, "libasan.");
  found.thread = loaded_library(found.starts, "libtsan.");
  return found;
}

/// Makes the program's threads known to Weft, so that workers make room for them. Programs with
/// ThreadSanitizer are left alone: its functions are to be the first.
void watch_pools(choice pools, program_file &file) {
  const std::string library = own_library("libweft-pools.so");
  if (pools == choice::taken && library.empty())
    std::fputs("weft: warning: --pools: this installation has no libweft-pools.so beside libweft\n",
               stderr);
  if (pools == choice::taken && !file.thread.empty())
    std::fputs(
        "weft: note: this program is built with ThreadSanitizer: workers make no room for its threads\n",
        stderr);
  if (pools == choice::left_out || library.empty() || !file.thread.empty())
    return;
  put_first("LD_PRELOAD", library);
  file.preloads = true;
}

/// Returns whether TBB gets a budget of threads (tbb.budget).
bool gives_budget() {
  settings_input input;
  input.environment = process_environment();
  return load_settings(input).values.tbb_budget;
}

/// Returns why no door can be opened for a program; "" if they can. A process has one Weft, which is
/// the one that the doors are made for.
std::string other_weft_of(const program_file &file) {
  const std::string ours = own_library(WEFT_SONAME);
  if (const std::string theirs = loaded_library(file.starts, "libweft.so.");
      !theirs.empty() && !same_file(theirs, ours))
    return "it loads " + theirs + ", and this command is for " + ours +
           "; use the command beside its own";
  if (holds_weft(file.starts.files.front()))
    return "Weft is linked into it; link it with libweft.so, or use --set, which needs no door";
  return "";
}

/// Returns whether the command takes a door. Warns where the command line asks for one that is not
/// installed.
bool takes(choice door, const std::string &library, const char *option, const char *what,
           const char *place) {
  if (door == choice::taken && library.empty())
    warn_without(option, what, place);
  return door != choice::left_out && !library.empty();
}

/// Says that a program keeps runtimes which Weft would replace, where not one door is installed and
/// the command line does not speak of them.
void warn_without_doors(const plan &made, const program_file &file) {
  if (!openmp_library().empty() || !tbb_library().empty() || file.path.empty())
    return;
  const bool openmp = made.openmp == choice::open && !file.starts.runtimes.empty();
  const bool tbb = made.tbb == choice::open && !tbbs_of(file.starts.files).empty();
  if (openmp || tbb)
    std::fprintf(stderr,
                 "weft: warning: %s keeps its own %s: this installation has none of Weft's doors "
                 "(weft-omp/libgomp.so.1, weft-tbb/libirml.so.1 beside libweft)\n",
                 file.path.c_str(), openmp && tbb ? "OpenMP and TBB" : openmp ? "OpenMP" : "TBB");
}

/// Opens the doors: OpenMP runtimes are Weft's, whatever their names, and TBB and OpenBLAS get Weft's
/// threads. A program with ThreadSanitizer, which cannot follow those threads, gets OpenMP alone, and
/// that if it loads a runtime at its start.
void open_doors(const plan &made, program_file &file) {
  bool openmp = takes(made.openmp, openmp_library(), "--openmp", "OpenMP", "weft-omp/libgomp.so.1");
  bool tbb = takes(made.tbb, tbb_library(), "--tbb", "TBB", "weft-tbb/libirml.so.1");
  bool blas = takes(made.blas, blas_library(), "--blas", "OpenBLAS", "libweft-blas-loads.so");
  blas &= openmp; // its jobs are teams of OpenMP
  warn_without_doors(made, file);
  if (file.path.empty() || !file.starts.is_dynamic || !(openmp || tbb || blas))
    return;
  if (const std::string reason = other_weft_of(file); !reason.empty()) {
    const bool asks =
        made.openmp == choice::taken || made.tbb == choice::taken || made.blas == choice::taken;
    if (asks || (openmp && !file.starts.runtimes.empty()) ||
        (tbb && !tbbs_of(file.starts.files).empty()))
      std::fprintf(stderr,
                   "weft: warning: %s runs without Weft's doors for OpenMP, TBB and OpenBLAS: %s\n",
                   file.path.c_str(), reason.c_str());
    return;
  }
  if (!file.thread.empty()) {
    if (tbb && (made.tbb == choice::taken || !tbbs_of(file.starts.files).empty()))
      std::fputs(
          "weft: note: this program is built with ThreadSanitizer, which cannot follow Weft's threads: TBB keeps threads of its own\n",
          stderr);
    tbb = blas = false;
    openmp &= made.openmp == choice::taken || !file.starts.runtimes.empty();
  }
  if (openmp)
    use_openmp_library(true);
  if (tbb)
    use_tbb_library(gives_budget());
  if (blas)
    put_first("LD_PRELOAD", blas_library());
#if defined(WEFT_WHEEL)
  if (openmp || tbb) // the doors of a wheel name no auxiliary library
    preload_own(WEFT_THREADS_SONAME);
#endif
  file.preloads |= openmp || tbb;
}

/// Tells `install()` of the package weftrt what the command line leaves out, in a program that is Python's.
/// Where it is silent, the variable keeps what it has.
void tell_python(const plan &made) {
  constexpr char variable[] = "WEFTRT_WITHOUT";
  std::string before;
  for (const auto &[name, value] : process_environment())
    if (name == variable)
      before = value;
  const auto without = split_words(before);
  std::set<std::string> left_out(without.begin(), without.end());
  for (const auto &[name, door] : {std::pair("openmp", made.openmp), std::pair("tbb", made.tbb),
                                   std::pair("blas", made.blas)}) {
    if (door == choice::left_out)
      left_out.insert(name);
    else if (door == choice::taken)
      left_out.erase(name);
  }
  std::string text;
  for (const std::string &name : left_out)
    text += text.empty() ? name : " " + name;
  if (text.empty())
    unsetenv(variable);
  else
    setenv(variable, text.c_str(), 1);
}

/// Warns where the command line asks for a library that a program of another C library gets none of.
void warn_without_glibc(const plan &made, const loading &starts) {
  const auto doors = {made.openmp, made.tbb, made.blas, made.pools};
  if (made.locks || std::find(doors.begin(), doors.end(), choice::taken) != doors.end())
    std::fprintf(stderr,
                 "weft: warning: %s gets none of Weft's libraries: its loader, %s, is not glibc's\n",
                 visible(starts.files.front()).c_str(), visible(starts.own_loader).c_str());
}

/// Sets what the loader adds to the program.
void prepare(const plan &made, const std::string &program) {
  program_file file = look_at(program);
  tell_python(made);
  if (made.locks)
    setenv("WEFT_CHECK_SUSPENSIONS", "warn", 0); // a choice of the user has precedence
  if (!file.starts.own_loader.empty())
    return warn_without_glibc(made, file.starts); // it would end for want of glibc's functions
  watch_pools(made.pools, file);
  if (made.locks)
    preload_own("libweft-locks.so"); // none in a debug build, whose libweft counts locks itself
  open_doors(made, file);
  if (!file.address.empty() && file.preloads)
    put_first("LD_PRELOAD", file.address); // it ends a program in which it is not the first
}

constexpr char k_scratch[] = "/tmp/weft-report-";

std::string life_file(const std::string &scratch) { return scratch + "/.running"; }

bool scratch_lives(const std::string &path) {
  const int file = open(life_file(path).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  const bool lives = is_locked(file);
  close(file);
  return lives;
}

void remove_scratch(const std::string &path) {
  std::error_code ignored;
  if (path.starts_with(k_scratch))
    std::filesystem::remove_all(path, ignored);
}

std::uint64_t bytes_of_scratch(const std::string &path) {
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto &file : std::filesystem::recursive_directory_iterator(path, ignored))
    if (struct stat s{}; lstat(file.path().c_str(), &s) == 0)
      bytes += static_cast<std::uint64_t>(s.st_blocks) * 512;
  return bytes;
}

// A killed `weft run --report` leaves a trace that its user may want: of each user the newest four
// stay, 4 GiB at most.
constexpr leftover_kind k_scratches{
    4, 4ULL << 30, 0, &scratch_lives, &bytes_of_scratch, &remove_scratch};

/// Creates a folder for a trace that is read and removed.
class scratch_folder {
 public:
  scratch_folder() : m_list(list_path("reports"), k_scratches) {
    std::string name = std::string(k_scratch) + "XXXXXX";
    if (!mkdtemp(name.data()))
      throw_error(weft::errc::out_of_resources, "no folder for a trace in /tmp: %s",
                  std::strerror(errno));
    m_path = name;
    m_life =
        open(life_file(m_path).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (m_life >= 0 && lock_for_life(m_life))
      m_list.enter(m_path, 0);
  }
  scratch_folder(const scratch_folder &) = delete;
  scratch_folder &operator=(const scratch_folder &) = delete;
  ~scratch_folder() {
    if (!m_stays) {
      remove_scratch(m_path);
      m_list.take_off(m_path);
    }
    if (m_life >= 0)
      close(m_life);
  }
  [[nodiscard]] std::string trace() const { return m_path + "/trace"; }
  /// Leaves the folder, as a killed command does, until newer ones take its place.
  void keep() noexcept { m_stays = true; }

 private:
  leftovers m_list;
  std::string m_path;
  int m_life = -1;
  bool m_stays = false;
};

volatile std::sig_atomic_t g_program = 0; // the process that signals go on to
volatile std::sig_atomic_t g_leads_session = 0;

/// Returns whether the kernel has sent a signal to the program as well. It sends those of the
/// terminal's keys to a whole group, and the end of a terminal to the leader of its session alone.
bool kernel_tells_all(int signal) noexcept {
  return signal == SIGINT || signal == SIGQUIT || (signal == SIGHUP && !g_leads_session);
}

/// Returns whether the program itself has sent a signal: to its group, which it is in.
bool is_of_program(const siginfo_t &how) noexcept {
  return (how.si_code == SI_USER || how.si_code == SI_TKILL || how.si_code == SI_QUEUE) &&
         how.si_pid == g_program;
}

/// Passes a signal on that has come to this process.
void pass_on(int signal, siginfo_t *how, void *) {
  const int error = errno;
  if (how->si_code <= 0 ? !is_of_program(*how) : !kernel_tells_all(signal))
    kill(g_program, signal);
  errno = error;
}

/// Lets signals that would end this process end the program, so that its report is still written.
/// What was ignored before stays so, here and in the program.
class signals_for_program {
 public:
  signals_for_program() {
    // What ends a process by default, but for what comes of its own doing.
    m_signals = {SIGHUP,  SIGINT,  SIGQUIT,   SIGABRT, SIGUSR1, SIGUSR2, SIGALRM,
                 SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
      m_signals.push_back(signal);
    sigemptyset(&m_set);
    for (const int signal : m_signals)
      sigaddset(&m_set, signal);
    m_before.resize(m_signals.size());
    pthread_sigmask(SIG_BLOCK, &m_set, &m_mask); // until the program's number is known
    for (std::size_t i = 0; i < m_signals.size(); ++i)
      sigaction(m_signals[i], nullptr, &m_before[i]);
  }
  signals_for_program(const signals_for_program &) = delete;
  signals_for_program &operator=(const signals_for_program &) = delete;
  /// Undoes all; to be called while the program's number is not free for others.
  ~signals_for_program() { restore(); }

  /// Is called in the program's process, before it becomes the program.
  void restore() const {
    for (std::size_t i = 0; i < m_signals.size(); ++i)
      sigaction(m_signals[i], &m_before[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &m_mask, nullptr);
  }
  void begin(pid_t program) const {
    g_program = program;
    g_leads_session = getsid(0) == getpid();
    struct sigaction act{};
    act.sa_sigaction = pass_on;
    act.sa_flags = SA_SIGINFO | SA_RESTART;
    act.sa_mask = m_set; // they go on in the order in which they are taken
    for (std::size_t i = 0; i < m_signals.size(); ++i)
      if (m_before[i].sa_handler != SIG_IGN)
        sigaction(m_signals[i], &act, nullptr);
    pthread_sigmask(SIG_SETMASK, &m_mask, nullptr);
  }

 private:
  sigset_t m_set{}, m_mask{};
  std::vector<int> m_signals;
  std::vector<struct sigaction> m_before;
};

/// Starts the program, and returns its process when that has ended. Its status is still to be asked for.
pid_t run_to_its_end(char **argv, const std::string &folder, bool sets_level) {
  const signals_for_program signals;
  const pid_t self = getpid(), child = fork();
  if (child < 0)
    throw_error(weft::errc::out_of_resources, "no process for the program: %s",
                std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // this command would be the program, without a report
    if (getppid() != self)
      _exit(k_no_program);
    signals.restore();
    setenv("WEFT_TRACE_DIR", folder.c_str(), 1);
    if (sets_level)
      setenv("WEFT_TRACE_LEVEL", "graph", 1);
    execvp(argv[0], argv);
    std::fprintf(stderr, "weft: cannot run '%s': %s\n", argv[0], std::strerror(errno));
    _exit(k_no_program);
  }
  signals.begin(child);
  siginfo_t end{};
  while (waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  return child;
}

/// Writes the page of a program that has ended. Where it cannot, it says so, and the trace stays.
void write_page(const std::string &folder, const std::string &page, std::optional<output_file> &out,
                std::optional<scratch_folder> &scratch) {
  const auto keep = [&] {
    end_progress();
    if (access(folder.c_str(), F_OK) != 0)
      return; // the program has not used Weft
    if (scratch)
      scratch->keep();
    std::fprintf(stderr, "weft: the trace is in %s\n", folder.c_str());
  };
  try {
    begin_long_command(false);
    write_report(folder, page, out);
  } catch (const interrupted &) {
    keep();
    throw;
  } catch (const std::exception &e) {
    keep();
    std::fprintf(stderr, "weft: no report: %s\n", visible(e.what()).c_str());
  }
}

/// Runs the program, then writes the page. Returns the program's status.
int run_and_report(const plan &made, char **argv) {
  settings_input input;
  input.environment = process_environment();
  const loaded_settings chosen = load_settings(input);
  const auto is_default = [&](const char *key) {
    return chosen.origin[find_setting(key)] == "default";
  };
  std::optional<output_file> out(std::in_place, made.report); // a page that cannot be written is known before the run
  if (out->has_name_of_its_own())
    out.reset(); // opened again behind the run: a command that is killed would leave the file
  std::optional<scratch_folder> scratch;
  if (is_default("trace.dir"))
    scratch.emplace();
  std::string folder = scratch ? scratch->trace() : chosen.values.trace_dir;
  const pid_t child = run_to_its_end(argv, folder, is_default("trace.level"));
  int status = 0;
  if (waitpid(child, &status, 0) != child)
    throw_error(weft::errc::out_of_resources, "no process for the program: %s",
                std::strerror(errno));
  if (const auto place = folder.find("%p"); place != std::string::npos)
    folder = newest_trace(folder.replace(place, 2, std::to_string(child)));
  write_page(folder, made.report, out, scratch);
  if (!WIFEXITED(status))
    std::fprintf(stderr, "weft: the program was ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_seeds(plan &made, const words &arguments) {
  check_seeds(made.values);
  made.seeds.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(made.program),
                            arguments.end());
  for (const auto &[key, value] : made.values)
    made.seeds.options.insert(made.seeds.options.end(), {"--set", key + "=" + value});
  for (const std::string &word : made.left_out())
    made.seeds.options.push_back(word);
  return explore_seeds(made.seeds);
}

} // namespace

std::string own_library(const std::string &name) {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string program(self, n > 0 ? static_cast<std::size_t>(n) : 0);
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  // As installed; as built, and as moved.
  for (const char *libraries : {WEFT_LIBRARIES_FROM_COMMAND, "../lib", "../lib64"})
    if (const auto path = (folder / libraries / name).lexically_normal();
        access(path.c_str(), R_OK) == 0)
      return path;
  return "";
}

int run_run(const words &arguments) {
  plan p = read_plan(arguments);
  if (!p.error.empty())
    return usage_error(p.error);
  put_into_environment(p.values);
  prepare(p, arguments[p.program]);
  if (p.seeds.seeds != 0)
    return run_seeds(p, arguments);
  for (const auto &[name, value] : process_environment())
    if (name == "WEFT_SCHED_SEED" && !value.empty())
      fix_addresses();
  std::vector<char *> argv;
  for (std::size_t at = p.program; at < arguments.size(); ++at)
    argv.push_back(const_cast<char *>(arguments[at].c_str())); // exec does not write to them
  argv.push_back(nullptr);
  if (!p.report.empty())
    return run_and_report(p, argv.data());
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "weft: cannot run '%s': %s\n", argv[0], std::strerror(errno));
  return k_no_program;
}

} // namespace weft_tool
