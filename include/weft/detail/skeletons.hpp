// SPDX-License-Identifier: Apache-2.0
// The skeletons that carry the parallel algorithms: for, reduce, find, scan, pack, merge, sort.
// They take numbers of elements, and functions that treat a block of them.
#pragma once

#include <weft/detail/chunk_range.hpp>
#include <weft/detail/quicksort.hpp>
#include <weft/detail/run_loop.hpp>
#include <weft/join.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace detail {

/// Holds what a policy says of the blocks of an algorithm.
struct loop_control {
  std::uint64_t grain = 0; // 0: the loop chooses
  bool one_block_each = false;
  exception_policy errors = exception_policy::by_setting;
  unsigned participants = 0; // 0: one per worker
};

/// Calls f where exceptions are collected as those of a loop are.
template <class F>
decltype(auto) with_errors(const loop_control &control, F &&f) {
  try {
    return f();
  } catch (...) {
    rethrow_current(control.errors);
  }
}
/// Does the same for an f that runs loops, which collect their own: no list holds a list.
template <class F>
decltype(auto) with_errors_of_loops(const loop_control &control, F &&f) {
  try {
    return f();
  } catch (...) {
    rethrow_current_of_loops(control.errors);
  }
}

template <class Body>
loop_request request_for(const loop_control &control, std::uint64_t size, loop_site &site,
                         Body &body) {
  loop_request r;
  r.size = size;
  r.grain = control.one_block_each ? static_grain(size) : control.grain;
  r.participate = [](void *p, loop_blocks &blocks) { (*static_cast<Body *>(p))(blocks); };
  r.context = const_cast<void *>(static_cast<const void *>(&body));
  r.site = &site;
  r.errors = control.errors;
  r.participants = control.participants;
  return r;
}

/// Says whether the caller treats [0, size) by itself, as one block.
template <class Tag>
bool is_one_block(const loop_control &control, std::uint64_t size) noexcept {
  return control.grain == 0 && !control.one_block_each && size != 0 && is_short(site_of<Tag>, size);
}
/// Calls f for such a block, and times one call in some.
template <class Tag, class F>
decltype(auto) as_one_block(const loop_control &control, std::uint64_t size, F &&f) {
  sampled_call timed(site_of<Tag>);
  if constexpr (std::is_void_v<decltype(f())>) {
    with_errors(control, f);
    timed.ends(size);
  } else {
    auto result = with_errors(control, f);
    timed.ends(size);
    return result;
  }
}

/// Lets participants call body(blocks) until all of [0, size) has been treated, in blocks that are
/// timed.
template <class Tag, class Body>
void run_timed_blocks(const loop_control &control, std::uint64_t size, Body &body) {
  if (size != 0)
    run_loop(request_for(control, size, site_of<Tag>, body));
}
/// Does the same, or calls it for all at once here.
template <class Tag, class Body>
void run_blocks(const loop_control &control, std::uint64_t size, Body &body) {
  if (is_one_block<Tag>(control, size)) {
    as_one_block<Tag>(control, size, [&] {
      one_block all(size);
      body(all);
    });
    return;
  }
  run_timed_blocks<Tag>(control, size, body);
}

// ---- for -------------------------------------------------------------------------------------------

/// Calls f(first, count) for blocks that cover [0, size).
template <class Tag, class F>
void for_blocks(const loop_control &control, std::uint64_t size, F &&f) {
  auto body = [&f](auto &blocks) {
    for (std::uint64_t first = 0, count = 0; blocks.next(first, count);)
      f(first, count);
  };
  run_blocks<Tag>(control, size, body);
}

/// Calls f(i) for each i of [0, n), each as a block of its own.
template <class F>
void for_pieces(const loop_control &control, std::uint64_t n, F &&f) {
  loop_control one = control;
  one.grain = 1;
  one.one_block_each = false;
  for_blocks<F>(one, n, [&f](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i)
      f(i);
  });
}

// ---- reduce ----------------------------------------------------------------------------------------

