// SPDX-License-Identifier: Apache-2.0
#include "deps/mailbox.hpp"

#include "queue/spin_lock.hpp"

#include <new>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_locks = 1024; // stripes; a power of two

struct alignas(k_line) striped_lock {
  spin_lock<> lock;
};
striped_lock g_locks[k_locks];

/// Makes the same transition as deliver(), atomic by the lock of the address.
delivery<data_access> deliver_locked(data_access &a, std::uint32_t bits) noexcept {
  auto &stripe = g_locks[(reinterpret_cast<std::uintptr_t>(a.address) * 0x9E3779B97F4A7C15u) >> 54];
  stripe.lock.lock();
  const std::uint32_t before =
      a.flags.load(std::memory_order_acquire); // O1: the domain's owner stores without the lock
  const std::uint32_t after = before | bits;
  const delivery<data_access> d = consequences(a, before, after, bits);
  a.flags.store(after, std::memory_order_release); // O2: pairs with loads outside of the lock
  stripe.lock.unlock();
  return d;
}

/// Holds messages that this thread has yet to deliver, newest first; almost never more than a few.
class message_stack {
 public:
  /// Puts off a message. Returns false if there is no memory for that.
  [[nodiscard]] bool push(message sent) noexcept {
    if (!sent.to)
      return true;
    if (m_count < k_inline)
      m_inline[m_count] = sent;
    else if (!overflow(sent))
      return false;
    ++m_count;
    return true;
  }
  message pop() noexcept {
    if (m_count == 0)
      return {nullptr, 0};
    if (--m_count < k_inline)
      return m_inline[m_count];
    const message m = m_overflow.back();
    m_overflow.pop_back();
    return m;
  }

 private:
  bool overflow(message sent) noexcept {
    try {
      m_overflow.push_back(sent);
      return true;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }

  static constexpr std::size_t k_inline = 16;
  message m_inline[k_inline];
  std::size_t m_count = 0;
  std::vector<message> m_overflow;
};

} // namespace

void use_locked_dependencies(bool on) noexcept {
  for (striped_lock &stripe : g_locks) // in the child of a fork a thread of the parent may hold one
    ::new (&stripe) striped_lock;
  mailbox::s_locked = on;
  mailbox::s_general_always = mailbox::s_locked || mailbox::s_checks;
  mailbox::look_closer();
}

void check_declarations(bool on) noexcept {
  mailbox::s_checks = on;
  mailbox::s_general_always = mailbox::s_locked || mailbox::s_checks;
  mailbox::look_closer();
}

void use_messages(bool on) noexcept {
  mailbox::s_messages = on;
  mailbox::look_closer();
}

void mailbox::deliver_chain(message sent) noexcept {
  while (sent.to)
    sent = deliver_one(*sent.to, sent.bits);
}

void mailbox::deliver_many(message first, message second) noexcept {
  message_stack pending;
  const auto defer = [&](message sent) {
    if (!pending.push(sent)) [[unlikely]]
      deliver_many(sent, {nullptr, 0});
  };
  defer(second);
  defer(first);
  for (message m = pending.pop(); m.to; m = pending.pop()) {
    task &t = *m.to->task;
    const delivery<data_access> d =
        s_locked ? deliver_locked(*m.to, m.bits) : deliver(*m.to, m.bits);
    settle(*m.to, t, d.caused);
    defer({d.next, d.caused & k_to_next});
    defer({d.child, (d.caused & k_to_child) >> k_child_shift});
  }
}

} // namespace rt
} // namespace weft::inline v0
