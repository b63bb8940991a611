// SPDX-License-Identifier: Apache-2.0
#include "sweep.hpp"

#include "../arguments.hpp"
#include "../process.hpp"
#include "../results.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

namespace bench::apps {

namespace {

/// Limits the time of repetitions: where one takes longer, the next smaller tile runs once within a
/// process, because its noise is small.
constexpr double k_slow_s = 0.25;
/// Points below this efficiency are measured once: they are far from every target, and take long.
constexpr double k_hopeless = 0.05;

bool listed(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Fixes one thread and one set of kernels for all runs, so that counts and times are of the same
/// code.
std::vector<std::string> pinned(std::vector<std::string> settings) {
  settings.push_back("OPENBLAS_NUM_THREADS=1");
#if defined(__x86_64__)
  settings.push_back(__builtin_cpu_supports("avx2") ? "OPENBLAS_CORETYPE=Haswell"
                                                    : "OPENBLAS_CORETYPE=Nehalem");
#endif
  return settings;
}

double number_after(const std::string &text, const std::string &mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos)
    throw std::runtime_error("it printed: " + text);
  return std::stod(text.substr(at + mark.size()));
}

/// Reads the output of a program into `to`.
void read(const std::string &output, sample &to) {
  const std::size_t at = output.find("app=");
  if (at == std::string::npos)
    throw std::runtime_error("it printed: " + output);
  const std::string line = output.substr(at, output.find('\n', at) - at);
  std::vector<double> seconds;
  for (const std::string &one : split(field(line, "seconds")))
    seconds.push_back(std::stod(one));
  to.tasks = std::stol(field(line, "tasks"));
  to.serial_s = std::stod(field(line, "serial_s"));
  to.wall_s = median(seconds);
}

} // namespace

sweep::sweep(const options &o, record &r) : m_options(o), m_record(r) {}

bool sweep::over() const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_begin;
  return m_options.budget_s > 0 && spent.count() > m_options.budget_s;
}

std::vector<long> sweep::tiles(const subject &s) const {
  if (!m_options.tiles.empty())
    return m_options.tiles;
  if (m_options.what == options::mode::pragmas)
    return {*std::min_element(s.sweep.begin(), s.sweep.end()), s.coarse};
  return m_options.what == options::mode::coarse ? std::vector<long>{s.coarse} : s.sweep;
}

/// Returns the chosen series whose programs exist. All peers are measured unless the user names
/// some.
std::vector<series> sweep::present(const subject &s) {
  std::vector<series> found;
  for (const series &one : all_series()) {
    const bool named = listed(m_options.series, one.name);
    const bool paired = one.what == series::kind::weft || one.what == series::kind::peer;
    const bool compared = one.name == "weft:clang" || one.name == "oss";
    const bool default_choice = m_options.what == options::mode::pragmas ? compared
                                : m_options.what == options::mode::coarse
                                    ? paired
                                    : one.name != "weft:clang";
    if (m_options.series.empty() ? !default_choice : !named)
      continue;
    if (std::filesystem::exists(program(s.name, one.backend)))
      found.push_back(one);
    else if (one.what != series::kind::variant || m_options.what == options::mode::pragmas)
      m_absent.insert(one.name);
  }
  return found;
}

void sweep::fail(const std::string &what) {
  m_failures.push_back(what);
  std::cerr << what << std::endl;
}

void sweep::count(const std::vector<subject> &subjects) {
  if (!bench::run({"valgrind", "--version"}).ok)
    throw std::runtime_error(
        "instructions are counted by callgrind: install valgrind (apt-get install valgrind)");
  for (const subject &s : subjects)
    for (const long tile : tiles(s)) {
      if (over())
        return;
      if (m_record.instructions_per_task(s.name, s.size, tile))
        continue;
      std::cerr << "counting " << s.name << ", tile " << tile << std::endl;
      const outcome counted =
          bench::run({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                      "--toggle-collect=weft_app_serial", program(s.name, "serial"), "--serial",
                      "--tile", std::to_string(tile)},
                     pinned({}));
      try {
        m_record.add(apps::count{s.name, s.size, tile, number_after(counted.output, "Collected : "),
                                 static_cast<long>(number_after(counted.output, "tasks="))});
      } catch (const std::exception &e) {
        fail("callgrind failed at " + s.name + ", tile " + std::to_string(tile) + ": " + e.what());
      }
    }
}

void sweep::measure(const std::vector<subject> &subjects) {
  for (int run = 1; run <= m_options.runs; ++run)
    for (const subject &s : subjects) {
      std::cerr << "run " << run << " of " << m_options.runs << ": " << s.name << std::endl;
      std::vector<long> from_coarse = tiles(s);
      std::sort(from_coarse.rbegin(), from_coarse.rend());
      for (const long tile : from_coarse)
        measure_tile(s, tile, run);
    }
}

void sweep::measure_tile(const subject &s, long tile, int run) {
  const std::vector<series> here = present(s);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const series &one = here[(i + static_cast<std::size_t>(run)) % here.size()];
    sample like{s.name, one.name, m_options.workers, s.size, tile, run};
    const std::string place = s.name + ' ' + one.name + ' ' + std::to_string(tile);
    if (over() || m_record.find(like) || m_failed.count(place) || is_hopeless(like))
      continue;
    try {
      take(s, one, like);
    } catch (const std::exception &e) {
      m_failed.insert(place);
      fail(one.name + " failed at " + s.name + ", tile " + std::to_string(tile) + ": " + e.what());
    }
  }
}

bool sweep::is_hopeless(sample like) const {
  like.run = 1;
  const sample *first = m_record.find(like);
  return m_options.what != options::mode::pragmas && first &&
         first->serial_s / (first->wall_s * first->workers) < k_hopeless;
}

void sweep::take(const subject &s, const series &which, sample &like) {
  double &slow = m_slow[which.name + s.name];
  const int reps = slow > k_slow_s ? 1 : m_options.reps;
  const outcome result =
      bench::run({program(s.name, which.backend), "--workers", std::to_string(like.workers),
                  "--tile", std::to_string(like.tile), "--reps", std::to_string(reps)},
                 pinned(which.settings));
  if (!result.ok)
    throw std::runtime_error(result.output);
  read(result.output, like);
  slow = like.wall_s;
  m_record.add(like);
}

} // namespace bench::apps
