# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest: notes the verdict of each test, and which threads computed.

It writes WEFT_VERDICTS, a file of JSON: "verdicts" has a word for each test, "seconds" the processor seconds of Weft's
workers and of all other threads but the main one, "attached" the copies of OpenBLAS whose jobs are Weft's, "left" those
that have threads of their own, "openmp" the copies of Weft's OpenMP that are loaded, "calls" how many calls of joblib were Weft's tasks (joblib_on_weft.py), "versions" what the packages call
themselves.
"""

import ctypes
import json
import os
import re
import sys

WORSE = ("passed", "xfailed", "xpassed", "skipped", "failed", "error")  # of the parts of a test the worst counts
verdicts = {}
calls = []


def verdict_of(report):
    """Returns the word for one part of a test: its setup, its call or its teardown; "" for one that says nothing."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if report.skipped:
        return "skipped"
    return "passed" if report.when == "call" else ""


def note(name, verdict):
    """Notes a part of a test, unless another part of it has a worse verdict."""
    if verdict and WORSE.index(verdict) >= WORSE.index(verdicts.get(name, "passed")):
        verdicts[name] = verdict


def pytest_runtest_logreport(report):
    note(report.nodeid, verdict_of(report))


def pytest_collectreport(report):
    if report.failed:
        note(report.nodeid, "error")
    elif report.skipped:
        note(report.nodeid, "skipped")


def seconds_of_threads(folder="/proc/self/task"):
    """Returns the processor seconds of Weft's workers, and of the other threads but the main one."""
    weft = others = 0.0
    for thread in os.listdir(folder):
        try:
            with open(os.path.join(folder, thread, "stat"), encoding="utf-8", errors="replace") as file:
                name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)\n?", file.read(), re.DOTALL).groups()
        except OSError:  # it has ended
            continue
        fields = rest.split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if name.startswith("weft-"):
            weft += seconds
        elif thread != str(os.getpid()):
            others += seconds
    return {"weft": round(weft, 2), "others": round(others, 2)}


def copies_of_openblas():
    """Returns the loaded copies of OpenBLAS with a pool of their own: those that Weft has, and those that it has not."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split()[-1] for line in maps if "/" in line}
    copies = sorted(f for f in files if "openblas" in os.path.basename(f))
    own = [f for f in files if os.path.basename(f).startswith("libweft-blas.so")]
    if not own:
        return [], copies
    library = ctypes.CDLL(own[0])
    state = {f: library.weft_blas_state(f.encode()) for f in copies}
    return [f for f in copies if state[f] == 1], [f for f in copies if state[f] in (0, -1)]


def copies_of_openmp(maps="/proc/self/maps"):
    """Returns the loaded copies of Weft's OpenMP."""
    with open(maps, encoding="utf-8") as file:
        return sorted({line.split()[-1] for line in file if "/weft-omp/" in line})


def pytest_sessionfinish():
    attached, left = copies_of_openblas()
    named = {name: getattr(sys.modules.get(name), "__version__", None) for name in ("numpy", "scipy", "sklearn", "joblib", "numba", "xgboost", "cv2")}
    found = {
        "verdicts": verdicts,
        "seconds": seconds_of_threads(),
        "attached": attached,
        "left": left,
        "openmp": copies_of_openmp(),
        "calls": len(calls),
        "versions": {name: version for name, version in named.items() if version},
    }
    with open(os.environ["WEFT_VERDICTS"], "w", encoding="utf-8") as file:
        json.dump(found, file)
