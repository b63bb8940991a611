// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace inncabs {

/// Says when a call runs: at once beside its caller; when its result is asked for; either, as the
/// runtime likes; at once, in front of its caller.
enum class launch { async, deferred, optional, fork };

inline launch parse_launch(const std::string &name) {
  if (name == "async")
    return launch::async;
  if (name == "deferred")
    return launch::deferred;
  if (name == "optional")
    return launch::optional;
  if (name == "fork")
    return launch::fork;
  throw std::runtime_error("no launch policy is called '" + name +
                           "'; there are async, deferred, optional and fork");
}

/// Throws where a model has only launch::async.
inline void require_async(launch policy, const char *model) {
  if (policy != launch::async)
    throw std::runtime_error(std::string(model) + " has no launch policy but async");
}

/// Is what all models are started with.
struct configuration {
  int workers;
  launch policy;
  long threads; // no more at a time; for the model that makes a thread per call
};

} // namespace inncabs
