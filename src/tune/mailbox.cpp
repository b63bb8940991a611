// SPDX-License-Identifier: Apache-2.0
#include "tune/mailbox.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "tune/knobs.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

// A watcher may spend half a second on a dump, and on an old kernel rests for a second.
constexpr std::uint64_t k_patience_ns = 5'000'000'000;
constexpr unsigned k_pause_us = 5'000;
constexpr std::string_view k_set = "set ", k_list = "list";
constexpr std::size_t k_longest_field = 2000; // a line has room in an empty reply
constexpr std::size_t k_room_for_more = 16;

void append_field(std::string &line, std::string_view field) {
  const bool is_cut = field.size() > k_longest_field;
  for (const char c : field.substr(0, k_longest_field))
    line += c == '\t' || c == '\n' ? ' ' : c;
  line += is_cut ? "...\t" : "\t";
}

/// Lists the knobs from a place on, as far as there is room.
std::string list_text(std::size_t from) {
  std::string text;
  const std::vector<knob_line> all = list_knobs();
  for (std::size_t i = from; i < all.size(); ++i) {
    const knob_line &knob = all[i];
    std::string line;
    for (const std::string_view field :
         {std::string_view(knob.name), std::string_view(knob.value), std::string_view(knob.first),
          std::string_view(read_text(knob.takes_hold)),
          std::string_view(knob.of_program ? "program" : "setting"),
          std::string_view(knob.allowed)})
      append_field(line, field);
    line.back() = '\n';
    if (text.size() + line.size() + k_room_for_more > sizeof(settings_mailbox::reply))
      return text + '\t' + std::to_string(i) + '\n';
    text += line;
  }
  return text;
}

/// Returns how many knobs a list leaves out; nothing if the request is none.
std::optional<std::size_t> place_of_list(std::string_view request) {
  if (!request.starts_with(k_list))
    return std::nullopt;
  request.remove_prefix(k_list.size());
  std::size_t from = 0;
  if (request.empty())
    return from;
  const char *const end = request.data() + request.size();
  const auto [stop, failure] = std::from_chars(request.data() + 1, end, from);
  if (request.front() != ' ' || failure != std::errc() || stop != end)
    return std::nullopt;
  return from;
}

/// Maps the program's mailbox to write, and holds the lock of askers.
class open_box {
 public:
  explicit open_box(long pid) {
    const std::string path = segment_path(pid);
    unmap_later seen{map_segment(path)}; // says what is wrong with the file
    const auto &header = *reinterpret_cast<const segment_header *>(seen.area.base);
    const std::uint64_t at = header.mailbox_offset;
    if (at == 0 || at % 4096 != 0 || seen.area.bytes < at + sizeof(settings_mailbox))
      throw_error(errc::not_supported,
                  "process %ld runs a Weft of before, whose settings cannot change from outside",
                  pid);
    m_file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (m_file < 0 || !is_of_owner(m_file, pid))
      fail(pid, std::strerror(m_file < 0 ? errno : EACCES));
    if (flock(m_file, LOCK_EX) != 0)
      fail(pid, std::strerror(errno));
    void *const p = mmap(nullptr, sizeof(settings_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED,
                         m_file, static_cast<off_t>(at));
    if (p == MAP_FAILED)
      fail(pid, std::strerror(errno));
    m_box = static_cast<settings_mailbox *>(p);
    m_lives = owner_lives(seen.area);
  }
  ~open_box() {
    munmap(m_box, sizeof(settings_mailbox));
    close(m_file);
  }
  open_box(const open_box &) = delete;
  open_box &operator=(const open_box &) = delete;
  settings_mailbox &operator*() const noexcept { return *m_box; }
  [[nodiscard]] bool program_lives() const noexcept { return m_lives; }

 private:
  struct unmap_later {
    segment area;
    ~unmap_later() { unmap(area); }
  };
  [[noreturn]] void fail(long pid, const char *why) {
    if (m_file >= 0)
      close(m_file);
    throw_error(
        errc::invalid_argument,
        "the settings of process %ld cannot be changed: %s; only its own user, or root, may", pid,
        why);
  }

  int m_file = -1;
  settings_mailbox *m_box = nullptr;
  bool m_lives = false;
};

} // namespace

