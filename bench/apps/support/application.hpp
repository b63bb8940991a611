// SPDX-License-Identifier: Apache-2.0
// What an application is to the harness, and how to add one.
//
// bench/apps/NAME/ holds one problem and its back ends:
//   NAME.hpp, NAME.cpp  the class: data, kernels, the kernels in serial order, how the result is
//                       checked; also app::about and app::make. Compiled once; every back end links
//                       the same object code.
//   weft.cpp            run_tasks() with Weft; openmp.cpp, threads.cpp: the same tasks with other back ends.
// CMake finds the folder by itself; program bin/app-NAME-weft and its like appear, and tests of each.
//
// The rules: one kernel call is one task, counted with count_task() in the kernel, so that the serial order
// and all back ends must agree on the number of tasks. A task that calls no kernel (it only creates others)
// calls count_task() in its body, and run_serial() calls it at the same place. A task's accesses are the same
// in all back ends. run_tasks() returns when all is done; within it the order comes from accesses, not waits.
#pragma once

#include "count.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace app {

/// Is an option that takes a whole number; `name` is without its dashes.
struct option {
  std::string name;
  long least, most, preset;
  std::string help;
};

struct description {
  std::string name; // the folder's
  std::string title; // of its chart
  option size, tile; // what "size" and "tile" mean here; the preset tile is a coarse one
  std::vector<option> own{}; // further ones
  std::vector<long>
      sweep{}; // tiles from fine to coarse, over three decades of instructions per task
  std::pair<long, long>
      small{}; // size and tile of the test: some hundred tasks, a few milliseconds
  double tolerance = 0; // greatest difference() that is right; 0: every bit is the same
  double defect_bound = 0; // greatest defect() that is right
};

/// Holds the choices of the command line: one value for each option.
class settings {
 public:
  void set(const std::string &name, long value);
  [[nodiscard]] long operator[](const std::string &name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, long>> &all() const { return m_values; }

 private:
  std::vector<std::pair<std::string, long>> m_values;
};

/// Reports options that do not fit together; the message names them and the remedy. The program
/// ends with status 2.
struct bad_option : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class application {
 public:
  virtual ~application() = default;
  /// Restores the input, so that a run can start; its time does not count.
  virtual void reset() = 0;
  /// Runs all kernels, in an order that the tasks' accesses allow.
  virtual void run_serial() = 0;
  /// Runs the same kernels as tasks; the back end defines it.
  virtual void run_tasks() = 0;
  /// Keeps the result of run_serial().
  virtual void remember() = 0;
  /// Returns how far the result of the last run lies from the one kept, relative to it.
  [[nodiscard]] virtual double difference() const = 0;
  /// Returns how wrong the result kept is by an independent measure: a residual, a conserved sum, a
  /// known answer.
  [[nodiscard]] virtual double defect() const = 0;
  /// Returns one number of the result, for users who compare back ends.
  [[nodiscard]] virtual double checksum() const = 0;
};

/// Each application defines these two.
extern const description about;
std::unique_ptr<application> make(const settings &chosen);

} // namespace app
