// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

const std::string k_begin = "<!-- report: begin -->\n", k_end = "<!-- report: end -->";

std::string text_of_page(const std::string &page) {
  std::ifstream from(page);
  return {std::istreambuf_iterator<char>(from), {}};
}

/// Returns where the part between the marks begins and ends.
std::pair<std::size_t, std::size_t> find_marks(const std::string &page, const std::string &all) {
  const auto first = all.find(k_begin), last = all.find(k_end);
  if (first == std::string::npos || last == std::string::npos || last < first)
    throw std::runtime_error("page '" + page + "' has no lines '" +
                             k_begin.substr(0, k_begin.size() - 1) + "' and '" + k_end +
                             "' in this order");
  return {first + k_begin.size(), last};
}

void write_page(const std::string &page, const std::string &all) {
  std::ofstream to(page);
  to << all;
  if (!to.flush())
    throw std::runtime_error("cannot write '" + page + "'; its folder has to be there, and to be yours");
}

} // namespace

void check_page(const std::string &page) { (void)find_marks(page, text_of_page(page)); }

void put_between_marks(const std::string &page, const std::string &text) {
  std::string all = text_of_page(page);
  const auto [begin, end] = find_marks(page, all);
  write_page(page, all.replace(begin, end - begin, text + '\n'));
}

void create_page(const std::string &page, const std::string &heading) {
  if (!std::filesystem::exists(page))
    write_page(page, "# " + heading + "\n\n" + k_begin + k_end + '\n');
}

} // namespace bench
