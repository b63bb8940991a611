// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::inncabs {

inline constexpr double k_very_fine_us = 30;
/// Returns the class of a task's duration, as table 7 has it: VF, F, M or C.
[[nodiscard]] const char *granularity(double task_us);

/// Writes the tables as Markdown: the programs in the form of table 7, and what was measured.
void write_tables(std::ostream &to, const std::vector<measurement> &all);
/// Writes a panel per program: time over the number of workers, beside the ideal one.
void write_times(std::ostream &to, const std::vector<measurement> &all);
/// Writes a line per program of very fine tasks: the processor time beside its own, per task.
void write_overhead(std::ostream &to, const std::vector<measurement> &all);
/// Puts `text` between the marks of a page. Throws std::runtime_error when it has none.
void write_page(const std::string &path, const std::string &text);

/// Returns the processor time of the serial run per task; NaN where it was not measured.
[[nodiscard]] double task_ns(const std::vector<measurement> &all, const std::string &program);
/// Returns the processor time beside the serial run's, per task, in ns; NaN where it is not known.
[[nodiscard]] double overhead_ns(const std::vector<measurement> &all, const measurement &m);
/// Returns the numbers of workers that were measured, in order.
[[nodiscard]] std::vector<int> workers_of(const std::vector<measurement> &all);

} // namespace bench::inncabs
