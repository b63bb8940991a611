# SPDX-License-Identifier: Apache-2.0
"""Runs a script, a module or a line of code as the interpreter does, after weftrt.install().

`python -m weftrt` starts it in a process in which Weft's libraries are preloaded; what is left to
do is OpenBLAS, whose copies are found as modules load them.
"""

import importlib.machinery
import importlib.util
import io
import os
import runpy
import sys
import types


def _run(code, **names):
    main = types.ModuleType("__main__")
    main.__dict__.update(names)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102


def _set_own_folder(folder):
    """Puts the program's folder where the interpreter has put its own; with -P or -I it has put none."""
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[:1] = folder


def _run_script(path):
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        _set_own_folder([])
        runpy.run_path(path, run_name="__main__")
        return
    _set_own_folder([os.path.dirname(os.path.realpath(path))])
    try:
        with io.open_code(os.path.abspath(path)) as file:
            code = compile(file.read(), path, "exec")
    except OSError as error:
        sys.stderr.write(
            f"{sys.executable}: can't open file {os.path.abspath(path)!r}: "
            f"[Errno {error.errno}] {error.strerror}\n"
        )
        sys.exit(2)
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    _run(code, __file__=path, __loader__=loader, __builtins__=__builtins__)


def main():
    """Runs the program that sys.argv names."""
    from weftrt._install import install

    install()
    kind, rest = sys.argv[1], sys.argv[2:]
    if kind == "-m":
        sys.argv = rest
        _set_own_folder([os.getcwd()])
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        _set_own_folder([""])
        _run(compile(rest[0], "<string>", "exec"), __builtins__=__builtins__)
    else:
        sys.argv = sys.argv[1:]
        _run_script(kind)


if __name__ == "__main__":
    main()
