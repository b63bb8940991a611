# SPDX-License-Identifier: Apache-2.0
"""What the conformance runs of TBB keep from one call to the next."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

CONFORMANCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance")
sys.dont_write_bytecode = True


def load(name):
    loader = importlib.machinery.SourceFileLoader(name + "_run", os.path.join(CONFORMANCE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


onetbb, versions = load("onetbb"), load("versions")


class Sources(unittest.TestCase):
    def test_a_source_that_cannot_be_fetched_leaves_the_run_out(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(onetbb.suite, "fetch_source", side_effect=OSError("no network")):
            with self.assertRaises(SystemExit) as end:
                onetbb.source_of(folder)
        self.assertEqual(end.exception.code, 77)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.results = os.path.join(self.folder, "results")

    def tbb(self, name, text):
        """Makes a folder with a library; returns it."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "libtbb.so.12"), "w") as file:
            file.write(text)
        return folder

    def kept(self, folder):
        return onetbb.Kept(self.results, onetbb.release_of(folder))

    def test_results_are_those_of_one_library(self):
        old, new = self.tbb("old", "x"), self.tbb("new", "x")
        self.kept(old).put("test_task", "3", ("", 7))
        self.kept("").put("test_task", "3", ("", 8))
        self.assertEqual(self.kept(old).get("test_task", "3"), ("", 7))
        self.assertEqual(self.kept("").get("test_task", "3"), ("", 8))
        self.assertIsNone(self.kept(new).get("test_task", "3"))
        self.assertIsNone(self.kept(old).get("test_task", "8"))
        os.symlink(old, os.path.join(self.folder, "link"))
        self.assertEqual(self.kept(os.path.join(self.folder, "link")).get("test_task", "3"), ("", 7))
        os.utime(os.path.join(old, "libtbb.so.12"), (1, 1))
        self.assertIsNone(self.kept(old).get("test_task", "3"))

    def test_a_library_that_has_grown_is_another_one(self):
        folder = self.tbb("one", "x")
        path = os.path.join(folder, "libtbb.so.12")
        os.utime(path, (1, 1))
        self.kept(folder).put("test_task", "3", ("", 7))
        self.tbb("one", "xy")
        os.utime(path, (1, 1))
        self.assertIsNone(self.kept(folder).get("test_task", "3"))

    def test_failures_and_lines_without_a_library_are_run_again(self):
        with open(self.results, "w") as file:
            file.write('["test_old", "3", "", 7]\n')
        kept = self.kept("")
        self.assertIsNone(kept.get("test_old", "3"))
        kept.put("test_task", "3", ("exit status 1", 2))
        self.assertIsNone(self.kept("").get("test_task", "3"))

    def test_the_newest_release_is_fetched_each_time_and_others_once(self):
        fetched = []

        def download(command, check):
            name = f"2024.{len(fetched)}"
            fetched.append(command[-1])
            with zipfile.ZipFile(os.path.join(command[command.index("-d") + 1], f"tbb-{name}-py3-none-any.whl"), "w") as archive:
                archive.writestr("tbb.data/lib/libtbb.so.12", name)
            self.assertTrue(check)

        with mock.patch.object(versions.suite, "cache", return_value=self.folder), mock.patch.object(versions.subprocess, "run", download):
            found = [versions.fetch(release) for release in ("", "2021.1.1", "", "2021.1.1")]
        self.assertEqual(fetched, ["tbb", "tbb==2021.1.1", "tbb"])
        self.assertEqual([name for name, _ in found], ["2024.0", "2024.1", "2024.2", "2024.1"])
        with open(os.path.join(found[2][1], "libtbb.so.12")) as file:
            self.assertEqual(file.read(), "2024.2")


if __name__ == "__main__":
    unittest.main()
