// SPDX-License-Identifier: Apache-2.0
// Two ranks of UCX without anything above it.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace net_micro {

class raw_ucx {
 public:
  /// Says whether UCX looks for the loss of the other rank, as Weft's engine has it do: without that a put to a killed
  /// process succeeds.
  enum class loss { ignored, detected };
  /// Makes a worker, and memory that UCX allocates. Errors. std::runtime_error.
  raw_ucx(std::size_t bytes, loss how);
  raw_ucx(const raw_ucx &) = delete;
  raw_ucx &operator=(const raw_ucx &) = delete;
  ~raw_ucx();

  [[nodiscard]] std::string address() const; ///< of the worker, and how to reach the memory
  void connect(const std::string &other); ///< with what address() of the other rank has returned
  [[nodiscard]] std::byte *memory() const noexcept { return m_memory; }

  /// @{ Does one operation on the memory of the other rank. A put ends when its source may be used again.
  void put(const void *from, std::size_t bytes);
  void get(void *to, std::size_t bytes);
  void flush(); ///< what was put before is there
  std::uint64_t fetch_add(std::uint64_t value);
  std::uint64_t compare_swap(std::uint64_t expected, std::uint64_t value);
  /// @}
  /// Sends an active message; the other rank counts it in come().
  void send(const void *from, std::size_t bytes);
  void progress() { ucp_worker_progress(m_worker); }
  [[nodiscard]] std::uint64_t come() const noexcept { return m_come; }

 private:
  void finish(void *request, const char *what);
  const loss m_loss;
  ucp_context_h m_context = nullptr;
  ucp_worker_h m_worker = nullptr;
  ucp_mem_h m_handle = nullptr;
  ucp_ep_h m_other = nullptr;
  ucp_rkey_h m_key = nullptr;
  std::uint64_t m_remote = 0;
  std::byte *m_memory = nullptr;
  std::uint64_t m_come = 0;
};

} // namespace net_micro
