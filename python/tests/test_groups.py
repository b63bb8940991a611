# SPDX-License-Identifier: Apache-2.0
"""Groups of tasks in Python, and interrupts of their waits."""

import asyncio
import threading
import time
import unittest

import weftrt
from children import CAN, python


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Groups(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: weftrt.taskwait())

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

    def test_async_groups_let_other_coroutines_run(self):
        ended = []

        async def count(go):
            while not ended:
                go.set()
                await asyncio.sleep(0)
            return len(ended)

        async def main():
            go = threading.Event()
            other = asyncio.create_task(count(go))
            async with weftrt.group() as group:
                weftrt.spawn(lambda: (go.wait(), ended.append(1)))
                self.assertFalse(go.is_set())
            self.assertEqual(ended, [1])  # the body has waited for the other coroutine
            async with group:  # again, and without tasks
                pass
            return await other

        self.assertEqual(asyncio.run(main()), 1)

    def test_async_groups_raise_as_others_do(self):
        async def main():
            with self.assertRaises(ValueError):
                async with weftrt.group() as group:
                    weftrt.spawn(int, "x")
            self.assertTrue(group.cancelled())
            ran = []
            with self.assertRaises(ValueError):
                async with weftrt.group(cancel=False):
                    a = bytearray(1)
                    weftrt.spawn(int, "x", updates=a)
                    weftrt.spawn(ran.append, 1, updates=a)
            self.assertEqual(ran, [1])
            begun, go = threading.Event(), threading.Event()
            with self.assertRaises(KeyError) as caught:
                async with weftrt.group(cancel=False):
                    weftrt.spawn(lambda: (begun.set(), go.wait(), int("x")))
                    begun.wait()
                    asyncio.get_running_loop().call_later(0.01, go.set)
                    raise KeyError("block")
            self.assertIn("ValueError", caught.exception.__notes__[0])
            weftrt.taskwait()  # each was raised once

        asyncio.run(main())

    def test_async_groups_nest(self):
        ended = []

        async def branch(k):
            async with weftrt.group():
                weftrt.spawn(lambda: (time.sleep(0.01), ended.append(k)))
            self.assertIn(k, ended)

        async def main():
            async with weftrt.group():
                weftrt.spawn(lambda: ended.append("outer"))
                async with weftrt.group():
                    weftrt.spawn(lambda: ended.append("inner"))
                self.assertIn("inner", ended)
                await asyncio.gather(*(branch(k) for k in range(50)))
            self.assertEqual(len(ended), 52)

        asyncio.run(main())

    def test_a_cancelled_coroutine_cancels_its_group_and_awaits_what_has_begun(self):
        begun, go, a, ran = threading.Event(), threading.Event(), bytearray(1), []

        def body():
            begun.set()
            go.wait()
            ran.append("first")
            raise ValueError("body")

        async def wait():
            async with weftrt.group(cancel=False):
                weftrt.spawn(body, updates=a)
                weftrt.spawn(ran.append, "second", updates=a)

        async def main():
            waits = asyncio.create_task(wait())
            while not begun.is_set():
                await asyncio.sleep(0.001)
            for _ in range(2):  # a second request ends the wait no sooner
                waits.cancel()
                await asyncio.sleep(0.01)
                self.assertFalse(waits.done())
            go.set()
            with self.assertRaises(asyncio.CancelledError) as caught:
                await waits
            self.assertEqual(ran, ["first"])
            return caught.exception

        self.assertIn("ValueError('body')", asyncio.run(main()).__notes__[0])

    def test_a_coroutine_that_is_closed_leaves_its_tasks_to_what_is_around(self):
        begun, go, ran, a = threading.Event(), threading.Event(), [], bytearray(1)

        async def wait():
            async with weftrt.group():
                weftrt.spawn(lambda: (begun.set(), go.wait(), ran.append(1)), updates=a)
                weftrt.spawn(ran.append, 2, updates=a)
                begun.wait()

        async def main():
            coroutine = wait()
            coroutine.send(None)  # as far as the end of the block
            coroutine.close()
            with weftrt.group():  # the closed one encloses none
                weftrt.spawn(ran.append, 3)
            self.assertEqual(ran, [3])

        asyncio.run(main())
        go.set()
        weftrt.taskwait()
        self.assertEqual(ran, [3, 1])

    def test_bodies_await_groups_on_one_worker(self):
        program = """
import asyncio, weftrt
async def main():
    async with weftrt.group():
        tasks = [weftrt.spawn(lambda k=k: k) for k in range(10)]
    return sum(task.result() for task in tasks)
print(weftrt.spawn(lambda: asyncio.run(main())).result())
"""
        found = python(program, WEFT_WORKERS="1")
        self.assertEqual(found.stdout, "45\n", found.stderr)

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

    def test_a_group_that_ends_before_one_inside_of_it_is_refused_and_over(self):
        outer, middle, inner = (weftrt.group() for _ in range(3))
        outer.__enter__()
        middle.__enter__()
        slow = weftrt.spawn(lambda: (time.sleep(0.05), int("x")), label="slow")
        inner.__enter__()
        with self.assertRaisesRegex(RuntimeError, "behind the groups inside of it") as caught:
            middle.__exit__(None, None, None)
        self.assertTrue(slow.done())
        self.assertIn("'slow' also raised: ValueError", caught.exception.__notes__[0])
        with self.assertRaisesRegex(RuntimeError, "behind the groups inside of it"):
            middle.__exit__(None, None, None)
        of_inner = weftrt.spawn(int, 5)
        inner.__exit__(None, None, None)
        of_outer = weftrt.spawn(int, 6)
        outer.__exit__(None, None, None)
        self.assertTrue(of_inner.done() and of_outer.done())
        tasks = (of_inner, of_outer, weftrt.spawn(int, 7))
        self.assertEqual([task.result() for task in tasks], [5, 6, 7])

    def test_a_body_on_top_of_a_group_leaves_it_as_it_is(self):
        ended = python(
            """
            import concurrent.futures, weftrt
            from weftrt import _spawn
            def start():
                raise RuntimeError("can't start new thread")  # so each wait runs what it waits for
            _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
            def has_group():
                with weftrt.group():
                    pass
            def leaves_group_open():
                weftrt.group().__enter__()
            def use(body, nested):
                done = []
                with weftrt.group():
                    if nested:
                        with weftrt.group():
                            weftrt.spawn(body)
                    else:
                        weftrt.spawn(body).result()
                    weftrt.spawn(done.append, "of the group")
                return list(done)
            for body in has_group, leaves_group_open:
                for nested in False, True:
                    print(use(body, nested), weftrt.spawn(use, body, nested).result())
            weftrt.taskwait()
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual(ended.stderr, "")
        self.assertEqual(ended.stdout, "['of the group'] ['of the group']\n" * 4)

    def test_an_interrupt_at_the_end_of_a_group_cancels_it(self):
        ended = python(
            """
            import os, signal, threading, time, weftrt
            begun, go = threading.Semaphore(0), threading.Event()
            def body():
                begun.release()
                go.wait()
            def send():
                time.sleep(0.1)  # the main thread waits meanwhile
                os.kill(os.getpid(), signal.SIGINT)
            try:
                with weftrt.group() as group:
                    tasks = [weftrt.spawn(body) for _ in range(20)]
                    begun.acquire(), begun.acquire()
                    threading.Thread(target=send).start()
            except KeyboardInterrupt:
                print(group.cancelled(), sum(task.cancelled() for task in tasks))
            go.set()
            """,
            WEFT_WORKERS="2",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("True 18\n", ""))

    def test_what_runs_of_an_interrupted_group_is_waited_for_and_keeps_its_data(self):
        for outer, wait in (("contextlib.nullcontext()", "weftrt.taskwait()"), ("weftrt.group()", "pass")):
            ended = python(
                f"""
                import contextlib, os, signal, threading, time, weftrt
                a, order = bytearray(1), []
                begun, go = threading.Event(), threading.Event()
                def fail():
                    raise KeyError("seen")
                def body():
                    begun.set()
                    go.wait()
                    order.append("old")
                    raise ValueError("late")
                def send():
                    time.sleep(0.1)  # the main thread waits meanwhile
                    os.kill(os.getpid(), signal.SIGINT)
                try:
                    with {outer}:
                        try:
                            with weftrt.group(cancel=False) as group:
                                weftrt.spawn(fail, label="fail", blocking=True)
                                weftrt.spawn(body, updates=a)
                                begun.wait()
                                threading.Thread(target=send).start()
                        except KeyboardInterrupt as interrupt:
                            print(interrupt.__notes__)
                        try:
                            group.__enter__()
                        except RuntimeError as error:
                            print(error)
                        weftrt.spawn(lambda: order.append("new"), updates=a)
                        threading.Timer(0.1, go.set).start()
                        {wait}
                except ValueError as error:
                    print(order, error, error.__notes__ if hasattr(error, "__notes__") else "")
                with group:
                    weftrt.spawn(order.append, "again")
                print(order[-1])
                """,
                WEFT_WORKERS="1",
            )
            self.assertEqual(ended.stderr, "", wait)
            self.assertEqual(
                ended.stdout,
                "[\"task 'fail' also raised: KeyError('seen')\"]\n"
                "the group is in use; make one for each `with`\n"
                "['old', 'new'] late \n"
                "again\n",
                wait,
            )

    def test_a_body_that_leaves_an_interrupted_group_has_ended_when_its_tasks_have(self):
        ended = python(
            """
            import concurrent.futures, os, signal, threading, time, weftrt
            from weftrt import _spawn
            begun, go, order = threading.Event(), threading.Event(), []
            may_start = False
            def start():
                if not may_start:
                    raise RuntimeError("can't start new thread")
                threading.Thread(target=_spawn._tasks.run_forever, daemon=True).start()
            _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
            def inner():
                begun.set()
                go.wait()
                order.append("inner")
            def send():
                time.sleep(0.1)  # the main thread waits meanwhile
                os.kill(os.getpid(), signal.SIGINT)
                threading.Timer(0.1, go.set).start()
            def body():  # on the main thread, which waits for it
                global may_start
                may_start = True
                try:
                    with weftrt.group(), weftrt.group():
                        weftrt.spawn(inner, blocking=True)
                        begun.wait()
                        threading.Thread(target=send).start()
                except KeyboardInterrupt:
                    pass
            weftrt.spawn(body).result()
            weftrt.taskwait()
            print(order)
            """,
            WEFT_WORKERS="1",
        )
        self.assertEqual((ended.stdout, ended.stderr), ("['inner']\n", ""))

    def test_an_interrupt_while_a_runner_begins_is_not_lost(self):
        ended = python(
            """
            import concurrent.futures, threading, weftrt
            from weftrt import _spawn
            starts = []
            def start():
                starts.append(1)
                if len(starts) in (3, 4):
                    raise KeyboardInterrupt  # of a handler, while Thread.start() waits
                if len(starts) < 5:
                    raise RuntimeError("can't start new thread")
                threading.Thread(target=_spawn._tasks.run_forever, daemon=True).start()
            _spawn._tasks.set_helpers(start, _spawn._await, concurrent.futures.CancelledError)
            order = []
            weftrt.spawn(order.append, 1)
            weftrt.spawn(order.append, 2)
            try:
                with weftrt.blocking():
                    print("blocks")
            except KeyboardInterrupt:
                print("interrupted", order)
            try:
                weftrt.taskwait()
            except KeyboardInterrupt:
                print("interrupted", order)
            weftrt.taskwait()
            print(sorted(order), len(starts))
            weftrt.spawn(order.append, 3).result()
            """,
            WEFT_WORKERS="2",
        )
        self.assertEqual(ended.stderr, "")
        self.assertEqual(ended.stdout, "interrupted []\ninterrupted []\n[1, 2] 5\n")

    # ---- places ----
