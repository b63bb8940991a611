// SPDX-License-Identifier: Apache-2.0
// Types of tasks in a trace: one per text of a label, wherever it lies.
#include "trace/coroutine_name.hpp"
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

TEST_F(type_numbers, a_coroutine_is_known_by_its_function_and_named_by_its_address) {
  static const char code[2]{};
  const std::uint16_t first = m_cache.find_coroutine(&code[0]),
                      second = m_cache.find_coroutine(&code[1]);
  EXPECT_NE(first, second);
  EXPECT_EQ(m_cache.find_coroutine(&code[0]), first);
  EXPECT_EQ(type_cache().find_coroutine(&code[0]), first); // of another worker
  EXPECT_EQ(coroutine_of(m_table[first]), &code[0]);
  EXPECT_EQ(coroutine_of(m_table[second]), &code[1]);
  EXPECT_EQ(m_table[first].named, named_by::coroutine);
  EXPECT_EQ(m_table[m_cache.find("label", nullptr)].named, named_by::label);
  EXPECT_EQ(std::string(m_table[first].name).substr(0, 12), "coroutine 0x");
}

std::string coroutine_named(const char *symbol_name) {
  symbol s;
  s.name = symbol_name;
  s.module = "/usr/bin/app";
  s.offset = 0x1234;
  return name_of_coroutine(s);
}

TEST(coroutine_names, are_those_of_the_source) {
  EXPECT_EQ(coroutine_named("app::sum(app::sum(tree const*)::_ZN3app3sumEPK4tree.Frame*) [clone .actor]"),
            "app::sum"); // GCC
  EXPECT_EQ(coroutine_named("app::sum(tree const*) [clone .resume]"), "app::sum"); // Clang
  EXPECT_EQ(coroutine_named("main::{lambda()#1}::operator()() const"),
            "main::{lambda()#1}::operator()");
  EXPECT_EQ(coroutine_named("weft::v0::task<std::pair<int, int> > (anonymous namespace)::twice<int, long>(int, long (*)(int)) [clone .resume]"),
            "(anonymous namespace)::twice<int, long>");
  EXPECT_EQ(coroutine_named("list::operator<<(int)"), "list::operator<<");
  EXPECT_EQ(coroutine_named("not_mangled"), "not_mangled");
  EXPECT_EQ(coroutine_named("quoted\"\\\n"), "quoted___");
  EXPECT_EQ(coroutine_named(std::string(300, 'x').c_str()), std::string(110, 'x'));
}

TEST(coroutine_names, without_symbols_are_places) {
  EXPECT_EQ(coroutine_named(""), "coroutine app+0x1234");
  EXPECT_EQ(name_of_coroutine(symbol()), "");
}

TEST_F(type_numbers, what_would_end_a_name_in_the_metadata_is_written_otherwise) {
  EXPECT_EQ(name_of("a \"b\"\\\n"), "a _b___");
}

TEST_F(type_numbers, a_long_name_is_cut) {
  const std::string label(500, 'x');
  EXPECT_EQ(name_of(label.c_str()), std::string(sizeof(trace_type::name) - 1, 'x'));
}

} // namespace
