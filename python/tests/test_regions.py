# SPDX-License-Identifier: Apache-2.0
"""Tasks in Python that name data: their order, and the regions of their views."""

import random
import sys
import threading
import time
import unittest

import weftrt
from weftrt import _native_files

try:
    import numpy
except ImportError:
    numpy = None
try:
    import _testbuffer  # strided buffers of several dimensions; not in every build of Python
except ImportError:
    _testbuffer = None

CAN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Order(unittest.TestCase):
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

    def test_buffers_are_given_back_as_often_as_they_were_taken(self):
        found = []
        hook, thread_hook = sys.excepthook, threading.excepthook
        sys.excepthook = lambda _type, value, _traceback: found.append(str(value))  # of a bytearray that is given up with buffers
        threading.excepthook = lambda what: found.append(f"{what.exc_type.__name__}: {what.exc_value}")
        self.addCleanup(setattr, sys, "excepthook", hook)
        self.addCleanup(setattr, threading, "excepthook", thread_hook)

        def spawns():  # this thread takes buffers while others give them back
            data = bytearray(8)
            references = sys.getrefcount(data)
            for turn in range(3000):
                task = weftrt.spawn(int, updates=data)
                if turn % 50 == 0:
                    task.result()
            weftrt.taskwait()
            self.assertEqual(sys.getrefcount(data), references)
            with memoryview(data), self.assertRaises(BufferError):
                data.append(1)  # works where this buffer makes up for one that was given back too often
            data.append(1)  # raises BufferError where one is left

        threads = [threading.Thread(target=spawns) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [])

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
