// SPDX-License-Identifier: Apache-2.0
// The parallel scheduler of std::execution on Weft: it defines the function that the standard lets a program replace
// ([exec.parschedrepl]). The program's own library of senders compiles it, because its interface has no fixed layout.
//
// -DWEFT_P2300_HEADER='<...>' -DWEFT_P2300_NAMESPACE=... name another library than stdexec and std.
#include <weft/detail/p2300.hpp>

#if !WEFT_HAS_P2300
#error                                                                                             \
    "weft::execution: no library of senders was found; add the directory of stdexec's headers to the include path, or take a standard library with std::execution"
#endif

#include <weft/detail/parallel_backend.hpp>

#include <memory>

namespace {

namespace replaced = WEFT_P2300_NAMESPACE::parallel_scheduler_replacement;

struct library {
  using backend = replaced::parallel_scheduler_backend;
  using receiver = replaced::receiver_proxy;
  using bulk_receiver = replaced::bulk_item_receiver_proxy;
  using token = WEFT_P2300_TOKENS::inplace_stop_token;
  static bool stopped(const receiver &to) noexcept {
    const auto seen = to.template try_query<token>(WEFT_P2300_NAMESPACE::get_stop_token);
    return seen && seen->stop_requested();
  }
};

std::shared_ptr<library::backend> weft_backend() {
  static const auto g_backend = std::make_shared<weft::detail::parallel_backend<library>>();
  return g_backend;
}

} // namespace

// What links this file asks for this name, because the function may be a weak symbol, for which no archive is searched.
extern "C" {
extern const int weft_execution_backend;
const int weft_execution_backend = 1;
}

#if defined(STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY)
namespace {
// There the function is inline, and stdexec has a call in its place.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
[[maybe_unused]] const auto g_former = replaced::set_parallel_scheduler_backend(&weft_backend);
} // namespace
#else
namespace WEFT_P2300_NAMESPACE::parallel_scheduler_replacement {
std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend() {
  return weft_backend();
}
} // namespace WEFT_P2300_NAMESPACE::parallel_scheduler_replacement
#endif
