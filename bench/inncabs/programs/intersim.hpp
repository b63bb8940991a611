// SPDX-License-Identifier: Apache-2.0
// intersim: simulates vehicles that cross the intersections of a town. In each time step a task
// moves one vehicle, and holds the mutexes of the intersection that it leaves, of the one that it
// enters, and of the road between them.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inncabs {

class intersim {
 public:
  static constexpr const char *k_name = "intersim";
  static constexpr parameter k_parameters[] = {
      {"side", 16, 4, 2, 1000, "rows and columns of intersections"},
      {"vehicles", 1000, 40, 1, 1'000'000, "how many there are"},
      {"steps", 50, 10, 1, 1'000'000, "time steps"},
      {"work", 500, 20, 0, 1'000'000, "steps of the equation of motion on a road"}};

  explicit intersim(const sizes &s);
  void reset();
  template <class M>
  void run() {
    const std::unique_ptr<typename M::mutex[]> mutexes(new typename M::mutex[3 * m_town.size()]);
    for (long step = 0; step < m_steps; ++step) {
      typename M::scope here;
      future_list<M, void> moved(m_vehicles.size());
      for (vehicle &v : m_vehicles)
        moved.async(here, move<M>, this, &v, mutexes.get());
      moved.get();
    }
  }
  void remember() { m_expected = state(); }
  [[nodiscard]] std::string check() const;

 private:
  struct vehicle {
    std::uint64_t seed = 0;
    std::uint32_t at = 0, crossed = 0; // intersection; how many it has crossed
    double speed = 0, metres = 0;
  };
  struct intersection {
    std::vector<std::uint32_t> vehicles; // in no order
    std::uint64_t entered = 0;
    std::uint64_t on_road[2] = {}; // to the right and down: vehicles that used it
  };
  /// Is a move: from an intersection to a neighbour, by a road that belongs to one of the two.
  struct route {
    std::uint32_t from, to, road; // a road is an intersection's number times two, plus direction
  };
  [[nodiscard]] route next_route(const vehicle &v) const;
  void drive(vehicle &v) const;
  void cross(vehicle &v, const route &r);
  [[nodiscard]] std::vector<double> state() const;

  template <class M>
  static void move(intersim *all, vehicle *v, typename M::mutex *mutexes) {
    const route r = all->next_route(*v);
    all->drive(*v);
    // Intersections come before roads, and the smaller number before the larger one: no deadlock.
    typename M::mutex &low = mutexes[r.from < r.to ? r.from : r.to],
                      &high = mutexes[r.from < r.to ? r.to : r.from],
                      &road = mutexes[all->m_town.size() + r.road];
    low.lock(), high.lock(), road.lock();
    all->cross(*v, r);
    road.unlock(), high.unlock(), low.unlock();
  }

  std::uint32_t m_side;
  long m_steps, m_work;
  std::vector<vehicle> m_vehicles;
  std::vector<intersection> m_town;
  std::vector<double> m_expected;
};

} // namespace inncabs
