// SPDX-License-Identifier: Apache-2.0
#include "jobs.hpp"

#include <weft/blas.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <new>
#include <omp.h>
#include <pthread.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft_blas {
namespace {

using callback = void (*)(int sync, job_function, int count, std::size_t size, void *jobs,
                          int argument);
using blosc_callback = void (*)(void *data, void (*run)(void *job), int count, std::size_t size,
                                void *jobs);
using fftw_callback = void (*)(void *(*run)(char *job), char *jobs, std::size_t size, int count,
                               void *data);

/// Keeps a loaded file open while it lives.
class loaded_file {
 public:
  explicit loaded_file(const char *path) noexcept
      : m_handle(dlopen(path, RTLD_NOLOAD | RTLD_LAZY)) {}
  ~loaded_file() {
    if (m_handle)
      dlclose(m_handle);
  }
  loaded_file(const loaded_file &) = delete;
  loaded_file &operator=(const loaded_file &) = delete;

  /// Returns a function by the name that its library gives it, in any of the spellings of its copies:
  /// scipy_..., ...64_ of OpenBLAS, fftwf_... of FFTW; or null.
  template <class F>
  [[nodiscard]] F *find(const char *name) const {
    if (m_handle)
      for (const char *prefix : {"", "scipy_", "fftw_", "fftwf_", "fftwl_", "fftwq_"})
        for (const char *suffix : {"", "64_"})
          if (void *const f = dlsym(m_handle, (std::string(prefix) + name + suffix).c_str()))
            return reinterpret_cast<F *>(f);
    return nullptr;
  }

  /// Returns the name under which the loader has the file, whatever path it was asked for by; ""
  /// for none.
  [[nodiscard]] std::string name() const {
    link_map *map = nullptr;
    return m_handle && dlinfo(m_handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
  }

  /// Returns where the file begins and ends in memory.
  [[nodiscard]] std::pair<const void *, const void *> place() const {
    struct search {
      std::string name;
      std::uintptr_t begin = UINTPTR_MAX, end = 0;
    } found{name()};
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *p) {
          auto &wanted = *static_cast<search *>(p);
          if (wanted.name != info->dlpi_name)
            return 0;
          for (int i = 0; i != info->dlpi_phnum; ++i)
            if (const auto &part = info->dlpi_phdr[i]; part.p_type == PT_LOAD) {
              const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
              wanted.begin = std::min(wanted.begin, at);
              wanted.end = std::max(wanted.end, at + part.p_memsz);
            }
          return 1;
        },
        &found);
    return {reinterpret_cast<const void *>(found.begin), reinterpret_cast<const void *>(found.end)};
  }

 private:
  void *m_handle;
};

/// Returns how many buffers a copy says it has in its configuration, "... MAX_THREADS=64".
int buffers_of(const loaded_file &file) {
  constexpr int k_usual = 64;
  auto *const config = file.find<char *()>("openblas_get_config");
  const char *const text = config ? config() : nullptr;
  const char *const number = text ? std::strstr(text, "MAX_THREADS=") : nullptr;
  return number ? std::max(1, std::atoi(number + std::strlen("MAX_THREADS="))) : k_usual;
}

int state_of_openblas(const loaded_file &file) {
  auto *const kind = file.find<int()>("openblas_get_parallel");
  if (!kind)
    return WEFT_BLAS_NOT_LOADED;
  switch (kind()) {
  case 0:
    return WEFT_BLAS_SERIAL;
  case 1:
    return file.find<void(callback)>("openblas_set_threads_callback_function") ? WEFT_BLAS_LEFT
                                                                               : WEFT_BLAS_TOO_OLD;
  default:
    return WEFT_BLAS_OPENMP;
  }
}

void attach_openblas(const loaded_file &file) {
  const auto [begin, end] = file.place();
  add_buffers(begin, end, buffers_of(file));
  auto *const threads = file.find<int()>("openblas_get_num_threads");
  auto *const set_threads = file.find<void(int)>("openblas_set_num_threads");
  if (threads && set_threads && threads() > omp_get_num_procs())
    set_threads(omp_get_num_procs());
  file.find<void(callback)>("openblas_set_threads_callback_function")(&run_jobs);
}

/// Only C-Blosc2 3 keeps with each context whose threads it has. An older one, whose contexts had
/// threads before, would crash.
int state_of_blosc(const loaded_file &file) {
  if (!file.find<void(blosc_callback, void *)>("blosc2_set_threads_callback"))
    return WEFT_BLAS_NOT_LOADED;
  return file.find<void()>("blosc2_vlcompress_ctx") ? WEFT_BLAS_LEFT : WEFT_BLAS_TOO_OLD;
}

void attach_blosc(const loaded_file &file) {
  file.find<void(blosc_callback, void *)>("blosc2_set_threads_callback")(&run_blosc_jobs, nullptr);
  // The context that all calls without one share takes other threads when their number changes.
  auto *const threads = file.find<short()>("blosc2_get_nthreads");
  auto *const set_threads = file.find<short(short)>("blosc2_set_nthreads");
  if (const short count = threads && set_threads ? threads() : short{1}; count > 1) {
    set_threads(1);
    set_threads(count);
  }
}

