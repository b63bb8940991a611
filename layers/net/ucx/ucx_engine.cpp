// SPDX-License-Identifier: Apache-2.0
// The engine ucx: ranks are processes (or threads), reached by shared memory, TCP or RDMA, as UCX
// finds. One UCP worker for each rank, driven by one thread at a time.
//
// - Puts, gets and atomic operations are UCX's own. The first use of registered memory asks its rank
//   for the remote key; the operation waits in the transport's queue until the answer is there.
// - Messages and notifications are active messages of one fragment, which keep their order. Each
//   takes a credit of its sender, which the target gives back when it has handled it.
// - A notification with few bytes carries them. With more it follows a put and a flush: nothing in
//   UCX orders an active message behind a put on every network.
// - A fence is a flush that holds back what comes later to the same rank.
#include "ucx/transports.hpp"
#include "watch/watch_thread.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/net/port.hpp>

#include <ucp/api/ucp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace weft_net_ucx {

namespace net = weft::net;
using net::action;
using net::memory_key;
using net::operation;
using net::outcome;

namespace {

constexpr std::size_t k_most_message = 4096;
constexpr std::size_t k_most_inline = 4096; // bytes of a notification: one fragment with the header
constexpr int k_close_rounds = 100;
constexpr auto k_most_close = std::chrono::seconds(1);

/// Names what an active message is; the number is the id in UCX.
enum class packet : unsigned {
  message, // to the listener
  notify, // with or without data
  want_key, // `number`: the target answers with has_key
  has_key, // the remote key of memory `number` as payload; none: there is no such memory
  removed, // memory `number` is no longer shared
  credits, // `count` messages were handled
  ask, // the target answers when all that came before is handled
  answer,
  goodbye, // the rank leaves in order
  end
};

struct header {
  std::int32_t from;
  std::uint32_t id;
  std::uint64_t count;
  std::uint64_t number;
  std::uint64_t offset;
};

[[noreturn]] void fail(const std::string &what, ucs_status_t status) {
  throw weft::error(weft::errc::out_of_resources, what + ": " + ucs_status_string(status) +
                                                      "; UCX_LOG_LEVEL=info shows what UCX tries");
}

void check(ucs_status_t status, const char *what) {
  if (status != UCS_OK)
    fail(std::string("ucx: cannot ") + what, status);
}

struct context_deleter {
  void operator()(ucp_context_h context) const noexcept { ucp_cleanup(context); }
};
struct worker_deleter {
  void operator()(ucp_worker_h worker) const noexcept { ucp_worker_destroy(worker); }
};
using context_owner = std::unique_ptr<std::remove_pointer_t<ucp_context_h>, context_deleter>;
using worker_owner = std::unique_ptr<std::remove_pointer_t<ucp_worker_h>, worker_deleter>;

context_owner make_context(const net::port_options &options) {
  ucp_config_t *config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "read its settings");
  const std::unique_ptr<ucp_config_t, void (*)(ucp_config_t *)> owner(config, ucp_config_release);
  const auto set = [config](const char *name, const std::string &value, const char *setting) {
    if (!value.empty() && ucp_config_modify(config, name, value.c_str()) != UCS_OK)
      throw weft::error(weft::errc::bad_setting, std::string("ucx does not understand ") + setting +
                                                     "=" + value + "; `ucx_info -d` lists names");
  };
  const std::string &names = options.transports;
  const bool has_shared_memory =
      names.empty() ||
      std::ranges::any_of(
          std::initializer_list<const char *>{"all", "sh", "sm", "mm", "posix", "sysv", "xpmem"},
          [&](const char *one) { return names.find(one) != std::string::npos; });
  // Without these, a put to a killed process of the same machine succeeds for ever.
  if (has_shared_memory && !weft::layer::environment("UCX_MM_ERROR_HANDLING"))
    set("MM_ERROR_HANDLING", "y", "UCX_MM_ERROR_HANDLING");
  if (!weft::layer::environment("UCX_KEEPALIVE_INTERVAL"))
    set("KEEPALIVE_INTERVAL", "500ms", "UCX_KEEPALIVE_INTERVAL");
  set("TLS", options.transports, "net.transports");
  set("NET_DEVICES", options.interface, "net.interface");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 1; // memory is registered from any thread
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&params, config, &context);
  if (status != UCS_OK)
    fail("ucx cannot start" +
             (options.transports.empty() && options.interface.empty()
                  ? std::string()
                  : " with the transports '" + options.transports + "' on the interface '" +
                        options.interface + "' (net.transports, net.interface)"),
         status);
  return context_owner(context);
}

