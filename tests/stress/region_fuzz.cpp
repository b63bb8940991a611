// SPDX-License-Identifier: Apache-2.0
// Random nested tasks whose accesses are regions of one to three dimensions that overlap, against their serial run.
//
//   region_fuzz [--seconds S] [--seed N | --from N] [--fault]
//
// with the settings of the environment. --fault drops an access of some tasks: the run must then differ, so it fails when none does.
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <unistd.h>
#include <vector>

namespace {

using weft::access_mode;

constexpr int k_cells = 96;
using memory = std::array<std::uint64_t, k_cells>;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

bool writes(access_mode m) { return m != access_mode::in && m != access_mode::weak_in; }
bool is_concurrent(access_mode m) {
  return m == access_mode::concurrent || m == access_mode::weak_concurrent;
}
bool is_weak(access_mode m) {
  return m == access_mode::weak_in || m == access_mode::weak_out || m == access_mode::weak_inout ||
         m == access_mode::weak_concurrent || m == access_mode::weak_commutative;
}

struct use {
  weft::region part; // of g_shape, a stand-in for the memory
  std::vector<int> cells; // that it has, by an own reckoning
  access_mode mode;
  bool object; // one cell, named as an object
};

enum class act { touch, spawn, wait_all, wait_on, yield, release };

struct node;
struct step {
  act what;
  int place = -1; // of the child, or of the use that is waited for or given up
  std::vector<int> cells{}; // to be touched: c is written, ~c read, k_cells + c added to
};

struct node {
  int id = 0, depth = 0;
  std::vector<use> uses;
  std::vector<use> waits; // uses that it waits for
  std::vector<step> steps;
  std::vector<std::unique_ptr<node>> children;
  bool final = false, undeferred = false, wait = false, by_list = false, lost = false;
};

memory g_shape; // regions are made of it, and moved to the memory that is worked on

struct right {
  bool read = false, write = false, child_read = false, child_write = false;
  bool add = false, child_add = false,
       named_otherwise = false; // concurrently; named_otherwise: not as a reduction
  bool busy_reading = false, busy_writing = false; // children that were not waited for
  bool left_reading = false; // the task gave it up while a child read it
};
using rights = std::array<right, k_cells>;

class generator {
 public:
  explicit generator(std::uint64_t seed) : m_random(seed), m_budget(in_range(5, 120)) {}

  std::unique_ptr<node> make() {
    rights all;
    right any;
    any.read = any.write = any.child_read = any.child_write = true;
    all.fill(any);
    auto root = std::make_unique<node>();
    m_dense = chance(50);
    while (m_budget > 0)
      fill(*root, all);
    root->steps.push_back({act::wait_all});
    return root;
  }
  [[nodiscard]] int tasks() const { return m_ids; }

 private:
  int in_range(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(m_random);
  }
  bool chance(int percent) { return in_range(0, 99) < percent; }

  struct part {
    int first, count;
  };
  part part_of(int extent) {
    const int first = in_range(0, extent - 1);
    return chance(25) ? part{0, extent}
                      : part{first, in_range(1, std::min(extent - first, m_dense ? extent : 3))};
  }

  /// A region and its cells: extents e, parts p, distances d in cells.
  use boxed(std::array<int, 3> e, std::array<int, 3> d, int dimensions, bool strided) {
    std::array<part, 3> p{part{0, 1}, part{0, 1}, part{0, 1}};
    weft::region r = dimensions == 1   ? weft::region(g_shape.data(), e[2])
                     : dimensions == 2 ? weft::region(g_shape.data(), {e[1], e[2]})
                                       : weft::region(g_shape.data(), {e[0], e[1], e[2]});
    for (int i = 3 - dimensions; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      p[at] = part_of(e[at]);
      if (p[at].count == e[at] && chance(50))
        r = r.all();
      else if (chance(50))
        r = r.range(p[at].first, p[at].first + p[at].count - 1);
      else
        r = r.span(p[at].first, p[at].count);
    }
    if (strided)
      r = dimensions == 1   ? r.strides({d[2]})
          : dimensions == 2 ? r.strides({d[1], d[2]})
                            : r.strides({d[0], d[1], d[2]});
    use u{r, {}, access_mode::in, false};
    for (int i = p[0].first; i < p[0].first + p[0].count; ++i)
      for (int j = p[1].first; j < p[1].first + p[1].count; ++j)
        for (int k = p[2].first; k < p[2].first + p[2].count; ++k)
          u.cells.push_back(i * d[0] + j * d[1] + k * d[2]);
    return u;
  }

