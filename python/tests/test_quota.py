# SPDX-License-Identifier: Apache-2.0
"""How many threads a program has in a control group whose quota is a part of the cpus."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import weftrt
from weftrt import _native_files

CAN_SPAWN = sys.version_info >= (3, 11) and _native_files.TASKS.exists()
PERIOD = 100000
COUNT = """\
import ctypes, weftrt
weftrt.install()
print(ctypes.CDLL("libgomp.so.1").omp_get_max_threads(), weftrt.workers() if {can_spawn} else 0)
"""


def make_group(cpus):
    """Makes a control group of version 1 with a quota. Returns its folder; raises SkipTest with the reason."""
    reason = "no hierarchy of control groups of version 1 has the controller cpu"
    for mounted in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"):
        group = pathlib.Path(mounted) / f"weftrt-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            reason = f"{group} cannot be made: {error.strerror}" if pathlib.Path(mounted).exists() else reason
            continue
        try:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(int(cpus * PERIOD)))
        except OSError as error:
            group.rmdir()
            raise unittest.SkipTest(f"{group} takes no quota: {error.strerror}") from None
        return group
    raise unittest.SkipTest(reason)


def join(group):
    """Returns the command that runs another one in a group; raises SkipTest where the group takes no process."""
    command = ["sh", "-c", f"echo $$ > '{group}/cgroup.procs' && exec \"$@\"", "sh"]
    tried = subprocess.run([*command, "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    if tried.returncode != 0:
        raise unittest.SkipTest(f"{group} takes no process: {tried.stderr.strip()}")
    return command


def remove(group):
    """Removes a group. It is busy for a while where the kernel has not done with its last process."""
    for _ in range(100):
        try:
            return group.rmdir()
        except OSError as error:
            said = f"\nskipped: the removal of {group}: {error.strerror}"
            time.sleep(0.02)
    print(said, file=sys.stderr)


def mount(folder):
    """Returns the command that runs another one with the folder's files `cgroup` and `mountinfo` over those of its process; raises SkipTest where that cannot be done."""
    mounts = "mount --bind cgroup /proc/$$/cgroup && mount --bind mountinfo /proc/$$/mountinfo"
    command = ["unshare", "--mount", "sh", "-c", f"cd '{folder}' && {mounts} && exec \"$@\"", "sh"]
    try:
        tried = subprocess.run([*command, "true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    except FileNotFoundError:
        raise unittest.SkipTest("unshare was not found (apt-get install util-linux)") from None
    if tried.returncode != 0:
        raise unittest.SkipTest(f"no files can be mounted over those of a process here: {tried.stderr.strip()}")
    return command


def count(command):
    """Returns how many threads a region of OpenMP has, and how many tasks run at once, in a process that `command` runs."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "WEFT_"))}
    said = subprocess.run(
        [*command, sys.executable, "-c", COUNT.format(can_spawn=CAN_SPAWN)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120, env=environment,
    )
    return said.stdout.split() or said.stderr


class Machines(unittest.TestCase):
    """What a machine refuses is a skipped test, with the reason."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_refused_mount_is_the_reason(self):
        tool = self.folder / "unshare"
        tool.write_text("#!/bin/sh\necho 'unshare failed: Operation not permitted' >&2\nexit 1\n")
        tool.chmod(0o755)
        with mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"):
            with self.assertRaisesRegex(unittest.SkipTest, "unshare failed: Operation not permitted"):
                mount(self.folder)
        with mock.patch.dict(os.environ, PATH=str(self.folder / "empty")):
            with self.assertRaisesRegex(unittest.SkipTest, "unshare was not found"):
                mount(self.folder)

    def test_a_group_that_takes_no_process_is_the_reason(self):
        (self.folder / "cgroup.procs").mkdir()
        with self.assertRaisesRegex(unittest.SkipTest, f"{self.folder} takes no process: .*cgroup.procs"):
            join(self.folder)

    def test_a_busy_group_is_removed_when_it_is_no_longer(self):
        group, busy = mock.Mock(), OSError(16, "Device or resource busy")
        group.rmdir.side_effect = [busy, busy, None]
        with mock.patch("time.sleep"):
            remove(group)
            self.assertEqual(group.rmdir.call_count, 3)
            group.rmdir.side_effect = busy
            with mock.patch("sys.stderr") as said:
                remove(group)
        self.assertIn("busy", str(said.mock_calls))


@unittest.skipUnless(os.geteuid() == 0, "only root makes control groups and mounts")
class Quota(unittest.TestCase):
    def expected(self, threads):
        return [str(threads), str(threads if CAN_SPAWN else 0)]

    def test_a_group_of_version_1_limits_threads(self):
        cpus = len(os.sched_getaffinity(0))
        for quota, threads in ((0.5, 1), (1, 1), (1.5, min(cpus, 2)), (cpus, cpus)):
            group = make_group(quota)
            try:
                found = count(join(group))
            finally:
                remove(group)
            self.assertEqual(found, self.expected(threads), f"{quota} cpus")

    def count_in_tree(self, folder, quota):
        """Counts in a process that sees a recorded hierarchy of version 2 instead of the machine's."""
        tree = pathlib.Path(folder) / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        (tree / "pod" / "app").mkdir(parents=True)
        (tree / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
        (tree / "pod" / "cpu.max").write_text(quota + "\n")
        (tree / "pod" / "app" / "cpu.max").write_text("max 100000\n")
        (pathlib.Path(folder) / "cgroup").write_text("0::/pod/app\n")
        (pathlib.Path(folder) / "mountinfo").write_text(
            f"22 1 0:20 / /proc rw - proc proc rw\n30 23 0:26 / {tree} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
        )
        return count(mount(folder))

    def test_a_group_of_version_2_limits_threads(self):
        cpus = len(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            for quota, threads in ((f"{PERIOD // 2} {PERIOD}", 1), (f"{PERIOD} {PERIOD}", 1), (f"max {PERIOD}", cpus), (f"{cpus * PERIOD} {PERIOD}", cpus)):
                self.assertEqual(self.count_in_tree(folder, quota), self.expected(threads), quota)


if __name__ == "__main__":
    unittest.main()