/// Keeps what participants have reduced, each a run of elements without a gap.
template <class T>
class reduced_runs {
 public:
  void add(std::uint64_t first, T &&value) {
    const std::lock_guard guard(m_lock);
    if (!m_only && m_more.empty())
      m_only.emplace(first, std::move(value));
    else
      m_more.emplace_back(first, std::move(value));
  }
  /// Combines all in the order of the elements.
  template <class Combine>
  std::optional<T> combine(Combine &op) {
    if (m_more.empty()) {
      if (!m_only)
        return std::nullopt;
      return std::optional<T>(std::move(m_only->value));
    }
    std::vector<run *> order{&*m_only};
    for (run &r : m_more)
      order.push_back(&r);
    std::sort(order.begin(), order.end(),
              [](const run *a, const run *b) { return a->first < b->first; });
    std::optional<T> all(std::move(order.front()->value));
    for (std::size_t i = 1; i < order.size(); ++i) {
      T next(op(std::move(*all), std::move(order[i]->value)));
      all.emplace(std::move(next));
    }
    return all;
  }

 private:
  struct run {
    run(std::uint64_t at, T &&reduced) : first(at), value(std::move(reduced)) {}
    std::uint64_t first;
    T value;
  };
  std::mutex m_lock; // for a moment, a few times a loop
  std::optional<run> m_only;
  std::vector<run> m_more;
};

/// Reduces [0, size): make(first, count) gives the value of a block, extend(value, first, count)
/// that of a run that a block extends, combine(a, b) that of two runs. The order of the elements is
/// kept, so combine need not commute. Returns nothing for size 0. The blocks are timed.
template <class Tag, class T, class Make, class Extend, class Combine>
std::optional<T> reduce_timed_blocks(const loop_control &control, std::uint64_t size, Make make,
                                     Extend extend, Combine combine) {
  reduced_runs<T> runs;
  auto body = [&](auto &blocks) {
    std::uint64_t first = 0, count = 0;
    bool more = blocks.next(first, count);
    while (more) {
      const std::uint64_t begin = first;
      T value(make(first, count));
      for (std::uint64_t end = first + count; (more = blocks.next(first, count)) && first == end;
           end = first + count)
        extend(value, first, count);
      runs.add(begin, std::move(value));
    }
  };
  run_timed_blocks<Tag>(control, size, body);
  return with_errors(control, [&] { return runs.combine(combine); });
}
/// Does the same, or reduces all at once here.
template <class Tag, class T, class Make, class Extend, class Combine>
std::optional<T> reduce_blocks(const loop_control &control, std::uint64_t size, Make make,
                               Extend extend, Combine combine) {
  if (is_one_block<Tag>(control, size))
    return as_one_block<Tag>(control, size,
                             [&] { return std::optional<T>(make(std::uint64_t{0}, size)); });
  return reduce_timed_blocks<Tag, T>(control, size, make, extend, combine);
}

// ---- find ------------------------------------------------------------------------------------------

/// Returns the least index that look(first, count) finds, or size. look() returns an index of its
/// block, the least there that matches, or first + count.
template <class Tag, class Look>
std::uint64_t find_block(const loop_control &control, std::uint64_t size, Look look) {
  if (is_one_block<Tag>(control, size)) {
    sampled_call timed(site_of<Tag>);
    const std::uint64_t found =
        with_errors(control, [&]() -> std::uint64_t { return look(std::uint64_t{0}, size); });
    timed.ends(std::min(found + 1, size));
    return found;
  }
  std::atomic<std::uint64_t> bound{size};
  auto body = [&](auto &blocks) {
    for (std::uint64_t first = 0, count = 0; blocks.next(first, count);) {
      if (first >= bound.load(std::memory_order_relaxed)) { // a hint; the end of the loop orders
        blocks.skip();
        continue;
      }
      const std::uint64_t found = look(first, count);
      if (found == first + count)
        continue;
      std::uint64_t seen = bound.load(std::memory_order_relaxed);
      while (found < seen && !bound.compare_exchange_weak(seen, found, std::memory_order_relaxed)) {
      }
      blocks.skip();
    }
  };
  run_timed_blocks<Tag>(control, size, body);
  return bound.load(std::memory_order_relaxed);
}

// ---- pieces of a fixed number ------------------------------------------------------------------------

