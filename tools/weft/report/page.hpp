// SPDX-License-Identifier: Apache-2.0
// The page without its data: style, and the script that draws. One file, no network.
#pragma once

namespace weft_tool {

extern const char k_page_head[];
extern const char k_page_script[];

} // namespace weft_tool
