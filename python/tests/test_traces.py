# SPDX-License-Identifier: Apache-2.0
"""What traces, reports and counters know of the tasks of Python."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import weftrt
from weftrt import _native_files

ROOT = pathlib.Path(weftrt.__file__).parent / "_native"
CAN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()

PROGRAM = textwrap.dedent(
    """\
    import functools, threading, weftrt

    def leaf(*data):
        return 1

    def outer():
        return sum(weftrt.spawn(leaf).result() for _ in range(3))

    def joins():
        weftrt.spawn(leaf, data, updates=data)
        weftrt.taskwait()

    data = bytearray(8)
    for _ in range(10):
        weftrt.spawn(leaf, data, updates=data)
        weftrt.spawn(leaf, data, reads=memoryview(data)[2:4])
        weftrt.spawn(outer)
        weftrt.spawn(joins)
    weftrt.taskwait()
    with weftrt.group() as g:
        weftrt.spawn(functools.partial(leaf, 1))
        weftrt.spawn(leaf, label="labelled")
        weftrt.spawn(max, 1, 2)
    with weftrt.group() as g:
        g.cancel()
        weftrt.spawn(leaf, label="cancelled")
    other = threading.Thread(target=lambda: weftrt.spawn(leaf, label="of a thread").result())
    other.start()
    other.join()
    with weftrt.Executor(max_workers=2) as pool:
        pool.submit(leaf).result()
    """
)
TASKS = {"leaf": 61, "outer": 10, "joins": 10, "labelled": 1, "max": 1, "cancelled": 1, "of a thread": 1, "Executor": 1}


def weft(*arguments):
    return subprocess.run(
        [str(ROOT / "bin" / "weft"), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=120,
    )


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Traces(unittest.TestCase):
    def trace(self, level, **variables):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program, trace = (pathlib.Path(folder.name) / name for name in ("program.py", "trace"))
        program.write_text(PROGRAM)
        subprocess.run(
            [sys.executable, str(program)],
            check=True,
            timeout=120,
            env={**os.environ, "WEFT_TRACE_LEVEL": level, "WEFT_TRACE_DIR": str(trace), **variables},
        )
        return trace

    def records(self, trace):
        file = trace.parent / "records.csv"
        self.assertEqual(weft("trace", "export", "--format", "csv", "--output", file, trace).returncode, 0)
        with open(file, newline="") as lines:
            return list(csv.DictReader(lines))

    def test_each_body_is_a_run_of_a_task_with_its_label(self):
        trace = self.trace("graph")
        checked = weft("trace", "check", trace)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        rows = [line.rsplit(None, 3) for line in checked.stdout.splitlines()]
        self.assertEqual({row[0]: int(row[1]) for row in rows if row[0] in TASKS}, TASKS)
        self.assertIn(f"{sum(TASKS.values())} tasks created = {sum(TASKS.values())} executed", checked.stdout)

    def test_other_levels_are_sound(self):
        for level in ("task", "switch"):
            checked = weft("trace", "check", self.trace(level))
            self.assertEqual(checked.returncode, 0, checked.stdout)
            self.assertIn(f"{sum(TASKS.values())} executed", checked.stdout.replace(" tasks executed", " executed"))

    def test_one_worker_is_enough(self):
        checked = weft("trace", "check", self.trace("graph", WEFT_WORKERS="1"))
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_the_report_has_places_and_tracks(self):
        trace = self.trace("graph")
        made = weft("report", "--output", trace.parent / "page.html", trace)
        self.assertEqual(made.returncode, 0, made.stdout)
        page = (trace.parent / "page.html").read_text()
        lines = PROGRAM.splitlines()
        for text in ("weftrt.spawn(outer)", "weftrt.spawn(joins)", 'label="labelled"'):
            line = 1 + next(i for i, found in enumerate(lines) if text in found)
            self.assertIn(f"program.py:{line}", page)
        self.assertRegex(page, r"thread \d+")
        self.assertNotIn("weftrt/_spawn.py", page)

    def test_records_tell_what_tasks_name_and_that_bodies_wait(self):
        trace = self.trace("graph")
        records = self.records(trace)
        events = [record["event"] for record in records]
        # 30 tasks name data: of the main thread and of the bodies that join
        self.assertEqual(events.count("access"), 30)
        self.assertGreaterEqual(events.count("waited"), 10)
        self.assertEqual(events.count("suspend"), events.count("resume"))


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Counters(unittest.TestCase):
    def start(self, code):
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", textwrap.dedent(code)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            universal_newlines=True,
            env={**os.environ, "WEFT_COUNTERS_TIME": "exact"},
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        process.stdout.readline()
        return process

    def test_tasks_are_counted_from_outside(self):
        process = self.start(
            """
            import weftrt
            data = bytearray(4)
            for _ in range(100):
                weftrt.spawn(len, data, updates=data)
                weftrt.spawn(len, data)
            weftrt.taskwait()
            print("done")
            input()
            """
        )
        for name in ("spawned", "cumulative"):
            got = weft("get", process.pid, f"/threads/count/{name}")
            self.assertRegex(got.stdout, rf"/count/{name} +200\n")

    def test_bodies_beyond_the_slots_are_counted_as_well(self):
        # Weft lends some 500 slots. Held at once, more bodies than that have to wait for each other.
        program = """if 1:
            import threading, weftrt
            bodies = 700
            gate = threading.Barrier(bodies)
            for _ in range(bodies):
                weftrt.spawn(gate.wait, blocking=True)
            weftrt.taskwait()
            """
        ended = subprocess.run(
            [sys.executable, "-c", program],
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=120,
            env={**os.environ, "WEFT_STATS": "true", "WEFT_WORKERS": "2"},
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("stats: 700 tasks spawned, 700 run by 2 workers", ended.stderr)

    def test_labels_do_not_depend_on_what_was_asked_before(self):
        program = """if 1:
            import functools, weftrt
            def f(): pass
            class Callable:
                def __call__(self): pass
            class Nameless:
                __name__ = 7
                def __init__(self): self.__qualname__ = 7
                def __call__(self): pass
            first = weftrt.spawn(f)
            labels = {weftrt.spawn(f).label for _ in range(5000)} | {first.label}
            print(labels, weftrt.spawn(functools.partial(max, 1), 2).label, weftrt.spawn(Callable()).label,
                  weftrt.spawn(Nameless()).label, weftrt.spawn(f, label="own").label)
            """
        for level in ("", "graph"):
            with tempfile.TemporaryDirectory() as folder:
                ended = subprocess.run(
                    [sys.executable, "-c", program],
                    stdout=subprocess.PIPE,
                    universal_newlines=True,
                    timeout=120,
                    cwd=folder,
                    env={**os.environ, **({"WEFT_TRACE_LEVEL": level} if level else {})},
                )
            self.assertEqual(ended.stdout, "{'f'} max Callable Nameless own\n")

    def test_top_shows_the_types_of_tasks(self):
        process = self.start(
            """
            import weftrt
            def spin():
                return sum(range(100))
            weftrt.workers()
            print("begins")
            while True:
                for _ in range(100):
                    weftrt.spawn(spin)
                weftrt.taskwait()
            """
        )
        types = []
        while "spin" not in types and process.poll() is None:
            shown = weft("top", "--once", "--json", "--every", "200ms", process.pid)
            self.assertEqual(shown.returncode, 0, shown.stdout)
            types = [row["name"] for row in json.loads(shown.stdout)["types"]]
        self.assertIn("spin", types)


if __name__ == "__main__":
    unittest.main()