/// Cuts [0, size) into pieces.
struct pieces {
  std::uint64_t size = 0, count = 0;
  [[nodiscard]] std::uint64_t bound(std::uint64_t i) const noexcept {
    return size / count * i + std::min<std::uint64_t>(i, size % count);
  }
};
inline constexpr std::uint64_t k_pieces_per_worker = 4, k_scan_pieces_per_worker = 16;

/// Returns how many participants there are at most.
inline std::uint64_t participants_of(const loop_control &control) {
  return control.participants != 0 ? control.participants : loop_workers();
}

/// Cuts as the policy says; without a grain into pieces of at least `least` elements.
inline pieces cut(const loop_control &control, std::uint64_t size, std::uint64_t least,
                  std::uint64_t per_worker = k_pieces_per_worker) {
  const std::uint64_t workers = participants_of(control);
  std::uint64_t n = per_worker * workers;
  if (control.one_block_each)
    n = workers;
  else if (control.grain != 0)
    n = std::min(size / control.grain + (size % control.grain != 0), 1024 * workers);
  else
    n = std::min(n, size / std::max<std::uint64_t>(least, 1));
  return {size, std::clamp<std::uint64_t>(n, 1, std::max<std::uint64_t>(size, 1))};
}
inline constexpr std::uint64_t k_least_piece = 1024;

/// Times a call that is shared because of what its site remembers, unless an exception ends it.
class shared_call {
 public:
  shared_call(loop_site &site, std::uint64_t work) noexcept
      : m_site(site), m_begin(loop_clock()), m_work(static_cast<double>(work)) {}
  ~shared_call() {
    if (std::uncaught_exceptions() == m_exceptions)
      remember_shared(m_site, loop_clock() - m_begin, m_work);
  }
  shared_call(const shared_call &) = delete;
  shared_call &operator=(const shared_call &) = delete;
  /// Says that the call left work undone, so that its time tells nothing.
  void ends_early() noexcept { m_work = 0; }

 private:
  loop_site &m_site;
  std::uint64_t m_begin;
  double m_work;
  int m_exceptions = std::uncaught_exceptions();
};

// ---- scan ------------------------------------------------------------------------------------------

/// Shares the pieces of a scan: one participant scans from the front on, the others reduce from the
/// back on, half of what is left at a time, until they meet. So a helper that comes late leaves the
/// scanner more to do, and no piece is treated twice that one participant could have scanned.
class scan_front {
 public:
  scan_front(std::uint64_t count, std::uint64_t participants)
      : m_ranges(static_cast<std::size_t>(participants) + 1) {
    m_ranges.back().range.put(0, static_cast<std::uint32_t>(count));
  }

  /// Takes part as number `me`: scan(i) for pieces from the first one on, reduce(i) for others.
  template <class Scan, class Reduce>
  void take_part(std::uint64_t me, Scan scan, Reduce reduce) {
    const stop_at_exception watch(m_failed);
    std::uint32_t piece = 0;
    if (!m_has_scanner.exchange(true, std::memory_order_relaxed)) // the end of the loop orders
      while (goes_on() && m_ranges.back().range.take(piece)) {
        scan(piece);
        ++m_scanned;
      }
    const auto range_of = [this](unsigned i) -> basic_chunk_range<> & { return m_ranges[i].range; };
    const auto members = static_cast<unsigned>(m_ranges.size()), self = static_cast<unsigned>(me);
    while (goes_on() && (range_of(self).take(piece) || steal_half(members, self, range_of, piece)))
      reduce(piece);
  }

  /// Returns how many pieces were scanned; those behind them were reduced.
  [[nodiscard]] std::uint64_t scanned() const noexcept { return m_scanned; }

 private:
  struct alignas(64) apart {
    basic_chunk_range<> range;
  };
  struct stop_at_exception {
    explicit stop_at_exception(std::atomic<bool> &flag) noexcept : failed(flag) {}
    ~stop_at_exception() {
      if (std::uncaught_exceptions() > before)
        failed.store(true, std::memory_order_relaxed);
    }
    std::atomic<bool> &failed;
    int before = std::uncaught_exceptions();
  };
  [[nodiscard]] bool goes_on() const noexcept { return !m_failed.load(std::memory_order_relaxed); }

