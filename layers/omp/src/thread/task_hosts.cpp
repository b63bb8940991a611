// SPDX-License-Identifier: Apache-2.0
#include "thread/task_hosts.hpp"

#include "config/message.hpp"
#include "team/team.hpp"
#include "thread/hooks.hpp"

#include <weft/layer/task.hpp>
#include <weft/task_local.hpp>

#include <atomic>
#include <cstddef>
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

 private:
  spin_lock m_lock;
  std::unordered_map<const void *, thread *> m_all;
};

/// What a part of a task of Weft's keeps for OpenMP until it is over: its host, which branches look for.
struct host_of_part {
  std::atomic<thread *> host{nullptr}; // O1

  host_of_part() = default;
  host_of_part(const host_of_part &) = delete;
  host_of_part &operator=(const host_of_part &) = delete;
  ~host_of_part();
};

constexpr weft::detail::local_ops k_ops{
    sizeof(host_of_part), alignof(host_of_part),
    [](void *storage, const void *) { ::new (storage) host_of_part; },
    [](void *storage) noexcept { static_cast<host_of_part *>(storage)->~host_of_part(); }};
const std::uint64_t g_key = weft::detail::local_key();

/// Returns what the caller's part keeps, which is `found` or is made.
host_of_part &kept(void *found) noexcept {
  try {
    return *static_cast<host_of_part *>(found ? found : weft::layer::make_part_value(g_key, k_ops));
  } catch (const std::exception &) {
    fatal("no memory for what a task keeps for OpenMP");
  }
}

/// Ends the host. A tool that learns of that may use OpenMP, and this value is found no more: another one names
/// the host meanwhile.
host_of_part::~host_of_part() {
  thread *const ends = host.load(std::memory_order_relaxed);
  if (!ends)
    return;
  if (!g_is_watched) [[likely]] {
    end_host(*ends);
    return;
  }
  host_of_part &meanwhile = kept(nullptr);
  meanwhile.host.store(ends, std::memory_order_relaxed);
  end_host(*ends);
  meanwhile.host.store(nullptr, std::memory_order_relaxed);
}

/// Returns the host of the nearest part around the caller's that has one, or null.
const thread *host_around() noexcept {
  void *value = nullptr;
  for (std::size_t outwards = 1; weft::layer::find_part_value(g_key, value, outwards); ++outwards)
    if (value)
      if (const thread *const host =
              static_cast<host_of_part *>(value)->host.load(std::memory_order_acquire)) // O1
        return host;
  return nullptr;
}

/// The hosts of what runs in no task.
hosts_by_stack *&pointer_to_others() {
  static auto *all = new hosts_by_stack; // never freed: threads may outlive static destructors
  return all;
}

} // namespace

thread *find_host(const weft::layer::stack_range &stack) noexcept {
  void *value = nullptr;
  if (!weft::layer::find_part_value(g_key, value))
    return pointer_to_others()->find(stack.low);
  return value ? static_cast<host_of_part *>(value)->host.load(std::memory_order_relaxed) : nullptr;
}

thread &make_host(const weft::layer::stack_range &stack) noexcept {
  thread &host = begin_host(stack);
  void *value = nullptr;
  if (!weft::layer::find_part_value(g_key, value)) {
    pointer_to_others()->add(stack.low, host);
    return host;
  }
  if (const thread *const around = host_around())
    host.team->settings = *around->task->settings;
  kept(value).host.store(&host, std::memory_order_release); // O1
  return host;
}

void forget_hosts() noexcept {
  pointer_to_others() = new hosts_by_stack; // a thread of the parent may have been changing the other
}

} // namespace weft_omp
