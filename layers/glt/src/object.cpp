// SPDX-License-Identifier: Apache-2.0
#include "object.hpp"

namespace weft_glt {

void refuse_handle(const char *call, handle name, const kind_of_object &kind) noexcept {
  if (name == 0)
    misuse(call, "the handle is GLT_NULL, and names not %s; create one with %s first", kind.name,
           kind.create);
  if (name == k_joined)
    misuse(call,
           "the handle was joined before, and names not %s any more; join once, and create "
           "another one with %s",
           kind.name, kind.create);
  misuse(call,
         "the handle %#llx names not %s: it was freed or joined, or never set; create one with %s, "
         "and free it after its last use",
         static_cast<unsigned long long>(name), kind.name, kind.create);
}

} // namespace weft_glt
