// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/pmi.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <unistd.h>

namespace weft_net {

namespace {

void write_line(int descriptor, const std::string &line) {
  if (write(descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error(std::string("PMI: cannot write to PMI_FD: ") + std::strerror(errno));
}

std::string read_line(int descriptor) {
  std::string line;
  char c;
  while (read(descriptor, &c, 1) == 1)
    if (c == '\n')
      return line;
    else
      line += c;
  throw std::runtime_error("PMI: the program that started the ranks has closed PMI_FD");
}

/// Returns the value of a field of an answer, whose command must be the one given.
std::string answer(int descriptor, const std::string &command, const std::string &field) {
  const std::string line = " " + read_line(descriptor) + " ";
  const auto value = [&line](const std::string &name) {
    const std::size_t at = line.find(" " + name + "=");
    if (at == std::string::npos)
      return std::string();
    const std::size_t first = at + name.size() + 2;
    return line.substr(first, line.find(' ', first) - first);
  };
  const std::string rc = value("rc");
  if (value("cmd") != command || (!rc.empty() && rc != "0"))
    throw std::runtime_error("PMI: the answer is '" + line + "', and not " + command);
  return value(field);
}

} // namespace

std::string share_by_pmi(int descriptor, int rank, const std::string &value) {
  write_line(descriptor, "cmd=init pmi_version=1 pmi_subversion=1\n");
  static_cast<void>(answer(descriptor, "response_to_init", "rc"));
  write_line(descriptor, "cmd=get_my_kvsname\n");
  const std::string space = answer(descriptor, "my_kvsname", "kvsname");
  if (rank == 0) {
    write_line(descriptor, "cmd=put kvsname=" + space + " key=weft-net value=" + value + "\n");
    static_cast<void>(answer(descriptor, "put_result", "rc"));
  }
  write_line(descriptor, "cmd=barrier_in\n");
  static_cast<void>(answer(descriptor, "barrier_out", "rc"));
  write_line(descriptor, "cmd=get kvsname=" + space + " key=weft-net\n");
  std::string shared = answer(descriptor, "get_result", "value");
  write_line(descriptor, "cmd=finalize\n");
  static_cast<void>(answer(descriptor, "finalize_ack", "rc"));
  return shared;
}

} // namespace weft_net
