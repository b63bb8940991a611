# SPDX-License-Identifier: Apache-2.0
"""Finds the libraries and the command that come with this package."""

import ctypes
import importlib.machinery
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "_native"
TOOL = FOLDER / "bin" / "weft"
OPENMP = FOLDER / "lib" / "weft-omp" / "libgomp.so.1"
TBB = FOLDER / "lib" / "weft-tbb" / "libirml.so.1"


def _own(name):
    """Returns the library of that name, whose file ends with the number of the binary interface."""
    found = sorted((FOLDER / "lib").glob(name + ".so.*"))
    return found[0] if found else FOLDER / "lib" / (name + ".so")


BLAS = _own("libweft-blas")
# A Python without a GIL ("t") has no stable interface, so each of its versions has a file of its own.
IS_FREE_THREADED = "t" in getattr(sys, "abiflags", "")
TASKS = FOLDER / "lib" / "weft-python" / (
    "_tasks" + (importlib.machinery.EXTENSION_SUFFIXES[0] if IS_FREE_THREADED else ".abi3.so")
)


def version():
    """Returns the version of the library, such as "0.2.0"."""
    library = ctypes.CDLL(str(_own("libweft")))
    library.weft_version.restype = ctypes.c_char_p
    return library.weft_version().decode()


def is_own(path):
    """Returns whether a file belongs to this package, or to another installation of Weft."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.basename(folder) in ("weft-omp", "weft-tbb"):
        return True
    try:
        return os.path.samefile(folder, FOLDER / "lib")
    except OSError:  # the folder of a loaded file may be gone
        return False
