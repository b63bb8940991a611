# SPDX-License-Identifier: Apache-2.0
"""Tasks that wait for ever, and what `weft dump` and `weft why` know of the tasks of Python."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import weftrt
from children import CAN

ROOT = pathlib.Path(weftrt.__file__).parent / "_native"
HEAD = """\
import concurrent.futures, threading, time, weftrt
known = {}
def of(name):
    while name not in known:
        time.sleep(0.001)
    return known[name]
"""


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Hangs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = pathlib.Path(folder.name) / "app.py"

    def start(self, code, **settings):
        self.program.write_text(HEAD + textwrap.dedent(code))
        environment = {"WEFT_WORKERS": "2", "WEFT_WATCH_PATIENCE": "50ms", **settings}
        return subprocess.Popen(
            [sys.executable, str(self.program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            env={**os.environ, **environment},
        )

    def hangs(self, code, **settings):
        """Runs a program that is to be aborted; returns what it says."""
        with self.start(code, WEFT_WATCH_HANG="abort", **settings) as process:
            _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -6, said)
        return said

    def line_of(self, text):
        """Returns where the text is in the program: FILE:LINE."""
        lines = self.program.read_text().splitlines()
        return f"{self.program}:{1 + [text in line for line in lines].index(True)}"

    def test_tasks_that_wait_for_each_other_are_named_with_their_lines(self):
        said = self.hangs(
            """\
            def left():
                return of("right").result()
            def right():
                return of("left").result()
            known["left"] = weftrt.spawn(left)
            known["right"] = weftrt.spawn(right, label="the other")
            weftrt.taskwait()
            """
        )
        self.assertIn("these wait for each other:", said)
        self.assertIn("task 'left' waits for the end of task 'the other'", said)
        self.assertIn("task 'the other' waits for the end of task 'left'", said)
        self.assertIn("thread 'main' waits for its child task 'left'", said)
        self.assertIn(f"task 'the other', written at {self.line_of('def right')}", said)
        self.assertIn(f"in right at {self.line_of('of(' + chr(34) + 'left')}", said)

    def test_a_report_waits_until_each_of_them_can_say_where_it_waits(self):
        said = self.hangs(
            """\
            def left():
                return of("right").result()
            def right():
                other = of("left")
                time.sleep(0.8)  # the patience of the other one is over first
                return other.result()
            known["left"] = weftrt.spawn(left)
            known["right"] = weftrt.spawn(right)
            weftrt.taskwait()
            """,
            WEFT_WATCH_PATIENCE="1s",
        )
        self.assertIn(f"in right at {self.line_of('other.result()')}", said)

    def test_tasks_of_interrupted_groups_are_those_of_what_encloses_them(self):
        for outer, waits in (("contextlib.nullcontext()", "waits for its child"), ("weftrt.group()", "waits in its group for")):
            said = self.hangs(
                f"""\
                import contextlib, os, signal
                begun, go = threading.Semaphore(0), threading.Event()
                def left():
                    begun.release()
                    go.wait()
                    return of("right").result()
                def right():
                    begun.release()
                    return of("left").result()
                def send():
                    time.sleep(0.1)  # the main thread waits meanwhile
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.2)
                    go.set()
                with {outer}:
                    with contextlib.suppress(KeyboardInterrupt), weftrt.group():
                        known["left"] = weftrt.spawn(left)
                        known["right"] = weftrt.spawn(right)
                        begun.acquire(), begun.acquire()
                        threading.Thread(target=send).start()
                    if "{outer}" != "weftrt.group()":
                        weftrt.taskwait()
                """
            )
            self.assertIn("task 'left' waits for the end of task 'right'", said)
            self.assertIn(f"thread 'main' {waits} task 'left'", said)

    def test_threads_that_have_ended_are_left_out(self):
        said = self.hangs(
            """\
            threads = [threading.Thread(target=lambda: weftrt.spawn(int).result()) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            def left():
                return of("right").result()
            def right():
                return of("left").result()
            known["left"] = weftrt.spawn(left)
            known["right"] = weftrt.spawn(right)
            weftrt.taskwait()
            """,
            PYTHONMALLOC="debug",
        )
        self.assertIn("these wait for each other:", said)

    def test_circles_go_through_groups_children_and_data(self):
        said = self.hangs(
            """\
            data = bytearray(8)
            def parent():
                with weftrt.group():
                    weftrt.spawn(member)
            def member():
                weftrt.spawn(child)
            def child():
                of("behind").result()
            def behind():
                pass
            weftrt.spawn(parent, updates=data)
            known["behind"] = weftrt.spawn(behind, updates=memoryview(data)[2:4])
            weftrt.taskwait()
            """
        )
        for line in (
            "task 'behind' waits, with a region that both touch, for task 'parent'",
            "task 'parent' waits in its group for task 'member'",
            "task 'member' waits for its child task 'child'",
            "task 'child' waits for the end of task 'behind'",
        ):
            self.assertIn(line, said)
        self.assertIn("these wait for each other:", said)

    def test_a_future_that_nothing_completes_keeps_tasks_from_their_places(self):
        said = self.hangs(
            """\
            def consumer():
                concurrent.futures.Future().result()
            weftrt.spawn(consumer)
            weftrt.spawn(consumer)
            of_main = weftrt.spawn(print, "never")
            of_main.result()
            """
        )
        self.assertIn("no thread is left to do what they wait for", said)
        self.assertIn("task 'consumer' sleeps in the kernel, and can only be woken by a thread", said)
        self.assertIn("task 'print' is ready, and waits for the place of task 'consumer'", said)
        self.assertIn("thread 'main' waits for the end of task 'print'", said)
        self.assertIn(f"in consumer at {self.line_of('def consumer')}", said)
        self.assertIn(f"in <module> at {self.line_of('of_main.result')}", said)

    def test_the_end_of_a_program_names_what_it_waits_for(self):
        said = self.hangs(
            """\
            def of_thread():
                gate = threading.Lock()
                gate.acquire()
                gate.acquire()
            other = threading.Thread(target=weftrt.spawn, args=(of_thread,))
            other.start()
            other.join()
            """
        )
        self.assertIn("thread 'main' waits at the end of the program for task 'of_thread'", said)

    def test_what_goes_on_is_not_reported(self):
        code = """\
            import multiprocessing
            def waits_for_a_while():
                time.sleep(0.4)
            def has_a_deadline():
                try:
                    known["slow"].result(timeout=0.4)
                except TimeoutError:
                    pass
            def waits_for_another_process():
                with weftrt.blocking():
                    shared.acquire()
            known["slow"] = weftrt.spawn(waits_for_a_while)
            weftrt.taskwait()
            known["slow"] = weftrt.spawn(waits_for_a_while)
            weftrt.spawn(has_a_deadline)
            weftrt.taskwait()
            shared = multiprocessing.Semaphore(0)
            threading.Timer(0.4, shared.release).start()
            weftrt.spawn(waits_for_another_process)
            weftrt.taskwait()
            lock = threading.Lock()
            lock.acquire()
            threading.Timer(0.4, lock.release).start()
            weftrt.spawn(lock.acquire)
            weftrt.taskwait()
            print("ends")
            """
        with self.start(code, WEFT_WATCH_HANG="abort") as process:
            out, said = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (0, "ends\n"), said)

    def test_threads_that_hand_work_to_each_other_are_not_reported(self):
        code = """\
            rounds = 400
            turns = [[threading.Event() for _ in range(rounds + 1)] for _ in range(2)]
            def plays(side, other):
                for turn in range(rounds):
                    turns[side][turn].wait()
                    weftrt.spawn(turns[other][turn + side].set).result()
            threads = [threading.Thread(target=plays, args=each) for each in ((0, 1), (1, 0))]
            turns[0][0].set()
            for thread in threads:
                thread.start()
            with weftrt.blocking():
                for thread in threads:
                    thread.join()
            print("ends")
            """
        settings = {"WEFT_WATCH_HANG": "abort", "WEFT_WATCH_PATIENCE": "1ms"}
        with self.start(code, **settings) as process:
            out, said = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (0, "ends\n"), said)

    def test_a_report_lets_an_interrupt_end_the_program(self):
        code = """\
            def left():
                return of("right").result()
            def right():
                return of("left").result()
            known["left"] = weftrt.spawn(left)
            known["right"] = weftrt.spawn(right)
            try:
                weftrt.taskwait()
            except KeyboardInterrupt:
                import os
                print("interrupted", flush=True)
                os._exit(0)
            """
        with self.start(code, WEFT_WATCH_HANG="report") as process:
            said = ""
            for line in process.stderr:  # other warnings may come first
                said += line
                if "these wait for each other" in line:
                    break
            self.assertIn("these wait for each other", said)
            process.send_signal(2)
            out, rest = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (0, "interrupted\n"), said + rest)

    def ask(self, process, *arguments):
        command, *rest = arguments
        return subprocess.run(
            [str(ROOT / "bin" / "weft"), command, str(process.pid), *rest],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=60,
        ).stdout

    def test_dump_and_why_know_what_runs_is_ready_and_waits(self):
        code = """\
            data = bytearray(8)
            go_on = threading.Event()
            def runs(data):
                while not go_on.is_set():
                    time.sleep(0.001)
            def waits():
                go_on.wait()
                of("last").result()
            def free():
                pass
            weftrt.spawn(runs, data, updates=data)
            weftrt.spawn(waits)
            weftrt.spawn(free, label="behind", reads=data)
            known["last"] = weftrt.spawn(free)
            print("begun", flush=True)
            input()
            go_on.set()
            weftrt.taskwait()
            """
        # With main at its input no worker stops; the tasks of Python are listed all the same.
        with self.start(code, WEFT_WATCH_HANG="report") as process:
            self.assertEqual(process.stdout.readline(), "begun\n")
            for _ in range(60):
                seen = self.ask(process, "dump")
                if "task 'runs' runs" in seen and "task 'waits' sleeps" in seen:
                    break
                time.sleep(0.05)
            self.assertIn(f"task 'runs' runs, written at {self.line_of('def runs')}", seen)
            self.assertIn("task 'waits' sleeps in the kernel, and can only be woken by", seen)
            self.assertIn(f"in waits at {self.line_of('def waits')}", seen)
            self.assertIn(f"task 'free' is ready, written at {self.line_of('def free')}", seen)
            self.assertIn("task 'behind' waits for its data", seen)
            why = self.ask(process, "why", "behind")
            self.assertIn(f"task 'behind', written at {self.line_of('def free')}", why)
            self.assertIn("waits for its data", why)
            process.communicate("\n", timeout=120)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