worker_owner make_worker(ucp_context_h context) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h worker = nullptr;
  check(ucp_worker_create(context, &params, &worker), "make a worker");
  return worker_owner(worker);
}

class ucx_engine;
struct peer;

/// Is what a rank knows of memory of another one.
struct remote_memory {
  enum class is { asked_for, known, absent } state = is::asked_for;
  ucp_rkey_h key = nullptr;
  std::size_t uses = 0; // of the key, by what UCX has not ended
};

/// Gives a key back, and with shared memory the pages that it maps.
void destroy_key(remote_memory &memory) noexcept {
  if (memory.key)
    ucp_rkey_destroy(std::exchange(memory.key, nullptr));
}

/// Is what UCX works on: an operation in one of its stages, or a message of the engine's own. All
/// live in a list of the engine while they are under way.
struct record {
  ucx_engine *engine = nullptr;
  peer *to = nullptr;
  operation *op = nullptr; // null: of the engine's own, or ended already
  remote_memory *with = nullptr; // whose key UCX may use until the record is free
  enum class stage : std::uint8_t {
    one,
    put_before_notify,
    flush_before_notify,
    fence,
    flush
  } now = stage::one;
  header head{};
  std::uint64_t operand = 0, reply = 0; // of an atomic operation
  std::vector<std::byte> payload; // of a message of the engine's own
  std::size_t index = 0; // in the list
  record *next = nullptr; // among the free ones
};

struct peer {
  ucx_engine *engine = nullptr;
  int rank = 0;
  ucp_ep_h endpoint = nullptr;
  bool has_failed = false; // UCX says so
  bool is_lost = false;
  bool has_left = false;
  bool is_fenced = false; // a fence is under way
  bool has_unflushed = false; // puts or atomic operations since the last flush
  bool has_unanswered = false; // notifications with data since the last answer
  std::size_t under_way = 0; // operations
  std::size_t chained = 0; // notifications whose data are on the way
  std::size_t credits = 0; // messages that may be sent
  std::uint64_t handled = 0; // messages whose credits are to be given back
  std::vector<record *> asking; // fences and flushes that wait for answers, the oldest first
  std::map<std::uint64_t, remote_memory> memory; // by number
};

/// Is memory of this rank.
struct own_memory {
  std::byte *begin = nullptr;
  std::size_t bytes = 0;
  ucp_mem_h handle = nullptr; // null without bytes
  std::vector<int> holders; // ranks that have the key
};

class ucx_engine final : public net::engine {
 public:
  ucx_engine(context_owner context, worker_owner worker, int rank,
             const std::vector<std::string> &addresses, std::size_t queue);
  ~ucx_engine() override;

  const net::capabilities &caps() const noexcept override { return m_caps; }
  int rank() const noexcept override { return m_rank; }
  int size() const noexcept override { return static_cast<int>(m_peers.size()); }
  void attach(net::engine_events *to) noexcept override;
  memory_key add_memory(void *begin, std::size_t bytes) override { return add(begin, bytes); }
  void *add_fresh_memory(std::size_t bytes, memory_key &key) override;
  void remove_memory(const memory_key &key) noexcept override;
  std::string path_to(int rank) override;
  void lose(int rank) noexcept override;
  bool begin(operation &op) noexcept override;
  std::size_t progress(std::size_t budget) noexcept override;

  // Of callbacks.
  void ended(record &active, ucs_status_t status) noexcept;
  void failed(peer &other) noexcept;
  void came(packet what, const header &head, std::span<const std::byte> payload) noexcept;

 private:
  struct lookup {
    enum class is { usable, waiting, bad } state;
    remote_memory *memory = nullptr; // null without bytes
  };

  peer &at(int rank) noexcept { return m_peers[static_cast<std::size_t>(rank)]; }
  void set_handlers();
  void connect(peer &other, const std::string &address);
  memory_key add(void *begin, std::size_t bytes);
  void unmap(own_memory &memory) noexcept;

  record *new_record(peer &to, operation *op, remote_memory *with = nullptr);
  void free_record(record &active) noexcept;
  void end(record &active, outcome how) noexcept;
  bool follow(record &active, ucs_status_ptr_t request) noexcept;
  ucp_request_param_t params_of(record &active) const noexcept;

