#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the demo program on the real data, on generated matrices and on everything that it must refuse.
#   run.sh PROGRAM DATA
set -u
program=$(realpath "$1")
data=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  echo "FAILED: $1"
  sed 's/^/    /' "$scratch/out" "$scratch/err"
  failures=$((failures + 1))
}

run() { "$program" "$@" >"$scratch/out" 2>"$scratch/err"; }

# accepts NAME PATTERN -- ARGUMENTS: exit status 0, and a line of the output matches
accepts() {
  local name=$1 pattern=$2
  shift 3
  run "$@" || { fail "$name: exit status $?"; return; }
  grep -Eq -- "$pattern" "$scratch/out" || fail "$name: no line matches '$pattern'"
}

# refuses NAME STATUS TEXT -- ARGUMENTS: that exit status, and one line on standard error with the text
refuses() {
  local name=$1 status=$2 text=$3 got
  shift 4
  run "$@"
  got=$?
  [ $got = "$status" ] || { fail "$name: exit status $got, not $status"; return; }
  grep -Fq -- "$text" "$scratch/err" || fail "$name: the message lacks '$text'"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$name: standard error is not one line"
}

# refuses_file NAME TEXT: the file $scratch/digits.csv is not the data set
refuses_file() { refuses "$1" 2 "$2" -- --data "$scratch/digits.csv"; }

accepts "the digits are read with at least 98 % right" '^accuracy (9[89]\.[0-9]|100\.0) %$' -- --data "$data"
for line in '^chosen gamma [0-9.]+, lambda [0-9.]+ ' '^residual [0-9.]+e-1[0-9]$' '^tasks [0-9]+, mean [0-9.]+ us, overhead ' \
  '^time [0-9.]+ s with 1 worker$' '^speedup [0-9.]+$'; do
  grep -Eq "$line" "$scratch/out" || fail "the digits: no line matches '$line'"
done
[ ! -s "$scratch/err" ] || fail "the digits: something is on standard error"

cd "$scratch" || exit 1
accepts "a generated matrix is factorised" '^residual [0-9.]+e-1[0-9]$' -- --order 1000 --tile 96 --repeat 2
accepts "the same with four workers" '^time .* with 4 workers, .* GFLOP/s$' -- --order 1000 --tile 96 --repeat 2 --workers 4
accepts "a matrix smaller than a tile is factorised" '^residual ' -- --order 5 --repeat 1
for kernels in $("$program" --order 5 --repeat 1 | sed -n 's/^kernels \([a-z0-9]*\)\(; --kernels also takes \)\?/\1 /p' | tr -d ,); do
  accepts "a generated matrix is factorised with the routines $kernels" "^kernels $kernels(;|\$)" -- --order 300 --tile 40 --repeat 1 --kernels "$kernels"
  grep -Eq '^residual [0-9.]+e-1[0-9]$' "$scratch/out" || fail "the routines $kernels: no line of the residual"
  tried="${tried:-}$kernels "
done
[[ ${tried:-} == *"baseline "* ]] || fail "the line of the kernels does not name baseline: '${tried:-}'"
accepts "--help explains the options" '--order N' -- --help

refuses "a negative diagonal" 1 "pivot 0 of diagonal tile 0 (row 0)" -- --order 700 --tile 64 --shift -800
refuses "an indefinite matrix" 1 "not positive definite: pivot" -- --order 100 --tile 16 --shift -90

refuses "an unknown option" 2 "unknown option '--foo'; see 'cholesky --help'" -- --foo
refuses "an argument" 2 "unexpected argument 'foo'" -- foo
refuses "an option without its value" 2 "--order needs a value" -- --order
refuses "an order of zero" 2 "--order takes a whole number from 1 to 32768, not '0'" -- --order 0
refuses "a tile in words" 2 "--tile takes a whole number from 8 to 1024, not '9x'" -- --tile 9x
refuses "workers without end" 2 "--workers takes a whole number from 1 to 1024, not '9999'" -- --workers 9999
refuses "unknown routines" 2 "baseline, not 'none'" -- --order 10 --kernels none
refuses "a shift in words" 2 "--shift takes a number, not 'abc'" -- --order 10 --shift abc
refuses "a shift of the digits" 2 "give its order with --order N" -- --shift 1
refuses "data and order" 2 "--data and --order exclude each other" -- --order 10 --data "$data"

refuses "a missing file" 2 "cannot read '$scratch/none': No such file or directory; name the digits with --data FILE" -- \
  --data "$scratch/none"
refuses "a folder" 2 "it is a folder" -- --data "$scratch"
: >digits.csv
refuses_file "an empty file" "has 0 images, not 1797; it must be the data set that data/README.md describes"
head -100 "$data" >digits.csv
refuses_file "too few lines" "has 100 images, not 1797"
sed '3s/,[0-9]*$//' "$data" >digits.csv
refuses_file "a column too few" "line 3: it must have 65 columns"
sed '3s/$/,0/' "$data" >digits.csv
refuses_file "a column too many" "line 3: it must have 65 columns"
sed '4s/^0,/17,/' "$data" >digits.csv
refuses_file "too bright a pixel" "line 4: column 1 must be a whole number from 0 to 16"
sed '4s/[0-9]*$/10/' "$data" >digits.csv
refuses_file "an unknown digit" "line 4: column 65 must be a whole number from 0 to 9"
sed '4s/^0,/1,/' "$data" >digits.csv
refuses_file "a changed pixel" "its checksum is not the published one"
head -c 5000 "$program" >digits.csv
refuses_file "a program" "line 1: column 1 must be"

[ $failures = 0 ] && echo "all cases passed"
exit $((failures != 0))
