// SPDX-License-Identifier: Apache-2.0
// Loops of C: their tasks are tasks of weft_spawn() whose argument begins with a head that these
// functions add. Prepared loops have a body of their own.
#include "api/c/guard.hpp"

#include "task/task.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Holds how the task finds its argument: the copy behind this head, or without a copy the argument
/// itself.
struct alignas(16) argument {
  void *original;
  bool copied;
};

template <class Head>
struct with_argument {
  Head head;
  argument arg;
  [[nodiscard]] void *get() noexcept {
    return arg.copied ? static_cast<void *>(this + 1) : arg.original;
  }
};

/// Holds a closure for weft_spawn().
template <class Head>
class closure {
 public:
  closure(const Head &head, const void *arg, std::size_t bytes, const char *function)
      : m_bytes(sizeof(with_argument<Head>) + bytes) {
    if (bytes > 0)
      require(arg, function, "arg");
    m_block.resize(m_bytes / sizeof(std::max_align_t) + 1);
    ::new (data()) with_argument<Head>{head, {const_cast<void *>(arg), bytes > 0}};
    if (bytes > 0)
      std::memcpy(static_cast<with_argument<Head> *>(data()) + 1, arg, bytes);
  }
  [[nodiscard]] void *data() noexcept { return m_block.data(); }
  [[nodiscard]] Head &head() noexcept { return static_cast<with_argument<Head> *>(data())->head; }
  [[nodiscard]] std::size_t bytes() const noexcept { return m_bytes; }

 private:
  std::size_t m_bytes;
  std::vector<std::max_align_t> m_block;
};

struct chunk_head {
  weft_loop_body body;
  weft_range chunk;
};
struct taskfor_head {
  weft_loop_body body;
  weft_range range;
  std::uint64_t grain;
  bool reduces, weak;
  unsigned participants = 0; // of a loop that chooses its chunks, at most; 0: one per worker
};
struct taskiter_head {
  std::uint64_t count;
  int (*more)(void *);
  weft_body record;
};

range<std::int64_t> range_of(const weft_range &whole) {
  return {whole.first, whole.limit, whole.step};
}
weft_range part_of(const weft_range &whole, std::uint64_t first, std::uint64_t count) {
  const range<std::int64_t> part = range_of(whole).part(first, count);
  return {part.first(), part.limit(), part.step()};
}

int run_chunk(void *p) {
  auto *self = static_cast<with_argument<chunk_head> *>(p);
  return this_task::cancelled() ? 0 : self->head.body(&self->head.chunk, self->get());
}

void call_chunk(const taskfor_head &head, void *arg, std::uint64_t first, std::uint64_t count) {
  const weft_range chunk = part_of(head.range, first, count);
  if (const int code = head.body(&chunk, arg))
    throw_body_failed(code);
}

/// Runs all chunks. Loop has `head`, and `call(use)`, which calls `use` with the argument of one worker.
template <class Loop>
void share(Loop &loop) {
  const taskfor_head &head = loop.head;
  const bool alone = head.weak || (head.reduces && detail::reduces_in_place());
  if (head.grain == 0) {
    detail::loop_request request;
    request.size = range_of(head.range).size();
    request.participate = [](void *p, detail::loop_blocks &blocks) {
      auto *whole = static_cast<Loop *>(p);
      whole->call([&](void *arg) {
        for (std::uint64_t first = 0, count = 0; blocks.next(first, count);)
          call_chunk(whole->head, arg, first, count);
      });
    };
    request.context = &loop;
    request.site = &detail::site_of_function(reinterpret_cast<const void *>(head.body));
    request.body = detail::loop_body::may_wait;
    request.participants = alone ? 1 : head.participants;
    detail::run_loop(request);
    return;
  }
  detail::loop_options options;
  options.grain = head.grain;
  options.has_grain = true;
  detail::share_chunks(
      detail::plan_shared(range_of(head.range).size(), options),
      [](void *p, std::uint64_t first, std::uint64_t count) {
        auto *whole = static_cast<Loop *>(p);
        whole->call([&](void *arg) { call_chunk(whole->head, arg, first, count); });
      },
      &loop, alone);
}

struct spawned_taskfor : with_argument<taskfor_head> {
  template <class Use>
  void call(const Use &use) {
    use(this->get());
  }
};

int run_taskfor(void *p) {
  share(*static_cast<spawned_taskfor *>(p));
  return 0;
}

