// SPDX-License-Identifier: Apache-2.0
// taskloop, task for and taskloop for with their clauses: each iteration once, its variables, its order.
#include "check.hpp"

#include <weft/runtime.hpp>

#include <atomic>
#include <climits>
#include <set>
#include <string>
#include <vector>

static constexpr int k_n = 100;

struct counts {
  std::atomic<int> at[k_n] = {};
  void once(int first = 0, int last = k_n, int step = 1) {
    for (int i = 0; i < k_n; ++i) {
      const bool named = i >= first && i < last && (i - first) % step == 0;
      CHECK(at[i] == (named ? 1 : 0));
      at[i] = 0;
    }
  }
};

// Every form of the head, on every directive.
static void heads() {
  counts c;
  int i = -1;
#pragma oss taskloop shared(c)
  for (int k = 0; k < k_n; ++k)
    ++c.at[k];
#pragma oss taskwait
  c.once();
#pragma oss taskloop grainsize(7) shared(c)
  for (i = k_n - 1; 0 <= i; i--)
    ++c.at[i];
#pragma oss taskwait
  c.once();
#pragma oss task for chunksize(3) shared(c)
  for (unsigned char k = 3; k != 90; k++) {
    if (k == 200)
      continue;
    ++c.at[k];
  }
#pragma oss taskwait
  c.once(3, 90);
#pragma oss task for shared(c)
  for (long k = 5; k <= 95; k += 2 + 3) {
    if (k == 10) {
      ++c.at[k];
      continue;
    }
    ++c.at[k];
  }
#pragma oss taskwait
  c.once(5, 96, 5);
  const unsigned step = 3;
#pragma oss taskloop for grainsize(20) chunksize(2) shared(c)
  for (auto k = 98; k > 1; k -= step)
    ++c.at[k];
#pragma oss taskwait
  c.once(2, 99, 3);
#pragma oss taskloop for shared(c)
  for (int k = 1; k_n > k; k = k + 2)
    ++c.at[k];
#pragma oss taskwait
  c.once(1, k_n, 2);
#pragma oss taskloop shared(c)
  for (int k = 99; k >= 0; k = k - 3)
    ++c.at[k];
#pragma oss taskwait
  c.once(0, k_n, 3);
  // Expressions in heads keep their meaning.
  const long many = 30;
  int two = 2;
#pragma oss taskloop shared(c)
  for (int k = two * 2 - 1; k < static_cast<int>(many) + two; k = k + two + 1)
    ++c.at[k];
#pragma oss taskwait
  c.once(3, 32, 3);
#pragma oss taskloop shared(c)
  for (int k = 90; two + 1 <= k; k = k - two * 3)
    ++c.at[k];
#pragma oss taskwait
  c.once(6, 91, 6);
#pragma oss taskloop shared(c)
  for (int k = 0; k < two << 4; k += two > 1 ? 4 : 1)
    ++c.at[k];
#pragma oss taskwait
  c.once(0, 32, 4);
  // No iteration, and the ends of a type.
  int called = 0;
#pragma oss taskloop shared(called)
  for (int k = 3; k < 3; ++k)
    ++called;
#pragma oss task for inout(called)
  for (int k = 3; k < -7; ++k)
    ++called;
#pragma oss taskloop grainsize(1) inout(called)
  for (int k = INT_MAX - 4; k < INT_MAX; k += 3)
    ++called;
#pragma oss taskloop grainsize(1) inout(called)
  for (int k = INT_MIN; k < INT_MIN + 2; ++k)
    ++called;
#pragma oss taskloop grainsize(1) inout(called)
  for (int k = INT_MIN + 3; k > INT_MIN; k -= 2)
    ++called;
#pragma oss taskwait
  CHECK(called == 6);
  for (const int wrong : {0, -1}) {
    bool thrown = false;
    try {
#pragma oss taskloop grainsize(wrong)
      for (int k = 0; k < 3; ++k)
        ++called;
    } catch (const weft::error &e) {
      thrown = std::string(e.what()).find("grainsize") != std::string::npos;
    }
    CHECK(thrown);
    try {
#pragma oss taskloop
      for (int k = 0; k < 3; k += wrong)
        ++called;
    } catch (const weft::error &e) {
      thrown = std::string(e.what()).find("step") != std::string::npos;
    }
    CHECK(thrown && called == 6);
  }
}