  std::vector<apart> m_ranges; // the last one is the scanner's
  std::atomic<bool> m_has_scanner{false}, m_failed{false};
  std::uint64_t m_scanned = 0;
};

/// Scans [0, size) in order: serial(first, count) where the caller is alone, which keeps the running
/// value in `carry`. Of the rest a tail, as long as what one participant scans, waits for the second
/// pass; in the first one serial() scans from the front and make(first, count) gives the values of
/// the pieces behind it. In the second pass write(first, count, value) scans a piece behind `value`.
/// combine(a, b) need not commute. `carry` is empty where nothing comes before the first element;
/// write() and serial() take that. The blocks of the caller that is alone are timed; a shared call
/// bounds what the site remembers; after some that took longer than one alone, others are not shared,
/// because most elements of a shared one are treated twice. `control` says first_cancels: an exception
/// leaves `carry` moved from.
template <class Tag, class T, class Serial, class Make, class Write, class Combine>
void scan_to_exception(const loop_control &control, std::uint64_t size, std::optional<T> &carry,
                       Serial &serial, Make &make, Write &write, Combine &combine) {
  std::uint64_t done = 0;
  const bool chooses = control.grain == 0 && !control.one_block_each;
  if (chooses) {
    auto alone = [&](auto &blocks) {
      for (std::uint64_t first = 0, count = 0; blocks.next(first, count);)
        serial(first, count);
    };
    loop_request request = request_for(control, size, site_of<Tag>, alone);
    const auto predicted_ns =
        static_cast<double>(site_of<Tag>.ns.load(std::memory_order_relaxed)) * static_cast<double>(size);
    if ((predicted_ns > 0 && predicted_ns < k_least_shared_twice_ns) || is_left_alone(site_of<Tag>))
      request.participants = 1;
    done = run_alone(request);
  }
  if (done == size)
    return;
  const std::uint64_t participants = participants_of(control);
  const std::uint64_t tail = (size - done) / (participants + 1);
  const pieces p = cut(control, size - done - tail, k_least_piece, k_scan_pieces_per_worker);
  const auto first_of = [&](std::uint64_t i) { return done + p.bound(i); };
  const auto count_of_piece = [&](std::uint64_t i) { return p.bound(i + 1) - p.bound(i); };
  std::vector<std::optional<T>> before(p.count);
  scan_front front(p.count, participants);
  const shared_call timed(site_of<Tag>, chooses ? size : 0);
  for_pieces(control, participants, [&](std::uint64_t me) {
    front.take_part(
        me,
        [&](std::uint64_t i) { serial(first_of(i), count_of_piece(i)); },
        [&](std::uint64_t i) { before[i].emplace(make(first_of(i), count_of_piece(i))); });
  });
  const std::uint64_t scanned = front.scanned(), left = p.count - scanned;
  for (std::uint64_t i = scanned; i < p.count; ++i) { // from values of pieces to values before them
    std::optional<T> own(std::move(before[i]));
    if (!carry) {
      before[i].reset();
      carry.emplace(std::move(*own));
      continue;
    }
    before[i].emplace(*carry);
    T next(combine(*carry, std::move(*own)));
    carry.emplace(std::move(next));
  }
  if (left == 0) {
    if (tail != 0)
      serial(size - tail, tail);
    return;
  }
  const std::uint64_t tails = tail != 0 ? 1 : 0; // it comes first, because it takes longest
  for_pieces(control, tails + left, [&](std::uint64_t n) {
    if (n < tails) {
      write(size - tail, tail, std::move(carry));
      return;
    }
    const std::uint64_t i = scanned + n - tails;
    write(first_of(i), count_of_piece(i), std::move(before[i]));
  });
}

/// Does the same. The first exception ends the scan, whatever the policy: what comes behind it has no
/// value to begin with.
template <class Tag, class T, class Serial, class Make, class Write, class Combine>
void scan_timed_blocks(const loop_control &control, std::uint64_t size, std::optional<T> &carry,
                       Serial serial, Make make, Write write, Combine combine) {
  if (size == 0)
    return;
  loop_control to_exception = control;
  to_exception.errors = exception_policy::first_cancels;
  with_errors(control, [&] {
    scan_to_exception<Tag>(to_exception, size, carry, serial, make, write, combine);
  });
}

