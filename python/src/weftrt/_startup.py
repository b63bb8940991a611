# SPDX-License-Identifier: Apache-2.0
"""What weftrt.pth imports at the start of every program of an environment that is enabled."""

import os
import sys

if os.environ.get("WEFTRT") != "0":
    try:
        from weftrt._install import install

        install()
    except Exception as error:  # a program starts, whatever has become of this package
        sys.stderr.write(f"weftrt: this program runs without Weft: {error}\n")
