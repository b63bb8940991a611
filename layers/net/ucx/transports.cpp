// SPDX-License-Identifier: Apache-2.0
#include "ucx/transports.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace weft_net_ucx {

std::string transports_of(ucp_ep_h endpoint) {
  char *text = nullptr;
  std::size_t size = 0;
  FILE *const stream = open_memstream(&text, &size);
  if (!stream)
    return "ucx";
  ucp_ep_print_info(endpoint, stream);
  std::fclose(stream);
  const std::string all(text, size);
  std::free(text);
  std::string names;
  for (std::size_t at = 0; (at = all.find("]:", at)) != std::string::npos; ++at) {
    const std::size_t first = all.find(':', at + 2) + 1; // ]: 2:posix/memory
    const std::string name = all.substr(first, all.find_first_of("/ \n", first) - first);
    if (names.find(name) == std::string::npos)
      names += (names.empty() ? "" : "+") + name;
  }
  return names.empty() ? "ucx" : names;
}

} // namespace weft_net_ucx
