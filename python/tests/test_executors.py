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
        ended = python(
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
            """,
            WEFT_WORKERS="1",  # the place is the waiter's
        )
        self.assertEqual((ended.stdout, ended.stderr), ("[7, 7, 7] 4\n", ""))

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

    def test_a_pool_without_a_run_cancels_its_calls(self):
        with weftrt.Executor(max_workers=3) as pool:
            pool._runs = {"first": False, "second": False, "begun": True}
            future = pool.submit(pow, 2, 3)
            pool._lose_run("first")
            pool._lose_run("begun")
            self.assertEqual(set(pool._runs), {"second", "begun"})
            del pool._runs["begun"]
            self.assertFalse(future.done())
            pool._lose_run("second")
            self.assertTrue(future.cancelled())
            self.assertEqual(pool.submit(pow, 2, 4).result(), 16)

    def test_a_run_that_is_cancelled_is_lost(self):  # as where an interrupt ends the program
        with weftrt.Executor(max_workers=1) as pool:
            with unittest.mock.patch.object(_spawn, "_spawn_apart") as spawn:
                future = pool.submit(pow, 2, 3)
                (ended,), _ = spawn.return_value.add_done_callback.call_args
            ended(weftrt.spawn(int))
            self.assertFalse(future.done())
            ended(_Cancelled())
            self.assertTrue(future.cancelled())
            self.assertEqual(pool.submit(pow, 2, 4).result(), 16)

    def test_a_pool_ends_where_its_calls_cannot_become_tasks(self):
        for limit, name in ((None, "spawn"), (1, "_spawn_apart")):
            with unittest.mock.patch.object(_spawn, name, side_effect=RuntimeError("no tasks")):
                with weftrt.Executor(limit) as pool, self.assertRaisesRegex(RuntimeError, "no tasks"):
                    pool.submit(int, 1)

    def test_no_group_or_body_waits_for_the_calls_of_others(self):
        def submit_in_group():
            with weftrt.group():
                pool.submit(begun.wait)
                others.append(other.submit(submit_other).result())

        def submit_below_a_group():
            with weftrt.group():
                weftrt.spawn(submit_first)

        def submit_first():
            pool.submit(begun.wait)
            others.append(other.submit(submit_other).result())

        def submit_before_taskwait():
            submit_first()
            weftrt.taskwait()

        def submit_other():  # this runs behind the first call, on the same run
            future = pool.submit(go.wait, 20)
            begun.set()
            return future

        with weftrt.Executor(max_workers=1) as pool, weftrt.Executor(max_workers=1) as other:
            for use in submit_in_group, submit_below_a_group, submit_before_taskwait:
                for call in use, lambda: weftrt.spawn(use).result():
                    begun, go, others = threading.Event(), threading.Event(), []
                    call()
                    self.assertFalse(others[0].done())
                    go.set()
                    self.assertTrue(others[0].result())

    def test_an_interrupt_while_a_runner_begins_leaves_as_many_runs_as_asked_for(self):
        for begins_first in True, False:
            ended = python(
                f"""
                import concurrent.futures, threading, time, weftrt
                from weftrt import _spawn
                begun, starts = threading.Event(), []
                def start():
                    starts.append(threading.Thread(target=_spawn._tasks.run_forever, daemon=True))
                    if len(starts) > 1 or {begins_first}:
                        starts[-1].start()
                    if len(starts) == 1:
                        if {begins_first}:
                            begun.wait()
                        raise KeyboardInterrupt  # of a handler, while Thread.start() waits
                _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
                pool, running, most = weftrt.Executor(max_workers=1), 0, 0
                def call():
                    global running, most
                    begun.set()
                    running += 1
                    most = max(most, running)
                    time.sleep(0.05)
                    running -= 1
                try:
                    pool.submit(call)
                except KeyboardInterrupt:
                    print("interrupted")
                for future in [pool.submit(call) for _ in range(4)]:
                    future.result()
                pool.shutdown()
                print(most, pool._runs)
                """,
                WEFT_WORKERS="4",
            )
            self.assertEqual(ended.stderr, "", begins_first)
            self.assertEqual(ended.stdout, "interrupted\n1 {}\n", begins_first)

    def test_a_run_that_fails_is_reported_at_the_end_of_the_program(self):
        ended = python(
            """
            import os, threading, time, weftrt
            from weftrt import _spawn
            failed = threading.Event()
            def fail(*_):
                failed.set()
                raise MemoryError("in a run")
            _spawn._run_call = fail
            weftrt.Executor(max_workers=1).submit(int)
            failed.wait()
            weftrt.taskwait()
            time.sleep(0.2)  # for the end of the body
            child = os.fork()
            if child:
                os.waitpid(child, 0)
            """,
            PYTHONWARNINGS="ignore::DeprecationWarning",  # of fork beside threads, since 3.12
        )
        self.assertIn("a task that nothing has waited for", ended.stderr)
        self.assertEqual(ended.stderr.count("MemoryError: in a run"), 1, ended.stderr)  # by the parent

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
        for limit in 1, None:
            with weftrt.Executor(limit) as pool:
                with pool._changed:
                    first = pool.submit(interrupt)
                    second = pool.submit(pow, 2, 3)
                self.assertIsInstance(first.exception(), KeyboardInterrupt)
                self.assertEqual(second.result(20), 8)
            if limit:
                weftrt.taskwait()
            else:
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

@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class ExecutorsAtTheEnd(unittest.TestCase):
    def test_calls_of_a_run_that_finds_no_thread_run_at_the_end(self):
        ended = python(
            """
            import concurrent.futures, weftrt
            from weftrt import _spawn
            def start():
                raise RuntimeError("can't start new thread")
            _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
            weftrt.Executor(max_workers=1).submit(print, "bye")
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("bye\n", "", 0))



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