  use any_part() {
    switch (in_range(0, 6)) {
    case 0:
      return object(in_range(0, k_cells - 1));
    case 1:
      return boxed({1, 1, 96}, {0, 0, 1}, 1, false);
    case 2:
      return boxed({1, 8, 12}, {0, 12, 1}, 2, false);
    case 3:
      return boxed({4, 4, 6}, {24, 6, 1}, 3, false);
    case 4:
      return boxed({1, 6, 10}, {0, 16, 1}, 2, true); // rows of 16, of which 10 are the matrix
    case 5:
      return boxed({1, 1, 48}, {0, 0, 2}, 1, true); // every second cell
    default:
      return boxed({1, 9, 12}, {0, 10, 1}, 2, true); // rows that overlap
    }
  }
  use object(int cell) {
    return {
        weft::region(&g_shape[static_cast<std::size_t>(cell)], 1), {cell}, access_mode::in, true};
  }

  /// Commutative regions run in the order of their creation; objects do so among regions only.
  access_mode plain_mode(bool region, bool weak) {
    if (region && chance(15))
      return weak ? access_mode::weak_commutative : access_mode::commutative;
    return static_cast<access_mode>(in_range(0, 2) + (weak ? 3 : 0));
  }

  /// False: the parent may not pass that part on.
  bool allow(use &u, const rights &of) {
    const auto all = [&](auto has) {
      return std::all_of(u.cells.begin(), u.cells.end(),
                         [&](int c) { return has(of[static_cast<std::size_t>(c)]); });
    };
    const bool weak = chance(40);
    const access_mode shared = weak ? access_mode::weak_concurrent : access_mode::concurrent;
    if (!u.object && chance(20) && all([](const right &r) { return r.child_write; }))
      u.mode = shared;
    else if (all([](const right &r) { return r.child_write; }))
      u.mode = plain_mode(!u.object, weak);
    else if (all([](const right &r) { return r.child_read; }))
      u.mode = weak ? access_mode::weak_in : access_mode::in;
    else if (!u.object && all([](const right &r) { return r.child_add; }))
      u.mode = shared;
    else
      return false;
    return true;
  }

