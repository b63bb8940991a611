// SPDX-License-Identifier: Apache-2.0
// All that the library asks of Weft, by threads of the kernel, so that a sanitizer sees the library
// alone: each lightweight thread is a thread, and what runs on another stack runs on another thread.
#include <weft_threads/light_thread.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <sched.h>

namespace {

/// Lets one thread wait until another one has come.
class gate {
 public:
  void open() {
    const std::lock_guard lock(m_lock);
    m_is_open = true;
    m_opened.notify_one();
  }
  void pass() {
    std::unique_lock lock(m_lock);
    m_opened.wait(lock, [this] { return m_is_open; });
    m_is_open = false;
  }

 private:
  std::mutex m_lock;
  std::condition_variable m_opened;
  bool m_is_open = false;
};

} // namespace

namespace weft_threads {

struct thread_record {
  light_thread_request request;
  gate woken;
  pthread_t thread{};
};

namespace {

constexpr std::size_t k_of_sanitizer = std::size_t{4} << 20; // of a stack, for its thread variables

thread_local thread_record *t_me = nullptr;

void *life(void *p) {
  t_me = static_cast<thread_record *>(p);
  t_me->request.run(t_me->request.argument);
  return nullptr;
}

} // namespace

thread_record *start_light_thread(const light_thread_request &request,
                                  const char **reason) noexcept {
  auto *const t = new thread_record;
  t->request = request;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, request.stack_bytes + k_of_sanitizer);
  const int failed = pthread_create(&t->thread, &attributes, &life, t);
  pthread_attr_destroy(&attributes);
  if (failed) {
    delete t;
    *reason = "no stack";
    return nullptr;
  }
  std::thread([t] { // behind the destructors of the thread's variables
    pthread_join(t->thread, nullptr);
    t->request.ended(t->request.argument);
    delete t;
  }).detach();
  return t;
}

thread_record *this_light_thread() noexcept { return t_me; }
void park_light_thread() noexcept { t_me->woken.pass(); }
void unpark(thread_record &sleeper) noexcept { sleeper.woken.open(); }
void yield_light_thread() noexcept { sched_yield(); }
void call_in_weft(void (*f)(void *argument), void *argument) { f(argument); }
bool runtime_is_gone() noexcept { return false; }
void forget_in_child(void (*forget)()) noexcept { pthread_atfork(nullptr, nullptr, forget); }
bool sanitizer_forbids_blocks() noexcept { return false; }
bool keep_values_on_stacks(const void *) noexcept { return true; }
void outlive_exit(bool (*)()) noexcept {}

} // namespace weft_threads

namespace weft::inline v0 {
namespace layer {

void park(void (*left)(detail::runnable &self, void *context), void *context) {
  gate woken;
  auto *const self = reinterpret_cast<detail::runnable *>(&woken);
  // Not joined: the caller may go on before `left` has returned.
  std::thread([=] { left(*self, context); }).detach();
  woken.pass();
}

void unpark(detail::runnable &parked) { reinterpret_cast<gate &>(parked).open(); }

stack_range own_stack() noexcept {
  pthread_attr_t attributes;
  if (!weft_threads::t_me || pthread_getattr_np(pthread_self(), &attributes) != 0)
    return {};
  stack_range found{};
  pthread_attr_getstack(&attributes, &found.low, &found.bytes);
  pthread_attr_destroy(&attributes);
  return found;
}

} // namespace layer
} // namespace weft::inline v0
