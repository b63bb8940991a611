# SPDX-License-Identifier: Apache-2.0
"""Names the parallel runtimes that a Python process may hold, and the variables that limit them."""

import os
import re
from typing import NamedTuple, Tuple


class Pool(NamedTuple):
    """A pool of threads that Weft cannot run: it keeps its threads."""

    name: str
    pattern: "re.Pattern"  # of the file's name
    variable: str  # which sets how many threads it has; "" for none


class Jobs(NamedTuple):
    """A library that gives its jobs to Weft by a threads callback."""

    kind: str
    pattern: "re.Pattern"  # of the file's name
    since: str  # the first version with a callback that Weft can use
    variable: str  # which limits its jobs; "" for none


class Linked(NamedTuple):
    """A runtime that is linked into modules: it is in no file of its own."""

    kind: str
    texts: Tuple[bytes, ...]  # constants that each copy with threads has, and no other code
    variable: str  # which limits its threads


OPENMP = re.compile(r"lib(gomp|omp|iomp5)([-.].*)?\.so")
TBB = re.compile(r"libtbb(12)?([-.].*)?\.so")
JOBS = (
    Jobs("BLAS", re.compile(r"lib(scipy_)?openblas.*\.so"), "OpenBLAS 0.3.28", "OPENBLAS_NUM_THREADS"),
    Jobs("FFTW", re.compile(r"libfftw3.*\.so"), "FFTW 3.3.9", ""),
    Jobs("Blosc2", re.compile(r"libblosc2.*\.so"), "C-Blosc2 3.0", "BLOSC_NTHREADS"),
)

POOLS = (
    Pool("polars", re.compile(r"polars.*\.so|_polars_runtime.*\.so"), "POLARS_MAX_THREADS"),
    Pool("pyarrow", re.compile(r"libarrow\.so"), "OMP_NUM_THREADS"),
    Pool("onnxruntime", re.compile(r"(lib)?onnxruntime.*\.so"), ""),
    Pool("TensorFlow", re.compile(r"libtensorflow_cc\.so"), "TF_NUM_INTRAOP_THREADS"),
    Pool("tokenizers (Rayon)", re.compile(r"tokenizers.*\.so"), "RAYON_NUM_THREADS"),
    Pool("OpenCV", re.compile(r"cv2.*\.so|libopencv_core.*\.so"), "OPENCV_FOR_THREADS_NUM"),
    Pool("blosc2", re.compile(r"blosc2_ext.*\.so"), "BLOSC_NTHREADS"),
)

LINKED = (
    Linked("OpenMP", (b"GOMP_SPINCOUNT", b"GOMP_CPU_AFFINITY"), "OMP_NUM_THREADS"),  # GCC's
    Linked("OpenMP", (b"KMP_FORKJOIN_BARRIER", b"KMP_BLOCKTIME"), "OMP_NUM_THREADS"),  # LLVM's
    Linked("BLAS", (b"OpenBLAS blas_thread_init", b"GOTO_NUM_THREADS"), "OPENBLAS_NUM_THREADS"),
)
LINKED_TBB = (b"libirml.so.1", b"__RML_open_factory")  # it looks for Weft's library, as one in a file of its own

# Variables that limit threads, and what they limit.
VARIABLES = {
    "WEFT_WORKERS": "the workers of Weft",
    "OMP_NUM_THREADS": "teams of OpenMP and, where no other variable says more, OpenBLAS",
    "OMP_THREAD_LIMIT": "all threads of OpenMP",
    "OPENBLAS_NUM_THREADS": "jobs of one OpenBLAS call",
    "MKL_NUM_THREADS": "jobs of one MKL call",
    "NUMBA_NUM_THREADS": "parts of one numba loop",
}


def name_matches(pattern, path):
    """Returns whether a file's name is one of the pattern's."""
    return pattern.match(os.path.basename(path)) is not None
