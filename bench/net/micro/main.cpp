// SPDX-License-Identifier: Apache-2.0
// weft-net-micro-MPI [WINDOWS [COUNT]]   what one operation between two ranks costs: Weft's transport, a future of
// weft::net, UCX and MPI, which take turns. Rank 0 prints the best window of each and the median, in
// nanoseconds an operation, and how far the transport's best is above UCX's. Started by the MPI's launcher.
//
// put, get, atomic: rank 0 does them one by one, while rank 1 waits in MPI_Barrier. A put ends when its source may be
// used again, one with flush when the data are there.
// notify, message: ping-pong, one way; notifications come with the 8 bytes that they announce.
#include "raw_ucx.hpp"

#include <weft/net/joined_job.hpp>
#include <weft/net/transport.hpp>

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace net = weft::net;
using net_micro::raw_ucx;

constexpr std::size_t k_long = std::size_t{1} << 20;
constexpr int k_count = 500, k_long_count = 8;

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Is a rank of Weft's transport.
class weft_rank : net::listener {
 public:
  explicit weft_rank(net::joined_job &job) : m_transport(job.take_engine(), *this) {
    m_memory = m_transport.add_fresh_memory(k_long, own_key);
    if (!m_memory)
      throw std::runtime_error("the engine has no memory of its own");
  }
  ~weft_rank() { m_transport.remove_memory(own_key); }
  weft_rank(const weft_rank &) = delete;
  weft_rank &operator=(const weft_rank &) = delete;

  /// Does an operation, to its end at the other rank if that is asked for.
  void run(net::action what, void *local, std::size_t bytes, bool to_the_end = false) {
    awaited op;
    op.what = what;
    op.local = local;
    op.bytes = bytes;
    op.value = 1;
    op.count = 1;
    submit_and_wait(op);
    if (!to_the_end)
      return;
    awaited flush;
    flush.what = net::action::flush;
    submit_and_wait(flush);
  }
  void progress() { m_transport.progress(32); }
  [[nodiscard]] std::uint64_t come() const noexcept { return m_come; }
  [[nodiscard]] std::string path() { return m_transport.path_to(m_other); }

  net::memory_key own_key, key; // of the own memory, and of the other rank's
  void set_other(int other) { m_other = other; }

 private:
  struct awaited : net::operation {
    std::atomic<bool> is_over{false};
  };
  void submit_and_wait(awaited &op) {
    op.rank = m_other;
    op.key = key;
    op.ended = [](net::operation &self) noexcept {
      if (self.result != net::outcome::done)
        std::abort();
      static_cast<awaited &>(self).is_over.store(true, std::memory_order_release);
    };
    m_transport.submit(op);
    while (!op.is_over.load(std::memory_order_acquire))
      progress();
  }
  void arrived(int, std::uint32_t, std::span<const std::byte>) noexcept override { ++m_come; }
  void notified(int, std::uint32_t, std::uint64_t) noexcept override { ++m_come; }
  void lost(int) noexcept override {}

  int m_other = 0;
  void *m_memory = nullptr;
  std::atomic<std::uint64_t> m_come{0};
  net::transport m_transport; // the last: messages come from its construction on
};

struct ranks {
  int own = 0;
  weft_rank &by_weft;
  raw_ucx &by_ucx;
  raw_ucx &by_safe_ucx; // which detects losses
  MPI_Win window;
  std::vector<std::byte> bytes = std::vector<std::byte>(k_long);
  std::uint64_t word = 0;
  std::uint64_t expected_by_weft = 0, expected_by_ucx = 0, expected_by_safe_ucx = 0; // messages
};

