// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Returns the kernel's number of the library's thread.
int joining_tid();
