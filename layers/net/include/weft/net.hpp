// SPDX-License-Identifier: Apache-2.0
// Communication between ranks: all of it but the transport.
#pragma once

#include <weft/net/inproc.hpp>
#include <weft/net/memory.hpp>
#include <weft/net/ranks.hpp>
#include <weft/net/team.hpp>