struct free_deleter {
  void operator()(void *p) const noexcept { std::free(p); }
};
using heap_argument = std::unique_ptr<void, free_deleter>;

heap_argument room_for(std::size_t bytes, const char *function) {
  if (bytes == 0)
    return nullptr;
  heap_argument room(std::malloc(bytes));
  if (!room)
    throw_error(errc::out_of_resources, "%s: no memory for the argument (%zu bytes)", function,
                bytes);
  return room;
}

/// Holds a loop whose argument the caller fills, and the copies of its workers.
class prepared_loop {
 public:
  taskfor_head head;

  prepared_loop(const taskfor_head &of, std::size_t bytes,
                void (*how)(void *, const void *, std::size_t))
      : head(of), m_bytes(bytes), m_copy(how), m_argument(room_for(bytes, "weft_taskfor_prepare")) {}
  [[nodiscard]] void *argument() const noexcept { return m_argument.get(); }

  template <class Use>
  void call(const Use &use) {
    if (!m_copy)
      return use(argument());
    const returned mine{this, take()};
    use(mine.copy);
  }

 private:
  struct returned {
    prepared_loop *loop;
    void *copy;
    returned(prepared_loop *of, void *taken) noexcept : loop(of), copy(taken) {}
    returned(const returned &) = delete;
    returned &operator=(const returned &) = delete;
    ~returned() {
      loop->m_mutex.lock();
      loop->m_free.push_back(copy); // within the capacity
      loop->m_mutex.unlock();
    }
  };
  void *take() {
    {
      const std::scoped_lock lock(m_mutex);
      if (!m_free.empty()) {
        void *const free = m_free.back();
        m_free.pop_back();
        return free;
      }
    }
    heap_argument fresh = room_for(m_bytes, "weft_taskfor_prepare");
    m_copy(fresh.get(), argument(), m_bytes);
    const std::scoped_lock lock(m_mutex);
    m_free.reserve(m_all.size() + 1);
    return m_all.emplace_back(std::move(fresh)).get();
  }

  std::size_t m_bytes;
  void (*m_copy)(void *to, const void *from, std::size_t bytes);
  heap_argument m_argument;
  mutex m_mutex;
  std::vector<heap_argument> m_all;
  std::vector<void *> m_free;
};

prepared_loop *&loop_of(void *storage) noexcept { return *static_cast<prepared_loop **>(storage); }

constexpr detail::body_ops k_prepared_ops{[](void *storage) { share(*loop_of(storage)); },
                                          [](void *storage) noexcept { delete loop_of(storage); },
                                          nullptr, true, sizeof(prepared_loop *)};

/// Records a taskiter, and lets its rounds begin. Loop has `head` and `get()`, the argument.
template <class Loop>
void record(Loop &loop) {
  const taskiter_head &head = loop.head;
  const auto more = [](void *p) {
    auto *whole = static_cast<Loop *>(p);
    return whole->head.more(whole->get()) != 0;
  };
  const auto once = [](void *p) {
    auto *whole = static_cast<Loop *>(p);
    if (const int code = whole->head.record(whole->get()))
      throw_body_failed(code);
  };
  if (head.more)
    detail::iterate(UINT64_MAX, more, once, &loop);
  else
    detail::iterate(head.count, nullptr, once, &loop);
}

int run_taskiter(void *p) {
  record(*static_cast<with_argument<taskiter_head> *>(p));
  return 0;
}

/// Holds a taskiter whose argument the caller fills.
struct prepared_taskiter {
  taskiter_head head;
  heap_argument argument;
  [[nodiscard]] void *get() const noexcept { return argument.get(); }
};
constexpr detail::body_ops k_prepared_taskiter_ops{
    [](void *storage) { record(*static_cast<prepared_taskiter *>(storage)); },
    [](void *storage) noexcept { static_cast<prepared_taskiter *>(storage)->~prepared_taskiter(); },
    nullptr, true, sizeof(prepared_taskiter)};

weft_spawn_options taskiter_options(const weft_spawn_options *options, const char *function) {
  weft_spawn_options known = known_spawn_options(options, WEFT_TASK_NOGROUP);
  if (known.flags & ~unsigned{WEFT_TASK_WAIT | WEFT_TASK_NOGROUP})
    throw_error(errc::invalid_argument,
                "%s: options->flags is %#x; a taskiter is neither final nor undeferred", function,
                known.flags);
  known.flags |= WEFT_TASK_FINAL; // see spawn_taskiter in <weft/taskiter.hpp>
  return known;
}

