// SPDX-License-Identifier: Apache-2.0
// weft-net-loggp [WINDOWS [COUNT]]   the LogGP parameters of Weft's transport (measure.hpp): of the engine of the job that
// has started this process, else of inproc, with a thread for each rank. A message is a put with a notification.
#include "measure.hpp"

#include <weft/net/inproc.hpp>
#include <weft/net/joined_job.hpp>
#include <weft/net/transport.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace net = weft::net;
namespace loggp = net_bench::loggp;

constexpr std::uint32_t k_key = 1, k_note = 2, k_bye = 3; // what a message or a notification is

class rank_link final : net::listener {
 public:
  explicit rank_link(std::unique_ptr<net::engine> engine)
      : m_source(loggp::k_long), m_transport(std::move(engine), *this),
        m_other(1 - m_transport.rank()) {
    if (m_transport.add_fresh_memory(loggp::k_long, m_own) == nullptr) {
      m_landing.resize(loggp::k_long);
      m_own = m_transport.add_memory(m_landing.data(), m_landing.size());
    }
    net::operation told;
    told.what = net::action::message;
    told.id = k_key;
    told.local = &m_own;
    told.bytes = sizeof m_own;
    run(told);
    while (!m_has_key)
      progress();
  }
  /// Ends when both ranks are here, so that neither takes memory away from the other.
  ~rank_link() {
    net::operation bye;
    bye.what = net::action::message;
    bye.id = k_bye;
    run(bye);
    while (!m_bye)
      progress();
    m_transport.remove_memory(m_own);
  }
  rank_link(const rank_link &) = delete;
  rank_link &operator=(const rank_link &) = delete;

  void send(std::size_t bytes) {
    net::operation op;
    op.what = net::action::put_notify;
    op.id = k_note;
    op.key = m_key;
    op.local = m_source.data();
    op.bytes = bytes;
    op.count = 1;
    run(op);
  }
  void progress() { m_transport.progress(32); }
  [[nodiscard]] std::uint64_t come() const noexcept { return m_come; }
  [[nodiscard]] const char *engine() const { return m_transport.caps().name; }
  [[nodiscard]] std::string path() { return m_transport.path_to(m_other); }

 private:
  struct awaited : net::operation {
    std::atomic<bool> is_over{false};
  };
  void run(const net::operation &what) {
    awaited op;
    static_cast<net::operation &>(op) = what;
    op.rank = m_other;
    op.ended = [](net::operation &self) noexcept {
      if (self.result != net::outcome::done)
        std::abort();
      static_cast<awaited &>(self).is_over.store(true, std::memory_order_release);
    };
    m_transport.submit(op);
    while (!op.is_over.load(std::memory_order_acquire))
      progress();
  }
  void arrived(int, std::uint32_t id, std::span<const std::byte> payload) noexcept override {
    if (id == k_bye)
      m_bye = true;
    if (id != k_key)
      return;
    std::memcpy(&m_key, payload.data(), sizeof m_key);
    m_has_key = true;
  }
  void notified(int, std::uint32_t, std::uint64_t count) noexcept override { m_come += count; }
  void lost(int) noexcept override {}

  std::vector<std::byte> m_source, m_landing;
  std::atomic<std::uint64_t> m_come{0};
  std::atomic<bool> m_has_key{false}, m_bye{false};
  net::memory_key m_own, m_key;
  net::transport m_transport;
  int m_other;
};

void measure(std::unique_ptr<net::engine> engine, int windows, int count) {
  const int rank = engine->rank();
  if (engine->size() != 2)
    throw std::runtime_error("needs two ranks");
  rank_link between(std::move(engine));
  const loggp::readings r = loggp::measurement<rank_link>(between, rank, windows, count).run();
  if (rank == 0)
    loggp::print(between.engine(), between.path().c_str(), r);
}

void run(int windows, int count) {
  if (const std::unique_ptr<net::joined_job> job = net::joined_job::of_process()) {
    job->start([](int) {});
    measure(job->take_engine(), windows, count);
    job->stop();
    job->leave();
    return;
  }
  const net::inproc_world world(2);
  std::unique_ptr<net::engine> engines[2] = {world.make_engine(0), world.make_engine(1)};
  std::thread other([&] { measure(std::move(engines[1]), windows, count); });
  measure(std::move(engines[0]), windows, count);
  other.join();
}

} // namespace

int main(int argc, char **argv) {
  const int windows = argc > 1 ? std::atoi(argv[1]) : 40;
  const int count = argc > 2 ? std::atoi(argv[2]) : 64;
  try {
    if (windows < 1 || count < 2)
      throw std::runtime_error("needs a window or more, of two messages or more");
    run(windows, count);
    return EXIT_SUCCESS;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-loggp: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
