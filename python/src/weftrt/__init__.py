# SPDX-License-Identifier: Apache-2.0
"""Weft: one set of worker threads for the OpenMP, TBB and BLAS libraries of a Python program.

    import weftrt
    weftrt.install()          # first in the program; or: python -m weftrt program.py
    print(weftrt.doctor())    # which runtimes run on Weft
    weftrt.report("program.py")    # what the program did, as a page that a notebook shows
    weftrt.spawn(f, a, b, reads=a, updates=b); weftrt.taskwait()    # tasks, from Python 3.11
"""

import importlib

from weftrt._doctor import Findings, doctor
from weftrt._install import install
from weftrt._native_files import version as _version

# What loads the tasks, at the first use: weftrt.install() starts nothing.
_TASKS = (
    "Executor",
    "Task",
    "blocking",
    "current_task",
    "group",
    "register_joblib",
    "spawn",
    "task",
    "taskwait",
    "workers",
)

_MODULES = {"register_joblib": "weftrt._joblib", "report": "weftrt._report"}  # of the others: _spawn

__all__ = ["Findings", "doctor", "install", "report", *_TASKS]  # noqa: F822
__version__ = _version()


def __getattr__(name):
    if name not in _TASKS and name not in _MODULES:
        raise AttributeError(f"module 'weftrt' has no attribute '{name}'")
    module = importlib.import_module(_MODULES.get(name, "weftrt._spawn"))
    value = globals()[name] = getattr(module, name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
