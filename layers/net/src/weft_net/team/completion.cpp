// SPDX-License-Identifier: Apache-2.0
#include "weft_net/team/completion.hpp"

#include <weft/error.hpp>
#include <weft/layer/outside_wait.hpp>
#include <weft/layer/task.hpp>

#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace weft_net {

completion completion::of_running_task(const char *what, void *word) {
  if (weft::layer::who_calls() != weft::layer::caller::task)
    throw weft::error(weft::errc::not_a_task,
                      std::string(what) +
                          ": no task runs here whose completion could wait for it; call async_" +
                          what + "() and wait for its future");
  weft::this_task::increase_events();
  completion made;
  made.m_ends = event_of_task{weft::this_task::self(), word};
  return made;
}

void completion::succeed(std::uint64_t value) noexcept {
  if (auto *const held = std::get_if<event_of_task>(&m_ends)) {
    if (held->word)
      std::memcpy(held->word, &value, sizeof value);
    weft::decrease_events(held->task);
  } else if (auto *const nothing = std::get_if<weft::promise<void>>(&m_ends)) {
    nothing->set_value();
  } else if (auto *const number = std::get_if<weft::promise<std::uint64_t>>(&m_ends)) {
    number->set_value(value);
  }
}

void completion::fail(std::exception_ptr error) noexcept {
  if (auto *const held = std::get_if<event_of_task>(&m_ends)) {
    weft::layer::fail_task(held->task, std::move(error));
    weft::decrease_events(held->task);
  } else if (auto *const nothing = std::get_if<weft::promise<void>>(&m_ends)) {
    nothing->set_exception(std::move(error));
  } else if (auto *const number = std::get_if<weft::promise<std::uint64_t>>(&m_ends)) {
    number->set_exception(std::move(error));
  }
}

const void *completion::waiter() const noexcept {
  using weft::layer::waiter_of;
  if (const auto *const held = std::get_if<event_of_task>(&m_ends))
    return waiter_of(held->task);
  if (const auto *const nothing = std::get_if<weft::promise<void>>(&m_ends))
    return waiter_of(*nothing);
  if (const auto *const number = std::get_if<weft::promise<std::uint64_t>>(&m_ends))
    return waiter_of(*number);
  return nullptr;
}

std::string completion::name_of_waiter() const {
  const auto *const held = std::get_if<event_of_task>(&m_ends);
  return held ? weft::layer::name_of(held->task) : std::string();
}

std::string name_of_caller() noexcept try {
  const weft::task_ref self = weft::layer::running_task();
  return self ? weft::layer::name_of(self) : std::string();
} catch (const std::bad_alloc &) {
  return {};
}

void completion::cancel() noexcept {
  if (auto *const held = std::get_if<event_of_task>(&m_ends))
    weft::decrease_events(held->task);
}

} // namespace weft_net