static void collapsed() {
  std::atomic<int> at[5][7][3] = {}, tasks = 0;
#pragma oss taskloop collapse(3) grainsize(10) shared(at, tasks)
  for (int a = 0; a < 5; ++a)
    for (long b = 6; b >= 0; --b) {
      for (unsigned char d = 0; d < 5; d += 2) {
        ++at[a][b][d / 2];
        if (a == 0 && b == 6 && d == 0)
          ++tasks;
        if (d == 0)
          continue;
        ++tasks;
      }
    }
#pragma oss task for collapse(2) shared(at)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 7; ++b)
      ++at[a][b][0];
#pragma oss taskloop for collapse(2) grainsize(9) chunksize(2) shared(at)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 7; ++b)
      ++at[a][b][1];
#pragma oss taskloop collapse(1) shared(at)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 7; ++b)
      ++at[a][b][2];
#pragma oss taskwait
  for (auto &plane : at)
    for (auto &row : plane)
      for (auto &one : row)
        CHECK(one == 2);
  CHECK(tasks == 71);
  int none = 0;
#pragma oss taskloop collapse(2) shared(none)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 0; ++b)
      ++none;
#pragma oss taskwait
  CHECK(none == 0);
}

// Chunks are ordered by the items of their first iteration, or by all bytes between the first and the last.
static void accesses() {
  int v[64] = {}, w[64] = {}, seen = 0;
  for (int round = 0; round < 3; ++round) {
#pragma oss taskloop grainsize(8) inout(v[i]) in(v[i; 8])
    for (int i = 0; i < 64; ++i) {
      if (i == 8)
        be_late();
      ++v[i];
    }
#pragma oss taskloop grainsize(8) in(v[i])out({w[k], k = i; 64 - i < 8 ? 64 - i : 8})
    for (int i = 0; i < 64; ++i)
      w[i] = v[i] + round;
  }
#pragma oss task for in({v[i * 8], i = 0; 8}, {w[i * 8], i = 0; 8}) out(seen) chunksize(4)
  for (int i = 0; i < 64; ++i) {
    CHECK(v[i] == 3 && w[i] == 5);
    if (i == 63)
      seen = 1;
  }
#pragma oss taskwait in(seen)
  CHECK(seen == 1);
#pragma oss taskwait
}

static void bytes() {
#ifdef WEFT_OSS_REGIONS
  // The chunks of another size overlap.
  int v[64] = {}, m[8][8] = {};
  for (int round = 0; round < 3; ++round) {
#pragma oss taskloop grainsize(8) inout(v[i])
    for (int i = 0; i < 64; ++i) {
      if (i % 8 == 3)
        be_late();
      v[i] = v[i] * 2 + 1;
    }
#pragma oss taskloop for grainsize(5) inout({v[k], k = i; 1})
    for (int i = 63; i >= 0; --i)
      v[i] = v[i] * 2;
#pragma oss taskloop grainsize(5) collapse(2) inout(m[i][j])
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        m[i][j] = m[i][j] * 3 + 1;
#pragma oss task for inout(m[i; 1])
    for (int i = 0; i < 8; ++i)
      for (int &one : m[i])
        one = one * 2;
  }
#pragma oss taskwait
  int x = 0, y = 0;
  for (int round = 0; round < 3; ++round) {
    x = (x * 2 + 1) * 2;
    y = (y * 3 + 1) * 2;
  }
  for (int i = 0; i < 64; ++i)
    CHECK(v[i] == x && m[i / 8][i % 8] == y);
#endif
}

