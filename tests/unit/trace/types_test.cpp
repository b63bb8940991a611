// SPDX-License-Identifier: Apache-2.0
// Types of tasks in a trace: one per text of a label, wherever it lies.
#include "trace/types.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace weft::rt;

class type_numbers : public testing::Test {
 protected:
  type_numbers() { use_type_table(m_table.data()); }
  ~type_numbers() override { use_type_table(nullptr); }
  std::string name_of(const char *label) { return m_table[m_cache.find(label, nullptr)].name; }
  std::vector<trace_type> m_table = std::vector<trace_type>(k_trace_types);
  type_cache m_cache;
};

TEST_F(type_numbers, the_same_text_at_two_addresses_is_one_type) {
  char first[] = "potrf", second[] = "potrf";
  const std::uint16_t type = m_cache.find(first, nullptr);
  EXPECT_EQ(m_cache.find(second, nullptr), type);
  EXPECT_EQ(m_cache.find(first, nullptr), type);
  EXPECT_EQ(known_types(), 1u);
  EXPECT_STREQ(m_table[type].name, "potrf");
}

TEST_F(type_numbers, labels_that_begin_alike_are_different_types_even_in_the_same_memory) {
  char label[] = "copy_in";
  EXPECT_EQ(name_of(label), "copy_in");
  label[4] = '\0';
  EXPECT_EQ(name_of(label), "copy");
  label[4] = '_';
  EXPECT_EQ(name_of(label), "copy_in");
  std::memcpy(label, "move", 4);
  EXPECT_EQ(name_of(label), "move_in");
  EXPECT_EQ(known_types(), 3u);
}

TEST_F(type_numbers, a_closure_is_known_by_its_signature_and_no_label_by_task) {
  const char signature[] = "auto f() [with F = main()::<lambda()>]";
  EXPECT_STREQ(m_table[m_cache.find(nullptr, signature)].name, "main()::<lambda()>");
  EXPECT_STREQ(m_table[m_cache.find(nullptr, nullptr)].name, "task");
}

TEST_F(type_numbers, what_would_end_a_name_in_the_metadata_is_written_otherwise) {
  EXPECT_EQ(name_of("a \"b\"\\\n"), "a _b___");
}

TEST_F(type_numbers, a_long_name_is_cut) {
  const std::string label(500, 'x');
  EXPECT_EQ(name_of(label.c_str()), std::string(sizeof(trace_type::name) - 1, 'x'));
}

} // namespace
