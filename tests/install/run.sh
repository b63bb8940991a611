#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs Weft into a scratch prefix and uses it the ways a user would, with nothing but that prefix; then moves the
# prefix and does it again.
#   run.sh --source DIR --build DIR --cxx COMPILER --cc COMPILER --shared 0|1 [--headers named|all]
# Of the headers, those that programs name are compiled each on its own. With `--headers all` every header is, and nothing else is done.
set -euo pipefail

headers=named

while [ $# -gt 0 ]; do
  case $1 in
  --source) source=$2 ;;
  --build) build=$2 ;;
  --cxx) cxx=$2 ;;
  --cc) cc=$2 ;;
  --shared) shared=$2 ;;
  --headers) headers=$2 ;;
  *) echo "run.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift 2
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$(dirname "$0")/consumer" "$(dirname "$0")/c_project" "$(dirname "$0")/oss_consumer" "$scratch"
consumer=$scratch/consumer
version=$(sed -n 's/.*WEFT_VERSION_STRING "\(.*\)"/\1/p' "$source/include/weft/version.hpp")
cd "$scratch"
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH CPATH LIBRARY_PATH weft_DIR weft_ROOT || true

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect WHAT COMMAND...: the program must succeed and print the one line that every consumer prints.
expect() {
  local what=$1 output
  shift
  output=$(timeout 60 "$@") || fail "$what: status $? and '$output'"
  [ "$output" = "weft $version: 42" ] || fail "$what: printed '$output'"
  echo "ok: $what"
}

# Where the library is built from its sources, the compiler is not called for what has been compiled in this way before.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1
fi

# cmake_program WHAT OPTIONS...: the CMake consumer, configured with the options alone; what its programs need is built, and nothing else.
cmake_program() {
  local what=$1 targets="program program-static"
  shift
  case $* in *-DWEFT_FROM=package*) targets=all ;; esac
  rm -rf cmake-build
  if ! { cmake -S "$consumer" -B cmake-build -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@" &&
    cmake --build cmake-build --parallel "$(nproc)" --target $targets; } >log 2>&1; then
    cat log
    fail "$what does not build"
  fi
  expect "$what" cmake-build/program
  expect "$what, weft::weft-static" cmake-build/program-static
  if [ -e cmake-build/program-alpi ]; then expect "$what, weft::alpi" cmake-build/program-alpi; fi
  if [ -e cmake-build/program-net ]; then expect "$what, weft::net" cmake-build/program-net; fi
  if [ -e cmake-build/program-lpf ]; then expect "$what, weft::lpf" cmake-build/program-lpf; fi
  if [ -e cmake-build/program-pstl ]; then expect "$what, weft::pstl" cmake-build/program-pstl; fi
  if [ -e cmake-build/program-hpx ]; then expect "$what, weft::hpx" cmake-build/program-hpx; fi
  if [ -e cmake-build/program-glt ]; then expect "$what, weft::glt" cmake-build/program-glt; fi
  case $* in *-DWEFT_P2300=*) expect "$what, weft::execution" cmake-build/program-execution ;; esac
}

# c_project WHAT OPTIONS...: a project without C++.
c_project() {
  local what=$1
  shift
  rm -rf cmake-build
  if ! { cmake -S "$scratch/c_project" -B cmake-build -DCMAKE_C_COMPILER="$cc" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@" &&
    cmake --build cmake-build; } >log 2>&1; then
    cat log
    fail "$what does not build"
  fi
  expect "$what" cmake-build/program
  expect "$what, weft::weft-static" cmake-build/program-static
}