weft_loop_options known_options(const weft_loop_options *from) {
  weft_loop_options known = WEFT_LOOP_OPTIONS_INIT;
  if (!from)
    return known;
  if (from->size < sizeof from->size)
    throw_error(errc::invalid_argument,
                "weft_taskloop: loop->size is %zu; set it to sizeof(weft_loop_options)",
                from->size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(from);
  if (std::any_of(bytes + std::min(sizeof known, from->size), bytes + from->size,
                  [](unsigned char b) { return b != 0; }))
    throw_error(
        errc::not_supported,
        "weft_taskloop: the options are of a later version (%zu bytes, this library knows %zu) and use "
        "what this version lacks; link a newer libweft",
        from->size, sizeof known);
  std::memcpy(&known, from, std::min(from->size, sizeof known));
  if (known.flags & ~unsigned{WEFT_LOOP_NOGROUP})
    throw_error(errc::invalid_argument,
                "weft_taskloop: loop->flags is %#x; it may hold WEFT_LOOP_NOGROUP", known.flags);
  if (known.grain_size && known.num_tasks)
    throw_error(errc::invalid_argument,
                "weft_taskloop: both grain_size and num_tasks are given; leave one of them 0");
  return known;
}

detail::loop_options cut_by(const weft_loop_options &loop) noexcept {
  detail::loop_options cut;
  cut.has_grain = (cut.grain = loop.grain_size) != 0;
  cut.has_tasks = (cut.tasks = loop.num_tasks) != 0;
  return cut;
}

/// Writes the accesses of the chunk's task into `list`.
template <class Named>
std::size_t ask(std::size_t (*named)(const weft_range *, void *, Named *), const weft_range &chunk,
                void *arg, std::vector<Named> &list, const char *what) {
  if (!named)
    return 0;
  const std::size_t count = named(&chunk, arg, list.data());
  if (count > list.size())
    throw_error(errc::invalid_argument,
                "weft_taskloop: loop->%s() returned %zu, more than loop->most_%s (%zu)", what,
                count, what, list.size());
  return count;
}

/// Reports a failure of weft_spawn(), whose message is kept already.
struct spawn_failed {
  int status;
};

/// Holds what a task names.
struct named {
  const weft_region *regions;
  std::size_t region_count;
  const weft_access *list;
  std::size_t count;
};

template <class Head>
int spawn(const named &accesses, weft_body run, closure<Head> &task,
          const weft_spawn_options &options, weft_handle **handle) {
  return accesses.region_count ? weft_spawn_regions(run, task.data(), task.bytes(),
                                                    accesses.regions, accesses.region_count,
                                                    accesses.list, accesses.count, &options, handle)
                               : weft_spawn(run, task.data(), task.bytes(), accesses.list,
                                            accesses.count, &options, handle);
}

void spawn_chunks(const weft_range &range, closure<chunk_head> &task, void *arg,
                  const weft_loop_options &loop, const weft_spawn_options &options) {
  const detail::loop_plan plan = detail::plan_chunks(range_of(range).size(), cut_by(loop));
  if (const std::size_t most = std::max(loop.most_accesses, loop.most_regions);
      most > detail::k_most_accesses)
    detail::refuse_accesses(most);
  std::vector<weft_access> list(loop.most_accesses);
  std::vector<weft_region> regions(loop.most_regions);
  for (std::uint64_t k = 0; k < plan.chunks && !(options.group && options.group->group.cancelled());
       ++k) {
    task.head().chunk = part_of(range, plan.first(k), plan.count(k));
    const std::size_t count = ask(loop.accesses, task.head().chunk, arg, list, "accesses");
    const std::size_t region_count = ask(loop.regions, task.head().chunk, arg, regions, "regions");
    if (const int status = spawn({regions.data(), region_count, list.data(), count}, &run_chunk,
                                 task, options, nullptr))
      throw spawn_failed{status};
  }
}

/// Says whether a taskloop is one task whose blocks choose their sizes: no option is for the task of each
/// chunk.
bool is_one_task(const weft_loop_options &loop, const weft_spawn_options &options) noexcept {
  return !loop.grain_size && !loop.num_tasks && !loop.accesses && !loop.regions && !options.flags &&
         !options.stack_bytes && !options.onready;
}

/// Spawns a task whose argument begins with `head`.
template <class Head>
int spawn_whole(const char *function, weft_body run, const Head &head, const void *arg,
                std::size_t bytes, const named &accesses, const weft_spawn_options &options,
                weft_handle **handle) {
  int status = WEFT_OK;
  const int outcome = guarded([&] {
    closure<Head> task(head, arg, bytes, function);
    status = spawn(accesses, run, task, options, handle);
  });
  return outcome != WEFT_OK ? outcome : status;
}

/// Spawns a loop in the same way, and waits for it when nothing else is to wait for it and nothing
/// orders it.
template <class Head>
int spawn_loop(const char *function, weft_body run, const Head &head, const void *arg,
               std::size_t bytes, const named &accesses, weft_spawn_options options,
               weft_handle **handle) {
  const bool waits = !(options.flags & WEFT_TASK_NOGROUP) && !options.group && !handle &&
                     accesses.count == 0 && accesses.region_count == 0;
  options.flags &= ~unsigned{WEFT_TASK_NOGROUP};
  if (!waits)
    return spawn_whole(function, run, head, arg, bytes, accesses, options, handle);
  int status = WEFT_OK;
  const int outcome = guarded([&] {
    weft_group own(weft::exception_policy::by_setting);
    options.group = &own;
    status = spawn_whole(function, run, head, arg, bytes, accesses, options, nullptr);
    own.group.wait();
  });
  return outcome != WEFT_OK ? outcome : status;
}

} // namespace

