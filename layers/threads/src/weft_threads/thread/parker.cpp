// SPDX-License-Identifier: Apache-2.0
// How a thread waits, and how it yields.
#include "weft_threads/kernel/preempt.hpp"
#include "weft_threads/thread/fatal.hpp"
#include "weft_threads/thread/thread_record.hpp"

#include <weft/error.hpp>

#include <algorithm>

#include <unistd.h>

namespace weft_threads {

constinit relaxed_value<bool> g_spins_actively{false};

void parker::publish(weft::detail::runnable &parked, void *p) {
  const park_request &v = *static_cast<park_request *>(p);
  parker &at =
      *v.at; // read now: the request is on the stack that another thread may continue at once
  const reason why = v.why ? *v.why : reason{};
  if (!at.m_word.publish(parked, [&why] { return !why.holds || why.holds(why); }))
    weft::layer::unpark(parked);
}

bool parker::park(thread_record &me, const reason *why, parks when) noexcept {
  bool parked = true;
  me.pinned = false;
  if (!m_word.is_signalled()) {
    park_request v{this, why};
    try {
      in_core(&me, [&v, &parked, when] {
        try {
          if (when == parks::if_runnable)
            parked = weft::layer::park_if_runnable(&publish, &v);
          else
            weft::layer::park(&publish, &v);
        } catch (
            const weft::error &) { // no stack to go on with, or Weft has ended: look again later
          usleep(100);
        }
      });
    } catch (...) {
      fatal("a thread cannot wait");
    }
  }
  m_word.clear();
  return parked;
}

void parker::wait(thread_record &me, int spins) noexcept {
  adaptive_spin s(me, spins);
  bool there = m_word.is_signalled();
  while (!there && s.goes_on())
    there = m_word.is_signalled();
  s.end(there ? spin_result::came : spin_result::fruitless);
  park(me, nullptr);
}

void parker::wait_for(thread_record &me, const reason &why) noexcept {
  if (why.holds(why))
    park(me, &why);
}

void parker::signal(thread_record *me) noexcept {
  if (weft::detail::runnable *const f = m_word.signal())
    in_core(me, [f] { weft::layer::unpark(*f); });
}

namespace {

constexpr unsigned k_least_skipped = 16,
                   k_most_skipped = 1024; // times that a thread keeps its kernel thread

/// Returns whether a program's own thread keeps its kernel thread instead of yielding.
bool keeps_cpu(thread_record &me) noexcept {
  if (!others_can_be_interrupted())
    return true;
  if (me.keeps_cpu == 0)
    return false;
  --me.keeps_cpu;
  return true;
}

} // namespace

bool is_carried() noexcept {
  const thread_record *const t = running_record();
  return t && t->block && !runtime_is_gone();
}

bool park_carried(void (*left)(weft::detail::runnable &, void *), void *context) noexcept {
  thread_record *const t = this_light_thread(); // perhaps with a task of its own on another stack
  if (!t || runtime_is_gone())
    return false;
  t->pinned = false;
  bool parked = true;
  try {
    in_core(t, [&] {
      try {
        weft::layer::park(left, context);
      } catch (const weft::error &) { // no stack to go on with, or Weft has ended
        parked = false;
      }
    });
  } catch (...) {
    fatal("a thread cannot wait in Weft");
  }
  return parked;
}

bool yield_now(thread_record &me) noexcept {
  me.pinned = false;
  const bool owns_kernel_thread = me.is_of_program();
  if (runtime_is_gone() || (owns_kernel_thread && keeps_cpu(me))) {
    yield_kernel_thread();
    return false;
  }
  const unsigned before = times_called_off();
  in_core(&me, [] {
    try {
      weft::layer::yield_now();
    } catch (const weft::error &) { // no stack to go on with
      yield_kernel_thread();
    }
  });
  if (owns_kernel_thread && times_called_off() != before)
    me.keeps_cpu = me.kept_cpu = std::clamp(2 * me.kept_cpu, k_least_skipped, k_most_skipped);
  return true;
}

void yield_to_pinned(thread_record &me) noexcept {
  if (!me.block || runtime_is_gone())
    return;
  in_core(&me, [] {
    try {
      weft::layer::yield_to_pinned();
    } catch (const weft::error &) { // no stack to go on with
    }
  });
}

} // namespace weft_threads
