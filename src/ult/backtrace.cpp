// SPDX-License-Identifier: Apache-2.0
#include "ult/backtrace.hpp"

#include <unwind.h>

namespace weft::inline v0 {
namespace rt {
namespace {

struct walk {
  const void **to;
  std::size_t most, skipped, count = 0;
};

_Unwind_Reason_Code step(_Unwind_Context *at, void *p) noexcept {
  walk &w = *static_cast<walk *>(p);
  const auto address = _Unwind_GetIP(at);
  if (address == 0 || w.count == w.most)
    return _URC_END_OF_STACK;
  if (w.skipped > 0)
    --w.skipped;
  else
    w.to[w.count++] = reinterpret_cast<const void *>(address);
  return _URC_NO_REASON;
}

void take(void *p) noexcept { _Unwind_Backtrace(&step, p); }

} // namespace

WEFT_NOINLINE std::size_t own_backtrace(const void **to, std::size_t most,
                                        std::size_t skipped) noexcept {
  walk w{to, most, skipped + 2}; // take() and this
  take(&w);
  return w.count;
}

std::size_t backtrace_of(const frame &suspended, const void **to, std::size_t most) noexcept {
  walk w{to, most, 2}; // take() and weft_context_walk
  weft_context_walk(suspended.state, &take, &w);
  return w.count;
}

} // namespace rt
} // namespace weft::inline v0
