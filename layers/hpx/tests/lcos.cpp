// SPDX-License-Identifier: Apache-2.0
// Futures, what combines them, hpx::lcos::local, and threads.
#include "check.hpp"

#include <hpx/hpx.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

void futures() {
  CHECK(hpx::make_ready_future(5).get() == 5);
  CHECK(hpx::make_ready_future<double>(1).get() == 1.0);
  CHECK(hpx::make_ready_future<std::string>().get().empty());
  hpx::make_ready_future().get();
  CHECK(hpx::make_exceptional_future<int>(std::runtime_error("x")).has_exception());
  hpx::future<int> f = hpx::async(hpx::launch::deferred, [] { return 1; });
  hpx::shared_future<int> shared = f.then([](hpx::future<int> &&g) { return g.get() + 1; }).share();
  CHECK(shared.get() == 2 && !f.valid());
  CHECK(hpx::async(hpx::launch::sync, [](int a, int b) { return a * b; }, 6, 7).get() == 42);
  CHECK(hpx::async(hpx::launch::fork, [] { return 9; }).get() == 9);
  CHECK(hpx::sync([](int a) { return a; }, 3) == 3);
  // A call that returns a future gives a future of it, which a future of the value takes.
  hpx::future<int> unwrapped = hpx::async([] { return hpx::async([] { return 12; }); });
  CHECK(unwrapped.get() == 12);
  unwrapped =
      hpx::async([] { return hpx::make_exceptional_future<int>(std::logic_error("inner")); });
  try {
    unwrapped.get();
    CHECK(false);
  } catch (const std::logic_error &) {
  }
  hpx::promise<int> p;
  hpx::future<int> later = p.get_future();
  p.set_value(11);
  CHECK(later.get() == 11);
  hpx::packaged_task<int(int)> task([](int n) { return n + 1; });
  hpx::future<int> packaged = task.get_future();
  task(4);
  CHECK(packaged.get() == 5);
  CHECK(hpx::make_future(3).get() == 3 && hpx::make_future(hpx::make_ready_future(4)).get() == 4);
  CHECK(hpx::invoke_fused(hpx::mem_fn(&std::string::size),
                          hpx::forward_as_tuple(std::string("four"))) == 4);
  static_assert(
      hpx::tuple_size<decltype(hpx::tuple_cat(hpx::make_tuple(1, 2), hpx::tuple<int>()))>::value ==
      3);
  hpx::optional<int> none = hpx::nullopt;
  hpx::tie(hpx::ignore, none) = hpx::make_tuple(1, 2);
  CHECK(none == hpx::make_optional(2));
  CHECK(hpx::make_shared_future(hpx::make_ready_future(4)).get() == 4);

  std::vector<hpx::future<int>> many;
  for (int i = 0; i != 10; ++i)
    many.push_back(hpx::async([i] { return i; }));
  hpx::wait_all(many); // they stay
  CHECK(many[9].is_ready());
  hpx::future<int> sum = hpx::when_all(many).then([](auto &&all) { // takes them over
    int total = 0;
    for (auto &each : all.get())
      total += each.get();
    return total;
  });
  CHECK(sum.get() == 45 && !many[0].valid());

  hpx::promise<int> never, soon;
  std::vector<hpx::future<int>> two;
  two.push_back(never.get_future());
  two.push_back(soon.get_future());
  hpx::post([&] { soon.set_value(1); });
  hpx::wait_any(two);
  CHECK(two[1].is_ready() && !two[0].is_ready());
  hpx::wait_some(1, two.begin(), two.end());
  const auto any = hpx::when_any(two).get();
  CHECK(any.index == 1);
  never.set_value(2);

  std::vector<hpx::future<int>> fails;
  fails.push_back(hpx::async([]() -> int { throw std::out_of_range("3"); }));
  fails.push_back(hpx::make_ready_future(1));
  bool thrown = false;
  try {
    hpx::wait_all(fails);
  } catch (const std::out_of_range &) {
    thrown = true;
  }
  CHECK(thrown && fails[0].valid());

  hpx::future<int> a = hpx::async([] { return 2; }), b = hpx::async([] { return 3; });
  CHECK(hpx::dataflow(hpx::unwrapping([](int x, int y) { return x * y; }), a, b).get() == 6);
  CHECK(!a.valid()); // taken over
  std::array<hpx::future<int>, 2> row{hpx::make_ready_future(1), hpx::make_ready_future(2)};
  auto pair = hpx::make_tuple(hpx::make_ready_future(3), hpx::make_ready_future(4));
  CHECK(hpx::dataflow(hpx::unwrapping([](const std::vector<int> &x, const hpx::tuple<int, int> &y) {
                        return x[0] + x[1] + hpx::get<0>(y) + hpx::get<1>(y);
                      }),
                      row, pair)
            .get() == 10);
  CHECK(!row[0].valid() && !hpx::get<1>(pair).valid());
  {
    using hpx::dataflow; // with a policy, which is Weft's
    hpx::shared_future<int> one = hpx::make_ready_future(1);
    CHECK(dataflow(hpx::launch::sync, hpx::unwrapping([](int x) { return x + 1; }), one).get() ==
          2);
  }
  CHECK(hpx::util::unwrapped([](int x) { return -x; })(hpx::make_ready_future(4)) == -4);
  auto [first, second] =
      hpx::split_future(hpx::make_ready_future(std::make_tuple(1, std::string("b"))));
  CHECK(first.get() == 1 && second.get() == "b");
  std::vector<hpx::future<int>> parts =
      hpx::split_future(hpx::make_ready_future(std::vector<int>{4, 5}), 2);
  hpx::wait_some_n(2, parts.begin(), 2);
  hpx::wait_any_n(parts.begin(), 2);
  CHECK(parts[0].get() == 4 && parts[1].get() == 5);
  int calls = 0;
  std::vector<hpx::future<void>> voids(3);
  for (auto &v : voids)
    v = hpx::async([] {});
  hpx::wait_each([&](hpx::future<void>) { ++calls; }, voids);
  CHECK(calls == 3);
  // A value that cannot be copied goes through a shared future by reference.
  hpx::shared_future<std::unique_ptr<int>> owner = hpx::make_ready_future(std::make_unique<int>(8));
  CHECK(hpx::dataflow(hpx::unwrapping([](const std::unique_ptr<int> &v) { return *v; }), owner)
            .get() == 8);
}

