// SPDX-License-Identifier: Apache-2.0
#include "tune/nlopt_search.hpp"

#include <algorithm>
#include <iterator>

#ifdef WEFT_NLOPT // the library's name; with its header
#include <dlfcn.h>
#include <nlopt.h>
#endif

namespace weft::inline v0 {
namespace rt {
namespace {

struct offered {
  std::string_view name;
  const char *own; ///< NLopt's name
};
// Those that need no derivative, and whose way is the same each time.
constexpr offered k_offered[] = {{"cobyla", "LN_COBYLA"},
                                 {"direct", "GN_DIRECT_L"},
                                 {"nelder-mead", "LN_NELDERMEAD"},
                                 {"sbplx", "LN_SBPLX"}};

#ifdef WEFT_NLOPT

#define WEFT_NLOPT_FUNCTIONS(X)                                                                    \
  X(algorithm_from_string)                                                                         \
  X(create)                                                                                        \
  X(destroy)                                                                                       \
  X(force_stop)                                                                                    \
  X(optimize)                                                                                      \
  X(set_initial_step)                                                                              \
  X(set_lower_bounds)                                                                              \
  X(set_maxeval)                                                                                   \
  X(set_min_objective)                                                                             \
  X(set_upper_bounds)                                                                              \
  X(set_xtol_abs1)                                                                                 \
  X(version)

struct library {
#define WEFT_NLOPT_MEMBER(name) decltype(&nlopt_##name) name = nullptr;
  WEFT_NLOPT_FUNCTIONS(WEFT_NLOPT_MEMBER)
#undef WEFT_NLOPT_MEMBER
  nlopt_presence presence;
};

library load(const char *file) {
  library lib;
  void *const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL); // never closed
  if (!handle) {
    lib.presence.text =
        std::string("NLopt cannot be loaded (") + dlerror() + "); install libnlopt0";
    return lib;
  }
  const char *missing = nullptr;
#define WEFT_NLOPT_FIND(name)                                                                      \
  if (!(lib.name = reinterpret_cast<decltype(lib.name)>(dlsym(handle, "nlopt_" #name))))           \
    missing = "nlopt_" #name;
  WEFT_NLOPT_FUNCTIONS(WEFT_NLOPT_FIND)
#undef WEFT_NLOPT_FIND
  if (missing) {
    lib.presence.text =
        std::string(file) + " has no " + missing + "; install NLopt 2.7 or newer";
    return lib;
  }
  int major = 0, minor = 0, fix = 0;
  lib.version(&major, &minor, &fix);
  lib.presence = {true, std::to_string(major) + "." + std::to_string(minor) + "." +
                            std::to_string(fix)};
  return lib;
}

const library &the_library() {
  static const auto *const lib =
      new library(load(WEFT_NLOPT)); // never destroyed: searches may outlive exit
  return *lib;
}

/// Is a run of NLopt from its start, which takes the way that it took before: it is stopped at the
/// first point whose cost is not known, and ask() asks for that.
class nlopt_search final : public search {
 public:
  nlopt_search(const char *algorithm, lattice all, lattice_point first, std::size_t budget)
      : search(std::move(all), budget), m_algorithm(algorithm), m_first(std::move(first)) {
    for (std::size_t i = 0; i < space().dimensions(); ++i)
      if (space().sizes[i] > 1) // NLopt wants room in each dimension
        m_free.push_back(i);
  }

 private:
  static constexpr int k_most_steps = 2000; // most of them to points that are known
  static constexpr double k_worst = 1e30; // NLopt computes with costs

  struct run {
    const nlopt_search *own;
    nlopt_opt nlopt;
    std::optional<lattice_point> missing;
  };

  [[nodiscard]] lattice_point nearest(const double *place) const {
    std::vector<double> whole(m_first.begin(), m_first.end());
    for (std::size_t i = 0; i < m_free.size(); ++i)
      whole[m_free[i]] = place[i];
    return space().nearest(whole);
  }

  static double look(unsigned /*dimensions*/, const double *place, double * /*gradient*/, void *p) {
    run &of = *static_cast<run *>(p);
    lattice_point point = of.own->nearest(place);
    if (of.own->knows(point))
      return std::min(of.own->cost(point), k_worst);
    if (!of.missing) // NLopt may go on a little after force_stop()
      of.missing = std::move(point);
    the_library().force_stop(of.nlopt);
    return k_worst;
  }

  void go() override {
    static_cast<void>(cost(m_first));
    if (m_free.empty())
      return;
    const library &lib = the_library();
    const auto n = static_cast<unsigned>(m_free.size());
    const std::unique_ptr<std::remove_pointer_t<nlopt_opt>, decltype(lib.destroy)> opt(
        lib.create(lib.algorithm_from_string(m_algorithm), n), lib.destroy);
    if (!opt)
      throw std::bad_alloc();
    std::vector<double> place, most, step;
    for (const std::size_t i : m_free) {
      place.push_back(m_first[i]);
      most.push_back(space().sizes[i] - 1);
      step.push_back(std::max(1.0, 0.25 * most.back()) * (m_first[i] > most.back() / 2 ? -1 : 1));
    }
    run of{this, opt.get(), std::nullopt};
    lib.set_lower_bounds(opt.get(), std::vector<double>(n, 0.0).data());
    lib.set_upper_bounds(opt.get(), most.data());
    lib.set_initial_step(opt.get(), step.data());
    lib.set_xtol_abs1(opt.get(), 0.5); // half a step of the lattice makes no difference
    lib.set_maxeval(opt.get(), k_most_steps);
    lib.set_min_objective(opt.get(), &look, &of);
    double least = 0;
    static_cast<void>(lib.optimize(opt.get(), place.data(), &least)); // best() is among the points
    if (of.missing)
      static_cast<void>(cost(*of.missing)); // leaves
  }

  const char *const m_algorithm;
  const lattice_point m_first;
  std::vector<std::size_t> m_free;
};

#endif

} // namespace

nlopt_presence try_nlopt([[maybe_unused]] const char *name) {
#ifdef WEFT_NLOPT
  return load(name).presence;
#else
  return {false, "not in this build (libnlopt-dev was not installed when Weft was configured)"};
#endif
}

const nlopt_presence &nlopt_here() {
#ifdef WEFT_NLOPT
  return the_library().presence;
#else
  static const nlopt_presence none = try_nlopt("");
  return none;
#endif
}

const std::vector<std::string_view> &nlopt_searches() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const offered &one : k_offered)
      all.push_back(one.name);
    return all;
  }();
  return names;
}

std::unique_ptr<search> make_nlopt_search([[maybe_unused]] std::string_view name,
                                          [[maybe_unused]] lattice space,
                                          [[maybe_unused]] lattice_point first,
                                          [[maybe_unused]] std::size_t budget) {
  if (!nlopt_here().is_here)
    return nullptr;
#ifdef WEFT_NLOPT
  for (const offered &one : k_offered)
    if (one.name == name)
      return std::make_unique<nlopt_search>(one.own, std::move(space), std::move(first), budget);
#endif
  return nullptr;
}

} // namespace rt
} // namespace weft::inline v0
