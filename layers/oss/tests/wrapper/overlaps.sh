# SPDX-License-Identifier: Apache-2.0
# For tests that have `fail`, and a wrapper and a clang.
# overlaps SOURCE ITEM|OTHER|BYTES...: compiles the beginning of a program from standard input, in which then a task has each item, and the next one the other item, and compares the sizes of those
# others that deps.check reports; none: it is not reported.
overlaps() {
  local source=$1 pair item other bytes
  shift
  {
    cat
    for pair in "$@"; do
      IFS='|' read -r item other bytes <<<"$pair"
      printf '#pragma oss task out(%s) label("first")\n  ;\n#pragma oss task in(%s) label("%s, %s")\n  ;\n#pragma oss taskwait\n' "$item" "$other" "$item" "$other"
    done
    echo 'return 0; }'
  } >"$source"
  "$wrapper" --clang "$clang" -w "$source" -o overlaps
  output=$(WEFT_DEPS_CHECK=1 ./overlaps 2>&1) || fail "$source: $output"
  diff <(sed -n "s/.*task '\(.*\)' names \([0-9]*\) bytes at .*, which overlap what task 'first' has named at .*/\1: \2/p" <<<"$output") \
    <(for pair in "$@"; do IFS='|' read -r item other bytes <<<"$pair"; [ "$bytes" = none ] || echo "$item, $other: $bytes"; done) ||
    fail "$source: $output"
}
