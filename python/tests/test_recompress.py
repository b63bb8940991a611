# SPDX-License-Identifier: Apache-2.0
"""That a wheel which is compressed anew has the same files."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock
import zipfile
import zlib

FILE = str(pathlib.Path(__file__).resolve().parent.parent / "recompress")


def load(compress):
    """Returns the module recompress, over a zopfli of the test's."""
    zopfli = types.ModuleType("zopfli")
    zopfli.zlib = types.SimpleNamespace(compress=compress)
    loader = importlib.machinery.SourceFileLoader("recompress", FILE)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("recompress", loader))
    with unittest.mock.patch.dict(sys.modules, {"zopfli": zopfli}):
        loader.exec_module(module)
    return module


class Recompress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.wheel = os.path.join(folder.name, "a.whl")
        with zipfile.ZipFile(self.wheel, "w", zipfile.ZIP_DEFLATED) as wheel:
            for name, mode in (("package/bin/weft", 0o755), ("package/data", 0o644)):
                one = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
                one.external_attr, one.compress_type = mode << 16, zipfile.ZIP_DEFLATED
                wheel.writestr(one, b"".join(b"%d," % (i * i % 977) for i in range(20000)), compresslevel=1)
            wheel.writestr("stored", b"x" * 100, zipfile.ZIP_STORED)
        self.before = self.read()

    def read(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            return [(one.filename, one.date_time, one.external_attr, one.compress_type, wheel.read(one)) for one in wheel.infolist()]

    def run_main(self, compress):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), unittest.mock.patch.object(sys, "argv", ["recompress", self.wheel]):
            load(compress).main()
        self.assertEqual(os.listdir(os.path.dirname(self.wheel)), ["a.whl"])
        return said.getvalue()

    def test_files_stay_and_the_wheel_is_smaller(self):
        size = os.path.getsize(self.wheel)
        said = self.run_main(lambda data: zlib.compress(data, 9))
        self.assertLess(os.path.getsize(self.wheel), size)
        self.assertEqual(said, f"recompress: a.whl has {os.path.getsize(self.wheel)} bytes, and had {size}\n")
        self.assertEqual(self.read(), self.before)

    def test_a_larger_one_is_dropped(self):
        size = os.path.getsize(self.wheel)
        said = self.run_main(lambda data: zlib.compress(data, 0))
        self.assertEqual(said, f"recompress: a.whl has {size} bytes, and had {size}\n")
        self.assertEqual(self.read(), self.before)

    def test_a_compressor_that_changes_something_is_refused(self):
        with self.assertRaises((SystemExit, zipfile.BadZipFile)):
            load(lambda data: zlib.compress(data[:-1] + b"!", 9)).recompress(self.wheel)
        self.assertEqual(self.read(), self.before)

    def test_zipfile_has_its_own_compressor_afterwards(self):
        own = zipfile._get_compressor
        load(lambda data: zlib.compress(data, 9)).recompress(self.wheel)
        self.assertIs(zipfile._get_compressor, own)

    def test_says_how_it_is_used(self):
        with unittest.mock.patch.object(sys, "argv", ["recompress"]), self.assertRaises(SystemExit) as end:
            load(zlib.compress).main()
        self.assertEqual(end.exception.code, "usage: recompress WHEEL")


if __name__ == "__main__":
    unittest.main()
