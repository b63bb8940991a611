// SPDX-License-Identifier: Apache-2.0
// Tasks that a layer runs by itself: when they are ready, and what their siblings have named.
#include <weft/layer/external_task.hpp>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace {

using weft::access;
using weft::access_mode;
using weft::layer::external_task;

/// A task that has children, and those of them that are ready and have not ended.
class family {
 public:
  family() { weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &m_parent); }
  family(const family &) = delete;
  family &operator=(const family &) = delete;
  ~family() { weft::layer::end_external_task(*m_parent); }

  struct child {
    external_task *task = nullptr;
    std::atomic<bool> ready{false};
    /// Managers may tell it later, and on other workers.
    bool becomes_ready() const {
      while (!ready)
        weft::taskyield();
      return true;
    }
  };
  void hold(child &c, const std::vector<access> &list) {
    constexpr auto onready = [](void *p) { static_cast<child *>(p)->ready = true; };
    if (weft::layer::enter_external_task(m_parent, list.data(), list.size(), onready, &c, &c.task))
      onready(&c);
  }
  static void end(child &c) {
    ASSERT_TRUE(c.becomes_ready());
    weft::layer::end_external_task(*c.task);
  }
  std::vector<const void *> addresses() {
    std::vector<const void *> seen;
    weft::layer::visit_addresses(
        *m_parent,
        [](void *list, const void *address) {
          static_cast<std::vector<const void *> *>(list)->push_back(address);
        },
        &seen);
    return seen;
  }

 private:
  external_task *m_parent = nullptr;
};

TEST(external_task, is_ready_when_its_accesses_allow_it) {
  family f;
  int x = 0;
  family::child writer, reader, other, last;
  f.hold(writer, {{&x, access_mode::inout, 1}});
  f.hold(reader, {{&x, access_mode::in, 1}});
  f.hold(other, {{&x, access_mode::in, 1}});
  f.hold(last, {{&x, access_mode::inout, 1}});
  EXPECT_TRUE(writer.becomes_ready());
  EXPECT_FALSE(reader.ready || other.ready || last.ready);
  f.end(writer);
  EXPECT_TRUE(reader.becomes_ready() && other.becomes_ready());
  EXPECT_FALSE(last.ready);
  f.end(other);
  f.end(reader);
  f.end(last);
}

TEST(external_task, is_ordered_by_the_bytes_of_its_regions) {
  external_task *parent = nullptr;
  weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &parent);
  constexpr auto onready = [](void *p) { static_cast<family::child *>(p)->ready = true; };
  const auto hold = [&](family::child &c, const weft::region_access &a) {
    if (weft::layer::enter_external_regions(*parent, &a, 1, "child", onready, &c, &c.task))
      onready(&c);
  };
  int x[8] = {};
  family::child left, right, middle, even, odd, inner;
  hold(left, weft::inout(weft::region(x).span(0, 4)));
  hold(right, weft::inout(weft::region(x).span(4, 4)));
  EXPECT_TRUE(left.becomes_ready() && right.becomes_ready());
  hold(middle, weft::in(weft::region(x).span(3, 2)));
  hold(even, weft::out(weft::region(x, {4, 1}).strides({2, 1})));
  hold(odd, weft::out(weft::region(x + 1, {4, 1}).strides({2, 1})));
  EXPECT_FALSE(middle.ready || even.ready || odd.ready);
  weft::layer::end_external_task(*left.task);
  EXPECT_FALSE(middle.ready);
  // A child of a task that has regions is ordered within it, and passes them on.
  const weft::region_access part = weft::inout(weft::region(x).span(6, 1));
  EXPECT_TRUE(weft::layer::enter_external_regions(*right.task, &part, 1, "inner", onready, &inner,
                                                  &inner.task));
  weft::layer::end_external_task(*right.task);
  EXPECT_TRUE(middle.becomes_ready());
  family::end(middle);
  EXPECT_TRUE(odd.becomes_ready()) << "it shares no byte with the inner task";
  EXPECT_FALSE(even.ready);
  weft::layer::end_external_task(*inner.task);
  family::end(even);
  family::end(odd);
  weft::layer::end_external_task(*parent);
}

