// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/function.hpp"
#include "base/error.hpp"
#include "topo/machine.hpp"
#include "worker/functions.hpp"
#include "worker/runtime.hpp"

#include <weft/worker_set.hpp>

#include <algorithm>
#include <new>
#include <vector>

namespace weft::inline v0 {

using namespace rt;

namespace {

unsigned started_workers() {
  this_worker();
  return the_runtime().started_workers.load(
      std::memory_order_relaxed); // the value does not change any more
}

worker_set set_of(std::vector<unsigned> &ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const unsigned number = the_runtime().confined.number_of(ids);
  if (number == 0)
    throw_error(errc::out_of_resources,
                "more than %u sets of workers are made; equal ones count once: keep to a few",
                confined_work::k_most_sets);
  the_runtime().watch.examine_soon(); // one of its workers may have stepped back
  return worker_set({number, functions_generation()});
}

std::vector<unsigned> bound_to(std::span<const int> cpus) {
  const auto includes = [&](int cpu) {
    return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  };
  const auto &usable = this_machine().cpus;
  const bool all = std::all_of(usable.begin(), usable.end(),
                               [&](const cpu_entry &p) { return includes(p.cpu); });
  std::vector<unsigned> ids;
  for (unsigned id = 0, there = started_workers(); id < there; ++id)
    if (const int cpu = cpu_of_worker(the_runtime(), id); all || (cpu >= 0 && includes(cpu)))
      ids.push_back(id);
  return ids;
}

[[noreturn]] void refuse_cpus(std::span<const int> cpus) {
  if (the_runtime().cfg.bind == bind_kind::none)
    throw_error(
        errc::invalid_argument,
        "no worker keeps to cpu %d and the other %zu: workers are not bound to cpus; set bind=compact or "
        "bind=spread, or name workers",
        cpus.front(), cpus.size() - 1);
  throw_error(
      errc::invalid_argument,
      "no worker is bound to cpu %d or one of the other %zu; start more (setting workers), or name other cpus; the "
      "first thread, worker 0, is bound to none",
      cpus.front(), cpus.size() - 1);
}

template <class F>
worker_set made(std::span<const int> numbers, const char *what, F collect) {
  if (numbers.empty())
    throw_error(errc::invalid_argument, "a set of workers is made of no %s; name one", what);
  try {
    std::vector<unsigned> ids = collect();
    return set_of(ids);
  } catch (const std::bad_alloc &) {
    throw_error(errc::out_of_resources, "no memory for a set of workers");
  }
}

} // namespace

worker_set worker_set::of_workers(std::span<const int> ids) {
  const unsigned there = started_workers();
  return made(ids, "workers", [&] {
    std::vector<unsigned> known;
    for (const int id : ids) {
      if (id < 0 || static_cast<unsigned>(id) >= there)
        throw_error(errc::invalid_argument,
                    "a set of workers names worker %d, and the last one is %u; see worker_count()",
                    id, there - 1);
      known.push_back(static_cast<unsigned>(id));
    }
    return known;
  });
}

worker_set worker_set::of_cpus(std::span<const int> cpus) {
  return made(cpus, "cpus", [&] {
    std::vector<unsigned> ids = bound_to(cpus);
    if (ids.empty())
      refuse_cpus(cpus);
    return ids;
  });
}

namespace rt {

unsigned number_of(const worker_set &set) {
  const auto [number, generation] = set.internals();
  if (number != 0 && (generation != functions_generation() || !the_runtime().confined.has(number)))
    throw_error(errc::invalid_argument,
                "a set of workers was made before fork(), or not by Weft; make it in the child");
  return number;
}

} // namespace rt

int worker_set::size() const {
  const unsigned there = started_workers(), number = number_of(*this);
  return static_cast<int>(number ? the_runtime().confined.workers_of(number).size() : there);
}

bool worker_set::includes(int worker) const {
  const unsigned there = started_workers(), number = number_of(*this);
  if (worker < 0 || static_cast<unsigned>(worker) >= there)
    return false;
  return number == 0 || the_runtime().confined.serves(static_cast<unsigned>(worker), number);
}

} // namespace weft::inline v0
