// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/mac.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <sys/random.h>

namespace weft_net {

job_key random_key() {
  job_key key;
  if (getrandom(&key, sizeof key, 0) != static_cast<ssize_t>(sizeof key))
    throw std::runtime_error(std::string("the system gives no random key: ") +
                             std::strerror(errno));
  return key;
}

std::string text_of(const job_key &key) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.words[0]),
                static_cast<unsigned long long>(key.words[1]));
  return text;
}

job_key key_of(std::string_view text) {
  job_key key;
  bool is_right = text.size() == 32;
  for (std::size_t i = 0; is_right && i != 2; ++i) {
    const char *const first = text.data() + 16 * i;
    const auto [end, error] = std::from_chars(first, first + 16, key.words[i], 16);
    is_right = error == std::errc() && end == first + 16;
  }
  if (!is_right)
    throw std::runtime_error("the job's key (net.key) has " + std::to_string(text.size()) +
                             " characters, or others than hexadecimal digits; it is 32 of these");
  return key;
}

} // namespace weft_net
