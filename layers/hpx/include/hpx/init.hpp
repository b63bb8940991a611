// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: hpx::init, start, finalize, stop.
#pragma once

#include <hpx/detail/command_line.hpp>
#include <hpx/future.hpp>
#include <hpx/program_options.hpp>
#include <hpx/runtime.hpp>
#include <hpx/thread.hpp>
#include <weft/group.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

enum class runtime_mode { invalid, console, worker, connect, local, default_ };
using startup_function_type = std::function<void()>;
using shutdown_function_type = std::function<void()>;

struct init_params {
  program_options::options_description desc_cmdline{"Usage: " HPX_APPLICATION_STRING " [options]"};
  std::vector<std::string> cfg; // "hpx.os_threads=4" and the like
  startup_function_type startup;
  shutdown_function_type shutdown;
  runtime_mode mode = runtime_mode::default_; // there is one
};

namespace detail {

/// Is a run of the program between init or start and the end of its hpx_main.
class session {
 public:
  using main_function = std::function<int(program_options::variables_map &, int, char **)>;

  /// Reads the options. Returns null when the program is to end: it was asked for help, or the
  /// options are wrong.
  static std::unique_ptr<session> make(main_function f, const std::vector<std::string> &words,
                                       const init_params &params, int &status) {
    auto all = std::unique_ptr<session>(new session);
    for (const std::string &setting : params.cfg)
      take_setting(setting);
    all->m_line = take_options(words);
    if (all->m_line.help) {
      std::cout << params.desc_cmdline;
      status = 0;
      return nullptr;
    }
    const std::vector<std::string> own(all->m_line.words.empty() ? all->m_line.words.begin()
                                                                 : all->m_line.words.begin() + 1,
                                       all->m_line.words.end());
    if (!params.desc_cmdline.options().empty()) { // else the arguments are the program's own
      try {
        all->m_options = program_options::detail::parse(own, params.desc_cmdline);
      } catch (const program_options::error &e) {
        std::cerr << "hpx::init: " << e.what() << "\n" << params.desc_cmdline;
        status = -1;
        return nullptr;
      }
    }
    for (std::string &word : all->m_line.words)
      all->m_arguments.push_back(word.data());
    all->m_arguments.push_back(nullptr);
    all->m_main = std::move(f);
    all->m_params = params;
    return all;
  }

  /// Runs the program and waits for it, and for all tasks that it has spawned.
  int run() {
    activate_counters(m_line.printed);
    weft::task_group all;
    if (m_params.startup)
      m_params.startup();
    int status = 0;
    all.spawn([&] {
      status = m_main(m_options, static_cast<int>(m_arguments.size()) - 1, m_arguments.data());
    });
    all.wait();
    if (m_params.shutdown)
      m_params.shutdown();
    evaluate_active_counters();
    return status;
  }

 private:
  session() = default;
  command_line m_line;
  program_options::variables_map m_options;
  std::vector<char *> m_arguments;
  main_function m_main;
  init_params m_params;
};

/// Makes one kind of function of those that init takes; null: the program has no such one.
inline session::main_function as_main(std::nullptr_t) { return nullptr; }
template <class F>
session::main_function as_main(F f) {
  if constexpr (std::is_constructible_v<bool, F>)
    if (!f)
      return nullptr;
  return [f](program_options::variables_map &options, int argc, char **argv) -> int {
    if constexpr (std::is_invocable_v<F, program_options::variables_map &>)
      return std::invoke(f, options);
    else if constexpr (std::is_invocable_v<F, int, char **>)
      return std::invoke(f, argc, argv);
    else
      return std::invoke(f);
  };
}
// The program defines one of these, which are called hpx_main. They have other names here, so that
// the program's one is not overloaded: init(hpx_main, argc, argv).
[[gnu::weak]] int main_without_arguments() __asm__("_Z8hpx_mainv");
[[gnu::weak]] int main_with_arguments(int argc, char **argv) __asm__("_Z8hpx_mainiPPc");
[[gnu::weak]] int main_with_options(program_options::variables_map &options) __asm__(
    "_Z8hpx_mainRN3hpx15program_options13variables_mapE");

/// Returns the hpx_main that the program defines.
inline session::main_function global_main() {
  if (&main_with_options)
    return as_main(&main_with_options);
  if (&main_with_arguments)
    return as_main(&main_with_arguments);
  if (&main_without_arguments)
    return as_main(&main_without_arguments);
  throw std::logic_error("the program defines no hpx_main, and passes no function to hpx::init");
}

inline int init(session::main_function f, int argc, const char *const *argv,
                const init_params &params) {
  int status = 0;
  const auto s = session::make(std::move(f), {argv, argv + argc}, params, status);
  return s ? s->run() : status;
}

/// Holds the run that hpx::start has begun.
inline std::optional<weft::future<int>> g_started;

inline bool start(session::main_function f, int argc, const char *const *argv,
                  const init_params &params) {
  int status = 0;
  std::shared_ptr<session> s = session::make(std::move(f), {argv, argv + argc}, params, status);
  if (!s)
    return false;
  g_started = weft::async([s] { return s->run(); });
  return true;
}

} // namespace detail

// ---- init: until the program ends

inline int init(int argc, const char *const *argv, const init_params &params = {}) {
  return detail::init(detail::global_main(), argc, argv, params);
}
inline int init(const init_params &params = {}) {
  const char *const name[] = {HPX_APPLICATION_STRING};
  return detail::init(detail::global_main(), 1, name, params);
}
template <class F>
  requires std::is_invocable_v<F, program_options::variables_map &> ||
           std::is_invocable_v<F, int, char **> || std::is_invocable_v<F>
int init(F f, int argc, const char *const *argv, const init_params &params = {}) {
  return detail::init(detail::as_main(std::move(f)), argc, argv, params);
}
inline int init(const program_options::options_description &options, int argc,
                const char *const *argv) {
  init_params params;
  params.desc_cmdline = options;
  return init(argc, argv, params);
}

// ---- start: beside the caller, until stop()

inline bool start(int argc, const char *const *argv, const init_params &params = {}) {
  return detail::start(detail::global_main(), argc, argv, params);
}
inline bool start(std::nullptr_t, int argc, const char *const *argv,
                  const init_params &params = {}) {
  return detail::start([](program_options::variables_map &, int, char **) { return 0; }, argc, argv,
                       params);
}
template <class F>
  requires std::is_invocable_v<F, program_options::variables_map &> ||
           std::is_invocable_v<F, int, char **> || std::is_invocable_v<F>
bool start(F f, int argc, const char *const *argv, const init_params &params = {}) {
  return detail::start(detail::as_main(std::move(f)), argc, argv, params);
}
/// Waits for the program that start() has begun. Returns what its main function has returned.
inline int stop() {
  if (!detail::g_started)
    return 0;
  const int status = detail::g_started->get();
  detail::g_started.reset();
  return status;
}
/// Says that no more work comes. Weft ends by itself.
inline int finalize(double = -1, double = -1) { return 0; }
inline int disconnect() { return 0; }

namespace local {
using hpx::finalize;
using hpx::init;
using hpx::init_params;
using hpx::start;
using hpx::stop;
} // namespace local

} // namespace hpx
