// SPDX-License-Identifier: Apache-2.0
#include "raw_ucx.hpp"

#include <cstring>
#include <stdexcept>

namespace net_micro {

namespace {

constexpr unsigned k_message = 1;

void expect_ok(ucs_status_t status, const char *what) {
  if (status != UCS_OK)
    throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

ucs_status_t take(void *argument, const void *, size_t, void *, size_t,
                  const ucp_am_recv_param_t *) {
  ++*static_cast<std::uint64_t *>(argument);
  return UCS_OK;
}

} // namespace

raw_ucx::raw_ucx(std::size_t bytes, loss how) : m_loss(how) {
  ucp_config_t *config = nullptr;
  expect_ok(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  if (how == loss::detected) {
    expect_ok(ucp_config_modify(config, "MM_ERROR_HANDLING", "y"), "MM_ERROR_HANDLING");
    expect_ok(ucp_config_modify(config, "KEEPALIVE_INTERVAL", "500ms"), "KEEPALIVE_INTERVAL");
  }
  ucp_params_t all{};
  all.field_mask = UCP_PARAM_FIELD_FEATURES;
  all.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM;
  const ucs_status_t made = ucp_init(&all, config, &m_context);
  ucp_config_release(config);
  expect_ok(made, "ucp_init");
  ucp_worker_params_t one{};
  one.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  one.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  expect_ok(ucp_worker_create(m_context, &one, &m_worker), "ucp_worker_create");
  ucp_mem_map_params_t map{};
  map.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  map.length = bytes;
  map.flags = UCP_MEM_MAP_ALLOCATE;
  expect_ok(ucp_mem_map(m_context, &map, &m_handle), "ucp_mem_map");
  ucp_mem_attr_t where{};
  where.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  expect_ok(ucp_mem_query(m_handle, &where), "ucp_mem_query");
  m_memory = static_cast<std::byte *>(where.address);
  std::memset(m_memory, 0, bytes);
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = k_message;
  handler.cb = &take;
  handler.arg = &m_come;
  expect_ok(ucp_worker_set_am_recv_handler(m_worker, &handler), "ucp_worker_set_am_recv_handler");
}

raw_ucx::~raw_ucx() {
  if (m_key)
    ucp_rkey_destroy(m_key);
  if (m_other) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void *const request = ucp_ep_close_nbx(m_other, &how);
    if (UCS_PTR_IS_PTR(request)) {
      while (ucp_request_check_status(request) == UCS_INPROGRESS)
        progress();
      ucp_request_free(request);
    }
  }
  if (m_handle)
    ucp_mem_unmap(m_context, m_handle);
  if (m_worker)
    ucp_worker_destroy(m_worker);
  if (m_context)
    ucp_cleanup(m_context);
}

std::string raw_ucx::address() const {
  ucp_address_t *own = nullptr;
  size_t own_bytes = 0, key_bytes = 0;
  void *key = nullptr;
  expect_ok(ucp_worker_get_address(m_worker, &own, &own_bytes), "ucp_worker_get_address");
  expect_ok(ucp_rkey_pack(m_context, m_handle, &key, &key_bytes), "ucp_rkey_pack");
  const auto begin = reinterpret_cast<std::uint64_t>(m_memory);
  std::string all;
  const auto add = [&](const void *from, std::size_t bytes) {
    all.append(static_cast<const char *>(from), bytes);
  };
  add(&begin, sizeof begin);
  add(&own_bytes, sizeof own_bytes);
  add(own, own_bytes);
  add(key, key_bytes);
  ucp_worker_release_address(m_worker, own);
  ucp_rkey_buffer_release(key);
  return all;
}

void raw_ucx::connect(const std::string &other) {
  std::size_t address_bytes = 0;
  std::memcpy(&m_remote, other.data(), sizeof m_remote);
  std::memcpy(&address_bytes, other.data() + sizeof m_remote, sizeof address_bytes);
  const char *const address = other.data() + sizeof m_remote + sizeof address_bytes;
  ucp_ep_params_t to{};
  to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  to.address = reinterpret_cast<const ucp_address_t *>(address);
  if (m_loss == loss::detected) {
    to.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    to.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    to.err_handler.cb = [](void *, ucp_ep_h, ucs_status_t) {}; // operations end with the error
  }
  expect_ok(ucp_ep_create(m_worker, &to, &m_other), "ucp_ep_create");
  expect_ok(ucp_ep_rkey_unpack(m_other, address + address_bytes, &m_key), "ucp_ep_rkey_unpack");
}

void raw_ucx::finish(void *request, const char *what) {
  if (!UCS_PTR_IS_PTR(request))
    return expect_ok(UCS_PTR_STATUS(request), what);
  ucs_status_t status = UCS_INPROGRESS;
  while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
    progress();
  ucp_request_free(request);
  expect_ok(status, what);
}

void raw_ucx::flush() {
  const ucp_request_param_t how{};
  finish(ucp_ep_flush_nbx(m_other, &how), "ucp_ep_flush_nbx");
}

void raw_ucx::put(const void *from, std::size_t bytes) {
  const ucp_request_param_t how{};
  finish(ucp_put_nbx(m_other, from, bytes, m_remote, m_key, &how), "ucp_put_nbx");
}

void raw_ucx::get(void *to, std::size_t bytes) {
  const ucp_request_param_t how{};
  finish(ucp_get_nbx(m_other, to, bytes, m_remote, m_key, &how), "ucp_get_nbx");
}

std::uint64_t raw_ucx::fetch_add(std::uint64_t value) {
  std::uint64_t before = 0;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  how.datatype = ucp_dt_make_contig(sizeof value);
  how.reply_buffer = &before;
  finish(ucp_atomic_op_nbx(m_other, UCP_ATOMIC_OP_ADD, &value, 1, m_remote, m_key, &how),
         "ucp_atomic_op_nbx");
  return before;
}

std::uint64_t raw_ucx::compare_swap(std::uint64_t expected, std::uint64_t value) {
  std::uint64_t both = value;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  how.datatype = ucp_dt_make_contig(sizeof value);
  how.reply_buffer = &both;
  finish(ucp_atomic_op_nbx(m_other, UCP_ATOMIC_OP_CSWAP, &expected, 1, m_remote, m_key, &how),
         "ucp_atomic_op_nbx");
  return both;
}

void raw_ucx::send(const void *from, std::size_t bytes) {
  const ucp_request_param_t how{};
  finish(ucp_am_send_nbx(m_other, k_message, nullptr, 0, from, bytes, &how), "ucp_am_send_nbx");
}

} // namespace net_micro