  /// A part that the task may pass on.
  bool choose(use &u, const node &parent, const rights &of) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      u = any_part();
      if (allow(u, of))
        return true;
    }
    if (parent.uses.empty())
      return false;
    const use &own =
        parent
            .uses[static_cast<std::size_t>(in_range(0, static_cast<int>(parent.uses.size()) - 1))];
    u = chance(50) ? own
                   : object(own.cells[static_cast<std::size_t>(
                         in_range(0, static_cast<int>(own.cells.size()) - 1))]);
    return allow(u, of);
  }

  void touch(node &n, rights &of) {
    step s{act::touch};
    for (int c = 0; c < k_cells; ++c) {
      const right &r = of[static_cast<std::size_t>(c)];
      if ((r.write && !r.busy_reading && !r.busy_writing) ||
          (r.read && !r.write && !r.busy_writing))
        if (chance(80))
          s.cells.push_back(r.write ? c : ~c);
      if (r.add && chance(80)) // beside others that add
        s.cells.push_back(k_cells + c);
    }
    n.steps.push_back(std::move(s));
  }

  void spawn(node &n, rights &of) {
    if (m_budget-- <= 0)
      return;
    auto child = std::make_unique<node>();
    child->id = ++m_ids;
    child->depth = n.depth + 1;
    child->final = chance(5);
    child->undeferred = chance(6);
    child->wait = chance(10);
    child->by_list = chance(30);
    rights its;
    for (int k = in_range(1, 4); k > 0; --k) {
      use u{weft::region(g_shape), {}, access_mode::in, false};
      if (!choose(u, n, of))
        continue;
      for (int c : u.cells) {
        right &r = its[static_cast<std::size_t>(c)];
        if (is_concurrent(u.mode)) {
          r.child_add = true;
          r.add = r.add || !is_weak(u.mode);
          continue;
        }
        r.named_otherwise = true;
        r.child_read = true;
        r.child_write = r.child_write || writes(u.mode);
        r.read = r.read || !is_weak(u.mode);
        r.write = r.write || (!is_weak(u.mode) && writes(u.mode));
      }
      child->uses.push_back(std::move(u));
    }
    for (right &r : its) {
      r.write =
          r.read &&
          r.child_write; // what one access has strongly and another one weakly, is strong: it waits for both
      r.add = r.add && !r.named_otherwise;
      r.child_add = r.child_add && !r.named_otherwise;
    }
    make_body(*child, its);
    for (const use &u : child->uses)
      for (int c : u.cells) {
        right &r = of[static_cast<std::size_t>(c)];
        (writes(u.mode) ? r.busy_writing : r.busy_reading) = true;
        // Inside of a writer: a waiting reader does not wait for them.
        const right &inside = its[static_cast<std::size_t>(c)];
        r.busy_reading = r.busy_reading || inside.busy_reading || inside.left_reading;
      }
    n.steps.push_back({act::spawn, static_cast<int>(n.children.size())});
    n.children.push_back(std::move(child));
  }

  void wait_on(node &n, rights &of) {
    use u = any_part();
    u.mode = chance(50) ? access_mode::in : access_mode::inout;
    for (int c : u.cells) {
      right &r = of[static_cast<std::size_t>(c)];
      if (!(r.child_write || (r.child_read && !writes(u.mode))))
        return;
    }
    for (int c : u.cells) {
      right &r = of[static_cast<std::size_t>(c)];
      r.busy_writing = false;
      if (writes(u.mode))
        r.busy_reading = false;
    }
    n.steps.push_back({act::wait_on, static_cast<int>(n.waits.size())});
    n.waits.push_back(std::move(u));
  }

  /// One of its own accesses, or a part of it.
  void release(node &n, rights &of) {
    if (n.uses.empty())
      return;
    const int place = in_range(0, static_cast<int>(n.uses.size()) - 1);
    for (int c : n.uses[static_cast<std::size_t>(place)].cells) {
      right &r = of[static_cast<std::size_t>(c)];
      right none;
      none.busy_reading = r.busy_reading; // its children go on
      none.busy_writing = r.busy_writing;
      none.left_reading = r.left_reading || r.busy_reading;
      r = none;
    }
    n.steps.push_back({act::release, place});
  }

  void fill(node &n, rights &of) {
    for (int k = in_range(1, 10); k > 0; --k) {
      const int dice = in_range(0, 107);
      if (dice >= 100) {
        release(n, of);
      } else if (dice < 60) {
        spawn(n, of);
      } else if (dice < 75) {
        touch(n, of);
      } else if (dice < 85) {
        n.steps.push_back({act::yield});
      } else if (dice < 94) {
        wait_on(n, of);
      } else {
        n.steps.push_back({act::wait_all});
        for (right &r : of)
          r.busy_reading = r.busy_writing = false;
      }
    }
  }

  void make_body(node &n, rights &of) {
    touch(n, of);
    if (n.depth < 4 && chance(60))
      fill(n, of);
    touch(n, of);
  }

  std::mt19937_64 m_random;
  int m_budget;
  int m_ids = 0;
  bool m_dense = false;
};

void touch_cells(const node &n, const step &s, memory &m, std::uint64_t &digest) {
  for (int c : s.cells) {
    if (c >= k_cells)
      std::atomic_ref(m[static_cast<std::size_t>(c - k_cells)])
          .fetch_add(mix(static_cast<std::uint64_t>(n.id),
                         static_cast<std::uint64_t>(&s - n.steps.data())),
                     std::memory_order_relaxed);
    else if (c < 0)
      digest = mix(digest, m[static_cast<std::size_t>(~c)]);
    else
      digest = m[static_cast<std::size_t>(c)] =
          mix(mix(m[static_cast<std::size_t>(c)], digest), static_cast<std::uint64_t>(n.id));
  }
}

void run_serially(const node &n, memory &m) {
  std::uint64_t digest = static_cast<std::uint64_t>(n.id);
  for (const step &s : n.steps) {
    if (s.what == act::touch)
      touch_cells(n, s, m, digest);
    else if (s.what == act::spawn)
      run_serially(*n.children[static_cast<std::size_t>(s.place)], m);
  }
}

class parallel {
 public:
  explicit parallel(memory &m) : m_memory(m) {}

  void run(const node &n) {
    ++m_ran;
    std::uint64_t digest = static_cast<std::uint64_t>(n.id);
    for (const step &s : n.steps) {
      switch (s.what) {
      case act::touch:
        touch_cells(n, s, m_memory, digest);
        break;
      case act::spawn:
        spawn(*n.children[static_cast<std::size_t>(s.place)]);
        break;
      case act::wait_all:
        weft::taskwait();
        break;
      case act::wait_on:
        weft::taskwait(moved(n.waits[static_cast<std::size_t>(s.place)]));
        break;
      case act::yield:
        weft::taskyield();
        break;
      case act::release:
        give_up(n, n.uses[static_cast<std::size_t>(s.place)]);
        break;
      }
    }
  }
  [[nodiscard]] int ran() const { return m_ran; }

