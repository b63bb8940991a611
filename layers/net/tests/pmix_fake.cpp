// SPDX-License-Identifier: Apache-2.0
// A libpmix for the tests of what the ranks ask of one: a store for one value, in this process.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include <pmix.h>

extern "C" {
int pmix_fake_init, pmix_fake_fence, pmix_fake_get; // what these calls return
unsigned pmix_fake_rank;
int pmix_fake_timeout;
int pmix_fake_line; // where PMIx_Finalize reports itself
bool pmix_fake_gives_number;
void pmix_fake_reset();
}

namespace {
std::string g_put, g_stored; // before and after PMIx_Commit
} // namespace

void pmix_fake_reset() {
  pmix_fake_init = pmix_fake_fence = pmix_fake_get = PMIX_SUCCESS;
  pmix_fake_rank = 0;
  pmix_fake_line = -1;
  pmix_fake_gives_number = false;
  g_put = g_stored = "";
}

pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t *, size_t) {
  std::strcpy(proc->nspace, "fake");
  proc->rank = pmix_fake_rank;
  return pmix_fake_init;
}
pmix_status_t PMIx_Put(pmix_scope_t, const char *key, pmix_value_t *value) {
  g_put = std::string(key) + "=" + value->data.string;
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Commit(void) {
  g_stored = g_put;
  return PMIX_SUCCESS;
}
pmix_status_t PMIx_Fence(const pmix_proc_t *whom, size_t count, const pmix_info_t *infos, size_t info_count) {
  for (size_t i = 0; i != info_count; ++i)
    if (std::strcmp(infos[i].key, PMIX_TIMEOUT) == 0)
      pmix_fake_timeout = infos[i].value.data.integer;
  return count == 1 && whom->rank == PMIX_RANK_WILDCARD ? pmix_fake_fence : PMIX_ERR_BAD_PARAM;
}
pmix_status_t PMIx_Get(const pmix_proc_t *whom, const char *key, const pmix_info_t *, size_t, pmix_value_t **value) {
  const std::string before = std::string(key) + "=";
  if (whom->rank != 0 || g_stored.compare(0, before.size(), before) != 0)
    return PMIX_ERR_NOT_FOUND;
  *value = static_cast<pmix_value_t *>(std::calloc(1, sizeof **value));
  (*value)->type = pmix_fake_gives_number ? PMIX_INT : PMIX_STRING;
  if (!pmix_fake_gives_number)
    (*value)->data.string = strdup(g_stored.c_str() + before.size());
  return pmix_fake_get;
}
pmix_status_t PMIx_Finalize(const pmix_info_t *, size_t) {
  if (pmix_fake_line >= 0)
    static_cast<void>(!write(pmix_fake_line, "PMIx_Finalize\n", 14));
  return PMIX_SUCCESS;
}
const char *PMIx_Error_string(pmix_status_t status) {
  static char text[40];
  std::snprintf(text, sizeof text, "status %d", status);
  return text;
}
