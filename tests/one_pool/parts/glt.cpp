// SPDX-License-Identifier: Apache-2.0
// links: weft::glt
// A ULT or a tasklet per index.
#include "../part.hpp"

#include <atomic>
#include <vector>

#include <glt.h>

namespace {

struct unit {
  const one_pool::body *b;
  one_pool::kept_exception *kept;
  std::atomic<bool> *hit;
  int i;
};

void run(void *p) {
  const unit &u = *static_cast<unit *>(p);
  u.kept->run([&] {
    if ((*u.b)(u.i) && u.hit)
      *u.hit = true;
  });
}

std::vector<unit> units_of(int n, const one_pool::body &b, one_pool::kept_exception &kept,
                           std::atomic<bool> *hit) {
  std::vector<unit> units;
  for (int i = 0; i < n; ++i)
    units.push_back({&b, &kept, hit, i});
  return units;
}

void begin(int) { glt_init(0, nullptr); }
void end() { glt_finalize(); }

void loop(int n, one_pool::body b) {
  one_pool::kept_exception kept;
  std::vector<unit> units = units_of(n, b, kept, nullptr);
  std::vector<GLT_ult> ults(units.size());
  for (std::size_t i = 0; i < units.size(); ++i)
    glt_ult_create(&run, &units[i], &ults[i]);
  for (GLT_ult &u : ults)
    glt_ult_join(&u);
  kept.rethrow();
}

void tasks(int n, one_pool::body b) {
  one_pool::kept_exception kept;
  std::vector<unit> units = units_of(n, b, kept, nullptr);
  std::vector<GLT_tasklet> tasklets(units.size());
  for (std::size_t i = 0; i < units.size(); ++i)
    glt_tasklet_create(&run, &units[i], &tasklets[i]);
  for (GLT_tasklet &t : tasklets)
    glt_tasklet_join(&t);
  kept.rethrow();
}

void until(int n, one_pool::body b) {
  one_pool::kept_exception kept;
  std::atomic<bool> hit{false};
  std::vector<unit> units = units_of(n, b, kept, &hit);
  std::vector<GLT_ult> ults(units.size());
  for (std::size_t i = 0; i < units.size(); ++i)
    glt_ult_create(&run, &units[i], &ults[i]);
  while (!hit)
    glt_yield();
  for (const GLT_ult &u : ults)
    glt_ult_cancel(u);
  for (GLT_ult &u : ults)
    glt_ult_join(&u);
}

} // namespace

ONE_POOL_PART one_pool_glt{"GLT", one_pool::place::task, &begin, &end, &begin, &loop, &tasks,
                           &until};
