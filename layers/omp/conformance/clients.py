# SPDX-License-Identifier: Apache-2.0
"""One program that uses OpenMP through a Python package, called from several threads at once.

usage: clients.py CASE CALLERS [SCALE]       OMP_NUM_THREADS is the number of OpenMP threads of each caller

There are eight jobs. The script compares what each computes with an answer that was computed without OpenMP. It prints one line of JSON: seconds, CPU seconds,
most threads, the OpenMP runtimes that are mapped. Exit status: 1 when an answer is wrong."""
import glob
import json
import os
import re
import resource
import sys
import threading
import time
from multiprocessing.pool import ThreadPool

import numpy as np

JOBS = 8


def faiss_case(scale, rng):
    """Runs an exact search: inner products by BLAS, neighbours by OpenMP."""
    import faiss
    width, many = 32, int(6000 * scale)
    base, asked = rng.random((many, width), dtype=np.float32), rng.random((200, width), dtype=np.float32)
    index = faiss.IndexFlatL2(width)
    index.add(base)
    there, here = base.astype(np.float64), asked.astype(np.float64)
    distances = (there ** 2).sum(1)[None, :] - 2 * np.einsum("ij,kj->ik", here, there) # but for a constant in each row
    right = np.argsort(distances, axis=1)[:, :5]

    def job(_):
        for _ in range(10):
            found = index.search(asked, 5)[1]
        return (found == right).mean() > 0.999 # float against double: near ties

    return job


def lightgbm_case(scale, rng):
    """Trains a boosted model, which is the same whatever the number of threads: deterministic."""
    import lightgbm
    data = rng.random((int(4000 * scale), 20))
    label = (data[:, 0] + data[:, 1] * data[:, 2] > 0.8).astype(int)

    def train(seed, threads=0):
        options = dict(objective="binary", num_leaves=31, verbose=-1, deterministic=True, force_row_wise=True, seed=seed, num_threads=threads)
        return lightgbm.train(options, lightgbm.Dataset(data, label, params={"verbose": -1}), 20).predict(data)

    right = train(1, 1)

    def job(_):
        got = train(1)
        return np.allclose(got, right, atol=1e-9) and ((got > 0.5) == label).mean() > 0.97

    return job


def numba_case(scale, rng):
    os.environ["NUMBA_THREADING_LAYER"] = "omp"
    import numba

    @numba.njit(parallel=True)
    def roots(values):
        total = 0.0
        for i in numba.prange(values.shape[0]):
            total += np.sqrt(values[i])
        return total

    values = rng.random(int(200000 * scale))
    right = np.sqrt(values).sum()

    def job(_):
        return all(abs(roots(values) - right) < 1e-6 * right for _ in range(40))

    return job


def sklearn_case(scale, rng):
    """Runs k-means by Lloyd's rule. Labels are those of the nearest centre, which numpy can compute."""
    import sklearn.cluster
    data = rng.random((int(4000 * scale), 8))

    def job(seed):
        model = sklearn.cluster.KMeans(8, n_init=1, random_state=seed, max_iter=40).fit(data)
        nearest = ((data[:, None, :] - model.cluster_centers_[None]) ** 2).sum(2).argmin(1)
        return (nearest == model.labels_).mean() > 0.999

    return job


def product_case(library, scale, rng):
    """Computes a matrix product through the C interface of a BLAS, which Python calls without its lock."""
    import ctypes
    blas = ctypes.CDLL(library)
    n = int(300 * scale)
    a, b = rng.random((n, n)), rng.random((n, n))
    right = np.einsum("ij,jk->ik", a, b)

    def job(_):
        c = np.zeros((n, n))
        pointers = [m.ctypes.data_as(ctypes.c_void_p) for m in (a, b, c)]
        for _ in range(20):
            blas.cblas_dgemm(101, 111, 111, n, n, n, ctypes.c_double(1), pointers[0], n, pointers[1], n, ctypes.c_double(0), pointers[2], n)
        return np.allclose(c, right)

    return job


def openblas_case(scale, rng):
    return product_case(os.environ["WEFT_OPENBLAS"], scale, rng)


def mkl_case(scale, rng):
    return product_case(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))[0], scale, rng)


def mapped():
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    return sorted(p for p in paths if re.search(r"/lib(gomp|omp|iomp5)\b[^/]*\.so", p))


def main():
    case, callers = sys.argv[1], int(sys.argv[2])
    scale = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    job = globals()[case + "_case"](scale, np.random.default_rng(1))
    job(0)
    most, over = [0], threading.Event()

    def watch():
        while not over.wait(0.02):
            most[0] = max(most[0], len(os.listdir("/proc/self/task")))

    watcher = threading.Thread(target=watch)
    watcher.start()
    used, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    if callers == 1:
        right = [job(i) for i in range(JOBS)]
    else:
        with ThreadPool(callers) as pool:
            right = pool.map(job, range(JOBS), chunksize=1)
    seconds, now = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF)
    over.set()
    watcher.join()
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(json.dumps({"right": bool(all(right)), "seconds": round(seconds, 3), "cpu": round(cpu, 3), "threads": most[0], "mapped": mapped()}), flush=True)
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
