// SPDX-License-Identifier: Apache-2.0
#include "base/intrusive_list.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace weft::rt;

struct item {
  int value = 0;
  item *next = nullptr;
  item *other = nullptr;
};

std::vector<int> drain(intrusive_queue<item> &queue) {
  std::vector<int> out;
  while (item *i = queue.pop_front())
    out.push_back(i->value);
  return out;
}

TEST(intrusive_queue, gives_back_in_the_order_of_pushing) {
  item a{1}, b{2}, c{3};
  intrusive_queue<item> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop_front(), nullptr);
  queue.push_back(&a);
  queue.push_back(&b);
  queue.push_back(&c);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.front(), &a);
  EXPECT_EQ(drain(queue), (std::vector{1, 2, 3}));
  EXPECT_TRUE(queue.empty());
}

TEST(intrusive_queue, a_push_to_the_front_comes_out_first_even_when_it_was_empty) {
  item a{1}, b{2}, c{3};
  intrusive_queue<item> queue;
  queue.push_front(&a);
  queue.push_back(&b);
  queue.push_front(&c);
  EXPECT_EQ(drain(queue), (std::vector{3, 1, 2}));
}

TEST(intrusive_queue, can_be_used_again_after_it_was_drained) {
  item a{1}, b{2};
  intrusive_queue<item> queue;
  queue.push_back(&a);
  EXPECT_EQ(drain(queue), (std::vector{1}));
  queue.push_back(&b);
  queue.push_back(&a);
  EXPECT_EQ(drain(queue), (std::vector{2, 1}));
}

TEST(intrusive_queue, a_splice_appends_all_and_empties_the_other) {
  item a{1}, b{2}, c{3}, d{4};
  intrusive_queue<item> left, right, none;
  left.splice(none);
  EXPECT_TRUE(left.empty());
  right.push_back(&c);
  left.splice(right); // into an empty one
  left.push_back(&d);
  right.push_back(&a);
  right.push_back(&b);
  left.splice(right);
  EXPECT_TRUE(right.empty());
  EXPECT_EQ(drain(right), std::vector<int>{});
  EXPECT_EQ(drain(left), (std::vector{3, 4, 1, 2}));
}

TEST(intrusive_queue, a_move_leaves_an_empty_queue) {
  item a{1}, b{2};
  intrusive_queue<item> from;
  from.push_back(&a);
  intrusive_queue<item> to(std::move(from));
  EXPECT_TRUE(from.empty());
  from.push_back(&b);
  EXPECT_EQ(drain(to), (std::vector{1}));
  to = std::move(from);
  EXPECT_EQ(drain(to), (std::vector{2}));
}

TEST(intrusive_queue, takes_a_link_of_another_name) {
  item a{1}, b{2};
  intrusive_queue<item, link_member<&item::other>> queue;
  queue.push_back(&a);
  queue.push_back(&b);
  EXPECT_EQ(a.other, &b);
  EXPECT_EQ(a.next, nullptr);
  EXPECT_EQ(queue.pop_front(), &a);
  EXPECT_EQ(a.other, nullptr);
  EXPECT_EQ(queue.pop_front(), &b);
}

struct node {
  node *next = nullptr;
};
struct derived : node {
  int value = 0;
};

TEST(intrusive_queue, takes_a_link_of_a_base_class) {
  derived a, b;
  intrusive_queue<derived> queue;
  queue.push_back(&a);
  queue.push_back(&b);
  derived *first = queue.pop_front();
  EXPECT_EQ(first, &a);
  EXPECT_EQ(queue.pop_front(), &b);
}

} // namespace
