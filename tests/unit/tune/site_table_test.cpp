// SPDX-License-Identifier: Apache-2.0
// Functions without a type of their own have sites of their own.
#include "tune/site_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace {

using weft::rt::site_table;

struct some_site {
  int value = 0;
};

const void *function(std::uintptr_t number) { return reinterpret_cast<const void *>(number << 4); }

TEST(site_table, has_a_site_for_each_function_until_it_is_full) {
  site_table<some_site, 16> table;
  std::set<some_site *> all;
  for (std::uintptr_t i = 1; i <= 16; ++i)
    all.insert(table.find(function(i)));
  EXPECT_EQ(all.size(), 16u);
  EXPECT_EQ(all.count(nullptr), 0u);
  EXPECT_EQ(table.find(function(17)), nullptr);
  EXPECT_EQ(table.find(nullptr), nullptr);
  for (std::uintptr_t i = 1; i <= 16; ++i)
    EXPECT_EQ(all.count(table.find(function(i))), 1u) << "the same as before";
}

TEST(site_table, functions_that_begin_at_one_slot_have_sites_of_their_own) {
  site_table<some_site, 256> table;
  std::set<some_site *> all;
  const auto colliding = [](std::uintptr_t i) { return function(i << 12); }; // i * 2^16: slot by i alone
  for (std::uintptr_t i = 1; i <= 64; ++i)
    all.insert(table.find(colliding(i * 256)));
  EXPECT_EQ(all.size(), 64u);
  EXPECT_EQ(table.find(colliding(65 * 256)), nullptr) << "a search ends after 64 slots";
}

// Threads that enter the same functions at once, in different orders.
TEST(site_table, threads_agree_on_the_sites) {
  constexpr std::uintptr_t k_functions = 200;
  for (int round = 0; round < 200; ++round) {
    site_table<some_site, 256> table;
    std::vector<std::vector<some_site *>> found(4, std::vector<some_site *>(k_functions));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < found.size(); ++t)
      threads.emplace_back([&, t] {
        for (std::uintptr_t i = 0; i < k_functions; ++i) {
          const std::uintptr_t which = (i * 7 + t * 50) % k_functions;
          found[t][which] = table.find(function(which + 1));
        }
      });
    for (auto &thread : threads)
      thread.join();
    for (const auto &one : found)
      EXPECT_EQ(one, found[0]);
    EXPECT_EQ(std::set<some_site *>(found[0].begin(), found[0].end()).size(), k_functions);
  }
}

} // namespace
