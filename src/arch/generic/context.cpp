// SPDX-License-Identifier: Apache-2.0
// The context switch for processors without a file of their own: Boost.Context's fcontext.
#include "arch/context.hpp"

#include <boost/context/detail/fcontext.hpp>

#include <cstdint>
#include <new>

namespace weft::inline v0 {
namespace rt {

namespace fc = boost::context::detail;

namespace {

/// Tells the target where to store the suspended stack, which fcontext hands to it. Is on the stack
/// that switches away.
struct message {
  context *from;
  void *value;
};

void *receive(fc::transfer_t transfer) noexcept {
  auto *m = static_cast<message *>(transfer.data);
  void *value = m->value;
  m->from->sp = transfer.fctx;
  return value;
}

/// Holds the entry function, at the top of a fresh stack.
struct start {
  void (*entry)(void *);
  fc::fcontext_t stack;
};

// The first switch to a fresh context carries `start`, the message comes second: see
// weft_context_switch.
struct first_message {
  start *what;
  message *real;
};

[[noreturn]] void run(fc::transfer_t transfer) {
  auto *m = static_cast<first_message *>(transfer.data);
  auto entry = m->what->entry;
  entry(receive({transfer.fctx, m->real}));
  __builtin_trap();
}

constexpr std::uintptr_t k_fresh = 1; // low bit of context::sp: not started yet

} // namespace

extern "C" void *weft_context_switch(context *from, context to, void *value) noexcept {
  message m{from, value};
  const auto bits = reinterpret_cast<std::uintptr_t>(to.sp);
  if ((bits & k_fresh) == 0)
    return receive(fc::jump_fcontext(to.sp, &m));
  auto *s = reinterpret_cast<start *>(bits - k_fresh);
  first_message f{s, &m};
  return receive(fc::jump_fcontext(s->stack, &f));
}

extern "C" void weft_context_walk(context, void (*)(void *), void *) {
} // how to unwind the stack is not known

context make_context(void *low, std::size_t bytes, void (*entry)(void *)) noexcept {
  const auto top =
      (reinterpret_cast<std::uintptr_t>(low) + bytes - sizeof(start)) & ~std::uintptr_t{15};
  auto *s = new (reinterpret_cast<void *>(top)) start{entry, nullptr};
  s->stack = fc::make_fcontext(s, top - reinterpret_cast<std::uintptr_t>(low), run);
  return {reinterpret_cast<void *>(top + k_fresh)};
}

} // namespace rt
} // namespace weft::inline v0
