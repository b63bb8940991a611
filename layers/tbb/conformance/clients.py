# SPDX-License-Identifier: Apache-2.0
"""One program that uses TBB through a Python package, called from several threads at once.

usage: clients.py CASE CALLERS [SCALE]

There are eight jobs. Each compares what it computes with an answer that was computed without TBB. The script prints one line of JSON: whether all are right, what
they computed, rounded to what the order of additions leaves alone, and the seconds. Exit status: 1 when an answer is wrong."""
import ctypes
import glob
import json
import os
import sys
import time
from multiprocessing.pool import ThreadPool

import numpy as np

JOBS = 8


def numba_case(scale, rng):
    """Runs a parallel loop, and a reduction, of numba's layer `tbb`."""
    os.environ["NUMBA_NUM_THREADS"] = "8"
    os.environ["NUMBA_THREADING_LAYER"] = "tbb"
    import numba

    @numba.njit(parallel=True)
    def roots(values, out):
        total = 0.0
        for i in numba.prange(values.shape[0]):
            out[i] = np.sqrt(values[i])
            total += out[i]
        return total

    values = rng.random(int(200000 * scale))
    right = np.sqrt(values)

    def job(_):
        out = np.empty_like(values)
        for _ in range(40):
            total = roots(values, out)
            if abs(total - right.sum()) > 1e-9 * right.sum() or not np.allclose(out, right, rtol=1e-14):
                return False, 0
        return numba.threading_layer() == "tbb", float(f"{total:.9g}")

    return job


def mkl_case(scale, rng):
    """Computes products of matrices by MKL's C interface, which Python calls without its lock."""
    blas = ctypes.CDLL(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))[0])
    n = int(300 * scale)
    a, b = rng.random((n, n)), rng.random((n, n))
    right = np.einsum("ij,jk->ik", a, b)

    def job(_):
        c = np.zeros((n, n))
        pointers = [m.ctypes.data_as(ctypes.c_void_p) for m in (a, b, c)]
        for _ in range(20):
            blas.cblas_dgemm(101, 111, 111, n, n, n, ctypes.c_double(1), pointers[0], n, pointers[1], n, ctypes.c_double(0), pointers[2], n)
        return bool(np.allclose(c, right, rtol=1e-12)), float(f"{np.trace(c):.9g}")

    return job


def openvino_case(scale, rng):
    """Infers by a network of six layers, whose answer numpy computes, too."""
    import openvino
    from openvino import opset13 as op
    rows, width = int(128 * scale), 256
    weights = [rng.normal(size=(width, width)).astype(np.float32) / 16 for _ in range(6)]
    data = rng.normal(size=(rows, width)).astype(np.float32)
    right = data.astype(np.float64)
    for w in weights:
        right = np.maximum(right @ w, 0)
    given = op.parameter([rows, width], np.float32)
    at = given
    for w in weights:
        at = op.relu(op.matmul(at, op.constant(w), False, False))
    model = openvino.compile_model(openvino.Model([op.result(at)], [given]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def job(_):
        request = model.create_infer_request()
        for _ in range(30):
            result = request.infer([data])[0]
        return bool(np.allclose(result, right, rtol=1e-3, atol=1e-4)), float(f"{result.astype(np.float64).sum():.4g}")

    return job


def manifold_case(scale, _):
    """Unites, intersects and subtracts two bodies: their volumes add up."""
    from manifold3d import Manifold
    segments = int(160 * scale)
    ball, other = Manifold.sphere(10, segments), Manifold.sphere(9, segments + 4).translate([4, 3, 2])

    def job(_):
        both, common, rest = ball + other, ball ^ other, ball - other
        sums = both.volume() + common.volume() - ball.volume() - other.volume(), rest.volume() + common.volume() - ball.volume()
        return max(map(abs, sums)) < 1e-6 * ball.volume(), [both.num_tri(), common.num_tri(), rest.num_tri(), float(f"{both.volume():.9g}")]

    return job


def main():
    case, callers = sys.argv[1], int(sys.argv[2])
    scale = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    job = globals()[case + "_case"](scale, np.random.default_rng(1))
    job(0)
    begin = time.monotonic()
    if callers == 1:
        results = [job(i) for i in range(JOBS)]
    else:
        with ThreadPool(callers) as pool:
            results = pool.map(job, range(JOBS), chunksize=1)
    right = all(r for r, _ in results)
    print(json.dumps({"right": right, "results": [v for _, v in results], "seconds": round(time.monotonic() - begin, 3)}), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