  lookup look_up(peer &other, const operation &op);
  bool begin_checked(peer &other, operation &op);
  bool begin_access(peer &other, operation &op);
  bool begin_notify(peer &other, operation &op);
  void begin_border(peer &other, operation &op);
  void send(record &active, packet what, const void *bytes, std::size_t count) noexcept;
  void send_own(peer &other, packet what, std::uint64_t number, std::uint64_t count,
                std::vector<std::byte> payload = {}) noexcept;
  void next_stage(record &active) noexcept;
  void ask(record &active) noexcept;

  void answer_key(peer &other, std::uint64_t number) noexcept;
  void learn_key(peer &other, std::uint64_t number, std::span<const std::byte> blob) noexcept;
  static void forget_key(peer &other, std::uint64_t number) noexcept;
  void take_notification(const header &head, std::span<const std::byte> data) noexcept;
  void return_credits() noexcept;
  void announce_removed() noexcept;
  void lose(peer &other) noexcept;
  void end_all(peer &other, outcome how) noexcept;
  void close() noexcept;
  static void close_endpoint(peer &other) noexcept;
  void wait_for_flush() noexcept;
  void arm() noexcept;

  net::capabilities m_caps;
  const int m_rank;
  const std::size_t m_queue;
  context_owner m_context;
  worker_owner m_worker;
  std::vector<peer> m_peers;
  net::engine_events *m_events = nullptr;
  bool m_is_closing = false;
  std::vector<record *> m_active;
  record *m_free = nullptr;
  std::vector<peer *> m_failed;
  std::size_t m_arrived = 0; // since progress() began
  std::size_t m_owed = 0; // peers with credits to be given back

  std::mutex m_lock; // of what follows
  std::map<std::uint64_t, own_memory> m_memory;
  std::vector<std::pair<int, std::uint64_t>> m_removed; // to be announced: rank, number
  std::atomic<bool> m_has_removed{false};
  std::uint64_t m_next_number = 1;

  weft_net_watch::watch_thread m_watch;
};

// ---- callbacks of UCX

void request_ended(void *request, ucs_status_t status, void *self) {
  ucp_request_free(request);
  auto &r = *static_cast<record *>(self);
  r.engine->ended(r, status);
}

void endpoint_failed(void *self, ucp_ep_h, ucs_status_t) {
  auto &p = *static_cast<peer *>(self);
  p.engine->failed(p);
}

template <packet What>
ucs_status_t message_came(void *self, const void *head, size_t head_length, void *data,
                          size_t length, const ucp_am_recv_param_t *param) {
  header h{};
  if (head_length == sizeof h && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    std::memcpy(&h, head, sizeof h);
    static_cast<ucx_engine *>(self)->came(What, h, {static_cast<const std::byte *>(data), length});
  }
  return UCS_OK;
}

// ---- construction

ucx_engine::ucx_engine(context_owner context, worker_owner worker, int rank,
                       const std::vector<std::string> &addresses, std::size_t queue)
    : m_rank(rank), m_queue(queue), m_context(std::move(context)), m_worker(std::move(worker)),
      m_peers(addresses.size()) {
  m_caps.name = "ucx";
  m_caps.detects_loss = true;
  m_caps.most_message = k_most_message;
  set_handlers();
  for (std::size_t r = 0; r < m_peers.size(); ++r) {
    peer &p = m_peers[r];
    p.engine = this;
    p.rank = static_cast<int>(r);
    p.credits = queue;
    connect(p, addresses[r]);
  }
  int wakes = -1;
  check(ucp_worker_get_efd(m_worker.get(), &wakes), "wait for its network");
  m_watch.prepare(wakes, "ucx");
}

void ucx_engine::set_handlers() {
  static constexpr std::pair<packet, ucp_am_recv_callback_t> k_handlers[] = {
      {packet::message, message_came<packet::message>},
      {packet::notify, message_came<packet::notify>},
      {packet::want_key, message_came<packet::want_key>},
      {packet::has_key, message_came<packet::has_key>},
      {packet::removed, message_came<packet::removed>},
      {packet::credits, message_came<packet::credits>},
      {packet::ask, message_came<packet::ask>},
      {packet::answer, message_came<packet::answer>},
      {packet::goodbye, message_came<packet::goodbye>},
  };
  static_assert(std::size(k_handlers) == static_cast<std::size_t>(packet::end));
  for (const auto &[what, handler] : k_handlers) {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = static_cast<unsigned>(what);
    param.flags = UCP_AM_FLAG_WHOLE_MSG;
    param.cb = handler;
    param.arg = this;
    check(ucp_worker_set_am_recv_handler(m_worker.get(), &param), "receive messages");
  }
}

