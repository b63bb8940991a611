// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/pmix.hpp"

#include <stdexcept>

#ifdef WEFT_HAVE_PMIX

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

#include <pmix.h>

namespace weft_net {

namespace {

constexpr const char *k_pmix_key = "weft-net";
constexpr const char *k_without_pmix =
    "; without PMIx set WEFT_NET_ROOT=HOST:PORT, the host of rank 0 and a free port there, and "
    "WEFT_NET_KEY to 32 hexadecimal digits, or use `weft launch`";

/// Is the functions of libpmix that are called here.
struct pmix_calls {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence) fence;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Error_string) error_string;
};

template <class Function>
void find_call(void *library, const char *name, Function &found) {
  found = reinterpret_cast<Function>(dlsym(library, name));
  if (!found)
    throw std::runtime_error(std::string("PMIx: the library has no ") + name + k_without_pmix);
}

/// The library stays, because its thread does.
pmix_calls load_pmix(const char *name) {
  void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    throw std::runtime_error(std::string("PMIx: ") + dlerror() +
                             "; install it (Debian: libpmix2)" + k_without_pmix);
  pmix_calls found{};
  find_call(library, "PMIx_Init", found.init);
  find_call(library, "PMIx_Put", found.put);
  find_call(library, "PMIx_Commit", found.commit);
  find_call(library, "PMIx_Fence", found.fence);
  find_call(library, "PMIx_Get", found.get);
  find_call(library, "PMIx_Finalize", found.finalize);
  find_call(library, "PMIx_Error_string", found.error_string);
  return found;
}

void check_pmix(const pmix_calls &calls, pmix_status_t status, const char *what) {
  if (status != PMIX_SUCCESS)
    throw std::runtime_error(std::string("PMIx: ") + what + ": " + calls.error_string(status));
}

pmix_info_t info_of(const char *key, pmix_data_type_t type) {
  pmix_info_t made{};
  std::strncpy(made.key, key, sizeof made.key - 1);
  made.value.type = type;
  return made;
}

decltype(&PMIx_Finalize) g_pmix_finalize = nullptr;
pid_t g_pmix_process = 0;
std::atomic<bool> g_pmix_is_open{false};

} // namespace

std::string share_by_pmix(const char *library, int rank, const std::string &value, int seconds) {
  const pmix_calls calls = load_pmix(library);
  pmix_proc_t own{};
  check_pmix(calls, calls.init(&own, nullptr, 0), "the program that started the ranks does not answer (PMIx_Init)");
  g_pmix_finalize = calls.finalize;
  g_pmix_process = getpid();
  g_pmix_is_open.store(true);
  static_cast<void>(std::atexit([] { finalize_pmix(); }));
  if (own.rank != static_cast<pmix_rank_t>(rank))
    throw std::runtime_error("PMIx: this process is rank " + std::to_string(own.rank) + " of '" + own.nspace +
                             "' there, and rank " + std::to_string(rank) + " by its environment" + k_without_pmix);
  if (rank == 0) {
    std::string text = value;
    pmix_value_t put{};
    put.type = PMIX_STRING;
    put.data.string = text.data();
    check_pmix(calls, calls.put(PMIX_GLOBAL, k_pmix_key, &put), "PMIx_Put");
    check_pmix(calls, calls.commit(), "PMIx_Commit");
  }

  std::array infos{info_of(PMIX_COLLECT_DATA, PMIX_BOOL), info_of(PMIX_TIMEOUT, PMIX_INT)};
  infos[0].value.data.flag = true;
  infos[1].value.data.integer = seconds;
  pmix_proc_t whom = own;
  whom.rank = PMIX_RANK_WILDCARD;
  check_pmix(calls, calls.fence(&whom, 1, infos.data(), infos.size()), "not all ranks have come (PMIx_Fence)");

  infos[0] = info_of(PMIX_IMMEDIATE, PMIX_BOOL);
  infos[0].value.data.flag = true;
  whom.rank = 0;
  pmix_value_t *found = nullptr;
  check_pmix(calls, calls.get(&whom, k_pmix_key, infos.data(), infos.size(), &found),
             "there is no value of rank 0, which says where the ranks meet (PMIx_Get)");
  if (!found || found->type != PMIX_STRING || !found->data.string)
    throw std::runtime_error("PMIx: the value of rank 0 is no text (PMIx_Get)");
  const std::string shared = found->data.string;
  std::free(found->data.string);
  std::free(found);
  if (shared.empty())
    throw std::runtime_error("the host of rank 0 has no address that other hosts can reach, only loopback; give it a "
                             "network, or name an interface (net.interface)");
  return shared;
}

void finalize_pmix() noexcept {
  if (g_pmix_is_open.exchange(false) && g_pmix_process == getpid())
    static_cast<void>(g_pmix_finalize(nullptr, 0));
}

} // namespace weft_net

#else

namespace weft_net {

std::string share_by_pmix(const char *, int, const std::string &, int) {
  throw std::runtime_error(
      "this Weft was built without PMIx (Debian: libpmix-dev), by which ranks on several hosts find each other; set "
      "WEFT_NET_ROOT=HOST:PORT, the host of rank 0 and a free port there, and WEFT_NET_KEY to 32 hexadecimal digits, "
      "or use `weft launch`");
}
void finalize_pmix() noexcept {}

} // namespace weft_net

#endif
