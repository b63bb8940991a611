// SPDX-License-Identifier: Apache-2.0
#include <weft/net/port.hpp>

#include "weft_net/engine/mpi_name.hpp"

#include <weft/error.hpp>

#include <dlfcn.h>

namespace weft::inline v0 {
namespace net {

namespace {

/// Returns the folder of this library, with a slash; "" where the loader does not say.
std::string own_folder() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void *>(&open_port), &own) == 0 || !own.dli_fname)
    return "";
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

/// Opens the library. It is never closed, because workers may be inside of it at any time.
void *open_library(const std::string &engine) {
  const std::string name = "libweft-net-" + engine + ".so";
  std::string why;
  for (const std::string &folder : {own_folder(), std::string()}) {
    if (void *const library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    if (why.empty())
      why = dlerror();
  }
  throw error(errc::not_supported,
              "the engine '" + engine + "' cannot be loaded: " + why +
                  "; install what is missing, or build Weft with it (`weft info` names the engines "
                  "of the build)");
}

constexpr const char *k_within_host = "shm"; // ucx, by shared memory alone
constexpr const char *k_within_host_transports = "shm,self";

} // namespace

std::string resolve_engine(const std::string &engine) {
  if (engine == "mpi" || engine.starts_with("mpi-"))
    return weft_net::mpi_engine_name(engine, weft_net::signs_of_process(own_folder()));
  return engine == "auto" || engine == k_within_host ? "ucx" : engine;
}

std::unique_ptr<port> open_port(const std::string &named, const port_options &options) {
  const std::string engine = resolve_engine(named);
  if (engine.empty() || engine.find('/') != std::string::npos)
    throw error(errc::bad_setting,
                "'" + engine + "' is no name of an engine; `weft info` has them");
  void *const library = open_library(engine);
  auto *const open = reinterpret_cast<open_port_function *>(dlsym(library, "weft_net_open_port"));
  if (!open)
    throw error(errc::not_supported, "libweft-net-" + engine +
                                         ".so is no engine of this Weft: it has no "
                                         "weft_net_open_port; build both together");
  port_options chosen = options;
  if (named == k_within_host && chosen.transports.empty())
    chosen.transports = k_within_host_transports;
  return std::unique_ptr<port>(open(chosen));
}

} // namespace net
} // namespace weft::inline v0
