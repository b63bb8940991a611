# SPDX-License-Identifier: Apache-2.0
"""weftrt.report(), and the notebook that shows it, without Jupyter."""

import ast
import html
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import weftrt
from weftrt import _native_files

CAN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"

PROGRAM = """
import sys, weftrt
def stage(n):
    return n
data = bytearray(4)
for i in range(5):
    weftrt.spawn(stage, i, updates=data)
weftrt.taskwait()
print("ran", *sys.argv[1:], weftrt.workers())
"""


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_of_a_file_has_page_output_and_findings(self):
        file = self.folder / "staged.py"
        file.write_text(PROGRAM)
        made = weftrt.report(file, "with", 2, page=self.folder / "page.html", workers=3)
        self.assertEqual(made.path, self.folder / "page.html")
        self.assertEqual(made.output.splitlines()[-1], "ran with 2 3")
        page = made.path.read_text()
        self.assertIn("staged.py:7", page)
        self.assertTrue(any("critical path" in line for line in made.findings), made.findings)
        self.assertIn(str(made.path), repr(made))
        self.assertIn(made.findings[0], repr(made))

    def test_of_code_is_shown_whole_and_apart_from_the_notebook(self):
        made = weftrt.report(PROGRAM)
        shown = made._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="') and shown.count('"') == 4, shown[:100])
        self.assertEqual(html.unescape(shown.split('"')[1]), made.path.read_text())

    def test_a_level_without_a_graph_has_no_critical_path(self):
        made = weftrt.report(PROGRAM, level="switch")
        self.assertFalse(any("critical path" in line for line in made.findings), made.findings)

    def test_a_program_that_fails_is_told_with_what_it_wrote(self):
        with self.assertRaisesRegex(RuntimeError, r"program.py has failed \(3\):\nbefore"):
            weftrt.report("print('before')\nraise SystemExit(3)\n")

    def test_a_program_without_weft_has_no_trace(self):
        with self.assertRaisesRegex(RuntimeError, "the report has failed .1.:\nweft: .* holds no trace"):
            weftrt.report("print('nothing')\n")


@unittest.skipUnless(CAN and importlib.util.find_spec("numpy"), "NumPy is not installed")
class Notebooks(unittest.TestCase):
    def test_cells_run_in_order_and_the_last_is_a_page(self):
        for file in sorted(EXAMPLES.glob("*.ipynb")):
            notebook = json.loads(file.read_text())
            cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
            self.assertTrue(all(not c["outputs"] for c in notebook["cells"] if c["cell_type"] == "code"))
            *before, last = cells
            self.assertIsInstance(ast.parse(last).body[-1], ast.Expr)  # what Jupyter displays
            program = "\n".join([*before, f"import sys; sys.stdout.write(({last.strip()})._repr_html_())"])
            ended = subprocess.run(
                [sys.executable, "-c", program],
                cwd=EXAMPLES,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                universal_newlines=True,
                timeout=120,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            self.assertEqual((ended.returncode, ended.stderr), (0, ""), file)
            self.assertIn("is right", ended.stdout)
            for text in ("<iframe srcdoc=", "subtract", "cholesky.py:"):
                self.assertIn(text, ended.stdout)


if __name__ == "__main__":
    unittest.main()
