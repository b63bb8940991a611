# SPDX-License-Identifier: Apache-2.0
"""What check_wheel refuses, and what it accepts."""

import importlib.machinery
import importlib.util
import os
import pathlib
import tempfile
import unittest

FILE = str(pathlib.Path(__file__).resolve().parent.parent / "check_wheel")
_loader = importlib.machinery.SourceFileLoader("check_wheel", FILE)
check_wheel = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_wheel", _loader))
_loader.exec_module(check_wheel)

NAME = "weft_runtime-0.1.0-py3-none-manylinux_2_31_x86_64.whl"


class CheckWheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "root"
        for name in check_wheel.NEEDED:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("no library")

    def findings(self, name=NAME, size=10):
        (self.folder / name).write_bytes(b"w" * size)
        return list(check_wheel.findings(str(self.folder / name), str(self.root)))

    def test_accepts_a_whole_wheel(self):
        self.assertEqual(self.findings(size=check_wheel.LIMIT), [])

    def test_refuses_a_large_one(self):
        self.assertEqual(
            self.findings(size=check_wheel.LIMIT + 1),
            ["the wheel has 2097153 bytes; 2097152 are allowed"],
        )

    def test_refuses_one_of_another_tag(self):
        for name in ("w-0.1.0-py3-none-linux_x86_64.whl", "w-0.1.0-cp311-cp311-manylinux_2_31_x86_64.whl"):
            self.assertIn("its name ends with no tag", self.findings(name)[0])

    def test_names_a_file_that_is_missing(self):
        (self.root / "weftrt/_native/bin/weft").unlink()
        self.assertEqual(self.findings(), ["it lacks weftrt/_native/bin/weft"])

    def test_names_tasks_without_a_gil_that_are_missing(self):
        missing = check_wheel.tasks_without_gil("313t")
        (self.folder / NAME).write_bytes(b"w")
        self.assertEqual(list(check_wheel.findings(str(self.folder / NAME), str(self.root), ["313t"])), [f"it lacks {missing}"])
        (self.root / missing).parent.mkdir(parents=True, exist_ok=True)
        (self.root / missing).write_text("no library")
        self.assertEqual(list(check_wheel.findings(str(self.folder / NAME), str(self.root), ["313t"])), [])

    def test_names_a_folder_of_the_builder(self):
        (self.root / "weftrt/_native/bin/weft").write_text("x /home/me/weft/src/a.cpp y")
        self.assertEqual(
            self.findings(),
            ["weftrt/_native/bin/weft names /home/me/weft/src/a.cpp, a folder of the machine that built it"],
        )

    def test_names_the_folder_of_the_sources(self):
        tree = self.folder / "a (tree)"
        (self.root / "weftrt/_native/bin/weft").write_text(f"x {tree}/src/a.cpp y {self.folder}/a  z")
        (self.folder / NAME).write_bytes(b"w")
        self.assertEqual(
            list(check_wheel.findings(str(self.folder / NAME), str(self.root), tree=str(tree))),
            [f"weftrt/_native/bin/weft names {tree}/src/a.cpp, a folder of the machine that built it"],
        )

    def test_reads_elf_files(self):
        own = pathlib.Path(os.environ["WEFTRT_TEST_GOMP"]).read_bytes()
        (self.root / f"weftrt/_native/lib/libweft.so.{check_wheel.ABI}").write_bytes(own)
        found = self.findings()
        self.assertTrue(all("libweft.so" in one for one in found), found)
        self.assertTrue(any("is not stripped" in one for one in found), found)

    def test_reads_what_a_library_needs(self):
        text = """
 0x01 (NEEDED)  Shared library: [libweft.so.0]
 0x01 (NEEDED)  Shared library: [libc.so.6]
 0x01 (NEEDED)  Shared library: [libstdc++.so.6]
  0x0010:   Name: GLIBC_2.31  Flags: none  Version: 2
  0x0010:   Name: GLIBC_2.4  Flags: none  Version: 3
  0x0020:   Name: GLIBC_2.34  Flags: none  Version: 4
  0x0030:   Name: GLIBC_2.35  Flags: WEAK  Version: 5
"""
        self.assertEqual(
            list(check_wheel.findings_of_elf("it", text, {"libweft.so.0"}, (2, 31))),
            [
                "it needs libstdc++.so.6, which the wheel has not",
                "it needs GLIBC_2.34, and the tag promises 2.31",
            ],
        )

    def test_refuses_a_second_runtime(self):
        for name in ("lib/libomp.so.5", "lib/libiomp5.so"):
            self.assertEqual(
                list(check_wheel.findings_of_elf(name, "", set(), (2, 31))),
                [f"{name} is a runtime of its own; it should lead to libgomp.so.1"],
            )
            text = " 0x0000001  (NEEDED)  Shared library: [libgomp.so.1]"
            self.assertEqual(list(check_wheel.findings_of_elf(name, text, {"libgomp.so.1"}, (2, 31))), [])


if __name__ == "__main__":
    unittest.main()
