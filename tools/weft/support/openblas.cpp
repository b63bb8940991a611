// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/openblas.hpp"

#include "os/file.hpp"

#include <algorithm>

namespace weft_tool {

using namespace weft::rt;

namespace {

/// Returns the configuration that OpenBLAS has compiled in: "OpenBLAS 0.3.28  USE64BITINT ...".
std::string configuration_in(const std::string &text) {
  constexpr std::string_view k_name = "OpenBLAS ";
  for (std::size_t at = text.find(k_name); at != std::string::npos; at = text.find(k_name, at + 1))
    if (const std::size_t version = text.find_first_not_of(' ', at + k_name.size());
        version != std::string::npos && text[version] >= '0' && text[version] <= '9')
      return text.substr(version, text.find('\0', version) - version);
  return "";
}

} // namespace

std::vector<openblas_copy> openblas_of(const std::vector<std::string> &files) {
  std::vector<openblas_copy> found;
  for (const std::string &file : files) {
    const std::string name = file.substr(file.rfind('/') + 1);
    if (name.find("openblas") == std::string::npos || name.find(".so") == std::string::npos)
      continue;
    const auto text = read_file(file);
    if (!text || text->find("openblas_get_parallel") == std::string::npos)
      continue;
    const std::string configuration = configuration_in(*text);
    openblas_copy copy;
    copy.file = file;
    copy.version = configuration.substr(0, configuration.find(' '));
    copy.has_callback = text->find("openblas_set_threads_callback_function") != std::string::npos;
    copy.uses_openmp = configuration.find("USE_OPENMP") != std::string::npos;
    copy.has_threads = copy.uses_openmp || text->find("pthread_create") != std::string::npos;
    found.push_back(copy);
  }
  return found;
}

std::string blas_library() { return own_library("libweft-blas-loads.so"); }

std::string limit_of(const openblas_copy &copy, const std::vector<key_value> &environment) {
  // OpenBLAS takes the first that is set; with OpenMP the runtime's limit counts as well.
  std::string first = copy.uses_openmp ? "OMP_NUM_THREADS" : "OPENBLAS_NUM_THREADS";
  for (const char *name : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const auto set = std::find_if(environment.begin(), environment.end(),
                                      [&](const key_value &v) { return v.first == name; });
        set != environment.end() && !set->second.empty())
      return set->first + "=" + set->second + " limits it";
  return first + " limits it";
}

} // namespace weft_tool