/// Does the same, or scans all at once here.
template <class Tag, class T, class Serial, class Make, class Write, class Combine>
void scan_blocks(const loop_control &control, std::uint64_t size, std::optional<T> &carry,
                 Serial serial, Make make, Write write, Combine combine) {
  if (is_one_block<Tag>(control, size))
    as_one_block<Tag>(control, size, [&] { serial(std::uint64_t{0}, size); });
  else
    scan_timed_blocks<Tag>(control, size, carry, serial, make, write, combine);
}

// ---- memory ----------------------------------------------------------------------------------------

/// Holds raw memory for n elements, which the caller constructs and destroys.
template <class T>
class scratch {
 public:
  explicit scratch(std::uint64_t n) : m_count(static_cast<std::size_t>(n)) {
    m_data = std::allocator<T>().allocate(m_count);
  }
  ~scratch() { std::allocator<T>().deallocate(m_data, m_count); }
  scratch(const scratch &) = delete;
  scratch &operator=(const scratch &) = delete;
  [[nodiscard]] T *data() const noexcept { return m_data; }

 private:
  std::size_t m_count;
  T *m_data;
};

template <class T>
inline constexpr bool moves_safely =
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
    std::is_nothrow_destructible_v<T>;

// ---- pack ------------------------------------------------------------------------------------------

/// Calls keeps(i) once for each i of [0, size), and then place(i, rank, total) for each, where rank
/// is the number of kept elements before i. `flags` has a byte per element. Returns the total.
template <class Tag, class Keeps, class Place>
std::uint64_t pack_blocks(const loop_control &control, std::uint64_t size, unsigned char *flags,
                          Keeps keeps, Place place) {
  const pieces p = cut(control, size, k_least_piece);
  std::vector<std::uint64_t> kept(p.count + 1, 0);
  for_pieces(control, p.count, [&](std::uint64_t piece) {
    std::uint64_t n = 0;
    for (std::uint64_t i = p.bound(piece), end = p.bound(piece + 1); i < end; ++i) {
      const bool keep = keeps(i);
      flags[i] = keep;
      n += keep;
    }
    kept[piece + 1] = n;
  });
  for (std::uint64_t i = 0; i < p.count; ++i)
    kept[i + 1] += kept[i];
  for_pieces(control, p.count, [&](std::uint64_t piece) {
    std::uint64_t rank = kept[piece];
    for (std::uint64_t i = p.bound(piece), end = p.bound(piece + 1); i < end; ++i) {
      place(i, rank, flags[i] != 0, kept[p.count]);
      rank += flags[i];
    }
  });
  return kept[p.count];
}

// ---- merge -----------------------------------------------------------------------------------------

/// Returns how many of the first k elements of the stable merge come from a (merge path).
template <class A, class B, class Compare>
std::uint64_t rank_in_first(std::uint64_t rank, A a, std::uint64_t na, B b, std::uint64_t nb,
                            Compare &comp) {
  using difference_a = typename std::iterator_traits<A>::difference_type;
  using difference_b = typename std::iterator_traits<B>::difference_type;
  std::uint64_t low = rank > nb ? rank - nb : 0, high = std::min(rank, na);
  while (low < high) {
    const std::uint64_t i = low + (high - low) / 2, j = rank - i;
    if (!comp(b[static_cast<difference_b>(j - 1)], a[static_cast<difference_a>(i)]))
      low = i + 1;
    else
      high = i;
  }
  return low;
}

/// Moves the stable merge of two runs to `out`.
template <class A, class B, class Out, class Compare>
void merge_by_moves(A a, A a_end, B b, B b_end, Out out, Compare &comp) {
  using value = typename std::iterator_traits<A>::value_type;
  if constexpr (is_small<value> && std::is_pointer_v<B>) {
    while (a != a_end && b != b_end) { // no branch that depends on the data
      const bool right = comp(*b, *a);
      *out = right ? value(*b) : value(*a);
      b += right;
      a += !right;
      ++out;
    }
  } else {
    while (a != a_end && b != b_end) {
      if (comp(*b, *a)) {
        *out = std::move(*b);
        ++b;
      } else {
        *out = std::move(*a);
        ++a;
      }
      ++out;
    }
  }
  out = std::move(a, a_end, out);
  std::move(b, b_end, out);
}

