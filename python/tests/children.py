# SPDX-License-Identifier: Apache-2.0
"""Programs of their own for tests of tasks, and whether this Python has tasks."""

import os
import signal
import subprocess
import sys
import textwrap

from weftrt import _native_files

# A build without the headers of Python has no tasks.
CAN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()

# A background job of a script ignores interrupts, and its programs inherit that. Where there is a handler, they get the default.
signal.signal(signal.SIGINT, signal.default_int_handler)


def python(code, **variables):
    """Runs code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
        env={**os.environ, **variables},
    )