void ucx_engine::connect(peer &other, const std::string &address) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t *>(address.data());
  if (other.rank != m_rank) { // the own endpoint cannot fail, and its transport knows no failures
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = endpoint_failed;
    params.err_handler.arg = &other;
  }
  const ucs_status_t status = ucp_ep_create(m_worker.get(), &params, &other.endpoint);
  if (status != UCS_OK)
    fail("ucx: rank " + std::to_string(m_rank) + " cannot reach rank " +
             std::to_string(other.rank) +
             "; both need a transport in common (net.transports, net.interface)",
         status);
}

ucx_engine::~ucx_engine() {
  if (m_events)
    close();
  for (peer &p : m_peers)
    for (auto &[number, memory] : p.memory)
      destroy_key(memory);
  m_worker.reset(); // no callback comes afterwards
  for (auto &[number, memory] : m_memory)
    unmap(memory);
  for (record *const r : m_active)
    delete r;
  while (m_free)
    delete std::exchange(m_free, m_free->next);
}

void ucx_engine::attach(net::engine_events *to) noexcept {
  if (to) {
    m_events = to;
    m_caps.wakes = m_watch.start(*to);
    return;
  }
  m_watch.stop();
  close();
  m_events = nullptr;
}

// ---- memory

memory_key ucx_engine::add(void *begin, std::size_t bytes) {
  own_memory made;
  made.begin = static_cast<std::byte *>(begin);
  made.bytes = bytes;
  if (bytes != 0) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = begin;
    params.length = bytes;
    params.flags = begin ? 0 : UCP_MEM_MAP_ALLOCATE;
    const ucs_status_t status = ucp_mem_map(m_context.get(), &params, &made.handle);
    if (status != UCS_OK)
      fail("ucx cannot register " + std::to_string(bytes) +
               " bytes; `ulimit -l` and /proc/sys/kernel/shmmax may forbid them",
           status);
  }
  if (bytes != 0 && !begin) {
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(made.handle, &attributes), "find the memory it has allocated");
    made.begin = static_cast<std::byte *>(attributes.address);
    std::memset(made.begin, 0, bytes);
  }
  const std::lock_guard guard(m_lock);
  memory_key key;
  key.words[0] = m_next_number++;
  key.words[1] = reinterpret_cast<std::uintptr_t>(made.begin);
  key.words[2] = bytes;
  m_memory.emplace(key.words[0], std::move(made));
  return key;
}

void *ucx_engine::add_fresh_memory(std::size_t bytes, memory_key &key) {
  if (bytes == 0)
    return nullptr;
  key = add(nullptr, bytes);
  return reinterpret_cast<void *>(key.words[1]);
}

void ucx_engine::unmap(own_memory &memory) noexcept {
  if (memory.handle)
    ucp_mem_unmap(m_context.get(), memory.handle);
}

void ucx_engine::remove_memory(const memory_key &key) noexcept {
  const std::lock_guard guard(m_lock);
  const auto found = m_memory.find(key.words[0]);
  if (found == m_memory.end())
    return;
  for (const int holder : found->second.holders)
    m_removed.emplace_back(holder, key.words[0]);
  m_has_removed.store(!m_removed.empty(), std::memory_order_relaxed);
  unmap(found->second);
  m_memory.erase(found);
}

/// Finds the remote key for an operation, and asks for it at the first use.
ucx_engine::lookup ucx_engine::look_up(peer &other, const operation &op) {
  const bool is_atomic = op.what == action::fetch_add || op.what == action::compare_swap;
  const std::size_t bytes = is_atomic ? sizeof(std::uint64_t) : op.bytes;
  const std::uint64_t size = op.key.words[2];
  if (op.offset > size || bytes > size - op.offset ||
      (is_atomic && (op.key.words[1] + op.offset) % sizeof(std::uint64_t) != 0))
    return {lookup::is::bad};
  const auto [found, is_first] = other.memory.try_emplace(op.key.words[0]);
  if (is_first)
    send_own(other, packet::want_key, op.key.words[0], 0);
  switch (found->second.state) {
  case remote_memory::is::asked_for:
    return {lookup::is::waiting};
  case remote_memory::is::absent:
    return {lookup::is::bad};
  case remote_memory::is::known:
    break;
  }
  return {lookup::is::usable, &found->second};
}

