// SPDX-License-Identifier: Apache-2.0
#include "config/icv.hpp"

#include "abi/flavor.hpp"
#include "config/environment.hpp"
#include "config/message.hpp"
#include "config/once.hpp"

#include <cstdint>
#include <exception>
#include <string>

namespace weft_omp {

lasting_globals g_lasting_globals; // made before g_read

void load_environment() noexcept { static const once read(&read_environment); }

void know_cutoff() noexcept {
  try {
    const std::string text = weft::layer::setting("omp.cutoff");
    if (g_globals.most_tasks != SIZE_MAX)
      g_globals.most_tasks = text == "off" ? SIZE_MAX : std::stoul(text);
  } catch (const std::exception &e) {
    warn("cannot read setting omp.cutoff (%s); using 1024", e.what());
  }
}

namespace {

/// Reads the environment when GNU's runtime does, at load. LLVM's runtime reads it at first use,
/// and programs set variables until then.
const once g_read([] {
  if (!is_of_llvm())
    load_environment();
});

} // namespace
} // namespace weft_omp
