# SPDX-License-Identifier: Apache-2.0
"""Tells which parallel runtimes of this process run on Weft."""

import ctypes
import os
from typing import NamedTuple, Tuple

from weftrt import _bindings, _loaded, _native_files, _runtimes


class Finding(NamedTuple):
    """A runtime that the process has loaded."""

    kind: str  # "OpenMP", "TBB", "BLAS", "FFTW", "Blosc2", or "pool"
    state: str  # "live", "idle", "own threads", or "waiting"
    file: str
    advice: str  # "" for none


class Findings(Tuple[Finding, ...]):
    """What doctor() has found; str() is a text for people."""

    def __str__(self):
        if not self:
            return "weftrt: no parallel runtime is loaded; import the packages first"
        lines = []
        for one in self:
            lines.append(f"{one.kind:7} {one.state:12} {one.file}")
            if one.advice:
                lines.append(f"{'':20} {one.advice}")
        for name, what in _runtimes.VARIABLES.items():
            if name in os.environ:
                lines.append(f"{name}={os.environ[name]} limits {what}")
        return "\n".join(lines)

    __repr__ = __str__


def _is_named(path):
    """Returns whether the name of a file says that it is Weft's or a runtime."""
    patterns = [_runtimes.OPENMP, _runtimes.TBB, *(library.pattern for library in _runtimes.JOBS)]
    return _native_files.is_own(path) or any(_runtimes.name_matches(one, path) for one in patterns)


def _openmp(files, users):
    live = _loaded.file_of_global("GOMP_parallel")
    for path in files:
        if not _runtimes.name_matches(_runtimes.OPENMP, path):
            continue
        if _native_files.is_own(path):
            yield Finding("OpenMP", "live", path, "")
        elif live and _native_files.is_own(live) and files.index(live) < files.index(path):
            bound = sorted(users.get(path, ()))
            if bound:
                advice = (
                    f"{bound[0]} is bound to it, as RTLD_DEEPBIND does, out of Weft's reach; "
                    "OMP_NUM_THREADS limits it"
                )
                yield Finding("OpenMP", "own threads", path, advice)
            else:
                yield Finding("OpenMP", "idle", path, "")
        else:
            by = _loaded.loader_of(path, files)
            yield Finding(
                "OpenMP",
                "own threads",
                path,
                f"{by or 'it'} was loaded before Weft: call weftrt.install() first, or use "
                "`python -m weftrt`; OMP_NUM_THREADS limits it",
            )


def _tbb(files):
    own = [path for path in files if os.path.basename(path).startswith("libirml")]
    for path in files:
        if not _runtimes.name_matches(_runtimes.TBB, path) and (
            _is_named(path) or not _bindings.holds(path, _runtimes.LINKED_TBB)
        ):
            continue
        if own and files.index(own[0]) < files.index(path):
            yield Finding("TBB", "live", path, "")
        elif own:
            yield Finding(
                "TBB", "waiting", path, "it takes Weft's threads if it has started none before"
            )
        else:
            yield Finding(
                "TBB", "own threads", path, "call weftrt.install() before its first parallel call"
            )


def _state_of_jobs(library, state):
    """Returns the state and the advice for a copy of a library that may give its jobs to Weft."""
    limit = f"; {library.variable} limits it" if library.variable else ""
    return {
        1: ("live", ""),
        0: ("waiting", "call weftrt.install()"),
        -1: (
            "own threads",
            f"it has no threads callback that Weft can use ({library.since} has one){limit}",
        ),
        -2: ("live", "its threads are those of OpenMP"),
        -3: ("idle", "it has one thread"),
    }.get(state)


def _jobs(files):
    found = [
        (library, path)
        for library in _runtimes.JOBS
        for path in files
        if _runtimes.name_matches(library.pattern, path)
    ]
    if not found:
        return
    state_of = ctypes.CDLL(str(_native_files.BLAS)).weft_blas_state
    state_of.argtypes = [ctypes.c_char_p]
    for library, path in found:
        told = _state_of_jobs(library, state_of(os.fsencode(path)))
        if told:  # the part of FFTW without threads says nothing
            yield Finding(library.kind, told[0], path, told[1])


def _linked(files, users):
    bound_to_weft = {
        module for owner, modules in users.items() if _native_files.is_own(owner) for module in modules
    }
    for path in files:
        if _is_named(path):
            continue
        for runtime in _runtimes.LINKED:
            if not _bindings.holds(path, runtime.texts):
                continue
            if runtime.kind == "OpenMP" and path in bound_to_weft:
                yield Finding(runtime.kind, "idle", path, "a copy is linked into it; its calls reach Weft's")
            else:
                advice = f"a copy is linked into it, out of Weft's reach; {runtime.variable} limits it"
                yield Finding(runtime.kind, "own threads", path, advice)


def _pools(files):
    for pool in _runtimes.POOLS:
        for path in files:
            if _runtimes.name_matches(pool.pattern, path):
                limit = f"; {pool.variable} limits it" if pool.variable else ""
                yield Finding("pool", "own threads", path, f"{pool.name} keeps its threads{limit}")
                break


def doctor():
    """Returns what this process has loaded of OpenMP, TBB, BLAS, FFTW, Blosc2 and other pools, and whether it
    runs on Weft. print() shows it.

    States: "live" runs on Weft; "idle" is loaded and not used; "own threads" has threads beside
    Weft's; "waiting" was loaded before Weft and may run on it or not.
    """
    files = _loaded.objects()
    users = _bindings.users(("GOMP_parallel", "__kmpc_fork_call"))
    return Findings(
        [
            *_openmp(files, users),
            *_tbb(files),
            *_jobs(files),
            *_linked(files, users),
            *_pools(files),
        ]
    )