 private:
  /// The same region of the memory that is worked on.
  weft::region_access moved(const use &u) const {
    const auto offset = static_cast<const char *>(u.part.address()) -
                        reinterpret_cast<const char *>(g_shape.data());
    const weft::region &p = u.part;
    weft::detail::region_dimension d[3];
    for (unsigned i = 0; i < p.dimensions(); ++i)
      d[i] = p.dimension(i);
    return {weft::region(reinterpret_cast<const char *>(m_memory.data()) + offset,
                         p.element_bytes(), p.dimensions(), d),
            u.mode};
  }
  weft::access object(const use &u) const {
    return {&m_memory[static_cast<std::size_t>(u.cells[0])], u.mode, sizeof(std::uint64_t)};
  }

  void give_up(const node &n, const use &u) const {
    if (n.lost)
      return;
    if (u.object)
      weft::release(object(u));
    else
      weft::release(moved(u));
  }

  template <class... Clauses>
  void submit(const node &n, const Clauses &...clauses) {
    weft::spawn([this, &n] { run(n); }, clauses..., weft::final(n.final), weft::if_(!n.undeferred));
  }

  void spawn(const node &n) {
    std::vector<weft::access> objects;
    std::vector<weft::region_access> regions;
    for (const use &u : n.uses) {
      if (n.lost && &u == &n.uses[0])
        continue;
      if (u.object)
        objects.push_back(object(u));
      else
        regions.push_back(moved(u));
    }
    if (n.wait)
      submit(n, weft::accesses(objects), weft::regions(regions), weft::wait);
    else if (regions.size() == 1 && !n.by_list)
      submit(n, regions[0], weft::accesses(objects));
    else if (regions.size() == 2 && objects.empty() && !n.by_list)
      submit(n, regions[0], regions[1]);
    else if (regions.empty())
      submit(n, weft::accesses(objects));
    else
      submit(n, weft::accesses(objects), weft::regions(regions));
  }

  memory &m_memory;
  std::atomic<int> m_ran{0};
};

void lose_some(node &n) {
  n.lost = n.id % 3 == 1;
  for (auto &child : n.children)
    lose_some(*child);
}

std::uint64_t g_seed = 0;

/// False: it differs from the serial run.
bool passes(std::uint64_t seed, bool fault) {
  g_seed = seed;
  alarm(test::k_sanitized ? 240 : 60);
  generator g(seed);
  const std::unique_ptr<node> root = g.make();
  if (fault)
    lose_some(*root);
  memory expected, got;
  for (std::size_t i = 0; i != expected.size(); ++i)
    expected[i] = got[i] = mix(seed, i);
  run_serially(*root, expected);
  parallel p(got);
  p.run(*root);
  if (got == expected && p.ran() == g.tasks() + 1)
    return true;
  std::printf("seed %" PRIu64 ": %d of %d tasks ran; cells that differ:", seed, p.ran() - 1,
              g.tasks());
  for (std::size_t i = 0; i != got.size(); ++i)
    if (got[i] != expected[i])
      std::printf(" %zu", i);
  std::printf("\n");
  return false;
}

void it_hangs(int) {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "FAILED seed %" PRIu64 ": it hangs\n", g_seed);
  if (write(STDOUT_FILENO, text, static_cast<std::size_t>(n)) < 0)
    std::_Exit(3);
  std::abort();
}

} // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::signal(SIGALRM, &it_hangs);
  double seconds = 10;
  bool one = false, fault = false;
  std::uint64_t seed = std::random_device{}();
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (std::strcmp(argv[i], "--fault") == 0) {
      fault = true;
    } else if (more && std::strcmp(argv[i], "--seconds") == 0) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (more &&
               (std::strcmp(argv[i], "--seed") == 0 || std::strcmp(argv[i], "--from") == 0)) {
      one = std::strcmp(argv[i], "--seed") == 0;
      seed = std::strtoull(argv[++i], nullptr, 0);
    } else {
      std::fprintf(stderr,
                   "%s: what is '%s'? The head of tests/stress/region_fuzz.cpp lists the options\n",
                   argv[0], argv[i]);
      return 2;
    }
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t done = 0, failed = 0;
  const std::uint64_t first = seed;
  do {
    failed += passes(seed, fault) ? 0 : 1;
    ++done;
    if (!one)
      ++seed;
  } while (failed < 3 && std::chrono::steady_clock::now() < end);
  std::printf("from seed %" PRIu64 ": %" PRIu64 " programs, %" PRIu64 " failed\n", first, done,
              failed);
  return (failed != 0) != fault ? 1 : 0;
}
