// SPDX-License-Identifier: Apache-2.0
// The process manager of MPICH's ranks: it answers their lines (PMI, version 1), by which they tell each other where
// they are. boot/pmi.cpp has the side of a rank.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace weft_tool {

/// Serves ranks that are processes of this host. It does its work in step().
///
/// A rank that has gone never comes to a barrier. So the lines of those that wait in one are closed then, and MPI fails
/// there; without that it would wait for ever.
class pmi_manager {
 public:
  /// Makes a line for each rank. Throws std::runtime_error.
  explicit pmi_manager(int ranks);
  pmi_manager(const pmi_manager &) = delete;
  pmi_manager &operator=(const pmi_manager &) = delete;
  ~pmi_manager();

  /// Gives the variables to the process that calls, and its end of the line: it becomes the rank.
  void become(int rank) const;
  /// Closes the rank's end here: its process has been made.
  void started(int rank);
  /// Notes that the process of a rank is over.
  void ended(int rank);

  /// Has `descriptor()` readable when this one is, too. Throws std::runtime_error.
  void watch_too(int descriptor);
  /// Is readable when there is something to do.
  [[nodiscard]] int descriptor() const { return m_all; }
  /// Answers what has come.
  void step();

 private:
  struct line {
    int own = -1, other = -1; // -1: closed
    std::string come; // the begin of a line
    bool waits = false; // in the barrier
  };
  void read_from(line &one);
  void answer(line &one, const std::string &text);
  void say(line &one, const std::string &text);
  void end(line &one);
  void look_at_barrier();

  int m_all = -1;
  std::vector<line> m_lines;
  std::map<std::string, std::string> m_values;
  std::string m_space;
  bool m_has_lost = false; // a rank
};

} // namespace weft_tool
