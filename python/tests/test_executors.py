# SPDX-License-Identifier: Apache-2.0
"""Tasks in Python as asyncio, concurrent.futures and joblib use them."""

import asyncio
import concurrent.futures
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import unittest
import unittest.mock
import weakref

import weftrt
from weftrt import _native_files

try:
    import joblib
except ImportError:
    joblib = None

CAN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()
if CAN:
    from weftrt import _spawn


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


class _Cancelled:
    """A task that was cancelled before its body began."""

    def cancelled(self):
        return True


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Executors(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: weftrt.taskwait())

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

    def test_awaits_that_are_cancelled_leave_nothing_behind(self):
        async def main():
            go = threading.Event()
            task = weftrt.spawn(go.wait)
            awaits = [asyncio.ensure_future(self.wait_for(task)) for _ in range(50)]
            await asyncio.sleep(0)
            self.assertEqual(len(_spawn._awaited[task]), 50)
            for one in awaits[1:]:
                one.cancel()
            await asyncio.gather(*awaits[1:], return_exceptions=True)
            self.assertEqual(len(_spawn._awaited[task]), 1)
            go.set()
            self.assertIs(await awaits[0], True)
            self.assertNotIn(task, _spawn._awaited)

        asyncio.run(main())

    async def wait_for(self, task):
        return await task

    def test_a_loop_in_a_body_gives_up_its_place_while_coroutines_await_tasks(self):
        ended = python(
            """
            import asyncio, threading, weftrt
            async def main():
                return await weftrt.spawn(lambda: 3)
            print(weftrt.spawn(lambda: asyncio.run(main())).result())
            async def other(go):
                await weftrt.spawn(int)
                await weftrt.spawn(go.wait)  # while the other one awaits its second task
                return 4
            async def several():
                go = threading.Event()
                others = asyncio.gather(*(other(go) for _ in range(5)))
                await asyncio.sleep(0.01)
                await weftrt.spawn(go.set, blocking=True)
                cancelled = asyncio.ensure_future(wait_for(weftrt.spawn(go.wait)))
                await asyncio.sleep(0)
                cancelled.cancel()
                await asyncio.wait([cancelled])
                return await others, await weftrt.spawn(int, 5)
            async def wait_for(task):
                return await task
            print(weftrt.spawn(lambda: asyncio.run(several())).result())
            async def leave_behind():  # a coroutine whose await never ends
                go = threading.Event()
                asyncio.ensure_future(wait_for(weftrt.spawn(go.wait, blocking=True)))
                await asyncio.sleep(0)
                return go
            loop = asyncio.new_event_loop()
            go = weftrt.spawn(lambda: loop.run_until_complete(leave_behind())).result()
            running, most = 0, 0
            def count():
                global running, most
                running += 1
                most = max(most, running)
                threading.Event().wait(0.001)
                running -= 1
            for _ in range(20):
                weftrt.spawn(count)
            while not most:
                threading.Event().wait(0.001)
            go.set()
            weftrt.taskwait()
            loop.run_until_complete(asyncio.wait(asyncio.all_tasks(loop)))
            loop.close()
            print(most)
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("3\n([4, 4, 4, 4, 4], 5)\n1\n", ""))

    def test_each_coroutine_of_a_loop_has_groups_of_its_own(self):
        async def one(number, begun, others):
            with weftrt.group() as group:
                begun.append(number)
                while len(begun) < others:
                    await asyncio.sleep(0)
                mine = weftrt.spawn(int, "x") if number == 0 else weftrt.spawn(int, number)
                await asyncio.sleep(0.001 * (others - number))
            return group.cancelled(), mine.result()

        async def main():
            begun = []
            return await asyncio.gather(*(one(number, begun, 3) for number in range(3)), return_exceptions=True)

        results = asyncio.run(main())
        self.assertIsInstance(results[0], ValueError)
        self.assertEqual(results[1:], [(False, 1), (False, 2)])

    def test_a_coroutine_that_a_group_has_begun_spawns_into_it(self):
        ended = []

        async def inner(go):
            weftrt.spawn(lambda: (time.sleep(0.02), ended.append(1)))
            await go.wait()
            self.assertEqual(weftrt.spawn(int, 5).result(), 5)  # the group is over

        async def main():
            go = asyncio.Event()
            with weftrt.group():
                running = asyncio.ensure_future(inner(go))
                await asyncio.sleep(0)
            self.assertEqual(ended, [1])
            go.set()
            await running

        asyncio.run(main())

    def test_a_body_that_a_coroutine_waits_for_runs_a_loop_of_its_own(self):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(
                """
                import asyncio, weftrt
                loops = []
                async def inner():
                    loops.append(asyncio.get_running_loop())
                    return await weftrt.spawn(int, 7)
                def body():
                    try:
                        asyncio.get_running_loop()
                    except RuntimeError:
                        return asyncio.run(inner())
                async def outer():
                    loops.append(asyncio.get_running_loop())
                    results = [weftrt.spawn(body).result()]
                    with weftrt.group():
                        tasks = [weftrt.spawn(body)]
                    tasks.append(weftrt.spawn(body))
                    weftrt.taskwait()
                    return results + [task.result() for task in tasks]
                print(weftrt.spawn(lambda: asyncio.run(outer())).result(), len(set(map(id, loops))))
                """
            )],
            env={**os.environ, "WEFT_WORKERS": "1"},  # the place is the waiter's
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=120,
        )
        self.assertEqual(ended.stdout, "[7, 7, 7] 4\n")

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

    def test_a_body_that_waits_for_a_call_of_a_numbered_executor_gives_up_its_place(self):
        ended = python(
            """
            import threading, weftrt
            pool = weftrt.Executor(max_workers=1)
            def another_body_runs():
                done = threading.Event()
                weftrt.spawn(done.set)
                return done.wait(5)
            for name in ("result", "exception"):
                def body():
                    future = pool.submit(another_body_runs)
                    getattr(future, name)()
                    return future.result()
                print(weftrt.spawn(body).result())
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("True\nTrue\n", ""))

    def test_a_call_that_waits_for_the_end_of_its_own_executor_is_told_so(self):
        for limit in (None, 1):
            with weftrt.Executor(limit) as pool, weftrt.Executor(limit) as other:
                self.assertIs(pool.submit(other.shutdown).result(), None)
            with weftrt.Executor(limit) as pool:
                failed = pool.submit(pool.shutdown)
                self.assertRegex(str(failed.exception()), "cannot wait for the end of its own pool")
                with self.assertRaisesRegex(RuntimeError, "after shutdown"):
                    pool.submit(int)
            with weftrt.Executor(limit) as pool:
                self.assertIs(pool.submit(pool.shutdown, wait=False).result(), None)

    def test_an_executor_of_the_parent_process_works_in_a_child_of_fork(self):
        for limit in ("None", "1"):
            ended = python(
                f"""
                import os, threading, weftrt
                def status(child):
                    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                begun, go = threading.Event(), threading.Event()
                pool = weftrt.Executor({limit})
                running = pool.submit(lambda: (begun.set(), go.wait()))
                begun.wait()
                waiting = pool.submit(int)
                child = os.fork()
                if child == 0:
                    for future in (running, waiting):
                        try:
                            future.result()
                            os._exit(1)
                        except RuntimeError as error:
                            assert "parent process" in str(error)
                    assert list(pool.map(abs, range(9))) == list(range(9))
                    pool.shutdown()
                    os._exit(0)
                print(status(child), flush=True)
                go.set()
                assert waiting.result() == 0
                def fork():
                    with weftrt.blocking():
                        child = os.fork()
                    if child == 0:
                        try:
                            assert weftrt.Executor(1).submit(int, 3).result() == 3
                            assert pool.submit(int, 4).result() == 4
                            os._exit(0)
                        finally:
                            os._exit(1)
                    return status(child)
                print(pool.submit(fork).result(), flush=True)
                """,
                WEFT_WORKERS="1",
                PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
            )
            self.assertEqual((ended.stderr, ended.returncode), ("", 0))
            self.assertEqual(set(ended.stdout.split()), {"0"}, limit)

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

    def test_a_call_of_a_cancelled_group_ends_and_later_ones_run(self):
        def fail():
            raise ValueError("a sibling")

        for pool in (weftrt.Executor(), weftrt.Executor(max_workers=1)):
            gate = threading.Event()
            with pool, self.assertRaises(ValueError):
                with weftrt.group():
                    held = [weftrt.spawn(gate.wait) for _ in range(weftrt.workers())]
                    weftrt.spawn(fail)
                    future = pool.submit(pow, 2, 3)
                    gate.set()
                    del held
            (ended,), _ = concurrent.futures.wait([future])
            if not ended.cancelled():  # it began before its sibling failed, or ran in another task's place
                self.assertEqual(ended.result(), 8)

    def test_a_call_whose_group_is_cancelled_before_it_begins_is_cancelled(self):
        cancelled = weftrt.spawn(time.sleep, 0)  # stands for a task that the group has cancelled
        cancelled.result()
        future = _spawn._Future()
        future._give_up(cancelled)
        self.assertFalse(future.cancelled())  # it was not
        future._give_up(_Cancelled())
        self.assertTrue(future.cancelled())
        self.assertEqual(concurrent.futures.wait([future], 0).done, {future})

    def test_a_run_that_is_cancelled_has_a_successor(self):
        with weftrt.Executor(max_workers=1) as pool:
            pool._runs = 1  # of a task that is cancelled before it takes a call
            future = pool.submit(pow, 2, 3)
            self.assertFalse(future.done())
            pool._run_ended(_Cancelled())
            self.assertEqual(future.result(20), 8)

    def test_a_pool_without_a_run_cancels_its_calls(self):
        with weftrt.Executor(max_workers=2) as pool:
            pool._runs = 2
            future = pool.submit(pow, 2, 3)
            pool._lose_run()
            self.assertFalse(future.done())
            pool._lose_run()
            self.assertTrue(future.cancelled())
            self.assertEqual(pool.submit(pow, 2, 4).result(), 16)

    def test_a_pool_ends_where_its_calls_cannot_become_tasks(self):
        for pool in (weftrt.Executor(), weftrt.Executor(max_workers=1)):
            with unittest.mock.patch.object(_spawn, "spawn", side_effect=RuntimeError("no tasks")), pool:
                with self.assertRaisesRegex(RuntimeError, "no tasks"):
                    pool.submit(int, 1)

    def test_a_failed_call_keeps_nothing_of_its_arguments(self):
        class Argument:
            pass

        def fail(argument):
            raise ValueError

        for pool in (weftrt.Executor(), weftrt.Executor(max_workers=1)):
            gc.collect()
            gc.disable()
            try:
                with pool:
                    argument = Argument()
                    alive = weakref.ref(argument)
                    with self.assertRaises(ValueError):
                        pool.submit(fail, argument).result()
                    del argument
                self.assertIsNone(alive())
            finally:
                gc.enable()

    def test_a_wait_in_a_task_has_one_limit_for_its_two_parts(self):
        class Waits:
            def exception(self, timeout):
                now[0] += 0.75

        now = [0.0]
        future = _spawn._Future()
        future._task = Waits()
        with unittest.mock.patch.object(_spawn.time, "monotonic", lambda: now[0]):
            left = weftrt.spawn(future._wait, 1.0).result()
            none_left = weftrt.spawn(future._wait, 0.5).result()
        self.assertEqual((left, none_left), (0.25, 0))

    def test_an_interrupt_in_a_call_ends_its_wait_and_no_other_call(self):
        def interrupt():
            raise KeyboardInterrupt

        future = _spawn._Future()
        with self.assertRaises(KeyboardInterrupt):
            _spawn._run_call(None, future, interrupt, (), {})
        self.assertIsInstance(future.exception(), KeyboardInterrupt)
        with weftrt.Executor(max_workers=1) as pool:
            with pool._changed:
                first = pool.submit(interrupt)
                second = pool.submit(pow, 2, 3)
            self.assertIsInstance(first.exception(), KeyboardInterrupt)
            self.assertEqual(second.result(20), 8)
        with self.assertRaises(KeyboardInterrupt):  # what waits for the tasks has it, too
            weftrt.taskwait()

    def test_a_decorated_function_names_tuples_of_buffers(self):
        @weftrt.task(updates="cells", reads="more")
        def add(cells, more=None):
            for cell in cells:
                cell[0] += 1

        cells = [bytearray(1), bytearray(1)]
        for i in range(20):
            add(cells if i % 2 else tuple(cells), None if i % 3 else [bytes(1)])
        weftrt.taskwait()
        self.assertEqual([cell[0] for cell in cells], [20, 20])

    def test_a_loop_takes_the_executor(self):
        async def main():
            loop = asyncio.get_running_loop()
            loop.set_default_executor(weftrt.Executor(max_workers=4))
            return await asyncio.to_thread(lambda: threading.current_thread().name)

        self.assertIn("weftrt", asyncio.run(main()))


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

    def test_an_exception_tells_where_its_call_has_raised(self):
        def fails(i):
            raise KeyError(i)

        with self.assertRaises(KeyError) as caught:
            self.parallel(2, (joblib.delayed(fails)(i) for i in range(4)))
        self.assertIn(", in fails\n", "".join(traceback.format_exception(caught.exception)))

    def test_calls_of_a_call_are_tasks_and_those_below_run_in_turn(self):
        def kinds(below):
            mine = type(joblib.parallel.get_active_backend()[0]).__name__
            return [mine, *(joblib.Parallel(n_jobs=2)(joblib.delayed(kinds)(below - 1) for _ in range(2))[0] if below else [])]

        found = self.parallel(2, (joblib.delayed(kinds)(2) for _ in range(4)))
        self.assertEqual(found, [["WeftBackend", "SequentialBackend", "SequentialBackend"]] * 4)


if __name__ == "__main__":
    unittest.main()
