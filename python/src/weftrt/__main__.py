# SPDX-License-Identifier: Apache-2.0
"""python -m weftrt: runs a Python program on Weft, or prepares an environment for it."""

import os
import subprocess
import sys

from weftrt import _environment, _install, _native_files

HELP = """\
usage: python -m weftrt [OPTIONS of `weft run`] SCRIPT | -m MODULE | -c CODE [ARGUMENTS]
       python -m weftrt enable | disable

Runs a Python program with its OpenMP, TBB and OpenBLAS on Weft's workers. The program sees the
arguments, the standard streams and the exit status that it has without.
  enable     lets every program of this Python environment run so; WEFTRT=0 leaves one out
  disable    takes that back
A script that is named like one of these is given by a path (./enable).
`weft help run` lists the options; among them:
  --workers N        workers; without it one a cpu that this process may use
  --set KEY=VALUE    any key of `weft config`
"""

# Options of `weft run` that take their value from the next word.
WITH_VALUE = (
    "--workers",
    "--preset",
    "--set",
    "--counters",
    "--interval",
    "--hang-timeout",
    "--seeds",
    "--limit",
)


def split(words):
    """Returns the options of `weft run`, and the words from the program on."""
    at = 0
    while at < len(words) and words[at].startswith("--"):
        if words[at] == "--":
            return words[:at], words[at + 1 :]
        at += 2 if words[at] in WITH_VALUE else 1
    return words[:at], words[at:]


def left_out():
    """Returns the options of `weft run` for what the environment leaves out; later ones take it back."""
    named = os.environ.get(_install.WITHOUT, "").split()
    return ["--no-" + name for name in ("openmp", "tbb", "blas") if name in named]


def interpreter():
    """Returns the words that start this interpreter with its own options (-X, -W, -O, ...)."""
    return [sys.executable, *subprocess._args_from_interpreter_flags()]


def main(words=None):
    """Becomes the program. Returns an exit status where there is none to become."""
    words = sys.argv[1:] if words is None else words
    if words in (["enable"], ["disable"]):
        return _environment.enable() if words == ["enable"] else _environment.disable()
    if words[:1] in (["--help"], ["-h"]):
        sys.stdout.write(HELP)
        return 0
    options, program = split(list(words))
    if not program or (program[0] in ("-m", "-c") and len(program) == 1):
        sys.stderr.write(HELP)
        return 2
    if program[0].startswith("-") and program[0] not in ("-m", "-c"):
        sys.stderr.write(f"weftrt: no program begins with '{program[0]}'; see `python -m weftrt --help`\n")
        return 2
    python = interpreter()
    if os.environ.get("WEFTRT") == "0":
        command = [*python, *program]
    else:
        tool = str(_native_files.TOOL)
        command = [tool, "run", *left_out(), *options, "--", *python, "-m", "weftrt._program", *program]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.stderr.write(f"weftrt: cannot run {command[0]}: {error.strerror}; reinstall weft-runtime\n")
        return 127


if __name__ == "__main__":
    sys.exit(main())
