# SPDX-License-Identifier: Apache-2.0
"""The report of a trace, as a notebook shows it."""

import html
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from weftrt import _native_files


class Report:
    """The page of a run: `path` of the file, `findings` in words. A notebook shows the page."""

    def __init__(self, path, findings, output):
        self.path = path
        self.findings = findings
        self.output = output

    def _repr_html_(self):
        page = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:900px;border:0"></iframe>'

    def __repr__(self):
        return "\n".join([*self.findings, f"the page is in {self.path}"])


def report(program, *arguments, level="graph", page=None, **settings):
    """Runs a Python program with a trace, in a process of its own, and returns its Report.

    program: a file, or code with several lines. level: of the trace; "graph" has the critical path.
    page: the file of the page; None: a temporary one, which stays. settings: those of Weft, as in
    workers=4 for sched.workers or WEFT_WORKERS.

    Raises RuntimeError where the program or the report fails, with what it has written.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-report-"))
    file = pathlib.Path(program) if "\n" not in str(program) else folder / "program.py"
    if "\n" in str(program):
        file.write_text(str(program), encoding="utf-8")
    path = pathlib.Path(page) if page is not None else folder / "page.html"
    trace = folder / "trace"
    variables = {f"WEFT_{name.upper()}": str(value) for name, value in settings.items()}
    variables.update(WEFT_TRACE_LEVEL=level, WEFT_TRACE_DIR=str(trace))
    try:
        output = _run([sys.executable, str(file), *map(str, arguments)], f"the program {file}", variables)
        told = _run([str(_native_files.TOOL), "report", "--output", str(path), str(trace)], "the report", {})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(trace if page is None else folder, ignore_errors=True)
    return Report(path, told.splitlines()[:-1], output)


def _run(command, what, variables):
    ended = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        env={**os.environ, **variables},
    )
    if ended.returncode != 0:
        raise RuntimeError(f"weftrt.report(): {what} has failed ({ended.returncode}):\n{ended.stdout}")
    return ended.stdout
