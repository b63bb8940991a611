# SPDX-License-Identifier: Apache-2.0
"""Puts Weft under the packages of this process, without LD_PRELOAD.

The loader asks the global scope before the libraries that a module names. A library that is loaded
there first so takes the place of every copy of OpenMP that a package brings: the copy is loaded as
well, and lies idle.
"""

import ctypes
import importlib.abc
import importlib.machinery
import os
import sys
import warnings

from weftrt import _loaded, _native_files, _runtimes

WITHOUT = "WEFTRT_WITHOUT"  # in the environment: what every install() leaves out; `weft run` sets it


def _too_late(files):
    for path in files:
        if _runtimes.name_matches(_runtimes.OPENMP, path) and not _native_files.is_own(path):
            loader = _loaded.loader_of(path, files)
            by = f", which {loader} has loaded," if loader else ""
            warnings.warn(
                f"weftrt.install() is too late for {path}{by}: what uses it keeps threads of its "
                "own; call weftrt.install() before the first import of such a package, or start "
                "the program by `python -m weftrt`",
                RuntimeWarning,
                stacklevel=3,
            )


def _load(path, option):
    try:
        return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise ImportError(
            f"weftrt.install() cannot load {path}: {error}; reinstall weft-runtime, or leave the "
            f"library out with weftrt.install({option}=False)"
        ) from None


class _AttachBlas(importlib.abc.MetaPathFinder):
    """Lets a module be found by the other finders, and looks for a new OpenBLAS once it is loaded."""

    def __init__(self, attach):
        self._attach = attach
        self._is_asking = False

    def find_spec(self, name, path=None, target=None):
        if path is None or self._is_asking:  # top-level extension modules hold no OpenBLAS
            return None
        self._is_asking = True
        try:
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        finally:
            self._is_asking = False
        if spec is None or not isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
            return None
        loader, attach = spec.loader, self._attach
        run = loader.exec_module

        def exec_module(module):
            attach()
            run(module)

        loader.exec_module = exec_module
        return spec


def _install_blas():
    if any(isinstance(finder, _AttachBlas) for finder in sys.meta_path):
        return
    library = _load(_native_files.BLAS, "blas")
    attach = library.weft_blas_attach
    attach()
    sys.meta_path.insert(0, _AttachBlas(attach))


def install(*, openmp=True, tbb=True, blas=None):
    """Gives the packages that are imported from now on Weft's workers.

    openmp: OpenMP runtimes of every name (libgomp, libomp, libiomp5, and copies inside of wheels).
    tbb: the worker threads of TBB. blas: the OpenBLAS of NumPy and SciPy, 0.3.28 and later, which
    may have been imported before; its jobs are teams of Weft's OpenMP, so it goes with that.

    A second call changes nothing. In the environment, WEFTRT=0 makes this do nothing, and
    WEFTRT_WITHOUT="openmp tbb blas" leaves out what it names.

    Warns with RuntimeWarning where an OpenMP runtime was loaded before. Raises ImportError where a
    library of Weft cannot be loaded, and ValueError for blas=True with openmp=False. Child processes
    that execute another program do not inherit it; those of fork() do.
    """
    if blas and not openmp:
        raise ValueError("weftrt.install(blas=True) needs Weft's OpenMP, whose teams run its jobs; leave openmp=False out")
    if os.environ.get("WEFTRT") == "0":
        return
    left_out = os.environ.get(WITHOUT, "").split()
    openmp = openmp and "openmp" not in left_out
    tbb = tbb and "tbb" not in left_out
    blas = openmp and blas is not False and "blas" not in left_out
    if openmp:
        _too_late(_loaded.objects())
        _load(_native_files.OPENMP, "openmp")
        # numba asks for TBB first, whose threads cannot be used in a forked child.
        os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", "omp tbb workqueue")
    if tbb:
        _load(_native_files.TBB, "tbb")
    if blas:
        _install_blas()
