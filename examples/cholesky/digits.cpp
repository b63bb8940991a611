// SPDX-License-Identifier: Apache-2.0
#include "digits.hpp"

#include "error.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace demo {

namespace {

constexpr std::size_t k_images = 1797;
constexpr int k_brightest = 16;
constexpr std::uint32_t k_crc32 = 0x2ebe3bb7; // of the file as it is published, see data/README.md

const char k_remedy[] = "; it must be the data set that data/README.md describes";

std::string load(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  const bool folder = std::filesystem::is_directory(file);
  if (!stream || folder)
    throw input_error("cannot read '" + file + "': " + (folder ? "it is a folder" : std::strerror(errno)) +
                      "; name the digits with --data FILE");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = ~0U;
  for (unsigned char c : text) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

/// Takes the numbers of one line, each with its greatest allowed value.
class line_reader {
 public:
  line_reader(const std::string &file, std::size_t number, std::string_view line)
      : m_file(file), m_number(number), m_rest(line) {}

  int next(int most) {
    ++m_column;
    int value = -1;
    const char *end = m_rest.data() + m_rest.size();
    const auto [stop, failure] = std::from_chars(m_rest.data(), end, value);
    if (failure != std::errc() || value < 0 || value > most)
      fail("column " + std::to_string(m_column) + " must be a whole number from 0 to " +
           std::to_string(most));
    const bool last = m_column == k_pixels + 1;
    if (last ? stop != end : stop == end || *stop != ',')
      fail("it must have " + std::to_string(k_pixels + 1) + " columns with commas between them");
    m_rest.remove_prefix(static_cast<std::size_t>(stop - m_rest.data()) + (last ? 0 : 1));
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string &what) const {
    throw input_error(m_file + ", line " + std::to_string(m_number) + ": " + what + k_remedy);
  }

  const std::string &m_file;
  std::size_t m_number;
  std::string_view m_rest;
  int m_column = 0;
};

image read_image(line_reader line) {
  image result;
  for (double &pixel : result.pixels)
    pixel = static_cast<double>(line.next(k_brightest)) / k_brightest;
  result.digit = line.next(k_classes - 1);
  return result;
}

} // namespace

std::vector<image> read_digits(const std::string &file) {
  const std::string text = load(file);
  std::vector<image> images;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    images.push_back(read_image({file, images.size() + 1, line}));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  if (images.size() != k_images)
    throw input_error(file + " has " + std::to_string(images.size()) + " images, not " +
                      std::to_string(k_images) + k_remedy);
  if (crc32(text) != k_crc32)
    throw input_error(file + " has been changed: its checksum is not the published one" + k_remedy);
  return images;
}

std::string find_digits() {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path beside = program.parent_path().parent_path().parent_path() / "data/digits.csv";
  for (const std::filesystem::path &place : {std::filesystem::path("data/digits.csv"), beside})
    if (std::filesystem::exists(place, none))
      return place.string();
  throw input_error("the digits are neither at data/digits.csv nor at " + beside.string() +
                    "; name them with --data FILE");
}

} // namespace demo
