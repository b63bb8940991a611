// SPDX-License-Identifier: Apache-2.0
// Finds the tool, attaches it and ends it.
#include "tool/tool.hpp"

#include "config/message.hpp"
#include "thread/thread.hpp"
#include "tool/watched.hpp"

#include <weft/layer/thread.hpp>
#include <weft_threads/kernel/posix.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <sched.h>
#include <strings.h>
#include <unistd.h>

// A tool may be part of the program. The reference makes linkers enter the program's function into
// its dynamic symbols, where dlsym() finds it.
extern "C" [[gnu::weak]] weft_omp::ompt::start_result *ompt_start_tool(unsigned, const char *);

namespace weft_omp {

constinit bool g_is_watched = false, g_may_be_watched = true;
std::atomic<ompt::function> g_callbacks[ompt::k_events];

namespace {

constexpr unsigned k_version = 201811; // of OpenMP, whose interface for tools this is

ompt::start_result *g_tool = nullptr;

/// The protocol of the search, as OMP_TOOL_VERBOSE_INIT asks for it.
class search_log {
 public:
  search_log() noexcept {
    const char *const where = weft::layer::environment("OMP_TOOL_VERBOSE_INIT");
    if (!where || !*where || strcasecmp(where, "disabled") == 0)
      return;
    if (strcasecmp(where, "stdout") == 0)
      m_to = stdout;
    else if (strcasecmp(where, "stderr") == 0)
      m_to = stderr;
    else if ((m_to = std::fopen(where, "w")))
      m_is_own = true;
    else
      warn("cannot write the file %s of OMP_TOOL_VERBOSE_INIT (%s); the search is not recorded",
           where, std::strerror(errno));
    add("----- START LOGGING OF TOOL REGISTRATION -----\n");
  }
  ~search_log() {
    add("----- END LOGGING OF TOOL REGISTRATION -----\n");
    if (m_is_own)
      std::fclose(m_to);
  }
  search_log(const search_log &) = delete;
  search_log &operator=(const search_log &) = delete;

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) noexcept {
    if (!m_to)
      return;
    va_list list;
    va_start(list, format);
    std::vfprintf(m_to, format, list);
    va_end(list);
    std::fflush(m_to);
  }

 private:
  std::FILE *m_to = nullptr;
  bool m_is_own = false;
};

ompt::start_result *ask(ompt::start start) { return start ? start(k_version, "Weft") : nullptr; }

/// Asks the program itself, and libraries that are mapped with it.
ompt::start_result *ask_the_program(search_log &log) {
  log.add("Search for OMP tool in current address space... ");
  auto start = reinterpret_cast<ompt::start>(dlsym(RTLD_DEFAULT, "ompt_start_tool"));
  if (!start)
    start = &ompt_start_tool;
  ompt::start_result *const found = ask(start);
  log.add(found ? "Success.\n" : "Failed.\n");
  return found;
}

/// Asks one library. A library that has no tool, or one that declines, is closed again.
ompt::start_result *ask_library(search_log &log, const std::string &name) {
  log.add("Opening %s... ", name.c_str());
  void *const library = dlopen(name.c_str(), RTLD_LAZY);
  if (!library) {
    log.add("Failed: %s\n", dlerror());
    return nullptr;
  }
  log.add("Success.\nSearching for ompt_start_tool in %s... ", name.c_str());
  (void)dlerror();
  const auto start = reinterpret_cast<ompt::start>(dlsym(library, "ompt_start_tool"));
  if (!start) {
    log.add("Failed: %s\n", dlerror());
  } else if (ompt::start_result *const found = ask(start)) {
    log.add("Success.\n");
    return found;
  } else {
    log.add("Found but not using the OMPT interface.\nContinuing search...\n");
  }
  dlclose(library);
  return nullptr;
}

ompt::start_result *ask_libraries(search_log &log) {
  const char *const names = weft::layer::environment("OMP_TOOL_LIBRARIES");
  if (names && *names)
    log.add("Searching tool libraries...\nOMP_TOOL_LIBRARIES = %s\n", names);
  else
    log.add("No OMP_TOOL_LIBRARIES defined.\n");
  for (std::string_view rest = names ? names : ""; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (!name.empty())
      if (ompt::start_result *const found = ask_library(log, std::string(name)))
        return found;
  }
  log.add("...searching tool libraries failed.\n");
  return nullptr;
}

bool is_asked_for() {
  const char *const said = weft::layer::environment("OMP_TOOL");
  if (!said || !*said || strcasecmp(said, "enabled") == 0)
    return true;
  if (strcasecmp(said, "disabled") != 0)
    warn("OMP_TOOL is '%s'; it should be enabled or disabled; it is ignored", said);
  return strcasecmp(said, "disabled") != 0;
}

/// Ends what the tool knows of the threads, as far as they can say so themselves, and the tool.
void end_at_exit() {
  thread *const self = self_if_any();
  if (!self)
    wait_for_leaving_members(nullptr);
  else if (!self->light && !self->hosts_weft_task && self->team->level == 0 && self->watched &&
           !runtime_is_gone())
    end_all_watched(*self);
  finalize_tool();
}

ompt::start_result *find_tool() {
  if (!is_asked_for())
    return nullptr;
  search_log log;
  ompt::start_result *found = ask_the_program(log);
  if (!found)
    found = ask_libraries(log);
  log.add(found ? "Tool was started and is using the OMPT interface.\n" : "No OMP tool loaded.\n");
  return found;
}

/// Looks for a tool, and attaches it.
bool attach() {
  ompt::start_result *const found = find_tool();
  if (!found)
    return false;
  g_tool = found;
  if (!found->initialize || found->initialize(&entry_point, -1, &found->tool) == 0) {
    g_tool = nullptr; // the tool declines
    for (auto &callback : g_callbacks)
      callback.store(nullptr, std::memory_order_relaxed);
    return false;
  }
  (void)std::atexit(&end_at_exit);
  return true;
}

enum class search : int { none, runs, over };
std::atomic<search> g_search{search::none};
std::atomic<int> g_searcher{0}; // kernel thread

} // namespace

bool settle_tool() noexcept {
  if (g_search.load(std::memory_order_acquire) == search::over) [[likely]] // O2
    return true;
  const int me = static_cast<int>(gettid());
  search before = search::none; // O2
  if (g_search.compare_exchange_strong(before, search::runs, std::memory_order_acq_rel)) {
    g_searcher.store(me, std::memory_order_relaxed);
    g_is_watched = g_may_be_watched = attach();
    g_search.store(search::over, std::memory_order_release); // O2
    return true;
  }
  while (g_search.load(std::memory_order_acquire) != search::over) { // O2
    if (g_searcher.load(std::memory_order_relaxed) == me)
      return false;
    weft_threads::yield_kernel_thread();
  }
  return true;
}

void finalize_tool() noexcept {
  ompt::start_result *const tool = std::exchange(g_tool, nullptr);
  if (!tool)
    return;
  for (auto &callback : g_callbacks)
    callback.store(nullptr, std::memory_order_release); // O1
  if (tool->finalize)
    tool->finalize(&tool->tool);
}

} // namespace weft_omp