inline constexpr std::uint64_t k_least_merge = 8192;

/// Merges two runs in parallel, by leaf(a, a_end, b, b_end, out, comp).
template <class A, class B, class Out, class Compare, class Leaf>
void merge_runs(A a, std::uint64_t na, B b, std::uint64_t nb, Out out, Compare &comp, Leaf &leaf,
                std::uint64_t grain) {
  const auto at = [](auto from, std::uint64_t n) {
    return from + static_cast<typename std::iterator_traits<decltype(from)>::difference_type>(n);
  };
  const std::uint64_t n = na + nb;
  if (n <= grain) {
    leaf(a, at(a, na), b, at(b, nb), out, comp);
    return;
  }
  const std::uint64_t k = n / 2, i = rank_in_first(k, a, na, b, nb, comp), j = k - i;
  join([&] { merge_runs(a, i, b, j, out, comp, leaf, grain); },
       [&] { merge_runs(at(a, i), na - i, at(b, j), nb - j, at(out, k), comp, leaf, grain); });
}

// ---- sort ------------------------------------------------------------------------------------------

/// Sorts with a buffer. `It` gives the elements; leaf(first, last) sorts a run.
template <class It, class Compare, class Leaf>
class merge_sort {
  using value = typename std::iterator_traits<It>::value_type;
  using difference = typename std::iterator_traits<It>::difference_type;
  static constexpr bool trivial = std::is_trivially_copyable_v<value>;

 public:
  merge_sort(It first, std::uint64_t n, Compare &comp, Leaf &leaf, const loop_control &control)
      : m_first(first), m_size(n), m_comp(comp), m_leaf(leaf), m_buffer(n) {
    const pieces p = cut(control, n, k_least_piece);
    // So many levels that the last merge ends in the user's range: the runs begin there if they
    // are trivial, else in the buffer, whose elements are constructed from them.
    m_levels = static_cast<unsigned>(std::bit_width(p.count - 1));
    if (trivial ? m_levels % 2 != 0 : m_levels % 2 == 0)
      ++m_levels;
    m_grain = std::max(k_least_merge, n / std::max<std::uint64_t>(p.count, 1));
    m_constructed.resize(std::size_t{1} << m_levels);
  }
  ~merge_sort() {
    if constexpr (!trivial)
      for (std::uint64_t i = 0; i < m_constructed.size(); ++i)
        if (m_constructed[i])
          std::destroy(buffer_at(bound(i)), buffer_at(bound(i + 1)));
  }
  merge_sort(const merge_sort &) = delete;
  merge_sort &operator=(const merge_sort &) = delete;

  void run() { sort(0, m_levels); }

 private:
  [[nodiscard]] std::uint64_t bound(std::uint64_t i) const noexcept {
    return pieces{m_size, m_constructed.size()}.bound(i);
  }
  [[nodiscard]] It range_at(std::uint64_t i) const { return m_first + static_cast<difference>(i); }
  [[nodiscard]] value *buffer_at(std::uint64_t i) const noexcept { return m_buffer.data() + i; }

  /// Sorts the 2^level runs from run `first` on.
  void sort(std::uint64_t first, unsigned level) {
    const std::uint64_t begin = bound(first), end = bound(first + (std::uint64_t{1} << level));
    if (level == 0) {
      m_leaf(range_at(begin), range_at(end), m_comp);
      if constexpr (!trivial) {
        std::uninitialized_move(range_at(begin), range_at(end), buffer_at(begin));
        m_constructed[first] = 1;
      }
      return;
    }
    const std::uint64_t half = std::uint64_t{1} << (level - 1);
    join([&] { sort(first, level - 1); }, [&] { sort(first + half, level - 1); });
    const std::uint64_t middle = bound(first + half);
    auto leaf = [](auto a, auto a_end, auto b, auto b_end, auto out, Compare &comp) {
      merge_by_moves(a, a_end, b, b_end, out, comp);
    };
    const bool from_range = trivial ? level % 2 != 0 : level % 2 == 0;
    if (from_range)
      merge_runs(range_at(begin), middle - begin, range_at(middle), end - middle, buffer_at(begin),
                 m_comp, leaf, m_grain);
    else
      merge_runs(buffer_at(begin), middle - begin, buffer_at(middle), end - middle, range_at(begin),
                 m_comp, leaf, m_grain);
  }