void ucx_engine::answer_key(peer &other, std::uint64_t number) noexcept {
  std::vector<std::byte> blob;
  {
    const std::lock_guard guard(m_lock);
    const auto found = m_memory.find(number);
    void *packed = nullptr;
    std::size_t size = 0;
    if (found != m_memory.end() && found->second.handle &&
        ucp_rkey_pack(m_context.get(), found->second.handle, &packed, &size) == UCS_OK) {
      const auto *const bytes = static_cast<const std::byte *>(packed);
      blob.assign(bytes, bytes + size);
      ucp_rkey_buffer_release(packed);
      found->second.holders.push_back(other.rank);
    }
  }
  send_own(other, packet::has_key, number, 0, std::move(blob));
}

void ucx_engine::learn_key(peer &other, std::uint64_t number,
                           std::span<const std::byte> blob) noexcept {
  remote_memory &memory = other.memory[number];
  // An answer may come in the last rounds of close(), when the endpoints have gone.
  const bool is_known = !blob.empty() && !other.has_failed && other.endpoint &&
                        ucp_ep_rkey_unpack(other.endpoint, blob.data(), &memory.key) == UCS_OK;
  memory.state = is_known ? remote_memory::is::known : remote_memory::is::absent;
}

/// Forgets memory that is no longer shared; its key when UCX has ended what uses it.
void ucx_engine::forget_key(peer &other, std::uint64_t number) noexcept {
  const auto found = other.memory.find(number);
  if (found == other.memory.end())
    return;
  found->second.state = remote_memory::is::absent;
  if (found->second.uses != 0)
    return;
  destroy_key(found->second);
  other.memory.erase(found);
}

/// Tells the holders of keys that their memory is no longer shared.
void ucx_engine::announce_removed() noexcept {
  if (!m_has_removed.load(std::memory_order_relaxed) ||
      !m_has_removed.exchange(false, std::memory_order_relaxed))
    return;
  std::vector<std::pair<int, std::uint64_t>> now;
  {
    const std::lock_guard guard(m_lock);
    now.swap(m_removed);
  }
  for (const auto &[holder, number] : now)
    send_own(at(holder), packet::removed, number, 0);
}

// ---- records

record *ucx_engine::new_record(peer &to, operation *op, remote_memory *with) {
  record *r = m_free;
  if (r)
    m_free = r->next;
  else
    r = new record;
  r->engine = this;
  r->to = &to;
  r->op = op;
  r->with = with;
  r->now = record::stage::one;
  r->index = m_active.size();
  m_active.push_back(r);
  if (with)
    ++with->uses;
  if (op)
    ++to.under_way;
  return r;
}

void ucx_engine::free_record(record &active) noexcept {
  m_active[active.index] = m_active.back();
  m_active[active.index]->index = active.index;
  m_active.pop_back();
  active.payload.clear();
  if (active.with && --active.with->uses == 0 && active.with->state == remote_memory::is::absent)
    destroy_key(*active.with);
  active.next = m_free;
  m_free = &active;
}

/// Ends the operation of a record. The record may still be UCX's.
void ucx_engine::end(record &active, outcome how) noexcept {
  operation *const op = std::exchange(active.op, nullptr);
  if (!op)
    return;
  --active.to->under_way;
  if (active.now == record::stage::fence)
    active.to->is_fenced = false;
  if (active.now == record::stage::put_before_notify ||
      active.now == record::stage::flush_before_notify)
    --active.to->chained;
  if (how == outcome::done && (op->what == action::fetch_add || op->what == action::compare_swap))
    op->value = active.reply;
  m_events->end(*op, how);
}

ucp_request_param_t ucx_engine::params_of(record &active) const noexcept {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = request_ended;
  params.user_data = &active;
  return params;
}

/// Looks at what UCX has returned: it has ended, or its callback will come. Returns whether it ended.
bool ucx_engine::follow(record &active, ucs_status_ptr_t request) noexcept {
  if (UCS_PTR_IS_PTR(request))
    return false;
  ended(active, UCS_PTR_STATUS(request));
  return true;
}

void ucx_engine::ended(record &active, ucs_status_t status) noexcept {
  if (status == UCS_OK && active.op)
    return next_stage(active);
  if (status != UCS_OK && !m_is_closing)
    failed(*active.to); // UCX says so later
  end(active, m_is_closing ? outcome::closed : outcome::rank_lost);
  free_record(active);
}

