// SPDX-License-Identifier: Apache-2.0
// Attributes and independent tasks.
#include "guard.hpp"

#include <weft/function.hpp>

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

struct alpi_attr {
  std::uint64_t magic;
};

namespace {

using namespace weft_alpi;

constexpr std::uint64_t k_magic = 0x616c70692d312e32; // "alpi-1.2"

constexpr std::size_t k_most_labels = 4096;

/// Returns a copy of the label that lives as long as the process, because the end of a task is traced behind
/// its callback. There are few different labels; where there are many, those that come late have one name.
const char *interned(const char *label) {
  if (!label)
    return nullptr;
  static std::mutex mutex;
  // Tasks may outlive static destructors.
  static auto *labels = new std::set<std::string, std::less<>>;
  const std::lock_guard guard(mutex);
  if (const auto known = labels->find(std::string_view(label)); known != labels->end())
    return known->c_str();
  return labels->size() < k_most_labels ? labels->emplace(label).first->c_str() : "alpi task";
}

} // namespace

int alpi_attr_create(alpi_attr **attr) {
  if (!attr)
    return ALPI_ERR_PARAMETER;
  *attr = new (std::nothrow) alpi_attr{k_magic};
  return *attr ? ALPI_SUCCESS : ALPI_ERR_OUT_OF_MEMORY;
}

int alpi_attr_destroy(alpi_attr *attr) {
  if (!attr || attr->magic != k_magic)
    return ALPI_ERR_PARAMETER;
  attr->magic = 0;
  delete attr;
  return ALPI_SUCCESS;
}

int alpi_attr_init(alpi_attr *attr) {
  if (!attr)
    return ALPI_ERR_PARAMETER;
  attr->magic = k_magic;
  return ALPI_SUCCESS;
}

int alpi_attr_size(uint64_t *attr_size) {
  if (!attr_size)
    return ALPI_ERR_PARAMETER;
  *attr_size = sizeof(alpi_attr);
  return ALPI_SUCCESS;
}

int alpi_task_spawn(void (*body)(void *), void *body_args, void (*completion_callback)(void *),
                    void *completion_args, const char *label, const alpi_attr *attr) {
  if (!body || !completion_callback || (attr && attr->magic != k_magic))
    return ALPI_ERR_PARAMETER;
  return guarded([&] {
    weft::function_options options;
    options.label = interned(label);
    weft::spawn_function(body, body_args, completion_callback, completion_args, options);
  });
}
