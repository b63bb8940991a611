# SPDX-License-Identifier: Apache-2.0
# What the tests of weft-c++ begin with: a scratch folder with the sources, and checks. Each runs as `NAME WEFT-C++ CLANG`.
set -euo pipefail
wrapper=$1 clang=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$(dirname "${BASH_SOURCE[0]}")"/sources/* "$scratch"
cd "$scratch"
export XDG_CACHE_HOME=$scratch/cache # the user's headers are no input
fail() { echo "FAILED: $*" >&2; exit 1; }
refused() { # WORDS COMMAND...
  local words=$1 output
  shift
  if output=$("$@" 2>&1); then fail "$* succeeds"; fi
  case $output in *"$words"*) ;; *) fail "$*: '$output' does not say '$words'" ;; esac
}
