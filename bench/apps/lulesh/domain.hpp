// SPDX-License-Identifier: Apache-2.0
// LULESH 2.0, written anew from its description (Hornung, Keasler and Gokhale, LLNL-TR-490254; Karlin,
// Keasler and Neely, LLNL-TR-641973): a Sedov blast in one octant, Lagrangian hydrodynamics on a staggered
// mesh of hexahedra. Kinematics live at the nodes, thermodynamics in the elements. Regions of unequal cost,
// which repeat the equation of state without changing the result, are left out.
//
// A step is four kernels per block of elements and one for the clock:
//
//     kernel     reads                                          writes
//     forces     nodes of up to 8 blocks, own state             own corner forces
//     nodes      corner forces of up to 8 blocks, clock         own nodes
//     motion     nodes of up to 8 blocks, own state, clock      own motion
//     material   motion of up to 7 blocks                       own state and limit of the time step
//     clock      limits of all blocks                           clock
#pragma once

#include "../support/count.hpp"
#include "geometry.hpp"

#include <vector>

namespace sedov {

struct node {
  vec3 position, velocity;
  double mass = 0;
};

struct element {
  // state
  double energy = 0, pressure = 0, viscosity = 0;
  double volume = 1; // relative to the reference volume
  double sound_speed = 0;
  // motion in this step
  double new_volume = 1, volume_change = 0;
  double divergence = 0; // of the velocity
  double length = 0;
  vec3 velocity_difference, position_difference; // across the element, along xi, eta, zeta
  // constants
  double reference_volume = 0, mass = 0;
  corners force;
};

struct range {
  int begin = 0, end = 0;
};

/// Holds the limits that elements set to the next time step.
struct limits {
  double courant = 1e20, hydro = 1e20;
};
inline limits combine(limits a, limits b) {
  return {std::min(a.courant, b.courant), std::min(a.hydro, b.hydro)};
}

/// Is a box of elements and the nodes at their lower corners; the last block in a direction has the
/// last nodes too. In accesses of tasks, the address of a member represents the data that it is
/// named after.
struct block {
  range elements[3], nodes[3];
  char forces_access = 0, nodes_access = 0, motion_access = 0, state_access = 0;
  limits found;
  std::vector<int> upper; // blocks whose nodes its elements touch
  std::vector<int> lower; // blocks whose elements touch its nodes
  std::vector<int> faces; // this block, and the blocks that share a face with it
};

struct clock {
  double time = 0, step = 0;
  long cycle = 0;
};

struct domain {
  /// Creates `size` elements along an edge, in blocks of `tile` along an edge.
  domain(int size, int tile);

  int size;
  std::vector<node> nodes;
  std::vector<element> elements;
  std::vector<block> blocks;
  clock now;
  limits least; // gathers found() in a back end with task reductions

  [[nodiscard]] int node_at(int i, int j, int k) const {
    return (k * (size + 1) + j) * (size + 1) + i;
  }
  [[nodiscard]] int element_at(int i, int j, int k) const { return (k * size + j) * size + i; }
  [[nodiscard]] bool over() const { return now.time >= k_end; }
  /// Restores the state before the blast.
  void restore();
  /// Returns the least limits of all blocks.
  [[nodiscard]] limits found() const;

  static constexpr double k_end = 1e-2;
};

// The kernels.
/// Chooses the next step by the limits of all blocks; the first step was chosen with the domain.
void advance_clock(domain &d, limits found);
void compute_forces(domain &d, const block &b);
void move_nodes(domain &d, const block &b);
void compute_motion(domain &d, const block &b);
/// Computes the block's new state and its limits. Aborts when an element has turned inside out.
void update_material(domain &d, block &b);

} // namespace sedov