void open_mailbox() noexcept {
  if (why_private().empty())
    __atomic_store_n(&store_mailbox().open, 1, __ATOMIC_RELAXED);
}

namespace {

/// Returns the low half of a number: processors that Weft knows have it first.
const std::uint32_t *low_half(const std::uint64_t &number) noexcept {
  return reinterpret_cast<const std::uint32_t *>(&number);
}

} // namespace

shared_word bell_of_mailbox() noexcept {
  const settings_mailbox &box = store_mailbox();
  return {low_half(box.asked),
          static_cast<std::uint32_t>(__atomic_load_n(&box.answered, __ATOMIC_RELAXED))};
}

std::string answer_to(const std::string &request, std::uint32_t &status) {
  status = 0;
  try {
    if (const auto from = place_of_list(request))
      return list_text(*from);
    const std::size_t equals = request.find('=');
    if (!request.starts_with(k_set) || equals == std::string::npos || equals < k_set.size())
      throw_error(errc::invalid_argument, "the program does not know the request '%s'",
                  request.c_str());
    const std::string name = request.substr(k_set.size(), equals - k_set.size());
    change_knob(name, std::string_view(request).substr(equals + 1));
    return knob_text(name);
  } catch (const error &e) {
    status = static_cast<std::uint32_t>(e.code());
    return e.what();
  }
}

void answer_mailbox() noexcept try {
  settings_mailbox &box = store_mailbox();
  const std::uint64_t asked = __atomic_load_n(&box.asked, __ATOMIC_ACQUIRE); // O1
  if (asked == __atomic_load_n(&box.answered, __ATOMIC_RELAXED))
    return;
  char copy[sizeof box.request]; // I2
  std::memcpy(copy, box.request, sizeof copy);
  __atomic_thread_fence(__ATOMIC_ACQUIRE); // O3
  if (__atomic_load_n(&box.asked, __ATOMIC_RELAXED) != asked)
    return; // another asker writes: the next look reads its request
  std::uint32_t status = 0;
  const std::string reply = answer_to({copy, strnlen(copy, sizeof copy)}, status);
  const std::size_t length = std::min(reply.size(), sizeof box.reply - 1);
  std::memcpy(box.reply, reply.data(), length);
  box.reply[length] = '\0';
  box.status = status;
  __atomic_store_n(&box.answered, asked, __ATOMIC_RELEASE); // O2
} catch (const std::bad_alloc &) { // the next look tries again
}

mailbox_answer ask_program(long pid, const std::string &request) {
  const open_box opened(pid);
  settings_mailbox &box = *opened;
  if (!opened.program_lives())
    throw_error(errc::invalid_argument, "process %ld has ended; its settings cannot change", pid);
  if (!__atomic_load_n(&box.open, __ATOMIC_RELAXED))
    throw_error(
        errc::not_supported,
        "process %ld does not answer: it has no watcher (watch.max_spares = 0 and watch.hang = off)",
        pid);
  if (request.size() >= sizeof box.request)
    throw_error(errc::bad_setting, "the value is longer than the %zu characters that can be sent",
                sizeof box.request - 1);
  const std::uint64_t ticket = std::max(__atomic_load_n(&box.asked, __ATOMIC_RELAXED),
                                        __atomic_load_n(&box.answered, __ATOMIC_RELAXED)) +
                               1;
  __atomic_store_n(&box.asked, __atomic_load_n(&box.answered, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE); // O3
  std::memcpy(box.request, request.c_str(), request.size() + 1);
  __atomic_store_n(&box.asked, ticket, __ATOMIC_RELEASE); // O1
  os_futex_wake_shared(low_half(box.asked));
  const std::uint64_t until = now_ns() + k_patience_ns;
  while (__atomic_load_n(&box.answered, __ATOMIC_ACQUIRE) != ticket) { // O2
    if (now_ns() > until)
      throw_error(
          errc::not_supported,
          "process %ld has not answered within 5 s: it is stopped, has just ended, or the system is very busy; the change may still come",
          pid);
    usleep(k_pause_us);
  }
  return {box.status, {box.reply, strnlen(box.reply, sizeof box.reply)}};
}

} // namespace rt
} // namespace weft::inline v0