void note_reduction(detail::task &t) noexcept {
  if (t.ops == &k_prepared_ops)
    loop_of(detail::storage(&t))->head.reduces = true;
}
void note_weak(detail::task &t) noexcept {
  if (t.ops == &k_prepared_ops)
    loop_of(detail::storage(&t))->head.weak = true;
}

} // namespace rt
} // namespace weft::inline v0

using namespace weft::rt;

int weft_taskloop_chunks(uint64_t iterations, const weft_loop_options *loop, uint64_t *chunks) {
  return guarded([&] {
    require(chunks, "weft_taskloop_chunks", "chunks");
    *chunks = 0;
    *chunks = weft::detail::plan_chunks(iterations, cut_by(known_options(loop))).chunks;
  });
}

int weft_taskfor_prepare(weft_prepared *prepared, weft_range range, weft_loop_body body,
                         size_t arg_bytes, uint64_t grain_size,
                         void (*copy)(void *to, const void *from, size_t bytes), size_t count,
                         const weft_spawn_options *options) {
  return guarded([&] {
    require(prepared, "weft_taskfor_prepare", "prepared");
    *prepared = {};
    require_body(body, "weft_taskfor_prepare");
    (void)range_of(range);
    if (copy && arg_bytes == 0)
      throw_error(weft::errc::invalid_argument,
                  "weft_taskfor_prepare: there is a function that copies the argument, but no "
                  "argument; give its bytes, or leave the function NULL");
    if (count > weft::detail::k_most_accesses)
      weft::detail::refuse_accesses(count);
    weft_spawn_options known =
        known_spawn_options(options, WEFT_TASK_NOGROUP | WEFT_TASK_BLOCKS_WAIT);
    const unsigned participants =
        known.flags & WEFT_TASK_BLOCKS_WAIT ? weft::detail::taskloop_participants() : 0;
    known.flags &= ~unsigned{WEFT_TASK_NOGROUP | WEFT_TASK_BLOCKS_WAIT};
    auto loop = std::make_unique<prepared_loop>(
        taskfor_head{body, range, grain_size, false, false, participants}, arg_bytes, copy);
    void *const arg = loop->argument();
    if (known.onready && !known.onready_context)
      known.onready_context = arg;
    weft::detail::task *const t =
        weft::detail::task_create_with(k_prepared_ops, count, core_options(known));
    loop_of(weft::detail::storage(t)) = loop.release();
    *prepared = {arg, t, count};
  });
}

