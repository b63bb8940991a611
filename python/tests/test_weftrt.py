# SPDX-License-Identifier: Apache-2.0
"""The package weftrt in processes of its own, beside plain Python."""

import ctypes.util
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from weftrt import __main__ as command
from weftrt import _bindings, _native_files, _runtimes

GOMP = os.environ["WEFTRT_TEST_GOMP"]
BLAS = pathlib.Path(os.environ["WEFTRT_TEST_BLAS"])


def run(*words, text="", **variables):
    """Runs a program, and returns what has become of it."""
    environment = {name: value for name, value in os.environ.items() if name != "WEFTRT"}
    environment.update(variables)
    return subprocess.run(
        [str(word) for word in words],
        input=text,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
    )


def python(code, **variables):
    """Runs lines of Python in a process of its own."""
    return run(sys.executable, "-c", textwrap.dedent(code), **variables)


class Programs(unittest.TestCase):
    """python -m weftrt: the program sees what it sees without."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, code):
        path = self.folder / name
        path.write_text(textwrap.dedent(code))
        return path

    def assert_same(self, *words, **how):
        plain = run(sys.executable, *words, **how)
        ours = run(sys.executable, "-m", "weftrt", *words, **how)
        self.assertEqual(
            (ours.returncode, ours.stdout, ours.stderr),
            (plain.returncode, plain.stdout, plain.stderr),
        )
        return ours

    def test_a_script_has_its_arguments_streams_and_status(self):
        script = self.write(
            "script.py",
            """
            import sys
            print(__name__, __file__, sys.argv, sys.path[0], __spec__, sys.stdin.read())
            print("to stderr", file=sys.stderr)
            import helper
            sys.exit(helper.status)
            """,
        )
        self.write("helper.py", "status = 7")
        ended = self.assert_same(script, "-x", "--two", "three four", text="a line\n")
        self.assertEqual(ended.returncode, 7)
        self.assertIn("three four", ended.stdout)

    def test_a_module_and_a_line_of_code_run_as_well(self):
        self.write("some.py", "import sys; print(__name__, sys.argv, sys.path[0])")
        there = {"PYTHONPATH": os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))}
        ended = self.assert_same("-m", "some", "-c", "b", **there)
        self.assertIn("'-c', 'b'", ended.stdout)
        ended = self.assert_same("-c", "import sys; print(__name__, sys.argv, sys.path[0])", "-m")
        self.assertIn("['-c', '-m']", ended.stdout)

    def test_a_folder_with_a_main_runs(self):
        self.write("__main__.py", "import sys; print(__name__, sys.argv, sys.path[0])")
        self.assert_same(self.folder, "argument")

    def test_a_script_that_is_not_there_is_reported_as_by_python(self):
        self.assertEqual(self.assert_same(self.folder / "none.py").returncode, 2)

    def test_objects_of_the_script_travel_to_processes(self):
        script = self.write(
            "script.py",
            """
            import multiprocessing
            class Point:
                def __init__(self, x): self.x = x
            def double(point): return Point(2 * point.x)
            if __name__ == "__main__":
                for way in ("fork", "spawn"):
                    with multiprocessing.get_context(way).Pool(2) as pool:
                        print(way, [p.x for p in pool.map(double, map(Point, range(4)))])
            """,
        )
        self.assertIn("spawn [0, 2, 4, 6]", self.assert_same(script).stdout)

    def test_the_program_runs_on_weft_once(self):
        code = "import weftrt, os; print(weftrt.doctor()); print(os.environ['LD_PRELOAD'])"
        ended = run(sys.executable, "-m", "weftrt", "-c", code)
        self.assertRegex(ended.stdout, r"OpenMP +live .*weft-omp/libgomp\.so\.1")
        self.assertEqual(ended.stdout.count("libirml.so.1"), 1, ended.stdout)

    def test_options_of_the_command_come_first(self):
        code = "import os; print(os.environ.get('WEFT_WORKERS'), os.environ.get('WEFT_PRESET'))"
        ended = run(sys.executable, "-m", "weftrt", "--workers", "3", "--", "-c", code)
        self.assertEqual((ended.stdout, ended.stderr), ("3 None\n", ""))
        ended = run(sys.executable, "-m", "weftrt", "--set=workers", "-c", "print(1)")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("--set needs KEY=VALUE", ended.stderr)

    def test_what_the_options_leave_out_stays_out(self):
        code = (
            "import os; files = open('/proc/self/maps').read(); "
            "print([name for name in ('weft-omp', 'libirml', 'libweft-blas.') if name in files], os.environ.get('WEFTRT_WITHOUT'))"
        )
        for options, without, loaded in (
            (["--no-openmp"], "", "['libirml'] openmp"),
            (["--no-tbb"], "", "['weft-omp', 'libweft-blas.'] tbb"),
            (["--no-blas", "--workers", "2"], "", "['weft-omp', 'libirml'] blas"),
            (["--no-tbb", "--no-openmp"], "", "[] openmp tbb"),
            (["--no-openmp", "--openmp"], "", "['weft-omp', 'libirml', 'libweft-blas.'] None"),
            ([], "tbb  blas", "['weft-omp'] blas tbb"),
            (["--no-openmp"], "tbb", "[] openmp tbb"),
            (["--openmp", "--blas"], "openmp tbb blas", "['weft-omp', 'libweft-blas.'] tbb"),
        ):
            ended = run(sys.executable, "-m", "weftrt", *options, "-c", code, WEFTRT_WITHOUT=without)
            self.assertEqual((ended.stdout, ended.stderr), (loaded + "\n", ""), (options, without))

    def test_what_weft_run_leaves_out_install_leaves_out_as_well(self):
        code = (
            "import os, weftrt; weftrt.install(); files = open('/proc/self/maps').read(); "
            "print([name for name in ('weft-omp', 'libirml', 'libweft-blas.') if name in files], os.environ.get('WEFTRT_WITHOUT'))"
        )
        for options, without, loaded in (
            (["--no-openmp"], "", "['libirml'] openmp"),
            (["--no-openmp", "--no-tbb"], "", "[] openmp tbb"),
            (["--no-blas"], "mine", "['weft-omp', 'libirml'] blas mine"),
            (["--tbb"], "tbb", "['weft-omp', 'libirml', 'libweft-blas.'] None"),
            ([], "blas", "['weft-omp', 'libirml', 'libweft-blas.'] blas"),  # the variable is install()'s
        ):
            ended = run(_native_files.TOOL, "run", *options, "--", sys.executable, "-c", code, WEFTRT_WITHOUT=without)
            self.assertEqual((ended.stdout, ended.stderr), (loaded + "\n", ""), (options, without))

    @unittest.skipIf(sys.version_info < (3, 11), "-P is of Python 3.11")
    def test_the_safe_path_is_kept(self):
        script = self.write("script.py", "import sys; print(sys.path)")
        self.write("some.py", "import sys; print(sys.path)")
        there = {"PYTHONPATH": os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))}
        for words in ([script], ["-m", "some"], ["-c", "import sys; print(sys.path)"]):
            ours = run(sys.executable, "-P", "-m", "weftrt", *words, **there)
            plain = run(sys.executable, "-P", *words, **there)
            self.assertEqual((ours.stdout, ours.stderr), (plain.stdout, plain.stderr), words)
        self.write("__main__.py", "import sys; print(sys.path)")
        ours, plain = run(sys.executable, "-P", "-m", "weftrt", self.folder), run(sys.executable, "-P", self.folder)
        self.assertEqual((ours.stdout, ours.stderr), (plain.stdout, plain.stderr))

    def test_options_with_a_value_are_those_of_the_command(self):
        ended = run(_native_files.TOOL, "help", "run")
        usage = ended.stdout.split("\n\n")[0]
        with_value = set(re.findall(r"(--[a-z-]+) [A-Z]", usage))
        self.assertEqual(with_value, set(command.WITH_VALUE))

    def test_words_that_are_no_program_are_refused(self):
        for words in ([], ["-c"], ["-m"], ["--workers", "2"]):
            ended = run(sys.executable, "-m", "weftrt", *words)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), words)
            self.assertIn("usage: python -m weftrt", ended.stderr)
        ended = run(sys.executable, "-m", "weftrt", "-x")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("no program begins with '-x'", ended.stderr)
        self.assertIn("usage", run(sys.executable, "-m", "weftrt", "--help").stdout)

    def test_the_variable_leaves_a_program_out(self):
        code = "import weftrt, os; print(weftrt.doctor(), os.environ.get('LD_PRELOAD'))"
        ended = run(sys.executable, "-m", "weftrt", "-c", code, WEFTRT="0")
        self.assertEqual(
            ended.stdout,
            "weftrt: no parallel runtime is loaded; import the packages first None\n",
        )

    def test_options_of_the_interpreter_are_kept(self):
        code = "import sys; print(sys.flags.optimize, sys.warnoptions)"
        ended = run(sys.executable, "-O", "-W", "error::ImportWarning", "-m", "weftrt", "-c", code)
        self.assertEqual(ended.stdout, "1 ['error::ImportWarning']\n")


class Install(unittest.TestCase):
    """weftrt.install(), in a process without LD_PRELOAD."""

    def test_takes_the_place_of_copies_that_come_later(self):
        ended = python(
            f"""
            import ctypes, warnings, weftrt
            warnings.simplefilter("error")
            weftrt.install()
            weftrt.install()
            ctypes.CDLL({GOMP!r})
            print(weftrt.doctor())
            """
        )
        self.assertRegex(ended.stdout, r"OpenMP +live .*weft-omp/libgomp\.so\.1")
        self.assertRegex(ended.stdout, r"OpenMP +idle .*libgomp-0000beef")
        self.assertEqual(ended.stderr, "")

    def test_warns_of_a_copy_that_came_before_and_names_its_package(self):
        ended = python(
            f"""
            import ctypes, weftrt
            ctypes.CDLL({GOMP!r})
            weftrt.install()
            print(weftrt.doctor())
            """
        )
        self.assertRegex(
            ended.stderr,
            r"RuntimeWarning: weftrt.install\(\) is too late for .*libgomp-0000beef.*"
            r", which somebody has loaded,.*python -m weftrt",
        )
        self.assertRegex(
            ended.stdout, r"OpenMP +own threads +.*libgomp-0000beef.*\n +somebody was loaded before"
        )

    def test_leaves_out_what_is_not_asked_for(self):
        ended = python(
            """
            import weftrt
            weftrt.install(openmp=False, blas=False)
            files = open("/proc/self/maps").read()
            print("libgomp" in files, "libirml" in files, "libweft-blas" in files)
            """
        )
        self.assertEqual((ended.stdout, ended.stderr), ("False True False\n", ""))

    def test_leaves_openblas_out_with_openmp(self):
        ended = python(
            f"""
            import ctypes, weftrt
            try:
                weftrt.install(openmp=False, blas=True)
            except ValueError as error:
                print(error)
            weftrt.install(openmp=False)
            ctypes.CDLL({GOMP!r}, mode=ctypes.RTLD_GLOBAL)
            files = open("/proc/self/maps").read()
            print("weft-omp" in files, "libirml" in files, "libweft-blas" in files)
            print(weftrt.doctor())
            """
        )
        self.assertEqual(ended.stderr, "")
        self.assertIn("needs Weft's OpenMP", ended.stdout)
        self.assertIn("False True False\n", ended.stdout)
        self.assertRegex(ended.stdout, r"OpenMP +own threads +.*libgomp-0000beef")

    def test_the_variable_leaves_out_what_it_names(self):
        code = """
            import weftrt
            weftrt.install()
            files = open("/proc/self/maps").read()
            print("weft-omp" in files, "libirml" in files, "libweft-blas" in files)
            """
        for value, loaded in (("tbb", "True False True\n"), ("blas tbb", "True False False\n"), ("openmp", "False True False\n")):
            self.assertEqual(python(code, WEFTRT_WITHOUT=value).stdout, loaded, value)

    def test_does_nothing_where_the_variable_says_so(self):
        ended = python(
            "import weftrt; weftrt.install(); print('libgomp' in open('/proc/self/maps').read())",
            WEFTRT="0",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("False\n", ""))

    def test_names_a_library_that_cannot_be_loaded(self):
        ended = python(
            """
            import weftrt, weftrt._native_files as files
            files.TBB = "/no/such/libirml.so.1"
            try:
                weftrt.install()
            except ImportError as error:
                print(error)
            """
        )
        self.assertIn("cannot load /no/such/libirml.so.1", ended.stdout)
        self.assertIn("weftrt.install(tbb=False)", ended.stdout)

    def test_numba_asks_for_openmp_first_unless_the_user_says_more(self):
        code = "import weftrt, os; weftrt.install(); print(os.environ['NUMBA_THREADING_LAYER_PRIORITY'])"
        self.assertEqual(python(code).stdout, "omp tbb workqueue\n")
        chosen = python(code, NUMBA_THREADING_LAYER_PRIORITY="tbb omp workqueue")
        self.assertEqual(chosen.stdout, "tbb omp workqueue\n")

    def test_blas_is_attached_when_it_is_there_already(self):
        ended = python(
            f"""
            import ctypes, weftrt
            for name in ("plain", "old", "openmp", "serial"):
                ctypes.CDLL({str(BLAS)!r} + "/libopenblas-" + name + ".so")
            print(weftrt.doctor())
            weftrt.install()
            print(weftrt.doctor())
            """
        )
        self.assertRegex(ended.stdout, r"BLAS +waiting +.*plain\.so\n +call weftrt.install\(\)")
        self.assertRegex(ended.stdout, r"BLAS +live +.*plain\.so\n[^ ]")
        self.assertRegex(ended.stdout, r"BLAS +own threads +.*old\.so\n.*0\.3\.28")
        self.assertRegex(ended.stdout, r"BLAS +live +.*openmp\.so\n.*those of OpenMP")
        self.assertRegex(ended.stdout, r"BLAS +idle +.*serial\.so\n.*one thread")

    def test_blosc_and_fftw_are_attached_as_well(self):
        ended = python(
            f"""
            import ctypes, weftrt
            for name in ("blosc2-three", "blosc2-two", "fftw3", "fftw3f_threads", "fftw3_threads-old", "fftw3_omp"):
                ctypes.CDLL({str(BLAS)!r} + "/lib" + name + ".so")
            print(weftrt.doctor())
            weftrt.install()
            print(weftrt.doctor())
            """
        )
        before, after = ended.stdout.split("OpenMP ")[0], ended.stdout
        self.assertRegex(before, r"FFTW +waiting +.*fftw3f_threads\.so\n +call weftrt.install\(\)", ended.stderr)
        self.assertRegex(before, r"Blosc2 +waiting +.*three\.so\n +call weftrt.install\(\)")
        self.assertRegex(after, r"FFTW +live +.*fftw3f_threads\.so\n[^ ]")
        self.assertRegex(after, r"FFTW +own threads +.*threads-old\.so\n.*\(FFTW 3\.3\.9 has one\)\n")
        self.assertRegex(after, r"FFTW +live +.*fftw3_omp\.so\n.*those of OpenMP")
        self.assertRegex(after, r"Blosc2 +live +.*three\.so\n[^ ]")
        self.assertRegex(after, r"Blosc2 +own threads +.*two\.so\n.*\(C-Blosc2 3\.0 has one\); BLOSC_NTHREADS limits it\n")
        self.assertNotIn("libfftw3.so", ended.stdout)

    def test_blas_is_attached_when_a_module_brings_it(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "some"
            package.mkdir()
            (package / "__init__.py").write_text("")
            suffix = __import__("importlib.machinery").machinery.EXTENSION_SUFFIXES[0]
            (package / f"inner{suffix}").symlink_to(BLAS / "libopenblas-plain.so")
            ended = python(
                f"""
                import sys, weftrt
                weftrt.install()
                sys.path.insert(0, {folder!r})
                import importlib.machinery as machinery
                load = machinery.ExtensionFileLoader.create_module
                def create(self, spec):  # the library is no module of Python
                    import ctypes, types
                    ctypes.CDLL({str(BLAS)!r} + "/libopenblas-plain.so")
                    return types.ModuleType(spec.name)
                machinery.ExtensionFileLoader.create_module = create
                machinery.ExtensionFileLoader.exec_module = lambda self, module: None
                import some.inner
                print(weftrt.doctor())
                """
            )
        self.assertRegex(ended.stdout, r"BLAS +live +.*plain\.so", ended.stderr)


class Doctor(unittest.TestCase):
    def test_knows_a_runtime_whose_folder_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "gone" / pathlib.Path(GOMP).name
            library.parent.mkdir()
            library.write_bytes(pathlib.Path(GOMP).read_bytes())
            ended = python(
                f"""
                import ctypes, os, weftrt
                ctypes.CDLL({str(library)!r})
                os.remove({str(library)!r}), os.rmdir({str(library.parent)!r})
                print(weftrt.doctor())
                weftrt.install()
                """
            )
        self.assertRegex(ended.stdout, r"OpenMP +own threads +.*gone/libgomp-0000beef")
        self.assertIn("is too late for", ended.stderr)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_names_the_variables_that_limit(self):
        ended = python(
            f"import ctypes, weftrt; ctypes.CDLL({GOMP!r}); print(weftrt.doctor())",
            OMP_NUM_THREADS="2",
        )
        self.assertIn("OMP_NUM_THREADS=2 limits teams of OpenMP", ended.stdout)

    def test_knows_the_names_of_runtimes(self):
        known = {
            _runtimes.OPENMP: "libgomp.so.1 libgomp-e985bcbb.so.1.0.0 libomp.so.5 libiomp5.so",
            _runtimes.TBB: "libtbb.so.12 libtbb-9c4.so.2 libtbb12.so",
            _runtimes.JOBS[0].pattern: "libscipy_openblas64_-32a4b2a6.so libopenblas.so.0",
            _runtimes.JOBS[1].pattern: "libfftw3.so.3 libfftw3f_threads.so.3 libfftw3_omp-c5fcc56c.so.3",
            _runtimes.JOBS[2].pattern: "libblosc2.so.9",
        }
        for pattern, names in known.items():
            for name in names.split():
                self.assertTrue(_runtimes.name_matches(pattern, "/some/" + name), name)
        for name in ("libompi.so", "libgompx.so", "libtbbmalloc.so.2", "libblas.so.3", "blosc2_ext.abi3.so"):
            for pattern in known:
                self.assertFalse(_runtimes.name_matches(pattern, "/some/" + name), name)

    def test_names_a_pool_that_keeps_its_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "polars.abi3.so"
            library.write_bytes(pathlib.Path(GOMP).read_bytes())
            ended = python(f"import ctypes, weftrt; ctypes.CDLL({str(library)!r}); print(weftrt.doctor())")
        self.assertIn("polars keeps its threads; POLARS_MAX_THREADS limits it", ended.stdout)


CALLS = """
    void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
    static void body(void *count) { __atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED); }
    int run(void) { int count = 0; GOMP_parallel(body, &count, 3, 0); return count; }
    """
HOLDS = """
    VISIBLE void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
      (void)threads, (void)flags, body(data);
    }
    const char *texts(int i) { return i ? "GOMP_SPINCOUNT" : "GOMP_CPU_AFFINITY"; }
    """


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
class OutOfReach(unittest.TestCase):
    """What doctor() says of copies that Weft cannot replace."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def told(self, source, *options, mode="os.RTLD_NOW", before="weftrt.install()"):
        """Returns what doctor() says once a module of this source is loaded, and what its run() returns."""
        module = self.folder / "module.so"
        built = run("cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-x", "none", "-o", module, *options, text=source)
        self.assertEqual(built.returncode, 0, built.stderr)
        ended = python(
            f"""
            import ctypes, os, weftrt
            {before}
            module = ctypes.CDLL({str(module)!r}, mode={mode})
            print(weftrt.doctor())
            print("result", module.run() if hasattr(module, "run") else "none")
            """
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def test_is_a_copy_that_a_module_is_bound_to(self):
        with_copy = (GOMP, f"-Wl,-rpath,{pathlib.Path(GOMP).parent}")
        told = self.told(CALLS, *with_copy, mode="os.RTLD_NOW | os.RTLD_DEEPBIND")
        self.assertRegex(told, r"OpenMP +live .*weft-omp")
        self.assertRegex(told, r"OpenMP +own threads .*libgomp-0000beef.*\n.*/module\.so is bound to it, as RTLD_DEEPBIND does")
        self.assertIn("OMP_NUM_THREADS limits it", told)
        self.assertIn("result 1\n", told)
        told = self.told(CALLS, *with_copy)
        self.assertRegex(told, r"OpenMP +idle .*libgomp-0000beef")
        self.assertIn("result 3\n", told)

    def test_is_a_copy_that_is_linked_into_a_module(self):
        hidden = HOLDS.replace("VISIBLE", '__attribute__((visibility("hidden")))')
        told = self.told(hidden + CALLS)
        self.assertRegex(told, r"OpenMP +own threads .*module\.so\n +a copy is linked into it, out of Weft's reach; OMP_NUM_THREADS limits")
        self.assertIn("result 1\n", told)
        told = self.told(HOLDS.replace("VISIBLE", "") + CALLS)
        self.assertRegex(told, r"OpenMP +idle .*module\.so\n +a copy is linked into it; its calls reach Weft's")
        self.assertIn("result 3\n", told)

    def test_is_a_copy_of_llvms_openmp_or_of_openblas_in_a_module(self):
        texts = 'const char *texts(int i) {{ return i ? "{}" : "{}"; }}'.format
        self.assertRegex(self.told(texts("KMP_FORKJOIN_BARRIER", "KMP_BLOCKTIME")), r"OpenMP +own threads .*module\.so")
        self.assertRegex(
            self.told(texts("OpenBLAS blas_thread_init: pthread_create failed", "GOTO_NUM_THREADS")),
            r"BLAS +own threads .*module\.so\n +a copy is linked into it, .*; OPENBLAS_NUM_THREADS limits it",
        )
        for names_one in ("KMP_BLOCKTIME", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
            self.assertNotIn("module.so", self.told(texts(names_one, "another")))

    def test_is_no_tbb_that_is_linked_into_a_module(self):
        source = 'const char *texts(int i) { return i ? "libirml.so.1" : "__RML_open_factory"; }'
        self.assertRegex(self.told(source), r"TBB +live .*module\.so")
        self.assertRegex(self.told(source, before=""), r"TBB +own threads .*module\.so\n +call weftrt\.install\(\) before")

    def test_is_read_from_whole_files_alone(self):
        library = pathlib.Path(GOMP).read_bytes()
        for content in (b"", b"text", library[:10], library[:70], library[: len(library) // 2], b"\x7fELF\x02" + b"\xff" * 200):
            (self.folder / "file").write_bytes(content)
            self.assertFalse(_bindings.holds(str(self.folder / "file"), (b"GOMP_SPINCOUNT",)), content[:10])
        self.assertFalse(_bindings.holds(str(self.folder / "gone"), (b"",)))


class Forks(unittest.TestCase):
    """A team of OpenMP in the parent, a fork, a team in the child: GCC's runtime waits there for threads that the child has not."""

    CODE = """
        import ctypes, os, select, signal, sys
        gomp, libc = ctypes.CDLL("libgomp.so.1"), ctypes.CDLL(None)
        gomp.GOMP_parallel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        def team():  # each member posts once
            posted, count = ctypes.create_string_buffer(64), ctypes.c_int()
            libc.sem_init(posted, 0, 0)
            gomp.GOMP_parallel(ctypes.cast(libc.sem_post, ctypes.c_void_p), ctypes.addressof(posted), 2, 0)
            libc.sem_getvalue(posted, ctypes.byref(count))
            return str(count.value).encode()
        assert team() == b"2"
        inside, outside = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(outside, b"begins ")
            os.write(outside, team())
            os._exit(0)
        os.close(outside)
        said = b""
        while True:
            ready = select.select([inside], [], [], float(sys.argv[1]) if said else None)[0]
            part = os.read(inside, 100) if ready else b""
            said += part
            if not part:
                break
        if not ready:
            os.kill(child, signal.SIGKILL)
        print(said.decode(), "ended" if ready else "hung", os.waitpid(child, 0)[1])
        """

    def end_of(self, seconds, *before):
        return run(sys.executable, *before, "-c", textwrap.dedent(self.CODE), str(seconds)).stdout

    def test_a_team_of_the_child_ends_where_the_runtimes_own_threads_hang(self):
        self.assertEqual(self.end_of(60, "-m", "weftrt"), "begins 2 ended 0\n")
        if not ctypes.util.find_library("gomp"):
            self.skipTest("there is no libgomp to compare with")
        stock = self.end_of(2)
        if stock == "begins 2 ended 0\n":
            self.skipTest("this libgomp has teams in the child of a fork")
        self.assertEqual(stock, "begins  hung 9\n")


class Environment(unittest.TestCase):
    """python -m weftrt enable and disable, in an environment of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        run(sys.executable, "-m", "venv", "--without-pip", self.folder)
        self.python = self.folder / "bin" / "python"
        self.packages = next(self.folder.glob("lib/python*/site-packages"))
        (self.packages / "weftrt").symlink_to(_native_files.FOLDER.parent)
        info = self.packages / "weft_runtime-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weft-runtime\nVersion: 1.0\n")
        self.record = info / "RECORD"
        self.record.write_text("weftrt/__init__.py,,\nweft_runtime-1.0.dist-info/RECORD,,\n")
        self.before = self.record.read_text()

    def run_there(self, *words, **variables):
        return run(self.python, *words, PYTHONPATH="", **variables)

    def is_on_weft(self, **variables):
        code = "print('weft-omp' in open('/proc/self/maps').read())"
        ended = self.run_there("-c", code, **variables)
        self.assertEqual(ended.stderr, "")
        return ended.stdout == "True\n"

    def test_switches_all_programs_on_and_off(self):
        self.assertFalse(self.is_on_weft())
        self.assertIn("run on Weft", self.run_there("-m", "weftrt", "enable").stdout)
        self.assertTrue(self.is_on_weft())
        self.assertFalse(self.is_on_weft(WEFTRT="0"))
        self.assertIn("weftrt.pth,,\n", self.record.read_text())
        self.run_there("-m", "weftrt", "enable")
        self.assertEqual(self.record.read_text().count("weftrt.pth"), 1)
        self.assertIn("run without Weft", self.run_there("-m", "weftrt", "disable").stdout)
        self.assertFalse(self.is_on_weft())
        self.assertEqual(self.record.read_text(), self.before)
        self.assertEqual(list(self.packages.glob("*.pth")), [])

    def test_programs_leave_out_what_the_command_leaves_out(self):
        self.run_there("-m", "weftrt", "enable")
        code = "files = open('/proc/self/maps').read(); print('weft-omp' in files, 'libirml' in files)"
        ended = self.run_there("-m", "weftrt", "--no-openmp", "-c", code)
        self.assertEqual((ended.stdout, ended.stderr), ("False True\n", ""))

    def test_a_package_that_is_gone_harms_no_program(self):
        self.run_there("-m", "weftrt", "enable")
        (self.packages / "weftrt").unlink()
        self.assertFalse(self.is_on_weft())

    def test_a_program_starts_where_weft_cannot(self):
        self.run_there("-m", "weftrt", "enable")
        (self.packages / "weftrt").unlink()
        (self.packages / "weftrt").mkdir()
        for file in _native_files.FOLDER.parent.glob("*.py"):
            (self.packages / "weftrt" / file.name).symlink_to(file)
        (self.packages / "weftrt" / "__init__.py").unlink()
        (self.packages / "weftrt" / "__init__.py").write_text("raise OSError('no such library')")
        ended = self.run_there("-c", "print('starts')")
        self.assertEqual(ended.stdout, "starts\n")

    def test_a_folder_that_may_not_be_changed_is_named(self):
        (self.packages / "weftrt.pth").mkdir()
        ended = self.run_there("-m", "weftrt", "enable")
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, r"cannot change .*weftrt\.pth.*virtual environment")


class Callbacks(unittest.TestCase):
    """Libraries of others that give their jobs to Weft by a threads callback, as `weft run` attaches them."""

    CODE = """
        import ctypes, math, os, threading, weftrt
        from concurrent.futures import ThreadPoolExecutor
        made = set()  # threads of Python's, which may not have left the kernel yet when Python has waited for them
        def in_threads(run, count):
            with ThreadPoolExecutor(count, initializer=lambda: made.add(threading.get_native_id())) as pool:
                list(pool.map(run, range(count)))
        def names():
            found = []
            for number in os.listdir("/proc/self/task"):
                if int(number) not in {os.getpid(), *made}:
                    try:
                        found.append(open(f"/proc/self/task/{number}/comm").read().strip())
                    except OSError:  # it has ended
                        pass
            return found
        """

    def ran(self, code, **variables):
        """Returns what a program has said that runs with Weft; its threads must be Weft's."""
        ended = run(
            sys.executable, "-m", "weftrt", "-c",
            textwrap.dedent(self.CODE) + textwrap.dedent(code)
            + "\nprint('others:', [name for name in names() if not name.startswith('weft-')])\nprint(weftrt.doctor())\n",
            WEFT_WORKERS="2", **variables,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("others: []\n", ended.stdout)
        return ended.stdout

    def test_fftw_computes_the_same_with_any_number_of_threads(self):
        libraries = {name: ctypes.util.find_library(name) for name in ("fftw3", "fftw3_threads")}
        if not all(libraries.values()):
            self.skipTest("FFTW is not installed (apt-get install libfftw3-double3)")
        told = run(sys.executable, "-c", "import ctypes, weftrt; weftrt.install(); ctypes.CDLL("
                   f"{libraries['fftw3_threads']!r}); weftrt.install(); print(weftrt.doctor())").stdout
        if "FFTW 3.3.9 has one" in told:
            self.skipTest("this FFTW is older than 3.3.9, and has no threads callback")
        told = self.ran(
            f"""
            fftw = ctypes.CDLL({libraries["fftw3"]!r}, mode=ctypes.RTLD_GLOBAL)
            threaded = ctypes.CDLL({libraries["fftw3_threads"]!r})
            fftw.fftw_plan_many_dft.restype = ctypes.c_void_p
            fftw.fftw_execute.argtypes = fftw.fftw_destroy_plan.argtypes = [ctypes.c_void_p]
            weftrt.install()  # attaches what ctypes has loaded
            assert threaded.fftw_init_threads()
            n, rows = 1024, 64
            size = (ctypes.c_int * 1)(n)
            planning = threading.Lock()
            def transform(count):
                # Row i is a wave that turns i times: its transform is n at i, and nothing elsewhere.
                given = (ctypes.c_double * (2 * n * rows))()
                got = (ctypes.c_double * (2 * n * rows))()
                with planning:
                    threaded.fftw_plan_with_nthreads(count)
                    plan = fftw.fftw_plan_many_dft(1, size, rows, given, None, 1, n, got, None, 1, n, -1, 64)  # FFTW_ESTIMATE
                assert plan
                for i in range(rows):
                    for j in range(n):
                        angle = 2 * math.pi * (i * j % n) / n
                        given[2 * (i * n + j)], given[2 * (i * n + j) + 1] = math.cos(angle), math.sin(angle)
                fftw.fftw_execute(plan)
                for i in range(rows):
                    for j in range(n):
                        real, imaginary = got[2 * (i * n + j)], got[2 * (i * n + j) + 1]
                        assert abs(real - (n if i == j else 0)) < 1e-9 and abs(imaginary) < 1e-9, (count, i, j)
                with planning:
                    fftw.fftw_destroy_plan(plan)
            counts = (1, 2, 3, 8, 64)
            for count in counts:
                transform(count)
            in_threads(lambda i: transform(counts[i + 2]), 2)
            """
        )
        self.assertRegex(told, r"FFTW +live +.*libfftw3_threads")

    def test_blosc_packs_what_it_unpacks_with_any_number_of_threads(self):
        found = importlib.util.find_spec("blosc2")
        libraries = sorted(pathlib.Path(found.origin).parent.glob("lib*/libblosc2.so*")) if found else []
        if not libraries:
            self.skipTest("no package blosc2 with its library is installed (pip install blosc2)")
        told = self.ran(
            f"""
            blosc = ctypes.CDLL({str(libraries[0])!r})
            blosc.blosc2_init()
            weftrt.install()  # attaches what ctypes has loaded
            data = b"".join(i.to_bytes(8, "little") for i in range(1 << 19))
            def pack(count):
                assert blosc.blosc2_set_nthreads(ctypes.c_int16(count)) > 0
                packed = ctypes.create_string_buffer(len(data) + 64)
                size = blosc.blosc2_compress(5, 1, 8, data, len(data), packed, len(packed))
                assert 0 < size < len(data) // 2, (count, size)
                whole = ctypes.create_string_buffer(len(data))
                assert blosc.blosc2_decompress(packed, size, whole, len(data)) == len(data)
                assert whole.raw == data, count
            for count in (1, 2, 3, 8, 16):
                pack(count)
            in_threads(lambda i: pack(4), 2)
            """
        )
        self.assertRegex(told, r"Blosc2 +live +.*libblosc2\.so")


try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipUnless(numpy, "NumPy is not installed")
class Numpy(unittest.TestCase):
    CODE = """
        import numpy, threading, weftrt
        def multiply():
            for n in (1, 7, 64, 300):
                a = numpy.arange(n * n, dtype=float).reshape(n, n) % 13
                assert numpy.array_equal(a @ a, numpy.einsum("ij,jk->ik", a, a))
        threads = [threading.Thread(target=multiply) for _ in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print("right"); print(weftrt.doctor())
        """
    # Asks each copy itself what it is.
    TRUTH = """
        import ctypes, json, os, re, sys
        from weftrt import _loaded
        for path in _loaded.objects():
            if not re.search(r"openblas[^/]*\\.so", os.path.basename(path)):
                continue
            for before, behind in (("", ""), ("", "64_"), ("scipy_", ""), ("scipy_", "64_")):
                config = getattr(ctypes.CDLL(path), f"{before}openblas_get_config{behind}", None)
                if config:
                    config.restype = ctypes.c_char_p
                    parallel = getattr(ctypes.CDLL(path), f"{before}openblas_get_parallel{behind}")
                    version = [int(n) for n in re.match(r"OpenBLAS (\\d+)\\.(\\d+)\\.(\\d+)", config().decode()).groups()]
                    print("copy", json.dumps([path, version, parallel()]))
        """

    def expected(self, version, parallel):
        """Returns what doctor() has to say of a copy of OpenBLAS."""
        if parallel == 0:
            return "idle", "it has one thread"
        if parallel == 2:
            return "live", "its threads are those of OpenMP"
        if version >= [0, 3, 28]:
            return "live", ""
        return "own threads", "it has no threads callback that Weft can use (OpenBLAS 0.3.28 has one); OPENBLAS_NUM_THREADS limits it"

    def check(self, ended):
        self.assertIn("right", ended.stdout, ended.stderr)
        copies = [json.loads(line[5:]) for line in ended.stdout.splitlines() if line.startswith("copy ")]
        lines = ended.stdout.splitlines()
        told = [line for line in lines if line.startswith("BLAS ")]
        self.assertEqual(len(told), len(copies), ended.stdout)
        for path, version, parallel in copies:
            state, advice = self.expected(version, parallel)
            at = lines.index(f"BLAS    {state:12} {path}")
            self.assertEqual(lines[at + 1].strip() if lines[at + 1].startswith(" ") else "", advice, ended.stdout)
        return [version for _, version, parallel in copies if parallel == 1 and version >= [0, 3, 28]]

    def test_products_are_right_in_many_threads_and_doctor_tells_whose_they_are(self):
        code = "import weftrt; weftrt.install()\n" + textwrap.dedent(self.CODE) + textwrap.dedent(self.TRUTH)
        for ended in (python(code), run(sys.executable, "-m", "weftrt", "-c", code)):
            taken = self.check(ended)
            if "WEFTRT_TEST_INDEX" in os.environ:  # NumPy's own wheel, whose OpenBLAS takes jobs from outside
                self.assertEqual(len(taken), 1, ended.stdout)

    LIMITS = """
        import ctypes, os, weftrt
        weftrt.install()
        import numpy
        from weftrt import _loaded
        copy = ctypes.CDLL(next(path for path in _loaded.objects() if "openblas" in os.path.basename(path)))
        spellings = [a + "openblas_set_num_threads" + z for a in ("", "scipy_") for z in ("", "64_")]
        limit = getattr(copy, next(name for name in spellings if hasattr(copy, name)))
        a = numpy.arange(300 * 300, dtype=float).reshape(300, 300) % 13
        right = numpy.einsum("ij,jk->ik", a, a)
        for jobs in (1, 2, 3, 8, 64, 5):
            limit(jobs)
            for i in range(5):
                assert numpy.array_equal(a @ a, right), jobs
        print("right"); print(weftrt.doctor())
        """

    def test_products_reach_weft_with_any_limit(self):
        told = python("import weftrt; weftrt.install(); import numpy; print(weftrt.doctor())").stdout
        if not re.search(r"BLAS +live .*openblas", told):
            self.skipTest("NumPy has no OpenBLAS with a threads callback; its wheels and Debian 13 do")
        for workers in ("1", "2"):
            ended = python(self.LIMITS, WEFT_WORKERS=workers)
            self.assertIn("right", ended.stdout, ended.stderr)
            self.assertRegex(ended.stdout, r"BLAS +live .*openblas")


if __name__ == "__main__":
    unittest.main()