TEST(external_task, with_impossible_regions_is_refused_and_harms_no_sibling) {
  external_task *parent = nullptr, *task = nullptr;
  weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &parent);
  int x[4] = {};
  const weft::region_access beyond = weft::inout(weft::region(x).span(3, 4)),
                            all = weft::inout(weft::region(x));
  constexpr auto nothing = [](void *) {};
  EXPECT_THROW(
      weft::layer::enter_external_regions(*parent, &beyond, 1, "child", nothing, nullptr, &task),
      weft::error);
  EXPECT_TRUE(
      weft::layer::enter_external_regions(*parent, &all, 1, "child", nothing, nullptr, &task));
  weft::layer::end_external_task(*task);
  weft::layer::end_external_task(*parent);

  weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &parent);
  const access object{&x, access_mode::inout, 4};
  family::child holder;
  constexpr auto onready = [](void *p) { static_cast<family::child *>(p)->ready = true; };
  if (weft::layer::enter_external_task(parent, &object, 1, onready, &holder, &holder.task))
    onready(&holder);
  family::end(holder);
  if (const char *system = getenv("WEFT_DEPS_SYSTEM"); !system || std::string(system) != "regions") {
    EXPECT_THROW(
        weft::layer::enter_external_regions(*parent, &all, 1, "child", nothing, nullptr, &task),
        weft::error);
  }
  weft::layer::end_external_task(*parent);
}

TEST(visit_addresses, of_a_task_without_children_there_are_none) {
  family f;
  EXPECT_TRUE(f.addresses().empty());
  family::child without;
  f.hold(without, {});
  EXPECT_TRUE(f.addresses().empty());
  f.end(without);
}

TEST(visit_addresses, names_once_what_children_that_run_or_wait_have_named) {
  family f;
  std::array<int, 200> x{}; // more than a task keeps without a table
  std::vector<family::child> children(2 * x.size());
  for (std::size_t i = 0; i != children.size(); ++i) {
    int &mine = x[i % x.size()];
    const access_mode mode = i % 3 == 0   ? access_mode::in
                             : i % 3 == 1 ? access_mode::concurrent
                                          : access_mode::inout;
    f.hold(children[i], {{&mine, mode, 1}, {&x[0], access_mode::concurrent, 1}});
  }
  std::set<const void *> named;
  for (int &v : x)
    named.insert(&v);
  const std::vector<const void *> seen = f.addresses();
  EXPECT_EQ(std::set<const void *>(seen.begin(), seen.end()), named);
  EXPECT_EQ(seen.size(), named.size());
  for (family::child &c : children)
    f.end(c);
  for (const void *address : f.addresses())
    EXPECT_TRUE(named.count(address)) << "nobody has named it";
}

TEST(visit_addresses, who_writes_all_of_them_runs_behind_all_siblings_before) {
  family f;
  int x[4] = {};
  std::array<family::child, 5> before;
  f.hold(before[0], {{&x[0], access_mode::inout, 1}});
  f.hold(before[1], {{&x[1], access_mode::in, 1}});
  f.hold(before[2], {{&x[2], access_mode::concurrent, 1}});
  f.hold(before[3], {{&x[0], access_mode::in, 1}, {&x[3], access_mode::inout, 1}});
  f.hold(before[4], {{&x[3], access_mode::in, 1}});
  std::vector<access> all;
  for (const void *address : f.addresses())
    all.push_back({address, access_mode::inout, 1});
  family::child behind, after;
  f.hold(behind, all);
  f.hold(after, {{&x[1], access_mode::in, 1}});
  for (family::child &c : before) {
    EXPECT_FALSE(behind.ready);
    f.end(c);
  }
  EXPECT_TRUE(behind.becomes_ready());
  EXPECT_FALSE(after.ready);
  f.end(behind);
  f.end(after);
}

TEST(visit_addresses, knows_nothing_of_other_tasks_children) {
  family f, g;
  int x = 0, y = 0;
  family::child of_f, of_g;
  f.hold(of_f, {{&x, access_mode::inout, 1}});
  g.hold(of_g, {{&y, access_mode::inout, 1}});
  EXPECT_EQ(f.addresses(), std::vector<const void *>{&x});
  EXPECT_EQ(g.addresses(), std::vector<const void *>{&y});
  f.end(of_f);
  g.end(of_g);
}

} // namespace
