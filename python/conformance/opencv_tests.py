# SPDX-License-Identifier: Apache-2.0
"""OpenCV with a number of threads: its results are those of one thread, and with the number 1 no other thread computes."""

import os
import threading

import cv2
import numpy as np
import pytest

IMAGE = np.random.default_rng(0).integers(0, 255, (1500, 1500, 3), dtype=np.uint8)
FILTERS = {
    "resize": lambda: cv2.resize(IMAGE, (700, 600), interpolation=cv2.INTER_AREA),
    "median": lambda: cv2.medianBlur(IMAGE, 5),
    "gauss": lambda: cv2.GaussianBlur(IMAGE, (15, 15), 3),
    "colour": lambda: cv2.cvtColor(IMAGE, cv2.COLOR_BGR2HSV),
}


@pytest.fixture(autouse=True)
def same_number_later():
    before = cv2.getNumThreads()
    yield
    cv2.setNumThreads(before)


def ticks():
    """Returns the processor time that each thread of the process has had, in clock ticks; without Weft's own, whose watcher looks around."""
    found = {}
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        if not name.startswith("weft-"):
            found[thread] = sum(map(int, rest.split()[11:13]))
    return found


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("threads", [2, 5])
def test_results_are_those_of_one_thread(name, threads):
    cv2.setNumThreads(1)
    alone = FILTERS[name]()
    cv2.setNumThreads(threads)
    assert cv2.getNumThreads() == threads
    assert np.array_equal(FILTERS[name](), alone)


def test_with_the_number_1_no_other_thread_computes():
    cv2.setNumThreads(1)
    before = ticks()
    for _ in range(20):
        FILTERS["median"]()
    caller = str(threading.get_native_id())
    others = {thread: used - before.get(thread, 0) for thread, used in ticks().items() if thread != caller}
    assert sum(others.values()) <= 2


def test_several_python_threads_with_the_number_1_compute_by_themselves():
    cv2.setNumThreads(1)
    wanted, found = FILTERS["gauss"](), [None] * 4

    def work(i):
        found[i] = FILTERS["gauss"]()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    before = most = len(ticks())
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, len(ticks()))
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, wanted) for one in found)
    assert most <= before + 4