std::string exchange(const std::string &own, int other) {
  int mine = static_cast<int>(own.size()), theirs = 0;
  MPI_Sendrecv(&mine, 1, MPI_INT, other, 0, &theirs, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  std::string came(static_cast<std::size_t>(theirs), '\0');
  MPI_Sendrecv(own.data(), mine, MPI_BYTE, other, 1, came.data(), theirs, MPI_BYTE, other, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return came;
}

/// Sends to and fro, as often as a window has. What has come is counted by `come()`, and by `expected` over all
/// windows, because the first message may come before this rank has begun.
template <class Send, class Progress, class Come>
void ping_pong(int own, int count, std::uint64_t &expected, const Send &send,
               const Progress &progress, const Come &come) {
  for (int i = 0; i != count; ++i) {
    if (own == 0)
      send();
    ++expected;
    while (come() < expected)
      progress();
    if (own == 1)
      send();
  }
}

struct kind {
  const char *row, *by;
  int count; // operations of a window
  double divisor; // of the time of one of them
  std::function<void(ranks &, int)> run;
  std::vector<double> ns{};
};

template <class F>
auto alone(F f) { // rank 0 does it
  return [f](ranks &r, int count) {
    for (int i = 0; r.own == 0 && i != count; ++i)
      f(r);
  };
}

void flush(const ranks &r) { MPI_Win_flush(1, r.window); }

std::vector<kind> all_kinds() {
  const auto weft_pings = [](net::action what) {
    return [what](ranks &r, int count) {
      ping_pong(
          r.own, count, r.expected_by_weft, [&] { r.by_weft.run(what, &r.word, 8); },
          [&] { r.by_weft.progress(); }, [&] { return r.by_weft.come(); });
    };
  };
  const auto ucx_pings = [](ranks &r, int count) {
    ping_pong(
        r.own, count, r.expected_by_ucx, [&] { r.by_ucx.send(&r.word, 8); },
        [&] { r.by_ucx.progress(); }, [&] { return r.by_ucx.come(); });
  };
  const auto safe_ucx_pings = [](ranks &r, int count) {
    ping_pong(
        r.own, count, r.expected_by_safe_ucx, [&] { r.by_safe_ucx.send(&r.word, 8); },
        [&] { r.by_safe_ucx.progress(); }, [&] { return r.by_safe_ucx.come(); });
  };
  const auto mpi_pings = [](ranks &r, int count) {
    for (int i = 0; i != count; ++i) {
      if (r.own == 0)
        MPI_Send(&r.word, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      MPI_Recv(&r.word, 8, MPI_BYTE, 1 - r.own, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (r.own == 1)
        MPI_Send(&r.word, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
  };
  const auto weft_one = [](net::action what, bool flushes) {
    return alone([what, flushes](ranks &r) {
      const bool is_atomic = what == net::action::fetch_add || what == net::action::compare_swap;
      r.by_weft.run(what, &r.word, is_atomic ? 0 : 8, flushes);
    });
  };
  return {
      {"put", "weft", k_count, 1, weft_one(net::action::put, false)},
      {"put", "ucx", k_count, 1, alone([](ranks &r) { r.by_ucx.put(&r.word, 8); })},
      {"put", "ucx_loss", k_count, 1, alone([](ranks &r) { r.by_safe_ucx.put(&r.word, 8); })},
      {"put_flush", "weft", k_count, 1, weft_one(net::action::put, true)},
      {"put_flush", "ucx", k_count, 1, alone([](ranks &r) {
         r.by_ucx.put(&r.word, 8);
         r.by_ucx.flush();
       })},
      {"put_flush", "mpi", k_count, 1, alone([](ranks &r) {
         MPI_Put(&r.word, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, r.window);
         flush(r);
       })},
      {"put_1MiB", "weft", k_long_count, 1,
       alone([](ranks &r) { r.by_weft.run(net::action::put, r.bytes.data(), k_long, true); })},
      {"put_1MiB", "ucx", k_long_count, 1, alone([](ranks &r) {
         r.by_ucx.put(r.bytes.data(), k_long);
         r.by_ucx.flush();
       })},
      {"put_1MiB", "mpi", k_long_count, 1, alone([](ranks &r) {
         MPI_Put(r.bytes.data(), k_long, MPI_BYTE, 1, 0, k_long, MPI_BYTE, r.window);
         flush(r);
       })},
      {"get", "weft", k_count, 1, weft_one(net::action::get, false)},
      {"get", "ucx", k_count, 1, alone([](ranks &r) { r.by_ucx.get(&r.word, 8); })},
      {"get", "mpi", k_count, 1, alone([](ranks &r) {
         MPI_Get(&r.word, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, r.window);
         flush(r);
       })},
      {"fetch_add", "weft", k_count, 1, weft_one(net::action::fetch_add, false)},
      {"fetch_add", "ucx", k_count, 1, alone([](ranks &r) { r.by_ucx.fetch_add(1); })},
      {"fetch_add", "mpi", k_count, 1, alone([](ranks &r) {
         std::uint64_t one = 1;
         MPI_Fetch_and_op(&one, &r.word, MPI_UINT64_T, 1, 0, MPI_SUM, r.window);
         flush(r);
       })},
      {"compare_swap", "weft", k_count, 1, weft_one(net::action::compare_swap, false)},
      {"compare_swap", "ucx", k_count, 1, alone([](ranks &r) { r.by_ucx.compare_swap(0, 1); })},
      {"compare_swap", "mpi", k_count, 1, alone([](ranks &r) {
         std::uint64_t one = 1, none = 0;
         MPI_Compare_and_swap(&one, &none, &r.word, MPI_UINT64_T, 1, 0, r.window);
         flush(r);
       })},
      {"notify", "weft", k_count, 2, weft_pings(net::action::put_notify)},
      {"notify", "ucx", k_count, 2, ucx_pings},
      {"notify", "ucx_loss", k_count, 2, safe_ucx_pings},
      {"notify", "mpi", k_count, 2, mpi_pings},
      {"message", "weft", k_count, 2, weft_pings(net::action::message)},
      {"message", "ucx", k_count, 2, ucx_pings},
      {"message", "mpi", k_count, 2, mpi_pings},
  };
}

void print(std::vector<kind> &kinds) {
  double above = 0;
  for (kind &k : kinds) {
    std::sort(k.ns.begin(), k.ns.end());
    std::printf("%-14s %-8s best %10.0f ns   median %10.0f ns\n", k.row, k.by, k.ns.front(),
                k.ns[k.ns.size() / 2]);
    const bool is_bound = std::string(k.row) == "put" || std::string(k.row) == "notify";
    if (std::string(k.by) == "weft")
      above = k.ns.front();
    else if (is_bound && std::string(k.by).starts_with("ucx"))
      std::printf("above_%s_ns %s %.0f\n", k.by, k.row, above - k.ns.front());
  }
}

void measure(int own, int windows, int most) {
  const std::unique_ptr<net::joined_job> job = net::joined_job::of_process();
  if (!job)
    throw std::runtime_error("start it by the launcher of the MPI, on two ranks");
  job->start([](int) {});
  {
    weft_rank by_weft(*job);
    by_weft.set_other(1 - own);
    raw_ucx by_ucx(k_long, raw_ucx::loss::ignored), by_safe_ucx(k_long, raw_ucx::loss::detected);
    by_ucx.connect(exchange(by_ucx.address(), 1 - own));
    by_safe_ucx.connect(exchange(by_safe_ucx.address(), 1 - own));
    const std::string key = exchange(
        {reinterpret_cast<const char *>(&by_weft.own_key), sizeof by_weft.own_key}, 1 - own);
    std::copy_n(key.data(), key.size(), reinterpret_cast<char *>(&by_weft.key));
    void *base = nullptr;
    MPI_Win window;
    MPI_Win_allocate(k_long, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    ranks all{own, by_weft, by_ucx, by_safe_ucx, window};
    std::vector<kind> kinds = all_kinds();
    for (int w = -1; w < windows; ++w) // the first one is not on the clock
      for (kind &k : kinds) {
        MPI_Barrier(MPI_COMM_WORLD); // MPI's operations need their target in a call of MPI
        k.run(all, 1); // a flush asks for the notifications of another row, for instance
        MPI_Barrier(MPI_COMM_WORLD);
        const int count = std::min(k.count, most);
        const double begin = now_ns();
        k.run(all, count);
        const double took = (now_ns() - begin) / (count * k.divisor);
        if (w >= 0)
          k.ns.push_back(took);
      }
    MPI_Barrier(MPI_COMM_WORLD);
    if (own == 0) {
      std::printf("transport: %s\n", by_weft.path().c_str());
      print(kinds);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  job->stop();
  job->leave();
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int own = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int windows = argc > 1 ? std::atoi(argv[1]) : 40;
  const int most = argc > 2 ? std::atoi(argv[2]) : k_count;
  try {
    if (size != 2 || windows < 1 || most < 1)
      throw std::runtime_error("needs two ranks, and a window or more");
    measure(own, windows, most);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-micro: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