int weft_taskiter_prepare(weft_prepared *prepared, uint64_t count, int (*more)(void *arg),
                          weft_body record, size_t arg_bytes, size_t accesses,
                          const weft_spawn_options *options) {
  return guarded([&] {
    require(prepared, "weft_taskiter_prepare", "prepared");
    *prepared = {};
    require_body(record, "weft_taskiter_prepare");
    if (accesses > weft::detail::k_most_accesses)
      weft::detail::refuse_accesses(accesses);
    weft_spawn_options known = taskiter_options(options, "weft_taskiter_prepare");
    known.flags &= ~unsigned{WEFT_TASK_NOGROUP};
    heap_argument argument = room_for(arg_bytes, "weft_taskiter_prepare");
    void *const arg = argument.get();
    if (known.onready && !known.onready_context)
      known.onready_context = arg;
    weft::detail::task *const t =
        weft::detail::task_create_with(k_prepared_taskiter_ops, accesses, core_options(known));
    ::new (weft::detail::storage(t))
        prepared_taskiter{taskiter_head{count, more, record}, std::move(argument)};
    *prepared = {arg, t, accesses};
  });
}

int weft_taskloop(weft_range range, weft_loop_body body, const void *arg, size_t arg_bytes,
                  const weft_loop_options *loop, const weft_spawn_options *options, int *code) {
  int status = WEFT_OK;
  const int outcome = guarded_code(code, [&] {
    require_body(body, "weft_taskloop");
    const weft_loop_options known = known_options(loop);
    weft_spawn_options of_tasks = known_spawn_options(options);
    const bool waits =
        !of_tasks.group && !(known.flags & WEFT_LOOP_NOGROUP) && !known.accesses && !known.regions;
    if (arg_bytes > 0)
      require(arg, "weft_taskloop", "arg");
    const std::size_t copied = waits ? 0 : arg_bytes;
    const auto spawn_all = [&] {
      if (!is_one_task(known, of_tasks)) {
        closure<chunk_head> task({body, {}}, arg, copied, "weft_taskloop");
        return spawn_chunks(range, task, const_cast<void *>(arg), known, of_tasks);
      }
      if (range_of(range).empty())
        return;
      closure<taskfor_head> task(
          {body, range, 0, false, false, weft::detail::taskloop_participants()}, arg, copied,
          "weft_taskloop");
      if (const int failed = spawn({nullptr, 0, nullptr, 0}, &run_taskfor, task, of_tasks, nullptr))
        throw spawn_failed{failed};
    };
    try {
      if (!waits)
        return spawn_all();
      weft_group own(weft::exception_policy::by_setting);
      of_tasks.group = &own;
      spawn_all();
      own.group.wait();
    } catch (const spawn_failed &failure) {
      status = failure.status;
    }
  });
  return outcome != WEFT_OK ? outcome : status;
}

int weft_taskfor(weft_range range, weft_loop_body body, const void *arg, size_t arg_bytes,
                 uint64_t grain_size, const weft_access *list, size_t list_count,
                 const weft_spawn_options *options, weft_handle **handle) {
  return weft_taskfor_regions(range, body, arg, arg_bytes, grain_size, nullptr, 0, list, list_count,
                              options, handle);
}

int weft_taskfor_regions(weft_range range, weft_loop_body body, const void *arg, size_t arg_bytes,
                         uint64_t grain_size, const weft_region *regions, size_t region_count,
                         const weft_access *list, size_t list_count,
                         const weft_spawn_options *options, weft_handle **handle) {
  if (handle)
    *handle = nullptr;
  weft_spawn_options known;
  const int status = guarded([&] {
    require_body(body, "weft_taskfor");
    (void)range_of(range);
    known = known_spawn_options(options, WEFT_TASK_NOGROUP);
  });
  if (status != WEFT_OK)
    return status;
  const bool reduces = std::any_of(list, list + (list ? list_count : 0),
                                   [](const weft_access &a) { return bare_mode(a.mode) == WEFT_REDUCTION; });
  const bool weak = has_weak(list, list_count) || has_weak(regions, region_count);
  return spawn_loop("weft_taskfor", &run_taskfor,
                    taskfor_head{body, range, grain_size, reduces, weak}, arg, arg_bytes, {regions, region_count, list, list_count}, known, handle);
}

int weft_taskiter(uint64_t count, int (*more)(void *arg), weft_body record, const void *arg,
                  size_t arg_bytes, const weft_access *list, size_t list_count,
                  const weft_spawn_options *options, weft_handle **handle) {
  if (handle)
    *handle = nullptr;
  weft_spawn_options known;
  const int status = guarded([&] {
    require_body(record, "weft_taskiter");
    known = taskiter_options(options, "weft_taskiter");
  });
  if (status != WEFT_OK)
    return status;
  return spawn_loop("weft_taskiter", &run_taskiter, taskiter_head{count, more, record}, arg,
                    arg_bytes, {nullptr, 0, list, list_count}, known, handle);
}
