// SPDX-License-Identifier: Apache-2.0
// The blocks of the mesh: an octree over a cube of root blocks, 2:1 balanced across faces. The
// octree knows no cells. A block's slot, a number that is used again when the block is gone, leads
// to its cells.
#pragma once

#include <vector>

namespace octree {

/// Is a sphere in a cube with edges of length 1; its surface gets the finest blocks.
struct object {
  double centre[3];
  double radius;
};

/// Is a block that became eight, or eight that became one; child n lies at
/// (n & 1, n >> 1 & 1, n >> 2).
struct change {
  bool split;
  int parent;
  int children[8];
};

/// Is a pair of blocks that touch: `low` ends where `high` begins along the axis.
struct face {
  enum class kind : unsigned char { same, low_is_coarse, high_is_coarse } kind;
  unsigned char axis;
  unsigned char quarter[2]; // which part of the coarse block's face it is, along the other two axes
  int low, high; // slots
  int level; // of the finer one
  int number; // in the list
};

/// Is a leaf's end of a face.
struct side {
  int face;
  bool is_low;
};

struct leaf {
  int slot, level;
  int origin[3]; // in blocks of its level
  int first_side, end_side;
};

/// Holds the leaves at one time and how they touch.
struct picture {
  std::vector<leaf> leaves;
  std::vector<face> faces;
  std::vector<side> sides; // those of a leaf are neighbours
  std::vector<change> changes; // what became of it
  unsigned levels = 0; // bit l: there are leaves of level l
};

class mesh {
 public:
  mesh(int roots, int finest);

  /// Refines blocks that touch the object's surface, down to the finest level, and blocks that the
  /// balance requires; then coarsens the other ones by one level.
  [[nodiscard]] std::vector<change> follow(const object &o);
  [[nodiscard]] picture describe() const;
  [[nodiscard]] int slots() const { return m_slots; }

 private:
  struct node {
    int first = -1; // of eight children; -1: a leaf
    int slot = -1;
    int level = 0;
    int origin[3] = {};
  };

  [[nodiscard]] bool touches(const node &n, const object &o) const;
  /// Returns the node of that level, or the leaf that covers it; -1 outside of the cube.
  [[nodiscard]] int find(int level, const int (&origin)[3]) const;
  [[nodiscard]] int beside(int n, int axis, int direction) const;
  int take_slot();
  int take_children(int n);
  void refine(int n, std::vector<change> &changes);
  void refine_all(int n, const object &o, std::vector<change> &changes);
  void coarsen_all(int n, const object &o, std::vector<change> &changes);
  [[nodiscard]] bool may_coarsen(const node &n, const object &o) const;
  void coarsen(int n, std::vector<change> &changes);
  void collect(int n, picture &p) const;
  void add_faces(int n, picture &p) const;
  void add_face(int low, int high, int axis, picture &p) const;

  int m_roots, m_finest;
  std::vector<node> m_nodes; // the roots first
  std::vector<int> m_free_children;
  std::vector<int> m_free_slots;
  std::size_t m_next_free_slot = 0; // the oldest first: its last reader is long done
  int m_slots = 0;
};

} // namespace octree
