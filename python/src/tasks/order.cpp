// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include <weft.h>
#include <weft/layer/external_report.hpp>
#include <weft/layer/external_task.hpp>

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>
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

weft::layer::body_log *log_of(order_log *log) noexcept {
  return reinterpret_cast<weft::layer::body_log *>(log);
}
order_log *handle_of(weft::layer::body_log *log) noexcept {
  return reinterpret_cast<order_log *>(log);
}
weft::layer::described_body described(const order_body &body) noexcept {
  return {&order_label_of, &order_spawn_site_of, body.task, body.group};
}

using weft::layer::external_report;

/// Is what a report is made into. A call without memory spoils it; the others do nothing then.
struct report_in_the_making {
  external_report &to;
  bool is_spoilt = false;
  template <class F>
  void add(F f) noexcept {
    try {
      if (!is_spoilt)
        f(to);
    } catch (const std::bad_alloc &) {
      is_spoilt = true;
    }
  }
};

report_in_the_making &making(order_report *report) noexcept {
  return *reinterpret_cast<report_in_the_making *>(report);
}

class python_tasks : weft::layer::external_reports {
 public:
  python_tasks() { announce(); }

 private:
  bool list_tasks(external_report &to) override {
    report_in_the_making report{to};
    const bool listed = order_list_tasks(reinterpret_cast<order_report *>(&report));
    if (report.is_spoilt)
      throw std::bad_alloc();
    return listed;
  }
};

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
  const weft::layer::external_change here;
  external_task *made = nullptr;
  weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &made);
  return reinterpret_cast<order_node *>(made);
} catch (const std::exception &error) {
  write_why(why, size, error.what());
  return nullptr;
}

int order_enter(order_node *parent, const order_region *list, size_t count, void (*ready)(void *),
                order_log *log, order_body *body, order_node **self, char *why, size_t size) try {
  std::vector<weft::region_access> all;
  all.reserve(count);
  for (std::size_t i = 0; i != count; ++i)
    all.push_back(access_of(list[i]));
  const weft::layer::external_change here;
  weft::layer::noted_creation noted{log_of(log), described(*body)};
  const bool is_ready = weft::layer::enter_external_regions(
      *task_of(parent), all.data(), count, "task of Python", ready, body->task,
      reinterpret_cast<external_task **>(self), &noted);
  body->number = noted.number;
  return is_ready ? 1 : 0;
} catch (const std::exception &error) {
  write_why(why, size, error.what());
  return -1;
}

order_log *order_own_log(void) { return handle_of(weft::layer::own_log()); }
order_log *order_borrow_log(void) { return handle_of(weft::layer::borrow_log()); }
void order_give_back_log(order_log *log) { weft::layer::give_back_log(*log_of(log)); }
void order_note_creation(order_log *log, order_body *body) {
  body->number = weft::layer::note_creation(*log_of(log), described(*body));
}
void order_begin_body(order_log *log, const order_body *body, order_running *self) {
  static_assert(sizeof(weft::layer::running_body) <= sizeof self->space);
  static_assert(alignof(weft::layer::running_body) <= alignof(order_running));
  auto *const begun = new (self->space) weft::layer::running_body;
  weft::layer::begin_body(*log_of(log), body->number, described(*body), *begun);
}
void order_end_body(order_log *log, order_running *self) {
  weft::layer::end_body(*log_of(log),
                        *std::launder(reinterpret_cast<weft::layer::running_body *>(self->space)));
}
void order_count_unlogged(order_log *log, uint64_t bodies) {
  weft::layer::count_unlogged_bodies(*log_of(log), bodies);
}
void order_skip_body(order_log *log, const order_body *body) {
  weft::layer::skip_body(*log_of(log), body->number, described(*body));
}
uint32_t order_sleep(order_log *log, order_wait what) {
  return weft::layer::sleep_body(log_of(log), static_cast<weft::layer::body_wait>(what));
}
void order_wake(order_log *log, uint32_t asleep) { weft::layer::wake_body(log_of(log), asleep); }
uint64_t order_wait_begins(void) { return weft::layer::wait_begins(); }
void order_wait_is_over(order_log *log, uint64_t since, const void *group) {
  weft::layer::wait_is_over(log_of(log), since, group);
}

void order_end(order_node *self) {
  const weft::layer::external_change here;
  weft::layer::end_external_task(*task_of(self));
}

void order_begin_rest(void) { weft::layer::begin_rest(); }
void order_end_rest(void) { weft::layer::end_rest(); }
double order_patience(void) { return static_cast<double>(weft::layer::rest_patience()) * 1e-9; }
void order_ask_for_examination(void) { weft::layer::ask_for_examination(); }

bool order_announce_reports(void) try {
  static auto *const only = new python_tasks; // never withdrawn: threads may end late
  return only != nullptr;
} catch (const std::exception &) {
  return false;
}

void order_report_task(order_report *to, const void *id, const order_node *order,
                       const void *former_order, const char *name, const char *state,
                       const char *file, const char *where) {
  making(to).add([&](external_report &report) {
    const std::string written = *file ? "written at " + std::string(file) : "";
    report.tasks.push_back({id, task_of(const_cast<order_node *>(order)), former_order, name,
                            *state && *file ? state + (", " + written) : state, written, where});
  });
}

void order_report_creator(order_report *to, const void *id, int tid, const char *where) {
  making(to).add([&](external_report &report) {
    report.tasks.push_back({id, nullptr, nullptr, tid == getpid() ? "main" : "thread", "", "", where, true});
  });
}

void order_report_thread(order_report *to, int tid, const void *id, bool sleeps) {
  making(to).add([&](external_report &report) { report.threads.push_back({tid, id, sleeps}); });
}

void order_report_wait(order_report *to, const void *waiter, const void *awaited, const char *reason,
                       bool is_certain) {
  making(to).add([&](external_report &report) {
    report.waits.push_back({waiter, awaited, reason, is_certain});
  });
}

void order_report_goes_on(order_report *to) {
  making(to).add([](external_report &report) { report.goes_on = true; });
}
}
