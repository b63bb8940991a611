// SPDX-License-Identifier: Apache-2.0
#include <weft/net/ranks.hpp>

#include "weft_net/team/rank_task.hpp"

#include <weft/task.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace net {

namespace {

/// Keeps the first exception.
class first_error {
 public:
  void note(std::exception_ptr error) noexcept {
    const std::lock_guard guard(m_lock);
    if (!m_first)
      m_first = std::move(error);
  }
  void rethrow() const {
    if (m_first)
      std::rethrow_exception(m_first);
  }

 private:
  std::mutex m_lock;
  std::exception_ptr m_first;
};

} // namespace

void run_ranks(const inproc_world &world, const std::function<void(team &)> &rank) {
  std::vector<std::unique_ptr<team>> teams;
  for (int r = 0; r < world.size(); ++r)
    teams.push_back(std::make_unique<team>(world.make_engine(r)));
  first_error failed;
  const auto run = [&](team &one) {
    const auto fail = [&] {
      failed.note(std::current_exception());
      world.lose(one.rank());
    };
    try {
      rank(one);
    } catch (...) {
      fail();
    }
    try {
      taskwait();
    } catch (...) {
      fail();
    }
  };
  std::vector<handle<void>> all;
  for (const auto &one : teams)
    all.push_back(spawn([&run, &one] { run(*one); }, tracked, label("rank")));
  for (auto &h : all)
    try {
      h.get(); // an operation of the rank's own task may have failed after its body
    } catch (...) {
      failed.note(std::current_exception());
    }
  teams.clear();
  failed.rethrow();
}

} // namespace net
} // namespace weft::inline v0

namespace weft_net {

std::exception_ptr run_rank(const std::function<void(weft::net::team &)> &rank,
                            weft::net::team &team) noexcept {
  std::exception_ptr failed;
  try {
    weft::spawn(
        [&] {
          try {
            rank(team);
          } catch (...) {
            failed = std::current_exception();
          }
          try {
            weft::taskwait();
          } catch (...) {
            if (!failed)
              failed = std::current_exception();
          }
        },
        weft::tracked, weft::label("rank"))
        .get();
  } catch (...) { // an operation of the rank's own task may have failed after its body
    if (!failed)
      failed = std::current_exception();
  }
  return failed;
}

} // namespace weft_net
