#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clients.py CLIENT THREADS CALLERS: unmodified packages of two runtimes at work in one process, from some threads at once.

Prints one line of JSON: seconds, processor seconds and context switches of the work, and whether its results are those of one thread.
"""
import json
import resource
import sys
import threading
import time

import numpy as np


def usage():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), r.ru_utime + r.ru_stime, r.ru_nvcsw + r.ru_nivcsw


def points(n=20_000):
    return np.random.default_rng(1).normal(size=(n, 8)).astype(np.float64)


def clustering():
    """scikit-learn: OpenMP loops of k-means."""
    from sklearn.cluster import KMeans
    data, first = points(), points(8)
    return lambda: float(KMeans(8, init=first, n_init=1, max_iter=8, tol=0).fit(data).inertia_)


def numba_loops():
    """numba: a parallel loop over TBB."""
    import numba
    numba.config.THREADING_LAYER = "tbb"

    @numba.njit(parallel=True)
    def work(x):
        y = np.empty(x.shape[0])
        for i in numba.prange(x.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                for turn in range(20):
                    s += np.sin(x[i, k] + turn)
            y[i] = s
        return y

    data = points()
    return lambda: float(np.round(work(data).sum(), 6))


def inference():
    """OpenVINO: a small network over TBB."""
    import openvino as ov
    from openvino import opset13 as op
    rng = np.random.default_rng(2)
    given = op.parameter([64, 256], np.float32)
    at = given
    for _ in range(6):
        at = op.relu(op.matmul(at, op.constant(rng.normal(size=(256, 256)).astype(np.float32) / 16), False, False))
    request = ov.compile_model(ov.Model([op.result(at)], [given]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    data = rng.normal(size=(64, 256)).astype(np.float32)
    lock = threading.Lock()

    def infer():
        with lock:
            total = 0.0
            for _ in range(20):
                total = float(request.infer([data])[0].sum())
            return round(total, 1)
    return infer


def algebra():
    """numpy: products by its OpenBLAS, with POSIX threads of its own."""
    data = points(600 * 75).reshape(600, 600)
    return lambda: float(np.round((data @ data).trace(), 4))


def frames():
    """polars: a group-by on Rayon's threads."""
    import polars as pl
    data = pl.DataFrame({"key": np.arange(400_000) * 7919 % 1000, "value": np.arange(400_000)})
    return lambda: int(data.group_by("key").agg((pl.col("value") * 3).sum()).sort("key")["value"].sum())


CLIENTS = {
    "numba-sklearn": (numba_loops, clustering),
    "openvino-numpy": (inference, algebra),
    "polars-sklearn": (frames, clustering),
}


def main():
    makers, callers = CLIENTS[sys.argv[1]], int(sys.argv[3])
    work = [make() for make in makers]
    expected = [w() for w in work]  # compiles, and starts the threads
    wrong = []

    def call(number):
        for turn in range(12):
            which = (number + turn) % len(work)
            result = work[which]()
            if abs(result - expected[which]) > 1e-9 * abs(expected[which]) + 1e-6:
                wrong.append((which, result, expected[which]))

    before = usage()
    threads = [threading.Thread(target=call, args=(i,)) for i in range(callers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    after = usage()
    wall, cpu, switches = (b - a for a, b in zip(before, after))
    if wrong:
        print(wrong[:3], file=sys.stderr)
    print(json.dumps({"wall": wall, "cpu": cpu, "switches": switches, "right": not wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
