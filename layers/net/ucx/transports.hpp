// SPDX-License-Identifier: Apache-2.0
// The transports of an endpoint of UCX, by name.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace weft_net_ucx {

/// Names the transports that UCX has chosen, "posix+cma", as its description of the endpoint does.
[[nodiscard]] std::string transports_of(ucp_ep_h endpoint);

} // namespace weft_net_ucx
