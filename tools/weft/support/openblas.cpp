// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/openblas.hpp"

#include "os/file.hpp"

#include <algorithm>
#include <iterator>

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

bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

bool read_openblas(const std::string &, const std::string &text, openblas_copy &copy) {
  const std::string configuration = configuration_in(text);
  copy.library = "OpenBLAS";
  copy.since = "0.3.28";
  copy.version = configuration.substr(0, configuration.find(' '));
  copy.has_callback = has(text, "openblas_set_threads_callback_function");
  copy.uses_openmp = has(configuration, "USE_OPENMP");
  copy.has_threads = copy.uses_openmp || has(text, "pthread_create");
  copy.variable = copy.uses_openmp ? "OMP_NUM_THREADS" : "OPENBLAS_NUM_THREADS";
  return has(text, "openblas_get_parallel");
}

bool read_fftw(const std::string &name, const std::string &text, openblas_copy &copy) {
  copy.library = "FFTW";
  copy.since = "3.3.9";
  copy.has_callback = has(text, "_threads_set_callback");
  copy.uses_openmp = has(name, "_omp");
  copy.has_threads = true;
  return has(text, "_init_threads");
}

bool read_blosc(const std::string &, const std::string &text, openblas_copy &copy) {
  copy.library = "C-Blosc2";
  copy.since = "3.0";
  copy.has_callback = has(text, "blosc2_vlcompress_ctx"); // new in 3.0
  copy.has_threads = true;
  copy.variable = "BLOSC_NTHREADS";
  return has(text, "blosc2_set_threads_callback");
}

/// Reads files of a library. `read` returns false for a file without threads functions.
struct reader {
  const char *name; // what the names of its files contain
  bool (*read)(const std::string &name, const std::string &text, openblas_copy &copy);
};

/// Returns what reads a file of that name; null for none.
const reader *reader_of(const std::string &name) {
  static constexpr reader k_readers[] = {
      {"openblas", &read_openblas}, {"fftw3", &read_fftw}, {"blosc2", &read_blosc}};
  const auto *const found = std::find_if(std::begin(k_readers), std::end(k_readers),
                                         [&](const reader &one) { return has(name, one.name); });
  return found == std::end(k_readers) ? nullptr : found;
}

} // namespace

std::vector<openblas_copy> openblas_of(const std::vector<std::string> &files) {
  std::vector<openblas_copy> found;
  for (const std::string &file : files) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const reader *const reads = reader_of(name);
    if (!reads || name.find(".so") == std::string::npos)
      continue;
    const auto text = read_file(file);
    openblas_copy copy;
    copy.file = file;
    if (text && reads->read(name, *text, copy))
      found.push_back(copy);
  }
  return found;
}

std::string blas_library() { return own_library("libweft-blas-loads.so"); }

std::string limit_of(const openblas_copy &copy, const std::vector<key_value> &environment) {
  std::string text = copy.variable;
  const auto value_of = [&](const char *name) {
    const auto set = std::find_if(environment.begin(), environment.end(),
                                  [&](const key_value &v) { return v.first == name; });
    if (set == environment.end() || set->second.empty())
      return false;
    text = set->first + "=" + set->second;
    return true;
  };
  if (copy.library == "OpenBLAS") { // takes the first that is set; with OpenMP its limit counts, too
    for (const char *name : {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"})
      if (value_of(name))
        break;
  } else if (!text.empty()) {
    value_of(copy.variable.c_str());
  }
  return text.empty() ? "" : text + " limits it";
}

} // namespace weft_tool
