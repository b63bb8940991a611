// SPDX-License-Identifier: Apache-2.0
// A library whose client has no run-time type, as in a TBB that is compiled without them. The
// function that gives the version of the interface, VERSION, tells the generation.
#include "interface.hpp"

namespace weft_tbb::abi {
struct job {};
} // namespace weft_tbb::abi
using namespace weft_tbb::abi;

namespace {

#if VERSION < 12000
using interface = classic::client;
#else
using interface = one::client;
#endif

int g_acknowledged = 0;
class client final : public interface {
 public:
  unsigned version() const override { return 0; }
  unsigned max_job_count() const override { return 3; }
  std::size_t min_stack_size() const override { return 0; }
  job *create_one_job() override { return nullptr; }
  void acknowledge_close_connection() override { ++g_acknowledged; }
#if VERSION < 12000
  int policy() const override { return 0; }
#endif
  void cleanup(job &) override {}
  void process(job &) override {}
};
client g_client;

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int TBB_runtime_interface_version() { return VERSION; }
EXPORTED void *client_without_a_type() { return &g_client; }
EXPORTED int acknowledged() { return g_acknowledged; }
