// SPDX-License-Identifier: Apache-2.0
// weft-net-lpf VERSION APP|all [OPTION...]   supersteps of task-aware LPF, under `weft launch` or by itself
//
// A round is a superstep: pieces are put in a double buffer of the library, talpf_sync() ends the superstep, and
// tasks copy what has come to where the application wants it. So only these copies are readers of the
// superstep, and supersteps go ahead of the kernels. With `get` the receiver fetches: a superstep says that the
// pieces of a round are there, and a second one brings them.
#include "tasks.hpp"

#include <lpf/core.h>
#include <lpf/talpf.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace net_bench {

namespace {

struct version_name {
  const char *name;
  lpf_sync_attr_t sync;
  bool gets;
};
// What `cached_ack` adds is a setting, lpf.acknowledge=all.
constexpr version_name k_versions[] = {
    {"default", 0, false},
    {"cached", LPF_SYNC_CACHED, false},
    {"cached_barrier", LPF_SYNC_CACHED | LPF_SYNC_BARRIER, false},
    {"cached_ack", LPF_SYNC_CACHED, false},
    {"get", 0, true}};

void expect_success(lpf_err_t code, const char *what) {
  if (code != LPF_SUCCESS)
    throw std::runtime_error(std::string(what) + " has failed");
}

class lpf_version : public task_version {
 public:
  lpf_version(lpf_t context, int rank, int ranks, const version_name &which, meter &times)
      : task_version(times), m_context(context), m_rank(rank), m_ranks(ranks), m_which(which) {}
  [[nodiscard]] int rank() const { return m_rank; }
  [[nodiscard]] int ranks() const { return m_ranks; }
  [[nodiscard]] const char *name() const { return m_which.name; }

  void start(const layout &what, std::vector<double> &memory) {
    m_layout = what;
    m_base = memory.data();
    const std::size_t piece_bytes = static_cast<std::size_t>(what.pieces) * what.bytes;
    expect_success(lpf_resize_memory_register(m_context, 3), "lpf_resize_memory_register");
    expect_success(lpf_sync(m_context, LPF_SYNC_DEFAULT), "lpf_sync");
    expect_success(
        lpf_register_local(m_context, memory.data(), memory.size() * sizeof(double), &m_memory),
        "lpf_register_local");
    if (m_which.gets) { // what is sent in a round stays until that of the next one has come
      m_outbox.assign(2 * piece_bytes / sizeof(double) * static_cast<std::size_t>(m_ranks), 0);
      expect_success(lpf_register_global(m_context, m_outbox.data(),
                                         m_outbox.size() * sizeof(double), &m_places),
                     "lpf_register_global");
    } else {
      expect_success(talpf_register_double(m_context, piece_bytes, &m_places),
                     "talpf_register_double");
    }
    sync_now();
  }
  void begin() {
    clear();
    sync_now(); // all ranks are here, and cached counts are forgotten
    m_first = talpf_superstep(m_context);
  }

  void send(int piece, int to, int round, const double *from, const token &written) {
    if (m_which.gets) {
      spawn(uses().in(written).concurrent(m_step), "stage", 0,
            [this, place = m_outbox.data() + outbox_offset(to, round, piece) / sizeof(double),
             from] { std::memcpy(place, from, m_layout.bytes); });
      return;
    }
    count(1, m_layout.bytes);
    spawn(uses().in(written).concurrent(m_step), "put", k_soon, [this, piece, to, from] {
      expect_success(talpf_put(m_context, m_memory, offset_of(from), static_cast<lpf_pid_t>(to),
                               m_places, static_cast<std::size_t>(piece) * m_layout.bytes,
                               m_layout.bytes, LPF_MSG_DEFAULT),
                     "talpf_put");
    });
  }

  void receive(int round, const std::vector<arrival> &coming) {
    if (m_which.gets) {
      end_superstep(); // all have staged what they send
      count(coming.size(), coming.size() * m_layout.bytes);
      for (const arrival &a : coming)
        spawn(uses().out(*a.written).concurrent(m_step), "get", k_soon, [this, a, round] {
          expect_success(talpf_get(m_context, static_cast<lpf_pid_t>(a.from), m_places,
                                   outbox_offset(m_rank, round, a.piece), m_memory, offset_of(a.to),
                                   m_layout.bytes, LPF_MSG_DEFAULT),
                         "talpf_get");
        });
      end_superstep(); // all have fetched it
      return;
    }
    end_superstep();
    const std::uint64_t superstep = m_first + static_cast<std::uint64_t>(round);
    for (const arrival &a : coming)
      spawn(uses().in(m_step).out(*a.written), "copy", k_soon, [this, a, superstep] {
        const auto *const half =
            static_cast<const std::byte *>(talpf_half(m_context, m_places, superstep));
        std::memcpy(a.to, half + static_cast<std::size_t>(a.piece) * m_layout.bytes,
                    m_layout.bytes);
      });
  }