int state_of_fftw(const loaded_file &file) {
  if (!file.find<int()>("init_threads"))
    return WEFT_BLAS_NOT_LOADED; // the part of FFTW without threads
  if (file.name().find("_omp") != std::string::npos)
    return WEFT_BLAS_OPENMP;
  return file.find<void(fftw_callback, void *)>("threads_set_callback") ? WEFT_BLAS_LEFT
                                                                        : WEFT_BLAS_TOO_OLD;
}

void attach_fftw(const loaded_file &file) {
  file.find<void(fftw_callback, void *)>("threads_set_callback")(&run_fftw_jobs, nullptr);
}

/// Says how copies of a library are known, and how they are given Weft's teams.
struct library {
  const char *name; // what the names of its files contain
  int (*state_of)(const loaded_file &file);
  void (*attach)(const loaded_file &file);
};

constexpr library k_libraries[] = {
    {"openblas", &state_of_openblas, &attach_openblas},
    {"blosc2", &state_of_blosc, &attach_blosc},
    {"fftw3", &state_of_fftw, &attach_fftw},
};

/// Returns the library of a file; null for another one.
const library *library_of(std::string_view path) noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const library &one : k_libraries)
    if (name.find(one.name) != std::string_view::npos)
      return &one;
  return nullptr;
}

int state_of(const loaded_file &file) {
  const library *const one = library_of(file.name());
  return one ? one->state_of(file) : WEFT_BLAS_NOT_LOADED;
}

/// Holds which copies are attached.
class attached_copies {
 public:
  attached_copies() { pthread_atfork(nullptr, nullptr, [] { the_copies().begin_again(); }); }

  static attached_copies &the_copies() noexcept;

  int attach_all() {
    const std::scoped_lock lock(m_mutex);
    return attach_under_lock();
  }

  /// Does not wait for the lock: the thread that has it may wait for the loader, whose lock the
  /// caller may have.
  void attach_if_unlocked() {
    if (t_is_inside)
      return;
    t_is_inside = true;
    if (const std::unique_lock lock(m_mutex, std::try_to_lock); lock)
      attach_under_lock();
    t_is_inside = false;
  }

  int state(const char *path) {
    const std::scoped_lock lock(m_mutex);
    const loaded_file file(path);
    const int found = state_of(file);
    return found == WEFT_BLAS_LEFT && has(file.name()) ? WEFT_BLAS_ATTACHED : found;
  }

 private:
  int attach_under_lock() {
    const bool was_inside = std::exchange(t_is_inside, true);
    unsigned long long loads = 0;
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *p) {
          *static_cast<unsigned long long *>(p) = info->dlpi_adds;
          return 1;
        },
        &loads);
    if (loads != m_loads)
      for (const std::string &path : candidates())
        attach_one(path);
    m_loads = loads;
    t_is_inside = was_inside;
    int count = 0;
    for (const attached *one = m_last; one; one = one->before)
      ++count;
    return count;
  }
  static std::vector<std::string> candidates() {
    std::vector<std::string> found;
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *p) {
          if (std::strchr(info->dlpi_name, '/') && library_of(info->dlpi_name))
            static_cast<std::vector<std::string> *>(p)->emplace_back(info->dlpi_name);
          return 0;
        },
        &found);
    return found;
  }
  [[nodiscard]] bool has(const std::string &path) const {
    for (const attached *one = m_last; one; one = one->before)
      if (one->path == path)
        return true;
    return false;
  }
  void attach_one(const std::string &path) {
    const loaded_file file(path.c_str());
    if (has(path) || state_of(file) != WEFT_BLAS_LEFT)
      return;
    library_of(file.name())->attach(file);
    m_last = new attached{path, m_last};
    // The copy stays loaded: a second one in its place would not be attached.
    (void)dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE);
  }

  /// In the child of a fork() the thread that had the lock is not there. It may have been at any
  /// step: what it has not entered is attached once more, which changes nothing.
  void begin_again() noexcept {
    new (&m_mutex) std::mutex;
    m_loads = 0;
  }

  struct attached {
    std::string path;
    const attached *before;
  };

  static thread_local bool t_is_inside; // its dlsym() may be a hook's
  std::mutex m_mutex;
  unsigned long long m_loads = 0;
  std::atomic<const attached *> m_last{nullptr}; // never freed
};

thread_local bool attached_copies::t_is_inside = false;

attached_copies g_copies;

attached_copies &attached_copies::the_copies() noexcept { return g_copies; }

} // namespace
} // namespace weft_blas

extern "C" {

int weft_blas_attach(void) { return weft_blas::g_copies.attach_all(); }

void weft_blas_attach_new(void) { weft_blas::g_copies.attach_if_unlocked(); }

int weft_blas_state(const char *file) { return weft_blas::g_copies.state(file); }
}
