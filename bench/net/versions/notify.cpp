// SPDX-License-Identifier: Apache-2.0
// weft-net-notify APP|all [OPTION...]   puts with notifications, under `weft launch` or by itself
//
// A piece goes to one of two places at its receiver, in turn; its notification releases the copy to where the
// application wants it. When the copy has ended, the receiver gives the place back by a notification.
#include "tasks.hpp"

#include <weft/net.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace net_bench {

namespace {

class notify_version : public task_version {
 public:
  notify_version(weft::net::team &team, meter &times) : task_version(times), m_team(team) {}
  [[nodiscard]] int rank() const { return m_team.rank(); }
  [[nodiscard]] int ranks() const { return m_team.size(); }
  [[nodiscard]] static const char *name() { return "notify"; }

  void start(const layout &what, std::vector<double> &memory) {
    static_cast<void>(memory);
    m_layout = what;
    const auto places = static_cast<std::size_t>(2 * what.pieces);
    m_places = m_team.allocate<double>(places * values());
    m_landed.assign(places, 0);
    m_sent.assign(places, 0);
  }
  void begin() {
    clear();
    m_team.barrier();
  }
  void send(int piece, int to, int round, const double *from, const token &written) {
    const std::size_t place = place_of(piece, round);
    // Pieces to several ranks have numbers of their own: a rank has one receiver for a number.
    token &turn = m_sent[place];
    if (round > 1)
      spawn(uses().inout(turn), "wait for a place", k_soon,
            [this, place, to] { m_team.expect(id_of(place, number::returned), 1, to); });
    count(1, m_layout.bytes);
    spawn(uses().in(written).inout(turn), "put", k_soon, [this, place, to, from] {
      m_team.put_notify(m_places.on(to).subspan(place * values(), values()), {from, values()},
                        id_of(place, number::come));
    });
  }
  void receive(int round, const std::vector<arrival> &coming) {
    for (const arrival &a : coming) {
      const std::size_t place = place_of(a.piece, round);
      token &landed = m_landed[place];
      spawn(uses().out(landed), "expect", k_soon, [this, place, from = a.from] {
        m_times.awaited(1);
        m_team.expect(id_of(place, number::come), 1, from);
      });
      spawn(uses().inout(landed).out(*a.written), "copy", k_soon, [this, a, place] {
        m_times.awaited(-1);
        std::memcpy(a.to, m_places.local().data() + place * values(), m_layout.bytes);
      });
      if (round + 2 < m_layout.rounds)
        give_back(place, a.from, landed);
    }
  }
  void finish() { weft::taskwait(); }
  void stop() {
    m_team.barrier();
    m_places = {};
  }

 private:
  static constexpr int k_soon = 1 << 20; // before all kernels
  enum class number : std::uint32_t { come, returned };

  void give_back(std::size_t place, int to, const token &landed) {
    count(1, 0);
    spawn(uses().in(landed), "give back", k_soon,
          [this, place, to] { m_team.notify(to, id_of(place, number::returned)); });
  }
  [[nodiscard]] std::size_t values() const { return m_layout.bytes / sizeof(double); }
  [[nodiscard]] std::size_t place_of(int piece, int round) const {
    return static_cast<std::size_t>(2 * piece + round_turn(round));
  }
  [[nodiscard]] static int round_turn(int round) { return round % 2; }
  [[nodiscard]] static std::uint32_t id_of(std::size_t place, number what) {
    return static_cast<std::uint32_t>(2 * place) + static_cast<std::uint32_t>(what);
  }

  weft::net::team &m_team;
  layout m_layout;
  weft::net::shared_array<double> m_places;
  std::vector<token> m_landed, m_sent;
};

} // namespace
} // namespace net_bench

int main(int argc, char **argv) {
  try {
    const net_bench::options o = net_bench::parse({argv + 1, argv + argc});
    weft::net::run_ranks([&](weft::net::team &team) {
      net_bench::meter times(net_bench::events_of(o));
      net_bench::notify_version v(team, times);
      if (!net_bench::run_apps(v, times, o))
        throw std::runtime_error("the result of rank " + std::to_string(team.rank()) + " is wrong");
    });
    return EXIT_SUCCESS;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-notify: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