// Each task has copies of its own; those of a shared loop are of its participants.
static void variables() {
  int mine = 5, own = 1;
  int sum = 0;
  std::string text = "x";
  const std::string longer = "a text that is longer than its place";
  counts c;
#pragma oss taskloop grainsize(1) firstprivate(mine) private(own) shared(c)
  for (int i = 0; i < k_n; ++i) {
    ++mine;
    own = i;
    text += "y";
    CHECK(mine == 6 && text.size() == 2);
    ++c.at[own];
  }
#pragma oss taskwait
  c.once();
  CHECK(mine == 5 && own == 1 && text == "x");
#pragma oss task for chunksize(1) shared(c) inout(sum)
  for (int i = 0; i < k_n; ++i) {
    const std::size_t before = text.size();
    text += "y";
    be_late();
    CHECK(text.size() == before + 1);
    ++c.at[i];
    // A task inside may read a copy that no later chunk writes: it lives as long as the loop's task.
#pragma oss task shared(longer)
    {
      be_late();
      CHECK(longer == "a text that is longer than its place");
    }
  }
#pragma oss taskwait
  c.once();
  CHECK(text == "x");
#pragma oss taskloop default(none) shared(c) grainsize(30)
  for (int i = 0; i < k_n; ++i)
    ++c.at[i];
#pragma oss taskloop for default(shared) if (false)
  for (int i = 0; i < k_n; ++i)
    --c.at[i];
#pragma oss taskwait
  for (auto &one : c.at)
    CHECK(one == 0);
}

static void options() {
  std::atomic<int> final_ones = 0, ready = 0, costs = 0, calls = 0;
#pragma oss taskloop grainsize(25) final(true) label("chunk") priority(2) cost(3)                  \
    wait onready(++ready) shared(final_ones, ready, costs)
  for (int i = 0; i < k_n; ++i) {
    final_ones += weft::this_task::in_final() ? 1 : 0;
    costs += static_cast<int>(weft::this_task::cost());
    CHECK(std::string(weft::this_task::label()) == "chunk");
  }
#pragma oss taskwait
  CHECK(final_ones == k_n && ready == 4 && costs == 3 * k_n);
#pragma oss task for chunksize(5) onready(++ready) label("loop") cost(2) priority(-1)              \
    wait final(false) shared(ready, calls)
  for (int i = 0; i < k_n; ++i) {
    CHECK(ready == 5);
    ++calls;
  }
#pragma oss taskwait
  CHECK(calls == k_n);
  bool thrown = false;
#pragma oss taskloop grainsize(10)
  for (int i = 0; i < k_n; ++i)
    if (i == 50)
      throw std::string("fifty");
  try {
#pragma oss taskwait
  } catch (const std::string &text) {
    thrown = text == "fifty";
  }
  CHECK(thrown);
}

// A taskloop without a clause for the task of each chunk is one task, and nothing waits for it. As many of its chunks
// wait at once as it would have tasks: 8 for each worker.
static void as_one() {
  std::atomic<bool> open = false;
  std::atomic<int> inside = 0, labelled = 0;
  int mine = 5;
  counts c;
  const auto before = weft::stats().spawned;
#pragma oss taskloop label("one") priority(2) cost(7) firstprivate(mine) shared(open, labelled, c)
  for (int i = 0; i < k_n; ++i) {
    while (!open)
      weft::taskyield();
    labelled += std::string(weft::this_task::label()) == "one" && weft::this_task::cost() == 7 &&
                mine == 5;
    ++c.at[i];
  }
  CHECK(weft::stats().spawned - before == 1);
  mine = 6;
  open = true;
#pragma oss taskwait
  CHECK(labelled == k_n);
  c.once();
#pragma oss taskloop shared(inside)
  for (int i = 0; i < 9; ++i) {
    ++inside;
    while (inside < 7)
      weft::taskyield();
  }
#pragma oss taskwait
  CHECK(inside == 9);
}

template <class T>
static T templated(T n, T grain) {
  T sum{};
#pragma oss taskloop grainsize(grain) reduction(+ : sum)
  for (T i = 1; i <= n; ++i)
    sum += i;
#pragma oss taskwait
#pragma oss task for reduction(+ : sum) chunksize(grain)
  for (T i = 0; i < n; i += 2)
    sum += i;
#pragma oss taskwait
  return sum;
}

