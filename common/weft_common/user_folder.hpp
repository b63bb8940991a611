// SPDX-License-Identifier: Apache-2.0
// The folder in which programs of one user keep what other programs of that user may find. No other
// user but root can enter it, or put anything there.
#pragma once

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace weft_common {

/// Holds a folder that is checked; without one, `path` is empty.
struct user_folder {
  std::string path; ///< ends with a '/'
  std::string trouble; ///< why there is none, with the remedy
  bool planted = false; ///< another user has made it, or can change what is in it
};

/// Says whether `about` describes a folder that `user` owns, and no other user can enter.
[[nodiscard]] inline bool is_private(const struct stat &about, uid_t user) noexcept {
  return S_ISDIR(about.st_mode) && about.st_uid == user && (about.st_mode & 077) == 0;
}

/// Says whether only root, `user` and the owner of an entry can rename the entries of the folder
/// above.
[[nodiscard]] inline bool keeps_entries(const struct stat &above, uid_t user) noexcept {
  const bool of_trusted = above.st_uid == 0 || above.st_uid == user;
  return S_ISDIR(above.st_mode) && of_trusted &&
         ((above.st_mode & 022) == 0 || (above.st_mode & S_ISVTX) != 0);
}

/// Opens the folder `name` in `above` if both are safe for `user`; makes it where `make` says so.
[[nodiscard]] inline user_folder checked_folder(const std::string &above, const std::string &name,
                                                uid_t user, bool make) {
  user_folder made;
  const std::string path = above + "/" + name;
  const int outer = open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat around{};
  if (outer < 0 || fstat(outer, &around) != 0) {
    made.trouble = above + ": " + std::strerror(errno);
    if (outer >= 0)
      close(outer);
    return made;
  }
  if (!keeps_entries(around, user)) {
    made.planted = true;
    made.trouble = "other users can rename what is in the folder " + above +
                   "; its owner ends that by `chmod +t " + above + "`";
    close(outer);
    return made;
  }
  const bool is_made = !make || mkdirat(outer, name.c_str(), 0700) == 0 || errno == EEXIST;
  const int inner =
      is_made ? openat(outer, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  const int failure = errno;
  close(outer);
  struct stat about{};
  if (inner < 0) {
    // A link, a file, or a folder that this user cannot read. A wrong one has been put there.
    made.planted = is_made && (failure == ELOOP || failure == ENOTDIR || failure == EACCES);
    made.trouble = "the folder " + path + " cannot be opened: " + std::strerror(failure);
    if (made.planted)
      made.trouble += "; its owner, or root, has to remove it";
    return made;
  }
  const bool is_safe = fstat(inner, &about) == 0 && is_private(about, user);
  close(inner);
  if (is_safe) {
    made.path = path + "/";
  } else if (about.st_uid != user) {
    made.planted = true;
    made.trouble = "the folder " + path + " belongs to user " + std::to_string(about.st_uid) +
                   "; that user, or root, has to remove it";
  } else {
    made.planted = true;
    made.trouble = "other users can enter the folder " + path +
                   "; look at what is in it, then run `chmod 700 " + path + "`";
  }
  return made;
}

/// Returns the name of the user's folder under /dev/shm.
[[nodiscard]] inline std::string shared_name(uid_t user) { return "weft-" + std::to_string(user); }

/// Returns the folder `weft` in `runtime`, the value of XDG_RUNTIME_DIR, where that folder is the
/// user's alone; otherwise the one under `shared`. A variable that `su` has passed on names the folder
/// of another user, so it is passed over in silence.
[[nodiscard]] inline user_folder make_user_folder(const char *runtime, uid_t user,
                                                  const std::string &shared = "/dev/shm") {
  struct stat about{};
  if (runtime && *runtime == '/' && stat(runtime, &about) == 0 && is_private(about, user))
    return checked_folder(runtime, "weft", user, true);
  return checked_folder(shared, shared_name(user), user, true);
}

} // namespace weft_common
