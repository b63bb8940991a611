// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include <weft.h>
#include <weft/layer/external_task.hpp>

#include <cstdio>
#include <exception>
#include <vector>

namespace {

using weft::access_mode;
using weft::layer::external_task;

external_task *task_of(order_node *node) noexcept {
  return reinterpret_cast<external_task *>(node);
}

access_mode mode_of(order_mode mode) noexcept {
  switch (mode) {
  case ORDER_READS:
    return access_mode::in;
  case ORDER_WRITES:
    return access_mode::out;
  case ORDER_CONCURRENT:
    return access_mode::concurrent;
  case ORDER_COMMUTATIVE:
    return access_mode::commutative;
  case ORDER_UPDATES:
    break;
  }
  return access_mode::inout;
}

weft::region_access access_of(const order_region &from) {
  const weft::detail::region_dimension dimensions[3] = {
      {from.count[0], 0, from.count[0], from.step[0]},
      {from.count[1], 0, from.count[1], from.step[1]},
      {from.run, 0, from.run, 1}};
  return {weft::region(from.first, 1, 3, dimensions), mode_of(from.mode)};
}

void write_why(char *why, std::size_t size, const char *text) noexcept {
  std::snprintf(why, size, "%s", text);
}

} // namespace

extern "C" {

int order_workers(char *why, size_t size) {
  const int workers = weft_worker_count();
  if (workers < 1)
    write_why(why, size, weft_last_error_message());
  return workers < 1 ? -1 : workers;
}

order_node *order_make_parent(char *why, size_t size) try {
  external_task *made = nullptr;
  weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &made);
  return reinterpret_cast<order_node *>(made);
} catch (const std::exception &error) {
  write_why(why, size, error.what());
  return nullptr;
}

int order_enter(order_node *parent, const order_region *list, size_t count, void (*ready)(void *),
                void *context, order_node **self, char *why, size_t size) try {
  std::vector<weft::region_access> all;
  all.reserve(count);
  for (std::size_t i = 0; i != count; ++i)
    all.push_back(access_of(list[i]));
  return weft::layer::enter_external_regions(*task_of(parent), all.data(), count, "task of Python",
                                             ready, context,
                                             reinterpret_cast<external_task **>(self))
             ? 1
             : 0;
} catch (const std::exception &error) {
  write_why(why, size, error.what());
  return -1;
}

void order_end(order_node *self) { weft::layer::end_external_task(*task_of(self)); }
}
