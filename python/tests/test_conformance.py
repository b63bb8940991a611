# SPDX-License-Identifier: Apache-2.0
"""What python/conformance notes, compares and writes, with tests made here."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "conformance"


def load(name, file):
    loader = importlib.machinery.SourceFileLoader(name, str(FOLDER / file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
suites, verdicts, training = load("suites_run", "suites"), load("verdicts_plugin", "verdicts.py"), load("torch_run", "torch")
TESTS = """
    import pytest

    def test_passes(): pass
    def test_fails(): assert False
    @pytest.mark.skip
    def test_skipped(): pass
    @pytest.mark.xfail
    def test_expected(): assert False
    @pytest.mark.xfail
    def test_unexpected(): pass
    @pytest.fixture
    def broken(): raise OSError
    def test_error(broken): pass
    @pytest.fixture
    def breaks_later():
        yield
        raise OSError
    def test_error_behind(breaks_later): pass
"""
NOTED = {"passes": "passed", "fails": "failed", "skipped": "skipped", "expected": "xfailed", "unexpected": "xpassed", "error": "error", "error_behind": "error"}


def noted(words, weft=0.0, attached=("libopenblas.so",), left=(), openmp=(), calls=0):
    """Returns what a run has noted; `words` has a verdict for each test."""
    return {
        "verdicts": words, "seconds": {"weft": weft, "others": 1.0}, "attached": list(attached), "left": list(left), "openmp": list(openmp), "calls": calls,
        "versions": {"numpy": "2.0", "sklearn": "1.9"}, "wall": 3.2,
    }


class Verdicts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
    def test_a_run_has_a_verdict_for_each_test(self):
        (self.folder / "run").mkdir()
        for name, text in (("test_a.py", TESTS), ("test_b.py", "import no_such_module"), ("test_c.py", "import pytest; pytest.skip(allow_module_level=True)")):
            (self.folder / name).write_text(textwrap.dedent(text))
        found = suites.run([sys.executable], [str(self.folder)], str(self.folder / "run"), 120)
        wanted = {f"test_a.py::test_{name}": word for name, word in NOTED.items()}
        self.assertEqual(found["verdicts"], {**wanted, "test_b.py": "error", "test_c.py": "skipped"})
        self.assertEqual((found["attached"], found["left"], found["openmp"], found["calls"], found["seconds"]["weft"]), ([], [], [], 0, 0))
        one = suites.run_alone([sys.executable], "test_a.py::test_fails", str(self.folder / "run"), 120)
        self.assertEqual(one, ["failed"] * suites.AGAIN)

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
    def test_a_run_without_verdicts_has_a_reason(self):
        (self.folder / "run").mkdir()
        for text, reason in (("def test_a(): import os; os._exit(3)", "exit status 3"), ("", "no test was run"), ("def test_a(): import time; time.sleep(600)", "not over after")):
            (self.folder / "test_it.py").write_text(text)
            with self.assertRaisesRegex(ValueError, reason):
                suites.run([sys.executable], [str(self.folder)], str(self.folder / "run"), 3 if "sleep" in text else 120)

    def test_seconds_are_those_of_workers_and_of_other_threads(self):
        threads = {verdicts.os.getpid(): ("python3", 900), 7: ("weft-worker 0", 300), 8: ("weft-a) (b", 50), 9: ("python3", 120)}
        for thread, (name, ticks) in threads.items():
            (self.folder / str(thread)).mkdir()
            (self.folder / str(thread) / "stat").write_text(f"{thread} ({name}) S " + "0 " * 10 + f"{ticks} {ticks} 0\n")
        (self.folder / "10").mkdir()  # it has ended
        with mock.patch.object(verdicts.os, "sysconf", lambda _: 100):
            self.assertEqual(verdicts.seconds_of_threads(str(self.folder)), {"weft": 7.0, "others": 2.4})

    def test_copies_of_openmp_are_those_of_weft(self):
        maps = self.folder / "maps"
        maps.write_text("".join(f"7f00-7f01 r-xp 0 fe:00 1 {path}\n" for path in ("/x/weft-omp/libgomp.so.1.0.0", "/x/weft-omp/libgomp.so.1.0.0", "/usr/lib/libgomp.so.1")))
        self.assertEqual(verdicts.copies_of_openmp(str(maps)), ["/x/weft-omp/libgomp.so.1.0.0"])

    def test_variables_and_the_package_of_the_build_reach_the_tests(self):
        for folder in ("run", "package"):
            (self.folder / folder).mkdir()
        (self.folder / "package" / "weftrt.py").write_text("")
        (self.folder / "test_it.py").write_text("import os, weftrt\ndef test_a(): assert os.environ['A'] == 'b'\n")
        found = suites.run([sys.executable], [str(self.folder / "test_it.py")], str(self.folder / "run"), 120, ("A=b",))
        self.assertEqual(found["verdicts"], {"test_it.py::test_a": "passed"})

    def test_the_package_of_a_build_has_its_programs(self):
        for _ in range(2):
            suites.lay_package("/x/build/bin/weft", str(self.folder))
        self.assertEqual(os.readlink(self.folder / "package/weftrt/_native"), "/x/build")
        self.assertTrue((self.folder / "package/weftrt/_joblib.py").exists())

    def test_the_worst_part_of_a_test_counts(self):
        verdicts.verdicts.clear()
        for word in ("passed", "failed", "", "passed", "skipped"):
            verdicts.note("a", word)
        self.assertEqual(verdicts.verdicts, {"a": "failed"})


class Comparison(unittest.TestCase):
    ONE = suites.Suite("numpy.linalg", ("numpy",), ())

    def compare(self, plain, ours, alone=None, one=ONE):
        """Returns the line, the details and the failures of a suite whose runs noted this, in turn."""
        runs = {"plain": iter(plain), "weft": iter(ours)}
        with mock.patch.object(suites, "run", lambda way, *_: next(runs[way])), \
                mock.patch.object(suites, "run_alone", lambda way, *_: alone[way]), contextlib.redirect_stdout(io.StringIO()):
            return suites.compare(one, {"plain": "plain", "weft": "weft"}, "/", argparse.Namespace(runs=len(plain), timeout=1), suites.Kept())

    def test_equal_verdicts_pass_with_the_times_of_all_runs(self):
        words = {"a": "passed", "b": "passed", "c": "skipped"}
        line, details, failures = self.compare([noted(words), noted(words)], [noted(words, 1.5), noted(words, 1.5)])
        self.assertEqual(line, "| numpy.linalg | 2.0 | 2 passed, 1 skipped | the same | 3; 3 | 3; 3 |")
        self.assertEqual((details, failures), ([], 0))

    def test_a_test_that_differs_fails_unless_it_is_unsteady(self):
        plain, ours = [noted({"a": "passed", "b": "passed"})], [noted({"a": "failed"}, 1.0)]
        line, details, failures = self.compare(plain, ours, {"plain": ["passed"] * 3, "weft": ["failed"] * 3})
        self.assertIn("NOT the same", line)
        self.assertEqual(failures, 2)
        self.assertEqual(details[0], "- `a`: alone failed failed failed, on its own threads passed passed passed")
        line, details, failures = self.compare([plain[0]], [ours[0]], {"plain": ["passed"] * 3, "weft": ["passed"] * 3})
        self.assertEqual((failures, details[1]), (0, "- `b`: unsteady; alone the same verdict both ways"))
        self.assertIn("| the same |", line)

    def test_a_second_run_that_differs_counts(self):
        good, bad = noted({"a": "passed"}), noted({"a": "failed"}, 1.0)
        self.assertEqual(self.compare([good, good], [noted({"a": "passed"}, 1.0), bad], {"plain": ["passed"], "weft": ["failed"]})[2], 1)

    def test_a_run_that_weft_did_not_compute_fails(self):
        words = {"a": "passed"}
        for ours, complaint in (
            (noted(words, 0), "Weft's workers have not computed"),
            (noted(words, 1, attached=()), "no OpenBLAS with a threads callback was loaded"),
            (noted(words, 1, left=("/x/libopenblas.so",)), "kept their threads: libopenblas.so"),
        ):
            line, details, failures = self.compare([noted(words)], [ours])
            self.assertEqual((details, failures), ([f"- numpy.linalg: {complaint}"], 1))
            self.assertIn("NOT the same", line)
        mapped = ("/x/weft-omp/libgomp.so.1",)
        for uses, ours, complaints in (
            ("openmp", noted(words, 1, (), ("/x/libopenblas.so",), mapped), []),
            ("openmp", noted(words, 1), ["Weft's OpenMP was not loaded"]),
            ("openmp", noted(words, 0, openmp=mapped), ["Weft's workers have not computed"]),
            ("joblib", noted(words, calls=1), []),
            ("joblib", noted(words, 1), ["the backend of Weft has made no call"]),
            ("pools", noted(words, 0, ()), []),
        ):
            self.assertEqual(list(suites.complaints_of(ours, uses)), complaints)

    def test_runs_are_kept_and_gone_on_with(self):
        one = suites.Suite("scikit-learn", ("scikit-learn<2",), ("words",), "openmp", ("A=b",), ("more",))
        said, arguments = [], argparse.Namespace(runs=2, timeout=1)

        def run(way, words, folder, limit, variables):
            said.append((way, words, variables))
            return noted({"a": "passed"}, 1.0, openmp=("/x/weft-omp/libgomp.so.1",))

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "run", run), contextlib.redirect_stdout(io.StringIO()):
            kept = os.path.join(folder, "kept")
            for steps in (3, 1):
                self.assertEqual(suites.compare(one, {"plain": "plain", "weft": "weft"}, "/", arguments, suites.Kept(kept, steps))[0], None if steps == 3 else "| scikit-learn | 1.9 | 1 passed | the same | 3; 3 | 3; 3 |")
            self.assertEqual(len(pathlib.Path(kept).read_text().splitlines()), 4)
            suites.compare(one, {"plain": "plain", "weft": "weft"}, "/", arguments, suites.Kept(kept))
        self.assertEqual(said, [(way, ["words", *(["more"] if way == "weft" else [])], ("A=b",)) for way in ("plain", "weft", "weft", "plain")])

    def test_a_run_that_does_not_end_fails(self):
        def run(way, *_):
            if way == "weft":
                raise ValueError("not over after 1 s")
            return noted({"a": "passed"})

        with mock.patch.object(suites, "run", run), contextlib.redirect_stdout(io.StringIO()):
            line, _, failures = suites.compare(self.ONE, {"plain": "plain", "weft": "weft"}, "/", argparse.Namespace(runs=1, timeout=1), suites.Kept())
        self.assertEqual((line, failures), ("| numpy.linalg | | weft: not over after 1 s | | | |", 1))


class Page(unittest.TestCase):
    def main(self, folder, compare, missing=frozenset(), **changes):
        """Runs the script with a page in `folder`. Returns its status, the page, and what it has printed."""
        page = pathlib.Path(folder) / "python.md"
        shutil.copy(FOLDER.parent.parent / "docs/user/python.md", page)
        chosen = types.SimpleNamespace(**{"tool": "/x/bin/weft", "only": "", "runs": 1, "timeout": 1, "results": "", "steps": 0, "page": str(page), **changes})
        with mock.patch.object(suites, "parse", lambda: chosen), mock.patch.object(suites, "environment_of_python", lambda *_: ("python", missing)), \
                mock.patch.object(suites, "folder_of_tests", lambda one, _: one.source and os.path.join(folder, one.source)), \
                mock.patch.object(suites.suite, "cache", lambda _: folder), mock.patch.object(suites, "compare", compare), contextlib.redirect_stdout(io.StringIO()) as said:
            return suites.main(), page.read_text(), said.getvalue()

    def test_the_results_go_between_the_marks_of_the_page(self):
        def compare(one, *_):
            return f"| {one.name} | right |", [], 0

        with tempfile.TemporaryDirectory() as folder:
            every = {package for one in suites.SUITES for package in one.packages}
            (status, whole, _), (other, part, _), (none, _, _) = (self.main(folder, compare, missing) for missing in (set(), {"scipy"}, every))
        self.assertEqual((status, other, none), (0, 0, 1))
        self.assertIn("| numpy.linalg | right |\n| numpy, products | right |\n| scipy.linalg | right |\n", whole)
        self.assertIn("| OpenCV | right |\n<!-- end python suites -->", whole.replace("| XGBoost | right |\n<", "<"))
        self.assertIn("- scipy.linalg is left out: pip could not fetch scipy\n", part)
        self.assertNotIn("scipy.linalg | right", part)

    def test_a_call_that_leaves_runs_writes_no_page(self):
        with tempfile.TemporaryDirectory() as folder:
            status, page, said = self.main(folder, lambda one, *_: (None if one.name == "joblib" else f"| {one.name} | right |", [], 0))
        self.assertEqual(status, 75)
        self.assertNotIn("| right |", page)
        self.assertIn("runs are left", said)

    def test_tests_of_the_sources_are_named_in_their_folder(self):
        seen = {}
        with tempfile.TemporaryDirectory() as folder:
            self.main(folder, lambda one, ways, at, *_: (seen.update({one.name: (one.words, at)}), "| x |", [], 0)[1:])
            self.assertEqual(seen["XGBoost"], (("-p", "xgboost_offline", *(f"{folder}/xgboost/tests/python/{name}.py" for name in ("test_basic", "test_with_sklearn"))), f"{folder}/xgboost/run"))
            self.assertEqual(seen["numpy.linalg"], (("--pyargs", "numpy.linalg"), f"{folder}/run"))


class Training(unittest.TestCase):
    def found(self, plain=(4, 5, 8), ours=(4, 5, 8), **changes):
        """Returns what is wrong with a run by `weft run` that has looked like `ours`, after one like `plain`."""
        right = {"losses": [[1.0], [2.0]], "loaded": [3.0], "runtime": "/weft/lib/weft-omp/libgomp.so.1"}
        return list(training.findings({**right, "running": list(plain)}, {**right, "running": list(ours), **changes}, "/weft/bin/weft"))

    def test_other_losses_and_another_runtime_are_found(self):
        self.assertEqual(self.found(), [])
        self.assertRegex(self.found(losses=[[1.0], [2.5]])[0], "losses differ: .*2.5")
        self.assertRegex(self.found(loaded=[])[0], "loaded differ")
        self.assertRegex(self.found(runtime="/usr/lib/libgomp.so.1")[0], "/usr/lib/libgomp.so.1 has computed")

    def test_running_threads_are_compared_with_those_of_the_other_run(self):
        self.assertEqual(self.found(ours=(6, 9, 12)), [])
        self.assertEqual(self.found(plain=(16, 30, 40), ours=(31, 40, 50)), [])
        for plain, ours in (((4, 5, 8), (7, 7, 7)), ((1, 2, 9), (4, 4, 4)), ((16, 30, 40), (32, 32, 32))):
            self.assertRegex(self.found(plain, ours)[0], f"^{ours[0]} threads run at once in the middle of the looks, and on PyTorch's own threads {plain[1]} at most")

    def test_a_run_that_does_not_end_is_named(self):
        with mock.patch.object(training.suite, "run", return_value=(None, "it hangs")) as run:
            with self.assertRaisesRegex(SystemExit, "torch: not over after 90 s: python: it hangs"):
                training.train(["python"], [], [])
        self.assertEqual(run.call_args[0][3], 90)
        with mock.patch.object(training.suite, "run", return_value=(3, "it fails")), self.assertRaisesRegex(SystemExit, "torch: exit status 3: python: it fails"):
            training.train(["python"], [], [])

    @unittest.skipUnless(shutil.which("make"), "make is not installed")
    def test_a_part_of_the_suites_runs_without_it(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "RUN"}
        command = ["make", "-n", "-C", str(FOLDER.parent.parent), "conformance-python"]
        for options, wanted in ((["RUN=--only numpy"], 0), ([], 1)):
            said = subprocess.run([*command, *options], stdout=subprocess.PIPE, universal_newlines=True, check=True, env=environment)
            self.assertEqual(said.stdout.count("conformance/torch"), wanted, said.stdout)
            self.assertEqual(said.stdout.count("conformance/suites"), 1)


if __name__ == "__main__":
    unittest.main()
