# SPDX-License-Identifier: Apache-2.0
"""conformance_test.py FOLDER COMPILER: checks what the conformance runs read, assert and write, with programs made here. FOLDER has Weft's library."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

FOLDER, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2]
CONFORMANCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance")
sys.dont_write_bytecode = True
sys.path.insert(0, CONFORMANCE)
import suite # noqa: E402


def load(name):
    loader = importlib.machinery.SourceFileLoader(name + "_run", os.path.join(CONFORMANCE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


libgomp, llvm, openuh = load("libgomp"), load("llvm"), load("openuh")
ENDLESS = "#include <unistd.h>\nint main(void) { for (;;) sleep(1); }\n"
PRINTS = '#include <omp.h>\n#include <stdio.h>\nint main(void) { printf("threads %d\\n", omp_get_max_threads()); return omp_get_max_threads() != 3; }\n'


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def program(self, name, text, options=("-fopenmp",)):
        """Returns a record like that of a test that was built."""
        path = os.path.join(self.folder, name)
        subprocess.run([COMPILER, *options, "-o", path, self.write(name + ".c", text)], check=True)
        os.makedirs(path + ".d")
        return {"lang": "c", "name": name, "program": path, "target": False, "state": "ready", "why": "",
                "test": {"env": [], "fails": False, "output": ""}}

    def test_heads_of_tests_are_understood(self):
        path = self.write("t.c", '/* { dg-do run { target hppa*-*-* } } */\n')
        self.assertEqual(libgomp.read(path)["do"], "other targets")
        path = self.write("t.c", '/* { dg-do run } */\n/* { dg-options "-O1" } */\n/* { dg-additional-options "-DX" { target ia32 } } */\n'
                          '/* { dg-shouldfail "it ends" } */\n/* { dg-set-target-env-var OMP_NUM_THREADS "3" } */\n/* { dg-output "is 42(\\n|\\r)+" } */\n')
        test = libgomp.read(path)
        self.assertEqual((test["do"], test["options"], test["more"], test["fails"], test["env"]), ("run", ["-O1"], [], True, ["OMP_NUM_THREADS=3"]))
        self.assertRegex("the answer is 42\n", test["output"])

    def test_a_program_passes_on_weft_only_with_what_it_is_to_do(self):
        record = self.program("prints", PRINTS)
        self.assertEqual(libgomp.failure(record, FOLDER, ["OMP_NUM_THREADS=3"], 60), "")
        self.assertIn("exit status 1", libgomp.failure(record, FOLDER, ["OMP_NUM_THREADS=4"], 60))
        record["test"]["output"] = "threads 7"
        self.assertIn("not as asked", libgomp.failure(record, FOLDER, ["OMP_NUM_THREADS=3"], 60))
        record["test"] = {"env": ["OMP_NUM_THREADS=3"], "fails": True, "output": ""}
        self.assertIn("exit status 0", libgomp.failure(record, FOLDER, ["OMP_NUM_THREADS=4"], 60))

    def test_another_runtime_is_told(self):
        record = self.program("prints", PRINTS, ("-fopenmp",))
        with tempfile.TemporaryDirectory() as nothing:
            self.assertIn("another OpenMP runtime", libgomp.failure(record, nothing, ["OMP_NUM_THREADS=3"], 60))

    def test_what_does_not_end_fails_and_is_run_on_the_stock_runtime(self):
        records = [self.program("endless", ENDLESS, ())]
        arguments = types.SimpleNamespace(stock=False, tsan=False, libraries=FOLDER, jobs=1, timeout=0.3)
        result, = libgomp.judge(records, arguments, [])
        self.assertEqual((result["state"], result["why"]), ("excluded", "fail on GCC's own runtime, too"))
        self.assertEqual(list(libgomp.summary([result], "")), ["- c: 0 passed, 0 failed, 1 excluded (1 fail on GCC's own runtime, too)", "  - `endless` is excluded"])

    def test_a_page_keeps_what_is_around_the_marks(self):
        path = self.write("page.md", "a\n<!-- x -->\nold\n<!-- end x -->\nb\n")
        suite.write_page(path, "x", ["new"])
        with open(path) as file:
            self.assertEqual(file.read(), "a\n<!-- x -->\nnew\n<!-- end x -->\nb\n")
        with self.assertRaises(SystemExit):
            suite.write_page(path, "y", [])

    def test_a_page_tells_of_whole_runs_only(self):
        path = self.write("page.md", "<!-- llvm suite -->\nold\n<!-- end llvm suite -->\n")
        record = {"name": "a.c", "state": "passed", "why": "", "alone": False, "stock": True}

        def page_after(*options):
            with mock.patch.object(llvm, "judge", return_value=([record], {})), mock.patch.object(llvm, "prepare", return_value=None), \
                    mock.patch.object(suite, "cache", return_value=self.folder), mock.patch.object(sys, "argv", ["llvm", FOLDER, "--page", path, *options]), \
                    contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(llvm.main(), 0)
            with open(path) as file:
                return file.read().splitlines()[1]

        self.assertEqual(page_after("--only", "^a"), "old")
        self.assertIn("1 passed", page_after())

    def test_what_lit_leaves_out_has_a_reason(self):
        self.write("a.c", "// REQUIRES: ompt, multicpu\n")
        self.write("b.c", "// UNSUPPORTED: gcc\n")
        self.assertEqual(llvm.reason(self.folder, "a.c"), "need OMPT")
        self.assertEqual(llvm.reason(self.folder, "b.c"), "not for this compiler or system")

    def openuh_suite(self, **templates):
        """Makes a suite whose script copies its templates; orphaned programs say so."""
        for name in ("ompts_makeHeader.pl", "template_parser_c.pl"):
            self.write(name, "")
        self.write("template_parser_c.pl", 'my ($from, $to) = @ARGV[-2, -1]; open(my $in, "<", $from); open(my $out, ">", $to);\n'
                   'print $out "#define ORPHANED\\n" if grep { $_ eq "--orphan" } @ARGV; print $out $_ while <$in>;\n')
        self.write("testlist-c.txt", "# a comment\n" + "".join(name + "\n" for name in templates))
        os.makedirs(os.path.join(self.folder, "c"), exist_ok=True)
        for name, text in templates.items():
            self.write(os.path.join("c", name + ".c"), text)

    def run_openuh(self, *options):
        with tempfile.TemporaryDirectory() as cache, mock.patch.object(suite, "cache", return_value=cache), \
                mock.patch.object(sys, "argv", ["openuh", self.folder, FOLDER, *options]), mock.patch.object(openuh, "COMPILERS", {"gcc": [COMPILER, "-fopenmp"]}), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            status = openuh.main()
        return status, said.getvalue()

    def test_openuh_counts_both_forms_on_both_runtimes(self):
        threads = "#include <omp.h>\nint main(void) { return omp_get_max_threads() != 5; }\n"
        self.openuh_suite(plain=threads, both="/* <ompts:orphan> */\n" + threads, wrong="int main(void) { return 1; }\n")
        status, said = self.run_openuh("--threads", "5")
        self.assertIn("gcc, 5 threads: Weft passes 3 at once, 3 in 3 runs, of 4; the compiler's own runtime 3 at once, 3 in 3 runs, of 4", said)
        self.assertIn("`wrong` fails on both", said)
        self.assertEqual(status, 0)

    def test_openuh_runs_what_fails_again_and_fails_where_only_weft_does(self):
        third = ('#include <stdio.h>\nint main(void) { FILE *f = fopen("bin/runs", "a"); fputc(0, f); long n = ftell(f); fclose(f); return n % 3 != 0; }\n')
        self.openuh_suite(third=third)
        self.assertIn("0 at once, 1 in 3 runs, of 1", self.run_openuh()[1])
        self.openuh_suite(orphan="/* <ompts:orphan> */\n#ifdef ORPHANED\n#include <stdlib.h>\nint main(void) { return getenv(\"LD_LIBRARY_PATH\") != 0; }\n#else\n"
                          "int main(void) { return 0; }\n#endif\n")
        status, said = self.run_openuh()
        self.assertIn("`orphaned_orphan` fails on Weft", said)
        self.assertEqual(status, 1)

    def test_openuh_fails_and_writes_no_page_where_nothing_compiles(self):
        page = self.write("page.md", "<!-- openuh suite -->\nold\n<!-- end openuh suite -->\n")
        for text, wanted in (("#include <missing_omp.h>\n", (1, "old")), ("int main(void) { return 0; }\n", (0, "- gcc, 8 threads: Weft passes 1 at once"))):
            self.openuh_suite(only=text)
            status, said = self.run_openuh("--page", page)
            with open(page) as file:
                line = file.read().splitlines()[1]
            self.assertEqual((status, line[: len(wanted[1])]), wanted)
            self.assertEqual("gcc has compiled no program" in said, status == 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
