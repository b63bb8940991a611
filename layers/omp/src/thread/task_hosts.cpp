// SPDX-License-Identifier: Apache-2.0
#include "thread/task_hosts.hpp"

#include "config/message.hpp"
#include "team/team.hpp"

#include <weft/layer/task.hpp>
#include <weft/task_local.hpp>

#include <exception>
#include <mutex>
#include <new>
#include <unordered_map>

namespace weft_omp {
namespace {

/// Threads by the low ends of the stacks on which they run.
class hosts_by_stack {
 public:
  [[nodiscard]] thread *find(const void *stack) {
    std::lock_guard lock(m_lock);
    const auto found = m_all.find(stack);
    return found == m_all.end() ? nullptr : found->second;
  }
  void add(const void *stack, thread &host) {
    std::lock_guard lock(m_lock);
    m_all[stack] = &host;
  }
  template <class F>
  void visit(F f) {
    for (const auto &[stack, host] : m_all)
      f(*host);
  }

 private:
  spin_lock m_lock;
  std::unordered_map<const void *, thread *> m_all;
};

/// What a task of Weft's keeps for OpenMP until its body is over.
struct hosts_of_task {
  std::atomic<thread *> own{nullptr}; // O1
  hosts_by_stack of_branches;

  hosts_of_task() = default;
  hosts_of_task(const hosts_of_task &) = delete;
  hosts_of_task &operator=(const hosts_of_task &) = delete;
  ~hosts_of_task() {
    of_branches.visit([](thread &host) { end_host(host); });
    if (thread *const host = own.load(std::memory_order_relaxed))
      end_host(*host);
  }
};

constexpr weft::detail::local_ops k_ops{
    sizeof(hosts_of_task), alignof(hosts_of_task),
    [](void *storage, const void *) { ::new (storage) hosts_of_task; },
    [](void *storage) noexcept { static_cast<hosts_of_task *>(storage)->~hosts_of_task(); }};
const std::uint64_t g_key = weft::detail::local_key();

/// The hosts of what runs in no task.
hosts_by_stack *&pointer_to_others() {
  static auto *all = new hosts_by_stack; // never freed: threads may outlive static destructors
  return all;
}

bool runs_body() noexcept { return weft::layer::who_calls() == weft::layer::caller::task; }

/// Returns what the caller's task keeps. Null: the caller runs in no task.
hosts_of_task *hosts_of_caller() noexcept {
  void *value = nullptr;
  if (!weft::layer::find_task_value(g_key, value))
    return nullptr;
  try {
    if (!value)
      value = weft::detail::local_value(g_key, k_ops, nullptr);
  } catch (const std::exception &) {
    fatal("no memory for what a task keeps for OpenMP");
  }
  return static_cast<hosts_of_task *>(value);
}

} // namespace

thread *find_host(const weft::layer::stack_range &stack) noexcept {
  void *value = nullptr;
  if (!weft::layer::find_task_value(g_key, value))
    return pointer_to_others()->find(stack.low);
  if (!value)
    return nullptr;
  auto &mine = *static_cast<hosts_of_task *>(value);
  return runs_body() ? mine.own.load(std::memory_order_relaxed) : mine.of_branches.find(stack.low);
}

thread &make_host(const weft::layer::stack_range &stack) noexcept {
  thread &host = begin_host(stack);
  hosts_of_task *const mine = hosts_of_caller();
  if (!mine) {
    pointer_to_others()->add(stack.low, host);
  } else if (runs_body()) {
    mine->own.store(&host, std::memory_order_release); // O1
  } else {
    if (const thread *const own = mine->own.load(std::memory_order_acquire)) // O1
      host.team->settings = *own->task->settings;
    mine->of_branches.add(stack.low, host);
  }
  return host;
}

void forget_hosts() noexcept {
  pointer_to_others() = new hosts_by_stack; // a thread of the parent may have been changing the other
}

} // namespace weft_omp