/// Goes on with an operation, one step of which UCX has ended.
void ucx_engine::next_stage(record &active) noexcept {
  peer &p = *active.to;
  switch (active.now) {
  case record::stage::put_before_notify: {
    active.now = record::stage::flush_before_notify;
    const auto params = params_of(active);
    follow(active, ucp_ep_flush_nbx(p.endpoint, &params));
    return;
  }
  case record::stage::flush_before_notify:
    active.now = record::stage::one;
    --p.chained;
    active.head = {m_rank, active.op->id, active.op->count, 0, 0};
    send(active, packet::notify, nullptr, 0);
    return;
  case record::stage::fence:
  case record::stage::flush:
    if (p.has_unanswered || !p.asking.empty()) // what an earlier one asked for may be on its way
      return ask(active);
    break;
  case record::stage::one:
    break;
  }
  end(active, outcome::done);
  free_record(active);
}

// ---- operations

bool ucx_engine::begin(operation &op) noexcept {
  announce_removed(); // its holders hear of it before what this rank does afterwards
  peer &p = at(op.rank);
  if (p.has_failed || p.is_lost || p.has_left) {
    m_events->end(op, outcome::rank_lost);
    return true;
  }
  if (p.is_fenced || p.under_way >= m_queue)
    return false;
  try {
    return begin_checked(p, op);
  } catch (const std::bad_alloc &) {
    return false; // it waits; others end meanwhile
  }
}

bool ucx_engine::begin_checked(peer &other, operation &op) {
  switch (op.what) {
  case action::put:
  case action::get:
  case action::fetch_add:
  case action::compare_swap:
    return begin_access(other, op);
  case action::put_notify:
    return begin_notify(other, op);
  case action::message: {
    if (op.bytes > k_most_message) {
      m_events->end(op, outcome::too_long);
      return true;
    }
    if (other.credits == 0)
      return false;
    record &r = *new_record(other, &op);
    --other.credits;
    r.head = {m_rank, op.id, 0, 0, 0};
    send(r, packet::message, op.local, op.bytes);
    return true;
  }
  case action::fence:
  case action::flush:
    if (other.chained != 0)
      return false;
    begin_border(other, op);
    return true;
  }
  return true;
}

bool ucx_engine::begin_access(peer &other, operation &op) {
  const bool is_empty = (op.what == action::put || op.what == action::get) && op.bytes == 0;
  const auto memory = is_empty ? lookup{lookup::is::usable} : look_up(other, op);
  if (memory.state == lookup::is::waiting)
    return false;
  if (memory.state == lookup::is::bad || is_empty) {
    m_events->end(op, is_empty ? outcome::done : outcome::bad_memory);
    return true;
  }
  record &r = *new_record(other, &op, memory.memory);
  const ucp_rkey_h key = memory.memory->key;
  auto params = params_of(r);
  const std::uint64_t there = op.key.words[1] + op.offset;
  if (op.what == action::get) {
    follow(r, ucp_get_nbx(other.endpoint, op.local, op.bytes, there, key, &params));
    return true;
  }
  other.has_unflushed = true;
  if (op.what == action::put) {
    follow(r, ucp_put_nbx(other.endpoint, op.local, op.bytes, there, key, &params));
    return true;
  }
  const bool adds = op.what == action::fetch_add;
  params.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  params.datatype = ucp_dt_make_contig(sizeof(std::uint64_t));
  params.reply_buffer = &r.reply;
  r.operand = adds ? op.value : op.expected;
  r.reply = op.value; // what a compare_swap stores
  follow(r, ucp_atomic_op_nbx(other.endpoint, adds ? UCP_ATOMIC_OP_ADD : UCP_ATOMIC_OP_CSWAP,
                              &r.operand, 1, there, key, &params));
  return true;
}

bool ucx_engine::begin_notify(peer &other, operation &op) {
  const auto memory = op.bytes == 0 ? lookup{lookup::is::usable} : look_up(other, op);
  if (memory.state == lookup::is::waiting)
    return false;
  if (memory.state == lookup::is::bad) {
    m_events->end(op, outcome::bad_memory);
    return true;
  }
  if (other.credits == 0)
    return false;
  record &r = *new_record(other, &op, op.bytes > k_most_inline ? memory.memory : nullptr);
  --other.credits;
  if (op.bytes <= k_most_inline) {
    other.has_unanswered = other.has_unanswered || op.bytes != 0;
    r.head = {m_rank, op.id, op.count, op.key.words[0], op.offset};
    send(r, packet::notify, op.local, op.bytes);
    return true;
  }
  r.now = record::stage::put_before_notify;
  ++other.chained;
  const auto params = params_of(r);
  follow(r, ucp_put_nbx(other.endpoint, op.local, op.bytes, op.key.words[1] + op.offset,
                        r.with->key, &params));
  return true;
}

