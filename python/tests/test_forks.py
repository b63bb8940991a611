# SPDX-License-Identifier: Apache-2.0
"""Tasks in the child of a fork."""

import unittest

import weftrt
from children import CAN, python


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Forks(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: weftrt.taskwait())

    def test_a_child_of_fork_has_tasks_of_its_own(self):
        ended = python(
            """
            import os, threading, weftrt
            a = bytearray(4)
            def count(cell): cell[0] += 1
            def use():
                for _ in range(100): weftrt.spawn(count, a, updates=a)
                weftrt.taskwait()
                assert a[0] == 100, a[0]
                a[0] = 0
            use()
            go = threading.Event()
            running = [weftrt.spawn(go.wait) for _ in range(4)]
            child = os.fork()
            if child == 0:
                try:
                    running[0].result()
                    os._exit(5)
                except RuntimeError as error:
                    assert "parent process" in str(error)
                use(); use()
                assert weftrt.spawn(lambda: 3).result() == 3
                os._exit(0)
            go.set()
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            use()
            def fork_in_body():
                child = os.fork()
                if child == 0:
                    weftrt.spawn(lambda: 1); weftrt.taskwait(); os._exit(0)
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(weftrt.spawn(fork_in_body).result())
            """,
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("0\n0\n", "", 0))

    def test_a_child_of_fork_leaves_the_groups_in_which_it_began(self):
        ended = python(
            """
            import os, threading, weftrt
            go = threading.Event()
            with weftrt.group():
                weftrt.spawn(go.wait, blocking=True)
                with weftrt.group():
                    weftrt.spawn(go.wait, blocking=True)
                    child = os.fork()
                    if child == 0:
                        assert weftrt.spawn(int, 7).result() == 7
                    else:
                        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
                        go.set()
            if child == 0:
                weftrt.spawn(print, "child", flush=True)
                weftrt.taskwait()
            """,
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("child\n0\n", "", 0))

    def test_a_child_of_fork_forgets_what_the_bodies_below_have_begun(self):
        ended = python(
            """
            import os, threading, weftrt
            a, go = bytearray(1), threading.Event()
            def status(child):
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            def inner():
                with weftrt.blocking():
                    return os.fork()
            def outer():
                weftrt.spawn(go.wait, updates=a, blocking=True)
                with weftrt.group():
                    child = weftrt.spawn(inner).result()
                    if child:
                        print(status(child), flush=True)
                        go.set()
                if not child:
                    weftrt.taskwait()
                    def order(number): numbers.append(number)
                    numbers = []
                    for number in range(20): weftrt.spawn(order, number, updates=a)
                    weftrt.taskwait()
                    os._exit(0 if numbers == list(range(20)) else 1)
            weftrt.spawn(outer, updates=bytearray(2)).result()
            """,
            WEFT_WORKERS="1",
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("0\n", "", 0))

    def test_a_child_of_fork_that_comes_from_a_body_has_all_places(self):
        ended = python(
            """
            import os, threading, weftrt
            def body():
                with weftrt.blocking():
                    child = os.fork()
                if child == 0:
                    begun = threading.Event()
                    weftrt.spawn(begun.set)
                    os._exit(0 if begun.wait(5) else 1)
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(weftrt.spawn(body).result())
            """,
            WEFT_WORKERS="1",
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("0\n", "", 0))

    def test_a_child_of_fork_reports_no_exception_of_the_parents_tasks(self):
        ended = python(
            """
            import gc, os, threading, weftrt
            begun, go, status = threading.Event(), threading.Event(), []
            def create():  # has a failure that no wait has seen
                a = bytearray(1)
                weftrt.spawn(int, "x", updates=a)
                weftrt.spawn(begun.set, updates=a)
                go.wait()
            thread = threading.Thread(target=create)
            thread.start()
            begun.wait()
            child = os.fork()
            if child == 0:
                gc.collect()
                os._exit(0)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            go.set()
            thread.join()
            del thread
            """,
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.returncode), ("0\n", 0))
        self.assertEqual(ended.stderr.count("ValueError"), 1, ended.stderr)

    def test_a_child_of_fork_can_be_told_of_the_end_of_its_own_tasks_alone(self):
        ended = python(
            """
            import asyncio, os, threading, weftrt
            go, called = threading.Event(), []
            running = weftrt.spawn(go.wait)
            child = os.fork()
            if child == 0:
                try:
                    running.add_done_callback(called.append)
                    os._exit(1)
                except RuntimeError as error:
                    assert "parent process" in str(error)
                async def main():
                    for _ in range(2):
                        try:
                            await running
                            os._exit(2)
                        except RuntimeError as error:
                            assert "parent process" in str(error)
                    return await weftrt.spawn(int, 7)
                os._exit(0 if asyncio.run(main()) == 7 else 3)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            go.set()
            """,
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("0\n", "", 0))

    def test_what_a_body_that_has_forked_leaves_in_the_child_is_waited_for(self):
        ended = python(
            """
            import contextlib, os, sys, threading, time, weftrt
            from weftrt import _spawn
            a = bytearray(1)
            def inner(order):
                child = os.fork()
                if child == 0:
                    weftrt.spawn(time.sleep, 0.1)
                    weftrt.spawn(lambda: (time.sleep(0.2), order.append("left")), updates=a)
                    weftrt.spawn(lambda: (time.sleep(0.1), int("x")), label="fails")
                return child
            def use(block):
                order = []
                try:
                    with block():
                        child = weftrt.spawn(inner, order).result()
                        if child:
                            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                        if block is contextlib.nullcontext:
                            weftrt.taskwait()
                except ValueError:
                    order.append("failed")
                for number in range(3):  # lists and counts are whole
                    weftrt.spawn(lambda number: (time.sleep(0.01), order.append(number)), number, updates=a)
                weftrt.taskwait()
                def spawn_slow():
                    weftrt.spawn(lambda: (time.sleep(0.5), order.append("slow")))
                thread = threading.Thread(target=spawn_slow)
                thread.start()
                thread.join()
                _spawn._tasks.finish()  # as at the end of a program
                right = order == ["left", "failed", 0, 1, 2, "slow"]
                if not right:
                    print(order, file=sys.stderr, flush=True)
                os._exit(0 if right else 1)
            for block in contextlib.nullcontext, lambda: weftrt.group(cancel=False):
                print(weftrt.spawn(use, block).result(), flush=True)
            """,
            WEFT_WORKERS="1",
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("0\n0\n", "", 0))

    def test_what_the_last_body_of_a_child_leaves_belongs_to_its_thread(self):
        ended = python(
            """
            import os, sys, threading, time, weftrt
            read, write = os.pipe()
            told = threading.Semaphore(0)
            def tell(unraisable):
                os.write(write, f"{unraisable.exc_value!r} ".encode())
                told.release()
            sys.unraisablehook = tell
            def left():
                time.sleep(0.1)
                os.write(write, b"left ")
                raise KeyError("left")
            def body():
                begun.set()
                go.wait()
                child = os.fork()
                if child == 0:
                    weftrt.spawn(left)
                    def end():
                        told.acquire(timeout=20)
                        os._exit(0)
                    threading.Thread(target=end).start()
                    raise ValueError("body")
                return child
            begun, go = threading.Event(), threading.Event()
            task = weftrt.spawn(body)
            begun.wait()  # a runner has it
            go.set()
            os.waitpid(task.result(), 0)
            os.close(write)
            said = b"".join(iter(lambda: os.read(read, 1000), b""))
            print(said.decode())
            """,
            WEFT_WORKERS="1",
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("left ValueError('body') \n", "", 0))

    def test_a_body_that_fails_in_the_child_cancels_no_group_of_the_host(self):
        ended = python(
            """
            import os, weftrt
            child = None
            def body():
                global child
                child = os.fork()
                if child == 0:
                    raise ValueError("body")
            def outer():  # has the only place, so it hosts the body
                ran = []
                running = weftrt.spawn(body)
                with weftrt.group():
                    try:
                        running.result()
                    except ValueError:
                        pass
                    weftrt.spawn(ran.append, 1)
                if child == 0:
                    print(ran, flush=True)
                    os._exit(0)
                os.waitpid(child, 0)
                print(ran)
            weftrt.spawn(outer).result()
            """,
            WEFT_WORKERS="1",
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("[1]\n[1]\n", "", 0))

    def test_a_wait_below_a_handler_that_forks_ends_in_the_child(self):
        ended = python(
            """
            import os, signal, sys, threading, time, weftrt
            def use(wait):
                begun, go = threading.Event(), threading.Event()
                child = None
                def fork(*_):
                    nonlocal child
                    child = os.fork()
                    if child:
                        go.set()
                signal.signal(signal.SIGALRM, fork)
                running = weftrt.spawn(lambda: (begun.set(), go.wait()))
                begun.wait()
                try:
                    wait(running, lambda: signal.setitimer(signal.ITIMER_REAL, 0.1))
                    said = "returns"
                except RuntimeError as error:
                    said = "of the parent" if "parent process" in str(error) else error
                if child == 0:
                    numbers = []
                    for number in range(3):
                        weftrt.spawn(numbers.append, number, updates=a)
                    weftrt.taskwait()
                    assert numbers == [0, 1, 2]
                    assert weftrt.spawn(lambda: weftrt.spawn(int, 7).result()).result() == 7
                    print(said, flush=True)
                    os._exit(0)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said, flush=True)
            def wait_in_group(running, start):
                with weftrt.group():
                    weftrt.spawn(running.result)
                    start()
            a = bytearray(1)
            for wait in (lambda running, start: (start(), weftrt.taskwait()), wait_in_group,
                         lambda running, start: (start(), running.result()),
                         lambda running, start: (start(), running.result(100))):
                use(wait)
            """,
            WEFT_WORKERS="1",
            WEFT_WATCH_HANG="off",  # the alarm ends the wait
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual(ended.stderr, "")
        self.assertEqual(
            ended.stdout,
            "returns\n0 returns\n" * 2 + "of the parent\n0 returns\n" * 2,
        )

    def test_a_child_of_a_handler_runs_no_task_that_the_parent_was_about_to_run(self):
        ended = python(
            r"""
            import concurrent.futures, os, weftrt
            from weftrt import _spawn
            child = None
            def start():
                global child
                if may_fork and child is None:
                    child = os.fork()  # of a handler, while Thread.start() waits
                raise RuntimeError("can't start new thread")
            _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
            may_fork, order = False, []
            tasks = [weftrt.spawn(order.append, number) for number in range(2)]
            may_fork = True
            try:
                tasks[0].result()
            except RuntimeError as error:
                assert child == 0 and "parent process" in str(error), error
            weftrt.taskwait()
            print(f"{order}\n", end="", flush=True)
            weftrt.spawn(order.append, 2).result()
            print(f"{order}\n", end="", flush=True)
            if child:
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """,
            WEFT_WORKERS="2",
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual(ended.stderr, "")
        self.assertEqual(sorted(ended.stdout.splitlines()), ["0", "[0, 1, 2]", "[0, 1]", "[2]", "[]"])

    def test_a_child_of_a_handler_below_a_body_has_all_places(self):
        ended = python(
            """
            import concurrent.futures, os, signal, threading, weftrt
            from weftrt import _spawn
            may_start, child = False, None
            def start():
                if not may_start:
                    raise RuntimeError("can't start new thread")
                threading.Thread(target=_spawn._tasks.run_forever, daemon=True).start()
            _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
            begun, go = threading.Event(), threading.Event()
            def fork(*_):
                global child
                child = os.fork()
                if child:
                    go.set()
            signal.signal(signal.SIGALRM, fork)
            def body():  # on the main thread, which has the place
                global may_start
                may_start = True
                weftrt.spawn(lambda: (begun.set(), go.wait()), blocking=True)
                begun.wait()
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                weftrt.taskwait()
                if child == 0:
                    runs = threading.Event()
                    weftrt.spawn(runs.set)
                    os._exit(0 if runs.wait(5) else 1)
                return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(weftrt.spawn(body).result())
            """,
            WEFT_WORKERS="1",
            WEFT_WATCH_HANG="off",  # the alarm ends the wait
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("0\n", "", 0))
