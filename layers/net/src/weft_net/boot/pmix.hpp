// SPDX-License-Identifier: Apache-2.0
// The store of the program that has started the ranks on several hosts: PMIx, by libpmix, which is loaded when it is
// needed. A library of MPI may use it, too: libpmix counts its users.
#pragma once

#include <string>

namespace weft_net {

constexpr const char *k_pmix_library = "libpmix.so.2";

/// Publishes `value` at rank 0, and returns it at all ranks; they wait for each other for some seconds. An empty value
/// says that other hosts cannot reach rank 0. The library has this process until exit() or finalize_pmix(), because
/// the program that started the ranks takes one that ends earlier for a failed one.
///
/// Errors. std::runtime_error, whose text says what is missing.
/// Threads. One, once in a process.
[[nodiscard]] std::string share_by_pmix(const char *library, int rank, const std::string &value, int seconds);

/// Gives the library back, the first time. It does nothing in a child of fork().
///
/// Threads. Any.
void finalize_pmix() noexcept;

} // namespace weft_net