void local_objects() {
  namespace local = hpx::lcos::local;
  local::mutex m;
  hpx::spinlock s;
  local::latch all(11);
  local::barrier meet(2);
  local::event go;
  local::counting_semaphore units(2);
  hpx::sliding_semaphore window(3);
  int guarded = 0, spun = 0;
  std::atomic<int> together{0};
  for (int i = 0; i != 10; ++i)
    hpx::post([&] {
      go.wait();
      {
        std::lock_guard lock(m);
        hpx::this_thread::yield(); // a lock may be held over it
        ++guarded;
      }
      {
        hpx::lock_guard<hpx::spinlock> lock(s);
        ++spun;
      }
      units.wait();
      CHECK(++together <= 2);
      hpx::this_thread::yield();
      --together;
      units.signal();
      all.count_down(1);
    });
  CHECK(!go.occurred());
  go.set();
  all.count_down_and_wait();
  CHECK(guarded == 10 && spun == 10 && all.is_ready());
  CHECK(units.try_wait(2) && !units.try_wait());
  hpx::future<void> other = hpx::async([&] { meet.wait(); });
  meet.wait();
  other.get();
  CHECK(window.try_wait(3) && !window.try_wait(4));
  hpx::post([&] { window.signal(1); });
  window.wait(4);

  local::channel<int> c;
  c.set(1);
  CHECK(c.get(hpx::launch::sync) == 1);
  hpx::future<int> unmet = c.get();
  CHECK(c.close() == 1 && unmet.has_exception());
  try {
    unmet.get();
    CHECK(false);
  } catch (const std::runtime_error &) {
  }
  bool refused = false;
  try {
    c.set(2);
  } catch (const std::runtime_error &) {
    refused = true;
  }
  CHECK(refused && c.get().has_exception());
}

void threads() {
  int ran = 0;
  hpx::thread t([&](int by) { ran = by; }, 5);
  CHECK(t.joinable() && t.get_id() != hpx::this_thread::get_id());
  t.join();
  CHECK(ran == 5);
  bool stopped = false;
  {
    hpx::jthread j([&](hpx::stop_token stop) {
      while (!stop.stop_requested())
        hpx::this_thread::sleep_for(std::chrono::milliseconds(1));
      stopped = true;
    });
  }
  CHECK(stopped);
  CHECK(hpx::get_worker_thread_num() < hpx::get_os_thread_count());
  CHECK(hpx::get_num_localities(hpx::launch::sync) == 1 && hpx::get_num_localities().get() == 1);
  CHECK(hpx::util::format("{2:.2f} of {1}, {{}}", 3, 1.5) == "1.50 of 3, {}");
}

} // namespace

int hpx_main() {
  futures();
  local_objects();
  threads();
  std::puts("done");
  return hpx::finalize();
}

int main(int argc, char **argv) { return hpx::init(argc, argv); }
