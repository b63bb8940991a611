# SPDX-License-Identifier: Apache-2.0
"""The blocks of the pages that are marked with this file and a name: the test of that name runs the block as it is on the page."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import weftrt  # noqa: F401
from children import CAN
from weftrt import _native_files, _runtimes

try:
    import numpy
except ImportError:
    numpy = None
try:
    import joblib
except ImportError:
    joblib = None

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "user"
MARK = re.compile(r"^<!-- test: python/tests/test_pages\.py (\w+) -->\n```\w+\n(.*?)^```$", re.M | re.S)
BLOCKS = [block for page in sorted(PAGES.rglob("*.md")) for block in MARK.findall(page.read_text(encoding="utf-8"))]
WITH_INDEX = "WEFTRT_TEST_INDEX" in os.environ
NO_INDEX = "the distribution's OpenBLAS takes no jobs from outside; python_index has NumPy's own"


def like(line):
    """Returns a pattern of an output that a page shows: `...` and numbers of builds may be anything."""
    parts = re.split(r"(\.\.\.|-[0-9a-f]{8}(?=\.so)|0\.3\.\d+)", line)
    return "".join(re.escape(part) if i % 2 == 0 else r"\S*" if part == "..." else r"[-.\w]+?" for i, part in enumerate(parts))


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        commands = self.folder / "commands"
        commands.mkdir()
        for name, file in (("python", sys.executable), ("python3", sys.executable), ("weft", _native_files.TOOL)):
            self.write(f"commands/{name}", f'#!/bin/sh\nexec "{file}" "$@"\n').chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "WEFT_WORKERS": "2"}
        self.environment["PYTHONPATH"] = os.pathsep.join([str(self.folder / "packages"), os.environ.get("PYTHONPATH", "")])

    def write(self, name, text):
        """Makes a file in the folder where the block runs."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def block(self):
        """Returns the block that has the name of this test."""
        return dict(BLOCKS)[self._testMethodName[len("test_") :]]

    def run_words(self, *words):
        ended = subprocess.run(words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def run_python(self, before, after, indent=""):
        """Runs a block of Python between other lines, whose names it may use."""
        program = self.write("block.py", "")
        program.write_text(textwrap.dedent(before) + textwrap.indent(self.block(), indent) + textwrap.dedent(after))
        return self.run_words(sys.executable, str(program))

    def run_console(self, change=lambda command: command):
        """Runs the commands of a block, and asks for the output that the page shows behind each. Returns the outputs."""
        outputs = []
        for part in re.split(r"^\$ ", self.block(), flags=re.M)[1:]:
            command, *shown = part.splitlines()
            outputs.append(self.run_words("bash", "-euc", change(command)))
            at = 0
            lines = outputs[-1].splitlines()
            for wanted in shown:
                while at < len(lines) and not re.fullmatch(like(wanted), lines[at]):
                    at += 1
                self.assertLess(at, len(lines), f"{wanted!r} is not in its place in: {outputs[-1]}")
        return outputs

    def test_each_marked_block_has_a_test_of_its_own(self):
        names = collections.Counter(name for name, _ in BLOCKS)
        tests = {name[len("test_") :] for name in dir(self) if name.startswith("test_") and name != self._testMethodName}
        self.assertEqual(names, collections.Counter(tests))

    # ---- python.md ----

    def test_first_line(self):
        self.write("program.py", "import weftrt; print(weftrt.doctor())")
        self.assertRegex(self.run_console()[0], r"OpenMP +live .*weft-omp/libgomp\.so\.1")

    @unittest.skipUnless(WITH_INDEX, NO_INDEX)
    def test_doctor_inside(self):
        library = self.folder / "packages/scikit_learn.libs/libgomp-e985bcbb.so.1.0.0"
        library.parent.mkdir(parents=True)
        library.write_bytes(pathlib.Path(os.environ["WEFTRT_TEST_GOMP"]).read_bytes())
        self.write("packages/sklearn/__init__.py", "")
        self.write("packages/sklearn/cluster.py", f"import ctypes; ctypes.CDLL({str(library)!r})")
        for name in _runtimes.VARIABLES:  # those that are set have a line each
            self.environment.pop(name, None)
        output = self.run_console()[0]
        self.assertEqual(len(output.splitlines()), len(self.block().splitlines()) - 1, output)

    @unittest.skipUnless(WITH_INDEX, NO_INDEX)
    def test_doctor_outside(self):
        self.environment["OPENBLAS_NUM_THREADS"] = "4"
        code = "import weftrt; weftrt.install(); import numpy; print('ready', flush=True); input()"
        with subprocess.Popen([sys.executable, "-c", code], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True) as process:
            try:
                self.assertEqual(process.stdout.readline(), "ready\n")
                self.run_console(lambda command: command.replace("4711", str(process.pid)))
            finally:
                process.communicate("\n")

    @unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
    def test_report(self):
        self.write(
            "program.py",
            """
            import sys, weftrt
            data = bytearray(1)
            for i in range(int(sys.argv[1])):
                weftrt.spawn(int, updates=data)
            weftrt.taskwait()
            print("ran", sys.argv[1], weftrt.workers())
            """,
        )
        output = self.run_python("import weftrt\n", "print(report.path.read_text()[:15])\n")
        self.assertIn("ran 1000 4\n", output)
        self.assertIn("<!doctype html>", output.lower())

    # ---- python_tasks.md ----

    @unittest.skipUnless(CAN and numpy, "NumPy is not installed")
    def test_first_tasks(self):
        self.run_python("", "assert (a == -1).all() and (c == -1000).all() and (b == 2).all()\n")

    @unittest.skipUnless(CAN and numpy, "NumPy is not installed")
    def test_decorator(self):
        before = "import numpy, weftrt\nx, y, z = (numpy.arange(9.0).reshape(3, 3) + i for i in range(3))\nright = z - x @ y.T\n"
        self.run_python(before, "assert isinstance(t, weftrt.Task)\nweftrt.taskwait()\nassert numpy.array_equal(z, right)\n")

    @unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
    def test_executors(self):
        before = """
            import asyncio, threading, weftrt
            called, items = [], range(5)
            def f(item): called.append(item)
            async def main():
            """
        after = """
            name = asyncio.run(main())
            assert sorted(called) == [0, 1, 2, 3, 4] and "weftrt" in name, (called, name)
            """
        ends = "    return await asyncio.to_thread(lambda: threading.current_thread().name)\n"
        self.run_python(before, ends + textwrap.dedent(after), "    ")

    @unittest.skipUnless(CAN and hasattr(joblib, "parallel_config"), "joblib 1.3 is not installed")
    def test_joblib_backend(self):
        before = """
            import joblib, weftrt
            model, x, y, found = None, None, None, []
            def is_task(): return weftrt.current_task() is not None
            def cross_val_score(model, x, y, n_jobs):
                found.extend(joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(is_task)() for _ in range(4)))
            """
        self.run_python(before, "assert found == [True] * 4, found\n")

    @unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
    def test_trace(self):
        self.write("program.py", "import weftrt; weftrt.spawn(int, label='the one'); weftrt.taskwait()")
        self.run_console()
        pages = list(self.folder.glob("*.html"))
        self.assertEqual(len(pages), 1, list(self.folder.iterdir()))
        self.assertIn("the one", pages[0].read_text())

    # ---- one_pool.md ----

    def test_run(self):
        self.write("program", '#!/bin/sh\necho "$LD_PRELOAD"\n').chmod(0o755)
        self.write("script.py", "import os; print(os.environ['LD_PRELOAD'])")
        outputs = self.run_console()
        self.assertEqual(["libirml" in output for output in outputs], [True, True, False], outputs)
        self.assertTrue(all("libgomp" in output for output in outputs), outputs)


if __name__ == "__main__":
    unittest.main()