void ucx_engine::begin_border(peer &other, operation &op) {
  const bool is_fence = op.what == action::fence;
  const bool has_others = other.under_way != 0 || other.has_unflushed || other.has_unanswered;
  if (!has_others)
    return m_events->end(op, outcome::done);
  record &r = *new_record(other, &op);
  r.now = is_fence ? record::stage::fence : record::stage::flush;
  other.is_fenced = other.is_fenced || is_fence;
  other.has_unflushed = false;
  const auto params = params_of(r);
  follow(r, ucp_ep_flush_nbx(other.endpoint, &params));
}

/// Asks the target for an answer behind the data that notifications have carried.
void ucx_engine::ask(record &active) noexcept {
  active.to->has_unanswered = false;
  active.to->asking.push_back(&active);
  send_own(*active.to, packet::ask, 0, 0);
}

void ucx_engine::send(record &active, packet what, const void *bytes, std::size_t count) noexcept {
  auto params = params_of(active);
  params.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  follow(active, ucp_am_send_nbx(active.to->endpoint, static_cast<unsigned>(what), &active.head,
                                 sizeof active.head, bytes, count, &params));
}

void ucx_engine::send_own(peer &other, packet what, std::uint64_t number, std::uint64_t count,
                          std::vector<std::byte> payload) noexcept {
  // A question may come in the last rounds of close(), when the endpoints have gone.
  if (other.has_failed || other.is_lost || other.has_left || !other.endpoint)
    return;
  record &r = *new_record(other, nullptr);
  r.head = {m_rank, 0, count, number, 0};
  r.payload = std::move(payload);
  send(r, what, r.payload.data(), r.payload.size());
}

// ---- arrivals

void ucx_engine::came(packet what, const header &head,
                      std::span<const std::byte> payload) noexcept {
  if (!m_events || head.from < 0 || head.from >= size())
    return;
  peer &p = at(head.from);
  switch (what) {
  case packet::message:
  case packet::notify:
    ++m_arrived;
    m_owed += p.handled++ == 0 ? 1 : 0;
    if (what == packet::message)
      m_events->arrived(head.from, head.id, payload);
    else
      take_notification(head, payload);
    return;
  case packet::want_key:
    return answer_key(p, head.number);
  case packet::has_key:
    return learn_key(p, head.number, payload);
  case packet::removed:
    return forget_key(p, head.number);
  case packet::credits:
    p.credits += head.count;
    return;
  case packet::ask:
    return send_own(p, packet::answer, 0, 0);
  case packet::answer:
    if (!p.asking.empty()) {
      record &r = *p.asking.front();
      p.asking.erase(p.asking.begin());
      end(r, outcome::done);
      free_record(r);
    }
    return;
  case packet::goodbye:
    p.has_left = true;
    m_failed.push_back(&p); // what is under way ends after progress
    return;
  case packet::end:
    return;
  }
}

void ucx_engine::take_notification(const header &head, std::span<const std::byte> data) noexcept {
  if (!data.empty()) {
    const std::lock_guard guard(m_lock);
    const auto found = m_memory.find(head.number);
    if (found == m_memory.end() || head.offset > found->second.bytes ||
        data.size() > found->second.bytes - head.offset)
      return; // no longer shared
    std::memcpy(found->second.begin + head.offset, data.data(), data.size());
  }
  m_events->notified(head.from, head.id, head.count);
}

void ucx_engine::return_credits() noexcept {
  if (m_owed == 0)
    return;
  const std::uint64_t enough = std::max<std::size_t>(m_queue / 2, 1);
  for (peer &p : m_peers)
    if (p.handled >= enough) {
      --m_owed;
      send_own(p, packet::credits, 0, std::exchange(p.handled, 0));
    }
}

std::size_t ucx_engine::progress(std::size_t budget) noexcept {
  m_watch.note_progress();
  m_arrived = 0; // what one look brings goes to its receivers before the next look
  while (budget-- != 0 && ucp_worker_progress(m_worker.get()) != 0 && m_arrived == 0) {
  }
  return_credits();
  announce_removed();
  while (!m_failed.empty()) {
    peer &p = *m_failed.back();
    m_failed.pop_back();
    lose(p);
  }
  arm();
  return m_arrived;
}

/// Makes the network wake the engine's thread, if that asks for it and nothing is left to do.
void ucx_engine::arm() noexcept {
  if (!m_watch.wants_arm())
    return;
  m_watch.armed(ucp_worker_arm(m_worker.get()) == UCS_OK);
}

