# SPDX-License-Identifier: Apache-2.0
"""Switches Weft on and off for all programs of a Python environment, by a file that the
interpreter reads at its start.
"""

import importlib.metadata
import pathlib
import sys
import sysconfig

NAME = "weftrt.pth"
# It does nothing where the package has been removed by hand.
LINE = (
    "import importlib.util; "
    "importlib.util.find_spec('weftrt') and __import__('weftrt._startup')\n"
)


def _file():
    return pathlib.Path(sysconfig.get_path("purelib")) / NAME


def _record():
    """Returns the list of the files that pip removes with this package; None for none."""
    try:
        files = importlib.metadata.files("weft-runtime") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "RECORD":
            return pathlib.Path(file.locate())
    return None


def _note(record, is_there):
    lines = [
        line
        for line in record.read_text(encoding="utf-8").splitlines(keepends=True)
        if not line.startswith(NAME + ",")
    ]
    if is_there:
        lines.append(NAME + ",,\n")
    record.write_text("".join(lines), encoding="utf-8")


def _change(is_there):
    file = _file()
    try:
        if is_there:
            file.write_text(LINE, encoding="utf-8")
        elif file.exists():
            file.unlink()
        record = _record()
        if record is not None and record.parent.parent == file.parent:
            _note(record, is_there)
    except OSError as error:
        sys.stderr.write(
            f"weftrt: cannot change {error.filename}: {error.strerror}; use a virtual environment, "
            "or run this as the owner of the environment\n"
        )
        return 1
    verb = "run on Weft from now on; WEFTRT=0 leaves one out" if is_there else "run without Weft"
    print(f"Programs of {sys.prefix} {verb}")
    return 0


def enable():
    """Lets every program of this environment begin with weftrt.install(). Returns an exit status."""
    return _change(True)


def disable():
    """Takes enable() back. Returns an exit status."""
    return _change(False)