  void finish() { weft::taskwait(); }
  void stop() {
    sync_now();
    expect_success(lpf_deregister(m_context, m_places), "lpf_deregister");
    expect_success(lpf_deregister(m_context, m_memory), "lpf_deregister");
  }

 private:
  static constexpr int k_soon = 1 << 20; // before all kernels

  void sync_now() { expect_success(talpf_sync(m_context, LPF_SYNC_DEFAULT), "talpf_sync"); }
  void end_superstep() {
    spawn(uses().inout(m_step), "sync", k_soon, [this] {
      m_times.awaited(1);
      expect_success(talpf_sync(m_context, m_which.sync), "talpf_sync");
    });
    note_arrival(m_step);
  }
  [[nodiscard]] std::size_t offset_of(const double *at) const {
    return static_cast<std::size_t>(at - m_base) * sizeof(double);
  }
  /// Returns where a rank finds a piece in the outbox of its sender.
  [[nodiscard]] std::size_t outbox_offset(int to, int round, int piece) const {
    const auto slot = static_cast<std::size_t>((to * 2 + round % 2) * m_layout.pieces + piece);
    return slot * m_layout.bytes;
  }

  lpf_t m_context;
  int m_rank, m_ranks;
  version_name m_which;
  layout m_layout;
  double *m_base = nullptr;
  std::vector<double> m_outbox;
  lpf_memslot_t m_memory = LPF_INVALID_MEMSLOT, m_places = LPF_INVALID_MEMSLOT;
  std::uint64_t m_first = 0;
  token m_step = 0; // what orders messages, supersteps and copies
};

/// Is what process 0 tells the others.
struct job {
  options wanted;
  int version = 0;
};

void solve(lpf_t context, lpf_pid_t pid, lpf_pid_t processes, lpf_args_t args) {
  job told;
  if (pid == 0)
    std::memcpy(&told, args.input, sizeof told);
  lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
  bool is_right = false;
  try {
    expect_success(lpf_resize_memory_register(context, 1), "lpf_resize_memory_register");
    expect_success(lpf_resize_message_queue(context, processes), "lpf_resize_message_queue");
    expect_success(lpf_sync(context, LPF_SYNC_DEFAULT), "lpf_sync");
    expect_success(lpf_register_global(context, &told, sizeof told, &slot), "lpf_register_global");
    expect_success(lpf_sync(context, LPF_SYNC_DEFAULT), "lpf_sync");
    for (lpf_pid_t to = 1; pid == 0 && to < processes; ++to)
      expect_success(lpf_put(context, slot, 0, to, slot, 0, sizeof told, LPF_MSG_DEFAULT),
                     "lpf_put");
    expect_success(lpf_sync(context, LPF_SYNC_DEFAULT), "lpf_sync");
    meter times(events_of(told.wanted));
    lpf_version v(context, static_cast<int>(pid), static_cast<int>(processes),
                  k_versions[told.version], times);
    is_right = run_apps(v, times, told.wanted);
    expect_success(lpf_deregister(context, slot), "lpf_deregister");
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-lpf: %s\n", e.what());
  }
  if (!is_right)
    std::_Exit(EXIT_FAILURE); // the job ends, and its exit code is not 0
}

} // namespace
} // namespace net_bench

int main(int argc, char **argv) {
  try {
    if (argc < 3)
      throw std::runtime_error("usage: weft-net-lpf VERSION APP|all [OPTION...]");
    net_bench::job told;
    told.wanted = net_bench::parse({argv + 2, argv + argc});
    const int count = std::size(net_bench::k_versions);
    while (told.version != count &&
           std::string_view(argv[1]) != net_bench::k_versions[told.version].name)
      ++told.version;
    if (told.version == count)
      throw std::runtime_error("there is no version '" + std::string(argv[1]) +
                               "': name default, cached, cached_barrier, cached_ack or get");
    lpf_args_t args = LPF_NO_ARGS;
    args.input = &told;
    args.input_size = sizeof told;
    net_bench::expect_success(lpf_exec(LPF_ROOT, LPF_MAX_P, &net_bench::solve, args), "lpf_exec");
    return EXIT_SUCCESS;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-lpf: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