// taskiter: the tasks of one iteration, run in all of them.
static void iterated() {
  int created = 0, x = 0, order[40] = {}, n = 0;
  std::atomic<int> runs = 0;
#pragma oss taskiter label("sweeps") inout(x) shared(created, runs, order, n) wait
  for (int k = 0; k < 20; ++k) {
    ++created;
    for (int b = 0; b < 2; ++b) {
#pragma oss task inout(x) shared(runs, order, n)
      {
        ++runs;
        order[n++] = b;
        ++x;
      }
    }
    if (created > 0)
      continue;
    created = 100;
  }
#pragma oss taskwait in(x)
  CHECK(x == 40 && created == 1);
#pragma oss taskwait
  CHECK(runs == 40);
  for (int i = 0; i < 40; ++i)
    CHECK(order[i] == i % 2);

  // unroll: as many of the asked for as divide the number; update: a recording for each part.
  for (const int unroll : {1, 4, 6, 7, 50}) {
    x = created = 0;
#pragma oss taskiter unroll(unroll) inout(x) shared(created)
    for (int k = 0; k < 20; k++) {
      ++created;
#pragma oss task inout(x)
      ++x;
    }
#pragma oss taskwait
    CHECK(x == 20 && created == (unroll == 1 ? 1 : unroll == 4 ? 4 : unroll == 50 ? 20 : 5));
  }
  x = created = 0;
#pragma oss taskiter update(6) weakinout(x) shared(created)
  for (long k = 20; k > 0; k--) {
    ++created;
#pragma oss task inout(x)
    ++x;
  }
#pragma oss task inout(x)
  x *= 2;
#pragma oss taskwait
  CHECK(x == 40 && created == 4);

  // A condition is asked once for each answer that it gives.
  int asked = 0;
  x = created = 0;
#pragma oss taskiter inout(x) shared(created, asked)
  while (++asked <= 7) {
    ++created;
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskwait
  CHECK(x == 7 && asked == 8 && created == 1);
  x = created = asked = 0;
#pragma oss taskiter unroll(3) update(3) inout(x) shared(created, asked) cost(7) priority(1)
  while (asked++ < 7) {
    ++created;
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskwait
  CHECK(x == 7 && asked == 8 && created == 3);

  // Without accesses nothing waits for it; in place; ready; none.
  std::atomic<bool> go = false;
#pragma oss taskiter onready(++created) shared(go, created)
  for (int k = 0; k < 2; ++k) {
#pragma oss task shared(go)
    while (!go) {
#pragma oss taskyield
    }
  }
  go = true;
#pragma oss taskwait
  CHECK(created == 4);
  x = created = 0;
#pragma oss taskiter final(true) shared(x, created)
  for (int k = 0; k < 5; ++k) {
    ++created;
#pragma oss task inout(x)
    ++x;
    CHECK(x == created);
  }
#pragma oss taskwait
#pragma oss taskiter if (x < 0) shared(x)
  for (int k = 0; k < 5; ++k) {
#pragma oss task inout(x)
    ++x;
  }
#pragma oss taskiter shared(x)
  for (int k = 5; k < 5; ++k)
    x = 1000;
#pragma oss taskwait
  CHECK(x == 10 && created == 5);

  // What the tasks reduce is there at the end; private and copied variables are of the whole.
  int sum = 0, mine = 3, own = 0;
#pragma oss taskiter reduction(+ : sum) firstprivate(mine) private(own)
  for (int k = 0; k < 10; ++k) {
    own = mine;
#pragma oss task reduction(+ : sum)
    sum += own;
  }
#pragma oss taskiter weakreduction(+ : sum) default(none)
  for (int k = 0; k < 10; ++k) {
#pragma oss task reduction(+ : sum)
    sum += 1;
  }
#pragma oss taskwait
  CHECK(sum == 40 && mine == 3 && own == 0);
}

int main() {
  heads();
  collapsed();
  accesses();
  bytes();
  variables();
  options();
  as_one();
  CHECK(templated<int>(100, 7) == 5050 + 2450);
  CHECK(templated<unsigned long long>(100, 7) == 5050 + 2450);
  iterated();
}
