# SPDX-License-Identifier: Apache-2.0
"""A backend of joblib whose calls are tasks."""

import traceback

import joblib
from joblib.parallel import FallbackToBackend, ParallelBackendBase, SequentialBackend

from weftrt import _spawn


class _Lanes(_spawn.Executor):
    """Runs so many calls at once, within the threads of all tasks unless a task waits for them: joblib
    waits without letting other tasks run.
    """

    def __init__(self, max_workers):
        super().__init__(max_workers)
        self._blocks = _spawn.current_task() is not None


class WeftBackend(ParallelBackendBase):
    """parallel_config(backend="weft"): the calls share the threads of all tasks."""

    supports_retrieve_callback = True
    supports_sharedmem = True
    uses_threads = True
    _pool = None

    def effective_n_jobs(self, n_jobs):
        """Returns how many calls run at once: n_jobs, counted from behind if negative."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(_spawn.workers() + 1 + n_jobs, 1)

    def configure(self, n_jobs=1, parallel=None, **_options):
        """Prepares a use of Parallel. Returns effective_n_jobs()."""
        n_jobs = self.effective_n_jobs(n_jobs)
        if n_jobs == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self.parallel = parallel
        self._pool = _Lanes(n_jobs)
        return n_jobs

    def submit(self, func, callback=None):
        """Spawns a batch of calls. `callback` gets its future."""
        future = self._pool.submit(func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit  # before joblib 1.5

    def retrieve_result_callback(self, out):
        """Returns the results of a batch, or raises. joblib takes the traceback from an exception, so a
        note tells it.
        """
        try:
            return out.result()
        except BaseException as error:
            # Not what reaches the thread that waits here, as a KeyboardInterrupt or the end of a cancelled call.
            if out.done() and not out.cancelled() and out.exception() is error:
                lines = traceback.format_tb(error.__traceback__)
                error.add_note("It was raised in a call of Parallel:\n" + "".join(lines).rstrip())
            raise

    def get_nested_backend(self):
        """Returns what Parallel uses inside of a call: tasks on the same threads, and calls in turn inside of these."""
        level = (self.nesting_level or 0) + 1
        kind = type(self) if level == 1 else SequentialBackend
        return kind(nesting_level=level), None

    def terminate(self):
        """Ends a use of Parallel."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def abort_everything(self, ensure_ready=True):
        """Ends a use of Parallel in which a call has raised."""
        n_jobs = self._pool._limit if self._pool is not None else 1
        self.terminate()
        if ensure_ready:
            self.configure(n_jobs=n_jobs, parallel=self.parallel)


def register_joblib():
    """Makes joblib know the backend "weft": joblib.parallel_config(backend="weft")."""
    if not hasattr(joblib, "parallel_config"):
        raise ImportError(
            f"weftrt: the backend of joblib needs joblib 1.3 or later, and this is {joblib.__version__}"
        )
    joblib.register_parallel_backend("weft", WeftBackend)
