// SPDX-License-Identifier: Apache-2.0
#include "observe/type_times.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>

using namespace weft::rt;

class type_table : public testing::Test {
 protected:
  type_time &find(const char *label, const char *closure = nullptr) {
    return find_type(*m_all, {label, closure});
  }
  std::unique_ptr<type_times> m_all = std::make_unique<type_times>();
};

TEST_F(type_table, the_same_text_at_two_addresses_is_one_type) {
  char first[] = "potrf", second[] = "potrf";
  type_time &t = find(first);
  EXPECT_STREQ(t.name, "potrf");
  EXPECT_EQ(&find(second), &t);
  EXPECT_EQ(&find(first), &t);
}

TEST_F(type_table, memory_of_a_label_that_is_used_again_names_another_type) {
  char label[] = "one";
  type_time &one = find(label);
  std::memcpy(label, "two", 3);
  type_time &two = find(label);
  EXPECT_NE(&one, &two);
  EXPECT_STREQ(one.name, "one");
  EXPECT_STREQ(two.name, "two");
}

TEST_F(type_table, labels_that_begin_alike_are_different_types) {
  type_time &longer = find("copy_in"), &shorter = find("copy");
  EXPECT_STREQ(longer.name, "copy_in");
  EXPECT_STREQ(shorter.name, "copy");
  char label[] = "solve";
  find(label);
  label[3] = '\0'; // the same memory
  EXPECT_STREQ(find(label).name, "sol");
  label[3] = 'v';
  EXPECT_STREQ(find(label).name, "solve");
}

TEST_F(type_table, a_closure_is_called_what_the_compiler_calls_it) {
  EXPECT_STREQ(find(nullptr, "auto f() [with F = main()::<lambda()>]").name, "main()::<lambda()>");
  EXPECT_STREQ(find(nullptr, nullptr).name, "task");
}

TEST_F(type_table, what_finds_no_room_is_counted_together) {
  std::set<type_time *> entries;
  for (int i = 0; i < 1000; ++i)
    entries.insert(&find(("label " + std::to_string(i)).c_str()));
  EXPECT_EQ(entries.size(), k_type_times);
  EXPECT_STREQ(m_all->entries[k_type_times - 1].name, "(others)");
  EXPECT_STREQ(find("label 3").name, "label 3") << "who came in time stays";
  EXPECT_STREQ(find("label 999").name, "(others)");
}

TEST_F(type_table, a_long_name_is_cut) {
  const std::string label(500, 'x');
  type_time &t = find(label.c_str());
  EXPECT_EQ(std::strlen(t.name), sizeof t.name - 1);
  EXPECT_EQ(&find(label.c_str()), &t);
}
