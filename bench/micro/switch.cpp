// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a switch between stacks, beside other ways to do it, and of a thread-local
// block per stack.
// The numbers in docs/design/tls.md come from here.
#include "arch/context.hpp"
#include "arch/exception_state.hpp"
#include "arch/thread_pointer.hpp"
#include "arch/tls_block.hpp"
#include "measure.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

#ifdef WEFT_BENCH_BOOST
#include <boost/context/detail/fcontext.hpp>
#endif

namespace {

using namespace weft::rt;

constexpr std::size_t k_stack_bytes = 64 << 10;
constexpr long k_switches = 400'000;

void *make_stack() {
  return mmap(nullptr, k_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/// Has two stacks that alternate; one operation is one switch, so a round trip is two.
struct pair {
  context here, there;
};

template <auto Entry>
pair *make_pair() {
  static pair p;
  p.there = make_context(make_stack(), k_stack_bytes, Entry);
  return &p;
}

void plain_entry(void *p) {
  auto &mine = *static_cast<pair *>(p);
  for (;;)
    weft_context_switch(&mine.there, mine.here, nullptr);
}

void exceptions_entry(void *p) {
  auto &mine = *static_cast<pair *>(p);
  for (;;) {
    const exception_state kept = std::exchange(*weft_exception_globals(), {});
    weft_context_switch(&mine.there, mine.here, nullptr);
    *weft_exception_globals() = kept;
  }
}

struct pair_with_tp {
  context here, there;
  void *tp_here, *tp_there;
};

void tp_entry(void *p) {
  auto &mine = *static_cast<pair_with_tp *>(p);
  for (;;)
    context_switch_with_tp(&mine.there, mine.here, nullptr, mine.tp_here);
}

/// Has many stacks in turn: their pages and lines are cold.
struct ring {
  std::vector<context> stacks;
  context back;
  std::size_t at = 0;
};

void ring_entry(void *p) {
  auto &r = *static_cast<ring *>(p);
  for (;;) {
    const std::size_t mine = r.at;
    weft_context_switch(&r.stacks[mine], r.back, &r);
  }
}

#if defined(__x86_64__)

// The same switch without the floating-point control words, and with a `ret` at its end.
extern "C" void *bench_switch_no_fp(context *from, context to, void *value) noexcept;
extern "C" void *bench_switch_ret(context *from, context to, void *value) noexcept;
extern "C" void *bench_switch_load_fp(context *from, context to, void *value) noexcept;
asm(R"(
    .text
    .macro bench_switch name, fp, tail
    .type \name, @function
\name:
    leaq -56(%rsp), %rsp
    .if \fp
    stmxcsr 0(%rsp)
    fnstcw 4(%rsp)
    .endif
    movq %r12, 8(%rsp)
    movq %r13, 16(%rsp)
    movq %r14, 24(%rsp)
    movq %r15, 32(%rsp)
    movq %rbx, 40(%rsp)
    movq %rbp, 48(%rsp)
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    movq 8(%rsp), %r12
    movq 16(%rsp), %r13
    movq 24(%rsp), %r14
    movq 32(%rsp), %r15
    movq 40(%rsp), %rbx
    movq 48(%rsp), %rbp
    .if \fp
    ldmxcsr 0(%rsp)
    fldcw 4(%rsp)
    .endif
    movq %rdx, %rax
    .if \tail
    leaq 56(%rsp), %rsp
    ret
    .else
    movq 56(%rsp), %r8
    leaq 64(%rsp), %rsp
    jmp *%r8
    .endif
    .endm
    bench_switch bench_switch_no_fp, 0, 0
    bench_switch bench_switch_ret, 0, 1
    bench_switch bench_switch_load_fp, 1, 0
)");

template <auto Switch>
void other_entry(void *p) {
  auto &mine = *static_cast<pair *>(p);
  for (;;)
    Switch(&mine.there, mine.here, nullptr);
}

/// Switches inline: the compiler saves live registers, without floating-point control words. A
/// function that contains this must not be a leaf with a red zone, and its unwind information is
/// wrong while it is suspended, so Weft does not use it.
[[gnu::always_inline]] inline void inline_switch(context *from, context to) {
  asm volatile("leaq -128(%%rsp), %%rsp\n\t"
               "pushq %%rbp\n\t"
               "leaq 1f(%%rip), %%rax\n\t"
               "pushq %%rax\n\t"
               "movq %%rsp, (%0)\n\t"
               "movq %1, %%rsp\n\t"
               "popq %%rax\n\t"
               "jmp *%%rax\n"
               "1:\tpopq %%rbp\n\t"
               "leaq 128(%%rsp), %%rsp"
               : "+D"(from), "+S"(to.sp)
               :
               : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                 "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                 "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

pair g_inline;
[[gnu::noinline]] void inline_body() {
  for (;;)
    inline_switch(&g_inline.there, g_inline.here);
}
void inline_start() { inline_body(); }

void add_variants(bench::table &t) {
  auto *no_fp = make_pair<other_entry<bench_switch_no_fp>>();
  t.add("  without floating-point control words", k_switches, [=](long n) {
    for (long i = 0; i < n; i += 2)
      bench_switch_no_fp(&no_fp->here, no_fp->there, no_fp);
  });
  auto *load = make_pair<other_entry<bench_switch_load_fp>>();
  t.add("  control words always loaded", k_switches, [=](long n) {
    for (long i = 0; i < n; i += 2)
      bench_switch_load_fp(&load->here, load->there, load);
  });
  auto *ret = make_pair<other_entry<bench_switch_ret>>();
  t.add("  without control words, ended by ret", k_switches, [=](long n) {
    for (long i = 0; i < n; i += 2)
      bench_switch_ret(&ret->here, ret->there, ret);
  });
  auto *top = reinterpret_cast<void **>(static_cast<char *>(make_stack()) + k_stack_bytes - 64);
  *--top = nullptr; // as if called
  *--top = reinterpret_cast<void *>(&inline_start);
  g_inline.there.sp = top;
  t.add("  inline, the compiler saves what lives, no control words", k_switches, [](long n) {
    for (long i = 0; i < n; i += 2)
      inline_switch(&g_inline.here, g_inline.there);
  });
}

#else
void add_variants(bench::table &) {}
#endif

void add_own(bench::table &t) {
  auto *plain = make_pair<plain_entry>();
  t.add("weft_context_switch", k_switches, [=](long n) {
    for (long i = 0; i < n; i += 2)
      weft_context_switch(&plain->here, plain->there, plain);
  });
  add_variants(t);
  auto *exceptions = make_pair<exceptions_entry>();
  t.add("  with the exception globals", k_switches, [=](long n) {
    for (long i = 0; i < n; i += 2) {
      const exception_state kept = std::exchange(*weft_exception_globals(), {});
      weft_context_switch(&exceptions->here, exceptions->there, exceptions);
      *weft_exception_globals() = kept;
    }
  });
  static tls_block block;
  if (can_switch_thread_pointer() && block.open() == 0) {
    static pair_with_tp p;
    p = {{},
         make_context(make_stack(), k_stack_bytes, tp_entry),
         thread_pointer(),
         block.thread_pointer()};
    t.add("  with the thread pointer", k_switches, [](long n) {
      for (long i = 0; i < n; i += 2)
        context_switch_with_tp(&p.here, p.there, &p, p.tp_there);
    });
  }
  static void *const stack = make_stack();
  t.add("make a context and run it to its first switch back", k_switches / 4, [](long n) {
    static pair p;
    for (long i = 0; i < n; ++i) {
      p.there = make_context(stack, k_stack_bytes, plain_entry);
      weft_context_switch(&p.here, p.there, &p);
    }
  });
}

void add_ring(bench::table &t, std::size_t count) {
  auto *r = new ring; // lives as long as the program
  for (std::size_t i = 0; i < count; ++i)
    r->stacks.push_back(make_context(make_stack(), k_stack_bytes, ring_entry));
  t.add("switch, " + std::to_string(count) + " stacks in turn", k_switches, [=](long n) {
    for (long i = 0; i < n; i += 2) {
      weft_context_switch(&r->back, r->stacks[r->at], r);
      r->at = r->at + 1 == r->stacks.size() ? 0 : r->at + 1;
    }
  });
}

ucontext_t g_uc_here, g_uc_there;
void uc_entry() {
  for (;;)
    swapcontext(&g_uc_there, &g_uc_here);
}

#ifdef WEFT_BENCH_BOOST
namespace fc = boost::context::detail;
void boost_entry(fc::transfer_t t) {
  for (;;)
    t = fc::jump_fcontext(t.fctx, nullptr);
}
#endif

void add_peers(bench::table &t) {
#ifdef WEFT_BENCH_BOOST
  static fc::fcontext_t there = fc::make_fcontext(static_cast<char *>(make_stack()) + k_stack_bytes,
                                                  k_stack_bytes, boost_entry);
  t.add("Boost.Context jump_fcontext", k_switches, [](long n) {
    for (long i = 0; i < n; i += 2)
      there = fc::jump_fcontext(there, nullptr).fctx;
  });
#endif
  getcontext(&g_uc_there);
  g_uc_there.uc_stack.ss_sp = make_stack();
  g_uc_there.uc_stack.ss_size = k_stack_bytes;
  makecontext(&g_uc_there, uc_entry, 0);
  t.add("swapcontext", k_switches / 40, [](long n) {
    for (long i = 0; i < n; i += 2)
      swapcontext(&g_uc_here, &g_uc_there);
  });
}

/// Measures blocks. Wall time would show more of a thread's creation, but this machine may have
/// other work; the threads' own time is missing.
void add_blocks(bench::table &t) {
  t.add("tls_block: open and close (a thread donates it)", 200, [](long n) {
    for (long i = 0; i < n; ++i) {
      tls_block b;
      if (b.open() != 0)
        std::abort();
    }
  });
  // The loader's own allocation: not for programs (GLIBC_PRIVATE), and the thread descriptor is left empty.
  using allocate_tls = void *(*)(void *);
  using deallocate_tls = void (*)(void *, bool);
  static auto allocate = reinterpret_cast<allocate_tls>(dlsym(RTLD_DEFAULT, "_dl_allocate_tls"));
  static auto deallocate =
      reinterpret_cast<deallocate_tls>(dlsym(RTLD_DEFAULT, "_dl_deallocate_tls"));
  if (allocate && deallocate)
    t.add("the loader's allocation of a block, and its return", 20'000, [](long n) {
      for (long i = 0; i < n; ++i)
        deallocate(allocate(nullptr), true);
    });
}

} // namespace

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 31;
  bench::table t;
  add_own(t);
  add_ring(t, 64);
  add_ring(t, 4096);
  add_peers(t);
  add_blocks(t);
  t.print(rounds);
}
