# SPDX-License-Identifier: Apache-2.0
"""What tasks are called, and where their functions are written."""

import functools
import sys
import threading
import time
import unittest
import weakref

import weftrt
from weftrt import _native_files

CAN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()


def place_of(task):
    return sys.modules["weftrt._tasks"].place(task)


def make(name, line=1):
    """Makes a function with a code of its own, which nothing else refers to."""
    names = {}
    exec(compile("\n" * (line - 1) + f"def {name}(*data): return '{name}'", f"/{name}.py", "exec"), names)
    return names[name]


@unittest.skipUnless(CAN, "tasks need Python 3.11, and a build with its headers")
class Names(unittest.TestCase):
    def setUp(self):
        self.addCleanup(lambda: weftrt.taskwait())

    def held(self):
        """Returns data that the next tasks wait for, until the test ends."""
        data, gate = bytearray(8), threading.Event()
        weftrt.spawn(gate.wait, updates=data)
        self.addCleanup(gate.set)
        return data

    def test_a_task_has_the_name_and_the_place_of_its_function(self):
        task = weftrt.spawn(make("apple", 7))
        self.assertEqual(task.label, "apple")
        self.assertEqual(place_of(task), "apple at /apple.py:7")
        task = weftrt.spawn(functools.partial(functools.partial(make("pear", 3), 1), 2))
        self.assertEqual((task.label, place_of(task)), ("pear", "pear at /pear.py:3"))
        task = weftrt.spawn(len, "abc")
        self.assertEqual((task.label, place_of(task)), ("len", ""))

    def test_tasks_of_one_function_have_its_name_whatever_their_labels(self):
        data, apple, pear = self.held(), make("apple", 7), make("pear", 3)
        words = {"updates": data}
        tasks = [
            weftrt.spawn(apple, **words),
            weftrt.spawn(apple, **words),
            weftrt.spawn(apple, label="mine", **words),
            weftrt.spawn(apple, **words),
            weftrt.spawn(apple, label="yours", **words),
            weftrt.spawn(apple, label="yours", **words),
            weftrt.spawn(pear, **words),
            weftrt.spawn(apple, **words),
        ]
        self.assertEqual(
            [task.label for task in tasks],
            ["apple", "apple", "mine", "apple", "yours", "yours", "pear", "apple"],
        )
        self.assertEqual(
            [place_of(task) for task in tasks],
            ["apple at /apple.py:7"] * 6 + ["pear at /pear.py:3", "apple at /apple.py:7"],
        )

    def test_a_spawn_while_the_name_of_the_same_object_is_looked_up_has_the_name(self):
        outer = self

        class Lazy:
            """Spawns itself when it is asked for an attribute."""

            def __getattr__(self, name):
                if name == outer.asked:
                    outer.asked = None
                    outer.inner = weftrt.spawn(self)
                if name == "__qualname__":
                    return "lazy"
                raise AttributeError(name)

            def __call__(self):
                return 7

        for attribute in ("__qualname__", "__code__"):
            self.asked, lazy = attribute, Lazy()
            tasks = [weftrt.spawn(lazy), self.inner, weftrt.spawn(lazy)]
            self.assertEqual([task.label for task in tasks], ["lazy"] * 3, attribute)
            self.assertEqual([place_of(task) for task in tasks], [""] * 3)
            self.assertEqual([task.result() for task in tasks], [7] * 3)

    def test_threads_that_spawn_one_object_all_have_its_name(self):
        class Slow:
            """Gives the other threads their turns when it is asked for an attribute."""

            def __getattr__(self, name):
                time.sleep(0.0005)
                raise AttributeError(name)

            def __call__(self):
                return 7

        slow, found = Slow(), []

        def spawns():
            for _ in range(50):
                task = weftrt.spawn(slow)
                found.append((task.label, task.result()))

        threads = [threading.Thread(target=spawns) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [("Slow", 7)] * 200)

    def test_a_function_at_the_address_of_one_that_is_gone_has_its_own_name(self):
        for number in range(300):  # most are at the address of the one before
            task = weftrt.spawn(make(f"fruit{number}"))
            self.assertEqual(task.result(), f"fruit{number}")
            self.assertEqual((task.label, place_of(task)), (f"fruit{number}", f"fruit{number} at /fruit{number}.py:1"))
            del task

    def test_names_outlive_the_functions(self):
        first = weftrt.spawn(make("apple"))
        again = weftrt.spawn(make("apple"))
        weftrt.taskwait()
        for number in range(1000):
            weftrt.spawn(make(f"fruit{number}"))
        weftrt.taskwait()
        self.assertEqual([first.label, again.label], ["apple", "apple"])
        self.assertEqual([place_of(first), place_of(again)], ["apple at /apple.py:1"] * 2)

    def test_code_that_a_spawn_gives_up_may_spawn(self):
        others = [make(f"other{number}") for number in range(2000)]
        called = []

        def fill(reference):  # spawns so many functions that all places are taken anew
            called.append(reference)
            for other in others:
                weftrt.spawn(other)

        for number in range(20):
            victim = make(f"victim{number}")
            watched = weakref.ref(victim.__code__, fill)
            weftrt.spawn(victim).result()
            weftrt.taskwait()
            del victim  # only the table of places has the code
            fruits = [make(f"fruit{number}_{each}") for each in range(2000)]
            for fruit in fruits:
                task = weftrt.spawn(fruit)
                self.assertEqual(place_of(task), f"{fruit.__name__} at /{fruit.__name__}.py:1")
                if watched() is None:
                    break
        if not _native_files.IS_FREE_THREADED:  # there code lives on until the collector comes
            self.assertGreater(len(called), 0)

    def test_threads_name_tasks_at_once(self):
        wrong = []

        def spawns(thread):
            fruits = [make(f"fruit{thread}_{each}") for each in range(200)]
            for _ in range(20):
                for fruit in fruits:
                    task, name = weftrt.spawn(fruit), fruit.__name__
                    if (task.label, place_of(task)) != (name, f"{name} at /{name}.py:1"):
                        wrong.append((name, task.label, place_of(task)))
            weftrt.taskwait()

        threads = [threading.Thread(target=spawns, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
