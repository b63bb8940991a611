// SPDX-License-Identifier: Apache-2.0
#include <alpi/alpi.h>
#include <weft/version.hpp>

#include <cstdio>
#include <cstring>

#define ALPI_TEXT_OF(n) #n
#define ALPI_TEXT(n) ALPI_TEXT_OF(n)

namespace {

const char *info(alpi_info_t query) noexcept {
  switch (query) {
  case ALPI_INFO_RUNTIME_NAME:
    return "Weft";
  case ALPI_INFO_RUNTIME_VENDOR:
    return "the Weft authors";
  case ALPI_INFO_VERSION:
    return "ALPI " ALPI_TEXT(ALPI_VERSION_MAJOR) "." ALPI_TEXT(
        ALPI_VERSION_MINOR) " (Weft " WEFT_VERSION_STRING ")";
  }
  return nullptr;
}

constexpr int k_features =
    ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND;

} // namespace

const char *alpi_error_string(alpi_error_t error) {
  switch (error) {
  case ALPI_SUCCESS:
    return "Success";
  case ALPI_ERR_VERSION:
    return "The version is not compatible";
  case ALPI_ERR_NOT_INITIALIZED:
    return "The runtime cannot start, or was shut down";
  case ALPI_ERR_PARAMETER:
    return "An argument is not valid";
  case ALPI_ERR_OUT_OF_MEMORY:
    return "Out of memory or of another resource";
  case ALPI_ERR_OUTSIDE_TASK:
    return "Called from outside of a task";
  case ALPI_ERR_UNKNOWN:
    return "Something else failed";
  case ALPI_ERR_FEATURE_UNKNOWN:
    return "A feature is not known or not supported";
  case ALPI_ERR_MAX:
    break;
  }
  return "Error code not recognized";
}

int alpi_info_get(alpi_info_t query, char *buffer, size_t max_length, int *length) {
  const char *text = info(query);
  if (!text || !buffer || max_length == 0)
    return ALPI_ERR_PARAMETER;
  std::snprintf(buffer, max_length, "%s", text);
  if (length)
    *length = static_cast<int>(std::strlen(buffer));
  return ALPI_SUCCESS;
}

int alpi_feature_check(int feature_bitmask) {
  return feature_bitmask & ~k_features ? ALPI_ERR_FEATURE_UNKNOWN : ALPI_SUCCESS;
}

int alpi_version_check(int major, int minor) {
  return major == ALPI_VERSION_MAJOR && minor <= ALPI_VERSION_MINOR ? ALPI_SUCCESS
                                                                    : ALPI_ERR_VERSION;
}

int alpi_version_get(int *major, int *minor) {
  if (!major || !minor)
    return ALPI_ERR_PARAMETER;
  *major = ALPI_VERSION_MAJOR;
  *minor = ALPI_VERSION_MINOR;
  return ALPI_SUCCESS;
}
