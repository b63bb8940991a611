# SPDX-License-Identifier: Apache-2.0
"""Tasks in Python: results, exceptions, waits, groups, memory, processes."""

import concurrent.futures
import contextlib
import gc
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import weftrt
from children import CAN, python
from weftrt import _native_files

try:
    import numpy
except ImportError:
    numpy = None

@unittest.skipIf(CAN, "this Python has tasks")
class Without(unittest.TestCase):
    def test_names_what_is_missing(self):
        missing = "3.11" if sys.version_info < (3, 11) else "free-threaded" if _native_files.IS_FREE_THREADED else "python3-dev"
        with self.assertRaisesRegex(ImportError, missing):
            weftrt.spawn(print)
        weftrt.install()


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Tasks(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: weftrt.taskwait())

    def test_arguments_and_keywords_arrive(self):
        def f(*args, **keywords):
            return args, keywords

        task = weftrt.spawn(f, 1, 2, key=3, label="name")
        self.assertEqual(task.result(), ((1, 2), {"key": 3}))
        self.assertEqual(task.label, "name")
        self.assertIn("'name': done", repr(task))

    # ---- results, exceptions ----

    def test_the_first_exception_is_raised_with_notes_of_the_others(self):
        def fail(number, seconds):
            time.sleep(seconds)
            raise ValueError(number)

        a = bytearray(1)
        for number in range(3):  # in turn, by their data
            weftrt.spawn(fail, number, 0.001, updates=a, label=f"number {number}")
        with self.assertRaises(ValueError) as caught:
            weftrt.taskwait()
        self.assertEqual(caught.exception.args, (0,))
        self.assertEqual(
            caught.exception.__notes__,
            ["task 'number 1' also raised: ValueError(1)", "task 'number 2' also raised: ValueError(2)"],
        )
        weftrt.taskwait()  # raised once

    def test_an_exception_that_was_seen_is_not_raised_again(self):
        task = weftrt.spawn(int, "x")
        self.assertIsInstance(task.exception(), ValueError)
        with self.assertRaises(ValueError):
            task.result()
        weftrt.taskwait()

    def test_of_very_many_exceptions_some_are_named_and_all_are_counted(self):
        for _ in range(500):
            weftrt.spawn(int, "x")
        with self.assertRaises(ValueError) as caught:
            weftrt.taskwait()
        self.assertEqual(len(caught.exception.__notes__), 64)
        self.assertEqual(caught.exception.__notes__[-1], "436 more tasks have raised")

    def test_an_exception_below_a_task_that_did_not_wait_comes_to_the_next_wait(self):
        weftrt.spawn(lambda: weftrt.spawn(lambda: weftrt.spawn(int, "x")))
        with self.assertRaises(ValueError):
            weftrt.taskwait()

    def test_a_traceback_leads_to_the_body(self):
        def inner():
            raise KeyError("here")

        weftrt.spawn(inner)
        try:
            weftrt.taskwait()
        except KeyError as error:
            traceback = error.__traceback__
        names = []
        while traceback:
            names.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        self.assertIn("inner", names)

    def test_results_wait_and_time_out(self):
        go = threading.Event()
        task = weftrt.spawn(go.wait)
        with self.assertRaises(TimeoutError):
            task.result(timeout=0.01)
        with self.assertRaises(TimeoutError):
            task.exception(0)
        self.assertFalse(task.done())
        go.set()
        self.assertIs(task.result(30), True)
        self.assertTrue(task.done())
        self.assertIsNone(task.exception())

    def test_a_task_that_has_not_begun_can_be_cancelled(self):
        a = bytearray(1)
        begun, go = threading.Event(), threading.Event()
        first = weftrt.spawn(lambda: (begun.set(), go.wait()), updates=a)
        held = weftrt.spawn(self.fail, updates=a)
        after = weftrt.spawn(lambda: 5, reads=a)
        self.assertTrue(held.cancel())
        begun.wait()
        self.assertFalse(first.cancel())
        go.set()
        self.assertEqual(after.result(), 5)
        with self.assertRaises(concurrent.futures.CancelledError):
            held.result()
        self.assertTrue(held.cancelled())
        self.assertFalse(after.cancel())

    def test_callbacks_are_called_once_whenever_they_come(self):
        calls = []
        go = threading.Event()
        task = weftrt.spawn(go.wait)
        task.add_done_callback(calls.append)
        go.set()
        weftrt.taskwait()
        task.add_done_callback(calls.append)
        self.assertEqual(calls, [task, task])

    def test_a_task_that_waits_for_itself_is_told_so(self):
        holder = []
        go = threading.Event()

        def body():
            go.wait()
            return holder[0].result()

        holder.append(weftrt.spawn(body))
        go.set()
        with self.assertRaisesRegex(RuntimeError, "its own result"):
            holder[0].result()

    def test_coroutine_functions_are_refused(self):
        async def body():
            pass

        with self.assertRaisesRegex(TypeError, "asyncio"):
            weftrt.spawn(body).result()
        with self.assertRaisesRegex(TypeError, "decorate a plain one"):
            weftrt.task(body)

    def test_very_many_callbacks_are_called_in_their_order(self):
        calls, go = [], threading.Event()
        task = weftrt.spawn(go.wait, blocking=True)
        for number in range(50_000):
            task.add_done_callback(lambda _, number=number: calls.append(number))
        called = threading.Event()
        task.add_done_callback(lambda _: called.set())
        go.set()
        called.wait()
        self.assertEqual(calls, list(range(50_000)))

    # ---- waits in bodies ----

    def test_bodies_keep_their_thread_state_over_thousands_of_waits(self):
        def body(depth):
            before = (threading.get_ident(), threading.current_thread())
            local = threading.local()
            local.depth = depth
            children = [weftrt.spawn(body, depth - 1) for _ in range(2 if depth % 4 == 0 else 1) if depth]
            weftrt.taskwait()
            with threading.RLock():
                self.assertEqual((threading.get_ident(), threading.current_thread()), before)
            self.assertEqual(local.depth, depth)
            return 1 + sum(child.result() for child in children)

        self.assertGreater(weftrt.spawn(body, 40).result(), 2000)

    def test_waits_nest_ten_thousand_deep(self):
        def body(depth):
            if depth == 0:
                return 0
            task = weftrt.spawn(body, depth - 1)
            if depth % 2:
                weftrt.taskwait()
            return task.result() + 1

        self.assertEqual(weftrt.spawn(body, 10000).result(), 10000)

    def test_ten_thousand_waits_in_many_bodies_with_data(self):
        cells = [bytearray(8) for _ in range(5)]

        def child(cell):
            value = int.from_bytes(cell, "little") + 1
            time.sleep(0)
            cell[:] = value.to_bytes(8, "little")

        def parent(cell):
            for _ in range(10):
                weftrt.spawn(child, cell, updates=cell)
                weftrt.taskwait()

        for i in range(1000):
            weftrt.spawn(parent, cells[i % 5], updates=cells[i % 5])
        weftrt.taskwait()
        self.assertEqual([int.from_bytes(cell, "little") for cell in cells], [2000] * 5)

    def test_bodies_that_all_wait_for_others_go_on(self):
        gates = [threading.Event() for _ in range(3 * weftrt.workers())]
        tasks = []
        for gate in gates:  # each waits outside of Weft until all have begun

            def body(gate=gate):
                gate.set()
                with weftrt.blocking():
                    return all(other.wait(30) for other in gates)

            tasks.append(weftrt.spawn(body))
        self.assertEqual([task.result() for task in tasks], [True] * len(gates))
        barrier = threading.Barrier(3 * weftrt.workers())
        for _ in gates:
            weftrt.spawn(barrier.wait, 30, blocking=True)
        weftrt.taskwait()

    def test_a_wait_that_runs_a_blocking_body_keeps_no_slot(self):
        ended = python(
            """
            import sys, threading, time, weftrt
            sys.setswitchinterval(10)  # so that the main thread comes first
            outcome = []
            def both():  # two tasks that need both slots
                gate = threading.Barrier(2)
                for task in [weftrt.spawn(gate.wait, 30) for _ in range(2)]:
                    task.result()
            def body():
                other = threading.Thread(target=both, daemon=True)
                other.start()
                other.join(20)
                outcome.append((threading.current_thread() is threading.main_thread(), not other.is_alive()))
            def hosted(wait):
                for _ in range(200):
                    both()
                    time.sleep(0.002)  # two runners are idle, and need the lock to come
                    wait(weftrt.spawn(body, blocking=True))
                    if not outcome[-1][1]:
                        return "a slot is missing"
                    if outcome[-1][0]:
                        return "ok"
                return "no wait has run a body"
            print(hosted(lambda task: task.result()), hosted(lambda task: weftrt.taskwait()), flush=True)
            """,
            WEFT_WORKERS="2",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("ok ok\n", ""))

    def test_no_more_bodies_than_workers_run_at_once(self):
        lock, now, most = threading.Lock(), 0, 0

        def body(depth):
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.001)
            with lock:
                now -= 1
            if depth:
                weftrt.spawn(body, depth - 1)
                weftrt.taskwait()

        for _ in range(40):
            weftrt.spawn(body, 2)
        weftrt.taskwait()
        self.assertLessEqual(most, weftrt.workers())

    def test_threads_of_the_program_wait_for_their_own_tasks(self):
        results = []

        def thread(number):
            tasks = [weftrt.spawn(lambda i=i: i * number) for i in range(50)]
            weftrt.taskwait()
            results.append(sum(task.result() for task in tasks))

        threads = [threading.Thread(target=thread, args=(number,)) for number in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(sorted(results), [1225 * number for number in range(6)])

    def test_random_nests_of_all_waits_end(self):
        cells = [memoryview(bytearray(16)) for _ in range(4)]
        wrong = []

        def body(seed, depth):
            choose, thread, children = random.Random(seed), threading.get_ident(), []

            def add():
                data = {}
                if choose.random() < 0.5:
                    part = slice(choose.randrange(4), None, choose.randrange(1, 4))
                    mode = choose.choice(("reads", "updates", "commutative", "concurrent"))
                    data = {mode: choose.choice(cells)[part]}
                children.append(
                    weftrt.spawn(body, choose.random(), depth - 1, blocking=choose.random() < 0.1, **data)
                )

            for _ in range(choose.randrange(5) if depth else 0):
                add()
            with contextlib.suppress(ZeroDivisionError, concurrent.futures.CancelledError):
                what = choose.randrange(6)
                if what == 0:
                    weftrt.taskwait()
                elif what == 1 and children:
                    choose.choice(children).result()
                elif what == 2 and depth:
                    with weftrt.group(cancel=choose.random() < 0.5) as group:
                        for _ in range(3):
                            add()
                        if choose.random() < 0.3:
                            group.cancel()
                elif what == 3 and children:
                    choose.choice(children).cancel()
                elif what == 4:
                    with weftrt.blocking():
                        time.sleep(0.0002)
                elif what == 5 and choose.random() < 0.5:
                    raise ValueError(seed)
            if threading.get_ident() != thread:
                wrong.append(seed)

        def creator(number):
            for i in range(12):
                weftrt.spawn(body, 100 * number + i, 5)
                with contextlib.suppress(ValueError):
                    weftrt.taskwait()

        threads = [threading.Thread(target=creator, args=(number,)) for number in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(100)
            self.assertFalse(one.is_alive())
        self.assertEqual(wrong, [])

    def test_a_handler_of_a_signal_waits_for_tasks_while_spawn_is_held_back(self):
        ended = python(
            """
            import os, signal, threading, time, weftrt
            a, go, spawned = bytearray(8), threading.Event(), 0
            def handle(*_):
                go.set()
                weftrt.taskwait()
            def send():
                while spawned < 16384:  # the next one is held back
                    time.sleep(0.001)
                time.sleep(0.03)
                os.kill(os.getpid(), signal.SIGUSR1)
            signal.signal(signal.SIGUSR1, handle)
            weftrt.spawn(go.wait, writes=a, blocking=True)
            threading.Thread(target=send).start()
            while not go.is_set():
                weftrt.spawn(int, reads=a)
                spawned += 1
            weftrt.taskwait()
            print("over")
            """
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("over\n", "", 0))

    def test_a_wait_in_a_handler_of_a_signal_leaves_the_wait_below_to_be_woken(self):
        ended = python(
            """
            import os, signal, threading, time, weftrt
            begun, inside = threading.Event(), threading.Event()
            def handle(*_):
                inside.set()
                weftrt.taskwait()
            def body():
                begun.set()
                time.sleep(0.1)  # the main thread waits meanwhile
                os.kill(os.getpid(), signal.SIGUSR1)
                inside.wait()
                time.sleep(0.1)
            signal.signal(signal.SIGUSR1, handle)
            weftrt.spawn(body)
            begun.wait()
            weftrt.taskwait()
            print("over")
            """
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("over\n", "", 0))

    def test_a_wait_asks_for_loops_only_where_asyncio_was_imported(self):
        ended = python(
            """
            import sys, weftrt
            def body():
                weftrt.spawn(int).result()
                asked = "asyncio" in sys.modules
                sys.modules["asyncio.events"] = sys  # as while it is being imported
                return asked, weftrt.spawn(int, 7).result()
            print(weftrt.spawn(body).result())
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("(False, 7)\n", ""))

    def test_a_thread_of_c_spawns_in_each_of_its_calls_of_python(self):
        ended = python(  # fclose() on a thread of C's calls write(), then close(), each with a new thread state
            """
            import ctypes, threading, time, weftrt
            c = ctypes.CDLL(None)
            Write = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
            Close = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
            class Functions(ctypes.Structure):
                _fields_ = [("read", ctypes.c_void_p), ("write", Write), ("seek", ctypes.c_void_p), ("close", Close)]
            c.fopencookie.restype = ctypes.c_void_p
            c.fopencookie.argtypes = (ctypes.c_void_p, ctypes.c_char_p, Functions)
            c.fputs.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
            c.pthread_join.argtypes = (ctypes.c_ulong, ctypes.c_void_p)
            go = threading.Event()
            def write(cookie, data, size):
                global first
                first = weftrt.spawn(go.wait, blocking=True)
                return size
            def close(cookie):
                go.set()
                while not first.done():
                    time.sleep(0.001)
                time.sleep(0.1)  # another thread frees what the first call has had
                with weftrt.group():
                    print(weftrt.spawn(int, 7).result(), flush=True)
                weftrt.taskwait()
                return 0
            functions = Functions(None, Write(write), None, Close(close))
            file = c.fopencookie(None, b"w", functions)
            c.fputs(b"text", file)
            thread = ctypes.c_ulong()
            c.pthread_create(ctypes.byref(thread), None, c.fclose, ctypes.c_void_p(file))
            c.pthread_join(thread, None)
            """,
            PYTHONMALLOC="debug",
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("7\n", "", 0))

    def test_a_thread_that_cannot_run_handlers_of_signals_sleeps_until_it_is_woken(self):
        begun, go, known = threading.Event(), threading.Event(), []
        gate = weftrt.spawn(lambda: (begun.set(), go.wait()), blocking=True)
        begun.wait()

        def wait():
            known.append(threading.get_native_id())
            gate.result()

        def switches():
            text = pathlib.Path(f"/proc/self/task/{known[0]}/status").read_text()
            return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.MULTILINE)[1])

        thread = threading.Thread(target=wait)
        thread.start()
        while not known:
            time.sleep(0.001)
        time.sleep(0.5)
        before = switches()
        time.sleep(1)
        switched = switches() - before
        go.set()
        thread.join()
        self.assertLess(switched, 5)

    def test_a_creator_is_held_back_ever_less_where_nothing_can_end(self):
        ended = python(
            """
            import resource, threading, weftrt
            def sleeps():
                return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            for _ in range(2):
                a, go = bytearray(8), threading.Event()
                weftrt.spawn(go.wait, writes=a, blocking=True)
                before = sleeps()
                for _ in range(40_000):
                    weftrt.spawn(int, reads=a)
                print(sleeps() - before)
                go.set()
                weftrt.taskwait()
            """
        )
        self.assertEqual((ended.stderr, ended.returncode), ("", 0))
        first, again = map(int, ended.stdout.split())  # 100 each time that it is held back
        self.assertLess(first, 1200)
        self.assertLess(again, 1200)
        self.assertGreater(again, 300)  # tasks have ended meanwhile

    def test_the_main_thread_handles_a_signal_that_came_to_another_thread_while_it_waits(self):
        ended = python(
            """
            import signal, threading, time, weftrt
            begun, go = threading.Event(), threading.Event()
            def body():
                begun.set()
                time.sleep(0.1)  # the main thread waits meanwhile
                signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
                go.wait()
            signal.signal(signal.SIGUSR1, lambda *_: go.set())
            weftrt.spawn(body)
            begun.wait()
            weftrt.taskwait()
            print("over")
            """,
            WEFT_WATCH_PATIENCE="1000s",  # behind that a wait looks as well
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("over\n", "", 0))

    def test_a_wait_goes_on_behind_one_in_a_handler_that_ends_by_an_exception(self):
        ended = python(
            """
            import os, signal, threading, time, weftrt
            begun, inside, left = threading.Event(), threading.Event(), threading.Event()
            def handle(*_):
                if inside.is_set():
                    raise ValueError("the second signal")
                inside.set()
                try:
                    weftrt.taskwait()
                except ValueError as error:
                    print(error, flush=True)
                    left.set()
            def body():
                begun.set()
                for event in (inside, left):
                    time.sleep(0.1)  # the main thread waits meanwhile
                    os.kill(os.getpid(), signal.SIGUSR1)
                    event.wait()
                time.sleep(0.1)
            signal.signal(signal.SIGUSR1, handle)
            weftrt.spawn(body)
            begun.wait()
            weftrt.taskwait()
            print("over")
            """
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("the second signal\nover\n", "", 0))

    # ---- groups ----

    def test_times_outside_of_weft_may_overlap_and_end_elsewhere(self):
        ended = python(
            """
            import threading, weftrt
            def away():
                with weftrt.blocking():
                    yield
            def begin():
                times = away()
                next(times)
                return times
            def others_run():
                return weftrt.spawn(lambda: weftrt.spawn(int, 7, label="inner").result()).result() == 7
            def overlap():
                first, second = begin(), begin()
                first.close()
                other = weftrt.spawn(lambda: 5, blocking=False)
                done = threading.Event()
                other.add_done_callback(lambda task: done.set())
                done.wait()  # in the place that the second gives up
                second.close()
                return other.result()
            print(weftrt.spawn(overlap).result(), others_run())
            held = weftrt.spawn(begin).result()  # of a body that is over
            held.close()
            print(others_run())
            begun, go = threading.Event(), threading.Event()
            def hold():
                times.append(begin())
                begun.set()
                go.wait()
            times = []
            task = weftrt.spawn(hold)
            begun.wait()
            times.pop().close()  # another thread
            go.set()
            task.result()
            print(others_run())
            thread = threading.Thread(target=lambda: times.append(begin()))
            thread.start()
            thread.join()
            print(weftrt.spawn(lambda: (times.pop().close(), weftrt.spawn(int, 8).result())[1]).result(), others_run())
            running, most = 0, 0
            def count():
                global running, most
                running += 1
                most = max(most, running)
                go.wait(0.001)
                running -= 1
            for _ in range(20):
                weftrt.spawn(count)
            weftrt.taskwait()
            print(most)
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("5 True\nTrue\nTrue\n8 True\n1\n", ""))

    # ---- decorators ----

    def test_a_decorated_function_spawns_with_its_parameters_as_data(self):
        @weftrt.task(reads="a b", updates=["c"], label="add")
        def add(a, b, c, factor=1):
            c[0] = (a[0] + b[0] + c[0]) * factor
            return c[0]

        a, b, c = bytearray([1]), bytearray([2]), bytearray([3])
        first = add(a, b, c)
        second = add(a, b=b, c=c, factor=2)
        self.assertEqual((first.result(), second.result()), (6, 18))
        self.assertEqual(first.label, "add")
        with self.assertRaises(TypeError):
            add(a)
        with self.assertRaisesRegex(TypeError, "no parameter of"):
            weftrt.task(reads="d")(lambda a: a)
        with self.assertRaisesRegex(TypeError, "'read' is none of"):
            weftrt.task(read="a")

        @weftrt.task
        def plain():
            return weftrt.current_task().label

        self.assertIn("plain", plain().result())
        self.assertIsNone(weftrt.current_task())

    # ---- memory ----

    def test_what_a_task_held_is_given_back_when_its_body_has_ended(self):
        class Thing:
            pass

        thing = Thing()
        seen = weakref.ref(thing)
        task = weftrt.spawn(lambda thing: 1, thing)
        del thing
        task.result()
        weftrt.taskwait()
        self.assertIsNone(seen())
        held = weakref.ref(task.result)  # of the task
        del task
        gc.collect()
        self.assertIsNone(held())

    def test_a_million_tasks_take_no_more_memory_than_some(self):
        ended = python(
            """
            import resource, weftrt
            def nothing(): pass
            a = bytearray(64)
            view = memoryview(a)
            def run(n):
                for i in range(n):
                    weftrt.spawn(nothing)
                    if i % 20 == 0:
                        weftrt.spawn(nothing, updates=view[i % 64:i % 64 + 1])
                weftrt.taskwait()
            run(100_000)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            run(1_000_000)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
            """
        )
        self.assertEqual(ended.stderr, "")
        self.assertLess(int(ended.stdout), 16 * 1024, "KiB")

    def test_a_chain_of_results_is_freed_whatever_its_length(self):
        ended = python(
            """
            import weakref, weftrt
            class Thing: pass
            task, seen = Thing(), []
            seen.append(weakref.ref(task))
            for _ in range(300_000):
                task = weftrt.spawn(lambda former: former, task)
            weftrt.taskwait()
            print(seen[0]() is None)
            del task
            print(seen[0]() is None)
            """
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("False\nTrue\n", "", 0))

    # ---- processes ----

    def test_an_interrupt_reaches_taskwait(self):
        for body in ("time.sleep(30)", "[time.sleep(0.001) for _ in range(30000)]"):
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    "import weftrt, time, os\n"
                    f"for _ in range(weftrt.workers() + 1): weftrt.spawn(lambda: {body})\n"
                    "try: print('waits', flush=True), weftrt.taskwait()\n"
                    "except KeyboardInterrupt: print('interrupted', flush=True); os._exit(3)\n",
                ],
                stdout=subprocess.PIPE,
                universal_newlines=True,
            )
            with process:
                process.stdout.readline()
                time.sleep(0.2)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.stdout.readline(), "interrupted\n")
                self.assertEqual(process.wait(20), 3)

    def test_the_end_of_a_program_waits_for_its_tasks(self):
        ended = python(
            """
            import os, time, weftrt
            def body():
                time.sleep(0.05)
                weftrt.spawn(lambda: os.write(1, b"inner\\n")) # print() writes the end of a line by itself
            for _ in range(5): weftrt.spawn(body)
            """
        )
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "inner\n" * 5, ""))

    def test_an_exception_that_nothing_has_waited_for_is_reported(self):
        ended = python("import weftrt; weftrt.spawn(int, 'x')")
        self.assertIn("a task that nothing has waited for", ended.stderr)
        self.assertIn("ValueError: invalid literal", ended.stderr)
        ended = python(
            """
            import threading, weftrt
            thread = threading.Thread(target=lambda: weftrt.spawn(int, "x"))
            thread.start(); thread.join(); del thread
            """
        )
        self.assertIn("ValueError: invalid literal", ended.stderr)

    def test_a_thread_that_begins_although_its_start_is_interrupted_is_counted(self):
        for comes_early in ("True", "False"):
            ended = python(
                """
                import concurrent.futures, os, threading, weftrt
                from weftrt import _spawn
                starts, goes_on = [], threading.Event()
                comes_early = os.environ["COMES_EARLY"] == "True"
                def run():
                    if comes_early:
                        goes_on.wait()
                    _spawn._tasks.run_forever()
                def start():  # an interrupt comes while Thread.start() waits for the thread
                    starts.append(1)
                    threading.Thread(target=run, daemon=True).start()
                    if len(starts) == 1:
                        if not comes_early:
                            begun.wait()
                        raise KeyboardInterrupt
                _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
                begun, go = threading.Event(), threading.Event()
                try:
                    weftrt.spawn(lambda: (begun.set(), go.wait()))
                except KeyboardInterrupt:
                    print("interrupted")
                goes_on.set()
                begun.wait()
                weftrt.spawn(int)  # waits for the only place
                print(len(starts))
                go.set()
                """,
                WEFT_WORKERS="1",
                COMES_EARLY=comes_early,
            )
            self.assertEqual((ended.stdout, ended.stderr), ("interrupted\n1\n", ""), comes_early)

    def test_tasks_run_with_any_number_of_workers(self):
        for workers in ("1", "2", "7"):
            ended = python(
                """
                import weftrt
                def tree(n):
                    if n == 0: return 1
                    left, right = weftrt.spawn(tree, n - 1), weftrt.spawn(tree, n - 1)
                    return left.result() + right.result()
                print(weftrt.workers(), tree(9))
                """,
                WEFT_WORKERS=workers,
            )
            self.assertEqual((ended.stdout, ended.stderr), (f"{workers} 512\n", ""))

    def test_a_setting_that_cannot_be_read_is_named(self):
        ended = python("import weftrt; weftrt.spawn(print)", WEFT_WORKERS="many")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("workers", ended.stderr)


@unittest.skipUnless(CAN, "tasks need Python 3.11")
class Examples(unittest.TestCase):
    FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"

    def test_there_are_examples(self):
        self.assertGreaterEqual({name for name in dir(self) if name.startswith("test_example_")}, {"test_example_pipeline", "test_example_cholesky"})


def test_of(example):
    """Returns a test that runs an example, which checks its own results."""

    @unittest.skipIf("import numpy" in example.read_text() and numpy is None, "NumPy is not installed")
    def test(self):
        ended = subprocess.run([sys.executable, str(example)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))
        self.assertIn(b"right", ended.stdout)

    return test


for example in sorted(Examples.FOLDER.glob("*.py")):
    setattr(Examples, f"test_example_{example.stem}", test_of(example))


if __name__ == "__main__":
    unittest.main()
