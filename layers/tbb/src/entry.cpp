// SPDX-License-Identifier: Apache-2.0
// The four functions for which TBB looks when it starts.
#include "client.hpp"
#include "server.hpp"

#include <weft/version.hpp>

#include <cstdio>
#include <exception>

using namespace weft_tbb;

#define WEFT_TBB_ENTRY extern "C" __attribute__((visibility("default")))

WEFT_TBB_ENTRY int __RML_open_factory(abi::factory *, unsigned *server_version,
                                      unsigned client_version) noexcept {
  *server_version = abi::k_version;
  // TBB with a server that starts no thread would never run what no thread waits for.
  if (sanitizer_forbids_blocks()) {
    std::fputs("weft: warning: TBB keeps its own threads: this program is built with "
               "ThreadSanitizer and Weft is not (WEFT_SANITIZE=thread)\n",
               stderr);
    return abi::incompatible;
  }
  return client_version == abi::k_version ? abi::success : abi::incompatible;
}

WEFT_TBB_ENTRY void __RML_close_factory(abi::factory *) noexcept {}

WEFT_TBB_ENTRY int __TBB_make_rml_server(abi::factory *, void **server, void *client) noexcept {
  const generation g = generation_of(client);
  if (g == generation::unknown)
    std::fputs("weft: warning: this TBB is of an unknown kind, and keeps its own threads\n",
               stderr);
  else
    try {
      *server = server::make(any_client(client, g));
      // TBB has made its keys, and given no thread a value yet: it needs a server first.
      if (!keep_values_on_stacks(*static_cast<const void *const *>(client)))
        std::fputs(
            "weft: warning: TBB's keys were not found: a task of Weft that calls TBB must not "
            "wait in Weft before it is done with TBB\n",
            stderr);
      return abi::success;
    } catch (const std::exception &e) {
      std::fprintf(stderr, "weft: warning: TBB keeps its own threads: %s\n", e.what());
    }
  return abi::incompatible;
}

WEFT_TBB_ENTRY void __TBB_call_with_my_server_info(void (*tell)(void *, const char *),
                                                   void *argument) noexcept {
  tell(argument, "Weft " WEFT_VERSION_STRING);
}