// ---- loss

void ucx_engine::failed(peer &other) noexcept {
  if (other.has_failed)
    return;
  other.has_failed = true;
  m_failed.push_back(&other);
}

void ucx_engine::lose(int rank) noexcept {
  peer &p = at(rank);
  p.has_failed = true;
  p.has_left = false; // it said goodbye to the engines, and not to the job: it has failed
  lose(p);
}

/// Ends what is under way to a rank that has left or is lost, and reports the loss.
void ucx_engine::lose(peer &other) noexcept {
  if (other.is_lost)
    return;
  const bool reports = other.has_failed && !other.has_left;
  other.is_lost = reports;
  end_all(other, outcome::rank_lost);
  if (other.has_failed && other.endpoint)
    close_endpoint(other);
  if (reports) {
    ++m_arrived;
    m_events->lost(other.rank);
  }
}

void ucx_engine::end_all(peer &other, outcome how) noexcept {
  for (std::size_t i = 0; i < m_active.size(); ++i)
    if (m_active[i]->to == &other && m_active[i]->op)
      end(*m_active[i], how); // callbacks only submit, so the list stays as it is
  for (record *const r : std::exchange(other.asking, {}))
    free_record(*r); // UCX has it no longer
}

void ucx_engine::close_endpoint(peer &other) noexcept {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const ucs_status_ptr_t request =
      ucp_ep_close_nbx(std::exchange(other.endpoint, nullptr), &params);
  if (UCS_PTR_IS_PTR(request))
    ucp_request_free(request);
}

/// Flushes all endpoints, for a while. (A flush of the worker, given up, would leave UCX warnings.)
void ucx_engine::wait_for_flush() noexcept {
  std::vector<ucs_status_ptr_t> requests;
  const ucp_request_param_t params{};
  for (const peer &p : m_peers)
    if (p.endpoint && !p.has_failed)
      if (const auto request = ucp_ep_flush_nbx(p.endpoint, &params); UCS_PTR_IS_PTR(request))
        requests.push_back(request);
  const auto end = std::chrono::steady_clock::now() + k_most_close;
  const auto is_under_way = [](ucs_status_ptr_t request) {
    return ucp_request_check_status(request) == UCS_INPROGRESS;
  };
  while (std::ranges::any_of(requests, is_under_way) && std::chrono::steady_clock::now() < end)
    ucp_worker_progress(m_worker.get());
  for (const auto request : requests)
    ucp_request_free(request);
}

/// Leaves: what has been begun goes out, the others learn of it, and what is left ends as closed.
void ucx_engine::close() noexcept {
  m_is_closing = true;
  for (peer &p : m_peers)
    if (p.rank != m_rank)
      send_own(p, packet::goodbye, 0, 0);
  wait_for_flush();
  for (peer &p : m_peers) {
    end_all(p, outcome::closed);
    if (!p.endpoint)
      continue;
    for (auto &[number, memory] : p.memory)
      destroy_key(memory);
    close_endpoint(p);
  }
  for (int i = 0; i != k_close_rounds; ++i) // UCX gives its requests back
    ucp_worker_progress(m_worker.get());
}

std::string ucx_engine::path_to(int rank) {
  const peer &p = at(rank);
  return p.endpoint ? transports_of(p.endpoint) : "lost";
}

// ---- the port

class ucx_port final : public net::port {
 public:
  explicit ucx_port(const net::port_options &options)
      : m_queue(options.queue != 0 ? options.queue : std::stoul(weft::layer::setting("net.queue"))),
        m_context(make_context(options)), m_worker(make_worker(m_context.get())) {
    ucp_address_t *bytes = nullptr;
    std::size_t size = 0;
    check(ucp_worker_get_address(m_worker.get(), &bytes, &size), "tell its address");
    m_address.assign(reinterpret_cast<const char *>(bytes), size);
    ucp_worker_release_address(m_worker.get(), bytes);
  }
  std::string address() const override { return m_address; }
  std::unique_ptr<net::engine> connect(int rank,
                                       const std::vector<std::string> &addresses) override {
    return std::make_unique<ucx_engine>(std::move(m_context), std::move(m_worker), rank, addresses,
                                        m_queue);
  }

 private:
  std::size_t m_queue;
  context_owner m_context;
  worker_owner m_worker;
  std::string m_address;
};

} // namespace

} // namespace weft_net_ucx

extern "C" WEFT_API weft::net::port *weft_net_open_port(const weft::net::port_options &options) {
  return new weft_net_ucx::ucx_port(options);
}