  const It m_first;
  const std::uint64_t m_size;
  Compare &m_comp;
  Leaf &m_leaf;
  scratch<value> m_buffer;
  unsigned m_levels = 0;
  std::uint64_t m_grain = 0;
  std::vector<unsigned char> m_constructed; // the runs in the buffer, where they are not trivial
};

/// Is the work of a sort of n elements, in comparisons.
inline double sort_work(std::uint64_t n) noexcept {
  return static_cast<double>(n) * static_cast<double>(std::bit_width(n));
}

inline constexpr std::uint64_t k_least_sort = 512;
inline constexpr double k_guessed_comparison_ns = 1.5;

/// Says whether work that a site knows is to be shared.
inline bool pays(const loop_control &control, loop_site &site, double work) {
  if (control.grain != 0 || control.one_block_each)
    return true;
  if (is_left_alone(site))
    return false;
  const float known = site.ns.load(std::memory_order_relaxed);
  return sharing_pays((known > 0 ? static_cast<double>(known) : k_guessed_comparison_ns) * work);
}

/// Calls f, and remembers what a unit of its work takes.
template <class F>
void timed_call(loop_site &site, double work, F &&f) {
  const std::uint64_t begin = loop_clock();
  f();
  remember(site, loop_clock() - begin, work);
}

/// Sorts [first, first + n) by leaf(begin, end, comp), and merges.
template <class Tag, class It, class Compare, class Leaf>
void sort_range(const loop_control &control, It first, std::uint64_t n, Compare comp, Leaf leaf) {
  using difference = typename std::iterator_traits<It>::difference_type;
  loop_site &site = site_of<Tag>;
  const bool asked = control.grain != 0 || control.one_block_each;
  if (n < 2)
    return;
  with_errors(control, [&] {
    const It last = first + static_cast<difference>(n);
    if ((n < k_least_sort && !asked) || !pays(control, site, sort_work(n))) {
      if (n < k_least_sort)
        leaf(first, last, comp);
      else
        timed_call(site, sort_work(n), [&] { leaf(first, last, comp); });
      return;
    }
    auto timed_leaf = [&](It a, It b, Compare &cmp) {
      const auto count = static_cast<std::uint64_t>(b - a);
      timed_call(site, sort_work(count), [&] { leaf(a, b, cmp); });
    };
    merge_sort<It, Compare, decltype(timed_leaf)> sorter(first, n, comp, timed_leaf, control);
    sorter.run();
  });
}

/// Puts the k least elements of [first, first + n) to its begin, sorted; leaf(begin, end, k, comp)
/// does so for a run.
template <class It, class Compare, class Leaf>
void select_range(It first, std::uint64_t n, std::uint64_t rank, std::uint64_t runs, Compare &comp,
                  Leaf &leaf) {
  using difference = typename std::iterator_traits<It>::difference_type;
  const auto at = [first](std::uint64_t i) { return first + static_cast<difference>(i); };
  if (runs < 2 || n / 2 < rank) {
    leaf(first, at(n), std::min(rank, n), comp);
    return;
  }
  const std::uint64_t half = n / 2;
  join([&] { select_range(first, half, rank, runs / 2, comp, leaf); },
       [&] { select_range(at(half), n - half, rank, runs - runs / 2, comp, leaf); });
  // Both halves have their `rank` least in front: i and j of them are the `rank` least of all.
  const std::uint64_t i = rank_in_first(rank, first, rank, at(half), rank, comp), j = rank - i;
  std::swap_ranges(at(i), at(rank), at(half));
  std::inplace_merge(first, at(i), at(i + j), comp);
}

} // namespace detail
} // namespace weft::inline v0
