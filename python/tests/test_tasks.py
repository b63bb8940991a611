# SPDX-License-Identifier: Apache-2.0
"""Tasks in Python: order by regions, waits, exceptions, groups, futures, executors, processes."""

import asyncio
import concurrent.futures
import contextlib
import gc
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import weakref

import weftrt

try:
    import numpy
except ImportError:
    numpy = None
try:
    import joblib
except ImportError:
    joblib = None
try:
    import _testbuffer  # strided buffers of several dimensions; not in every build of Python
except ImportError:
    _testbuffer = None

# A build without the headers of Python has no tasks.
HAS_FILE = any(pathlib.Path(weftrt.__file__).parent.glob("_native/**/_tasks.abi3.so"))
CAN = sys.version_info >= (3, 11) and HAS_FILE


def python(code, **variables):
    """Runs code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
        env={**os.environ, **variables},
    )


@unittest.skipIf(CAN, "this Python has tasks")
class Without(unittest.TestCase):
    def test_names_what_is_missing(self):
        missing = "3.11" if sys.version_info < (3, 11) else "python3-dev"
        with self.assertRaisesRegex(ImportError, missing):
            weftrt.spawn(print)
        weftrt.install()


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Tasks(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: weftrt.taskwait())

    def log(self, name, seconds=0.0):
        time.sleep(seconds)
        self.events.append(name)

    events: list

    def run_ordered(self, *tasks):
        """Spawns (name, seconds, data) in turn, and returns the order in which they ended."""
        self.events = []
        for name, seconds, data in tasks:
            weftrt.spawn(self.log, name, seconds, **data)
        weftrt.taskwait()
        return self.events

    def test_readers_follow_writers_and_writers_follow_readers(self):
        a = bytearray(8)
        events = self.run_ordered(
            ("write", 0.05, {"writes": a}),
            ("read 1", 0.03, {"reads": a}),
            ("read 2", 0.03, {"reads": [a]}),
            ("update", 0, {"updates": (a,)}),
        )
        self.assertEqual((events[0], events[3]), ("write", "update"))

    def test_slices_are_ordered_by_their_elements_alone(self):
        a = memoryview(bytearray(16))
        events, odd_has_run = [], threading.Event()

        def even():
            if weftrt.workers() > 1:
                self.assertTrue(odd_has_run.wait(60))
            events.append("even")

        weftrt.spawn(even, writes=a[::2])
        weftrt.spawn(lambda: (events.append("odd"), odd_has_run.set()), writes=a[1::2])
        weftrt.spawn(events.append, "backwards", updates=a[::-2])
        weftrt.spawn(events.append, "one even", reads=a[4:5])
        weftrt.taskwait()
        self.assertLess(events.index("odd"), events.index("backwards"))
        self.assertLess(events.index("even"), events.index("one even"))

    def test_empty_slices_wait_for_nothing(self):
        a = memoryview(bytearray(4))
        self.assertEqual(weftrt.spawn(lambda: 7, writes=a[2:2]).result(), 7)

    def test_concurrent_ones_run_together_and_commutative_ones_one_at_a_time(self):
        a = bytearray(4)
        together = threading.Barrier(2)
        if weftrt.workers() > 1:
            for _ in range(2):
                weftrt.spawn(together.wait, 60, concurrent=a)
            weftrt.taskwait()
        inside = []

        def alone():
            inside.append(1)
            self.assertEqual(len(inside), 1)
            time.sleep(0.002)
            inside.pop()

        for _ in range(8):
            weftrt.spawn(alone, commutative=a)
        weftrt.taskwait()

    def test_children_are_ordered_within_their_parent_and_hold_its_data(self):
        a = memoryview(bytearray(8))
        events = []

        def parent():
            weftrt.spawn(lambda: (time.sleep(0.05), events.append("child")), updates=a[:4])
            events.append("parent")

        weftrt.spawn(parent, updates=a)
        weftrt.spawn(lambda: events.append("after"), reads=a[2:3])
        weftrt.taskwait()
        self.assertEqual(events, ["parent", "child", "after"])

    def test_random_programs_give_what_they_give_in_turn(self):
        for seed in range(20):
            choose = random.Random(seed)
            data, expected = bytearray(32), bytearray(32)
            view = memoryview(data)

            def mix(target, source, factor):
                for i in range(len(target)):
                    target[i] = (target[i] * factor + source[i % len(source)] + 1) % 251

            for _ in range(60):
                parts = []
                for _ in range(2):
                    low = choose.randrange(31)
                    parts.append(slice(low, choose.randrange(low + 1, 33), choose.randrange(1, 4)))
                factor = choose.randrange(1, 9)
                weftrt.spawn(
                    mix, view[parts[0]], view[parts[1]], factor, updates=view[parts[0]], reads=view[parts[1]]
                )
                other = memoryview(expected)
                mix(other[parts[0]], other[parts[1]], factor)
            weftrt.taskwait()
            self.assertEqual(data, expected, f"seed {seed}")

    def test_buffers_are_held_until_the_body_has_ended(self):
        a = bytearray(4)
        go = threading.Event()
        task = weftrt.spawn(go.wait, reads=a)
        with self.assertRaises(BufferError):
            a.append(1)
        go.set()
        task.result()
        a.append(1)

    def test_what_is_no_buffer_is_named(self):
        for wrong in (7, "text", [3], ({},)):
            with self.assertRaisesRegex(TypeError, r"spawn\(\): writes= takes NumPy arrays"):
                weftrt.spawn(print, writes=wrong)
        with self.assertRaisesRegex(BufferError, r"spawn\(\): updates=: .*reads="):
            weftrt.spawn(print, updates=b"constant")
        with self.assertRaisesRegex(TypeError, "callable first"):
            weftrt.spawn()
        with self.assertRaisesRegex(TypeError, "label= takes a str"):
            weftrt.spawn(print, label=3)
        self.assertEqual(weftrt.spawn(len, b"abc", reads=b"abc").result(), 3)
        self.assertEqual(weftrt.spawn(lambda: 1, reads=None).result(), 1)

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

    # ---- groups ----

    def test_the_end_of_a_group_waits_and_raises(self):
        ended = []
        with weftrt.group():
            weftrt.spawn(lambda: (time.sleep(0.03), weftrt.spawn(lambda: ended.append(1))))
        self.assertEqual(ended, [1])
        with self.assertRaises(ValueError), weftrt.group():
            weftrt.spawn(int, "x")
        weftrt.taskwait()  # raised once

    def test_the_first_exception_cancels_what_has_not_begun(self):
        a, ran = bytearray(1), []
        with self.assertRaises(ValueError), weftrt.group() as cancelled:
            weftrt.spawn(int, "x", updates=a)
            later = [weftrt.spawn(ran.append, 1, updates=a) for _ in range(5)]
        self.assertTrue(cancelled.cancelled())
        self.assertTrue(all(task.cancelled() for task in later))
        with self.assertRaises(ValueError), weftrt.group(cancel=False):
            weftrt.spawn(int, "x", updates=a)
            for _ in range(5):
                weftrt.spawn(ran.append, 2, updates=a)
        self.assertEqual(ran, [2] * 5)

    def test_an_exception_of_the_block_cancels_and_gets_the_others_as_notes(self):
        begun, go = threading.Event(), threading.Event()

        def fail():
            begun.set()
            go.wait()
            raise ValueError("body")

        with self.assertRaises(KeyError) as caught, weftrt.group(cancel=False):
            weftrt.spawn(fail)
            begun.wait()
            go.set()
            raise KeyError("block")
        self.assertIn("ValueError('body')", caught.exception.__notes__[0])

    def test_groups_nest_and_taskwait_includes_them(self):
        ended = []
        with weftrt.group() as outer:
            weftrt.spawn(lambda: (time.sleep(0.02), ended.append("outer")))
            with weftrt.group():
                weftrt.spawn(lambda: (time.sleep(0.04), ended.append("inner")))
                weftrt.taskwait()
                self.assertEqual(sorted(ended), ["inner", "outer"])
            with self.assertRaisesRegex(RuntimeError, "in use"), outer:
                self.fail()

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

    # ---- asyncio, executors ----

    def test_tasks_are_awaited_beside_other_coroutines(self):
        async def main():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.001)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            results = await asyncio.gather(*(weftrt.spawn(lambda i=i: (time.sleep(0.01), i)[1]) for i in range(9)))
            ticking.cancel()
            with self.assertRaises(ValueError):
                await weftrt.spawn(int, "x")
            held = weftrt.spawn(lambda: 3)
            held.result()
            self.assertEqual(await held, 3)
            return results, ticks

        results, ticks = asyncio.run(main())
        self.assertEqual(results, list(range(9)))
        self.assertGreater(ticks, 0)

    def test_an_await_that_is_cancelled_leaves_the_task_alone(self):
        async def main():
            go = threading.Event()
            task = weftrt.spawn(go.wait)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.ensure_future(self.wait_for(task)), 0.01)
            go.set()
            return await task

        self.assertIs(asyncio.run(main()), True)

    async def wait_for(self, task):
        return await task

    def test_the_executor_is_one_of_concurrent_futures(self):
        for pool in (weftrt.Executor(), weftrt.Executor(max_workers=2)):
            with pool:
                self.assertEqual(list(pool.map(pow, range(50), [2] * 50)), [i * i for i in range(50)])
                failed = pool.submit(int, "x")
                self.assertIsInstance(failed.exception(), ValueError)
                many = [pool.submit(lambda i=i: i) for i in range(20)]
                done = concurrent.futures.as_completed(many)
                self.assertEqual(sorted(future.result() for future in done), list(range(20)))
            with self.assertRaisesRegex(RuntimeError, "after shutdown"):
                pool.submit(print)
        weftrt.taskwait()  # the futures have the exceptions
        with self.assertRaises(TypeError):
            weftrt.Executor(initializer=print)

    def test_the_executor_waits_and_cancels_at_its_end(self):
        for limit in (None, 1):
            pool = weftrt.Executor(limit)
            begun, go = threading.Event(), threading.Event()
            first = pool.submit(lambda: (begun.set(), go.wait()))
            begun.wait()
            others = [pool.submit(time.sleep, 0) for _ in range(20)]
            threading.Timer(0.05, go.set).start()
            pool.shutdown(cancel_futures=True)
            self.assertTrue(first.done() and all(other.done() for other in others))
            if limit:
                self.assertTrue(all(other.cancelled() for other in others))

    def test_an_executor_with_a_number_runs_so_many_calls_that_block(self):
        number = 3 * weftrt.workers()
        barrier = threading.Barrier(number)
        with weftrt.Executor(max_workers=number) as pool:
            self.assertEqual(len(list(pool.map(lambda _: barrier.wait(30), range(number)))), number)

    def test_calls_that_wait_for_calls_go_on(self):
        with weftrt.Executor() as pool:

            def fibonacci(n):
                if n < 2:
                    return n
                first = pool.submit(fibonacci, n - 1)
                return fibonacci(n - 2) + first.result()

            self.assertEqual(pool.submit(fibonacci, 14).result(), 377)

    def test_a_loop_takes_the_executor(self):
        async def main():
            loop = asyncio.get_running_loop()
            loop.set_default_executor(weftrt.Executor(max_workers=4))
            return await asyncio.to_thread(lambda: threading.current_thread().name)

        self.assertIn("weftrt", asyncio.run(main()))

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

    def test_examples_check_their_own_results(self):
        for file in sorted(self.FOLDER.glob("*.py")):
            if "import numpy" in file.read_text() and numpy is None:
                continue
            ended = subprocess.run(
                [sys.executable, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120
            )
            self.assertEqual((ended.returncode, ended.stderr), (0, b""), file)
            self.assertIn(b"right", ended.stdout)


@unittest.skipUnless(CAN and numpy, "NumPy is not installed")
class Arrays(unittest.TestCase):
    def test_random_views_are_updated_as_in_turn(self):
        for seed in range(30):
            choose = numpy.random.default_rng(seed)
            data = numpy.arange(6 * 7 * 8, dtype=numpy.int64).reshape(6, 7, 8)
            expected = data.copy()

            def view(array, cut, turn):
                found = array[cut]
                return found.transpose() if turn else found

            def mix(target, source):
                target *= 3
                target += int(source.sum()) % 1000
                target %= 100003

            for _ in range(40):
                cuts = []
                for _ in range(2):
                    cut = tuple(
                        slice(*sorted(choose.integers(0, n + 1, 2).tolist()), int(choose.integers(1, 4)))
                        for n in data.shape
                    )
                    cuts.append((cut, bool(choose.integers(2))))
                target, source = (view(data, *cut) for cut in cuts)
                weftrt.spawn(mix, target, source, updates=target, reads=source)
                mix(*(view(expected, *cut) for cut in cuts))
            weftrt.taskwait()
            self.assertTrue(numpy.array_equal(data, expected), seed)

    def test_a_constant_array_cannot_be_written(self):
        a = numpy.zeros(4)
        a.flags.writeable = False
        with self.assertRaisesRegex((ValueError, BufferError), r"spawn\(\): writes="):
            weftrt.spawn(print, writes=a)


@unittest.skipUnless(CAN and joblib, "joblib is not installed")
class AnyJoblib(unittest.TestCase):
    def test_an_old_one_is_refused(self):
        kept = joblib.__dict__.pop("parallel_config", None)
        try:
            with self.assertRaisesRegex(ImportError, "joblib 1.3 or later, and this is "):
                weftrt.register_joblib()
        finally:
            if kept is not None:
                joblib.parallel_config = kept


@unittest.skipUnless(CAN and hasattr(joblib, "parallel_config"), "joblib 1.3 is not installed")
class Joblib(unittest.TestCase):
    def parallel(self, n_jobs, calls):
        weftrt.register_joblib()
        with joblib.parallel_config(backend="weft"):
            return joblib.Parallel(n_jobs=n_jobs)(calls)

    def test_calls_run_as_tasks_and_no_more_than_asked_for(self):
        lock, now, most = threading.Lock(), 0, 0

        def call(i):
            nonlocal now, most
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.001)
            with lock:
                now -= 1
            return i, weftrt.current_task() is not None

        for n_jobs in (1, 2, -1, 5):
            most = 0
            found = self.parallel(n_jobs, (joblib.delayed(call)(i) for i in range(40)))
            self.assertEqual(found, [(i, n_jobs != 1 and (n_jobs > 0 or weftrt.workers() > 1)) for i in range(40)])
            self.assertLessEqual(most, n_jobs if n_jobs > 0 else weftrt.workers())

    def test_exceptions_and_nests_end(self):
        with self.assertRaises(ValueError):
            self.parallel(2, (joblib.delayed(int)("x") for _ in range(20)))

        def outer(i):
            return sum(joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-j) for j in range(i)))

        self.assertEqual(self.parallel(2, (joblib.delayed(outer)(i) for i in range(6))), [0, 0, 1, 3, 6, 10])
        bodies = [
            weftrt.spawn(self.parallel, 2, [joblib.delayed(abs)(-i) for i in range(9)])
            for _ in range(2 * weftrt.workers())
        ]
        for body in bodies:
            self.assertEqual(body.result(), list(range(9)))


def addresses_of(region):
    first, run, outer, outer_step, inner, inner_step = region
    return {
        first + i * outer_step + j * inner_step + byte
        for i in range(outer)
        for j in range(inner)
        for byte in range(run)
    }


@unittest.skipUnless(CAN and _testbuffer, "needs _testbuffer")
class Regions(unittest.TestCase):
    """The bytes of views, against those of their elements."""

    def elements(self, address, itemsize, shape, strides):
        found = {address}
        for count, step in zip(shape, strides):
            found = {one + i * step for one in found for i in range(count)}
        return {one + byte for one in found for byte in range(itemsize)}

    def test_views_are_exactly_their_elements_and_never_less(self):
        regions = sys.modules["weftrt._tasks"].regions
        exact = 0
        for seed in range(400):
            choose = random.Random(seed)
            dimensions = choose.randrange(1, 5)
            whole = [choose.randrange(1, 6) for _ in range(dimensions)]
            steps = []
            step = 8
            for count in reversed(whole):
                steps.insert(0, step)
                step *= count
            shape, strides, offset = [], [], 0
            for count, size in zip(whole, steps):
                low = choose.randrange(count)
                stride = choose.choice((1, 1, 2, 3, -1))
                number = max(1, (count - low) // abs(stride)) if stride > 0 else low + 1
                shape.append(number)
                strides.append(stride * size)
                offset += low * size
            if choose.random() < 0.3:
                shape.reverse()
                strides.reverse()
            items = list(range(step // 8))
            view = _testbuffer.ndarray(
                items, shape=shape, strides=strides, offset=offset, format="q", flags=_testbuffer.ND_WRITABLE
            )
            address = regions(memoryview(view.tobytes()))  # it starts the module
            del address
            base = _testbuffer.ndarray(items, shape=[len(items)], format="q", flags=_testbuffer.ND_WRITABLE)
            del base
            found = regions(view)
            low = sum((count - 1) * stride for count, stride in zip(shape, strides) if stride < 0)
            first = min(region[0] for region in found)
            wanted = self.elements(first - low, 8, shape, strides)
            got = set()
            for region in found:
                got |= addresses_of(region)
            self.assertLessEqual(wanted, got, (seed, shape, strides, found))
            exact += wanted == got
        self.assertEqual(exact, 400)

    def test_overlapping_and_repeated_elements_are_covered(self):
        regions = sys.modules["weftrt._tasks"].regions
        for shape, strides in (([4, 3], [8, 8]), ([3, 5], [0, 8]), ([2, 3, 2], [16, 8, 24])):
            view = _testbuffer.ndarray(list(range(40)), shape=shape, strides=strides, format="q")
            found = regions(view)
            first = min(region[0] for region in found)
            got = set().union(*(addresses_of(region) for region in found))
            self.assertLessEqual(self.elements(first, 8, shape, strides), got)

    def test_a_view_of_many_dimensions_is_at_most_64_regions(self):
        regions = sys.modules["weftrt._tasks"].regions
        shape, strides, step = [], [], 2
        for _ in range(6):
            shape.insert(0, 3)
            strides.insert(0, 2 * step)
            step *= 8
        view = _testbuffer.ndarray([0] * step, shape=shape, strides=strides, format="b")
        found = regions(view)
        self.assertLessEqual(len(found), 64)
        got = set().union(*(addresses_of(region) for region in found))
        self.assertLessEqual(self.elements(min(r[0] for r in found), 1, shape, strides), got)

    @classmethod
    def setUpClass(cls):
        weftrt.workers()


if __name__ == "__main__":
    unittest.main()