# The lines that README.md has for those without CMake.
readme_lines() {
  local line count=0
  while read -r line; do
    line=${line//PREFIX\/lib/$libdir}
    line=${line//PREFIX/$prefix}
    (cd "$consumer" && eval "${line/#g++/\"$cxx\"}") || fail "README.md: $line"
    expect "$1: README.md, ${line%% program.cpp*} ..." "$consumer/program"
    count=$((count + 1))
  done < <(grep -E '^    g\+\+ .* -o program$' "$source/README.md")
  [ "$count" = 2 ] || fail "README.md has $count lines for those without CMake"
}

# refused WHAT WORDS OPTION...: the headers say by themselves what they need, first of all.
refused() {
  local what=$1 words=$2
  shift 2
  if "$cxx" "$@" -fsyntax-only -I"$prefix/include" "$consumer/program.cpp" 2>log; then fail "$what compiles"; fi
  grep -m 1 'error' log | grep -qF "$words" || { head -5 log; fail "$what is not refused in words"; }
  echo "ok: $what is refused in words"
}

check_refusals() {
  refused "C++17" "need C++20: compile with -std=c++20" -std=c++17
  refused "a program without exceptions" "compile without -fno-exceptions" -std=c++20 -fno-exceptions
  if [ -e "$prefix/include/weft.h" ]; then
    echo '#include <weft.h>' >header.cpp
    "$cxx" -std=c++11 -fno-exceptions -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -I"$prefix/include/weft-hpx" header.cpp || fail "weft.h is not C++11 without exceptions"
  fi
}

package_of() { PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config "${@:2}" "$1"; }
package() { package_of weft "$@"; }

# oss_program WHAT: programs with pragmas, by the wrapper and by CMake, with each Clang that has a plugin.
oss_program() {
  local plugin major
  for plugin in "$libdir"/weft-oss/weft-oss-*.so; do
    [ -e "$plugin" ] || return 0
    major=${plugin##*-}
    major=${major%.so}
    "$prefix/bin/weft-c++" --clang "clang++-$major" "$scratch/oss_consumer/program.cpp" -o program
    expect "$1: weft-c++ with Clang $major" ./program
    "$prefix/bin/weft-cc" --ompss --clang "clang-$major" "$scratch/oss_consumer/program.c" -o program
    expect "$1: weft-cc with Clang $major" ./program
    rm -rf cmake-build
    if ! { cmake -S "$scratch/oss_consumer" -B cmake-build -DCMAKE_CXX_COMPILER="clang++-$major" -DCMAKE_C_COMPILER="clang-$major" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF &&
      cmake --build cmake-build; } >log 2>&1; then
      cat log
      fail "$1: weft_enable_oss with Clang $major does not build"
    fi
    expect "$1: weft_enable_oss with Clang $major" cmake-build/program
    expect "$1: weft_enable_oss in C with Clang $major" cmake-build/c_program
    expect "$1: weft_enable_oss in front of the sources with Clang $major" cmake-build/later
    expect "$1: weft_enable_oss of several files with Clang $major" cmake-build/several
    expect "$1: weft_enable_oss(PCH) with Clang $major" cmake-build/precompiled
    [ "$(find cmake-build -name 'cmake_pch.hxx.pch')" = cmake-build/CMakeFiles/precompiled.dir/cmake_pch.hxx.pch ] || fail "$1: PCH, and it alone, makes a precompiled header"
    if cmake -S "$scratch/oss_consumer" -B cmake-build -DOSS_CONSUMER_REUSES=ON >log 2>&1; then fail "$1: weft_enable_oss(PCH) takes a target with the header of another one"; fi
    tr -s ' \n' ' ' <log | grep -q "weft_enable_oss(reuses PCH): the target has the precompiled headers of 'precompiled' .* leave PCH out" || { cat log; fail "$1: weft_enable_oss(PCH) refuses without the remedy"; }
  done
  rm -rf cmake-build
  if cmake -S "$scratch/oss_consumer" -B cmake-build -DCMAKE_CXX_COMPILER=g++ -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF >log 2>&1; then
    fail "$1: weft_enable_oss takes GCC"
  fi
  tr -s ' \n' ' ' <log | grep -q "the plugins are for Clang $major.*configure with -DCMAKE_CXX_COMPILER=clang++-$major" || { cat log; fail "$1: weft_enable_oss refuses GCC without the remedy"; }
  rm -rf cmake-build
  if cmake -S "$scratch/oss_consumer" -B cmake-build -DCMAKE_CXX_COMPILER="clang++-$major" -DCMAKE_C_COMPILER=gcc -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF >log 2>&1; then
    fail "$1: weft_enable_oss takes GCC for C"
  fi
  tr -s ' \n' ' ' <log | grep -q "weft_enable_oss(c_program).*configure with -DCMAKE_C_COMPILER=clang-$major" || { cat log; fail "$1: weft_enable_oss refuses GCC for C without the remedy"; }
  echo "ok: $1: weft_enable_oss refuses GCC in words"
}

use_shared() {
  oss_program "$1"
  cmake_program "$1: find_package" -DWEFT_FROM=package -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_P2300="$source/tests/unit/execution"
  c_project "$1: find_package of a C project" -DCMAKE_PREFIX_PATH="$prefix"
  readme_lines "$1"

  "$cxx" -std=c++20 "$consumer/program.cpp" $(package --cflags --libs) -o program
  expect "$1: pkg-config" env LD_LIBRARY_PATH="$libdir" ./program

  "$cxx" -std=c++20 -O2 "$consumer/large_frame.cpp" $(package --cflags --libs) -Wl,-rpath,"$libdir" -o program
  if ./program >/dev/null 2>log; then fail "$1: a stack that is too small ends nothing"; fi
  grep -q "stack overflow in task 'greedy'" log || { cat log; fail "$1: the overflow by a large frame is not told"; }
  echo "ok: $1: an overflow by a large frame is told"

  [ -e "$libdir/libweft-alpi.so" ] || fail "there is no libweft-alpi.so"
  "$cxx" -std=c++20 "$consumer/program-alpi.cpp" -Wl,--as-needed $(package_of weft-alpi --cflags --libs) -ldl -o program
  expect "$1: pkg-config, weft-alpi" env LD_LIBRARY_PATH="$libdir" ./program
  echo '#include <alpi/alpi.h>' >header.c
  "$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" header.c || fail "alpi.h is not C99"

  [ -e "$libdir/libweft-net.so" ] || fail "there is no libweft-net.so"
  "$cxx" -std=c++20 "$consumer/program-net.cpp" $(package_of weft-net --cflags --libs) -o program
  expect "$1: pkg-config, weft-net" env LD_LIBRARY_PATH="$libdir" ./program

  if [ -e "$libdir/libweft-lpf.so" ]; then
    "$cxx" -std=c++20 "$consumer/program-lpf.cpp" $(package --cflags) $(package_of weft-lpf --cflags --libs) -o program
    expect "$1: pkg-config, weft-lpf" env LD_LIBRARY_PATH="$libdir" ./program
    for header in "$prefix"/include/weft-lpf/lpf/*.h; do
      case $header in */mpi.h) continue ;; esac
      echo "#include \"$header\"" >header.c
      "$cc" -std=c99 -Wall -Wextra -Werror -fsyntax-only $(package_of weft-lpf --cflags) header.c || fail "$header is not C99"
    done
  fi

  local mpi
  for mpi in openmpi mpich; do
    if ! [ -e "$libdir/libweft-mpi-$mpi.so" ]; then
      echo "skipped: $1: weft-mpi-$mpi, which is not in this build"
      continue
    fi
    "mpicxx.$mpi" -std=c++20 "$consumer/program-mpi.cpp" $(package_of weft-mpi-$mpi --cflags --libs) -o program
    expect "$1: pkg-config, weft-mpi-$mpi" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH="$libdir" ./program
  done

  "$cxx" -std=c++20 "$consumer/program-pstl.cpp" $(package_of weft-pstl --cflags --libs) -o program
  expect "$1: pkg-config, weft-pstl" env LD_LIBRARY_PATH="$libdir" ./program

  "$cxx" -std=c++20 "$consumer/program-execution.cpp" "$prefix/share/weft/execution.cpp" $(package --cflags --libs) \
    -I"$source/tests/unit/execution" -DWEFT_P2300_HEADER='"p2300_fake.hpp"' -DWEFT_P2300_NAMESPACE=p2300_fake -o program
  expect "$1: execution.cpp" env LD_LIBRARY_PATH="$libdir" ./program

  [ -e "$libdir/libweft-glt.so" ] || fail "there is no libweft-glt.so"
  "$cxx" -std=c++20 "$consumer/program-glt.cpp" $(package_of weft-glt --cflags --libs) -o program
  expect "$1: pkg-config, weft-glt" env LD_LIBRARY_PATH="$libdir" ./program
  for header in glt.h fast_glt.h weft/glt.h; do
    echo "#include <$header>" >header.c
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(package_of weft-glt --cflags) header.c || fail "$header is not C11"
  done

  "$cxx" -std=c++20 "$consumer/program.cpp" -I"$prefix/include" -L"$libdir" -lweft -Wl,-rpath,"$libdir" -o program
  expect "$1: -I -L -lweft" ./program

  if [ -e "$prefix/include/weft.h" ]; then
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$consumer/program.c" $(package --cflags --libs) \
      -Wl,-rpath,"$libdir" -o program
    expect "$1: a C program" ./program
  fi

  "$cxx" -std=c++20 -shared -fPIC "$consumer/plugin.cpp" $(package --cflags --libs) -Wl,-rpath,"$libdir" -o plugin.so
  "$cc" "$consumer/host.c" -ldl -o host
  expect "$1: a module, loaded and unloaded" ./host "$scratch/plugin.so"
}

use_static() {
  if [ "$shared" != 1 ]; then # else use_shared has done it
    cmake_program "$1: find_package" -DWEFT_FROM=package -DCMAKE_PREFIX_PATH="$prefix"
  fi

  # pkg-config cannot choose between libweft.so and libweft.a, so only the latter is left.
  rm -f "$libdir"/libweft.so* "$libdir"/libweft-alpi.so* "$libdir"/libweft-net.so* "$libdir"/libweft-lpf.so* "$libdir"/libweft-mpi-*.so* "$libdir"/libweft-glt.so*
  "$cxx" -std=c++20 "$consumer/program.cpp" $(package --cflags --libs --static) -o program
  expect "$1: pkg-config --static" ./program
  "$cxx" -std=c++20 -static "$consumer/program.cpp" $(package --cflags --libs --static) -o program
  expect "$1: a program without any shared library" ./program
  if [ -e "$prefix/include/weft.h" ]; then
    "$cc" -std=c11 "$consumer/program.c" $(package --cflags --libs --static) -o program
    expect "$1: a C program, pkg-config --static" ./program
    "$cc" -std=c11 -static "$consumer/program.c" $(package --cflags --libs --static) -o program
    expect "$1: a C program without any shared library" ./program
  fi
}

# The library asks for nothing beyond the C and C++ runtimes, shows nothing but weft, and stays mapped.
check_library() {
  local library=$libdir/libweft.so dynamic others abi
  dynamic=$(readelf -dW "$library")
  abi=$(grep -E '^[0-9]+$' "$source/abi/version")
  grep -q "SONAME.*\[libweft\.so\.$abi\]" <<<"$dynamic" || fail "libweft.so is not libweft.so.$abi"
  grep -q NODELETE <<<"$dynamic" || fail "libweft.so may be unmapped under its workers (no -z nodelete)"
  if grep -E 'RPATH|RUNPATH' <<<"$dynamic"; then fail "libweft.so has a search path"; fi
  others=$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' <<<"$dynamic" |
    grep -vE '^(libc|libm|libpthread|libstdc\+\+|libgcc_s|ld-linux.*|libboost_context)\.so' || true)
  [ -z "$others" ] || fail "libweft.so needs $others"
  echo "ok: what libweft.so needs"
  "$source/tests/install/exports" "$prefix" || fail "libraries export what they must not, or lack what they must have"
}

# Prints the options by which a compiler finds an MPI's header, which those of weft-mpi include.
mpi_headers() {
  local mpi
  for mpi in openmpi mpich; do
    if command -v "mpicc.$mpi" >/dev/null; then
      "mpicc.$mpi" -show | grep -oE -- '-I[^ ]+' | sed 's/^-I/-isystem/'
      return
    fi
  done
}

# check_header HEADER: it compiles before anything else is included.
check_header() {
  local header=$1 others=""
  case $header in ./weft/mpi.h* | */lpf/mpi.h) others=$mpi_options ;; esac
  case $header in */lpf/mpi.h) [ -n "$others" ] || return 0 ;; esac # an MPI is the program's to bring
  if [[ $header == ./weft/oss.h || $header == ./weft/oss/*.h ]]; then # for C alone, and says so
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -x c -I"$prefix/include" - <<<"#include \"$header\""
  else
    "$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -x c++ -I"$prefix/include" -I"$prefix/include/weft-hpx" \
      -I"$prefix/include/weft-lpf" $others - <<<"#include \"$header\""
  fi || { echo "FAILED: $header does not compile on its own" >&2; return 1; }
}

# Most programs name neither a part of another header of Weft nor one in a folder of HPX's; those parts are compiled with all headers.
check_headers() {
  local parts=()
  case $headers in
  named) parts=(-not -path './weft/*/*' -not -path './weft-hpx/hpx/*/*') ;;
  all) ;;
  *) fail "--headers is named or all, not '$headers'" ;;
  esac
  mpi_options=$(mpi_headers)
  export -f check_header
  export prefix cc cxx mpi_options
  (cd "$prefix/include" && find . -name '*.h*' "${parts[@]}" | sort | xargs -P "$(nproc)" -I '{}' bash -c 'check_header "$1"' check_header '{}') ||
    fail "a header does not compile on its own"
  echo "ok: headers ($headers) compile on their own"
}

check_no_paths() {
  local path
  for path in "$source" "$build" "$prefix"; do
    if grep -rIlF "$path" "$prefix"; then fail "an installed file names $path"; fi
  done
  echo "ok: no installed file names the source, the build or the prefix"
}

prefix=$scratch/first
cmake --install "$build" --prefix "$prefix" >log || { cat log; fail "cmake --install"; }
libdir=$(dirname "$(find "$prefix" -name libweft.a)")
if [ "$headers" = all ]; then
  check_headers
  exit
fi
check_no_paths
check_headers
check_refusals
if [ "$shared" = 1 ]; then # the other ways are tried where the prefix has moved to, which asks for more
  check_library
  cmake_program "installed: find_package" -DWEFT_FROM=package -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_P2300="$source/tests/unit/execution"
  readme_lines installed
  "$cxx" -std=c++20 "$consumer/program.cpp" $(package --cflags --libs) -o program
  expect "installed: pkg-config" env LD_LIBRARY_PATH="$libdir" ./program
fi

mv "$prefix" "$scratch/second"
libdir=$scratch/second${libdir#"$prefix"}
prefix=$scratch/second
if [ "$shared" = 1 ]; then use_shared moved; fi
use_static moved

same=-DCMAKE_BUILD_TYPE=RelWithDebInfo # as the build that is installed
cmake_program "add_subdirectory, static" -DWEFT_FROM=subdirectory -DWEFT_SOURCE="$source" -DBUILD_SHARED_LIBS=OFF "$same"
if [ "$shared" = 1 ]; then
  # Configured alone: where the command and a door will be, and where the command looks for the libraries of an installation.
  rm -rf cmake-build
  cmake -S "$consumer" -B cmake-build -DCMAKE_CXX_COMPILER="$cxx" -DWEFT_FROM=subdirectory -DWEFT_SOURCE="$source" -DWEFT_TOOLS=ON -DWEFT_OMP=ON \
    -DCMAKE_INSTALL_LIBDIR="$scratch/elsewhere" -DCMAKE_INSTALL_PREFIX="$scratch/there" >log 2>&1 || { cat log; fail "add_subdirectory with the command does not configure"; }
  { read -r command; read -r door; read -r looks; } <cmake-build/places
  [ "$(realpath -m "$(dirname "$command")/../lib/weft-omp")" = "$(dirname "$door")" ] || fail "add_subdirectory: $command does not find $door"
  [ "$(realpath -m "$scratch/there/bin/$looks")" = "$scratch/elsewhere" ] || fail "an absolute CMAKE_INSTALL_LIBDIR: the command looks in $looks"
  echo "ok: add_subdirectory: the command finds the doors"
fi
# Release has the flags of the build that is installed here, whose objects the compiler cache has; the other types have none.
like_same="-O2 -g -DNDEBUG"
cmake_program "FetchContent" -DWEFT_FROM=fetch -DWEFT_SOURCE="$source" -DCMAKE_CXX_FLAGS_RELEASE="$like_same" -DCMAKE_C_FLAGS_RELEASE="$like_same" \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO= -DCMAKE_CXX_FLAGS_DEBUG= -DCMAKE_CXX_FLAGS_MINSIZEREL=
built=$(find cmake-build -name 'libweft-alpi*' -o -name 'libweft-glt*' -o -name 'libweft-net*' -o -name 'libweft-lpf*' -o -name 'libweft-mpi*' -o -name 'libgomp*' -o -name 'libirml*' -o -name weft -type f)
[ -z "$built" ] || fail "FetchContent builds what was not asked for: $built"
grep -rqs -e "$like_same" --include=flags.make --include=build.ninja cmake-build || fail "FetchContent does not build in Release"
echo "ok: FetchContent builds the core alone, in Release"
